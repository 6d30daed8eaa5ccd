cp "$CASES"/../../data/tflite/*.tflite .
mv loop.tflite loop.model # told by its content
"$ASSAY" float.tflite --top 20
"$ASSAY" float.tflite --batch 4 --top 0 | grep MACs
"$ASSAY" quantised.tflite --top 20 | grep -A9 "^Top"
"$ASSAY" loop.model --top 0 | grep -E "Exact|MACs"
"$ASSAY" odd.tflite --top 0 | sed -n 7,9p
"$ASSAY" detection.tflite --top 0 | grep -E "Output|detection_|Exact|Parameters"
head -c 900 float.tflite > cut.tflite
"$ASSAY" cut.tflite || echo "exit $?"
