# Options that would have no effect are refused.
refused() { code=0; "$ASSAY" "$@" > out 2> err || code=$?; echo "exit $code $(wc -c < out)"; }
refused lenet --threshold 20 --hardware t4
refused pipeline sd15 --memory-limit 1GiB
refused pipeline sd15 --precision fp16
refused memory lenet --hardware t4
refused pipeline sd15 --generate 5
refused pipeline sd15 --verbose
for option in steps height guidance-scale; do
    refused pipeline gpt2 --prompt-tokens 64 --$option 8
done
