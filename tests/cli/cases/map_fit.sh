# Coefficients from a user's own measurements.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
cat > slow.csv <<END
op,dtype,shape,time_ms
linear,fp16,4096x4096x4096,5
linear,fp16,8192x1024x4096,2.5
linear,fp16,8192x4096x4096,10
conv,fp16,32x64x56x56x64x3x1x1,1.2
conv,fp16,32x256x14x14x256x3x1x1,1.2
elementwise,fp16,33554432,0.5
attention,fp16,64x12x197x197x64,1
END
"$ASSAY" map vit_b_16 --hardware rtx3090 --precision fp16 --batch-sizes 64 --no-advice --json > plain.json
"$ASSAY" map vit_b_16 --hardware rtx3090 --fit slow.csv --precision fp16 --batch-sizes 64 --no-advice --json > fitted.json
python3 -c '
import json
plain, fitted = (json.load(open(f))["devices"][0]["latency_ms"] for f in ("plain.json", "fitted.json"))
print("slower by more than half:", fitted > 1.5 * plain)'
"$ASSAY" map vit_b_16 --hardware rtx3090,t4 --fit slow.csv || echo "exit $?"
printf 'op,dtype,shape,time_ms\nlinear,fp16,12x,1\n' > bad.csv
"$ASSAY" map lenet --hardware rtx3090 --fit bad.csv || echo "exit $?"
printf 'op,dtype,shape\n' > short.csv
"$ASSAY" map lenet --hardware rtx3090 --fit short.csv || echo "exit $?"
echo "---- times in microseconds, an unknown op, few rows that disagree"
sed 's/,\([0-9.]*\)$/,\1e3/; 1s/.*/op,dtype,shape,time_ms/' slow.csv > other.csv
"$ASSAY" map lenet --hardware rtx3090 --fit other.csv || echo "exit $?"
printf 'op,dtype,shape,time_ms\nlinar,fp16,8x8x8,1\n' > op.csv
"$ASSAY" map lenet --hardware rtx3090 --fit op.csv || echo "exit $?"
cat > few.csv <<END
op,dtype,shape,time_ms
linear,fp16,4096x4096x4096,1
linear,fp16,4096x4096x4096,9
linear,fp16,4096x4096x4096,1
linear,fp16,4096x4096x4096,9
END
"$ASSAY" map vit_b_16 --hardware rtx3090 --fit few.csv --precision fp16 --batch-sizes 64 --no-advice --json > few.json
python3 -c '
import json
plain, few = (json.load(open(f))["devices"][0] for f in ("plain.json", "few.json"))
width = lambda d: d["latency_high_ms"] / d["latency_low_ms"]
print("a wider interval:", width(few) > 1.5 * width(plain))'
