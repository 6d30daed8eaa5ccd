#!/usr/bin/env python3
"""bench/load.py PROGRAM: `assay load` beside wrk and autocannon, against nginx on 127.0.0.1.

1. Closed loop, 64 connections, rounds of wrk and assay in turn: the median ratio of the two rates
   must be at least 0.5, and rate x mean latency of assay 64 within 5 % (Little's law).
2. Open loop at fixed rates below that: the rate is within 2 %, and the generator's own share of P50
   (how late it sends, and how long bytes wait for it) below 20 us.
3. The same rates by autocannon. Its fixed rate is no open loop: each connection sends its share of
   a second as fast as responses come, then pauses until the next second; it counts whole
   milliseconds and adds values that it computes for those above 1 ms. So its rate is compared with
   that of the open loop, over whole seconds, within 2 %; and its P50 and P99 with a closed loop of
   the same connections and number of requests, which is what a burst of it is. They agree if the
   ranges of the rounds, wider by its step of 1 ms, overlap, or if assay is below: autocannon's
   figure contains the time of its own event loop.

nginx and wrk are Debian packages (nginx-light, wrk); autocannon is fetched from npm into
build/bench, pinned. What is missing is skipped and said. Everything is bounded: a few seconds a
round, nothing but loopback.
"""

import json
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

AUTOCANNON = "autocannon@7.15.0"
ROUNDS, SECONDS, CONNECTIONS = 5, 2, 64
RATES = (500, 2000, 5000)
FEW = 10  # connections of autocannon
ROOT = pathlib.Path(__file__).resolve().parent.parent


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def start_nginx(folder, port):
    folder.chmod(0o755)  # its workers are another user
    (folder / "html").mkdir()
    (folder / "html" / "index.html").write_text("x" * 612)
    (folder / "nginx.conf").write_text(
        f"""
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 100000000;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port}; root {folder}/html; }} }}
"""
    )
    nginx = subprocess.Popen(
        ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL
    )
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return nginx
        except OSError:
            time.sleep(0.02)
    nginx.terminate()
    raise SystemExit("nginx did not start")


def run_assay(program, url, *options):
    limit = [] if "--num-requests" in options else ["--duration", f"{SECONDS}s"]
    p = subprocess.run(
        [program, "load", url, "--json", *limit, *options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return json.loads(p.stdout)


def run_wrk(url):
    """Requests per second; mean and P50 in milliseconds."""
    p = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", p.stdout)[1])
    times = [
        re.search(rf"{what}\s+([\d.]+)(us|ms|s)", p.stdout).groups() for what in ("Latency", "50%")
    ]
    return rate, *[float(n) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit] for n, unit in times]


def autocannon():
    """Its command, or None."""
    folder = ROOT / "build" / "bench"
    program = folder / "node_modules" / "autocannon" / "autocannon.js"
    if not program.exists() and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                "npm",
                "install",
                "--prefix",
                str(folder),
                "--no-save",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                AUTOCANNON,
            ],
            capture_output=True,
            timeout=300,
        )
    return ["node", str(program)] if program.exists() and shutil.which("node") else None


def run_autocannon(command, url, rate):
    """Requests per whole second, P50 and P99 in milliseconds."""
    most = ["-R", str(rate), "-c", str(FEW), "-a", str(rate * SECONDS)]
    p = subprocess.run(
        [*command, "-j", *most, url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    r = json.loads(p.stdout)
    # Bursts begin on whole seconds; the run ends shortly before or after one.
    return (
        r["requests"]["total"] / round(r["duration"]),
        r["latency"]["p50"],
        r["latency"]["p99"],
    )


def span(values):
    return f"{statistics.median(values):9.2f} [{min(values):.2f}, {max(values):.2f}]"


def verdict(passed):
    return "pass" if passed else "FAIL"


def closed_loop(program, url):
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(run_wrk(url))
        r = run_assay(program, url, "--concurrency", str(CONNECTIONS))
        l = r["latency"]
        ours.append((r["throughput"]["requests_per_second"], l["mean"], l["p50"]))
    ratio = statistics.median(a[0] / b[0] for a, b in zip(ours, theirs))
    # A closed loop keeps its connections busy: rate x mean latency is their number (Little).
    busy = statistics.median(x[0] * x[1] / 1e3 for x in ours)
    good, fits = ratio >= 0.5, 0.95 <= busy / CONNECTIONS <= 1.05
    print(f"closed loop, {CONNECTIONS} connections, {ROUNDS} interleaved rounds of {SECONDS} s")
    for name, rows in (("wrk", theirs), ("assay", ours)):
        print(
            f"  {name:6} {span([x[0] for x in rows])} requests/s"
            f"  mean ms {span([x[1] for x in rows])}  P50 ms {span([x[2] for x in rows])}"
        )
    print(f"  ratio of rates {ratio:.2f} (at least 0.50: {verdict(good)})")
    print(f"  rate x mean of assay {busy:.1f} (within 5 % of {CONNECTIONS}: {verdict(fits)})")
    return good and fits, statistics.median(x[0] for x in theirs)


def open_loop(program, url, rate):
    rows = []
    for _ in range(3):
        r = run_assay(program, url, "--rate", str(rate), "--arrivals", "constant")
        late = r["client"]["send_delay_p50_us"] + (r["client"]["receive_delay_us"] or 0)
        rows.append((r["throughput"]["requests_per_second"], r["latency"]["p50"], late))
    share = statistics.median(x[2] for x in rows)
    good = share < 20 and all(abs(x[0] / rate - 1) < 0.02 for x in rows)
    print(
        f"open loop, {rate} requests/s\n  assay      rate {span([x[0] for x in rows])}"
        f"  P50 ms {span([x[1] for x in rows])}\n"
        f"  own share of P50 {share:.1f} us (below 20, rate within 2 %: {verdict(good)})"
    )
    return good


def agrees(ours, theirs):
    """Ranges overlap with autocannon's step of 1 ms, or ours is below."""
    return min(ours) <= max(theirs) + 1


def bursts(program, url, rate, command):
    ours, theirs = [], []
    number = ["--concurrency", str(FEW), "--num-requests", str(rate * SECONDS)]
    for _ in range(3):
        theirs.append(run_autocannon(command, url, rate))
        r = run_assay(program, url, *number)["latency"]
        ours.append((r["p50"], r["p99"]))
    exact = all(abs(x[0] / rate - 1) < 0.02 for x in theirs)
    print(f"  autocannon rate {span([x[0] for x in theirs])} (within 2 %: {verdict(exact)})")
    good = exact
    for i, what in enumerate(("P50", "P99")):
        a, b = [x[i] for x in ours], [x[i + 1] for x in theirs]
        good = good and agrees(a, b)
        print(
            f"  {what} ms of {FEW} connections: assay {span(a)}  autocannon {span(b)}"
            f"  ({verdict(agrees(a, b))})"
        )
    return good


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/assay")
    for needed in ("nginx", "wrk"):
        if not shutil.which(needed):
            print(f"skipped: {needed} is missing")
            return 77
    command = autocannon()
    if not command:
        print("autocannon is missing: its columns are left out")
    with tempfile.TemporaryDirectory() as name:
        port = free_port()
        nginx = start_nginx(pathlib.Path(name), port)
        url = f"http://127.0.0.1:{port}/index.html"
        try:
            good, most = closed_loop(program, url)
            for rate in RATES:
                if rate < most / 2:
                    good = open_loop(program, url, rate) and good
                    good = (not command or bursts(program, url, rate, command)) and good
        finally:
            nginx.terminate()
            nginx.wait()
    return 0 if good else 1


sys.exit(main())
