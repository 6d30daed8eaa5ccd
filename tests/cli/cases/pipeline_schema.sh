# Every kind of answer of `pipeline` is what docs/schema/pipeline-1.schema.json says, and adds up.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
"$ASSAY" pipeline sd21 --steps 5 --sweep resolution=512,768 --sweep steps=5,10 --sweep guidance=1,7.5 --strength 0.5 -q -o sd21.json
"$ASSAY" pipeline sd15 flux-dev dit-xl-2 --batch 3 -q -o several.json
mkdir -p odd/unet odd/vae
echo '{"_class_name": "SomethingElse"}' > odd/vae/config.json
echo '{"_class_name": "UNet2DConditionModel", "cross_attention_dim": 768}' > odd/unet/config.json
"$ASSAY" pipeline odd -q -o odd.json
"$ASSAY" pipeline mixtral-8x7b gemma-2-2b --memory-limit 80GiB --hardware all -q -o language.json
"$ASSAY" pipeline llama-7b --no-profiling --json > off.json
grep '"kind"' off.json
"$ASSAY" pipeline nobody-knows --no-profiling --json > unknown.json
$python "$CASES/../check_json.py" *.json
