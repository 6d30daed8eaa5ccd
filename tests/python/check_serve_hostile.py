"""assay-serve among strangers: clients that mean harm, or a machine that misbehaves.

    check_serve_hostile.py ASSAY [--sanitized] [--clock LIBRARY]

LIBRARY is tests/support/fake_clock.c, to preload. Standard library only."""
import socket
import sys

from serving import PATIENCE_S, Server, check, finish, option_value


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


check_clock()
sys.exit(finish())
