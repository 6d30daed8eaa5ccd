"""Results filled at random are what docs/schema says: required keys, words, types, items.

Their numbers may be unknown where those of real results are not, so null is accepted in place of
a number or text.
Usage: check_random_results.py PROGRAM, from the root of the sources; tests/tools/random_results.c
is the program.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)


def is_unknown(error):
    return error.instance is None and error.validator in ("type", "enum")


def undescribed(schema, root, value, path=""):
    """Keys of objects that the schema does not have."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list):
        for item in value:
            yield from undescribed(schema.get("items", {}), root, item, path + "[]")
    elif isinstance(value, dict) and "properties" in schema:
        for key, inner in value.items():
            if key not in schema["properties"]:
                yield path + "." + key
            else:
                yield from undescribed(schema["properties"][key], root, inner, path + "." + key)
    elif isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        for inner in value.values():
            yield from undescribed(schema["additionalProperties"], root, inner, path + ".*")


def check(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    name, version = document["schema"].split("/")
    schema_path = "docs/schema/%s-%s.schema.json" % (name.split(".")[1], version)
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
        inner = error.context or [error]
        if not any(is_unknown(e) for e in inner):
            where = "/".join(map(str, error.path))
            sys.exit("%s: %s at %s" % (os.path.basename(path), error.message[:300], where))
    for key in undescribed(schema, schema, document):
        sys.exit("%s: %s has no %s" % (os.path.basename(path), schema_path, key))


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], folder], check=True)
    files = sorted(os.listdir(folder))
    for one in files:
        check(os.path.join(folder, one))
    print("%d results are what their schemas say" % len(files))
