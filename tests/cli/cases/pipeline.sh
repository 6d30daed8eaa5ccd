"$ASSAY" pipeline sd21 --height 512 --width 512 --steps 30 --guidance-scale 7.5 --sweep resolution=512,1024
"$ASSAY" pipeline sd15 pixart-512 --steps 10 -o out/generation_config.json -o out/all.csv -q --prompt "a cat"
grep -c compute_profile out/generation_config.json
grep '"prompt"' out/generation_config.json
cut -d, -f1-5 out/all.csv
"$ASSAY" pipeline llama-3.1-8b --prompt-tokens 2048 --generate 256 --batch 8 --memory-limit 80GiB
"$ASSAY" pipeline flux-dev --no-profiling --json
"$ASSAY" pipeline sd21 --height 511 || echo "exit $?"
"$ASSAY" pipeline sd99 || echo "exit $?"
"$ASSAY" pipeline sd21 --sweep colour=3 || echo "exit $?"
"$ASSAY" pipeline || echo "exit $?"
"$ASSAY" pipeline gpt2 --json | grep -o '"prompt_tokens": [0-9]*' # of 1024 positions, 128 for what is generated
"$ASSAY" pipeline gpt2 --prompt-tokens 1024 || echo "exit $?"
