# Times from measured kernels, with their interval: on `this`, and on a machine that was measured on another host.
# The machine is made up; what it says of itself is in tests/data.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
export ASSAY_MACHINE="$MODELS/../data/machine_calibrated.json"
"$ASSAY" map resnet18 --hardware this --precision fp32 --batch-sizes 1,4 --top 3 --no-advice | sed -n '/^Summary/,/^$/!p'
cp "$ASSAY_MACHINE" other.json
export ASSAY_MACHINE="$PWD/none.json"
"$ASSAY" devices --hardware other.json
"$ASSAY" map resnet18 --hardware t4,other.json --precision fp32 --batch-sizes 1 --json > map.json
/usr/bin/python3 -c "
import json
m = json.load(open('map.json'))
print(m['map']['calibration'])
for d in m['devices']:
    print(d['name'], round(d['latency_ms'], 3), 'interval' if 'latency_low_ms' in d else 'roofline')"
"$ASSAY" report map.json | grep -c 'Times of .bench-7. at fp32 are predicted'
"$ASSAY" graph resnet18 --hardware other.json --no-advice | grep -i ridge
sed 's/assay.machine\/1/assay.machine\/9/' other.json > newer.json
"$ASSAY" map resnet18 --hardware newer.json || echo "exit $?"
head -c 3000 other.json > half.json
"$ASSAY" map resnet18 --hardware half.json || echo "exit $?"
