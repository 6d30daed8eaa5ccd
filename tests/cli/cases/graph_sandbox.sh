# --sandbox gives the same bytes, for files, external data, folders, stdin and built-in models; what the confined
# process may not read is refused.
"$ASSAY" graph lenet --sandbox > /dev/null 2> said || {
    grep -q "cannot confine" said && { echo "no seccomp here"; exit 77; }
}
same() { # MODEL
    "$ASSAY" graph "$1" --json > free.json
    "$ASSAY" graph "$1" --json --sandbox > confined.json
    sed 's/ --sandbox"/"/' confined.json | cmp - free.json && echo "same: ${1##*/}"
}
same "$MODELS/resnet18.onnx"
same "$MODELS/../data/torch/sharded"
same lenet
mkdir model
"$ASSAY" export lenet --external-data -o model/m.onnx > /dev/null
same model/m.onnx
"$ASSAY" graph "$MODELS/resnet18.onnx" -o a.md -o a.csv -q
"$ASSAY" graph "$MODELS/resnet18.onnx" -o b.md -o b.csv -q --sandbox
cmp a.md b.md && cmp a.csv b.csv && echo "same files"
"$ASSAY" graph - --sandbox < "$MODELS/resnet18.onnx" | head -1
"$ASSAY" graph lenet --sandbox --save --db h.db -q
"$ASSAY" history list --db h.db | grep -c lenet

echo "== refused"
data=$(ls model | grep -v "onnx$")
mv "model/$data" outside
ln -s ../outside "model/$data"
"$ASSAY" graph model/m.onnx --sandbox > /dev/null 2>&1 || echo "exit $?"
"$ASSAY" graph lenet --sandbox --follow-symlinks 2> /dev/null || echo "exit $?"
"$ASSAY" graph lenet --sandbox --threshold macs:1 2> /dev/null || echo "exit $?"
"$ASSAY" graph nosuchmodel --sandbox 2> /dev/null || echo "exit $?"
"$ASSAY" graph missing.onnx --sandbox 2> /dev/null || echo "exit $?"
