# The main job of measuring, and the two scripts that must run on its file.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
"$ASSAY" profile resnet18 --batch-sizes 1,2,4 --num-runs 8 --warmup-runs 2 --no-advice --output a/r.json > screen 2> err
# Titles, names of facts and the batch sizes of the table; times and what follows from them vary.
sed -n -e 's/^\(\[[1-5]\/5\] [A-Z].*\|Summary\|Batch size .*\)/\1/p' -e 's/^  \([A-Z][A-Za-z -]*[a-z]\)  .*/  \1/p' \
    -e 's/^ *\([0-9]\{1,\}\)  *[0-9.]* [mµ]*s  ± .*/  \1/p' screen
cat err
"$ASSAY" report a/r.json | cmp - screen && echo "report prints the same"
"$ASSAY" profile lenet --batch-sizes 1,2 --num-runs 8 --warmup-runs 2 -o b.json | grep -c '^Recommendations'
grep -o '"id": "batch-size"' b.json
python=/usr/bin/python3
[ -x $python ] || exit 0
cat > compare.py <<'END'
import json
a, b = json.load(open("a/r.json")), json.load(open("b.json"))
print("GFLOPs:", a["architecture"]["gflops"], b["architecture"]["gflops"])
assert a["single_image"]["timing"]["fps"] > 0 and b["single_image"]["timing"]["fps"] > 0
END
cat > read.py <<'END'
import json
results = json.load(open("a/r.json"))
assert results["latency"]["mean"] > 0 and results["throughput"]["samples_per_second"] > 0
assert results["memory"]["peak"] > 30_000_000
t = results["single_image"]["timing"]
assert abs(t["fps"] - 1000 / t["mean_ms"]) < 1e-6 and t["min_ms"] <= t["median_ms"] <= t["max_ms"]
m = results["single_image"]["memory"]
assert results["memory"]["peak"] == round((m["peak_mb"] - m["before_mb"]) * 2**20)
assert results["memory"]["engine_bytes"] < m["before_mb"] * 2**20
for c in results["configurations"]:
    b = results["batch_profiling"][str(c["batch"])]["memory"]
    assert c["peak_bytes"] == round((b["peak_mb"] - b["before_mb"]) * 2**20)
    assert 0 < b["activation_mb"] <= b["peak_mb"] - b["before_mb"]
print(sorted(results["batch_profiling"]), results["config"]["batch_sizes"], results["config"]["device"])
print(len(results["latency"]["samples_ms"]), results["latency"]["runs"], results["single_image"]["input_shape"])
END
$python compare.py
$python read.py
$python "$CASES/../check_json.py" a/r.json b.json
# Every screen and document says the same of the batch to take, and why.
cat > choice.py <<'END'
import json
for doc in (json.load(open(f)) for f in ("a/r.json", "b.json")):
    c, all_ran = doc["batch_choice"], [x for x in doc["configurations"] if "error" not in x]
    assert c["batch"] == doc["recommended_batch"]
    fastest = max(x["samples_per_second"] for x in all_ran)
    assert c["fastest_samples_per_second"] == fastest
    tied = [x for x in all_ran if x["samples_per_second"] * 1.02 >= fastest]
    assert c["batch"] == min(tied, key=lambda x: x["mean_ms"])["batch"]
    assert ("within 2 %" in c["why"]) == (c["samples_per_second"] < fastest)
print("one choice")
END
$python choice.py
"$ASSAY" report b.json 2> /dev/null | tr -s '\n ' '  ' | grep -c "$(sed -n 's/.*"why": "\(Batch [0-9]*: [0-9.]*\) .*/\1/p' b.json)"
echo "== one run tells no interval"
"$ASSAY" bench lenet --num-runs 1 --warmup-runs 1 -o one.json | grep -c 'no interval'
grep -o '"ci95_[a-z]*": [a-z"-]*' one.json
"$ASSAY" report one.json 2> /dev/null | grep -c 'no interval'
$python "$CASES/../check_json.py" one.json
echo "== the model of a configuration, and its image size"
cat > train.json <<'END'
{"model": {"net_type": "swinir", "img_size": 16, "in_chans": 1, "embed_dim": 12, "depths": [1], "num_heads": [2], "window_size": 8}}
END
"$ASSAY" profile --config train.json --batch-sizes 1 --num-runs 2 --warmup-runs 1 --no-advice -o s.json > screen
sed -n 's/^  \(Config file\|Model\|Image size\)   *\([^ ]*\).*/\1: \2/p' screen
grep -o '"image_size": [0-9]*\|"config_file": "[^"]*"' s.json
