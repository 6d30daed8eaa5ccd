"$ASSAY" version | sed 's/[0-9][0-9]*\.[0-9]*\.[0-9]*/X.Y.Z/'
[ "$("$ASSAY" --version)" = "$("$ASSAY" version)" ]
"$ASSAY" version --licenses | sed -E '/^The (program|page|C library)/,$d' | sed '$d' | diff - "$CASES/../../../LICENSE" && echo "the licence of the tree"
"$ASSAY" version --licenses | sed '/^The program contains/,$d' | grep '^Copyright'
"$ASSAY" version --licenses | grep -o -E '^(SQLite|zlib)'
"$ASSAY" version --sbom > sbom.json
for name in sqlite zlib glibc onnxruntime; do grep -c "\"name\": \"$name\"" sbom.json; done
"$ASSAY" version --sbom --licenses 2> /dev/null || echo "exit $?"
