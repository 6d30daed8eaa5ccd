cd "$MODELS" && "$ASSAY" resnet18.onnx --color=always --top 2 | sed 's/\x1b/ESC/g'
