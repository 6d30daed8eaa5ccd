# Verdicts and comparisons keep their schemas, JUnit its rules; hostile names stay text in all of them.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
"$ASSAY" check lenet --save-baseline base.json -q
"$ASSAY" check lenet --baseline base.json -q -o pass.json -o pass.xml
"$ASSAY" check lenet --set num_classes=20 --baseline base.json -q -o worse.json -o worse.xml --threshold params:1 'macs>=1' || [ $? = 6 ]
cp "$CASES/../models/hostile.onnx" '<b>&"x"|hostile.onnx'
"$ASSAY" check '<b>&"x"|hostile.onnx' --save-baseline hostile-base.json --threshold params:1 -q -o hostile.json -o hostile.xml || [ $? = 6 ]
"$ASSAY" compare resnet18 resnet34 -q -o two.json
"$ASSAY" compare vgg16 vgg16_bn -q -o bn.json
"$ASSAY" compare lenet resnet18 vit_b_16 -q -o three.json
"$ASSAY" compare base.json '<b>&"x"|hostile.onnx' -q -o mix.json -o mix.md
$python "$CASES/../check_json.py" pass.json worse.json hostile.json two.json bn.json three.json mix.json
$python "$CASES/../check_junit.py" pass.xml worse.xml hostile.xml
# Every character that XML 1.0 forbids, and bytes that are no UTF-8, in names that a result brings along.
$python - <<'END'
import json, subprocess, os
names = ["".join(map(chr, range(0, 32))), "a\ufffeb\uffffc", "\x7f\x80\x9f\u200b\u202e", "]]>&lt;!--<![CDATA[", "\U0001fffe\U0010ffff\ufdd0"]
for i, name in enumerate(names):
    with open(f"names{i}.json", "w") as f:
        json.dump({"schema": "assay.profile/1", "model": name or "x", "total_parameters": 5, "total_operators": 1,
                   "context": {"timestamp": name}}, f)
END
for f in names*.json; do
    "$ASSAY" check "$f" --threshold params:1 -q -o "$f.xml" -o "$f.md" > /dev/null 2>&1 || code=$?; [ ${code:-0} = 6 ] || echo "$f: exit ${code:-0}"; code=
done
$python "$CASES/../check_junit.py" names*.xml
head -n 6 mix.md
# The exact values of what a spreadsheet would take for a formula.
cat > formula.json <<'END'
{"schema": "assay.profile/1", "model": "=1+1", "layers": [
 {"name": "=HYPERLINK(\"x\")", "type": "@x", "op": "-y", "module": "+z", "inputs": [], "outputs": [], "input_shapes": [],
  "output_shapes": [], "output_types": [], "parameters": 1, "flops": 2, "macs": 3, "memory": 4, "weight_bytes": 1,
  "read_bytes": 1, "written_bytes": 2, "arithmetic_intensity": 0.5, "certainty": "exact", "times": 1, "live_bytes": 0}]}
END
"$ASSAY" report formula.json -f csv | cut -d, -f1-4
