# Documents that are no result of one model: each in every format by its command, and again by `assay report`.
run() { code=0; "$@" || code=$?; echo "exit $code"; }
mkdir d
"$ASSAY" pipeline sd21 --steps 20 --sweep steps=20,30 -q -o d/pipeline.json -o d/pipeline.md -o d/pipeline.summary.html
"$ASSAY" pipeline llama-3.1-8b --prompt-tokens 128 --generate 8 -q -o d/language.json -o d/language.md -o d/language.summary.html
"$ASSAY" pipeline sd15 sdxl -q -o d/pipelines.json -o d/pipelines.md -o d/pipelines.summary.html
"$ASSAY" compare lenet resnet18 -q -o d/comparison.json -o d/comparison.summary.html
"$ASSAY" scale lenet --dim batch=1..4 -q -o d/scaling.json -o d/scaling.md -o d/scaling.summary.html
"$ASSAY" validate lenet --lens fvcore -q -o d/validation.json -o d/validation.md -o d/validation.summary.html
"$ASSAY" check lenet --threshold params:1M flops:1G -q -o d/check.json -o d/check.summary.html
echo "== again, to the byte"
for k in pipeline language pipelines scaling validation; do
    "$ASSAY" report d/$k.json -q -o again.md -o again.summary.html -o again.json
    for f in md summary.html json; do cmp d/$k.$f again.$f && echo "$k.$f is the same"; done
done
for k in comparison check; do
    "$ASSAY" report d/$k.json -q -o again.summary.html
    cmp d/$k.summary.html again.summary.html && echo "$k.summary.html is the same"
done
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
