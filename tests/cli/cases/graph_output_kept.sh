# A run that fails leaves an existing file as it was, and no leavings beside it.
echo before > result.json
"$ASSAY" missing.onnx -o result.json || echo "exit $?"
cat result.json
ls -A
