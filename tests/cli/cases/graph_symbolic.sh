cd "$CASES/../models"
"$ASSAY" symbolic.onnx | head -n 20
"$ASSAY" symbolic.onnx --dim batch=2 --dim sequence=5 --strict -f csv
"$ASSAY" --input-shape x:2,5,8 symbolic.onnx -q --strict && echo exact
"$ASSAY" --input-shape=2x5x8 symbolic.onnx -q --strict && echo exact
