# A directory with a denoiser that nobody knows: said first, not enabled, totals are partial, exit 4 with --strict.
mkdir -p d/unet d/vae
echo '{"_class_name": "StableDiffusionPipeline", "unet": ["mine", "MyUNet"], "vae": ["diffusers", "AutoencoderKL"]}' > d/model_index.json
echo '{"_class_name": "MyUNet", "sample_size": 64}' > d/unet/config.json
cat > d/vae/config.json <<'END'
{"_class_name": "AutoencoderKL", "block_out_channels": [32, 64], "in_channels": 3, "out_channels": 3, "latent_channels": 4,
 "layers_per_block": 1, "norm_num_groups": 32, "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D"],
 "up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D"], "sample_size": 64}
END
"$ASSAY" pipeline d | sed -n '1,/^Components/p'
"$ASSAY" pipeline d --json | grep -E '"(enabled|partial|error|total_macs|total_params)"'
code=0
"$ASSAY" pipeline d --strict --json > strict.json 2> /dev/null || code=$?
echo "exit $code"
"$ASSAY" pipeline d --json | cmp - strict.json || true
"$ASSAY" report strict.json | sed -n '3,4p'
# Beside one that is known.
code=0
"$ASSAY" pipeline d sd15 --strict 2> /dev/null | grep -E '^  Total|partial' || code=$?
"$ASSAY" pipeline d sd15 --strict -q 2> /dev/null || echo "exit $?"
"$ASSAY" pipeline sd15 --strict -q && echo "exit 0"
