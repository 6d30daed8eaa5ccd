# The examples of README.md and of every page of docs/ are true: tools/docs_examples runs them.
root=$CASES/../../..
[ -x /usr/bin/python3 ] || { echo "no /usr/bin/python3" && exit 77; }
/usr/bin/python3 "$root/tools/docs_examples" "$ASSAY" && echo "all true"
# README.md has its examples, and these pages have none.
grep -c '^```sh$' "$root/README.md" | awk '{ print ($1 >= 2 ? "enough" : $1 " are too few") }'
cd "$root/docs" && grep -L -E '^```(sh|console)$' ./*.md | sort
