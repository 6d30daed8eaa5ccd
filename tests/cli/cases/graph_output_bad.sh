cd "$CASES/../models"
"$ASSAY" symbolic.onnx -o result.what || echo "exit $?"
"$ASSAY" symbolic.onnx -o /dev/null/x.json 2>/dev/null || echo "exit $?"
"$ASSAY" symbolic.onnx -f xml || echo "exit $?"
