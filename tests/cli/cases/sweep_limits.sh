# Limits of sweeps: many models, and time limits from a prediction or from earlier records.
export ASSAY_DB="$PWD/h.db" PATH="/usr/bin:/bin"
limits() { "$ASSAY" sweep "$@" --num-runs 20000 -f csv -o plan.csv -q; sed 1d plan.csv; }
deadlines() {
    rm -f sweep.json
    "$ASSAY" sweep --models resnet18 --batch-sizes 8 --num-runs 100 --node-class big,small --on kubernetes --image i \
        --manifest job.json -q 2> /dev/null
    grep -o '"activeDeadlineSeconds": *[0-9]*' job.json | grep -o '[0-9]*$' | sort -n | tr '\n' ' '
    echo
}
record() { # CLASS MS
    cat > lines << END
{"schema": "assay.history/1"}
{"machine": "m", "tags": ["class:$1"], "document": {"schema": "assay.profile/1", "model": "resnet18", "context": {"timestamp": "2026-11-01T00:00:00Z", "command": "$1", "engine": {"name": "ort", "device": "cpu", "concurrency": 1}}, "total_parameters": 10, "latency": {"mean": $2, "p50": $2, "runs": 3, "samples_ms": [$2]}, "configurations": [{"batch": 8, "precision": "fp32", "runs": 3}]}}
END
    "$ASSAY" history import lines -q
}
echo "---- more models than words of a command line"
models=$("$ASSAY" models --json | grep -o '^  {"name": "[^"]*"' | cut -d'"' -f4 | head -n 70 | tr '\n' ',')
"$ASSAY" sweep --models "${models%,}" --num-runs 1 -o many.json -q
grep -c '"task":' many.json
echo "---- the device of the node class"
limits --models resnet50 --device cuda --node-class h100,gtx1080 > said
awk -F, 'NR == 1 { fast = $NF } NR == 2 { print (fast + 0 < $NF + 0) ? "the faster device has less time" : $0 }' said
limits --models resnet50 --threads 1,8 > said
awk -F, 'NR == 1 { one = $NF } NR == 2 { print (one + 0 > $NF + 0) ? "one thread has more time" : $0 }' said
echo "---- earlier records"
deadlines > before
record big 60000
deadlines
record small 6000
deadlines
