# Throughput, memory per sample and sweeps of a model without a batch, and of one that has it second.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
value() { sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p" "$1" | head -n 1; }
echo "== one image: one size, images per second"
"$ASSAY" profile "$MODELS/ssdlite320.onnx" --batch-sizes 1,3 --num-runs 3 --warmup-runs 1 -o one.json > out 2> /dev/null
grep -c 'no batch dimension' out
grep -c 'at batch\|Batch size recommendations' out || true
grep '"batch_sizes"' one.json
grep '"unit"' one.json
grep -c '"code": "no-batch"' one.json
grep '"input_shape"' one.json
sed -n '/^  "memory": {/,/^  }/p' one.json > memory
[ "$(value memory peak)" = "$(value memory per_sample)" ] && echo "all memory is of one sample"
mean=$(sed -n '/^  "latency": {/,/}/p' one.json | sed -n 's/^ *"mean": \([^,]*\),$/\1/p')
awk -v m="$mean" -v r="$(value one.json images_per_second)" 'BEGIN { print (m * r > 990 && m * r < 1010) ? "one image a run" : m * r }'
"$ASSAY" report one.json -f json -o again.json -q
grep -c '"why": "[^"]*.input. ' again.json
echo "== --batch and --configs ask for it by name"
"$ASSAY" bench "$MODELS/ssdlite320.onnx" --batch 2 2>&1 > out && exit 1 || echo "exit $?"
"$ASSAY" bench "$MODELS/ssdlite320.onnx" --configs 1:fp32,2:fp32 --num-runs 2 --warmup-runs 1 -o c.json -q 2> /dev/null
grep -c '"code": "unsupported"' c.json
echo "== steps before samples: as many tokens a sample as there are steps"
"$ASSAY" profile "$MODELS/gru_tagger.onnx" --batch-sizes 1,4 --num-runs 3 --warmup-runs 1 -o steps.json -q 2> /dev/null
grep '^ *"batch_sizes"\|^ *"units_per_sample"\|^ *"input_shape"' steps.json | sort -u
"$ASSAY" bench "$MODELS/gru_tagger.onnx" --input-shape 12,5 --num-runs 2 --warmup-runs 1 -o s.json -q 2> /dev/null
grep '"batch_sizes"' s.json
echo "== rates of sizes that hang on the data are bounds"
"$ASSAY" bench "$MODELS/fasterrcnn_320.onnx" --num-runs 1 --warmup-runs 1 -q -o boxes.json 2> /dev/null
grep -o '"rates-assumed".*upper bounds' boxes.json
"$ASSAY" profile "$MODELS/fasterrcnn_320.onnx" --num-runs 1 --warmup-runs 1 2> /dev/null | grep -c 'at most .* GFLOP/s'
