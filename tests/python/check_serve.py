"""assay-serve as its clients see it: the API, its limits, its guards, and what it survives.

    check_serve.py ASSAY [--sanitized]

ASSAY is the program; assay-serve must lie beside it (else the test is skipped). Standard library
only."""
import concurrent.futures
import http.client
import json
import os
import re
import select
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import urllib.parse
from typing import Any, Dict, Optional, Tuple

from serving import (
    NEVER_S,
    PATIENCE_S,
    Server,
    assay,
    check,
    environment,
    failures,
    finish,
    folder,
    model_bytes,
    result,
    root,
    sanitized,
)


def next_event(r: http.client.HTTPResponse) -> Any:
    """The data of the next event; comments are passed over."""
    while True:
        line = r.readline()
        if not line:
            return None
        if line.startswith(b"data: "):
            return json.loads(line[6:])


def post_files(
    s: Server, files: Dict[Optional[str], bytes], name: str = "", boundary: str = "-b-"
) -> Tuple[int, Any]:
    """A model of several files, as a form sends it. A file without a name is a plain field."""
    body = b""
    for path, data in files.items():
        file = "" if path is None else f'; filename="{path}"'
        body += f"--{boundary}\r\nContent-Disposition: form-data; name=f{file}\r\n\r\n".encode()
        body += data + b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    status, _, text = s.ask("POST", f"/api/v1/profile?name={name}", body, headers)
    return status, json.loads(text)


def check_files(s: Server) -> None:
    def data(name: str) -> bytes:
        with open(os.path.join(root, "tests/data", name), "rb") as f:
            return f.read()

    both: Dict[Optional[str], bytes] = {n: data(f"openvino/{n}") for n in ("net.xml", "net.bin")}
    status, got = post_files(s, both)
    check("the first file is the model", status == 200 and got["total_parameters"] == 163, got)
    status, got = post_files(s, dict(reversed(list(both.items()))), name="net.xml")
    check("the name says which is", status == 200 and got["model"] == "net.xml", got)
    package = "Data/com.apple.CoreML"
    names = (f"{package}/model.mlmodel", f"{package}/weights/weight.bin")
    core: Dict[Optional[str], bytes] = {
        f"p.mlpackage/{n}": data(f"coreml/program.mlpackage/{n}") for n in names
    }
    status, got = post_files(s, core, name="p.mlpackage")
    check("a folder is a model", status == 200 and got["model"] == "p.mlpackage", got)
    secret = "/etc/passwd"
    refused = [
        ({"../net.xml": b"x"}, ""),
        ({"/net.xml": b"x"}, ""),
        ({"net.xml": both["net.xml"]}, "missing.xml"),
        ({"net.xml": both["net.xml"]}, secret),
        ({None: b"x"}, ""),
        ({"": b"x"}, ""),
        ({}, ""),
        ({"x" * 1001: b"x"}, ""),
        ({f"f{i}.xml": b"x" for i in range(257)}, ""),
        ({"model.onnx": b"\0" * 100}, ""),
    ]
    for files, name in refused:
        status, got = post_files(s, files, name)  # type: ignore[arg-type]
        text = got["error"]["message"]
        check(f"refused: {str(files)[:40]} {name}", 400 <= status < 500 and text, got)
    status, _, text = s.ask(
        "POST",
        "/api/v1/profile",
        b"--b\r\nnonsense",
        {"Content-Type": "multipart/form-data; boundary=b"},
    )
    check("a body that is cut", status == 400, text)


def check_events(s: Server) -> None:
    """A client is told of the records that there are, and of those that others write."""
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=PATIENCE_S)
    c.request("GET", "/api/v1/events")
    r = c.getresponse()
    first = next_event(r)
    check("stream of events", r.status == 200 and r.headers["Content-Type"] == "text/event-stream")
    check("first event", first["total"] == s.json("/api/v1/records")[1]["total"])
    db = os.path.join(folder, "history.db")
    subprocess.run([assay, "lenet", "-q", "--save", "--db", db], check=True, env=environment)
    second = next_event(r)
    check("event of another writer", second["total"] == first["total"] + 1, second)
    check("newest of it", second["newest"] > first["newest"])
    c.close()


def check_predictions(s: Server) -> None:
    status, devices = s.json("/api/v1/devices")
    check("devices", status == 200 and any(d["id"] == "t4" for d in devices["devices"]))
    status, said = s.json("/api/v1/predict?model=resnet18&hardware=t4,a100-80")
    check("predictions", [d["name"] for d in said["devices"]] == ["t4", "a100-80"], said)
    check("interval", said["devices"][0]["latency_low_ms"] < said["devices"][0]["latency_high_ms"])
    status, said = s.json("/api/v1/predict?model=/etc/passwd&hardware=t4")
    check("no file is opened", status == 200 and said["devices"] == [])
    for wrong in ("", "nosuch", "this", "/etc/passwd", "t4,", ",".join(["t4"] * 17)):
        quoted = urllib.parse.quote(wrong)
        status = s.ask("GET", f"/api/v1/predict?model=resnet18&hardware={quoted}")[0]
        check(f"hardware '{wrong[:20]}'", status == 400, status)


def pipeline() -> Dict[str, Any]:
    return {
        "schema": "assay.pipeline/1",
        "kind": "diffusion",
        "model": "sd21",
        "enabled": True,
        "total_params": 3,
        "pipeline_params": 5,
        "total_macs": 100,
        "total_flops": 200,
        "batch": 1,
        "height": 64,
        "width": 64,
        "steps_run": 3,
        "prompt_tokens": 77,
        "guidance_scale": 7.5,
        "inference_time_seconds": 2.5,
    }


def check_api(s: Server) -> None:
    status, headers, text = s.ask("GET", "/")
    check("page", status == 200 and headers["Content-Type"].startswith("text/html"))
    check(
        "page's policy",
        "default-src 'none'" in headers["Content-Security-Policy"]
        and "frame-ancestors 'none'" in headers["Content-Security-Policy"],
    )
    check("nosniff", headers["X-Content-Type-Options"] == "nosniff")
    hostile = 'a"b\\c\n<script>'
    ids = []
    for i in range(12):
        body = result(
            when=f"2026-11-{i + 1:02}T00:00:00Z", p50=(5 if i < 6 else 9) + i * 7 % 5 / 100
        )
        status, headers, text = s.ask("POST", "/api/v1/records?tag=nightly&tag=x%20y", body)
        check(
            "post",
            status == 201 and headers["Location"] == f"/api/v1/records/{json.loads(text)['id']}",
            text,
        )
        ids.append(json.loads(text)["id"])
    check("hostile name", s.ask("POST", "/api/v1/records", result(model=hostile))[0] == 201)
    status, records = s.json("/api/v1/records?limit=5&offset=1")
    check(
        "records",
        status == 200
        and records["schema"] == "assay.records/1"
        and records["total"] == 13
        and len(records["records"]) == 5,
    )
    with open(os.path.join(root, "docs/openapi.json")) as f:
        api = json.load(f)
    check(
        "keys of a record",
        set(records["records"][0]) == set(api["components"]["schemas"]["Record"]["required"]),
    )
    check("search", s.json("/api/v1/records?q=SCRIPT")[1]["total"] == 1)
    check("by model", s.json("/api/v1/records?model=net")[1]["total"] == 12)
    check("by tag", s.json("/api/v1/records?tag=x%20y")[1]["total"] == 12)
    check("since", s.json("/api/v1/records?since=2026-11-10")[1]["total"] == 3)
    status, document = s.json(f"/api/v1/records/{ids[0]}")
    check("document", status == 200 and document == json.loads(result(p50=5)))
    status, models = s.json("/api/v1/models")
    check(
        "models",
        [m["model"] for m in models["models"]] == [hostile, "net"]
        and models["models"][1]["records"] == 12,
    )
    status, trend = s.json(
        "/api/v1/trend?model=net&metric=p50&alert=" + urllib.parse.quote("p50 > 1.2x median(30d)")
    )
    check("trend", status == 200 and len(trend["points"]) == 12 and trend["unit"] == "ms")
    check("keys of a trend", set(trend) == set(api["components"]["schemas"]["Trend"]["properties"]))
    check(
        "change point",
        [c["id"] for c in trend["change_points"]] == [ids[6]],
        trend["change_points"],
    )
    check("alert", trend["alerts"][0]["verdict"] == "fired")
    status, both = s.json(f"/api/v1/compare?ids={ids[0]},{ids[1]}")
    check("compare", status == 200 and len(both["models"]) == 2)
    status, _, text = s.ask(
        "POST",
        f"/api/v1/records/{ids[0]}/tags",
        json.dumps({"add": ["new"], "remove": ["nightly"]}),
    )
    check("tags", status == 200 and json.loads(text)["records"][0]["tags"] == ["new", "x y"])
    check("delete", s.ask("DELETE", f"/api/v1/records/{ids[0]}")[0] == 204)
    check("deleted", s.ask("GET", f"/api/v1/records/{ids[0]}")[0] == 404)
    status, _, text = s.ask("POST", "/api/v1/records", json.dumps(pipeline()))
    made = json.loads(text).get("id")
    check(
        "a pipeline is kept",
        status == 201 and s.json(f"/api/v1/records/{made}")[1] == pipeline(),
        text,
    )
    row = s.json("/api/v1/records?model=sd21")[1]["records"][0]
    check(
        "a pipeline in the list",
        row["kind"] == "pipeline"
        and row["macs"] == 100
        and row["mean_ms"] == 2500.0
        and row["p50_ms"] is None
        and row["memory_bytes"] is None,
        row,
    )
    check(
        "a pipeline beside a model", s.ask("GET", f"/api/v1/compare?ids={ids[1]},{made}")[0] == 400
    )
    many = "&".join(f"tag=t{i}" for i in range(33))
    check("33 tags", s.ask("POST", "/api/v1/records?" + many, result(model="tagged"))[0] == 400)
    check(
        "99 tags",
        s.ask(
            "POST",
            "/api/v1/records?" + "&".join(f"tag=t{i}" for i in range(99)),
            result(model="tagged"),
        )[0]
        == 400,
    )
    check(
        "a tag 99 times",
        s.ask("POST", "/api/v1/records?" + "&".join(["tag=t"] * 40), result(model="repeated"))[0]
        == 201,
    )
    check("none of them is kept", s.json("/api/v1/records?model=tagged")[1]["total"] == 0)
    check(
        "33 more",
        s.ask(
            "POST",
            f"/api/v1/records/{ids[1]}/tags",
            json.dumps({"add": [f"t{i}" for i in range(31)]}),
        )[0]
        == 400,
    )
    check(
        "tags as before",
        s.json("/api/v1/records?model=net&limit=100")[1]["records"][-1]["tags"]
        == ["nightly", "x y"],
    )
    parameters = json.loads(
        subprocess.run(
            [assay, os.path.join(root, "tests/models/resnet18.onnx"), "--json"],
            capture_output=True,
            check=True,
        ).stdout
    )["total_parameters"]
    status, _, text = s.ask("POST", "/api/v1/profile?name=..%2F..%2Fr18.onnx", model_bytes())
    check(
        "static profile",
        status == 200
        and json.loads(text)["model"] == "r18.onnx"
        and json.loads(text)["total_parameters"] == parameters,
        text[:200],
    )
    status, headers, _ = s.ask(
        "POST", "/api/v1/profile?name=kept.onnx&save=1&tag=up", model_bytes()
    )
    check("kept profile", status == 201 and s.ask("GET", headers["Location"])[0] == 200)
    both = s.json(f"{headers['Location']}?view=1")[1]
    check("a record and what to show of it", both["document"] and both["view"], both)
    check_files(s)
    check("openapi", s.json("/openapi.json")[1] == api)
    check_events(s)
    check_predictions(s)
    for path, methods in api["paths"].items():
        if path == "/api/v1/events":
            continue  # does not end
        for method in set(methods) - {"parameters"}:
            status = s.ask(
                method.upper(), path.replace("{id}", "999"), "" if method == "post" else None
            )[0]
            check(
                f"{method} {path} is there",
                status != 405 and (status != 404 or "{id}" in path),
                status,
            )
    check("health", s.json("/health") == (200, {"status": "ok"}))
    check_metrics(s.ask("GET", "/metrics"), hostile)


def check_metrics(answer: Any, hostile: Any) -> None:
    status, headers, text = answer
    lines = text.decode().split("\n")
    check(
        "metrics",
        status == 200
        and headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0"),
    )
    check("metrics end", lines[-2:] == ["# EOF", ""])
    types, sample = {}, re.compile(
        r'^([a-z_][a-z0-9_]*)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"\})? (-?[0-9.e+-]+)$'
    )
    for line in lines[:-2]:
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            check(f"{name} is declared once", name not in types)
            types[name] = kind
        elif line.startswith("# UNIT "):
            name, unit = line.split()[2:]
            check(f"{name} ends with its unit", name.endswith("_" + unit))
        elif not line.startswith("# HELP "):
            m = sample.match(line)
            name = m and re.sub(r"_(total|info)$", "", m.group(1))
            check(f"sample {line[:60]}", m and (name in types or m.group(1) in types))
    escaped = hostile.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    check("label", f'assay_records{{model="{escaped}"}} 1' in lines)


def drip(s: Server, data: bytes) -> Any:
    with socket.create_connection(("127.0.0.1", s.port), timeout=PATIENCE_S) as c:
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(len(data)):
            c.sendall(data[i : i + 1])
        return c.recv(4096)


def check_refusals(s: Server) -> None:
    host = f"Host: 127.0.0.1:{s.port}\r\n".encode()
    for path in (
        "/nothing",
        "/api/v1/records/",
        "/api/v1/records/x",
        "/api/v1/records/0",
        "/api/v1/records/1e3",
        "/../etc/passwd",
        "/api/v1/records/99999999999999999999",
        "//",
        "/api/v1/records/1/../2",
    ):
        check(f"404 {path}", s.ask("GET", path)[0] == 404)
    status, headers, _ = s.ask("PUT", "/api/v1/records", "x")
    check("405", status == 405 and headers["Allow"] == "GET, HEAD, POST")
    check(
        "405 of a record", s.ask("OPTIONS", "/api/v1/records/1")[1]["Allow"] == "GET, HEAD, DELETE"
    )
    status, headers, text = s.ask("HEAD", "/api/v1/records")
    check("HEAD", status == 200 and text == b"" and int(headers["Content-Length"]) > 10)
    for path in (
        "/api/v1/records?limit=0",
        "/api/v1/records?limit=x",
        "/api/v1/records?offset=-1",
        "/api/v1/records?since=then",
        "/api/v1/compare?ids=1",
        "/api/v1/compare?ids=1,x",
        "/api/v1/compare",
        "/api/v1/trend",
        "/api/v1/trend?model=none",
        "/api/v1/trend?model=net&metric=none",
        "/api/v1/trend?model=net&alert=p95",
    ):
        status, _, text = s.ask("GET", path)
        check(
            f"400 {path}",
            status == 400 and json.loads(text)["error"]["status"] == 400,
            (status, text),
        )
    for body in (
        "",
        "x",
        "[]",
        "{}",
        '{"schema": "assay.profile/1", "model": 5}',
        "{" * 1000,
        '{"schema":"assay.profile/1"',
    ):
        check(f"400 of {body[:20]!r}", s.ask("POST", "/api/v1/records", body)[0] == 400)
    check(
        "422 of tomorrow",
        s.ask("POST", "/api/v1/records", '{"schema": "assay.profile/9"}')[0] == 422,
    )
    check("bad tag", s.ask("POST", "/api/v1/records?tag=a,b", result())[0] == 400)
    check("bad tags", s.ask("POST", "/api/v1/records/2/tags", '{"add": 1}')[0] == 400)
    # What is no HTTP, or too much of it.
    check("words", s.status_of(b"A B C D E\r\n\r\n") == 400)
    for name, data in {
        "garbage": b"\x00\x01\x02garbage\r\n\r\n",
        "a word": b"garbage\r\n\r\n",
        "half a line": b"GET\r\n\r\n",
        "no path": b"GET \r\n\r\n",
        "no version": b"GET /\r\n\r\n",
        "zeros": b"\0" * 100,
        "a blank": b" GET / HTTP/1.1\r\n\r\n",
        "all bytes": bytes(range(256)) * 300,
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 300,
        "no colon": b"GET / HTTP/1.1\r\n" + host + b"nonsense\r\n\r\n",
        "two hosts": b"GET /health HTTP/1.1\r\n" + host + host + b"\r\n",
        "two lengths": b"POST /api/v1/records HTTP/1.1\r\n"
        + host
        + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "a length below zero": b"POST /api/v1/records HTTP/1.1\r\n"
        + host
        + b"Content-Length: -5\r\n\r\n",
    }.items():
        check(name, s.status_of(data) == 400, s.raw(data)[:40])
    # Who says no more has his answer, whole request or not, before the time is over (the door once
    # span on these).
    for data in (b"GE", b"\r\n", b"G"):
        got = s.raw(data, half_close=True)
        check(f"half closed after {data!r}", got.startswith(b"HTTP/1.1 400"), got[:40])
    got = s.raw(b"GET /health HTTP/1.1\r\n" + host + b"\r\n", half_close=True)
    check("half closed after a request", got.startswith(b"HTTP/1.1 200"), got[:40])
    check("other version", s.status_of(b"GET / HTTP/9.9\r\n" + host + b"\r\n") == 505)
    check(
        "a method byte by byte",
        drip(s, b"GET /health HTTP/1.1\r\n" + host + b"\r\n").startswith(b"HTTP/1.1 200"),
    )
    check(
        "empty lines first",
        s.status_of(b"\r\n\r\nGET /health HTTP/1.1\r\n" + host + b"\r\n") == 200,
    )
    check(
        "whole address",
        s.status_of(b"GET http://127.0.0.1/health HTTP/1.1\r\n" + host + b"\r\n") == 200,
    )
    check("HTTP/1.0", s.status_of(b"GET /health HTTP/1.0\r\n" + host + b"\r\n") == 200)
    check(
        "length and chunks",
        s.status_of(
            b"POST /api/v1/records HTTP/1.1\r\n"
            + host
            + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        == 411,
    )
    check("no host", s.status_of(b"GET / HTTP/1.1\r\n\r\n") == 400)
    check(
        "bad length",
        s.status_of(b"POST /api/v1/records HTTP/1.1\r\n" + host + b"Content-Length: x\r\n\r\n")
        == 400,
    )
    check("411", s.status_of(b"POST /api/v1/records HTTP/1.1\r\n" + host + b"\r\n") == 411)
    check(
        "411 chunked",
        s.status_of(
            b"POST /api/v1/records HTTP/1.1\r\n"
            + host
            + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        == 411,
    )
    check(
        "413",
        s.status_of(
            b"POST /api/v1/records HTTP/1.1\r\n" + host + b"Content-Length: 99999999999\r\n\r\nx"
        )
        == 413,
    )
    check(
        "413 of a model",
        s.status_of(
            b"POST /api/v1/profile HTTP/1.1\r\n" + host + b"Content-Length: 999999999\r\n\r\n"
        )
        == 413,
    )
    check(
        "415",
        s.status_of(
            b"POST /api/v1/records HTTP/1.1\r\n"
            + host
            + b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"
        )
        == 415,
    )
    check(
        "431",
        s.status_of(b"GET / HTTP/1.1\r\n" + host + b"X: " + b"y" * 100000 + b"\r\n\r\n") == 431,
    )
    check(
        "431 of many",
        s.status_of(b"GET / HTTP/1.1\r\n" + host + b"X: yyyyyyyy\r\n" * 9000 + b"\r\n") == 431,
    )
    check(
        "414",
        s.status_of(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + host + b"\r\n") in (414, 431),
    )
    # Other sites, other names.
    check("rebinding", s.ask("GET", "/api/v1/records", headers={"Host": "evil.example"})[0] == 421)
    check("host of many", s.ask("GET", "/", headers={"Host": "localhost:1:2"})[0] == 400)
    check("localhost", s.ask("GET", "/health", headers={"Host": f"localhost:{s.port}"})[0] == 200)
    check(
        "origin",
        s.ask("POST", "/api/v1/records", result(), {"Origin": "http://evil.example"})[0] == 403,
    )
    check("null origin", s.ask("DELETE", "/api/v1/records/2", headers={"Origin": "null"})[0] == 403)
    check(
        "other site",
        s.ask("DELETE", "/api/v1/records/2", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403,
    )
    check(
        "own origin",
        s.ask(
            "POST", "/api/v1/records", result(model="own"), {"Origin": f"http://127.0.0.1:{s.port}"}
        )[0]
        == 201,
    )


def check_hostile_models(s: Server) -> None:
    good = model_bytes()
    for name, body in (
        ("empty", b""),
        ("text", b"no model at all"),
        ("zeros", b"\0" * 100000),
        ("ones", b"\xff" * 100000),
        ("cut", good[: len(good) // 2]),
        ("broken", good[:200] + b"\xff" * 50 + good[250:]),
        ("nested", b"\x3a\xff\xff\xff\xff\x0f" * 5000),
    ):
        status, _, text = s.ask("POST", f"/api/v1/profile?name={name}.onnx", body)
        check(
            f"hostile model {name}",
            status in (200, 400, 422) and (status == 200 or json.loads(text)["error"]["message"]),
            (status, text[:200]),
        )
    check("and goes on", s.ask("GET", "/health")[0] == 200)


SLOW_HEAD, SLOW_BODY = (b"GET / HTTP/1.1\r\n", b"X: y\r\n"), (
    b"POST /api/v1/records HTTP/1.1\r\nContent-Length: 5000\r\n",
    b"\r\n{",
)


def slow_clients(s: Server) -> Any:
    """Clients that have begun a request, and what each of them sends more of it."""
    clients = []
    for first, more in [SLOW_HEAD] * 20 + [SLOW_BODY] * 5:
        c = socket.create_connection(("127.0.0.1", s.port), timeout=PATIENCE_S)
        c.sendall(first + f"Host: 127.0.0.1:{s.port}\r\n".encode())
        clients.append((c, more))
    return clients


def check_slow(s: Server) -> None:
    """Whoever sends slowly is no hindrance to others, and is not waited for longer than a request
    may take to come in."""
    clients = slow_clients(s)
    check("others are served meanwhile", s.ask("GET", "/api/v1/records")[0] == 200)
    waiting = [c for c, _ in clients if not select.select([c], [], [], 0)[0]]
    check("the slow ones are waited for", len(waiting) == len(clients), len(waiting))
    for c, _ in clients:
        c.close()
    hasty = Server("--timeout", "1", db="hasty.db")
    clients = slow_clients(hasty)
    for c, more in clients:
        c.setblocking(True)
        try:
            while not select.select([c], [], [], 0.05)[0]:
                c.sendall(more)
            got = c.recv(4096)
        except ConnectionError as e:
            got = str(e).encode()
        check("slow", got.startswith(b"HTTP/1.1 408"), got[:40])
        c.close()
    check("nothing at all", hasty.status_of(b"") == 408)
    check("slow ones did no harm", hasty.ask("GET", "/health")[0] == 200)
    check("ends after them", hasty.stop() == 0)


def check_busy() -> None:
    """A request that has to wait for the history longer than a request may take to come in is
    answered all the same."""
    seconds = 4
    s = Server("--timeout", str(seconds), db="busy.db")
    check("before it is busy", s.ask("POST", "/api/v1/records", result())[0] == 201)
    other = sqlite3.connect(os.path.join(folder, "busy.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tasks = [
            pool.submit(s.ask, "POST", "/api/v1/records", result(model=f"waited{i}"))
            for i in range(3)
        ]
        tasks.append(
            pool.submit(s.ask, "POST", "/api/v1/profile?name=waited.onnx&save=1", model_bytes())
        )
        done, _ = concurrent.futures.wait(
            tasks, timeout=seconds + 1, return_when=concurrent.futures.FIRST_COMPLETED
        )
        check("read while it is written", s.ask("GET", "/api/v1/records")[0] == 200)
        other.execute("ROLLBACK")
        answers = [t.result()[0] for t in tasks]
    check("slow handlers answer", answers == [201] * 4 and not done, answers)
    other.close()
    check("ends after it was busy", s.stop() == 0)


def check_load(s: Server) -> None:
    """A short version of bench/serve.c: no error, memory flat."""
    paths = [
        "/",
        "/api/v1/records",
        "/api/v1/models",
        "/api/v1/trend?model=net",
        "/metrics",
        "/api/v1/records/3",
        "/nothing",
    ]
    clients, rounds = 16, 8

    def client() -> int:
        c, bad = http.client.HTTPConnection("127.0.0.1", s.port, timeout=PATIENCE_S), 0
        for path in paths * rounds:
            c.request("GET", path)
            r = c.getresponse()
            r.read()
            bad += r.status != (404 if path == "/nothing" else 200)
        c.close()
        return bad

    def burst() -> Any:
        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            return sum(t.result() for t in [pool.submit(client) for _ in range(clients)])

    sizes, bad = [], 0
    for _ in range(6):
        bad += burst()
        sizes.append(s.resident())
    n = clients * rounds * len(paths)
    growth = [(b - a) * 1024 / n for a, b in zip(sizes, sizes[1:])]
    check("load without an error", bad == 0, bad)
    # Bytes a request: pools grow now and then, a leak in every burst. A sanitizer keeps what was
    # freed for a while.
    check("memory is flat", sanitized or statistics.median(growth) < 200, growth)
    first, last = sizes[0] // 1024, sizes[-1] // 1024
    print(f"load: {n * len(sizes)} requests, {bad} errors, resident {first} MiB, then {last} MiB")


def check_token() -> None:
    token = "correct-horse-battery-staple"
    s = Server("--token", token, "--timeout", str(NEVER_S), db="token.db")
    check("401", s.ask("GET", "/api/v1/records")[0] == 401)
    check(
        "401 says how", s.ask("GET", "/api/v1/records")[1]["WWW-Authenticate"].startswith("Bearer")
    )
    status, headers, text = s.ask("GET", "/")
    check(
        "the page asks for the token itself",
        status == 200 and headers["Content-Type"].startswith("text/html"),
    )
    check("401 upload", s.ask("POST", "/api/v1/records", result())[0] == 401)
    check(
        "wrong",
        s.ask("GET", "/api/v1/records", headers={"Authorization": "Bearer " + token[:-1] + "x"})[0]
        == 401,
    )
    check(
        "too long",
        s.ask("GET", "/api/v1/records", headers={"Authorization": "Bearer " + token + "x"})[0]
        == 401,
    )
    check("empty", s.ask("GET", "/api/v1/records", headers={"Authorization": "Bearer "})[0] == 401)
    check(
        "right",
        s.ask("GET", "/api/v1/records", headers={"Authorization": "Bearer " + token})[0] == 200,
    )
    status, headers, _ = s.ask("GET", "/?token=" + token)
    check(
        "cookie",
        status == 303
        and headers["Location"] == "/"
        and "HttpOnly" in headers["Set-Cookie"]
        and "SameSite=Strict" in headers["Set-Cookie"],
    )
    check(
        "with cookie",
        s.ask("GET", "/", headers={"Cookie": headers["Set-Cookie"].split(";")[0]})[0] == 200,
    )
    check("wrong cookie", s.ask("GET", "/?token=wrong")[0] == 401)
    check("health is open", s.ask("GET", "/health")[0] == 200)
    check("ends well", s.stop() == 0)


def check_start() -> None:
    def refused(*options: str) -> Any:
        r = subprocess.run(
            [assay, "serve", *options],
            capture_output=True,
            text=True,
            env=environment,
            timeout=PATIENCE_S,
        )
        return r.returncode, r.stderr

    db = ["--db", os.path.join(folder, "start.db")]
    code, said = refused("--host", "0.0.0.0", *db)
    check("no token, no network", code == 2 and "token" in said, (code, said))
    check("short token", refused("--token", "short", *db)[0] == 2)
    check("bad port", refused("--port", "70000", *db)[0] == 2)
    check("bad option", refused("--prot", "1", *db)[0] == 2)
    with open(os.path.join(folder, "text"), "w") as f:
        f.write("this is no database, and long enough to be read as one, for sure")
    check("no history", refused("--db", os.path.join(folder, "text"))[0] != 0)
    s = Server("--host", "0.0.0.0", "--token", "auto", "--read-only", db="history.db")
    token = urllib.parse.parse_qs(urllib.parse.urlparse(s.url).query)["token"][0]
    bearer = {"Authorization": "Bearer " + token}
    check(
        "made up token",
        len(token) == 48 and s.ask("GET", "/api/v1/records", headers=bearer)[0] == 200,
    )
    check("read-only", s.ask("POST", "/api/v1/records", result(), bearer)[0] == 403)
    check(
        "name of another", s.ask("GET", "/", headers={"Host": "evil.example", **bearer})[0] == 421
    )
    name = socket.gethostname()
    check(
        "own name",
        s.ask("GET", "/api/v1/records", headers={"Host": f"{name}:{s.port}", **bearer})[0] == 200,
    )
    check(
        "own name with a domain",
        s.ask("GET", "/", headers={"Host": f"{name}.example.org:{s.port}"})[0] == 200,
    )
    # A page on another machine: opened, asked for the token, then data and an upload under that
    # name.
    origin = {
        "Host": f"{name}:{s.port}",
        "Origin": f"http://{name}:{s.port}",
        "Sec-Fetch-Site": "same-origin",
    }
    check("its data", s.ask("GET", "/api/v1/models", headers={**origin, **bearer})[0] == 200)
    check(
        "its upload is refused for --read-only alone",
        b"read-only" in s.ask("POST", "/api/v1/records", result(), {**origin, **bearer})[2],
    )
    check("ends on SIGINT", s.stop(signal.SIGINT) == 0)
    try:
        socket.create_connection(("127.0.0.1", s.port), timeout=PATIENCE_S).close()
        check("port is closed", False)
    except OSError:
        check("port is closed", True)


def check_fleet() -> None:
    """Questions about all machines, and the sweeps of --sweep-plan, as the program answers them."""
    plan = os.path.join(folder, "sweep.json")
    db = os.path.join(folder, "fleet.db")
    command = [assay, "sweep", "--models", "lenet,mlp", "--batch-sizes", "1,8", "-q", "-o", plan]
    subprocess.run(command, check=True, env=environment)
    s = Server("--sweep-plan", plan, db="fleet.db")
    for i in range(20):
        when = f"2026-11-{i + 1:02}T00:00:00Z"
        s.ask("POST", "/api/v1/records", result(when=when, p50=5 + i % 3 / 100 + 4 * (i > 9)))

    def same(path: str, *words: str) -> None:
        """The document, or the sentence of a refusal, is the program's."""
        done = subprocess.run(
            [assay, *words, "--db", db, "--json"], env=environment, capture_output=True, text=True
        )
        status, said = s.json(path)
        if status == 200:
            check(path, said == json.loads(done.stdout or "null"), (said, done))
        else:
            check(path, "assay: " + said["error"]["message"] == done.stderr.strip(), (said, done))

    same("/api/v1/changes", "history", "changes")
    same("/api/v1/changes?worse=1&model=net", "history", "regressions", "--model", "net")
    same("/api/v1/drift", "history", "drift")
    same("/api/v1/cheapest?model=net&price=x%3D1", "history", "cheapest", "net", "--price", "x=1")
    same("/api/v1/sweeps/1", "sweep", "report", plan)
    check("a change is found", len(s.json("/api/v1/changes?worse=1")[1]["changes"]) == 1)
    sweeps = s.json("/api/v1/sweeps")[1]["sweeps"]
    check("sweeps", [(x["total"], x["done"], x["missing"]) for x in sweeps] == [(4, 0, 4)], sweeps)
    view = s.json("/api/v1/sweeps/1?view=1")[1]
    check("view of a sweep", view["document"]["total"] == 4 and "view" in view)
    check("no such sweep", s.ask("GET", "/api/v1/sweeps/2")[0] == 404)
    paths = ["/api/v1/sweeps/1", "/api/v1/sweeps", "/api/v1/changes", "/api/v1/drift"]
    alone = {path: s.ask("GET", path) for path in paths}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        beside = list(pool.map(lambda path: (path, s.ask("GET", path)), paths * 6))
    others = [path for path, (status, _, body) in beside if (status, body) != alone[path][::2]]
    check("the same beside others", not others, others)
    for path in (
        "cheapest",
        "cheapest?model=net&price=x",
        "changes?metric=none",
        "changes?since=x",
    ):
        check(f"400 of {path}", s.ask("GET", "/api/v1/" + path)[0] == 400)
    s.stop()
    serve = os.path.join(os.path.dirname(assay), "assay-serve")
    bad = [serve, "--port", "0", "--db", db, "--sweep-plan", db]
    check("a file that is no plan", subprocess.run(bad, capture_output=True).returncode == 3)


def check_killed() -> None:
    """Runs that were acknowledged are there after kill -9, however it falls."""
    kept = 0
    for attempt in range(4):
        s = Server(db="killed.db")
        acknowledged, enough = [], threading.Event()

        def post(worker: int) -> None:
            c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=PATIENCE_S)
            try:
                for i in range(1000):
                    c.request("POST", "/api/v1/records", result(model=f"m{worker}", p50=i + 1.0))
                    r = c.getresponse()
                    text = r.read()
                    if r.status == 201:
                        acknowledged.append(json.loads(text)["id"])
                    if len(acknowledged) >= 20 + 7 * attempt:
                        enough.set()
            except (OSError, http.client.HTTPException):
                pass

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            tasks = [pool.submit(post, w) for w in range(4)]
            check("runs are acknowledged", enough.wait(PATIENCE_S))
            s.process.kill()
            s.process.wait()
            for t in tasks:
                t.result()
        again = Server(db="killed.db")
        missing = [i for i in acknowledged if again.ask("GET", f"/api/v1/records/{i}")[0] != 200]
        check(
            "nothing acknowledged is lost",
            acknowledged and not missing,
            (len(acknowledged), missing[:5]),
        )
        kept += len(acknowledged)
        again.stop()
    print(f"kill -9: {kept} acknowledged runs, none lost" if not failures else "")


server = Server("--timeout", str(NEVER_S))
check_api(server)
check_refusals(server)
check_hostile_models(server)
check_slow(server)
check_load(server)
check("still the same process", server.process.poll() is None)
check("ends on SIGTERM", server.stop() == 0)
check_busy()
check_token()
check_start()
check_fleet()
check_killed()
sys.exit(finish())
