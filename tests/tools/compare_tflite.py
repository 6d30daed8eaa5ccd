#!/usr/bin/env python3
"""Compares what assay finds in TFLite files with a table of known figures.

  compare_tflite.py SUMMARY.csv FOLDER PROGRAM

SUMMARY.csv has the columns file, truth (a CSV of tensors and operators), macs and const_elements;
files and truths are below FOLDER. Compared are MACs, elements of constants and every static shape
of an output; each difference is a line.
"""

import csv
import json
import os
import subprocess
import sys


def profile(program, path):
    p = subprocess.run([program, "graph", path, "--json"], capture_output=True, text=True)
    return json.loads(p.stdout) if p.returncode == 0 else p.stderr.strip()


def stored_shapes(path):
    """Names and sizes of what the operators of the main subgraph make, where none is open."""
    tensors, shapes = {}, {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            if row["row"] == "tensor":
                tensors[row["subgraph"], row["index"]] = row
            elif row["row"] == "op" and row["subgraph"] == "0":
                for out in row["outputs"].split():
                    t = tensors["0", out]
                    if t["shape"] not in ("", "none") and "-1" not in t["signature"]:
                        shapes[t["name_or_op"]] = [int(d) for d in t["shape"].split("x")]
    return shapes


def differences(found, row, folder):
    constants = found["architecture"].get("constant_elements", 0)
    if found["total_macs"] != int(float(row["macs"])):
        yield f"MACs {found['total_macs']}, known {row['macs']}"
    if constants != int(row["const_elements"]):
        yield f"constants {constants}, known {row['const_elements']}"
    known = stored_shapes(os.path.join(folder, row["truth"]))
    for layer in found["layers"]:
        for name, shape in zip(layer["outputs"], layer["output_shapes"]):
            if name in known and shape != known[name]:
                yield f"shape of {name}: {shape}, known {known[name]}"
    for w in found["warnings"]:
        if w["code"] in ("declared-shape", "constant-size", "no-data"):
            yield f"{w['code']} {w['node']}: {w['text']}"


def main(summary, folder, program):
    files = complete = differ = refused = 0
    with open(summary, newline="") as f:
        rows = [r for r in csv.DictReader(f) if os.path.exists(os.path.join(folder, r["file"]))]
    for row in rows:
        files += 1
        found = profile(program, os.path.join(folder, row["file"]))
        if isinstance(found, str):
            refused += 1
            print(f"{row['file']}: {found}")
            continue
        certainty = found["accounting"]
        complete += not certainty["unknown"] and not certainty["assumed"]
        lines = list(differences(found, row, folder))
        differ += bool(lines)
        for line in lines:
            print(f"{row['file']}: {line}")
    print(f"{files} files, {complete} complete, {differ} with differences, {refused} refused")


if __name__ == "__main__":
    main(*sys.argv[1:4])
