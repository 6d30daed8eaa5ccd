cp "$CASES"/../../data/openvino/* .
"$ASSAY" net.xml --top 20 | sed -n '1,18p;/^Top/,$p'
"$ASSAY" net.xml --batch 4 --top 0 | grep MACs
"$ASSAY" loop.xml --top 0 | grep -E "Exact|MACs"
"$ASSAY" old.xml --top 0 | sed -n 3,8p
"$ASSAY" export net.xml -o net.onnx -q && "$ASSAY" net.onnx --top 0 | grep -E "Exact|Parameters|MACs"
mv net.bin away.bin
"$ASSAY" net.xml --top 0 | grep -E "Exact|bin|MACs"
"$ASSAY" export net.xml -o net.onnx || echo "exit $?"
sed 's/<dim>4<.dim><dim>8<.dim><dim>8<.dim><.port><.output>/<dim>4<\/dim><dim>8<\/dim><dim>9<\/dim><\/port><\/output>/' net.xml > wrong.xml
"$ASSAY" graph wrong.xml --json | grep -c declared-shape
echo '<?xml version="1.0"?><project/>' > pom.xml
"$ASSAY" pom.xml || echo "exit $?"
head -c 900 net.xml > cut.xml
"$ASSAY" cut.xml || echo "exit $?"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n' > net.bin
"$ASSAY" net.xml --json | grep -o '"code": "[a-z]*-[a-z]*"'
