cd "$CASES/../models" && "$ASSAY" unknown.onnx
"$ASSAY" unknown.onnx --json | grep '"certainty": "unknown"' | cut -c 1-80
