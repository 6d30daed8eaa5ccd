# What can go wrong while measuring: each a sentence and the right exit code.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
try() { "$@" > out 2> err && echo "exit 0" || echo "exit $?"; sed 's/: .*onnx_[^ ]*//' err | cut -c 1-160; }
try "$ASSAY" bench lenet --batch-sizes 1,x
try "$ASSAY" bench lenet --configs 1:fp99
try "$ASSAY" bench lenet --memory-limit much
printf 'abcd' > short.raw
try "$ASSAY" bench lenet --input input=short.raw
try "$ASSAY" bench lenet --input nothing=short.raw
try "$ASSAY" bench lenet --input absent.npy
try "$ASSAY" bench lenet --configs 1:fp32,2:int4 --num-runs 2 --warmup-runs 1
try "$ASSAY" bench lenet --configs 2:int4
try "$ASSAY" profile lenet --batch-sizes 1,1000000 --memory-limit 100MiB --num-runs 2 --warmup-runs 1
grep 'batch 1000000' out
try env TMPDIR=/dev/null/nowhere "$ASSAY" bench lenet
"$ASSAY" bench "$CASES/../models/unknown.onnx" > out 2> err && echo "exit 0" || echo "exit $?"
"$ASSAY" bench resnet18 --duration 50 -q -o i.json 2> err & pid=$!
sleep 4
kill -INT $pid
wait $pid && echo "exit 0" || echo "exit $?"
cat err
grep -c '"interrupted": true' i.json
