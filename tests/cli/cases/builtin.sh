totals() { grep -E '^  "(model|total_parameters|total_macs)"|^    "input_shapes"'; }
"$ASSAY" resnet50 --json | totals
"$ASSAY" graph vit_b_16 --set num_classes=10 --input-shape 8,3,384,384 --json | totals
"$ASSAY" graph vit_b_16 --set num_classes=10 --set image_size=384 --batch 8 --json | totals
"$ASSAY" ResNet-18 --lens fvcore -q && echo known
"$ASSAY" resnet5 || echo "exit $?"
"$ASSAY" xyzzy || echo "exit $?"
"$ASSAY" resnet18 --set depth=3 || echo "exit $?"
"$ASSAY" resnet18 --set depth || echo "exit $?"
"$ASSAY" resnet18 --set num_classes=many || echo "exit $?"
"$ASSAY" resnet18 --input-shape 1,3,224 || echo "exit $?"
"$ASSAY" "$MODELS/resnet18.onnx" --set num_classes=3 || echo "exit $?"
# A built-in name wins over a file; a path never is a name.
cp "$CASES/../models/symbolic.onnx" lenet
"$ASSAY" lenet --json | grep '"format"'
"$ASSAY" ./lenet --json | grep '"format"'
# Another number of channels is another architecture.
"$ASSAY" resnet50 --input-shape 1,4,224,224 | sed -n '6,10p'
"$ASSAY" resnet50 --input-shape 1,4,224,224 --json | grep -o '"architecture_changed": true\|"code": "architecture-changed", "node": "[^"]*"'
"$ASSAY" resnet50 --input-shape 1,4,224,224 --strict -q || echo "exit $?"
