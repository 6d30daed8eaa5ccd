#!/usr/bin/env python3
"""The GitHub Action and the pre-commit hook of packaging/, as their hosts run them.

    check_action.py PROGRAM

The API for comments is a stand-in on the loopback. The hook's entry runs in a git repository of its
own."""
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import Any, Dict, List

assay = os.path.abspath(sys.argv[1])
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
comments: List[Dict[str, Any]] = []
asked: List[str] = []
failures = 0
passed = 0


def check(what: str, good: bool, shown: Any = "") -> None:
    global failures, passed
    passed, failures = passed + good, failures + (not good)
    if not good:
        print(f"FAILED: {what} {shown}")


class Comments(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, status: int, body: Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        asked.append(f"GET {self.path}")
        self.answer(200, comments)

    def do_POST(self) -> None:
        asked.append(f"POST {self.path}")
        if self.headers["Authorization"] != "Bearer t0ken":
            return self.answer(401, {})
        comments.append({"id": len(comments) + 1, **self.body()})
        return self.answer(201, comments[-1])

    def do_PATCH(self) -> None:
        asked.append(f"PATCH {self.path}")
        comments[int(self.path.rsplit("/", 1)[1]) - 1].update(self.body())
        self.answer(200, {})


def run_action(folder: str, port: int, **inputs: str) -> "subprocess.CompletedProcess[str]":
    event = os.path.join(folder, "event.json")
    with open(event, "w", encoding="utf-8") as f:
        json.dump({"pull_request": {"number": 7}}, f)
    env = {
        **os.environ,
        "ASSAY": assay,
        "no_proxy": "127.0.0.1",
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": f"http://127.0.0.1:{port}",
        "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_EVENT_PATH": event,
        "GITHUB_OUTPUT": os.path.join(folder, "output"),
        "GITHUB_STEP_SUMMARY": os.path.join(folder, "summary"),
        "INPUT_TITLE": "assay",
        "INPUT_TOKEN": "t0ken",
        **{f"INPUT_{k.upper()}": v for k, v in inputs.items()},
    }
    script = os.path.join(root, "packaging/action/check.py")
    return subprocess.run(
        [sys.executable, script], env=env, cwd=folder, capture_output=True, text=True, check=False
    )


def read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


def check_action(folder: str, port: int) -> None:
    done = run_action(folder, port, model="lenet", threshold="params:90k flops:5G")
    check("a check that passes", done.returncode == 0, done.stderr)
    check("outputs", "verdict=pass\nexit-code=0\n" in read(folder, "output"))
    check("one summary", read(folder, "summary").count("Check of lenet") == 1)
    check("a comment", len(comments) == 1 and "Check of lenet" in comments[0]["body"], asked)
    done = run_action(folder, port, model="lenet", threshold="params:50k")
    check("a missed limit", done.returncode == 6, done.stderr)
    check("the comment is replaced", len(comments) == 1 and "missed" in comments[0]["body"])
    run_action(folder, port, model="lenet", threshold="params:90k", title="other")
    check("another title, another comment", len(comments) == 2)
    run_action(folder, port, model="lenet", threshold="params:90k", comment="false")
    check("no comment", len(comments) == 2)
    done = run_action(folder, port, model="lenet", threshold="params:90k", title="x", token="bad")
    check("a refused comment is a warning", done.returncode == 0 and "::warning::" in done.stdout)
    done = run_action(folder, port, model="$(touch owned)", threshold="params:90k")
    check("no shell", done.returncode == 2 and not os.path.exists(os.path.join(folder, "owned")))
    check("no model", run_action(folder, port, model="").returncode == 2)
    done = run_action(folder, port, model="lenet", options="--threshold\nparams:50k\n")
    check("options", done.returncode == 6, done.stderr)


def hook_entry() -> str:
    with open(os.path.join(root, ".pre-commit-hooks.yaml"), encoding="utf-8") as f:
        return next(line.split()[1] for line in f if line.strip().startswith("entry:"))


def check_hook(folder: str) -> None:
    env = {**os.environ, "ASSAY": assay}
    git = ["git", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q", folder], check=True)
    subprocess.run([assay, "export", "lenet", "-q", "-o", "net.onnx"], cwd=folder, check=True)
    subprocess.run([assay, "export", "resnet18", "-q", "-o", "big.onnx"], cwd=folder, check=True)
    subprocess.run([*git, "add", "net.onnx", "big.onnx"], cwd=folder, check=True)
    listed = [*git, "diff", "--cached", "--name-only"]
    staged = subprocess.check_output(listed, cwd=folder, text=True).split()
    hook = os.path.join(root, hook_entry())
    for limit, code in (("params:30M", 0), ("params:1M", 6), ("nosuch:1", 2)):
        done = subprocess.run(
            [hook, f"--threshold={limit}", *staged],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        check(f"hook with {limit}", done.returncode == code, (done.returncode, done.stderr))


def main() -> int:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Comments)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        check_action(one, server.server_address[1])
        check_hook(two)
    server.shutdown()
    print(f"{passed} passed, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
