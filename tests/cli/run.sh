#!/bin/sh
# Golden tests of the command line.
#   tests/cli/run.sh PROGRAM [NAME...]          UPDATE=1 writes what came out as what is expected
#
# A case is tests/cli/cases/NAME.sh, run by sh -e in an empty folder of its own. It sees
#   $ASSAY   the program          $MODELS  tests/models          $CASES  the folder of the cases
# and is compared with
#   NAME.out   stdout
#   NAME.err   stderr, when that file exists
#   NAME.exit  the exit code, 0 when there is no such file
# A case that exits 77 says why on stdout and is skipped. UPDATE=1 creates NAME.err when the exit code is not 0.
# Colour, width, locale and clock are pinned, so that a case shows the same everywhere.
set -u
[ $# -ge 1 ] || { sed -n '2,3p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
ASSAY=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
[ -x "$ASSAY" ] || { echo "$ASSAY is not there to be tested." >&2; exit 2; }
CASES=$here/cases
MODELS=$(cd "$here/.." && pwd)/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
export ASSAY CASES MODELS
export LC_ALL=C.UTF-8 TZ=UTC COLUMNS=80 NO_COLOR=1 SOURCE_DATE_EPOCH=0 HOME="$tmp"
unset ASSAY_DB XDG_DATA_HOME
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:abort_on_error=0:exitcode=99"
passed=0 failed=0 skipped=0

run_case() { # NAME: leaves $tmp/out, $tmp/err, $tmp/exit
    rm -rf "$tmp/work"
    mkdir "$tmp/work"
    (cd "$tmp/work" && timeout 3000 sh -e "$CASES/$1.sh" < /dev/null > "$tmp/out" 2> "$tmp/err")
    echo $? > "$tmp/exit"
}

update_case() {
    cp "$tmp/out" "$CASES/$1.out"
    if [ "$(cat "$tmp/exit")" = 0 ]; then
        rm -f "$CASES/$1.exit"
    else
        cp "$tmp/exit" "$CASES/$1.exit"
        cp "$tmp/err" "$CASES/$1.err"
    fi
    [ ! -f "$CASES/$1.err" ] || cp "$tmp/err" "$CASES/$1.err"
}

differs() { # NAME WHAT EXPECTED
    diff -u -L "expected $2" -L "got $2" "$3" "$tmp/$2" > "$tmp/diff" 2>&1 && return 1
    [ -n "$complained" ] || echo "FAILED: $1"
    complained=1
    head -n 60 "$tmp/diff"
}

compare_case() {
    complained=
    expected_exit=$CASES/$1.exit
    [ -f "$expected_exit" ] || { expected_exit=$tmp/zero; echo 0 > "$expected_exit"; }
    expected_out=$CASES/$1.out
    [ -f "$expected_out" ] || expected_out=/dev/null
    differs "$1" exit "$expected_exit"
    differs "$1" out "$expected_out"
    [ ! -f "$CASES/$1.err" ] || differs "$1" err "$CASES/$1.err"
    [ -z "$complained" ] && return 0
    # Nobody can mend what they cannot see.
    [ -f "$CASES/$1.err" ] || sed 's/^/stderr: /' "$tmp/err" | head -n 20
    return 1
}

[ $# -gt 0 ] || set -- "$CASES"/*.sh
for case in "$@"; do
    name=$(basename "$case" .sh)
    [ -f "$CASES/$name.sh" ] || { [ "$name" = '*' ] || echo "no case $name"; continue; }
    run_case "$name"
    if [ "$(cat "$tmp/exit")" = 77 ]; then
        skipped=$((skipped + 1))
        echo "skipped: $name: $(head -n 1 "$tmp/out")"
        continue
    fi
    [ -z "${UPDATE:-}" ] || update_case "$name"
    if compare_case "$name"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done

if [ $skipped = 0 ]; then
    echo "$passed passed, $failed failed"
else
    echo "$passed passed, $failed failed, $skipped skipped"
fi
[ $failed = 0 ]
