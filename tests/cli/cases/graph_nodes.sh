# Costs for programs that draw graphs: by the suffix and by the format, the same from a saved result; names stay text.
run() { code=0; "$@" || code=$?; echo "exit $code"; }
check() { [ ! -x /usr/bin/python3 ] || /usr/bin/python3 "$CASES/../check_nodes.py" "$1.json" "$1.netron.json" "$1.modelexplorer.json"; }
"$ASSAY" lenet -q -o l.json -o l.netron.json -o l.modelexplorer.json
head -n 14 l.netron.json
head -n 12 l.modelexplorer.json
[ -x /usr/bin/python3 ] || { echo "no python3" && exit 77; }
check l
"$ASSAY" report l.json -f netron | cmp - l.netron.json && echo "the attachment is the same"
"$ASSAY" report l.json -f modelexplorer | cmp - l.modelexplorer.json && echo "the node data are the same"
for model in hostile unknown types; do
    "$ASSAY" "$CASES/../models/$model.onnx" -q -o $model.json -o $model.netron.json -o $model.modelexplorer.json 2> /dev/null
    check $model
done
"$ASSAY" map resnet18 --hardware a100-80 -q -o m.netron.json -o m.modelexplorer.json
grep -c predicted_time_ms m.netron.json
sed -n 2p m.modelexplorer.json
"$ASSAY" map resnet18 --hardware a100-80 -f trace | grep layer_times
echo "== only profiles"
"$ASSAY" compare lenet mlp -q -o c.json
run "$ASSAY" report c.json -f netron
