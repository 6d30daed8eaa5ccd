"""Runs a program with a terminal for stderr and does something when a pattern has appeared there: a
handshake, so that no test has to guess how long the program needs.

    when.py PATTERN INT|FILE PROGRAM [ARGUMENT...]

INT sends SIGINT; a FILE is created. The exit code is the program's; its last line on stderr comes
out on ours."""
import os
import pty
import re
import signal
import subprocess
import sys

pattern, action, command = re.compile(sys.argv[1], re.S), sys.argv[2], sys.argv[3:]
ours, its = pty.openpty()
program = subprocess.Popen(command, stderr=its)
os.close(its)
text, done = "", False
while True:
    try:
        part = os.read(ours, 65536)
    except OSError:  # the last of them has closed it
        part = b""
    if not part:
        break
    text += part.decode(errors="replace")
    if not done and pattern.search(text):
        done = True
        if action == "INT":
            program.send_signal(signal.SIGINT)
        else:
            open(action, "w", encoding="ascii").close()
code = program.wait()
if not done:
    sys.exit(f"'{sys.argv[1]}' never appeared: {text[-2000:]}")
print(re.split(r"\r\x1b\[K|\r?\n", text.rstrip())[-1], file=sys.stderr)
sys.exit(code if code >= 0 else 128 - code)
