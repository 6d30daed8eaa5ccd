# The memory plan against the engine's own book: to the byte, with the steps between them.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
python=/usr/bin/python3
[ -x $python ] || exit 77
cat > check.py <<'END'
import json, sys
causes = ["planned", "expanded_operators", "engine_order", "in_place", "kept_buffers", "unexplained", "measured"]
for path in sys.argv[1:]:
    c = json.load(open(path))["plan_check"]
    assert c["shapes_checked"] > 0 and c["shapes_equal"] == c["shapes_checked"], path
    near = lambda a, b: abs(a - b) <= 0.05 * b
    assert near(c["measured_no_reuse"], c["planned_no_reuse"]), (path, c["measured_no_reuse"], c["planned_no_reuse"])
    assert near(c["measured_peak"], c["planned_with_kept"]), (path, c["measured_peak"], c["planned_with_kept"])
    assert c["planned_no_reuse"] >= c["planned_as_run"]
    rows = c["ledger"]
    assert [r["cause"] for r in rows[:7]] == causes and all(r["cause"] == "kernel_workspace" for r in rows[7:]), rows
    total = 0
    for r in rows:
        total += r["bytes"]
        assert total == r["total_bytes"], (path, r)
    assert rows[0]["bytes"] == c["planned_peak"] and rows[6]["total_bytes"] == c["measured_peak"], path
    if c["workspace_bytes"] is not None:
        assert total == c["measured_peak"] + c["workspace_bytes"], path
    print(path, " ".join(str(r["bytes"]) for r in rows[:6]), "=", c["measured_peak"])
END
measure() { # FILE MODEL [OPTION ...]
    out=$1
    shift
    "$ASSAY" memory "$@" --measure --num-runs 1 --warmup-runs 1 --threads 1 -q -o "$out"
}
for m in lenet mlp squeezenet1_1 mobilenet_v3_small shufflenet_v2_x0_5; do
    measure $m.json $m
done
# An image model of windows, at two sizes of the batch; attention that the engine has in parts, and keeps buffers for.
measure swinir.json swinir_small --input-shape 1,1,64,64 --set depths=4 --set num_heads=6
measure swinir2.json swinir_small --input-shape 2,1,64,64 --set depths=4 --set num_heads=6
measure whisper.json whisper-tiny --set encoder_layers=3 --set decoder_layers=1 --set max_source_positions=800 --set vocab_size=1000
"$ASSAY" memory lenet --batch 3 --measure --num-runs 1 --warmup-runs 1 -o lenet3.json |
    sed -n '/peak of activations/,/Measured against/p' | sed -E 's/[0-9.]+ [KM]iB/N/g; s/ +/ /g'
$python check.py ./*.json
$python "$CASES/../check_json.py" lenet.json
# The measured curve beside the plan, of a saved result.
"$ASSAY" report lenet.json -f csv --rows timeline | head -4
"$ASSAY" report lenet.json -f csv --rows curve | head -1
[ "$("$ASSAY" report lenet.json -f csv --rows curve | wc -l)" -gt 2 ] && echo "looks at resident memory"
