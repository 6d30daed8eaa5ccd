# What is recognised by content, whatever the suffix: exit 4 and what to do.
try() { "$ASSAY" "$1" 2>&1 || echo "exit $?"; }
printf 'ftrt\000\000\000\000engine' > a.bin && try a.bin
printf 'RKNN\000\000\000\000' > b.onnx && try b.onnx
printf '\001HEF\000\000\000\000' > c.bin && try c.bin
printf 'ML\357R\003' > d.bin && try d.bin
printf 'module @jit_f {\n  func.func @main() {\n    %%0 = stablehlo.constant dense<1> : tensor<i32>\n' > e.txt && try e.txt
printf '7767517\n1 1\npnnx.Input x 0 1 0\n' > f.txt && try f.txt
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' > g.xml && try g.xml
printf '\030\000\000\000CIR0' > h.tflite && try h.tflite
printf '\030\000\000\000ET12' > i.bin && try i.bin
touch j.mnn && try j.mnn
printf 'BZh91AY' > k.param && try k.param
