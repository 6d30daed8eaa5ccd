# Options of the engine: what is wrong is a sentence and exit 2 before anything runs; what is right stands in the result.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
try() { "$@" > out 2> err && echo "exit 0" || echo "exit $?"; head -n 1 err | cut -c 1-200; }
few="--num-runs 2 --warmup-runs 1"
for wrong in '--threads -1' '--threads many' '--threads 5000' '--opt-level 3' '--opt-level all' '--unit bananas' '--provider-option novalue' \
    '--provider-option device_id=0' '--precision-target 0' '--duration -1' '--concurrency 0' '--rate 0' '--num-runs 0' '--memory-limit 5XB' \
    '--device warp' '--rows columns'; do
    echo "== $wrong"
    try "$ASSAY" bench lenet $wrong
done
echo "== all of them"
try "$ASSAY" bench lenet $few --threads 3 --no-spin --opt-level 1 --provider-option session.disable_prepacking=1 --unit requests -o r.json
grep -o '"threads": 3\|"opt_level": 1\|"spin": false\|"key": "session.disable_prepacking", "value": "1"\|"requests_per_second"\|"unit": "requests"' r.json
# What the engine did with them: without optimisations nothing is fused.
"$ASSAY" layers lenet $few --opt-level 0 -q -o off.json
"$ASSAY" layers lenet $few -q -o all.json
grep -h -o '"fused_kernels": 0' off.json all.json
"$ASSAY" bench lenet $few --concurrency 2 -q -o c.json
grep -o '"concurrency": 2' c.json
"$ASSAY" bench lenet $few --rate 200 -q -o o.json
grep -o '"rate": 200' o.json
grep -c 'gflops_per_s' o.json || true
"$ASSAY" bench lenet --num-runs 3 --warmup-runs 1 --duration 0.3 -q -o d.json
grep -o '"wall_s": [0-9.]*' d.json | awk '{ print ($2 >= 0.3 ? "as long as asked" : $2) }'
python=/usr/bin/python3
[ ! -x $python ] || $python "$CASES/../check_json.py" r.json off.json o.json
