cp -r "$CASES"/../../data/tensorflow/* .
"$ASSAY" frozen.pb --top 20 | sed -n '1,16p;/^Top/,$p'
"$ASSAY" frozen.pb --batch 4 --top 0 | grep MACs
"$ASSAY" loop.pb --top 0 | grep -E "Exact|Parameters|MACs"
"$ASSAY" saved --top 0 | sed -n '7,13p'
"$ASSAY" saved --top 0 | grep -E "Parameters|MACs"
"$ASSAY" export saved -o saved.onnx -q && "$ASSAY" saved.onnx --top 0 | grep -E "Parameters|MACs"
"$ASSAY" export loop.pb -o loop.onnx -q && "$ASSAY" loop.onnx --top 0 | grep -E "Exact|MACs"
"$ASSAY" parts.pb --top 0 | grep -E "Exact|Parameters|MACs"
cp saved/saved_model.pb alone
"$ASSAY" alone --top 0 | grep -E "variables are|MACs"
"$ASSAY" export alone -o alone.onnx || echo "exit $?"
head -c 900 frozen.pb > cut.pb
"$ASSAY" cut.pb || echo "exit $?"
printf 'node { name: "x" }' > x.pbtxt
"$ASSAY" x.pbtxt || echo "exit $?"
printf 'nothing of this kind' > y.pb
"$ASSAY" y.pb || echo "exit $?"
# Other messages: a tensor of ONNX, and one whose first field could be a node.
printf '\010\003\020\001' > tensor.pb
"$ASSAY" tensor.pb || echo "exit $?"
printf '\012\006\012\001a\022\001B\062\001x' > other.pb
"$ASSAY" other.pb || echo "exit $?"
mkdir pointer
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' > pointer/saved_model.pb
"$ASSAY" pointer || echo "exit $?"
printf '\012\007\010\001\022\003abc' > keras_metadata.pb
"$ASSAY" ./keras_metadata.pb || echo "exit $?"
