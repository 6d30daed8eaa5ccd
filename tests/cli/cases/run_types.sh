# Inputs of every type, an empty one, a sequence and strings as outputs run; inputs nobody can make up are a sentence.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
try() { "$@" --num-runs 2 --warmup-runs 1 > out 2> err && echo "exit 0" || { echo "exit $?"; head -n 1 err; }; }
for command in bench layers 'memory --measure' 'profile --batch-sizes 2'; do
    echo "== $command"
    try "$ASSAY" $command "$CASES/../models/types.onnx" -o r.json
    grep -c '"runs": 2' r.json | sed 's/^[1-9].*/ran/'
    try "$ASSAY" $command "$CASES/../models/words.onnx"
    try "$ASSAY" $command "$CASES/../models/parts.onnx"
done
echo "== weights that are not there"
try "$ASSAY" bench "$MODELS/gru_tagger.onnx" -o r.json
grep -c '"code": "made-up-weights"' r.json
