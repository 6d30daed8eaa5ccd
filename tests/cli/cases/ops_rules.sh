# --ops: operators that nobody knows, described in a file. Two graphs in the style of qonnx count exactly; rules that
# cannot be computed are exit 3 with their place.
m=$CASES/../models
cat > rules.json <<'END'
{
  "schema": "assay.ops/1",
  "operators": [
    {
      "op": "my.quantisers::Quant",
      "type": "fakequant",
      "inputs": ["x", "scale", "zero", "bits"],
      "let": {"n": "size(x)"},
      "outputs": [{"shape": "x", "dtype": "x"}],
      "cost": {"div": "n", "add": "2*n", "special": "n", "cmp": "value(bits) < 16 ? 2*n : 0", "mul": "n"},
      "weights": ["x"],
      "not_weights": ["scale", "zero", "bits"]
    },
    {
      "op": "my.domain::Mystery",
      "inputs": ["a"],
      "outputs": [{"name": "b", "shape": ["dim(a, 0)", "dim(a, -1) / 2"], "dtype": "int8"}],
      "cost": {"int_ops": "size(b)", "read": {"a": "bytes(a) / 2"}}
    }
  ]
}
END
python=/usr/bin/python3
[ -x $python ] || exit 77
cat > show.py <<'END'
import json, sys
d = json.load(sys.stdin)
a = d["accounting"]
print(d["model"].split("/")[-1], d["total_flops"], d["total_macs"], d["total_parameters"], d["total_operators"],
      "load", d["load_time"]["operators"], d["load_time"]["flops"],
      "exact", a["exact"], "user", a.get("user_defined", 0), "unknown", a["unknown"], a["anything_assumed"])
for u in d.get("user_operators", []):
    print(" ", u["op"], u["file"], u["nodes"])
for l in d["layers"]:
    print("  ", l["name"], l["type"], l["certainty"], l["flops"], l["memory"], l["output_shapes"], l["output_types"])
END
for f in quant_mlp quant_cnn unknown; do
    code=0
    "$ASSAY" graph "$m/$f.onnx" --strict -q 2> /dev/null || code=$?
    echo "without rules: exit $code"
    "$ASSAY" graph "$m/$f.onnx" --strict --ops rules.json --json | $python show.py
done
# Every command that reads a model.
"$ASSAY" compare "$m/quant_mlp.onnx" "$m/quant_cnn.onnx" --ops rules.json --json |
    $python -c 'import json,sys; print([(m["flops"], m["parameters"], m["unknown"]) for m in json.load(sys.stdin)["models"]])'
"$ASSAY" check "$m/quant_mlp.onnx" --ops rules.json --threshold flops:600 -q || echo "check: exit $?"
"$ASSAY" check "$m/quant_mlp.onnx" --ops rules.json --threshold flops:1200 -q && echo "check: exit 0"
"$ASSAY" fuse "$m/quant_mlp.onnx" --ops rules.json --json | $python -c 'import json,sys; print(json.load(sys.stdin)["total_flops"])'
# What is wrong, and where.
bad() { # CODE CHANGE
    sed "$2" rules.json > bad.json
    code=0
    "$ASSAY" graph "$m/quant_mlp.onnx" --ops bad.json -q 2> err || code=$?
    [ $code = "$1" ] && echo "exit $code: $(cat err)" || echo "$2: exit $code, not $1: $(cat err)"
}
bad 3 's/"div": "n"/"div": "n \/ (rank(x) - 2)"/'
bad 3 's/"div": "n"/"div": "n * 9223372036854775807"/'
bad 3 's/"n": "size(x)"/"n": "n + 1"/'
bad 3 's/"n": "size(x)"/"n": "later", "later": "n"/'
bad 3 's/"div": "n"/"div": "0 - n"/'
bad 3 's/"div": "n"/"div": "dim(x, 2)"/'
bad 3 's/"div": "n"/"div": "size(nobody)"/'
bad 3 's/"div": "n"/"div": "n +"/'
bad 3 's/my.domain::Mystery/my.quantisers::Quant/'
bad 3 's/my.domain::Mystery/Loop/'
bad 3 's/"let"/"lets"/'
bad 3 's/ops\/1/ops\/2/'
bad 3 's/"operators"/"operators/'
$python -c 'print("(" * 40 + "1" + ")" * 40)' > deep
bad 3 "s/\"div\": \"n\"/\"div\": \"$(cat deep)\"/"
code=0
"$ASSAY" graph lenet --ops nowhere.json -q 2> /dev/null || code=$?
echo "exit $code"
"$ASSAY" models --ops rules.json > /dev/null 2>&1 || echo "models: exit $?"
