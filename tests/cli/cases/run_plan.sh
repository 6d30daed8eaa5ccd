# The memory plan against the engine's own book: to the byte, with the steps between them.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
python=/usr/bin/python3
[ -x $python ] || exit 77
cat > check.py <<'END'
import json, sys
for path in sys.argv[1:]:
    c = json.load(open(path))["plan_check"]
    assert c["shapes_checked"] > 0 and c["shapes_equal"] == c["shapes_checked"], path
    near = lambda a, b: abs(a - b) <= 0.05 * b
    assert near(c["measured_no_reuse"], c["planned_no_reuse"]), (path, c["measured_no_reuse"], c["planned_no_reuse"])
    assert near(c["measured_peak"], c["planned_as_run"]), (path, c["measured_peak"], c["planned_as_run"])
    assert c["planned_no_reuse"] >= c["planned_as_run"]
    print(path, c["measured_peak"])
END
for m in lenet mlp squeezenet1_1 mobilenet_v3_small shufflenet_v2_x0_5; do
    "$ASSAY" memory $m --measure --num-runs 1 --warmup-runs 1 --threads 1 -q -o $m.json
done
"$ASSAY" memory lenet --batch 3 --measure --num-runs 1 --warmup-runs 1 -o lenet3.json | grep -o 'Peak of activations: planned .*(+0.0 %)'
$python check.py ./*.json
$python "$CASES/../check_json.py" lenet.json
