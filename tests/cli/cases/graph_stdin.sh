"$ASSAY" - --dim batch=1 < "$CASES/../models/symbolic.onnx" | head -n 4
"$ASSAY" graph - < /dev/null || echo "exit $?"
