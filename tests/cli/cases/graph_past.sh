# Sizes that fit each other are found where the usual ones contradict; what was given stays.
cd "$CASES/../models"
inputs() { "$ASSAY" past.onnx --verbose --json "$@" | grep -E '^    "(input_ids|past_0|attention_mask|y)": \{'; }
inputs
inputs --dim past_seq_len=7 --dim batch=2
"$ASSAY" past.onnx --strict -q
