"$ASSAY" scale resnet50 --dim batch=1..16 --dim side=224..512..96 --solve 'batch:memory<=4GiB' --solve 'side:macs<=100G'
"$ASSAY" scale gpt2 --dim seq=256..4096 --solve 'macs>=1T' --ascii --columns 60
"$ASSAY" scale vit_b_16 --dim side=224..512:4 -f csv
cp "$MODELS/resnet18.onnx" .
"$ASSAY" scale resnet18.onnx --dim batch=1,2 --training --json -o r.json
tr -d ' \n' < r.json | cut -c 1-420
echo
"$ASSAY" scale resnet18 || echo "exit $?"
"$ASSAY" scale resnet18 --dim batch=8..1 || echo "exit $?"
"$ASSAY" scale resnet18 --dim colour=1..8 || echo "exit $?"
"$ASSAY" scale resnet18.onnx --dim seq=1..8 || echo "exit $?"
"$ASSAY" scale resnet18 --dim batch=1..8 --solve 'memory<24GB' || echo "exit $?"
"$ASSAY" graph resnet18 --dim batch=1..8 || echo "exit $?"
"$ASSAY" scale lenet --dim batch=1..4 --solve 'batch:macs<=1000' --solve 'batch:macs>=1000' --solve 'batch:parameters<=1G' | sed -n '/^Answers/,$p'
