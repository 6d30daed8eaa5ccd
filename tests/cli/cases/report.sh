# report: any saved result again, in every format; hostile names stay text.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
run() { code=0; "$@" || code=$?; echo "exit $code"; }
"$ASSAY" lenet -q -o r.json -o direct.csv -o direct.md -o direct.trace.json
"$ASSAY" report r.json -q -o again.json -o again.csv -o again.md -o again.trace.json
for f in csv md trace.json; do cmp direct.$f again.$f && echo "$f is the same"; done
cmp r.json again.json && echo "json is the same"
"$ASSAY" report r.json | head -n 4
cat again.md
python3 "$CASES/../check_trace.py" again.trace.json
echo "== hostile names"
cp "$CASES/../models/hostile.onnx" .
"$ASSAY" hostile.onnx -q -o h.json
"$ASSAY" report h.json -f md
"$ASSAY" report h.json -f csv --rows layers | cut -d, -f1-3
"$ASSAY" report h.json -f trace -o h.trace -q
python3 "$CASES/../check_trace.py" h.trace
echo "== several"
"$ASSAY" resnet18 -q -o r18.json
"$ASSAY" report r.json r18.json | head -n 5
echo "== what is refused"
echo '{"schema": "assay.history/1", "tool_version": "0.1.0"}' > history.jsonl
run "$ASSAY" report history.jsonl
run "$ASSAY" report nowhere.json
run "$ASSAY" report r.json -f yaml
