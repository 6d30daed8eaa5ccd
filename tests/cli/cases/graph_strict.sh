cd "$CASES/../models" && "$ASSAY" unknown.onnx --strict | head -n 8
"$ASSAY" unknown.onnx --strict -q
