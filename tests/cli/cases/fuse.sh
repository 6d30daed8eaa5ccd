"$ASSAY" fuse resnet50
"$ASSAY" fuse resnet50 --strategy aggressive --top 3 | sed -n '/^Fusion/,$p'
"$ASSAY" fuse resnet18 --strategy none -v --columns 100 | tail -n 12
"$ASSAY" fuse resnet18 --strategy none | sed -n 3p # nothing is fused
"$ASSAY" fuse "$MODELS/vit_b_16.onnx" --top 0 | sed -n '/^Fusion/,$p'
"$ASSAY" graph "$MODELS/swin_v2_t.onnx" --patterns --top 0 --no-advice | sed -n '/^Patterns/,$p'
"$ASSAY" fuse resnet18 --json | grep -c '"boundary_bytes"'
# As CSV a row per group; --rows layers has the layers.
"$ASSAY" fuse resnet18 -f csv | head -n 4
"$ASSAY" fuse resnet18 -f csv | wc -l
"$ASSAY" fuse resnet18 -f csv --rows layers | head -n 1 | cut -d , -f 1-4
"$ASSAY" graph resnet18 --json | grep -c '"groups"' || true
# The same network, however old the operators that write it: the same groups, the same names.
for opset in 11 13 17 23; do
    "$ASSAY" export gpt2 --opset $opset --holes -q -o gpt2.onnx
    "$ASSAY" fuse gpt2.onnx --top 0 | grep -E '^  (Groups|add-layernorm|layernorm|attention|gelu) ' | tr -s ' ' | cut -d ' ' -f 2-4
done
"$ASSAY" export llama-3.2-1b --opset 14 --holes -q -o llama.onnx
"$ASSAY" fuse llama.onnx --top 0 | sed -n '/^Patterns/,$p'
"$ASSAY" fuse resnet18 --strategy most || echo "exit $?"
"$ASSAY" fuse resnet18 --strategy || echo "exit $?"
"$ASSAY" fuse nothing.onnx || echo "exit $?"
