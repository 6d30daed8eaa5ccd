// Every layer, in a table that sorts, searches and filters.
import { h, type Child } from "../dom";
import * as f from "../format";
import { grid, type GridColumn } from "../grid";
import type { Layer, Profile, Shown } from "../types";
import { facts, section } from "../ui";

const zero = (v: number | null | undefined): number => (f.isNumber(v) ? v : 0);

function columns(p: Profile): GridColumn<Layer>[] {
    const some = (key: keyof Layer) =>
        p.layers!.some((l) => f.isNumber(l[key]) && (l[key] as number) !== 0);
    const total = p.total_flops || 1;
    const list: (GridColumn<Layer> | false)[] = [
        {
            id: "name",
            name: "Layer",
            width: "minmax(190px, 3fr)",
            value: (l) => l.name,
            text: (l) => l.name,
        },
        {
            id: "type",
            name: "Type",
            width: "minmax(90px, 1fr)",
            value: (l) => l.type ?? "",
            text: (l) => l.type ?? "",
        },
        {
            id: "output",
            name: "Output",
            width: "minmax(110px, 1.3fr)",
            value: (l) => f.shape(l.output_shapes?.[0]),
            text: (l) => (l.output_shapes?.length ? f.shape(l.output_shapes[0]) : f.DASH),
        },
        some("parameters") && {
            id: "parameters",
            name: "Params",
            title: "Parameters first used by this layer",
            number: true,
            width: "80px",
            value: (l) => zero(l.parameters),
            text: (l) => f.si(l.parameters),
        },
        {
            id: "flops",
            name: "FLOPs",
            number: true,
            width: "80px",
            value: (l) => zero(l.flops),
            text: (l) => f.si(l.flops),
        },
        {
            id: "share",
            name: "Share",
            title: "Of the model's FLOPs",
            number: true,
            width: "74px",
            value: (l) => (100 * zero(l.flops)) / total,
            text: (l) => f.percent((100 * zero(l.flops)) / total),
        },
        some("macs") && {
            id: "macs",
            name: "MACs",
            number: true,
            width: "80px",
            value: (l) => zero(l.macs),
            text: (l) => f.si(l.macs),
        },
        {
            id: "memory",
            name: "Bytes",
            title: "Read and written",
            number: true,
            width: "100px",
            value: (l) => zero(l.memory),
            text: (l) => f.bytes(l.memory),
        },
        {
            id: "intensity",
            name: "F/B",
            title: "FLOPs per byte",
            number: true,
            width: "66px",
            value: (l) => zero(l.arithmetic_intensity),
            text: (l) => f.intensity(l.arithmetic_intensity),
        },
        some("time_ms") && {
            id: "time",
            name: "Time",
            title: "Measured, of one run",
            number: true,
            width: "90px",
            value: (l) => zero(l.time_ms),
            text: (l) => f.ms(l.time_ms),
        },
        some("gflops_per_s") && {
            id: "speed",
            name: "GFLOP/s",
            number: true,
            width: "80px",
            value: (l) => zero(l.gflops_per_s),
            text: (l) => f.fixed(l.gflops_per_s, 1),
        },
        some("percent_of_roof") && {
            id: "roof",
            name: "Of roof",
            number: true,
            width: "76px",
            value: (l) => zero(l.percent_of_roof),
            text: (l) => f.percent(l.percent_of_roof),
        },
        some("live_bytes") && {
            id: "live",
            name: "Alive",
            title: "Activations alive while it runs",
            number: true,
            width: "100px",
            value: (l) => zero(l.live_bytes),
            text: (l) => f.bytes(l.live_bytes),
        },
        {
            id: "bound",
            name: "Bound",
            width: "88px",
            value: (l) => l.bottleneck ?? "",
            text: (l) =>
                l.certainty && l.certainty !== "exact"
                    ? l.certainty
                    : (l.bottleneck ?? "").replace("-bound", ""),
        },
    ];
    return list.filter((c): c is GridColumn<Layer> => c !== false);
}

function values(
    names: string[] | undefined,
    shapes: Layer["input_shapes"],
    types?: (string | null)[],
): Child {
    if (!names?.length) return f.DASH;
    return h(
        "ul",
        { class: "values" },
        names.map((n, i) =>
            h(
                "li",
                null,
                h("code", null, n),
                " ",
                h(
                    "span",
                    { class: "soft" },
                    f.shape(shapes?.[i]),
                    types?.[i] ? ` ${types[i]}` : "",
                ),
            ),
        ),
    );
}

function details(l: Layer): HTMLElement {
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
            [
                "Bytes",
                `${f.bytes(l.read_bytes)} read, ${f.bytes(l.weight_bytes)} of weights, ${f.bytes(l.written_bytes)} written`,
            ],
            [
                "FLOPs per byte",
                `${f.intensity(l.arithmetic_intensity)}${l.bottleneck ? `, ${l.bottleneck}` : ""}`,
            ],
            ["Runs", (l.times ?? 1) > 1 ? `${f.whole(l.times)} per run of the model` : null],
            ["Counted", l.certainty],
            ["Time", f.isNumber(l.time_ms) ? `${f.ms(l.time_ms)} ± ${f.ms(l.time_std_ms)}` : null],
            [
                "Speed",
                f.isNumber(l.gflops_per_s)
                    ? `${f.fixed(l.gflops_per_s, 2)} GFLOP/s, ${f.fixed(l.gbytes_per_s, 2)} GB/s`
                    : null,
            ],
            [
                "Backward",
                f.isNumber(l.backward_flops)
                    ? `${f.si(l.backward_flops)} FLOPs, ${f.bytes(l.saved_bytes)} kept for it`
                    : null,
            ],
        ]),
    );
}

export function layersView(p: Profile, shown: Shown): HTMLElement | null {
    if (!p.layers?.length || !shown.details) return null;
    const timed = p.layers.some((l) => f.isNumber(l.time_ms));
    return section(
        "layers",
        "Layers",
        grid<Layer>({
            id: "layer-table",
            what: "layers",
            rows: p.layers,
            columns: columns(p),
            search: (l) => `${l.name} ${l.type ?? ""} ${l.op ?? ""} ${l.module ?? ""}`,
            filters: [
                { name: "Type", value: (l) => l.type ?? "" },
                { name: "Bound", value: (l) => l.bottleneck ?? "" },
                { name: "Counted", value: (l) => l.certainty ?? "" },
            ],
            sort: { column: timed ? "time" : "flops", down: true },
            details,
        }),
    );
}
