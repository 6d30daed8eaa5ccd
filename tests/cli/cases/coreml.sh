cp -r "$CASES"/../../data/coreml/* .
"$ASSAY" net.mlmodel --top 20 | sed -n '/^Top/,$p'
"$ASSAY" net.mlmodel --top 0 | grep -E "Exact|Parameters|MACs"
"$ASSAY" export net.mlmodel -o net.onnx -q && "$ASSAY" net.onnx --top 0 | grep -E "Exact|Parameters|MACs"
mv program.mlpackage/Data/com.apple.CoreML/model.mlmodel model.bytes
"$ASSAY" model.bytes --top 0 | grep -E "weights|unknown and|MACs"
mv model.bytes program.mlpackage/Data/com.apple.CoreML/model.mlmodel
"$ASSAY" program.mlpackage --top 0 | grep -E "Output|pipeline|unknown and|MACs"
"$ASSAY" trees.mlmodel || echo "exit $?"
mkdir net.mlmodelc
"$ASSAY" net.mlmodelc || echo "exit $?"
