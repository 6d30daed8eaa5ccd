"""assay-serve among strangers: clients that mean harm, or a machine that misbehaves.

    check_serve_hostile.py ASSAY [--sanitized] [--clock LIBRARY]

LIBRARY is tests/support/fake_clock.c, to preload. Standard library only."""
import base64
import json
import os
import select
import socket
import sqlite3
import sys
import time
from typing import Dict, List, Optional

from serving import (
    NEVER_S,
    PATIENCE_S,
    Server,
    check,
    finish,
    folder,
    model_bytes,
    option_value,
    result,
    sanitized,
)


def begin_request(s: Server) -> socket.socket:
    """A client whose request never ends."""
    c = socket.create_connection(("127.0.0.1", s.port), timeout=PATIENCE_S)
    c.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n".encode())
    return c


def check_clock() -> None:
    """A clock that is set back does not switch the time limits off."""
    library = option_value("--clock")
    if not library:
        return
    s = Server("--timeout", "1", db="clock.db", variables={"LD_PRELOAD": library})
    with begin_request(s) as c:
        try:
            got = c.recv(4096)
        except TimeoutError:
            got = b"nothing"
    check("408 whatever the clock says", got.startswith(b"HTTP/1.1 408"), got)
    check("ends whatever the clock says", s.stop() == 0)


def refused_heads(host: bytes) -> Dict[str, bytes]:
    """What two programs could read in two ways. Each is a whole request, to follow another."""
    line = b"GET /health HTTP/1.1\r\n"
    return {
        "a blank before the colon": line + host + b"Transfer-Encoding : chunked\r\n\r\n",
        "a tab before the colon": line + host + b"Transfer-Encoding\t: chunked\r\n\r\n",
        "NUL in a path": b"GET /health%00x HTTP/1.1\r\n" + host + b"\r\n",
        "NUL in a query": b"GET /health?model=a%00b HTTP/1.1\r\n" + host + b"\r\n",
        "a name of nothing": line + host + b": x\r\n\r\n",
        "a line that goes on": line + host + b"X: a\r\n b\r\n\r\n",
        "a bare LF": line + b"X: a\n" + host + b"\r\n",
        "only bare LFs": (line + host + b"\r\n").replace(b"\r", b""),
        "a bare CR": line + b"X: a\rb\r\n" + host + b"\r\n",
        "a raw NUL in a path": b"GET /health\0x HTTP/1.1\r\n" + host + b"\r\n",
        "a NUL in a field": line + b"X: a\0b\r\n" + host + b"\r\n",
    }


LATER = 4  # of them are refused also behind another request of the same connection


def second_status(s: Server, first: bytes, second: bytes) -> Optional[int]:
    """The status of the second request on a connection."""
    with socket.create_connection(("127.0.0.1", s.port), timeout=PATIENCE_S) as c:
        c.sendall(first)
        replies = c.makefile("rb")
        for n in (1, 2):
            status = replies.readline().split(b" ")
            length = 0
            while (field := replies.readline()) not in (b"\r\n", b""):
                if field.lower().startswith(b"content-length:"):
                    length = int(field.split(b":")[1])
            replies.read(length)
            if n == 1:
                c.sendall(second)
    return int(status[1]) if len(status) > 1 else None


def check_heads() -> None:
    s = Server("--timeout", str(NEVER_S), db="heads.db")
    host = f"Host: 127.0.0.1:{s.port}\r\n".encode()
    good = b"GET /health HTTP/1.1\r\n" + host + b"X:\ta  b \r\n\r\n"
    check("blanks in a field", s.status_of(good) == 200)
    check("the next request", second_status(s, good, good) == 200)
    heads = refused_heads(host)
    for name, head in heads.items():
        check(f"400 of {name}", s.status_of(head) == 400, s.raw(head)[:60])
    for name, head in list(heads.items())[:LATER]:
        status = second_status(s, good, head)
        check(f"400 of {name} in the next request", status == 400, status)
    check("ends after bad heads", s.stop() == 0)


def said_at_start(*options: str, variables: Optional[Dict[str, str]] = None) -> str:
    s = Server(*options, db="token.db", variables=variables)
    check(f"ends with {options}", s.stop() == 0)
    assert s.process.stderr
    return s.process.stderr.read()


def check_token_warning() -> None:
    """A token on the command line is in the process list."""
    token = "correct-horse-battery-staple"
    path = os.path.join(folder, "token")
    with open(path, "w") as f:
        f.write(token + "\n")
    check("warns of --token", "--token-file" in said_at_start("--token", token))
    check("no warning of --token auto", not said_at_start("--token", "auto"))
    check("no warning of --token-file", not said_at_start("--token-file", path))
    check("no warning of ASSAY_TOKEN", not said_at_start(variables={"ASSAY_TOKEN": token}))


def add_rows(db: str, names: List[str]) -> None:
    """Records as versions without limits on names stored them."""
    with sqlite3.connect(os.path.join(folder, db)) as c:
        c.executemany(
            "INSERT INTO runs(model, created, kind) VALUES(CAST(? AS TEXT), 0, 'profile')",
            [(name,) for name in names],
        )
        c.executemany(
            "INSERT INTO tallies VALUES('model', CAST(? AS TEXT), '', 1)",
            [(name,) for name in names],
        )
    c.close()


def check_names() -> None:
    """Names of models: how long, which characters, how many."""
    s = Server("--timeout", str(NEVER_S), db="names.db")

    def post(name: str) -> int:
        return s.ask("POST", "/api/v1/records", result(model=name))[0]

    def samples() -> Dict[str, str]:
        lines = s.ask("GET", "/metrics")[2].decode().split("\n")
        series = [line.rsplit(" ", 1) for line in lines if line and line[0] != "#"]
        check("no series twice", len({name for name, _ in series}) == len(series))
        return {name: value for name, value in series}

    check("a long name is kept", post("n" * 4096) == 201)
    check("a longer name is refused", post("n" * 4097) == 422)
    check("a name with a NUL is refused", post("net\0x") == 400)
    check("no model is left out", samples()["assay_models_left_out"] == "0")
    add_rows("names.db", ["net", "net\0x", "net\0y"])
    check("names of another", samples()["assay_models_left_out"] == "2", samples())
    add_rows("names.db", [f"many{i}" for i in range(1100)])
    counts = samples()
    check("models", counts["assay_models"] == "1104", counts["assay_models"])
    shown = sum(name.startswith("assay_records{") for name in counts)
    check("models left out", int(counts["assay_models_left_out"]) == 1104 - shown > 100, shown)
    check("ends after many names", s.stop() == 0)


def connect(s: Server, data: bytes = b"", from_address: str = "127.0.0.1") -> socket.socket:
    c = socket.create_connection(
        ("127.0.0.1", s.port), timeout=PATIENCE_S, source_address=(from_address, 0)
    )
    c.sendall(data)
    return c


def is_answered(c: socket.socket) -> bool:
    return c.recv(4096).startswith(b"HTTP/1.1 200")


def close_all(clients: List[socket.socket]) -> None:
    for c in clients:
        c.close()


def check_idle() -> None:
    """Clients that say nothing, before their first request or after it, block nobody."""
    s = Server("--timeout", str(NEVER_S), db="idle.db")
    health = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n\r\n".encode()
    silent = [connect(s) for _ in range(480)]
    check("health beside 480 silent clients", s.ask("GET", "/health")[0] == 200)
    silent += [connect(s, b"GET /health HT") for _ in range(120)]
    check("health beside 600 silent clients", s.ask("GET", "/health")[0] == 200)
    check("the oldest is told", silent[0].recv(4096).startswith(b"HTTP/1.1 503"))
    close_all(silent)
    idle = []
    for _ in range(140):
        idle.append(connect(s, health))
        check("served beside idle clients", is_answered(idle[-1]))
    close_all(idle)
    check("ends after silent clients", s.stop() == 0)


def check_slots() -> None:
    """One address does not take all places, and some are for those with the token."""
    token = {"ASSAY_TOKEN": "correct-horse-battery-staple"}
    s = Server("--timeout", str(NEVER_S), db="slots.db", variables=token)
    host = f"Host: 127.0.0.1:{s.port}\r\n".encode()
    bearer = f"Authorization: Bearer {token['ASSAY_TOKEN']}\r\n".encode()
    health = b"GET /health HTTP/1.1\r\n" + host
    waits = b"POST /api/v1/records HTTP/1.1\r\n" + host + bearer + b"Content-Length: 9\r\n\r\n"
    slow = [connect(s, waits) for _ in range(200)]
    other = connect(s, health + b"\r\n", "127.0.0.2")
    check("another address is served", is_answered(other))
    other.close()
    slow += [connect(s, waits, "127.0.0.2") for _ in range(16)]
    stranger = connect(s, health + b"\r\n", "127.0.0.3")
    friend = connect(s, health + bearer + b"\r\n", "127.0.0.4")
    check("a place for the token", is_answered(friend))
    check("no place without it", not select.select([stranger], [], [], 0)[0])
    close_all(slow)
    check("places come free", is_answered(stranger))
    close_all([stranger, friend])
    check("ends after slow clients", s.stop() == 0)


def incompressible(size: int) -> str:
    """Text that is stored as it is: hexadecimal digits would be halved."""
    return base64.b85encode(os.urandom(size * 4 // 5)).decode()


def check_replies() -> None:
    """Large replies that nobody reads have a budget, and so has the work of a request."""
    s = Server("--timeout", str(NEVER_S), db="replies.db")
    size = 24 << 20

    def add(note: str) -> int:
        body = json.dumps({**json.loads(result()), "note": note})
        return int(json.loads(s.ask("POST", "/api/v1/records", body)[2])["id"])

    def ask(record: int) -> bytes:
        head = f"GET /api/v1/records/{record} HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n\r\n"
        return head.encode()

    def statuses(clients: List[socket.socket]) -> List[bytes]:
        return [c.recv(16).split(b" ")[1] for c in clients]

    plain, packed = add(incompressible(size)), add("x" * size)
    lazy = [connect(s, ask(plain)) for _ in range(20)]
    got = statuses(lazy)
    check("replies in memory", 0 < got.count(b"200") < len(lazy), got)
    check("the others are told", got.count(b"503") == len(lazy) - got.count(b"200"), got)
    check("small replies go on", s.ask("GET", "/api/v1/records")[0] == 200)
    close_all(lazy)
    # Streamed: what is in memory is the stored form.
    lazy = [connect(s, ask(packed)) for _ in range(40)]
    got = statuses(lazy)
    check("replies are streamed", got.count(b"200") == len(lazy), got)
    held = s.resident() * 1024
    check("in little memory", sanitized or held < len(lazy) * size // 2, held)
    close_all(lazy)
    text = s.ask("GET", f"/api/v1/records/{packed}")[2]
    check("a streamed reply", json.loads(text)["note"] == "x" * size)
    status = s.ask("GET", f"/api/v1/compare?ids={plain},{packed},{plain}")[0]
    check("a comparison that is too large", status == 422, status)
    check("ends after large replies", s.stop() == 0)


def check_fleet_share() -> None:
    """A question about all machines takes a quarter of the work, whatever the history holds."""
    most = 8 << 20
    s = Server("--timeout", str(NEVER_S), "--raise-limit", f"serve-work={most}", db="share.db")

    def peak() -> int:
        lines = s.ask("GET", "/metrics")[2].decode().split("\n")
        return int(next(x.split()[1] for x in lines if x.startswith("assay_serve_work_peak_bytes")))

    check("no work yet", peak() == 0, peak())
    for path, wanted in (("changes", 200), ("drift", 200), ("cheapest?model=net", 400)):
        status = s.ask("GET", f"/api/v1/{path}")[0]
        check(f"{path} is answered", status == wanted, status)
        check(f"a quarter of the work for {path}", peak() == most // 4, peak())
    check("ends after questions", s.stop() == 0)


def check_slow_readers() -> None:
    """A client that does not read its reply is closed, long before the deadline of a large one."""
    s = Server("--timeout", "1", db="slow.db")
    size = 24 << 20
    body = json.dumps({**json.loads(result()), "note": "x" * size})
    record = json.loads(s.ask("POST", "/api/v1/records", body)[2])["id"]
    c = connect(s)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    c.sendall(f"GET /api/v1/records/{record} HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n\r\n".encode())
    check("begins", c.recv(16).startswith(b"HTTP/1.1 200"))
    until = time.monotonic() + PATIENCE_S
    active = b"assay_serve_requests 1\n"  # the request for it
    while active not in s.ask("GET", "/metrics")[2] and time.monotonic() < until:
        continue
    check("a client that does not read", time.monotonic() < until)
    got = len(b"".join(iter(lambda: c.recv(1 << 20), b"")))
    check("has part of the reply", got < size, got)
    text = s.ask("GET", f"/api/v1/records/{record}")[2]
    check("one that reads has all", json.loads(text)["note"] == "x" * size)
    check("ends after slow readers", s.stop() == 0)


def check_every_head() -> None:
    """Heads that two programs could read in two ways are refused in later requests, too."""
    s = Server("--timeout", str(NEVER_S), db="later.db")
    host = f"Host: 127.0.0.1:{s.port}\r\n".encode()
    good = b"GET /health HTTP/1.1\r\n" + host + b"\r\n"
    post = b"POST /api/v1/records HTTP/1.1\r\n" + host + b"Content-Length: 2\r\n\r\n{}"
    for what, bad in {
        "obs-fold": b"GET /health HTTP/1.1\r\n" + host + b"A: b\r\n c\r\n\r\n",
        "a bare LF": b"GET /health HTTP/1.1\n" + host + b"\r\n",
        "a bare LF at the end": b"GET /health HTTP/1.1\r\n" + host + b"\n",
        "a blank before the colon": b"GET /health HTTP/1.1\r\n" + host + b"A : b\r\n\r\n",
        "a control character": b"GET /health HTTP/1.1\r\n" + host + b"A: \x01\r\n\r\n",
    }.items():
        for before in (good, good * 3, post):
            for at_once in (True, False):
                c = connect(s, before if not at_once else before + bad)
                if not at_once:
                    c.recv(1)
                    c.sendall(bad)
                c.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: c.recv(65536), b""))
                c.close()
                told = answer.count(b"not a valid HTTP request") == 1
                served = answer.count(b'"ok"') == before.count(b"/health")
                check(f"{what} after {len(before)} bytes", told and served, answer)
    c = connect(s)
    for byte in good + good:  # as slowly as it can come
        c.sendall(bytes([byte]))
    c.shutdown(socket.SHUT_WR)
    answer = b"".join(iter(lambda: c.recv(65536), b""))
    check("two requests by bytes", answer.count(b'"ok"') == 2, answer)
    check("ends after later heads", s.stop() == 0)


def check_worker() -> None:
    """The process that analyses a stranger's model inherits nothing of the environment."""
    if sanitized:  # which has its options there
        return
    s = Server("--timeout", str(NEVER_S), db="worker.db", variables={"SOURCE_DATE_EPOCH": "0"})
    status, _, text = s.ask("POST", "/api/v1/profile?name=x.onnx", model_bytes())
    stamp = json.loads(text)["context"]["timestamp"] if status == 200 else text
    check("an empty environment", status == 200 and not stamp.startswith("1970"), stamp)
    check("ends after a model", s.stop() == 0)


check_clock()
check_heads()
check_worker()
check_replies()
check_fleet_share()
check_slow_readers()
check_every_head()
check_idle()
check_slots()
check_names()
check_token_warning()
sys.exit(finish())
