"""Checks results against the schema in docs/schema that they name, and profiles against what a
schema cannot say: unique keys, no NaN, totals that are the sums of the layers. Usage: check_json.py
RESULT.json ..."""
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
    for total, key in (
        ("total_flops", "flops"),
        ("total_macs", "macs"),
        ("total_memory", "memory"),
    ):
        assert d[total] == sum(l[key] for l in layers), total
        assert d[total] == sum(o[key] for o in d["operations"]), "operations: " + key
    for l in layers:
        assert l["memory"] == l["read_bytes"] + l["weight_bytes"] + l["written_bytes"], l["name"]
        assert len(l["inputs"]) == len(l["input_shapes"]), l["name"]
        assert len(l["outputs"]) == len(l["output_shapes"]) == len(l["output_types"]), l["name"]
    a = d["accounting"]
    assert (
        a["nodes"]
        == a["exact"] + a["assumed"] + a["unknown"]
        == len(layers)
        == d["total_operators"]
    )
    assert d["architecture"]["flops"] == d["total_flops"]
    assert len(d["memory_plan"]["timeline"]) == len(layers)
    check_events(d["memory_plan"])


def check_events(plan):
    """What is allocated and not yet freed is what is alive, and what the snapshots hold."""
    live, open_slots = 0, set()
    for e in plan.get("events", []):
        if e["kind"] in ("allocate", "free"):
            (open_slots.add if e["kind"] == "allocate" else open_slots.remove)(e["slot"])
            live += e["bytes"] if e["kind"] == "allocate" else -e["bytes"]
        assert e["slot"] in open_slots or e["kind"] == "free", e
        assert live == e["live_bytes"] and e["node"] == plan["timeline"][e["step"]]["node"], e
    assert live == 0 and not open_slots
    for s in plan.get("snapshots", []):
        assert s["live_bytes"] == plan["timeline"][s["step"]]["live_bytes"], s["node"]
        assert s["values_left_out"] or s["live_bytes"] == sum(v["bytes"] for v in s["values"]), s[
            "node"
        ]


def check_pipeline(d):
    """Totals are sums of components; a step is its passes."""
    for one in d.get("pipelines", [d]):
        if one.get("kind") != "diffusion" or not one["enabled"]:
            continue
        known = one["components"]
        assert one["total_macs"] == one["batch"] * sum(c["macs"] for c in known), "total_macs"
        assert one["total_flops"] == one["batch"] * sum(c["flops"] for c in known), "total_flops"
        step = one["batch"] * one["passes_per_step"] * one["macs_per_pass"]
        assert one["macs_per_step"] == step, "macs_per_step"
        for c in known:
            a = c["attention"]
            assert c["macs"] == c["calls"] * c["macs_per_call"], c["name"]
            assert a["macs"] == a["qk_macs"] + a["av_macs"], c["name"]
            for key, value in a["self"].items():
                summed = key not in ("layers", "percent")
                assert not summed or a[key] == value + a["cross"][key], c["name"] + " " + key


def check_comparison(d):
    """What the layers contribute is the difference of the totals."""
    for key in ("macs", "flops", "memory"):
        if "layers" not in d:
            break
        figure = lambda layer: layer[key] if layer else 0
        moved = sum(figure(l["after"]) - figure(l["before"]) for l in d["layers"])
        assert d["models"][1][key] - d["models"][0][key] == moved, key
    for t in d.get("measured", []):
        assert t.get("ratio_ci99_low", 0) <= t["ratio"] <= t.get("ratio_ci99_high", t["ratio"])


def check_verdicts(d):
    """The verdict is the worst of the rows; layers make up the difference of the counts."""
    order = ["pass", "improvement", "inconclusive", "regression", "missed"]
    worst = max(
        [order.index(c["verdict"]) for c in d["checks"] if c["verdict"] in order], default=0
    )
    assert order.index(d["verdict"]) == worst
    rows = {c["metric"]: c for c in d["checks"] if "baseline" in c}
    if "macs" in rows and d["layers_moved"] == len(d["moved"]):
        moved = sum(m["macs"] for m in d["moved"])
        assert rows["macs"]["value"] - rows["macs"]["baseline"] == moved


def check_records(d):
    """Newest first."""
    when = [r["created"] for r in d["records"]]
    assert when == sorted(when, reverse=True) and len(when) <= d["total"]


def check_trend(d):
    """Oldest first; changes point at their records."""
    values = [p["value"] for p in d["points"]]
    assert [p["created"] for p in d["points"]] == sorted(p["created"] for p in d["points"])
    assert (d["min"], d["max"], d["newest"]) == (min(values), max(values), values[-1])
    for c in d["change_points"]:
        assert d["points"][c["index"]]["id"] == c["id"] and (c["ratio"] > 1) == (
            c["after"] > c["before"]
        )


def check_capacity(d):
    """The best has the fewest machines, and a request's time is the sum of its parts."""
    able = [p for p in d["plans"] if p["feasible"]]
    assert bool(able) == (d["best"] is not None)
    for p in able:
        assert p["machines"] >= d["plans"][d["best"]]["machines"]
        assert p["utilization"] <= 1 - d["headroom"] + 1e-9
        parts = p["forming_mean_ms"] + p["waiting_mean_ms"] + p["service_mean_ms"]
        assert abs(parts - p["latency_mean_ms"]) < 1e-9 * parts


def check_scaling(d):
    axes = [a["name"] for a in d["axes"]]
    for p in d["points"]:
        assert sorted(p["sizes"]) == sorted(axes), p["sizes"]
        assert ("refused" in p) != ("macs" in p), "a point is refused or has figures"
    for a in d["answers"]:
        assert a["axis"] in axes and (a["value"] is None) == (a["outcome"] != "found"), a[
            "question"
        ]


def check_validation(d):
    for r in d["models"]:
        assert (
            abs(r["difference_percent"] - 100 * (r["ours"] - r["theirs"]) / r["theirs"]) < 1e-4
        ), r["model"]
        left = r["ours"] - r["theirs"] - sum(o["ours"] - o["theirs"] for o in r["operators"])
        assert left == 0, "operators explain the difference: " + r["model"]


def check_plan(r):
    assert [t["task"] for t in r["tasks"]] == list(range(len(r["tasks"])))
    assert r["id"] == r["name"] + "-" + r["digest"][:12]


def check_status(r):
    assert r["total"] == len(r["tasks"])
    assert r["total"] == r["done"] + r["running"] + r["waiting"] + r["missing"]


def check_sweep_report(r):
    assert r["total"] == len(r["tasks"]) == r["done"] + len(r["missing"])
    assert sum(c["repeats"] for c in r["cells"]) == r["total"]
    for model in {c["model"] for c in r["cells"] if c["records"]}:
        cells = [c for c in r["cells"] if c["model"] == model]
        assert any(c["pareto"] for c in cells)
        assert [c["best_latency"] for c in cells].count(True) == 1


def check_changes(r):
    assert sum(g["worse"] + g["better"] for g in r["groups"]) == len(r["changes"])


def check_drift(r):
    assert len({c["machine"] for c in r["ceilings"]}) == r["n_machines"]


def check_cheapest(r):
    assert sum(c["cheapest"] for c in r["classes"]) <= 1


FILES = {
    "assay.changes/1": ("changes-1.schema.json", check_changes),
    "assay.drift/1": ("drift-1.schema.json", check_drift),
    "assay.cheapest/1": ("cheapest-1.schema.json", check_cheapest),
    "assay.sweep/1": ("sweep-1.schema.json", check_plan),
    "assay.sweep_status/1": ("sweep_status-1.schema.json", check_status),
    "assay.sweep_report/1": ("sweep_report-1.schema.json", check_sweep_report),
    "assay.records/1": ("records-1.schema.json", check_records),
    "assay.scaling/1": ("scaling-1.schema.json", check_scaling),
    "assay.validation/1": ("validation-1.schema.json", check_validation),
    "assay.trend/1": ("trend-1.schema.json", check_trend),
    "assay.capacity/1": ("capacity-1.schema.json", check_capacity),
    "assay.comparison/1": ("comparison-1.schema.json", check_comparison),
    "assay.check/1": ("check-1.schema.json", check_verdicts),
    "assay.profile/1": ("profile-1.schema.json", check_sums),
    "assay.pipeline/1": ("pipeline-1.schema.json", check_pipeline),
    "assay.pipelines/1": ("pipelines-1.schema.json", check_pipeline),
}
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        result = json.load(f, object_pairs_hook=unique, parse_constant=refuse)
    name, check = FILES[result["schema"]]
    schema = json.load(open(os.path.join(ROOT, "docs", "schema", name), encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(result):
        if error.context:
            error = min(error.context, key=lambda e: -len(e.path))
        sys.exit("%s: %s at %s" % (path, error.message[:300], "/".join(map(str, error.path))))
    check(result)
    print("%s is well formed" % os.path.basename(path))
