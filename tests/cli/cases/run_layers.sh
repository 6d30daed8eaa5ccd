# Time per layer: chosen by pattern, times that are there, verdicts of time and memory on the bench screen.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
"$ASSAY" layers resnet18 --num-runs 3 --warmup-runs 2 --layers layer1,fc --top 100 -o l.json > out
sed -n '/^Slowest/,/^$/s/^  \([a-z.0-9]*\)  *\(conv2d\|linear\) .*/\1 \2/p' out | sort
grep -c '"time_ms": [0-9.]*[1-9]' l.json | awk '{ print ($1 >= 20 ? "timed" : "not timed") }'
"$ASSAY" bench lenet --num-runs 5 --warmup-runs 2 -o v.json | tr -s '\n ' '  ' | grep -cE ' (real time|slow): '
grep -c '"bands": {"speed": {"word": ".*"memory": {"word": "small GPU", "tone": "good"' v.json
grep -o '"\(work\|intensity\|memory\|speed\|run_memory\)": {"word"' v.json | sort -u
# Sums by pattern, type and module, each with its deviation; a pattern that no layer holds is said.
"$ASSAY" layers resnet18 --num-runs 3 --warmup-runs 2 --layers layer1,fc,nowhere --top 2 --no-advice -o p.json -o g.csv --rows groups > out
sed -n '/^Time by pattern/,/^$/p' out | awk 'NR > 2 && NF { print $1, ($0 ~ /no layer/ ? "no layer" : $0 ~ /±/ ? "with deviation" : "without") }' | sort
sed -n 's/^\(Slowest 2 of\).*/\1/p' out
awk -F , 'NR > 1 { n[$1]++; if ($5 == "") bare++ } END { print (n["type"] >= 5), (n["module"] >= 10), n["pattern"], bare + 0 }' g.csv
"$ASSAY" report p.json --columns 80 2> /dev/null | grep -c '^Time by' || true
"$ASSAY" layers resnet18 --num-runs 2 --warmup-runs 1 --no-advice --depth 1 --top 1 | sed -n '/^Time by module/,/^$/p' | awk '$1 ~ /^(layer|fc)/ { print $1 }' | sort
[ ! -x /usr/bin/python3 ] || /usr/bin/python3 "$CASES/../check_json.py" p.json
echo "== measured times in graph viewers"
"$ASSAY" report p.json -q -o p.netron.json -o p.modelexplorer.json
[ ! -x /usr/bin/python3 ] || /usr/bin/python3 "$CASES/../check_nodes.py" p.json p.netron.json p.modelexplorer.json
echo "== patterns that no layer holds"
"$ASSAY" layers gpt2 --layers atention 2>&1 || echo "exit $?"
"$ASSAY" layers lenet --layers nosuch,neither 2>&1 || echo "exit $?"
"$ASSAY" layers lenet --layers conv,nosuch --num-runs 2 --warmup-runs 1 -o some.json > /dev/null 2>&1
grep -o '"code": "unused-pattern".*Types here' some.json
echo "== what waits for what"
"$ASSAY" layers squeezenet1_1 --num-runs 3 --threads 2 --no-advice -o w.json > out
sed -n 's/^\(Blocking\) .*/\1/p; s/^  \(on the critical path\|ready, not run\|thread\) .*/\1/p' out
"$ASSAY" report w.json 2> /dev/null | cmp - out && echo "report prints the same"
cat > waits.py <<'END'
import json
b = json.load(open("w.json"))["blocking"]
by_name = {w["layer"]: w for w in b["layers"]}
path = [w for w in b["layers"] if w["critical"]]
assert b["critical_path_ms"] <= b["layers_ms"] + 1e-9 and b["parallelism"] >= 1
assert abs(sum(w["time_ms"] for w in path) - b["critical_path_ms"]) < 1e-6
for w in b["layers"]:
    assert w["ready_ms"] <= w["start_ms"] <= w["end_ms"]
    assert abs(w["queued_ms"] - (w["start_ms"] - w["ready_ms"])) < 1e-9
fire = by_name["features.3.concat"]
print(fire["waits_for"].startswith("features.3.expand"), fire["critical"], b["threads"][0]["thread"])
print(by_name["features.0"]["waits_for"], by_name["features.3.expand1x1"]["critical"] != by_name["features.3.expand3x3"]["critical"])
END
[ ! -x /usr/bin/python3 ] || { /usr/bin/python3 waits.py && /usr/bin/python3 "$CASES/../check_json.py" w.json; }
