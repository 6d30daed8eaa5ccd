cd "$MODELS" && LC_ALL=C "$ASSAY" mobilenet_v2.onnx --top 3
