for kind in pt pth h5 keras tflite pb mlmodel caffemodel pdmodel bin safetensors gguf; do
    echo x > m.$kind
    "$ASSAY" m.$kind || echo "exit $?"
done
