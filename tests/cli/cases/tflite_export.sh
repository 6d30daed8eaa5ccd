# Written as ONNX; and run through that, where there is an engine.
cp "$CASES"/../../data/tflite/*.tflite .
for m in float quantised loop; do
    "$ASSAY" export $m.tflite -o $m.onnx
    "$ASSAY" $m.onnx --top 0 | grep -E "Exact|MACs"
done
"$ASSAY" export odd.tflite -o odd.onnx || echo "exit $?"
"$ASSAY" compare float.tflite float.onnx | grep -E "^  (Parameters|MACs)"
"$ASSAY" bench float.tflite -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && exit 0; }
"$ASSAY" bench quantised.tflite --num-runs 1 --warmup-runs 1 -o q.json > /dev/null 2>&1
grep -q '"code": "runs-as-onnx"' q.json
