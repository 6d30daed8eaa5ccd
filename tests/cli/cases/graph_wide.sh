cd "$MODELS" && COLUMNS=160 "$ASSAY" graph vit_b_16.onnx --depth 2
