# Documents that are no result of one model: each in every format by its command, and again by `assay report`.
run() { code=0; "$@" || code=$?; echo "exit $code"; }
mkdir d
all() { for f in json txt csv md summary.html; do printf ' -o d/%s.%s' "$1" "$f"; done; }
"$ASSAY" resnet18 -q $(all profile)
"$ASSAY" pipeline sd21 --steps 20 --sweep steps=20,30 -q $(all pipeline)
"$ASSAY" pipeline llama-3.1-8b --prompt-tokens 128 --generate 8 --hardware t4 --memory-limit 20GiB -q $(all language)
"$ASSAY" pipeline sd15 sdxl -q $(all pipelines)
"$ASSAY" compare lenet resnet18 -q $(all comparison)
"$ASSAY" scale lenet --dim batch=1..4 -q $(all scaling)
"$ASSAY" validate lenet --lens fvcore -q $(all validation)
"$ASSAY" check lenet --threshold params:1M flops:1G -q $(all check)
ASSAY_MACHINE="$MODELS/../data/machine.json" "$ASSAY" machine --show -q $(all machine)
SOURCE_DATE_EPOCH=1790000000 "$ASSAY" lenet -q --save --tag a --db h.db
SOURCE_DATE_EPOCH=1790100000 "$ASSAY" lenet -q --batch 2 --save --db h.db
"$ASSAY" history --db h.db -q $(all history)
"$ASSAY" trend lenet --db h.db --metric macs --all --alert 'macs > 1G' -q $(all trend)
echo "== again, to the byte"
for k in profile pipeline language pipelines comparison scaling validation check machine history trend; do
    "$ASSAY" report d/$k.json -q $(all again)
    for f in json txt csv md summary.html; do cmp d/$k.$f d/again.$f && echo "$k.$f is the same"; done
done
rm d/again.*
echo "== Markdown"
cat d/scaling.md d/validation.md
sed -n '1,20p' d/pipeline.md
echo "== on the screen"
for k in pipeline pipelines scaling check comparison; do echo "-- $k"; "$ASSAY" report d/$k.json; done
echo "== CSV"
"$ASSAY" report d/validation.json -f csv
"$ASSAY" report d/comparison.json -f csv --rows layers | head -n 3
"$ASSAY" report d/pipelines.json -f csv | cut -d, -f1-6
echo "== several"
"$ASSAY" report d/scaling.json d/check.json -f md | grep '^###'
run "$ASSAY" report d/scaling.json d/check.json -f csv
echo "== the summary is a piece of HTML without script or address"
for f in d/*.summary.html; do
    grep -c '<div class="assay-summary"' "$f"
    ! grep -q -i -e '<script' -e 'http' -e 'javascript:' "$f" || echo "$f has what it must not have"
done
echo "== what is refused"
run "$ASSAY" report d/scaling.json -f trace
run "$ASSAY" scale lenet --dim batch=1..2 -f trace
echo '{"schema": "assay.model/1", "input": [1, 4], "layers": []}' > model.json
run "$ASSAY" report model.json
echo '{"schema": "else/1"}' > other.json
run "$ASSAY" report other.json
echo '{"schema": "assay.check/1", "checks": [}' > broken.json
run "$ASSAY" report broken.json
run "$ASSAY" report d/scaling.json nowhere.json -f md
