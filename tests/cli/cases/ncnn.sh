cp "$CASES"/../../data/ncnn/* .
"$ASSAY" net.param --top 20 | sed -n '1,18p;/^Top/,$p'
"$ASSAY" net.param --batch 4 --top 0 | grep MACs
grep -v Mystery net.param > known.param && cp net.bin known.bin
"$ASSAY" export known.param -o known.onnx -q && "$ASSAY" known.onnx --top 0 | grep -E "Exact|Parameters|MACs"
head -c 700 net.bin > known.bin
"$ASSAY" graph known.param --json | grep -c weights-size
printf '7767517\n1 1\npnnx.Input pnnx_input_0 0 1 0 #0=(1,3,640,640)f32\n' > model.pnnx.param
"$ASSAY" model.pnnx.param || echo "exit $?"
printf '\335\205\166\000\003\000\000\000' > net.param.bin
"$ASSAY" net.param.bin || echo "exit $?"
