# Ctrl-C while models run: what was measured is kept. The live line says when runs are under way.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
$python "$CASES/../when.py" 'runs [1-9]' INT "$ASSAY" bench resnet18 --num-runs 1000000 -q -o i.json 2> err || echo "exit $?"
cat err
grep -c '"interrupted": true' i.json
