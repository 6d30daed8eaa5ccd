# Where a trace was cut depends on the times in it, so what the JSON lacks is not pinned.
# A disk that fills while measuring: a sentence and exit 1, whether it is the result, the model's copy or the engine's trace.
[ -e /dev/full ] || { echo "no /dev/full"; exit 77; }
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
try() { "$@" --num-runs 2 --warmup-runs 1 > out 2> err && echo "exit 0" || echo "exit $?"; sed 's/assay-......\//assay-X\//; s/_20[-_0-9]*\.json/.json/; s/\(is not whole\): [^.]*\./\1./' err | tail -n 1; }
for command in bench layers 'memory --measure'; do
    try "$ASSAY" $command lenet -o /dev/full -f json
    "$ASSAY" $command lenet --num-runs 2 --warmup-runs 1 -f csv 2> err > /dev/full && echo "exit 0" || echo "exit $?"
    tail -n 1 err
done
try "$ASSAY" profile lenet --batch-sizes 1,2 -q -o /dev/full -f json
# A limit on the size of files is a disk of that size that needs no mount: 20 KiB are less than lenet has weights.
full() { (trap '' XFSZ; ulimit -f 40; try "$@"); }
mkdir t
export TMPDIR=t
full "$ASSAY" bench lenet
full "$ASSAY" profile lenet --batch-sizes 1,2 -q
full "$ASSAY" layers "$CASES/../models/symbolic.onnx"
ls -A t
