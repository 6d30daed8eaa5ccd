# What a command prints and what `assay report` prints of its saved result are the same bytes, for every kind of
# result, every format and the options of the view.
same() { # NAME COMMAND...: writes every format, then renders the JSON again
    name=$1
    shift
    shown=
    case "$*" in *--verbose*) shown="--verbose" ;; esac
    case "$*" in *--depth*) shown="$shown --depth 2" ;; esac
    case "$*" in *--top*) shown="$shown --top 3" ;; esac
    for view in "" "--ascii --columns 120" "--columns 60"; do
        "$ASSAY" "$@" $view -o r.json -o r.md -o r.csv -o r.summary.html > r.txt 2> said || {
            code=$?
            [ $code = 7 ] || [ $code = 6 ] || { echo "$name $view: exit $code"; cat said; return 0; }
        }
        for suffix in txt md csv summary.html; do
            "$ASSAY" report r.json $view $shown -o again.$suffix -q
            cmp -s r.$suffix again.$suffix || { echo "$name $view: $suffix differs"; diff r.$suffix again.$suffix | head -n 5; }
        done
        "$ASSAY" report r.json -o again.json -q
        cmp -s r.json again.json || echo "$name: json differs"
    done
    echo "$name"
}
same graph lenet
same graph_in_full resnet18 --training --depth 2 --verbose
same memory memory lenet
same map map lenet --hardware a100,rtx2060 --precision fp32,fp16 --batch-sizes 1,8
same fuse fuse resnet18
same pipeline pipeline sd15
same pipeline_sweep pipeline sd15 --sweep steps=20,30
same language pipeline llama-3-8b --hardware a100
same pipelines pipeline sd15 sdxl
same comparison compare resnet18 resnet34
same scaling scale lenet --dim batch=1..8 --solve 'batch:memory<=1GB'
same validation validate resnet18
"$ASSAY" check lenet --save-baseline base.json -q
same check check lenet --set num_classes=20 --baseline base.json --metrics macs,params
for day in 1 2 3 4 5 6; do
    cat > run.json << END
{"schema": "assay.profile/1", "model": "net.onnx", "context": {"timestamp": "2026-09-0${day}T10:00:00Z", "command": "assay bench",
 "host": {"cpu": "Test CPU", "cores": 4}, "engine": {"name": "ort", "device": "cpu", "concurrency": 1}},
 "config": {"inputs": [{"name": "x", "dtype": "float32", "shape": [1, 8]}]}, "total_parameters": 10, "total_macs": 1000, "total_operators": 2,
 "latency": {"mean": 1$day, "p50": 1$day, "p95": 1$day, "p99": 1$day, "runs": 3, "samples_ms": [1$day, 1$day, 1$day]},
 "configurations": [{"batch": 1, "precision": "fp32", "runs": 3}]}
END
    "$ASSAY" history import run.json --db h.db -q
done
same history history --db h.db
same trend trend net.onnx --db h.db
same capacity capacity run.json --target 100 --latency p95:40ms
export ASSAY_MACHINE="$MODELS/../data/machine.json"
same machine machine --show
"$ASSAY" watch -o r.json -o r.md -o r.csv -- true 2> r.txt # its streams are those of the process: the console is stderr
for suffix in txt md csv; do
    "$ASSAY" report r.json -o again.$suffix -q
    cmp -s r.$suffix again.$suffix || { echo "watch: $suffix differs"; diff r.$suffix again.$suffix | head -n 5; }
done
echo watch
if "$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null; then
    same profile profile lenet --batch-sizes 1,2 --num-runs 3 --warmup-runs 1 --top 3
    same bench bench lenet --batch-sizes 1,2 --num-runs 3 --warmup-runs 1
    same layers layers lenet --num-runs 3 --warmup-runs 1
    same measured_plan memory lenet --measure --num-runs 3 --warmup-runs 1
    same race compare lenet lenet --measure --num-runs 4 --threads 1
else
    printf '%s\n' profile bench layers measured_plan race # no engine: the other kinds are what is compared
fi
