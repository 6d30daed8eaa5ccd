# A language model as a GGUF file: what is written is read back with the same parameters.
tiny="--set num_hidden_layers=2 --set vocab_size=300 --set hidden_size=256 --set intermediate_size=512"
"$ASSAY" export qwen3-0.6b $tiny -o q.gguf --quant q4_k
"$ASSAY" qwen3-0.6b $tiny --json > name.json
"$ASSAY" q.gguf --json > file.json
for f in name file; do
    grep '"total_parameters"' $f.json | head -n 1 | tr -d ' ,'
done
# The same seed gives the same bytes, another seed others; another type another size.
"$ASSAY" export qwen3-0.6b $tiny -q -o again.gguf --quant Q4_K
"$ASSAY" export qwen3-0.6b $tiny -q -o other.gguf --quant q4_k --seed 1
"$ASSAY" export qwen3-0.6b $tiny -o published.gguf
cmp q.gguf again.gguf && echo same
cmp -s q.gguf other.gguf || echo other
"$ASSAY" export qwen3-0.6b $tiny -o - --quant q4_k | cmp - q.gguf && echo stdout
# What cannot be done.
"$ASSAY" export lenet -o x.gguf || echo "exit $?"
"$ASSAY" export q.gguf -o x.gguf || echo "exit $?"
"$ASSAY" export qwen3-0.6b $tiny -o x.gguf --quant q3 || echo "exit $?"
"$ASSAY" export qwen3-0.6b $tiny -o x.gguf --quant mxfp4 || echo "exit $?"
"$ASSAY" export qwen3-0.6b $tiny -o x.gguf --quant q4_0 --disk-limit 1MB || echo "exit $?"
"$ASSAY" export qwen3-0.6b $tiny -o x.gguf --opset 17 || echo "exit $?"
"$ASSAY" export qwen3-0.6b $tiny -o x.onnx --quant q4_0 || echo "exit $?"
ls
