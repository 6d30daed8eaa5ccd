#!/bin/sh
# docs/coverage.md: every file, class and test that it names exists, and no number of a document is skipped.
# The column of tests holds nothing but `FILE`, `FILE:TEST`, `FILE.py:CLASS` and `FILE.py:CLASS.TEST`, each with its
# whole path. The check itself is checked: when every reference is renamed, each is complained about.
set -eu
cd "$(dirname "$0")/../.."
table=docs/coverage.md
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

references() { # TABLE: what the column of tests names
    awk -F '|' '/^\| [0-9]/ { print $(NF - 1) }' "$1" | grep -o '`[^`]*`' | tr -d '`' | sort -u
}

places() { # TABLE: files and tests that the other columns name
    awk -F '|' '/^\| [0-9]/ { $(NF - 1) = ""; print }' "$1" |
        grep -o '`[a-z]*/[A-Za-z0-9_./-]*\(:[A-Za-z0-9_.]*\)\{0,1\}`' | tr -d '`' | sort -u
}

has_method() { # FILE CLASS METHOD
    awk -v class="$2" -v method="$3" '/^class / { inside = $0 ~ "^class " class "[(:]" }
        inside && $0 ~ "^    def " method "[(]" { found = 1 } END { exit !found }' "$1"
}

has_test() { # FILE NAME
    case $1:$2 in
    *.c:*) grep -q "^static void $2(void \*\*state)" "$1" ;;
    *.py:*.*) has_method "$1" "${2%%.*}" "${2#*.}" ;;
    *.py:*) grep -q "^class $2[(:]" "$1" ;;
    *) grep -q -w -e "$2" "$1" ;;
    esac
}

complaints() { # reads references
    while IFS=: read -r file name; do
        if [ ! -e "$file" ]; then
            echo "$table names $file, which does not exist"
        elif [ -n "$name" ] && ! has_test "$file" "$name"; then
            echo "$table names the test $name, which $file does not have"
        fi
    done
}

{ references $table && places $table; } | sort -u | complaints > "$tmp/bad"

awk -F '|' '/^\| [0-9]/ {
    id = $2; gsub(/ /, "", id)
    series = substr(id, 1, 4) (id ~ /E/ ? "E" : "")
    number = substr(id, length(series) + 1) + 0
    if (number != ++last[series]) print id " does not follow " series (last[series] - 1)
    if ($4 ~ /^ *$/) print id " is nowhere"
    rows++
} END { if (rows < 100) print "only " rows " rows" }' $table >> "$tmp/bad"

references $table > "$tmp/names"
sed 's/$/_renamed/' "$tmp/names" | complaints > "$tmp/renamed"
[ "$(wc -l < "$tmp/names")" -ge 100 ] || echo "only $(wc -l < "$tmp/names") references" >> "$tmp/bad"
[ "$(wc -l < "$tmp/names")" -eq "$(wc -l < "$tmp/renamed")" ] ||
    echo "renamed references that nobody notices" >> "$tmp/bad"

cat "$tmp/bad"
[ ! -s "$tmp/bad" ]
