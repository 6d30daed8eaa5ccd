# --output-dir: every format that is for keeps, named after the model, in a folder that is made.
"$ASSAY" --model-path lenet --output-dir a/b --threshold params:100k flops:1M -q 2> verdicts
head -n 1 verdicts
ls a/b | grep -v html
"$ASSAY" lenet --output-dir one -q --json && ls one
cp "$CASES/../models/hostile.onnx" 'my model.v2.onnx'
"$ASSAY" 'my model.v2.onnx' --output-dir . -q -f md && ls ./*.md
"$ASSAY" report a/b/lenet.json --output-dir again -q && cmp a/b/lenet.csv again/lenet.csv && echo "the same again"
code=0
"$ASSAY" lenet --output-dir a/b/lenet.json/x -q || code=$?
echo "exit $code"
