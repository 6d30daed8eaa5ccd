# Time per layer: chosen by pattern, times that are there, verdicts of time and memory on the bench screen.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
"$ASSAY" layers lenet --num-runs 5 --warmup-runs 2 --layers conv > out
sed -n '/^Slowest/,/^$/s/^  \([a-z.0-9]*\)  *\(conv2d\|linear\|tanh\|relu\) .*/\1 \2/p' out | sort
"$ASSAY" layers lenet --num-runs 5 --warmup-runs 2 -q -o l.json
grep -c '"time_ms"' l.json | awk '{ print ($1 >= 5 ? "timed" : "not timed") }'
"$ASSAY" bench lenet --num-runs 5 --warmup-runs 2 > out
grep -o 'real time: below 50 ms\|fits a small GPU: below 2 GB' out | sort -u
