# Time per layer: chosen by pattern, times that are there, verdicts of time and memory on the bench screen.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
"$ASSAY" layers resnet18 --num-runs 3 --warmup-runs 2 --layers layer1,fc --top 100 -o l.json > out
sed -n '/^Slowest/,/^$/s/^  \([a-z.0-9]*\)  *\(conv2d\|linear\) .*/\1 \2/p' out | sort
grep -c '"time_ms": [0-9.]*[1-9]' l.json | awk '{ print ($1 >= 20 ? "timed" : "not timed") }'
"$ASSAY" bench lenet --num-runs 5 --warmup-runs 2 > out
grep -o 'real time: below 50 ms\|fits a small GPU: below 2 GB' out | sort -u
