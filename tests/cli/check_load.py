"""`assay load PROGRAM` against scripted servers on loopback: check_load.py PROGRAM. Prints a line
for each check that passes; figures are compared with what the script of the server makes them be,
from below where a busy machine adds."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

PROGRAM = sys.argv[1]
HERE = pathlib.Path(__file__).parent


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "load_server.py"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = int(self.process.stdout.readline())
        self.url = f"http{'s' if arguments else ''}://127.0.0.1:{self.port}"

    def counts(self):
        with urllib.request.urlopen(self.url + "/counts") as answer:
            return json.load(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def load(url, *options, code=0, env=None, text=False):
    command = [PROGRAM, "load", url, *options] + ([] if text else ["--json"])
    p = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, **(env or {})}
    )
    assert p.returncode == code, (command, p.returncode, p.stderr, p.stdout[:2000])
    return p.stdout + p.stderr if text else json.loads(p.stdout) if p.stdout else None


def check(name, holds, *shown):
    if not holds:
        print("FAILED:", name, *shown)
        sys.exit(1)
    print("ok", name)


def closed_loop(s):
    r = load(s.url + "/fixed?ms=20", "--concurrency", "4", "--num-requests", "40")
    check(
        "closed loop: requests and connections",
        (r["requests"], r["succeeded"], r["client"]["in_flight_most"]) == (40, 40, 4),
        r["client"],
    )
    check("closed loop: service time is a lower bound", r["latency"]["min"] >= 20, r["latency"])
    check(
        "closed loop: throughput fits the latency",
        r["throughput"]["requests_per_second"] <= 4 * 1000 / 20,
        r["throughput"],
    )
    check(
        "network bytes",
        r["network"]["sent_bytes"] > 40 * 50
        and r["network"]["received_bytes"]
        == 40 * len("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
    )
    check(
        "target is stated",
        r["target"]["loopback"] is True and r["target"]["address"] == "127.0.0.1",
    )


def open_loop(s):
    r = load(
        s.url + "/stall?at=40&ms=1000",
        "--rate",
        "100",
        "--arrivals",
        "constant",
        "--num-requests",
        "300",
    )
    slow = sum(1 for ms in r["latency"]["samples_ms"] if ms > 400)
    check(
        "open loop: every request that a stall of 1 s delays counts from when it was due",
        slow >= 55 and r["latency"]["p99"] >= 900,
        slow,
        r["latency"]["p99"],
    )
    check("open loop: requests", r["requests"] == 300)
    one = load(s.url + "/fixed", "--rate", "200", "--num-requests", "50", "--concurrency", "1")
    check("open loop: at most so many connections", one["client"]["connections"] == 1)


def objectives(s):
    r = load(s.url + "/fixed?ms=30", "--num-requests", "10", "--slo", "p99:5ms", code=6)
    check("SLO missed: exit 6, no goodput", r["goodput"] == 0 and r["slo"]["met"] is False)
    r = load(s.url + "/fixed", "--num-requests", "10", "--slo", "p99:30s")
    check("SLO met", r["slo"]["met"] and r["slo"]["good_requests"] == 10)
    r = load(
        s.url + "/mixed", "--num-requests", "50", "--expect", "hello", "--slo", "p99:30s", code=6
    )
    check(
        "failed requests do not meet an SLO", r["slo"]["good_requests"] == 40 and r["failed"] == 10
    )


def failures(s):
    kinds = {
        "hang": "timeout",
        "reset": "reset",
        "garbage": "protocol",
        "endless": "timeout",
        "redirect": "redirect",
        "short": "short",
        "status?code=503": "http_5xx",
        "status?code=404": "http_4xx",
    }
    for path, kind in kinds.items():
        r = load(f"{s.url}/{path}", "--num-requests", "4", "--request-timeout", "200ms", code=5)
        check(f"{path.split('?')[0]}: {kind}", r["errors"] == {kind: 4}, r["errors"])
        check(f"{path.split('?')[0]}: no latency", "latency" not in r or r["latency"] is None)
    r = load("http://127.0.0.1:1/", "--num-requests", "2", code=5)
    check("refused: connect", r["errors"] == {"connect": 2}, r["errors"])
    for path in ("closes", "drops", "chunked"):
        r = load(f"{s.url}/{path}", "--num-requests", "6")
        check(f"{path}: good", r["succeeded"] == 6 and not r["errors"])
    check(
        "drops: closed connections are opened again",
        load(f"{s.url}/drops", "--num-requests", "6")["client"]["connections"] == 6,
    )
    counts = load(f"{s.url}/counts", "--num-requests", "1", "--expect", '"redirected": 4')
    check("redirects are not followed", counts["succeeded"] == 1)


def tokens(s):
    url = s.url + "/v1/chat/completions?ttft=40&gap=10&usage=2"
    r = load(url, "--num-requests", "6", "--generate", "5", "--concurrency", "2")
    check("streaming: first token", r["ttft"]["min"] >= 40 and r["ttft"]["runs"] == 6, r["ttft"])
    check("streaming: gaps", r["itl"]["runs"] == 24 and r["itl"]["p50"] >= 9, r["itl"])
    check(
        "streaming: tokens of usage",
        (r["output_tokens"], r["input_tokens"], r["tokens_source"]) == (60, 42, "usage"),
    )
    check("streaming: model is asked for", r["target"]["model"] == "tiny")
    r = load(
        s.url + "/v1/completions",
        "--num-requests",
        "3",
        "--generate",
        "5",
        "--model",
        "tiny",
        "--prompt-tokens",
        "10..20",
    )
    check(
        "without usage: tokens are chunks",
        (r["output_tokens"], r["tokens_source"]) == (15, "chunks"),
    )
    r = load(s.url + "/v1/chat/completions?usage=1", "--num-requests", "3", "--no-stream")
    check("whole answers: no first token", r["output_tokens"] == 192 and "ttft" not in r)
    for wrong, kind in (
        ("error", "answer"),
        ("garbage", "answer"),
        ("cut", "short"),
        ("unfinished", "short"),
    ):
        r = load(
            f"{s.url}/v1/chat/completions?usage=1&wrong={wrong}",
            "--num-requests",
            "15",
            "--generate",
            "3",
        )
        check(
            f"streaming: {wrong} among good ones is {kind}",
            r["succeeded"] == 12 and r["errors"] == {kind: 3},
            r["errors"],
        )
    endless = f"{s.url}/v1/chat/completions?gap=5&wrong=endless"
    r = load(endless, "--num-requests", "3", "--request-timeout", "300ms", code=5)
    check("streaming: one without an end is a timeout", r["errors"] == {"timeout": 3}, r["errors"])
    r = load(url, "--num-requests", "4", "--generate", "3", "--slo", "ttft:20ms,itl:10s", code=6)
    check("SLO of the first token", [x["met"] for x in r["slo"]["limits"]] == [False, True])


def protocols(s, folder):
    r = load(s.url + "/v2/models/m/infer", "--num-requests", "16")
    check(
        "KServe: inputs by metadata, wrong answers found",
        r["succeeded"] == 8 and r["errors"] == {"answer": 8},
        r["errors"],
        r["error_causes"],
    )
    r = load(s.url + "/v1/models/m:predict", "--num-requests", "10")
    check("TensorFlow Serving", r["succeeded"] == 6 and r["errors"] == {"answer": 4}, r["errors"])
    body = folder / "image.bin"
    body.write_bytes(b"\0image")
    r = load(
        s.url,
        "--protocol",
        "torchserve",
        "--model",
        "m",
        "--body",
        str(body),
        "--num-requests",
        "10",
    )
    check("TorchServe", r["succeeded"] == 6 and r["errors"] == {"answer": 4}, r["errors"])
    r = load(s.url + "/echo", "--data", "n={{index}}", "--expect", "n=", "--num-requests", "3")
    check("template", r["succeeded"] == 3)
    load(s.url + "/predictions/m", "--num-requests", "1", code=2)


def replay(s, folder):
    trace = folder / "trace.jsonl"
    trace.write_text(
        "".join(
            json.dumps({"timestamp": 40 * i, "input_length": 5 + i, "output_length": 2 + i % 2})
            + "\n"
            for i in range(10)
        )
    )
    r = load(
        s.url + "/v1/chat/completions?usage=1&wrong=error", "--trace", str(trace), "--speed", "2"
    )
    check(
        "replay: requests of the trace, one wrong",
        r["requests"] == 10 and r["errors"] == {"answer": 2},
        r["errors"],
    )
    check("replay: time of the trace", r["duration_s"] >= 0.18, r["duration_s"])
    csv = folder / "trace.csv"
    csv.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:01:50.000,4,2\n2023-11-16 18:01:50.100,4,3\n"
    )
    r = load(s.url + "/v1/completions?usage=1", "--trace", str(csv))
    check("replay of CSV", r["output_tokens"] == 5, r["output_tokens"])


def curve(s):
    r = load(
        s.url + "/fixed?ms=5",
        "--curve",
        "--concurrency",
        "2",
        "--duration",
        "6s",
        "--slo",
        "p99:10s",
        "--arrivals",
        "constant",
    )
    steps = r["curve"]
    check(
        "curve: rates ascend from light load",
        len(steps) >= 4 and [x["rate"] for x in steps] == sorted(x["rate"] for x in steps),
    )
    check(
        "curve: two connections of 5 ms each cannot answer more than 400 a second",
        all(x["requests_per_second"] <= 401 for x in steps),
        [x["requests_per_second"] for x in steps],
    )
    check("curve: it ends in saturation", r["curve_summary"]["complete"] and steps[-1]["saturated"])
    r = load(s.url + "/fixed?ms=5", "--curve", "--rates", "20,40", "--duration", "1s")
    check("curve of given rates", [x["rate"] for x in r["curve"]] == [20, 40])


def secrets(s, folder):
    key = folder / "headers.txt"
    key.write_text("# a comment\nAuthorization: Bearer s3cret\n")
    for options, env in (
        (["--header-file", str(key)], None),
        ([], {"ASSAY_API_KEY": "s3cret"}),
        (["--header", "Authorization: Bearer s3cret"], None),
    ):
        r = load(s.url + "/headers", "--num-requests", "2", *options, env=env)
        check(
            "key is sent and not kept",
            r["succeeded"] == 2
            and "s3cret" not in json.dumps(r)
            and r["settings"]["headers"] == ["Authorization"],
        )
    r = load(s.url.replace("//", "//user:s3cret@") + "/fixed", "--num-requests", "1")
    check("password of the URL is not kept", "s3cret" not in json.dumps(r))
    r = load(s.url + "/fixed", "--num-requests", "1", "--header", "X-Mine: s3cret")
    check("no value of a header is kept", "s3cret" not in json.dumps(r))


def interrupted(s, folder):
    out = folder / "partial.json"
    p = subprocess.Popen(
        [PROGRAM, "load", s.url + "/fixed", "-o", str(out), "-q", "--duration", "600s"],
        stderr=subprocess.DEVNULL,
    )
    before = s.counts()
    while s.counts() == before:
        pass
    p.send_signal(signal.SIGINT)
    check("Ctrl-C: exit 130", p.wait(timeout=60) == 130)
    check("Ctrl-C: partial result", json.loads(out.read_text())["interrupted"] is True)


def watched(s):
    r = load(s.url + "/fixed?ms=20", "--num-requests", "20", "--pid", str(s.process.pid))
    check("the server's process", r["server"]["peak_resident"] > 0 and r["server"]["samples"])
    load(s.url + "/fixed", "--num-requests", "1", "--pid", "2147483646", code=2)


def kept(s, folder):
    a, b, db = folder / "a.json", folder / "b.json", folder / "h.db"
    for path in (a, b):
        load(
            s.url + "/fixed?ms=5",
            "--num-requests",
            "60",
            "--slo",
            "p99:20s",
            "-o",
            str(path),
            "-q",
            "--save",
            "--db",
            str(db),
            text=True,
        )

    def assay(*words, code=(0,)):
        p = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
        assert p.returncode in code, (words, p.returncode, p.stdout, p.stderr)
        return p.stdout

    assay("check", str(a), "--threshold", "p99:60s", "error_rate:1%", "goodput>=1")
    assay("check", str(a), "--threshold", "p99:1ms", code=(6,))
    assay("check", str(a), "--baseline", str(b), "--tolerance", "1000", code=(0, 7))
    compared = json.loads(assay("compare", str(a), str(b), "--json"))
    check("check and compare", len(compared["models"]) == 2)
    screen = assay("report", str(a))
    assert "1 requests" not in screen and "in flight at most" in screen, screen
    assert re.search(r"[KM]?i?B/s and [0-9.]+ [KM]?i?B/s", screen), screen
    trend = json.loads(
        assay("trend", s.url + "/fixed?ms=5", "--metric", "goodput", "--db", str(db), "--json")
    )
    check("history and trend", len(trend["points"]) == 2 and trend["points"][0]["value"] > 0)
    live = assay("report", str(a))
    check("report", "Load on" in live and "Goodput" in live)
    check("CSV", assay("report", str(a), "--format", "csv", "--rows", "cdf").startswith("percent"))


def refused(s):
    for options in (
        ["--generate", "5"],
        ["--insecure"],
        ["--model", "x"],
        ["--slo", "ttft:1s"],
        ["--slo", "speed:1"],
        ["--curve", "--rate", "5"],
        ["--speed", "2"],
        ["--protocol", "ftp"],
        ["--duration", "soon"],
    ):
        load(s.url + "/", *options, code=2)
    for url in ("ftp://127.0.0.1/", "127.0.0.1:80", "http://", "http://127.0.0.1:99999/"):
        load(url, code=2)
    check("options without effect and wrong URLs are refused", True)


def encrypted(folder):
    cert, key = folder / "cert.pem", folder / "key.pem"
    try:
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-keyout",
                str(key),
                "-out",
                str(cert),
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
            ],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return check("TLS (openssl is missing)", True)
    s = Server(str(cert), str(key))
    p = subprocess.run(
        [PROGRAM, "load", s.url + "/fixed", "--num-requests", "4", "--json", "--cacert", str(cert)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "libcurl" in p.stderr:
        return check("TLS (libcurl is missing, which is said)", p.returncode == 5)
    r = json.loads(p.stdout)
    assert r["succeeded"] == 4 and r["target"]["tls"], r
    load(s.url + "/fixed", "--num-requests", "4", "--insecure")
    r = load(s.url + "/fixed", "--num-requests", "2", code=5)
    assert r["errors"] == {"tls": 2}, r["errors"]
    r = load(
        s.url + "/hang", "--num-requests", "1", "--insecure", "--request-timeout", "300ms", code=5
    )
    assert r["errors"] == {"timeout": 1}, r["errors"]
    s.close()
    return check("TLS", True)


def main():
    s = Server()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        closed_loop(s)
        open_loop(s)
        objectives(s)
        failures(s)
        tokens(s)
        protocols(s, folder)
        replay(s, folder)
        curve(s)
        secrets(s, folder)
        interrupted(s, folder)
        watched(s)
        kept(s, folder)
        refused(s)
        encrypted(folder)
    s.close()


main()
