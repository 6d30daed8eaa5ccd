# What a wrong name, format or pair of options is answered with; exit 2 each.
refused() { code=0; "$ASSAY" "$@" > out 2> err || code=$?; echo "exit $code $(wc -c < out)"; }
refused mobilnet; grep -o 'mobilenet_v[0-9]' err | sort -u
refused rtdetr_l; grep -o 'assay models detection' err
refused pipeline llama3; grep -o 'llama-3.1-8b' err
refused pipeline sdxl2; grep -o "mean sdxl" err
refused pipeline zzzzzzz; grep -o 'flux-dev' err
refused lenet alexnet; grep -o 'assay compare lenet alexnet' err
refused lenet alexnet vgg11 vgg13 vgg16 vgg19; grep -o 'compare lenet.*vgg13 \.\.\.' err
refused lenet -o x.xyz; grep -o ' \.csv \|json' err | sort -u
refused lenet -f xml; grep -o 'summary-html' err
# One of a thing.
cat > one.json <<'END'
{"schema": "assay.model/1", "name": "one", "input": [1, 3, 8, 8],
 "layers": [{"conv": {"out": 4, "kernel": 3, "bias": false}}]}
END
for command in "graph --advice -v --training" "map --hardware t4 -v" "fuse -v" "memory -v" "compare one.json"; do
    set -- $command
    "$ASSAY" $1 one.json ${2:+$2} ${3:+$3} ${4:+$4} | grep -E '(^|[^0-9.,×])1 ([a-z]+ )?(type|layer|operator|kernel|group|run|thread|step)s\b' || echo "$1: no wrong plural"
done
# Lists, and files that are no results.
refused ops Cnv; grep -o "'Conv'" err
refused devices rtx30900; grep -o "'rtx3090'" err
printf '\211PNG\r\n\032\n0000' > x.json
for file in x.json "$MODELS/resnet18.onnx"; do refused report "$file"; grep -o 'a PNG image\|assay graph' err; done
"$ASSAY" lenet --advice --hardware t4 --json | grep -o 'ridge of t4'

# A slip of a task.
if "$ASSAY" models --task clasification 2>&1; then exit 1; fi
