"""What a notebook shows of a result: the summary of the page, without scripts. Every word of it is escaped: names come from files."""
from __future__ import annotations

from html import escape
from typing import Any, Iterable, List, Mapping, Sequence, Tuple

_UNITS = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BYTES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def scaled(n: Any, unit: str = "") -> str:
    """4089184256 as "4.09 G"."""
    for factor, letter in _UNITS:
        if abs(n) >= factor:
            return f"{n / factor:.2f} {letter}{unit}"
    return f"{n:g} {unit}".rstrip()


def sized(n: Any) -> str:
    for factor, letter in _BYTES:
        if n >= factor:
            return f"{n / factor:.2f} {letter}"
    return f"{n:g} B"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = "".join(f"<th style='text-align:left'>{escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{escape(str(c))}</td>" for c in row) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _profile(r: Mapping[str, Any]) -> List[str]:
    facts: List[Tuple[str, str, str]] = [
        ("Parameters", f"{r['total_parameters']:,}", scaled(r["total_parameters"])),
        ("MACs", f"{r['total_macs']:,}", scaled(r["total_macs"], "MACs")),
        ("FLOPs", f"{r['total_flops']:,}", scaled(r["total_flops"], "FLOPs")),
        ("Memory traffic", f"{r['total_memory']:,}", sized(r["total_memory"])),
        ("Operators", f"{r['total_operators']:,}", ""),
    ]
    if "memory_plan" in r:
        facts.append(("Peak memory", f"{r['memory_plan']['peak_bytes']:,}", sized(r["memory_plan"]["peak_bytes"])))
    if "latency" in r and r["latency"].get("mean") is not None:
        facts.append(("Latency", f"{r['latency']['mean']:.3f} ms", f"P95 {r['latency'].get('p95', 0):.3f} ms"))
        facts.append(("Throughput", f"{r['throughput']['samples_per_second']:.1f} samples/s", ""))
    parts = [_table(("", "", ""), facts)]
    accounting = r.get("accounting", {})
    if accounting.get("assumed") or accounting.get("unknown"):
        parts.append(f"<p>{accounting['assumed']} operators assumed, {accounting['unknown']} unknown.</p>")
    operations = r.get("operations", [])[:8]
    parts.append(_table(("type", "count", "FLOPs", "share"),
                        [(o["type"], o["count"], scaled(o["flops"]), f"{o['percent']:.1f} %") for o in operations]))
    parts += [f"<p>{escape(w.get('text', ''))} {escape(w.get('advice', '') or '')}</p>" for w in r.get("warnings", [])[:5]]
    return parts


def _pipeline(r: Mapping[str, Any]) -> List[str]:
    parts = r.get("components", [])
    rows = [(c["name"], c.get("model", ""), f"{c.get('parameters', 0):,}", c.get("calls", ""),
             scaled(c.get("total_macs", c.get("macs", 0)), "MACs"), f"{c.get('percent', 0):.2f} %") for c in parts]
    total = f"<p>{escape(scaled(r['total_macs'], 'MACs'))} in all.</p>" if "total_macs" in r else ""
    return [_table(("component", "model", "parameters", "calls", "MACs", "share"), rows), total]


def page(r: Any) -> str:
    """The summary, by what the result has; else the console's view."""
    if r.closed:
        return f"<p>{escape(repr(r))}</p>"
    if "total_parameters" in r and "operations" in r:
        parts = _profile(r)
    elif "components" in r:
        parts = _pipeline(r)
    else:
        return f"<pre>{escape(str(r))}</pre>"
    return f"<div><h4>{escape(str(r.get('model', '')))}</h4>{''.join(parts)}</div>"
