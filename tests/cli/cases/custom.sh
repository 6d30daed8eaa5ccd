cat > tiny.json << 'END'
{
  "schema": "assay.model/1",
  "name": "tiny",
  "input": [1, 3, 32, 32],
  "layers": [
    {"conv_norm_act": {"out": 16, "kernel": 3}, "name": "stem"},
    {"repeat": 2, "name": "body", "layers": [
      {"residual": [{"conv": {"out": 16, "kernel": 3, "padding": "same"}}, "relu"]}
    ]},
    "globalavgpool", "flatten",
    {"linear": 10, "name": "head"}
  ]
}
END
"$ASSAY" tiny.json -f csv | cut -d, -f1,2,10-13
# It is a model wherever a model or a result may be given.
"$ASSAY" compare tiny.json lenet -q && echo compared
"$ASSAY" check tiny.json --threshold params:10K -q && echo "within its limit"
sed 's/"out": 16, "kernel": 3, "padding"/"out": 8, "kernel": 3, "padding"/' tiny.json > bad.json
"$ASSAY" bad.json || echo "exit $?"
sed 's/globalavgpool/globalavgpol/' tiny.json > bad.json
"$ASSAY" bad.json || echo "exit $?"
