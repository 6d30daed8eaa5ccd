# Scalings and validations keep their schemas.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
"$ASSAY" scale lenet --dim batch=1..8 --solve 'batch:macs<=2M' --solve 'batch:macs>=1' -q -o batch.json
"$ASSAY" scale gpt2 --dim seq=512..2048 --dim batch=1,2 --training -q -o refused.json
"$ASSAY" scale mobilenet_v2 --dim width_mult=0.5..1.0..0.25 --dim side=191,224 -q -o real.json
"$ASSAY" validate lenet resnet18 --lens all -q -o validation.json
$python "$CASES/../check_json.py" batch.json refused.json real.json validation.json
