# Stable Diffusion 2.1 at 512x512, 30 steps, guidance 7.5: every figure of a generation.
fields() { sed -n 's/^ \{0,6\}"\(model_component\|total_params\|params_str\|macs_per_pass\|passes_per_step\|macs_per_step\|macs_per_step_str\|unet_macs_per_step\|amortised_macs_per_step\|vae_macs\|text_encoder_macs\|total_macs\|total_macs_str\|num_inference_steps\|input_shape\|latent_shape\)": \(.*\),/\1 \2/p'; }
"$ASSAY" pipeline sd21 --height 512 --width 512 --steps 30 --guidance-scale 7.5 --json | fields
"$ASSAY" pipeline sd21 --steps 30 | grep -o '[0-9.]* %$' | head -n 3
# One pass and one prompt without guidance.
"$ASSAY" pipeline sd21 --steps 30 --guidance-scale 1 --json | fields | grep -E '^(passes|text_enc|total_macs )'
"$ASSAY" pipeline sd21 --sweep resolution=512,768,1024 | sed -n '/^Sweep/,$p'
# Several models, and the record of the run; a switch that turns it off; a name that is none.
"$ASSAY" pipeline sd15 sdxl -q -o run/generation_config.json
grep -o '"\(timestamp\|prompt\|models\|model_id\|model_name\|image_path\|compute_profile\)"' run/generation_config.json | sort | uniq -c
"$ASSAY" pipeline sd21 --no-profiling --json
"$ASSAY" pipeline flux-dev --json | fields | grep -E '^(model_comp|passes|latent)'
"$ASSAY" pipeline nothing 2> /dev/null || echo "exit $?"
