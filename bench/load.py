#!/usr/bin/env python3
"""bench/load.py PROGRAM: `assay load` beside wrk and autocannon, against nginx on 127.0.0.1.

1. Closed loop, 64 connections, rounds of wrk and assay in turn: the median ratio of the two rates
   must be at least 0.5.
2. Open loop at fixed rates below that: achieved rate, P50 and P99 of assay and autocannon, each
   with the range of its
   rounds, which must overlap or be below the other's; and the generator's own share of P50 (how
   late it sends, and how long bytes
   wait for it), which must be below 20 us.

nginx and wrk are Debian packages (nginx-light, wrk); autocannon is fetched from npm into
build/bench, pinned. What is
missing is skipped and said. Everything is bounded: a few seconds a round, nothing but loopback.
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
    p = subprocess.run(
        [program, "load", url, "--json", "--duration", f"{SECONDS}s", *options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return json.loads(p.stdout)


def run_wrk(url):
    p = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return float(re.search(r"Requests/sec:\s+([\d.]+)", p.stdout)[1])


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
    p = subprocess.run(
        [*command, "-j", "-R", str(rate), "-c", "10", "-d", str(SECONDS), url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    r = json.loads(p.stdout)
    return r["requests"]["total"] / r["duration"], r["latency"]["p50"], r["latency"]["p99"]


def span(values):
    return f"{statistics.median(values):9.2f} [{min(values):.2f}, {max(values):.2f}]"


def closed_loop(program, url):
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(run_wrk(url))
        ours.append(
            run_assay(program, url, "--concurrency", str(CONNECTIONS))["throughput"][
                "requests_per_second"
            ]
        )
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(f"closed loop, {CONNECTIONS} connections, {ROUNDS} interleaved rounds of {SECONDS} s")
    print(f"  wrk    {span(theirs)} requests/s\n  assay  {span(ours)} requests/s")
    print(f"  ratio  {ratio:.2f} (at least 0.50: {'pass' if ratio >= 0.5 else 'FAIL'})")
    return ratio >= 0.5, statistics.median(theirs)


def open_loop(program, url, rate, command):
    ours, theirs = [], []
    for _ in range(3):
        r = run_assay(program, url, "--rate", str(rate), "--arrivals", "constant")
        ours.append(
            (
                r["throughput"]["requests_per_second"],
                r["latency"]["p50"],
                r["latency"]["p99"],
                r["client"]["send_delay_p50_us"] + (r["client"]["receive_delay_us"] or 0),
            )
        )
        if command:
            theirs.append(run_autocannon(command, url, rate))
    share = statistics.median(x[3] for x in ours)
    print(f"open loop, {rate} requests/s")
    for name, rows in (("assay", ours), ("autocannon", theirs)):
        if rows:
            print(
                f"  {name:10} rate {span([x[0] for x in rows])}"
                f"  P50 ms {span([x[1] for x in rows])}"
                f"  P99 ms {span([x[2] for x in rows])}"
            )
    good = share < 20 and all(abs(x[0] / rate - 1) < 0.02 for x in ours)
    print(
        f"  own share of P50 {share:.1f} us (below 20, rate within 2 %: "
        f"{'pass' if good else 'FAIL'})"
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
                    good = open_loop(program, url, rate, command) and good
        finally:
            nginx.terminate()
            nginx.wait()
    return 0 if good else 1


sys.exit(main())
