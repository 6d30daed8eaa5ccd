python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
for s in none conventional aggressive; do
    "$ASSAY" fuse "$MODELS/efficientnet_b0.onnx" --strategy $s -q -o $s.json
done
"$ASSAY" fuse "$MODELS/fasterrcnn_320.onnx" -q -o boxes.json
"$ASSAY" graph vit_b_16 --patterns -q -o patterns.json
$python "$CASES/../check_json.py" *.json
