"$ASSAY" version | sed 's/[0-9][0-9]*\.[0-9]*\.[0-9]*/X.Y.Z/'
[ "$("$ASSAY" --version)" = "$("$ASSAY" version)" ]
"$ASSAY" version --licenses | sed '/^No code of others/,$d' | sed '$d' | diff - "$CASES/../../../LICENSE" && echo "the licence of the tree"
