cp "$CASES"/../../data/stablehlo/* .
"$ASSAY" net.mlir --top 20 | sed -n '1,12p;/^Top/,$p'
"$ASSAY" loop.mlir --top 0 | sed -n '7,20p'
"$ASSAY" loop.mlir --top 0 | grep -E "Parameters|MACs"
"$ASSAY" export net.mlir -o net.onnx -q && "$ASSAY" net.onnx --top 0 | grep -E "Exact|MACs"
"$ASSAY" export loop.mlir -o loop.onnx 2>&1 || echo "exit $?"
cp net.mlir text
sed -i 1,2d text
"$ASSAY" text --top 0 | grep MACs
head -c 1500 net.mlir > cut.mlir
"$ASSAY" cut.mlir 2>&1 || echo "exit $?"
sed 's/%1:4 = stablehlo.while/%1:4 stablehlo.while/' loop.mlir > wrong.mlir
"$ASSAY" wrong.mlir 2>&1 || echo "exit $?"
printf 'builtin.module {}\n' > none.mlir
"$ASSAY" none.mlir 2>&1 || echo "exit $?"
