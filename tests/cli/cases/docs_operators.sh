# The table of operators in docs/ is what the program knows.
sh "$CASES/../../../tools/operators_doc" "$ASSAY" | diff "$CASES/../../../docs/operators.md" - && echo same
