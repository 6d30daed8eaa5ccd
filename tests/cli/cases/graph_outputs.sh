cp "$CASES/../models/symbolic.onnx" m.onnx
"$ASSAY" m.onnx --batch 1 -o deep/er/result.json -o layers.csv | head -n 1
"$ASSAY" m.onnx -qo screen.txt && head -n 1 screen.txt
"$ASSAY" m.onnx -f csv -q -o rows.dat && cmp rows.dat layers.csv && echo same
"$ASSAY" m.onnx --json -o - | head -n 2
ls deep/er *.csv *.txt *.dat
