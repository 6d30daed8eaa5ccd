# The reference in docs/cli.md is what the program's tables say.
sh "$CASES/../../../tools/cli_doc" "$ASSAY" | diff "$CASES/../../../docs/cli.md" - && echo same
