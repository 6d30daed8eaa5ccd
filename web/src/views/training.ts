// Training: the backward pass, and what each optimiser takes.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import { byteAxis, frame, itemTip, legend, rowAxis, tip } from "../plot";
import type { Profile, ProfileOptimizer, ProfileTraining } from "../types";
import { cards, column, numbers, section, table, type Column } from "../ui";

type Part = [name: string, of: (o: ProfileOptimizer) => f.Maybe];

const columns: Column<ProfileOptimizer>[] = [
    column("Optimiser", (o) => o.name),
    numbers("With activations", (o) => f.bytes(o.total_bytes)),
];

function costs(t: ProfileTraining): HTMLElement {
    const ratio = (t.backward_flops ?? NaN) / (t.forward_flops || 1);
    return cards([
        { name: "Forward", value: f.si(t.forward_flops), note: "FLOPs" },
        {
            name: "Backward",
            value: f.si(t.backward_flops),
            note: `FLOPs, ${f.ratio(ratio)} the forward pass`,
        },
        {
            name: "Kept for the backward pass",
            value: f.bytes(t.saved_activation_bytes),
            note: "of activations",
        },
    ]);
}

function memoryByOptimizer(t: ProfileTraining, list: ProfileOptimizer[]): HTMLElement {
    const parts: Part[] = [
        ["weights", (o) => o.weights_bytes],
        ["gradients", (o) => o.gradients_bytes],
        ["optimiser states", (o) => o.states_bytes],
        ["saved activations", () => t.saved_activation_bytes],
    ];
    return figure({
        id: "training-memory",
        title: "Memory by optimiser",
        height: 280,
        about: "Stacked bars of weights, gradients, optimiser states and saved activations.",
        option: () => ({
            grid: frame(24, 40, 8),
            legend: legend(),
            xAxis: byteAxis(f.most(list.map((o) => o.total_bytes))),
            yAxis: rowAxis(list.map((o) => o.name)),
            tooltip: itemTip((m) =>
                tip(m.name, [
                    [m.series, f.bytes(m.value)],
                    ["Together", f.bytes(list[m.index].total_bytes)],
                ]),
            ),
            series: parts.map(([name, of]) => ({
                type: "bar",
                name,
                stack: "all",
                barMaxWidth: 22,
                data: list.map(of),
            })),
        }),
        table: () =>
            tabulate(list, [
                ["Optimiser", (o) => o.name],
                ["Bytes per parameter", (o) => o.bytes_per_param],
                ["Weights", (o) => f.bytes(o.weights_bytes)],
                ["Gradients", (o) => f.bytes(o.gradients_bytes)],
                ["States", (o) => f.bytes(o.states_bytes)],
                ["With activations", (o) => f.bytes(o.total_bytes)],
            ]),
    });
}

export function trainingView(p: Profile, shown: Shown): HTMLElement | null {
    const t = p.training;
    if (!t) return null;
    const list = t.optimizers ?? [];
    return section(
        "training",
        "Training",
        costs(t),
        shown.graphs && list.length > 0 && memoryByOptimizer(t, list),
        !shown.graphs && table("Optimisers", columns, list),
    );
}
