cd "$CASES/../models"
"$ASSAY" open.onnx --verbose --json | grep -E '"(exact|unknown|anything_assumed)":|"certainty"'
"$ASSAY" open.onnx --strict -q || echo "exit $?"
"$ASSAY" reshape.onnx
