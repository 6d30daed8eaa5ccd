# Folders, safetensors and GGUF: graphs, inventories, and what is refused.
mkdir llama
echo '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
       "intermediate_size": 96, "vocab_size": 100, "tie_word_embeddings": true}' > llama/config.json
"$ASSAY" llama/ | sed -n 1,16p
"$ASSAY" llama/config.json -q && echo read
echo '{"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},"b":{"dtype":"F32","shape":[5],"data_offsets":[12,32]}}' |
    tr -d '\n' > header
{ printf "\\$(printf %o $(wc -c < header))\\0\\0\\0\\0\\0\\0\\0"; cat header; head -c 32 /dev/zero; } > w.safetensors
"$ASSAY" w.safetensors
cp w.safetensors llama/model.safetensors && "$ASSAY" ./llama --strict > /dev/null || echo "exit $?"
"$ASSAY" w.safetensors --strict > /dev/null || echo "exit $?"
"$ASSAY" export w.safetensors -o w.onnx || echo "exit $?"
head -c 130 w.safetensors > cut.safetensors && "$ASSAY" cut.safetensors || echo "exit $?"
printf 'GGUF\003\0\0\0\377\377\377\377\377\377\377\377\0\0\0\0\0\0\0\0' > x.gguf
"$ASSAY" x.gguf || echo "exit $?"
printf 'GGUF\001\0\0\0' > x.gguf && "$ASSAY" x.gguf || echo "exit $?"
mkdir odd && echo '{"model_type": "nobody_knows"}' > odd/config.json
"$ASSAY" odd || echo "exit $?"
echo '{"model_type": "llama", "hidden_size": "wide"}' > odd/config.json
"$ASSAY" odd || echo "exit $?"
