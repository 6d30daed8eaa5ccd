#!/bin/sh
# tools/check_format on a tree of one-line files: it must name what is not formatted, and mend it with -i.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

mkdir -p "$tmp/tools" "$tmp/src" "$tmp/web/src" "$tmp/bindings/python"
cp "$root/tools/check_format" "$tmp/tools/"
cp "$root/.clang-format" "$root/.editorconfig" "$tmp/"
cp "$root/bindings/python/pyproject.toml" "$tmp/bindings/python/"
[ ! -d "$root/web/node_modules" ] || ln -s "$root/web/node_modules" "$tmp/web/node_modules"

refuses() { # PART FILE BAD GOOD
    printf '%s\n' "$4" > "$tmp/$2"
    out=$("$tmp/tools/check_format" "$1")
    status=$?
    if [ $status = 77 ]; then
        echo "$out"
        skipped=$((skipped + 1))
        return
    fi
    [ $status = 0 ] || note "$1: refuses what is formatted: $out"
    printf '%s\n' "$3" > "$tmp/$2"
    out=$("$tmp/tools/check_format" "$1") && note "$1: takes what is not formatted"
    [ "${out#*"$2"}" != "$out" ] || note "$1: does not name $2: $out"
    "$tmp/tools/check_format" -i "$1" || note "$1: -i failed"
    [ "$(cat "$tmp/$2")" = "$4" ] || note "$1: -i wrote: $(cat "$tmp/$2")"
    passed=$((passed + 1))
}
note() {
    echo "$1"
    failed=$((failed + 1))
}

refuses c src/a.c 'int   f(void);' 'int f(void);'
refuses web web/src/a.ts 'export const a=1' 'export const a = 1;'
refuses web web/src/a.css 'a {color:red}' 'a {
    color: red;
}'
refuses python a.py "x = {'a':1}" 'x = {"a": 1}'
# What no tool breaks is named.
too_long() { # PART FILE COMMENT-MARK
    line="$3 $(printf '%0100d' 0)"
    printf '%s\n' "$line" > "$tmp/$2"
    out=$("$tmp/tools/check_format" "$1")
    case $? in
    77) skipped=$((skipped + 1)) ;;
    1) [ "${out#*"$2:1: over 100 columns"}" != "$out" ] && passed=$((passed + 1)) || note "$1: $out" ;;
    *) note "$1: takes a line of ${#line} columns" ;;
    esac
}
too_long web web/src/a.ts //
too_long python a.py '#'
"$tmp/tools/check_format" nonsense 2> /dev/null
[ $? = 2 ] && passed=$((passed + 1)) || note "an unknown part is not refused"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
