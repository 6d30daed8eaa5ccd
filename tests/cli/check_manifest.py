"""A manifest of `assay sweep --on kubernetes` against the parts of the API that it uses.

    check_manifest.py FILE

The tables are those of ConfigMap (v1), Job (batch/v1) and PodSpec (v1) of Kubernetes 1.28: every
key must be known there and of its type, and what the API requires must be present. Prints a line
per object.
https://kubernetes.io/docs/reference/kubernetes-api/
"""
import json
import re
import sys
from typing import Any, Dict

Schema = Any  # a type, [item], {"key": schema, "key!": required}, or ("map", schema)

STRINGS = ("map", str)
META: Schema = {"name": str, "labels": STRINGS, "annotations": STRINGS, "namespace": str}
ENV: Schema = {
    "name!": str,
    "value": str,
    "valueFrom": {
        "fieldRef": {"fieldPath!": str, "apiVersion": str},
        "secretKeyRef": {"name": str, "key!": str, "optional": bool},
    },
}
CONTAINER: Schema = {
    "name!": str,
    "image": str,
    "command": [str],
    "args": [str],
    "env": [ENV],
    "resources": {"requests": STRINGS, "limits": STRINGS},
    "volumeMounts": [{"name!": str, "mountPath!": str, "readOnly": bool}],
}
TERM: Schema = {
    "topologyKey!": str,
    "labelSelector": {
        "matchLabels": STRINGS,
        "matchExpressions": [{"key!": str, "operator!": str, "values": [str]}],
    },
}
POD: Schema = {
    "containers!": [CONTAINER],
    "restartPolicy": str,
    "activeDeadlineSeconds": int,
    "nodeSelector": STRINGS,
    "affinity": {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]},
    },
    "volumes": [{"name!": str, "configMap": {"name": str, "optional": bool}}],
}
JOB: Schema = {
    "template!": {"metadata": META, "spec": POD},
    "completionMode": str,
    "completions": int,
    "parallelism": int,
    "backoffLimit": int,
}
KINDS: Dict[str, Schema] = {
    "v1 ConfigMap": {"apiVersion!": str, "kind!": str, "metadata!": META, "data": STRINGS},
    "batch/v1 Job": {"apiVersion!": str, "kind!": str, "metadata!": META, "spec!": JOB},
}
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|Ki|Mi|Gi|Ti)?")


def check(value: Any, schema: Schema, where: str) -> None:
    if isinstance(schema, dict):
        assert isinstance(value, dict), where
        known = {k.rstrip("!"): s for k, s in schema.items()}
        assert not set(value) - set(known), f"{where}: unknown {set(value) - set(known)}"
        missing = [k for k in schema if k.endswith("!") and k[:-1] not in value]
        assert not missing, f"{where}: no {missing}"
        for key, item in value.items():
            check(item, known[key], f"{where}.{key}")
    elif isinstance(schema, list):
        assert isinstance(value, list), where
        for i, item in enumerate(value):
            check(item, schema[0], f"{where}[{i}]")
    elif isinstance(schema, tuple):
        assert isinstance(value, dict), where
        for key, item in value.items():
            check(item, schema[1], f"{where}.{key}")
    else:
        assert type(value) is schema, f"{where}: {value!r}"


def check_rules(item: Any) -> str:
    """What the API checks beyond types."""
    meta = item["metadata"]
    assert NAME.fullmatch(meta["name"]) and len(meta["name"]) <= 63, meta["name"]
    assert all(LABEL.fullmatch(v) and len(v) <= 63 for v in meta["labels"].values())
    if item["kind"] == "ConfigMap":
        plan = json.loads(item["data"]["sweep.json"])
        assert plan["schema"] == "assay.sweep/1" and len(item["data"]["sweep.json"]) < 1 << 20
        return f"ConfigMap: {len(plan['tasks'])} tasks"
    job, pod = item["spec"], item["spec"]["template"]["spec"]
    assert job["completionMode"] == "Indexed" and 0 < job["parallelism"] <= job["completions"]
    assert pod["restartPolicy"] in ("Never", "OnFailure")
    terms = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    chosen = {e["key"] for t in terms for e in t["labelSelector"]["matchExpressions"]}
    assert chosen <= set(
        item["spec"]["template"]["metadata"]["labels"]
    ), "it must keep away from its own kind"
    (box,) = pod["containers"]
    volumes = {v["name"] for v in pod["volumes"]}
    assert {m["name"] for m in box["volumeMounts"]} <= volumes
    for amounts in box["resources"].values():
        assert all(QUANTITY.fullmatch(q) for q in amounts.values()), amounts
    env = {e["name"]: e for e in box["env"]}
    db = env["ASSAY_DB"]["valueFrom"] if "ASSAY_DB" in env else {}
    return (
        f"Job: {job['completions']} of tasks {env['ASSAY_TASKS']['value']}, "
        f"{job['parallelism']} at a time, {pod.get('nodeSelector', {})}, {box['resources']}, "
        f"{db.get('secretKeyRef', {}).get('name', 'no secret')}, "
        f"{pod['activeDeadlineSeconds']} s, {' '.join(box['command'])}"
    )


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as f:
        manifest = json.load(f)
    assert manifest["apiVersion"] == "v1" and manifest["kind"] == "List"
    names = set()
    for i, item in enumerate(manifest["items"]):
        kind = f"{item['apiVersion']} {item['kind']}"
        check(item, KINDS[kind], f"items[{i}]")
        print(check_rules(item))
        names.add((kind, item["metadata"]["name"]))
    assert len(names) == len(manifest["items"])


main()
