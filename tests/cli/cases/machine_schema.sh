# What `assay machine` writes is what its schema says.
/usr/bin/python3 -c 'import jsonschema' 2> /dev/null || { echo "python3-jsonschema is not installed"; exit 77; }
ASSAY_MACHINE="$PWD/m.json" "$ASSAY" machine --quick -q
ASSAY_MACHINE="$MODELS/../data/machine.json" "$ASSAY" machine --show --json > shown.json
/usr/bin/python3 - "$CASES/../../../docs/schema/machine-1.schema.json" m.json shown.json <<'END'
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for path in sys.argv[2:]:
    m = json.load(open(path))
    for e in jsonschema.Draft202012Validator(schema).iter_errors(m):
        sys.exit("%s: %s at %s" % (path, e.message[:300], list(e.path)))
    for c in [c["operations_per_second"] for c in m["compute"]] + [b["bytes_per_second"] for b in m["bandwidth"]]:
        assert c["samples"] >= 3 and 0 < c["low"] <= c["value"] <= c["high"], c
    threads = {c["threads"] for c in m["compute"]}
    assert 1 in threads and {b["level"] for b in m["bandwidth"]} >= {"DRAM"}
    print(path, "is well formed")
END
