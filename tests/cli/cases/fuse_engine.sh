# Groups beside the kernels of the engine's optimised graph: shares, and where they differ. Nothing is run.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
"$ASSAY" fuse resnet18 --against-engine --opt-level 2 --top 0 -o r.json > out
grep '^  splits* ' out | head -n 2
sed -n 's/.*"\(same_groups\|same_nodes\|joined_by_both\|joined_there_only\)": \([0-9]*\).*/\1 \2/p' r.json | sort -u
ASSAY_ORT_LIB=/dev/null/none.so "$ASSAY" fuse lenet --against-engine -q 2> err || echo "exit $?"
