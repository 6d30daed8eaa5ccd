# What history, trend and capacity write, against their schemas.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
for day in 01 02 03 04 05 06 07 08 09 10 11 12; do
    ms=$((${day#0} > 6 ? 70 + ${day#0} % 3 : 50 + ${day#0} % 4))
    cat > run.json << END
{"schema": "assay.profile/1", "model": "net", "context": {"timestamp": "2026-11-${day}T00:00:00Z", "engine": {"name": "ort", "concurrency": 1}},
 "total_parameters": 10, "total_macs": 1000, "total_operators": 2,
 "latency": {"mean": $ms, "p50": $ms, "p95": $ms, "runs": 3, "samples_ms": [$ms, $ms, $((ms + 1))]},
 "configurations": [{"batch": 1, "precision": "fp32", "runs": 3}]}
END
    "$ASSAY" history import run.json --db h.db -q
done
"$ASSAY" history tag 3 a b --db h.db
"$ASSAY" history --db h.db -q -o records.json
"$ASSAY" trend net --db h.db -q -o trend.json --alert 'p50 > 1s' --alert 'p50 > median(1h)' 2> said || echo "exit $?"
grep -c '"verdict": "worse"' trend.json
"$ASSAY" trend net --db h.db -q -o macs.json --metric macs
"$ASSAY" capacity 12 --db h.db -q --target 100 --latency p90:300ms -o capacity.json
"$ASSAY" capacity 12 --db h.db -q --target 100 --latency p90:1ms -o none.json 2> said || echo "exit $?"
$python "$CASES/../check_json.py" records.json trend.json macs.json capacity.json none.json
