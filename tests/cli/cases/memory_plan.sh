# The plan without running anything: what lives when, who makes the peak, what is allocated and freed in which order.
"$ASSAY" memory lenet
"$ASSAY" memory resnet18 --json | grep -E '"(weights_bytes|activations_peak_bytes|peak_bytes|lower_bound_bytes)"'
# Fewer events, and a moment by its layer.
"$ASSAY" memory resnet18 --top 2 --at layer4.1.conv2
"$ASSAY" memory lenet -f csv
"$ASSAY" memory lenet -f csv --rows snapshots
"$ASSAY" memory lenet -f csv --rows timeline
"$ASSAY" memory lenet -f csv --rows slots
"$ASSAY" memory lenet -f csv --rows layers | head -2
# A graph has no events, and its CSV is of layers.
"$ASSAY" graph lenet --json | grep -c '"events"' || true
# A saved result tells the same.
"$ASSAY" memory lenet -o m.json -q
"$ASSAY" report m.json -f json | cmp - m.json && echo same
"$ASSAY" report m.json -f csv --rows events | head -3
"$ASSAY" report m.json | grep -A2 -E '^(Allocations|Snapshots)'
"$ASSAY" report m.json -f md | grep -A5 -E 'snapshots|Allocations'
"$ASSAY" memory lenet --at conv9 2>&1 || echo "exit $?"
"$ASSAY" memory lenet -f csv --rows allocations 2>&1 || echo "exit $?"
