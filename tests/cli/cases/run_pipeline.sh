# A small pipeline and a small language model run for real: prefill, and steps with the cache as inputs.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
cat > mine.pipeline <<'J'
{"name": "mine", "height": 64, "num_inference_steps": 2, "guidance_scale": 3, "components": [
  {"name": "unet", "role": "denoiser", "model": "sd15-unet", "set": {"block_out_channels": [32, 64], "layers_per_block": 1,
   "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"], "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
   "attention_head_dim": 4}}]}
J
runs="--measure --num-runs 3 --warmup-runs 1 --threads 1"
"$ASSAY" pipeline --pipeline-file mine.pipeline $runs -q -o images.json
grep -c -E '"(time_ms|tflops_per_second)"' images.json
small="--set hidden_size=64 --set num_hidden_layers=2 --set num_attention_heads=4 --set intermediate_size=96 --set vocab_size=100"
"$ASSAY" pipeline llama-7b $small --set num_key_value_heads=2 --prompt-tokens 12 --generate 4 --batch 2 $runs -o llama.json | sed -n '/^Measured/,/^Memory/p' | sed -E 's/ +[0-9.,e+-]+ (ms|µs|s)\b/ TIME/; s/[0-9.,e+-]+ (tokens|TFLOP)/N \1/g'
"$ASSAY" pipeline mixtral-8x7b $small --set num_key_value_heads=2 --set num_local_experts=4 --prompt-tokens 8 --generate 1 $runs -q -o mixtral.json
"$ASSAY" pipeline gpt2 --set n_embd=64 --set n_layer=2 --set n_head=4 --set vocab_size=100 --prompt-tokens 8 --generate 3 $runs -q -o gpt2.json
"$ASSAY" pipeline deepseek-v3 --set hidden_size=64 --set num_hidden_layers=2 --set num_attention_heads=4 --set vocab_size=100 --set n_routed_experts=4 \
    --set n_group=2 --set topk_group=1 --set num_experts_per_tok=2 --set intermediate_size=96 --set moe_intermediate_size=32 --set q_lora_rank=16 \
    --set kv_lora_rank=16 --set first_k_dense_replace=1 --prompt-tokens 8 --generate 3 $runs -q -o deepseek.json
grep -h -o -E '"(ttft_ms|tokens_per_second|last_step_ms)": [0-9]' llama.json mixtral.json gpt2.json deepseek.json | cut -d: -f1 | sort | uniq -c
[ ! -x /usr/bin/python3 ] || /usr/bin/python3 "$CASES/../check_json.py" *.json
