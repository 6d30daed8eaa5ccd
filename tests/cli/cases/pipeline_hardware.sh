# A language model on devices, from its name, from a file of its own keys, and in fewer bits.
"$ASSAY" pipeline llama-3.1-8b --prompt-tokens 2048 --generate 256 --batch 8 --hardware a100-80,rtx4090,t4 | sed -n '/^On devices/,/^Memory/p'
mkdir small && echo '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512}' > small/config.json
"$ASSAY" pipeline small --set num_key_value_heads=2 --hardware l4 --precision int8 --json | grep -E '"(precision|fits|decode_bound|total_params|bytes_per_token)"'
"$ASSAY" pipeline small --hardware nothing 2>&1 | head -c 60; echo
"$ASSAY" pipeline sd21 --hardware l4 2>&1 || echo "exit $?"
"$ASSAY" pipeline sd21 --set sample_size=3 2>&1 || echo "exit $?"
