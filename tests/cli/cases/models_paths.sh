"$ASSAY" ./missing.onnx || echo "exit $?"
"$ASSAY" missing.onnx || echo "exit $?"
"$ASSAY" missing || echo "exit $?"
"$ASSAY" gaph || echo "exit $?"
"$ASSAY" gaph x.onnx || echo "exit $?"
mkdir folder && "$ASSAY" folder || echo "exit $?"
touch folder/model.onnx && "$ASSAY" folder/ || echo "exit $?"
cp "$CASES/../models/symbolic.onnx" net.onnx && "$ASSAY" net || echo "exit $?"
cp net.onnx plain && "$ASSAY" plain -q && echo read
"$ASSAY" --model net.onnx -q && "$ASSAY" graph --model-path=net.onnx -q && "$ASSAY" -- net.onnx > /dev/null && echo read
: > empty.onnx && "$ASSAY" empty.onnx || echo "exit $?"
echo hello > text.onnx && "$ASSAY" text.onnx || echo "exit $?"
