cd "$CASES/../models" && "$ASSAY" -v --training hostile.onnx
