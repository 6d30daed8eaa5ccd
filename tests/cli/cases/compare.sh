"$ASSAY" compare resnet50 efficientnet_b0 vit_b_16
cp "$MODELS/resnet18.onnx" .
"$ASSAY" compare resnet18 resnet18.onnx --top 4
"$ASSAY" compare lenet mlp -f csv
"$ASSAY" compare vgg16 mobilenet_v2 resnet50 resnet18 --budget flops:5G,memory:100MB | sed -n "/^Budget/,/planned/p"
"$ASSAY" compare lenet lenet --set num_classes=20 -o both.json -q && grep -c '"change"' both.json || true
"$ASSAY" compare lenet || echo "exit $?"
"$ASSAY" compare lenet missing || echo "exit $?"
"$ASSAY" compare lenet mlp -f trace || echo "exit $?"
echo "== several results of one model are called by what differs"
"$ASSAY" lenet -q -o a.json; cp a.json c.json
"$ASSAY" lenet -q --batch 4 -o b.json
"$ASSAY" compare a.json b.json -f csv | cut -d , -f 1,2
"$ASSAY" compare a.json c.json b.json | sed -n 4p
"$ASSAY" compare a.json b.json -f md | head -n 1
"$ASSAY" compare a.json c.json --json | grep -o '"label": "[^"]*"'
