python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
"$ASSAY" map vit_b_16 --hardware all -q -o all.json
"$ASSAY" map "$MODELS/resnet50.onnx" --hardware l4 --precision tf32,int8 -q -o l4.json
"$ASSAY" graph "$MODELS/resnet50.onnx" --hardware a100-80 --precision fp16 -q -o graph.json
$python "$CASES/../check_json.py" *.json
