# Which dimension is the batch: of one image there is none, of steps before samples it is the second.
rule() { sed -n '/"batch": {/,/\]/p' "$1" | tr -s ' \n' ' '; echo; }
try() { "$@" > out 2> err && echo "exit 0" || echo "exit $?"; cat err; }
echo "== one image"
try "$ASSAY" graph "$MODELS/fasterrcnn_320.onnx" --batch 2
try "$ASSAY" graph "$MODELS/fasterrcnn_320.onnx" --batch 1 -o one.json -q
rule one.json
try "$ASSAY" scale "$MODELS/ssdlite320.onnx" --dim batch=1..4
"$ASSAY" map "$MODELS/ssdlite320.onnx" --hardware t4 --batch-sizes 1,8 -o map.json -q
grep -c '"code": "no-batch"' map.json
grep '"fixed_batch"' map.json
echo "== steps before samples"
try "$ASSAY" graph "$MODELS/gru_tagger.onnx" --batch 5 -o steps.json -q
rule steps.json
grep '"input_shapes": {"input"' steps.json
"$ASSAY" scale "$MODELS/gru_tagger.onnx" --dim seq=2..8:4 --dim batch=4 -f csv | cut -d, -f 1-3
"$ASSAY" map "$MODELS/gru_tagger.onnx" --hardware t4 --batch-sizes 1,8 -o map.json -q
grep -c '"batch": 8' map.json
echo "== by its name, and where no other size works"
"$ASSAY" graph "$MODELS/lstm_text.onnx" --batch 2 -o named.json -q
rule named.json
try "$ASSAY" graph "$MODELS/swin_t.onnx" --batch 2
echo "== a builder has it first"
"$ASSAY" graph lenet --batch 2 -o built.json -q
rule built.json
