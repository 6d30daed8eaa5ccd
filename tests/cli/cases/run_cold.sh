# bench --cold N: cold starts, each in a new process, with their distribution.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
"$ASSAY" bench lenet --cold 3 --batch 2 --num-runs 3 --warmup-runs 1 -o c.json > out
sed -n '/^Cold starts/,/^$/s/^\(Cold starts\|  [a-z]*\( run\)*  \).*/\1/p' out
"$ASSAY" report c.json 2> /dev/null | cmp - out && echo "report prints the same"
python=/usr/bin/python3
[ -x $python ] || exit 0
cat > read.py <<'END'
import json
c = json.load(open("c.json"))["cold_starts"]
parts = {p["part"]: p for p in c["parts"]}
print(c["starts"], c["batch"], c["precision"], list(parts))
for p in parts.values():
    assert len(p["samples_ms"]) == 3
    s = sorted(p["samples_ms"])
    assert abs(p["min_ms"] - s[0]) < 1e-5 and abs(p["median_ms"] - s[1]) < 1e-5 and abs(p["max_ms"] - s[2]) < 1e-5
    assert s[1] <= p["p95_ms"] <= s[2]
    assert abs(p["mean_ms"] - sum(s) / 3) < 1e-5
for i in range(3):
    assert abs(sum(parts[k]["samples_ms"][i] for k in ("engine", "session", "first run")) - parts["total"]["samples_ms"][i]) < 1e-5
# A new process loads the engine each time.
assert parts["engine"]["min_ms"] > 0
END
$python read.py
$python "$CASES/../check_json.py" c.json
echo "== what is refused"
"$ASSAY" profile lenet --cold 3 2> /dev/null || echo "exit $?"
"$ASSAY" bench lenet --cold 0 2> /dev/null || echo "exit $?"
"$ASSAY" bench lenet --cold 2 --configs 1:int8 2> /dev/null || echo "exit $?"
"$ASSAY" bench lenet --cold 2 --engine-lib nowhere.so > /dev/null 2> err || echo "exit $?"
