# A sweep on this machine: plan, tasks that are stored once, status, report, and what is refused.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
fails() { code=0; "$@" > said 2>&1 || code=$?; echo "exit $code"; }
count() { "$ASSAY" history --json | grep -c '"id"' || true; }
export ASSAY_DB="$PWD/h.db"
cat > request.json << 'END'
{"models": ["lenet", "mlp"], "batch_sizes": [1, 2], "repeat": 2, "num_runs": 2, "warmup_runs": 1}
END
echo "---- plan"
"$ASSAY" sweep request.json -o sweep.json | sed -n -e 's/^Sweep sweep-[0-9a-f]*$/Sweep NAME/' -e '/^Tasks/,$p'
"$ASSAY" sweep request.json -q -o again.json
cmp sweep.json again.json
[ ! -e h.db ] || echo "a plan needs no history"

echo "---- one task, twice"
"$ASSAY" sweep run 3 2>&1 | sed 's/, noisy.*//; s/, after a repetition//'
"$ASSAY" sweep run sweep.json 3
count
"$ASSAY" sweep missing
SLURM_ARRAY_TASK_ID=2 ASSAY_NODE=n1 "$ASSAY" sweep run -q
JOB_COMPLETION_INDEX=1 ASSAY_TASKS=4-6 ASSAY_NODE=n2 "$ASSAY" sweep run -q
"$ASSAY" sweep missing
"$ASSAY" sweep status --json > status.json
sed -n 's/^  "\(total\|done\|missing\|running\)": \([0-9]*\),/\1 \2/p' status.json
grep -o '"machine": "n[12]@' status.json
fails "$ASSAY" sweep report
tail -n 1 said

echo "---- the rest"
"$ASSAY" sweep sweep.json --on local -q
count
"$ASSAY" sweep resubmit -q
"$ASSAY" sweep run -q
count
"$ASSAY" sweep missing
"$ASSAY" sweep report -o report.csv -o report.json -o report.html | sed -n '/^Best/,/^$/p' | awk '{ print $1, $2 }'
head -n 1 report.csv
awk -F, 'NR > 1 && $14 > 0 && $17 > 0 && ($13 == "true" || $13 == "false") { n++ } END { print n }' report.csv
"$ASSAY" sweep report -f csv --rows cells | cut -d, -f1,6 | tr '\n' ' '
echo
"$ASSAY" sweep status -f csv | cut -d, -f1,2 | tail -n 1

echo "---- against their schemas"
[ -x /usr/bin/python3 ] && /usr/bin/python3 "$CASES/../check_json.py" sweep.json status.json report.json

echo "---- refused"
fails "$ASSAY" sweep run 8
fails "$ASSAY" sweep run sweep.json --repeat 3
fails "$ASSAY" sweep sweep.json --repeat 3
fails "$ASSAY" sweep run nothing.json
fails "$ASSAY" sweep --models lenet --on moon
fails "$ASSAY" sweep --models lenet --on local
cat said | sed 's/^assay: //'
fails "$ASSAY" sweep sweep.json --models lenet
fails "$ASSAY" sweep cancel
fails "$ASSAY" sweep status --tasks 1
fails "$ASSAY" bench lenet --threads 1,2
sed 's/"tool_version": "[^"]*"/"tool_version": "0.0.9"/' sweep.json > old.json
fails "$ASSAY" sweep run old.json 0
"$ASSAY" export lenet -o net.onnx -q
"$ASSAY" sweep --models net.onnx --num-runs 2 --warmup-runs 1 -o net.json -q
"$ASSAY" export lenet -o net.onnx -q --seed 1
fails "$ASSAY" sweep run net.json 0
fails "$ASSAY" sweep run net.json
