"""Whether a file keeps the rules of the Trace Event Format (JSON object form), as Perfetto and
Chrome read it: every event has ph, pid, tid and name; times are numbers of microseconds, not
negative; complete events ("X") have a duration and nest within their thread; counters ("C") have
numbers for arguments; metadata ("M") are of the kinds that exist and name every process that has
events.
usage: check_trace.py FILE"""
import json
import sys


def number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0


def check_event(e):
    assert isinstance(e.get("name"), str), e
    assert isinstance(e.get("pid"), int) and isinstance(e.get("tid"), int), e
    kind = e.get("ph")
    assert kind in ("X", "C", "M"), e
    if kind == "M":
        assert e["name"] in ("process_name", "thread_name"), e
        assert isinstance(e["args"]["name"], str), e
        return
    assert number(e.get("ts")), e
    if kind == "X":
        assert number(e.get("dur")) and isinstance(e.get("cat"), str), e
    else:
        assert e["args"] and all(number(v) for v in e["args"].values()), e


def check_nesting(slices):
    """Slices of one thread: each lies within the one that is open, or behind it. Rounding is 1
    ns."""
    open_ends = []
    for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= begin + 0.0011:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + 0.01, (begin, end, open_ends[-1])
        open_ends.append(end)


def main(path):
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert trace["otherData"]["layer_times"]
    events = trace["traceEvents"]
    for e in events:
        check_event(e)
    named = {e["pid"] for e in events if e["name"] == "process_name"}
    assert {e["pid"] for e in events} == named
    threads = {}
    for e in events:
        if e["ph"] == "X":
            threads.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    for slices in threads.values():
        check_nesting(slices)
    count = {k: sum(e["ph"] == k for e in events) for k in "MXC"}
    print("trace: %(M)d names, %(X)d slices, %(C)d counts" % count)


main(sys.argv[1])
