cd "$MODELS"
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
for m in resnet50 vit_b_16 swin_t lstm_text mobilenet_v3_small ssdlite320; do
    "$ASSAY" $m.onnx -q -o "$OLDPWD/$m.json"
    "$ASSAY" $m.onnx -q -v --training -o "$OLDPWD/$m.verbose.json"
    "$ASSAY" memory $m.onnx -q --at 3 -o "$OLDPWD/$m.memory.json"
done
"$ASSAY" "$CASES/../models/hostile.onnx" -q -v -o "$OLDPWD/hostile.json"
"$ASSAY" "$CASES/../models/unknown.onnx" -q -v -o "$OLDPWD/unknown.json"
"$ASSAY" memory "$CASES/../models/hostile.onnx" -q -o "$OLDPWD/hostile.memory.json"
"$ASSAY" memory "$CASES/../models/unknown.onnx" -q -o "$OLDPWD/unknown.memory.json"
cd "$OLDPWD" && $python "$CASES/../check_json.py" *.json
