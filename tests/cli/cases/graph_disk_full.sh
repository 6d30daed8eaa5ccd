[ -e /dev/full ] || { echo "no /dev/full"; exit 77; }
"$ASSAY" "$CASES/../models/symbolic.onnx" > /dev/full || echo "exit $?"
"$ASSAY" ops > /dev/full || echo "exit $?"
# Of several files, none is left when one of them cannot be written.
"$ASSAY" "$CASES/../models/symbolic.onnx" -q -f json -o first.json -o /dev/full || echo "exit $?"
"$ASSAY" "$CASES/../models/symbolic.onnx" -q -o saved.json
"$ASSAY" report saved.json -q -f md -o first.md -o /dev/full || echo "exit $?"
"$ASSAY" check saved.json --threshold 'params<=1' -q -f md -o first.md -o /dev/full || echo "exit $?"
ls
