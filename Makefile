# The short names of the common jobs; CMakeLists.txt and CMakePresets.json do the work.
#   make [build]              optimised program and libraries in build/release
#   make run                  the main job on a built-in model; MODEL=... ARGS=... for another
#   make quick | test         unit tests in seconds, ROOM=ops for those of one room | everything
#   make golden               rewrite the expected output of the command line tests
#   make docs                 rewrite the pages that are made from the program's tables
#   make generate             rewrite what is made from the field tables of results
#   make python               the wheel of the Python package, in build/python/dist
#   make wasm                 assay for browsers and Node: build/wasm/assay.html, build/wasm/npm (docs/browser.md)
#   make bench | fuzz         FUZZ_SECONDS=60 TARGET=fuzz_name
#   make fuzz-coverage        lines of each room that the corpora reach
#   make torture              every allocation, read, write, ... fails once: minutes; ARGS="--only graph"
#   make reproducible         two builds in different folders: the same bytes? minutes
#   make engines              models on older releases of ONNX Runtime; VERSIONS="1.17.0 1.30.0"
#   make install              PREFIX=/usr/local DESTDIR=
#   make format | tidy | clean
MODEL ?= resnet50
ARGS ?=
JOBS ?= 2
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
TARGET ?=
VERSIONS ?=
ROOM ?=
# Configures a preset the first time and builds it; quiet unless something is wrong.
define BUILD
@[ -f build/$(1)/build.ninja ] || { echo "Building in build/$(1) ..." >&2; cmake --preset $(1) > /dev/null; }
@cmake --build build/$(1) -j $(JOBS) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
endef

.DEFAULT_GOAL = build
.PHONY: build run quick test golden docs generate python wasm bench fuzz fuzz-coverage torture reproducible engines install format tidy clean

build:
	@tools/setup build
	@tools/get_engine --once || true
	@tools/get_engine llama --once || true
	@tools/web install --once || true
	$(call BUILD,release)

run: build
	@build/release/assay graph $(MODEL) $(ARGS)

quick:
	@tools/setup test
	@tools/get_engine --once || true
	@tools/get_engine llama --once || true
	@tools/web install --once || true
	@JOBS=$(JOBS) ROOM=$(ROOM) tests/run quick

test:
	@tools/setup test
	@tools/get_engine --once || true
	@tools/get_engine llama --once || true
	@tools/web install --once --test || true
	@JOBS=$(JOBS) tests/run

golden: build
	@tools/docs_examples --update build/release/assay || true
	@UPDATE=1 tests/cli/run.sh build/release/assay

docs: build
	@tools/cli_doc build/release/assay > build/cli.md && mv build/cli.md docs/cli.md
	@tools/operators_doc build/release/assay > build/operators.md && mv build/operators.md docs/operators.md

generate:
	@tools/setup build
	@[ -f build/dev/build.ninja ] || cmake --preset dev > /dev/null
	@cmake --build build/dev -j $(JOBS) --target describe_results > build/generate.log 2>&1 || { cat build/generate.log; exit 1; }
	@build/dev/tests/describe_results . .

python:
	@tools/setup python
	@tools/web install --once || true
	@python3 bindings/python/backend/assay_build.py

wasm:
	@tools/setup wasm
	@tools/web install --once || true
	@JOBS=$(JOBS) tools/wasm
	@echo "build/wasm/assay.html and build/wasm/npm"

bench: build
	@tools/setup bench
	@tools/bench

fuzz:
	@tools/setup test
	$(call BUILD,fuzz)
	@tools/fuzz $(FUZZ_SECONDS) $(TARGET)

fuzz-coverage:
	@tools/setup test
	@[ -f build/coverage/build.ninja ] || cmake --preset coverage > /dev/null
	@cmake --build build/coverage -j $(JOBS) --target fuzz_targets > build/coverage.log 2>&1 || { cat build/coverage.log; exit 1; }
	@tools/fuzz_coverage build/coverage $(TARGET)

torture:
	@tools/setup test
	$(call BUILD,faults)
	@JOBS=$(JOBS) /usr/bin/python3 tests/python/check_faults.py build/faults/assay --full $(ARGS)

reproducible:
	@tools/setup build
	$(call BUILD,release)
	@JOBS=$(JOBS) /usr/bin/python3 tests/python/check_reproducible.py build/release --full

engines: build
	@tools/setup npm || true
	@/usr/bin/python3 tests/python/check_engines.py build/release/assay $(VERSIONS)

install: build
	@cmake -DCMAKE_INSTALL_PREFIX=$(PREFIX) build/release > /dev/null
	@cmake --install build/release

format:
	@tools/check_format -i

tidy:
	@tools/setup tidy
	$(call BUILD,dev)
	@JOBS=$(JOBS) tools/check_tidy --all

clean:
	@rm -rf build
