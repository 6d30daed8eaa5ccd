# Limits beside a static profile: units, both directions, several words after one option, exit codes.
last() { sed -n '/^Check of/,$p'; }
"$ASSAY" lenet --threshold flops:1M params:100k 'size<=300KiB' --top 0 > out && last < out
code=0
"$ASSAY" graph --threshold flops:100K params:10k lenet --threshold 'operators>=5' --top 0 > out || code=$?
echo "exit $code"
last < out
code=0
"$ASSAY" lenet --json --threshold flops:100K > out.json || code=$?
echo "exit $code"
grep -c '"schema": "assay.profile/1"' out.json
# A bare number still moves the line between compute-bound and memory-bound.
"$ASSAY" lenet --threshold 3 | grep 'compute-bound means'
for limit in latncy:100ms flops:3ms latency:100ms 'flops<=' -5; do
    code=0
    "$ASSAY" lenet -q --threshold "$limit" || code=$?
    echo "exit $code"
done
