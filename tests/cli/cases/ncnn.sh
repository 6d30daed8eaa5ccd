cp "$CASES"/../../data/ncnn/* .
"$ASSAY" net.param --top 20 | sed -n '1,18p;/^Top/,$p'
"$ASSAY" net.param --batch 4 --top 0 | grep MACs
grep -v Mystery net.param > known.param && cp net.bin known.bin
"$ASSAY" export known.param -o known.onnx -q && "$ASSAY" known.onnx --top 0 | grep -E "Exact|Parameters|MACs"
head -c 700 net.bin > known.bin
"$ASSAY" graph known.param --json | grep -c weights-size
printf '7767517\n1 1\npnnx.Input pnnx_input_0 0 1 0 #0=(1,3,640,640)f32\n' > model.pnnx.param
"$ASSAY" model.pnnx.param || echo "exit $?"
"$ASSAY" graph net.param.bin --top 0 | grep -E "Parameters|MACs"
printf '\335\205\166\000\003\000\000\000' > cut.param.bin
"$ASSAY" cut.param.bin || echo "exit $?"
# Inputs without sizes: what their layers need.
cat > decoder.param << 'END'
7767517
9 14
Input in0 0 1 in0
Input rope 0 2 cos sin
Input mask 0 1 mask
Input cache 0 2 ck cv
RMSNorm n 1 1 in0 a 0=32 1=1e-6 2=1
Gemm q 1 1 a b 10=-1 2=0 3=1 4=0 5=1 6=1 7=0 8=32 9=32
Reshape r 1 1 b c 0=8 1=4 2=-1
Permute p 1 1 c d 0=2
Split s 1 3 d d0 d1 d2
RotaryEmbed e 3 1 d0 cos sin f 0=0
SDPA at 6 3 f d1 d2 mask ck cv g ok ov 5=1 7=1
END
"$ASSAY" decoder.param --top 0 | sed -n '/Input/,/Exact\|exact/p'
"$ASSAY" decoder.param --top 0 | grep -E "Parameters|MACs"
cat > text.param << 'END'
7767517
3 3
Input words 0 1 words
Embed e 1 1 words a 0=16 1=100 2=0 3=1600
LSTM l 1 1 a b 0=8 1=512 2=0
END
"$ASSAY" text.param --top 0 | grep -E "words|Exact|exact|Parameters|MACs"
cat > boxes.param << 'END'
7767517
4 4
Input image 0 1 image
YoloV5Focus f 1 1 image a
Convolution c 1 1 a b 0=4 1=3 3=2 4=1 5=1 6=432
InnerProduct d 1 1 b out 0=5 1=1 2=2000
END
"$ASSAY" boxes.param --top 0 | grep -E "image |Parameters|MACs"
"$ASSAY" boxes.param --strict -q > /dev/null || echo "exit $?"
