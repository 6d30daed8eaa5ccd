"""Checks results against docs/schema/profile-1.schema.json and against what a schema cannot say:
unique keys, no NaN, totals that are the sums of the layers. Usage: check_json.py RESULT.json ..."""
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def unique(pairs):
    keys = [k for k, _ in pairs]
    assert len(keys) == len(set(keys)), "a key stands twice: " + max(keys, key=keys.count)
    return dict(pairs)


def refuse(word):
    raise AssertionError(word + " is not JSON")


def check_sums(d):
    layers = d["layers"]
    for total, key in (("total_flops", "flops"), ("total_macs", "macs"), ("total_memory", "memory")):
        assert d[total] == sum(l[key] for l in layers), total
        assert d[total] == sum(o[key] for o in d["operations"]), "operations: " + key
    for l in layers:
        assert l["memory"] == l["read_bytes"] + l["weight_bytes"] + l["written_bytes"], l["name"]
        assert len(l["inputs"]) == len(l["input_shapes"]), l["name"]
        assert len(l["outputs"]) == len(l["output_shapes"]) == len(l["output_types"]), l["name"]
    a = d["accounting"]
    assert a["nodes"] == a["exact"] + a["assumed"] + a["unknown"] == len(layers) == d["total_operators"]
    assert d["architecture"]["flops"] == d["total_flops"]
    assert len(d["memory_plan"]["timeline"]) == len(layers)


schema = json.load(open(os.path.join(ROOT, "docs", "schema", "profile-1.schema.json")))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        result = json.load(f, object_pairs_hook=unique, parse_constant=refuse)
    for error in validator.iter_errors(result):
        sys.exit("%s: %s at %s" % (path, error.message[:300], "/".join(map(str, error.path))))
    check_sums(result)
    print("%s is well formed" % os.path.basename(path))
