{ "$ASSAY" "$MODELS/resnet50.onnx" -v; echo "exit $?" >&2; } | head -n 1 > /dev/null
{ "$ASSAY" ops; echo "exit $?" >&2; } | true
