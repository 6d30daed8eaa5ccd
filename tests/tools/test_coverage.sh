#!/bin/sh
# docs/coverage.md: every file and test that it names exists, and no number of a document is skipped.
set -eu
cd "$(dirname "$0")/../.."
table=docs/coverage.md
bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

grep -o '`[a-z]*/[A-Za-z0-9_./-]*\(:[a-z0-9_]*\)\{0,1\}`' $table | tr -d '`' | sort -u | while IFS=: read -r file name; do
    if [ ! -e "$file" ]; then
        echo "$table names $file, which does not exist"
    elif [ -n "$name" ] && ! grep -q -w -e "$name" "$file"; then
        echo "$table names the test $name, which $file does not have"
    fi
done > "$bad"

awk -F '|' '/^\| [0-9]/ {
    id = $2; gsub(/ /, "", id)
    series = substr(id, 1, 4) (id ~ /E/ ? "E" : "")
    number = substr(id, length(series) + 1) + 0
    if (number != ++last[series]) print id " does not follow " series (last[series] - 1)
    if ($4 ~ /^ *$/) print id " is nowhere"
    rows++
} END { if (rows < 100) print "only " rows " rows" }' $table >> "$bad"

cat "$bad"
[ ! -s "$bad" ]
