#!/bin/sh
# Files derived from the field tables of results are those in the tree: `make generate` rewrites them.
set -u
program=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$program" . "$tmp" || exit 1
(cd "$tmp" && find . -type f) > "$tmp.list"
status=0
while read -r file; do
    diff -u "$file" "$tmp/$file" | head -40
    cmp -s "$file" "$tmp/$file" || status=1
done < "$tmp.list"
rm -f "$tmp.list"
[ $status = 0 ] || echo "generated files are stale: run make generate"
exit $status
