# What shapes the screen of profile.
"$ASSAY" bench lenet -q --num-runs 1 --warmup-runs 1 2> /dev/null || { [ $? = 5 ] && echo "no engine" && exit 77; }
p() { "$ASSAY" profile lenet --num-runs 2 --warmup-runs 1 --batch-sizes 1,2 --no-advice "$@" > screen; }
p
echo "titles: $(grep -n '^[A-Z[]' screen | sed 's/  .*//' | cut -d: -f2 | tr '\n' ';')"
echo "bars: $(sed -n '/^\[3/,/^\[4/p' screen | grep -c '█')"
grep '^  \(Input\|Output\) ' screen | head -n 2
p --ascii; LC_ALL=C grep -c '[^ -~]' screen || echo "ascii: all"
p --color always; grep -c "$(printf '\033\[')" screen | sed 's/[1-9][0-9]*/colour/'
p --top 2; echo "top: $(sed -n '/^Top layers/,/^$/p' screen | grep -c ' conv2d \| linear ')"
p --verbose; echo "verbose: $(grep -c '^All layers' screen)"
p --training; echo "training: $(grep -c 'adamw ' screen)"
p --hardware t4; echo "hardware: $(grep -c 'ridge of t4' screen)"
p --threshold 7; echo "threshold: $(grep -c 'means 7 FLOPs' screen)"
p --lens fvcore; echo "lens: $(grep -c 'as fvcore counts' screen) $(grep -c '^  Lens *fvcore' screen)"
