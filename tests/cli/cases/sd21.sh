# The networks of Stable Diffusion 2.1: parameters and multiply-accumulates per pass, counted apart.
for model in sd21-unet sd-vae-decoder openclip-h-text; do
    "$ASSAY" $model --json | sed -n 's/^  "\(model\|total_parameters\|total_macs\)": \(.*\),/\2/p' | tr '\n' ' '
    echo
done
# Four times the pixels are not sixteen times the work.
"$ASSAY" sd21-unet --input-shape 1,4,128,128 --json | sed -n 's/^  "total_macs": \(.*\),/\1/p'
"$ASSAY" sd21-unet --input-shape 1,4,96,96 --json | sed -n 's/^  "total_macs": \(.*\),/\1/p'
