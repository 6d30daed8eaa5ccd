# Questions about a fleet: what changed, regressions by machine and version, drift, the cheapest class of machines.
python=/usr/bin/python3
[ -x $python ] || { echo "no python3"; exit 77; }
fails() { code=0; "$@" 2>&1 || code=$?; echo "exit $code"; }
echo '{"schema": "assay.history/1"}' > lines
for machine in n1 n2; do
    for day in 01 02 03 04 05 06 07 08 09 10 11 12; do
        d=${day#0} ms=$((50 + ${day#0} % 4)) version=0.1.0
        [ $d -le 6 ] || version=0.2.0
        [ $d -le 6 ] || [ $machine = n2 ] || ms=$((ms + 20))
        cat << END | tr -d '\n'
{"machine": "$machine", "tags": ["class:$machine-class"], "document": {"schema": "assay.profile/1", "model": "net",
 "context": {"tool_version": "$version", "timestamp": "2026-11-${day}T00:00:00Z", "command": "$machine", "engine": {"name": "ort", "concurrency": 1}},
 "total_parameters": 10, "total_macs": 1000, "total_operators": 2,
 "latency": {"mean": $ms, "p50": $ms, "p99": $ms, "runs": 3, "samples_ms": [$ms]}, "throughput": {"samples_per_second": $((1000 - ms))},
 "configurations": [{"batch": 1, "precision": "fp32", "runs": 3, "samples_per_second": $((1000 - ms))}]}}
END
        echo
    done
done >> lines
export ASSAY_DB="$PWD/h.db"
"$ASSAY" history import lines
echo "---- regressions"
fails "$ASSAY" history regressions --by version
fails "$ASSAY" history regressions --machine n2 -q
fails "$ASSAY" history regressions --since 2026-11-09 -q
"$ASSAY" history regressions --by machine -f csv | cut -d, -f1,2,4,5 || true
echo "---- changes"
"$ASSAY" history changes --since 2026-11-07 --by machine
echo "---- cheapest"
"$ASSAY" history cheapest net --latency p99:60ms --price n1-class=0.2 --price n2-class=0.5
fails "$ASSAY" history cheapest net --latency p99:1ms -q
fails "$ASSAY" history cheapest nothing -q
fails "$ASSAY" history cheapest net --price nobody=1 -q
fails "$ASSAY" history cheapest net --price n1 -q
echo "---- a class that is called as a device has its list price"
sed 's/class:n1-class/class:l4/; s/class:n2-class/class:T4/' lines > devices.lines
"$ASSAY" history import devices.lines --db devices.db -q
"$ASSAY" history cheapest net --latency p99:60ms --price t4=0.1 --db devices.db --json | grep -E 'conclusion|price_basis' |
    sed 's/[0-9.]* per million/N per million/; s/"price_per_hour": [0-9.]*, /"price_per_hour": N, /; s/"cost_per_million": [0-9.]*, //; s/20[0-9-]* ([^)]*)/DATE (SOURCE)/g'
echo "---- drift"
"$ASSAY" history drift | sed -n 1p
for day in 01 02 03; do
    sed "s/\"timestamp\": \"[^\"]*\"/\"timestamp\": \"2026-12-${day}T00:00:00Z\"/" "$CASES/../../data/machine.json" > m.json
    [ $day != 03 ] || $python -c 'import re; t = open("m.json").read(); open("m.json", "w").write(re.sub(
        r"\"value\": ([0-9.e+-]+)", lambda m: "\"value\": %r" % (float(m.group(1)) / 2), t))'
    "$ASSAY" history import m.json -q
done
"$ASSAY" history drift | sed -n '1,6p'
"$ASSAY" history changes --json -o changes.json -q
"$ASSAY" history drift --json -o drift.json -q
"$ASSAY" history cheapest net --json -o cheapest.json -q
$python "$CASES/../check_json.py" changes.json drift.json cheapest.json
