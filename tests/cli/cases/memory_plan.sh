# The plan without running anything: what lives when, who makes the peak.
"$ASSAY" memory lenet
"$ASSAY" memory resnet18 --json | grep -E '"(weights_bytes|activations_peak_bytes|peak_bytes|lower_bound_bytes)"'
