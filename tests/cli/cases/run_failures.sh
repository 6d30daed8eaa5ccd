# What can go wrong while measuring: each a sentence and the right exit code.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
try() { "$@" > out 2> err && echo "exit 0" || echo "exit $?"; sed 's/: .*onnx_[^ ]*//' err | cut -c 1-160; }
try "$ASSAY" bench lenet --batch-sizes 1,x
try "$ASSAY" bench lenet --configs 1:fp99
try "$ASSAY" bench lenet --memory-limit much
printf 'abcd' > short.raw
try "$ASSAY" bench lenet --input input=short.raw
{ printf '\223NUMPY\001\000\166\000'; printf "%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 16, 16), }"; head -c 1024 /dev/zero; } > small.npy
try "$ASSAY" bench lenet --input small.npy
try "$ASSAY" bench "$MODELS/gru_tagger.onnx" --input-shape 3,7
try "$ASSAY" bench lenet --input nothing=short.raw
try "$ASSAY" bench lenet --input absent.npy
try "$ASSAY" bench lenet --configs 1:fp32,2:int4 --num-runs 2 --warmup-runs 1
try "$ASSAY" bench lenet --configs 2:int4
try "$ASSAY" profile lenet --batch-sizes 1,1000000 --memory-limit 100MiB --num-runs 2 --warmup-runs 1
tr -s '\n ' '  ' < out | grep -o 'Batch size 1000000' | wc -l
try env TMPDIR=/dev/null/nowhere "$ASSAY" bench lenet
"$ASSAY" bench "$CASES/../models/unknown.onnx" > out 2> err && echo "exit 0" || echo "exit $?"
grep -c 'ONNX Runtime rejected .*unknown.onnx.: ' err
echo "== a copy is called by what it is a copy of"
"$ASSAY" bench "$CASES/../models/unknown.onnx" --batch 3 > out 2> err && echo "exit 0" || echo "exit $?"
grep -o 'unknown.onnx. with batch size 3: ' err
grep -c 'assay-[A-Za-z0-9]*/model.onnx' err || true
echo "== an empty batch has no throughput"
"$ASSAY" bench "$CASES/../models/symbolic.onnx" --dim batch=0 --num-runs 2 --warmup-runs 1 -o z.json > out 2> /dev/null
grep -c ' 0  fp32 .* –  ' out
grep -c 'per_second\|"fps"\|"per_sample"' z.json || true
"$ASSAY" bench "$CASES/../models/symbolic.onnx" --dim sequence=0 --unit tokens --num-runs 2 --warmup-runs 1 -o t.json > out
grep -c '"code": "unit-assumed"' t.json
grep -c 'tokens_per_second' t.json || true
# What was there before is worth more than a run that measured nothing.
echo before > kept.json
"$ASSAY" bench lenet -q --device tpu -o kept.json 2> err && exit 1 || echo "exit $?"
"$ASSAY" bench lenet -q --input nothing.npy -o kept.json 2>> err && exit 1 || echo "exit $?"
cat kept.json err
# A result that says nothing passes nothing.
echo '{"schema": "assay.profile/1"}' > empty.json
"$ASSAY" check lenet --baseline empty.json 2>&1 && exit 1 || echo "exit $?"
echo "== what is planned to be needed is the sum of its parts"
"$ASSAY" bench resnet18 -q --batch 64 --memory-limit 200MB 2>&1 || echo "exit $?"
echo "== every configuration fails: the reason is printed once"
for command in "bench lenet --configs 4:fp32,8:fp32" "profile lenet --batch-sizes 4,8"; do
    "$ASSAY" $command --memory-limit 1KB -o all.json > out 2> err && exit 1 || echo "exit $?"
    grep -c 'is the limit' err
    wc -c < out
    grep -c '"error"' all.json
done
"$ASSAY" report all.json 2> /dev/null | tr -s '\n ' '  ' | grep -o 'is the limit' | wc -l
echo "== an unknown device is refused before any stage"
"$ASSAY" profile lenet --device tpu > out 2> err && exit 1 || echo "exit $?"
wc -c < out
echo "== another device than the one asked for is named to the end"
"$ASSAY" profile lenet --device cuda --batch-sizes 1,2 --num-runs 2 --warmup-runs 1 -o cuda.json > out 2> err
device=$(sed -n 's/.*"device": "\([a-z]*\)".*/\1/p' cuda.json | sort -u)
[ "$device" = cuda ] || { [ "$device" = cpu ] && [ "$(grep -c '"code": "device-fallback"' cuda.json)" = 1 ] && \
    grep -q 'Device  *cpu' out && [ "$(grep -c 'cuda' out)" -le 3 ]; } && echo "the device is named"
