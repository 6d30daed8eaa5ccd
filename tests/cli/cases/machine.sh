# A machine that was measured elsewhere: what is shown of it, and what stands on it. Measuring itself is
# checked for its form alone.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
export ASSAY_MACHINE="$PWD/none.json"
"$ASSAY" machine --show || echo "exit $?"
"$ASSAY" map resnet18 --hardware this || echo "exit $?"
export ASSAY_MACHINE="$MODELS/../data/machine.json"
"$ASSAY" machine --show
"$ASSAY" machine --show --json > shown.json
/usr/bin/python3 -c "
import json, sys
a, b = json.load(open('shown.json')), json.load(open(sys.argv[1]))
print('the same' if a == b else 'differs')" "$ASSAY_MACHINE"
"$ASSAY" devices --hardware this
"$ASSAY" graph resnet18 --hardware this | grep -i ridge
"$ASSAY" machine --format yaml || echo "exit $?"
"$ASSAY" machine --show -f md | head -n 12
"$ASSAY" machine --show -q -o machine.csv && head -n 2 machine.csv
"$ASSAY" machine resnet18 || echo "exit $?"
echo '{"schema": "assay.machine/1", "compute": 3}' > bad.json
ASSAY_MACHINE=bad.json "$ASSAY" machine --show || echo "exit $?"
export ASSAY_MACHINE="$PWD/new/here.json"
"$ASSAY" machine --quick -o copy.json 2>&1 > /dev/null | sed "s#$PWD/##"
cmp copy.json new/here.json && echo "kept"
"$ASSAY" devices this --hardware this --json | grep -c '"certainty": "measured"'
