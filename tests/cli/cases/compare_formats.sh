# Files of one network in two formats: layers are matched across operators and layouts, and what is left explains the
# difference. A file of weights has no work to compare.
cp "$CASES"/../../data/tflite/float.tflite "$CASES"/../../data/keras/tiny.h5 "$CASES"/../../data/keras/tiny.keras .
"$ASSAY" export float.tflite -o float.onnx -q
"$ASSAY" export tiny.h5 -o tiny.onnx -q
echo "== TFLite and ONNX"
"$ASSAY" compare float.tflite float.onnx | sed -n "/^Layers behind/,/^$/p"
echo "== Keras and ONNX"
"$ASSAY" compare tiny.h5 tiny.onnx | sed -n "/^Layers behind/,/^$/p"
echo "== Keras 2 and Keras 3"
"$ASSAY" compare tiny.h5 tiny.keras --json | grep -E '"(same|renamed)_layers"'
echo "== weights alone"
cp "$CASES"/../../data/keras/weights.h5 alone.h5
"$ASSAY" compare tiny.h5 alone.h5 | sed -n "2,4p;/Parameters/p;/MACs/p"
"$ASSAY" compare tiny.h5 alone.h5 --json | grep -c '"macs": null'
