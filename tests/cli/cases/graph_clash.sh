cd "$CASES/../models" && "$ASSAY" clash.onnx
