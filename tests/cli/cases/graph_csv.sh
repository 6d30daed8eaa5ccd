cd "$CASES/../models" && "$ASSAY" hostile.onnx -f csv
