"""Whether files have the structure that graph viewers read, and what they hold is in the result.
An attachment of Netron: a signature, and lists of entries with kind, target, name and value
(metadata.Attachment in source/view.js of lutzroeder/netron). Node data of Model Explorer: results
by name, with a value each, and a gradient from 0 to 1 (GraphNodeData in node_data_builder.py of
google-ai-edge/model-explorer).
usage: check_nodes.py RESULT.json ATTACHMENT.netron.json DATA.modelexplorer.json"""
import json
import re
import sys


def pairs(items):
    keys = [k for k, _ in items]
    assert len(keys) == len(set(keys)), "duplicate key"
    return dict(items)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f, object_pairs_hook=pairs)


def entries(attachment):
    found = {}
    for part in ("metadata", "metrics"):
        for e in attachment[part]:
            assert set(e) == {"kind", "target", "name", "value"}, e
            assert e["kind"] in ("model", "node", "value"), e
            assert isinstance(e["value"], (int, float, str)), e
            key = (part, e["kind"], e["target"], e["name"])
            assert key not in found, key
            found[key] = e["value"]
    return found


def check_attachment(result, attachment):
    assert attachment["signature"] == "netron:attachment"
    found = entries(attachment)
    first = [layer["name"].split("\n")[0] for layer in result["layers"]]
    timed = 0
    for layer, name in zip(result["layers"], first):
        if not name or first.count(name) > 1:
            assert ("metrics", "node", name, "certainty") not in found
            continue
        assert found["metrics", "node", name, "certainty"] == layer["certainty"]
        for key in ("flops", "macs", "parameters", "memory", "time_ms"):
            have = found.get(("metrics", "node", name, key))
            assert have == (
                None if layer["certainty"] == "unknown" and key != "time_ms" else layer.get(key)
            ), name
            timed += key == "time_ms" and have is not None
    return timed


def check_node_data(result, data):
    assert set(data) == {"name", "gradient", "results"}
    stops = [g["stop"] for g in data["gradient"]]
    assert stops[0] == 0 and stops[-1] == 1 and stops == sorted(stops)
    assert all(re.fullmatch("#[0-9a-f]{6}", g["bgColor"]) for g in data["gradient"])
    layers = {(layer["outputs"] or [layer["name"]])[0]: layer for layer in result["layers"]}
    key = "time_ms" if data["name"].startswith("measured") else "flops"
    for name, value in data["results"].items():
        assert set(value) == {"value"}
        layer = layers.get(name) or next(x for x in result["layers"] if x["name"] == name)
        assert (
            value["value"] == layer.get(key, 0) or value["value"] == layer["certainty"] == "unknown"
        )
    return data["name"]


result, attachment, data = (load(path) for path in sys.argv[1:])
timed = check_attachment(result, attachment)
what = check_node_data(result, data)
print(f"as Netron and Model Explorer read it: {what}; {'times' if timed else 'no times'}")
