"$ASSAY" version | sed 's/[0-9][0-9]*\.[0-9]*\.[0-9]*/X.Y.Z/'
[ "$("$ASSAY" --version)" = "$("$ASSAY" version)" ]
"$ASSAY" version --licenses | sed -E '/^The (page|C library)/,$d' | sed '$d' | diff - "$CASES/../../../LICENSE" && echo "the licence of the tree"
"$ASSAY" version --licenses | sed '/^The page of HTML/,$d' | grep '^Copyright'
