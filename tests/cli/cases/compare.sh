"$ASSAY" compare resnet50 efficientnet_b0 vit_b_16
cp "$MODELS/resnet18.onnx" .
"$ASSAY" compare resnet18 resnet18.onnx --top 4
"$ASSAY" compare lenet mlp -f csv
"$ASSAY" compare lenet lenet --set num_classes=20 -o both.json -q && grep -c '"change"' both.json || true
"$ASSAY" compare lenet || echo "exit $?"
"$ASSAY" compare lenet missing || echo "exit $?"
"$ASSAY" compare lenet mlp -f trace || echo "exit $?"
