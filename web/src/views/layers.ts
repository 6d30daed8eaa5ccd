// Every layer, in a table that sorts, searches and filters.
import { h, type Child } from "../dom";
import type { Shown } from "../envelope";
import * as f from "../format";
import { grid, type GridColumn } from "../grid";
import type { Profile, ProfileLayer, Shape } from "../types";
import { facts, section, valueList } from "../ui";

// ---- columns ----

const zero = (v: number | null | undefined): number => (f.isNumber(v) ? v : 0);

interface Words {
    id: string;
    name: string;
    width: string;
    title?: string;
}
const words = (
    look: Words,
    value: (l: ProfileLayer) => string,
    text: (l: ProfileLayer) => string = value,
): GridColumn<ProfileLayer> => ({ ...look, value, text });
const figures = (
    look: Words,
    of: (l: ProfileLayer) => f.Maybe,
    show: (v: f.Maybe) => string,
): GridColumn<ProfileLayer> => ({
    ...look,
    number: true,
    value: (l) => zero(of(l)),
    text: (l) => show(of(l)),
});

const outputOf = (l: ProfileLayer): string =>
    l.output_shapes?.length ? f.shape(l.output_shapes[0]) : f.DASH;
const boundOf = (l: ProfileLayer): string =>
    l.certainty && l.certainty !== "exact"
        ? l.certainty
        : (l.bottleneck ?? "").replace("-bound", "");

const nameColumns: GridColumn<ProfileLayer>[] = [
    words({ id: "name", name: "Layer", width: "minmax(190px, 3fr)" }, (l) => l.name),
    words({ id: "type", name: "Type", width: "minmax(90px, 1fr)" }, (l) => l.type ?? ""),
];
// Digits are never cut: the column has room for the longest shape.
function outputColumn(layers: ProfileLayer[]): GridColumn<ProfileLayer> {
    const longest = layers.reduce((n, l) => Math.max(n, outputOf(l).length), 0);
    const room = Math.min(Math.max(110, 28 + 9 * longest), 320);
    return words(
        { id: "output", name: "Output", width: `minmax(${room}px, 1.3fr)` },
        (l) => f.shape(l.output_shapes?.[0]),
        outputOf,
    );
}
const parameterColumn = figures(
    {
        id: "parameters",
        name: "Params",
        title: "Parameters first used by this layer",
        width: "80px",
    },
    (l) => l.parameters,
    f.si,
);
const flopColumn = figures({ id: "flops", name: "FLOPs", width: "80px" }, (l) => l.flops, f.si);
const shareColumn = (total: number): GridColumn<ProfileLayer> =>
    figures(
        { id: "share", name: "Share", title: "Share of the model's FLOPs", width: "74px" },
        (l) => (100 * zero(l.flops)) / total,
        f.percent,
    );
const macColumn = figures({ id: "macs", name: "MACs", width: "80px" }, (l) => l.macs, f.si);
const trafficColumns: GridColumn<ProfileLayer>[] = [
    figures(
        { id: "memory", name: "Bytes", title: "Read and written", width: "100px" },
        (l) => l.memory,
        f.bytes,
    ),
    figures(
        { id: "intensity", name: "F/B", title: "FLOPs per byte", width: "66px" },
        (l) => l.arithmetic_intensity,
        f.intensity,
    ),
];
const timeColumn = figures(
    { id: "time", name: "Time", title: "Measured, of one run", width: "90px" },
    (l) => l.time_ms,
    f.ms,
);
const speedColumn = figures(
    { id: "speed", name: "GFLOP/s", width: "80px" },
    (l) => l.gflops_per_s,
    (v) => f.fixed(v, 1),
);
const roofColumn = figures(
    { id: "roof", name: "Of roof", width: "76px" },
    (l) => l.percent_of_roof,
    f.percent,
);
const liveColumn = figures(
    { id: "live", name: "Alive", title: "Live activations", width: "100px" },
    (l) => l.live_bytes,
    f.bytes,
);
const boundColumn = words(
    { id: "bound", name: "Bound", width: "88px" },
    (l) => l.bottleneck ?? "",
    boundOf,
);

// A column that would hold nothing but zeros is left out.
function columnsOf(p: Profile, layers: ProfileLayer[]): GridColumn<ProfileLayer>[] {
    const ifAny = (c: GridColumn<ProfileLayer>) =>
        layers.some((l) => c.value(l) !== 0) ? [c] : [];
    return [
        ...nameColumns,
        outputColumn(layers),
        ...ifAny(parameterColumn),
        flopColumn,
        shareColumn(p.total_flops || 1),
        ...ifAny(macColumn),
        ...trafficColumns,
        ...ifAny(timeColumn),
        ...ifAny(speedColumn),
        ...ifAny(roofColumn),
        ...ifAny(liveColumn),
        boundColumn,
    ];
}

// ---- one layer ----

function values(
    names: string[] | undefined,
    shapes: Shape[] | undefined,
    types: (string | null)[] = [],
): Child {
    if (!names?.length) return f.DASH;
    const about = (i: number) => [f.shape(shapes?.[i]), types[i] ? ` ${types[i]}` : ""];
    return valueList(names.map((name, i) => ({ name, about: about(i) })));
}

const ifMeasured = (v: f.Maybe, text: string): string | null => (f.isNumber(v) ? text : null);

function details(l: ProfileLayer): HTMLElement {
    const traffic =
        `${f.bytes(l.read_bytes)} read, ${f.bytes(l.weight_bytes)} of weights, ` +
        `${f.bytes(l.written_bytes)} written`;
    const intensity = f.intensity(l.arithmetic_intensity);
    const speed = `${f.fixed(l.gflops_per_s, 2)} GFLOP/s, ${f.fixed(l.gbytes_per_s, 2)} GB/s`;
    const backward = `${f.si(l.backward_flops)} FLOPs, ${f.bytes(l.saved_bytes)} kept for it`;
    return h(
        "div",
        null,
        h("h3", { class: "name" }, l.name),
        facts([
            ["Operator", l.op ?? l.type],
            ["Module", l.module || null],
            ["Inputs", values(l.inputs, l.input_shapes)],
            ["Outputs", values(l.outputs, l.output_shapes, l.output_types)],
            ["Parameters", f.whole(l.parameters)],
            ["FLOPs", f.whole(l.flops)],
            ["MACs", f.whole(l.macs)],
            ["Bytes", traffic],
            ["FLOPs per byte", intensity + (l.bottleneck ? `, ${l.bottleneck}` : "")],
            ["Runs", (l.times ?? 1) > 1 ? `${f.whole(l.times)} per run of the model` : null],
            ["Counted", l.certainty],
            ["Time", ifMeasured(l.time_ms, `${f.ms(l.time_ms)} ± ${f.ms(l.time_std_ms)}`)],
            ["Speed", ifMeasured(l.gflops_per_s, speed)],
            ["Backward", ifMeasured(l.backward_flops, backward)],
        ]),
    );
}

// ---- the section ----

export function layersView(p: Profile, shown: Shown): HTMLElement | null {
    const { layers } = p;
    if (!layers?.length || !shown.details) return null;
    const timed = layers.some((l) => f.isNumber(l.time_ms));
    const table = grid<ProfileLayer>({
        id: "layer-table",
        what: "layers",
        rows: layers,
        columns: columnsOf(p, layers),
        search: (l) => `${l.name} ${l.type ?? ""} ${l.op ?? ""} ${l.module ?? ""}`,
        filters: [
            { name: "Type", value: (l) => l.type ?? "" },
            { name: "Bound", value: (l) => l.bottleneck ?? "" },
            { name: "Counted", value: (l) => l.certainty ?? "" },
        ],
        sort: { column: timed ? "time" : "flops", down: true },
        details,
    });
    return section("layers", "Layers", table);
}
