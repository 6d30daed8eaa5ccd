# What is written is read back with the same counts.
"$ASSAY" export lenet -o lenet.onnx
"$ASSAY" lenet --json > name.json
"$ASSAY" lenet.onnx --json > file.json
for key in total_parameters total_macs total_flops; do
    for f in name file; do
        grep "\"$key\"" $f.json | head -n 1 | tr -d ' ,'
    done
done
# The same seed gives the same bytes, another seed others.
"$ASSAY" export lenet -q -o again.onnx --seed 0
"$ASSAY" export lenet -q -o other.onnx --seed 1
cmp lenet.onnx again.onnx && echo same
cmp -s lenet.onnx other.onnx || echo other
# A second file for the weights; a copy of a file keeps them.
"$ASSAY" export lenet -o far.onnx --external-data
"$ASSAY" export far.onnx -o out/near.onnx
"$ASSAY" export mlp -o "$PWD/wide.onnx" -q --set hidden=64 --input-shape 4,16 --opset 24 && echo wide
"$ASSAY" wide.onnx --json | grep '"total_parameters"' | head -n 1 | tr -d ' ,'
# What cannot be done.
"$ASSAY" export lenet || echo "exit $?"
"$ASSAY" export lenet -o lenet.txt || echo "exit $?"
"$ASSAY" export lenet -o x.onnx --opset 10 || echo "exit $?"
"$ASSAY" export raft_small -o x.onnx --opset 13 || echo "exit $?"
"$ASSAY" export lenet.onnx -o x.onnx --batch 4 || echo "exit $?"
"$ASSAY" export lenet.onnx -o x.onnx --opset 18 && echo raised
ls
