# Ctrl-C while models run: what was measured is kept. The live line says when runs are under way.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
$python "$CASES/../when.py" 'runs [1-9]' INT "$ASSAY" bench resnet18 --num-runs 1000000 -q -o i.json 2> err || echo "exit $?"
cat err
grep -c '"interrupted": true' i.json
echo "== what was measured so far is marked, and there is no advice"
$python "$CASES/../when.py" 'runs [1-9]' INT "$ASSAY" profile resnet18 --batch-sizes 1,2 --num-runs 1000000 -o p.json > out 2> err || echo "exit $?"
grep -c '"partial": true' p.json
grep -c 'Interrupted' out
grep -c 'incomplete' out
grep -c 'Recommendations\|recommendations\|Bottlenecks' out || true
grep -c 'recommended_batch' p.json || true
"$ASSAY" report p.json 2> /dev/null | cmp - out && echo "report prints the same"
echo "== before the first run there is no table"
for command in bench profile; do
    $python "$CASES/../when.py" session INT "$ASSAY" $command resnet18 --num-runs 1000000 > out 2> err || echo "exit $?"
    cat err
    grep -c 'Interrupted' out
    grep -c 'Measured\|Batch sizes\|Recommendations\|Bottlenecks' out || true
done
