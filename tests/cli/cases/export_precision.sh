# Files of old opsets are raised to where a precision reaches them; what would stay as it is is refused.
for p in fp32 fp16 bf16 int8-dynamic; do
    "$ASSAY" export "$MODELS/resnet18.onnx" --seed 1 --precision $p -q -o $p.onnx
    "$ASSAY" $p.onnx --json > $p.json
    echo $p $(grep -o '"opset": [0-9]*' $p.json) $(grep -o '"total_macs": [0-9]*' $p.json | head -n 1) $(($(wc -c < $p.onnx) / 1000000)) MB
done
cmp -s fp32.onnx bf16.onnx || echo differ
# An opset that was asked for stays.
"$ASSAY" export "$MODELS/resnet18.onnx" --seed 1 --precision bf16 --opset 12 -o x.onnx 2>&1 || echo "exit $?"
"$ASSAY" export "$MODELS/densenet121.onnx" --holes --opset 21 -q -o y.onnx && "$ASSAY" y.onnx --json | grep -o '"opset": [0-9]*'
# Converted already.
"$ASSAY" export lenet --precision fp16 -q -o half.onnx
"$ASSAY" export half.onnx --precision fp16 -o x.onnx 2>&1 || echo "exit $?"
"$ASSAY" export half.onnx --precision bf16 -o x.onnx 2>&1 || echo "exit $?"
[ -e x.onnx ] || echo nothing was written
