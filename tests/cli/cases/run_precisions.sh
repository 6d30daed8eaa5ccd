# Other precisions beside the stored one: how far their outputs are off, on the screen, in JSON and in CSV.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
"$ASSAY" bench lenet --configs 1:fp32,1:fp16,2:int8,2:int4 --num-runs 3 --warmup-runs 2 -o r.json -o b.csv --rows batches \
    2> /dev/null > out
sed -n 's/^ *\(Batch [0-9] [a-z]*[0-9]*\) .*/\1/p' out
grep -o '"relative": [0-9.e-]*' r.json | awk '{ print ($2 > 0 && $2 < 0.2 ? "close" : "far: " $2) }'
grep -c 'on disk  *error' out
cut -d , -f 1-3 b.csv | tr -d '\r'
# What was not run says why: on the screen, in JSON and in CSV; the others go on.
"$ASSAY" export lenet --precision fp16 -q -o half.onnx
"$ASSAY" bench half.onnx --configs 1:fp32,1:fp16,1:int8-dynamic --num-runs 3 --warmup-runs 2 -o h.json -o h.csv --rows batches \
    2> said > out || echo "exit $?"
for f in said out h.json h.csv; do
    echo $f $(tr -d '\n' < $f | tr -s ' ' | grep -o 'float16[:.]' | sort -u | wc -l)
done
"$ASSAY" bench "$MODELS/gru_tagger.onnx" --configs 1:fp32,1:bf16 --num-runs 2 --warmup-runs 1 -f csv --rows batches 2> /dev/null |
    tr -d '\r' | tail -n 1 | grep -o "GRU" | head -n 1
"$ASSAY" bench lenet --batch-sizes 1,2 --num-runs 2 --warmup-runs 1 -f csv --rows runs | tr -d '\r' |
    awk -F , '$6 != "warm-up" { print $1 "," $2 "," $3 "," $6 } $6 == "warm-up" { last[$1] = $3 } END { print last[1], last[2] }'
"$ASSAY" layers lenet --num-runs 2 --warmup-runs 1 -f csv | head -n 1 | grep -o 'time_ms.*' | tr -d '\r'
"$ASSAY" bench lenet --rows columns 2>&1 || echo "exit $?"
python=/usr/bin/python3
[ ! -x $python ] || $python "$CASES/../check_json.py" r.json
