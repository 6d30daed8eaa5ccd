cp -r "$CASES"/../../data/torch/* .
mv state.pth state.model # told by its content
"$ASSAY" state.model
"$ASSAY" checkpoint.ckpt --top 3
"$ASSAY" script.pt -f json | grep -E '"(elements|training_elements|total_parameters|buffers)":'
head -c 3000 module.pt > cut.pt
"$ASSAY" cut.pt || echo "exit $?"
"$ASSAY" plain.pkl || echo "exit $?"
cp plain.pkl plain.bin
"$ASSAY" plain.bin || echo "exit $?"
"$ASSAY" sharded -f json | grep -E '"(training_elements|total_parameters|buffers)":|bin"'
"$ASSAY" sharded/pytorch_model-00002-of-00002.bin | grep Parameters
