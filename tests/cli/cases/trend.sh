# A history of made-up days: levels, changes, alerts and their exit codes.
when() { # EPOCH -> 2026-...
    date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ
}
run() { # DAY P50 [CPU]
    cat > run.json << END
{"schema": "assay.profile/1", "model": "nets/net.onnx", "context": {"timestamp": "$(when $((1790000000 + 86400 * $1)))",
 "command": "assay bench", "host": {"cpu": "${3:-Test CPU}", "cores": 4}, "engine": {"name": "ort", "device": "cpu", "concurrency": 1}},
 "config": {"inputs": [{"name": "x", "dtype": "float32", "shape": [1, 8]}]},
 "total_parameters": 10, "total_macs": $((1000 + $1 / 10)), "total_operators": 2,
 "latency": {"mean": $2, "p50": $2, "p95": $2, "runs": 3, "samples_ms": [$2, $2, $2]},
 "configurations": [{"batch": 1, "precision": "fp32", "runs": 3}]}
END
    "$ASSAY" history import run.json --db h.db -q
}
day=0
for p50 in 10.1 10.0 10.2 9.9 10.0 10.1 9.8 10.0 10.2 10.0 12.1 12.0 12.2 11.9 12.1 12.0 12.3 12.0 11.9 12.1; do
    run $day $p50
    day=$((day + 1))
done
run 20 3.0 'Other CPU'
run 21 12.0
"$ASSAY" trend net.onnx --db h.db
"$ASSAY" trend nets/net.onnx --db h.db --metric macs
"$ASSAY" trend net.onnx --db h.db --all -f csv | tail -n 3
"$ASSAY" trend net.onnx --db h.db --since 2026-10-08 --json
"$ASSAY" trend net.onnx --db h.db --limit 5 --ascii -o t.json && grep -c '"id"' t.json
echo "---- alerts"
alert() { "$ASSAY" trend net.onnx --db h.db -q --alert "$@" && echo quiet || echo "exit $?"; }
alert 'p50 > 1.1x median(all)'
alert 'p95 > 1.1x median(5)'
alert 'p50 >= 12ms'
alert 'p50 > 1.2x mean(1h)'
alert 'p50 < 1ms' --alert 'macs > 1001'
"$ASSAY" trend net.onnx --db h.db --alert 'p50 > 1.1x median(all)' | tail -n 3
echo "---- refused"
alert 'p50 > 1.2x median(30x)'
alert 'p50 = 3'
alert 'q50 > 3'
"$ASSAY" trend net.onn --db h.db || echo "exit $?"
"$ASSAY" trend net.onnx --db h.db --metric p51 || echo "exit $?"
"$ASSAY" trend net.onnx --db h.db --metric energy || echo "exit $?"
"$ASSAY" trend net.onnx --db h.db --tag none || echo "exit $?"
"$ASSAY" trend net.onnx --db none.db || echo "exit $?"
"$ASSAY" trend net.onnx --db h.db -o t.yaml || echo "exit $?"
