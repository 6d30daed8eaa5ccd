cd "$MODELS" && "$ASSAY" resnet50.onnx
