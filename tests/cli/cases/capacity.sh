# Machines for a rate, from a result that was made up: 10, 24 and 80 ms at batch 1, 4 and 16.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
$python - << 'END'
import json
def samples(ms): return [ms * (1 + 0.001 * (i % 11 - 5)) for i in range(120)]
def latency(ms): return {"mean": ms, "p50": ms, "p95": ms, "p99": ms, "runs": 120, "samples_ms": samples(ms)}
json.dump({"schema": "assay.profile/1", "model": "net.onnx", "context": {"engine": {"name": "ort", "concurrency": 1}},
           "latency": latency(10), "configurations": [
    {"batch": 1, "precision": "fp32", "runs": 120}, {"batch": 4, "precision": "fp32", "runs": 120, "latency": latency(24)},
    {"batch": 16, "precision": "fp32", "runs": 120, "latency": latency(80)}]}, open("r.json", "w"))
json.dump({"schema": "assay.profile/1", "model": "net.onnx", "context": {"engine": {"name": "ort", "concurrency": 4}},
           "latency": latency(30), "configurations": [{"batch": 1, "precision": "fp32", "runs": 120}]}, open("c4.json", "w"))
END
"$ASSAY" capacity r.json --target 5000rps --latency p99:60ms
"$ASSAY" capacity r.json --target 1rps --latency p99:60ms | sed -n '1p'
"$ASSAY" capacity r.json c4.json --target 2k --latency p95:0.2s --headroom 30 -f csv
"$ASSAY" capacity r.json --target 1000/s --json | head -n 33
"$ASSAY" history import r.json --db h.db
"$ASSAY" capacity 1 --db h.db --target 100 --latency mean:40ms --ascii --columns 60
echo "---- refused"
"$ASSAY" capacity r.json --target 1000 --latency 5ms > screen || echo "exit $?"
head -n 3 screen
"$ASSAY" capacity r.json || echo "exit $?"
"$ASSAY" capacity r.json --target fast || echo "exit $?"
"$ASSAY" capacity r.json --target 10 --latency p100:3ms || echo "exit $?"
"$ASSAY" capacity r.json --target 10 --latency p99:3GB || echo "exit $?"
"$ASSAY" capacity none.json --target 10 || echo "exit $?"
"$ASSAY" lenet -q -o static.json && "$ASSAY" capacity static.json --target 10 || echo "exit $?"
echo "---- times that no clock told"
for ms in 1e308 1e-320; do
    sed "s/\"samples_ms\": \[[^]]*\]/\"samples_ms\": [$ms, $ms]/" r.json > absurd.json
    "$ASSAY" capacity absurd.json --target 1000 || echo "exit $?"
done
echo "---- prices"
"$ASSAY" capacity r.json --target 1000 --price 0.25 | grep -A 1 "Cost per hour"
"$ASSAY" capacity r.json --target 1000 --price nobody=0.25 || echo "exit $?"
