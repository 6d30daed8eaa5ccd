#!/bin/sh
# tools/check_layers on one-line rooms: what it must refuse, with a word of its reason, and what it must not.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

expect() { # FILE CONTENT [WORD OF THE COMPLAINT]
    rm -rf "$tmp/src"
    mkdir -p "$tmp/src/${1%/*}"
    printf '%s\n' "$2" > "$tmp/src/$1"
    out=$("$root/tools/check_layers" "$tmp/src")
    status=$?
    if [ $# = 2 ] && [ $status = 0 ] && [ -z "$out" ]; then
        passed=$((passed + 1))
    elif [ $# = 3 ] && [ $status = 1 ] && [ "${out#*"$3"}" != "$out" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$1 with: $2"
        echo "  expected ${3:-no complaint}, got status $status: $out"
    fi
}

expect ir/a.c '#include "base/str.h"'
expect ir/a.c '#include "ir/graph.h"'
expect ir/a.c '#include <stdio.h>'
expect api/a.c '#include "analyze/count.h"'
expect cli/a.c '#include <assay/assay.h>'
expect base/a.c '#include "ir/graph.h"' 'may not include'
expect ir/a.h '#  include "ops/op.h"' 'may not include'
expect ir/a.c '#include "graph.h"' 'write the room'
expect api/a.c '#include "cli/opts.h"' 'may not include'
expect cli/a.c '#include "base/str.h"' '<assay/>'
expect ir/a.c '#include <sqlite3.h>' 'store/'
expect store/a.c '#include <sqlite3.h>'
expect attic/a.c 'int x;' 'not a room'

expect base/file.c 'int f(void) { return open("x", 0); }'
expect ir/a.c 'int f(void) { return open("x", 0); }' 'open is reserved'
expect ir/a.c 'int f(engine *e) { return e->open("x"); }'
expect ir/a.c 'static int open(int x) { return x ? open(x - 1) : 0; }'
expect ir/a.c 'const char *s = "fopen(x) to stderr"; /* exit(1) */ // abort()'
expect ir/a.c '/* a comment
 * that says exit(1) */ int x;'
expect ir/a.c 'void f(void) { exit(1); }' 'exit is reserved'
expect cli/a.c 'void f(void) { exit(1); }'
expect ir/a.c 'void f(void) { fprintf(stderr, "x"); }' 'stderr is reserved'
expect ir/a.c 'void f(const char *, ...) __attribute__((format(printf, 1, 2)));'
expect ops/a.c 'void f(void) { printf ("x"); }' 'printf is reserved'
expect engine/other.c 'void f(void) { dlopen("x", 0); }' 'engine/ort_api.c'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
