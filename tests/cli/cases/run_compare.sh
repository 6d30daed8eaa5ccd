# Models run turn by turn: the runs of each are kept at the precision they had; by --save, or by ASSAY_DB alone.
python=/usr/bin/python3
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
told() { # a busy machine may not tell which is faster
    code=0
    "$@" > screen 2> said || code=$?
    case $code in 0 | 7) ;; *) echo "exit $code"; cat said ;; esac
    grep -c "stored in the history" said || true
}
export XDG_DATA_HOME=$PWD/data
told "$ASSAY" compare lenet lenet --measure --num-runs 8 --threads 1 --precision fp32,int8-dynamic --save --tag race -o c.json
"$ASSAY" history --json | grep -o '"precision": "[^"]*"'
"$ASSAY" history --tag race --json | grep -o '"memory_bytes": [a-z0-9]*'
"$ASSAY" history show 1 --json > one.json
"$ASSAY" history show 2 --json > two.json
grep -o '"interleaved": true' c.json one.json two.json
[ ! -x $python ] || $python "$CASES/../check_json.py" c.json one.json two.json
told env ASSAY_DB="$PWD/by_itself.db" "$ASSAY" compare lenet lenet --measure --num-runs 8 --threads 1 -q
told env ASSAY_DB="$PWD/by_itself.db" "$ASSAY" compare lenet lenet --measure --num-runs 8 --threads 1
"$ASSAY" history --db by_itself.db --json | grep -c '"id"'
told "$ASSAY" compare lenet lenet -q
# Runs that took turns are no part of the trend of others.
"$ASSAY" bench lenet --num-runs 10 --threads 1 -q --save
"$ASSAY" trend lenet | grep -c "another setup"
echo "---- refused"
"$ASSAY" compare lenet lenet --measure --precision fp32,fp32,int8 2>&1 || echo "exit $?"
"$ASSAY" compare lenet lenet --measure --precision int4 2>&1 || echo "exit $?"
# A precision that the engine refuses is left out of three; of two there is nothing to compare.
told "$ASSAY" compare lenet lenet lenet --measure --num-runs 4 --threads 1 --precision fp32,bf16,fp16 -o n.json -o n.md
tr -d '\n' < screen | tr -s ' ' | grep -o 'not run' | head -n 1
grep -o '"verdict": "not run"' n.json
grep -c '"why": ".*Conv' n.json
grep -c 'Conv' n.md
"$ASSAY" compare lenet lenet --measure --num-runs 4 --precision fp32,bf16 2>&1 | grep -c 'Conv'
