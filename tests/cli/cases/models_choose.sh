# The most accurate models within a budget, on devices.
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
"$ASSAY" models --task classification --hardware t4,agx-orin --budget latency:1ms,memory:40MB
"$ASSAY" models --task segmentation --hardware a100-80 --budget params:20M --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert all(r["source"] and r["metric"] == "miou" for r in rows)
assert [r["fits"] for r in rows] == sorted((r["fits"] for r in rows), reverse=True)
print(sum(r["fits"] for r in rows), "of", len(rows), "fit")'
"$ASSAY" models --task juggling --hardware t4 || echo "exit $?"
"$ASSAY" models --budget latency:1ms || echo "exit $?"
"$ASSAY" models --hardware t4 || echo "exit $?"
