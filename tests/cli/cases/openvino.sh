cp "$CASES"/../../data/openvino/* .
"$ASSAY" net.xml --top 20 | sed -n '1,18p;/^Top/,$p'
"$ASSAY" net.xml --batch 4 --top 0 | grep MACs
"$ASSAY" loop.xml --top 0 | grep -E "Exact|MACs"
"$ASSAY" old.xml --top 0 | sed -n 3,8p
# Sizes of the ports are the truth, with the constants and without.
"$ASSAY" graph rare.xml --json | grep -c -e declared-shape -e unknown-operator || true
"$ASSAY" rare.xml --top 0 | grep -E "Operators|MACs"
for f in parts layers; do
    "$ASSAY" graph $f.xml --json | grep -c -e declared-shape -e unknown-operator || true
done
mv rare.bin rare.away
"$ASSAY" graph rare.xml --json | grep -c -e declared-shape -e unknown-operator || true
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
# Version 2 has a number for each axis.
sed -e 's/version="7"/version="2"/' -e 's/kernel="3,3" strides="1,1" dilations="1,1"/kernel-x="3" kernel-y="3" stride-x="1" stride-y="1"/' \
    -e 's/pads_begin="1,1" pads_end="1,1"/pad-x="1" pad-y="1"/' old.xml > oldest.xml
"$ASSAY" oldest.xml --top 0 | grep -E "Parameters|MACs"
sed 's/version="7"/version="1"/' old.xml > first.xml
"$ASSAY" first.xml || echo "exit $?"
