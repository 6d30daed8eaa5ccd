# Inputs that once gave a wrong answer; see tests/data/hostile/README.md.
hostile=$CASES/../../data/hostile
echo "---- INT64_MIN is read back, from a file and from a history"
for model in flip_slice int64_min; do
    "$ASSAY" graph "$hostile/$model.onnx" -q -o $model.json --save --db kept.db 2> /dev/null
    grep -c -e -9223372036854775808 $model.json || true
    "$ASSAY" report $model.json -f json | cmp - $model.json
done
"$ASSAY" history show 1 --db kept.db -q -o again.json && cmp flip_slice.json again.json
echo "---- an import keeps the good lines on request"
"$ASSAY" history export --db kept.db -q -o lines.jsonl
sed -e '2s/"document"/"dokument"/' lines.jsonl > bad.jsonl
"$ASSAY" history import bad.jsonl --db other.db || echo "exit $?"
"$ASSAY" history import bad.jsonl --db other.db --skip-bad
"$ASSAY" history import lines.jsonl --db other.db --skip-bad
echo "---- map: sizes that are unknown at another batch are not extrapolated"
for model in test_tile test_compress_default_axis; do
    "$ASSAY" map "$hostile/$model.onnx" --hardware a100 --precision fp32 --json > map.json
    grep -o '"code": "fixed-batch"' map.json
    grep -o '"name": "a100[^}]*"memory_bytes": [0-9]*' map.json
done
echo "---- a pipe in a model's folder is refused, not waited for"
mkdir piped
mkfifo piped/config.json piped/model_index.json
for command in graph pipeline; do
    timeout 60 "$ASSAY" $command piped 2> /dev/null || echo "exit $?"
done
echo "---- external data behind a link that leaves the directory"
mkdir -p one/snapshots/abc one/blobs
"$ASSAY" export lenet -q --external-data -o one/snapshots/abc/model.onnx
mv one/snapshots/abc/model.onnx.data one/blobs/hash
ln -s ../../blobs/hash one/snapshots/abc/model.onnx.data
"$ASSAY" export one/snapshots/abc/model.onnx -q -o hub.onnx && echo "a cache of the hub is followed"
mv one/blobs/hash secret
ln -sf ../../../secret one/snapshots/abc/model.onnx.data
for command in graph "export -o out.onnx" "compare lenet"; do
    "$ASSAY" $command one/snapshots/abc/model.onnx -q || echo "exit $?"
done
ls out.onnx 2> /dev/null || echo "no file"
"$ASSAY" export one/snapshots/abc/model.onnx -q --follow-symlinks -o out.onnx && cmp hub.onnx out.onnx
