"""What the tests of assay-serve share: starting it, asking it, counting what was checked."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse
from email.message import Message
from typing import Any, Dict, List, Optional, Tuple

assay = os.path.abspath(sys.argv[1])
sanitized = "--sanitized" in sys.argv
if not os.path.exists(os.path.join(os.path.dirname(assay), "assay-serve")):
    print("skipped: built without libmicrohttpd")
    sys.exit(77)
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
folder = tempfile.mkdtemp()
environment = {k: v for k, v in os.environ.items() if k not in ("ASSAY_DB", "ASSAY_TOKEN")}
failures: List[str] = []
passed = 0
PATIENCE_S = 240  # after which something hangs, however busy the machine is
NEVER_S = 3600  # the server's own limit, where no test is to run into it


def check(what: str, good: Any, shown: Any = "") -> None:
    global passed
    if good:
        passed += 1
    else:
        failures.append(what)
        print(f"FAILED: {what} {shown}", flush=True)


def option_value(name: str) -> Optional[str]:
    """What follows the option on this test's command line."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


class Server:
    def __init__(
        self, *options: str, db: str = "history.db", variables: Optional[Dict[str, str]] = None
    ) -> None:
        self.process = subprocess.Popen(
            [assay, "serve", "--db", os.path.join(folder, db), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, **(variables or {})},
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()
        self.port = urllib.parse.urlparse(self.url).port or 0

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Optional[Dict[str, str]] = None,
        timeout: float = PATIENCE_S,
    ) -> Tuple[int, Message, bytes]:
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        text = r.read()
        c.close()
        return r.status, r.headers, text

    def json(self, path: str) -> Any:
        status, _, text = self.ask("GET", path)
        return status, json.loads(text)

    def raw(self, data: bytes, timeout: float = PATIENCE_S, half_close: bool = False) -> bytes:
        """What comes back on a socket until it is closed or the time is over."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            s.sendall(data)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            got = b""
            try:
                while part := s.recv(65536):
                    got += part
                    if b"\r\n\r\n" in got and b"HTTP/1.1 100" not in got:
                        break
            except (TimeoutError, ConnectionError):
                pass
        return got

    def status_of(self, data: bytes, timeout: float = PATIENCE_S) -> Optional[int]:
        m = re.match(rb"HTTP/1\.1 (\d+)", self.raw(data, timeout))
        return int(m.group(1)) if m else None

    def resident(self) -> int:
        with open(f"/proc/{self.process.pid}/status") as f:
            found = re.search(r"VmRSS:\s+(\d+)", f.read())
        assert found
        return int(found.group(1))

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(timeout=PATIENCE_S)


def result(model: str = "net", when: str = "2026-11-01T00:00:00Z", p50: float = 5.0) -> str:
    return json.dumps(
        {
            "schema": "assay.profile/1",
            "model": model,
            "context": {
                "timestamp": when,
                "command": "assay bench",
                "host": {"cpu": "Test", "cores": 4},
            },
            "total_parameters": 10,
            "total_macs": 20,
            "total_operators": 2,
            "latency": {"mean": p50, "p50": p50, "p95": p50, "runs": 3, "samples_ms": [p50] * 3},
            "configurations": [{"batch": 1, "precision": "fp32", "runs": 3}],
        }
    )


def model_bytes() -> bytes:
    with open(os.path.join(root, "tests/models/resnet18.onnx"), "rb") as f:
        return f.read()


def finish() -> int:
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0
