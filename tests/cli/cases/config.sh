cat > swinir.json << 'END'
{
  "task": "swinmr",
  "model": {
    "net_type": "swinir", "upscale": 1, "in_chans": 1, "out_chans": 1, "img_size": 256, "window_size": 8,
    "img_range": 1.0, "depths": [6, 6, 6, 6, 6, 6], "embed_dim": 180, "num_heads": [6, 6, 6, 6, 6, 6],
    "mlp_ratio": 2, "upsampler": "", "resi_connection": "1conv", "init_type": "default"
  },
  "train": { "lr": 0.0002 }
}
END
totals() { grep -E '^  "(model|total_parameters|total_macs)"|^    "config_file"|"unknown-key"'; }
"$ASSAY" graph --config swinir.json --json | totals
"$ASSAY" swinir.json -q && echo fine
"$ASSAY" --config swinir.json --set embed_dim=60 --json | totals
"$ASSAY" --config swinir.json --set embed=60 || echo "exit $?"
"$ASSAY" --config missing.json || echo "exit $?"
sed 's/6, 6, 6, 6, 6, 6\], "embed/6, 6, "6", 6, 6, 6], "embed/' swinir.json > bad.json
"$ASSAY" --config bad.json || echo "exit $?"
sed 's/180,/180/' swinir.json > bad.json
"$ASSAY" bad.json || echo "exit $?"
echo '{"model": {"net_type": "resnet18", "num_classes": 10}}' > net.json
"$ASSAY" net.json --json | totals
"$ASSAY" resnet34 --config net.json --json | totals
"$ASSAY" "$MODELS/resnet18.onnx" --config net.json || echo "exit $?"
