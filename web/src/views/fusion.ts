// Layers that were joined into groups: what fusing saves.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import { byteAxis, frame, itemTip, legend, rowAxis, tip, type BarSeriesOption } from "../plot";
import { palette } from "../theme";
import type { Fusion, FusionGroup, Profile, ProfilePattern } from "../types";
import { cards, chip, code, column, longTable, numbers, prose, section, type Column } from "../ui";

const groupColumns: Column<FusionGroup>[] = [
    column("Group", (g) => [
        `#${g.id ?? ""} ${g.kind ?? ""}`,
        g.critical && chip("fair", "critical"),
    ]),
    prose("Operators", (g) => f.clip((g.nodes ?? []).join(", "), 120)),
    numbers("FLOPs", (g) => f.si(g.flops)),
    numbers("Bytes", (g) => f.bytes(g.boundary_bytes)),
    numbers("F/B", (g) => f.intensity(g.arithmetic_intensity)),
    numbers("Level", (g) => f.whole(g.level)),
];
const patternColumns: Column<ProfilePattern>[] = [
    column("Pattern", (k) => k.name),
    column("Form", (k) => k.form ?? ""),
    column("Output", (k) => code(k.output ?? "")),
    numbers("Operators", (k) => f.whole(k.nodes?.length)),
    numbers("FLOPs", (k) => f.si(k.flops)),
];

interface Kind {
    kind: string;
    groups: number;
    nodes: number;
    bytes: number;
    before: number;
}

// Groups summed by their kind, the most bytes first.
function kindsOf(list: FusionGroup[]): Kind[] {
    const kinds = new Map<string, Kind>();
    for (const g of list) {
        const kind = g.kind ?? "?";
        const k = kinds.get(kind) ?? { kind, groups: 0, nodes: 0, bytes: 0, before: 0 };
        k.groups++;
        k.nodes += g.nodes?.length ?? 0;
        k.bytes += g.boundary_bytes ?? 0;
        k.before += g.memory ?? 0;
        kinds.set(kind, k);
    }
    return [...kinds.values()].sort((a, b) => b.before - a.before || b.bytes - a.bytes);
}

function totals(p: Profile, list: FusionGroup[]): HTMLElement {
    const t: Partial<Fusion> = p.fusion ?? {};
    const nodes = list.reduce((s, g) => s + (g.nodes?.length ?? 0), 0);
    const after = t.bytes_after ?? list.reduce((s, g) => s + (g.boundary_bytes ?? 0), 0);
    const before = t.bytes_before ?? p.total_memory;
    const saved =
        before && `${f.bytes(before)} unfused, ${f.percent(100 * (1 - after / before))} saved`;
    const intensity = t.intensity_after ?? (p.total_flops ?? 0) / (after || 1);
    const unfused = f.intensity(t.intensity_before ?? p.arithmetic_intensity);
    return cards([
        {
            name: "Groups",
            value: f.whole(list.length),
            note: `of ${f.whole(nodes)} operators${t.strategy ? `, strategy ${t.strategy}` : ""}`,
        },
        { name: "Bytes moved", value: f.bytes(after), note: saved || undefined },
        {
            name: "Intensity",
            value: f.intensity(intensity),
            note: `FLOPs per byte; ${unfused} unfused`,
        },
        f.isNumber(t.launches_after) && {
            name: "Launches",
            value: f.whole(t.launches_after),
            note: `${f.whole(t.launches_before)} unfused`,
        },
        f.isNumber(t.concurrency) && {
            name: "Concurrency",
            value: f.fixed(t.concurrency, 2),
            note: `${f.whole(t.critical_groups)} groups on the critical path`,
        },
    ]);
}

function kindBars(kinds: Kind[]): BarSeriesOption[] {
    const { series } = palette();
    const bar = (name: string, color: string, data: number[]): BarSeriesOption => ({
        type: "bar",
        name,
        barMaxWidth: 12,
        itemStyle: { color },
        data,
    });
    const before = bar(
        "one by one",
        series[7],
        kinds.map((k) => k.before),
    );
    const after = bar(
        "fused",
        series[0],
        kinds.map((k) => k.bytes),
    );
    return kinds.some((k) => k.before) ? [before, after] : [after];
}

function byKind(kinds: Kind[]): HTMLElement {
    return figure({
        id: "fusion-chart",
        title: "By kind of group",
        height: 70 + 34 * Math.max(kinds.length, 3),
        note: "Bytes that its operators move one by one, and fused.",
        about: "Bars of the bytes moved before and after fusing, by kind of group.",
        option: () => ({
            grid: frame(24, 36, 8),
            legend: legend(),
            xAxis: byteAxis(f.most(kinds.flatMap((k) => [k.bytes, k.before]))),
            yAxis: rowAxis(
                kinds.map((k) => k.kind),
                { axisLabel: { width: 190, overflow: "truncate", color: palette().text } },
            ),
            tooltip: itemTip((m) =>
                tip(m.name, [
                    ["Groups", f.whole(kinds[m.index].groups)],
                    ["Operators", f.whole(kinds[m.index].nodes)],
                    [m.series, f.bytes(m.value)],
                ]),
            ),
            series: kindBars(kinds),
        }),
        table: () =>
            tabulate(kinds, [
                ["Kind", (k) => k.kind],
                ["Groups", (k) => k.groups],
                ["Operators", (k) => k.nodes],
                ["Bytes one by one", (k) => f.bytes(k.before)],
                ["Bytes fused", (k) => f.bytes(k.bytes)],
            ]),
    });
}

function largestGroups(list: FusionGroup[]): HTMLElement {
    const size = (g: FusionGroup) => g.memory ?? g.boundary_bytes ?? 0;
    const largest = [...list].sort((a, b) => size(b) - size(a));
    return longTable("Groups", groupColumns, largest, { first: 15, what: "groups" });
}

export function fusionView(p: Profile, shown: Shown): HTMLElement | null {
    const list = p.groups ?? [];
    if (!list.length) return null;
    const patterns = p.patterns ?? [];
    return section(
        "fusion",
        "Fusion",
        totals(p, list),
        shown.graphs && byKind(kindsOf(list)),
        shown.details && largestGroups(list),
        shown.details &&
            patterns.length > 0 &&
            longTable("Patterns", patternColumns, patterns, { first: 10, what: "patterns" }),
    );
}
