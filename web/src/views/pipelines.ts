// Pipelines side by side.
import { figure, tabulate } from "../charts";
import { titleOf } from "../documents";
import type { Shown } from "../envelope";
import * as f from "../format";
import { frame, itemTip, labelText, rowAxis, tip, valueAxis } from "../plot";
import { palette } from "../theme";
import type { DiffusionPipeline, LanguagePipeline, Pipeline } from "../view_types";
import { column, numbers, section, table, type Column } from "../ui";

// What either kind may have.
type Both = Partial<Omit<DiffusionPipeline, "kind"> & Omit<LanguagePipeline, "kind">>;
const figuresOf = (p: Pipeline): Both => (p.enabled === false ? {} : p);

type Row = [name: string, of: (p: Both) => string];
const rows: Row[] = [
    ["Parameters", (p) => f.si(p.total_params)],
    ["MACs of a pass", (p) => f.si(p.macs_per_pass)],
    ["MACs of a step", (p) => f.si(p.macs_per_step)],
    ["Steps", (p) => f.whole(p.num_inference_steps)],
    ["VAE MACs", (p) => f.si(p.vae_macs)],
    ["Text encoder MACs", (p) => f.si(p.text_encoder_macs)],
    ["Prefill MACs", (p) => f.si(p.prefill?.macs)],
    ["Decode MACs", (p) => f.si(p.decode?.macs)],
    ["Total MACs", (p) => f.si(p.total_macs)],
    ["Total FLOPs", (p) => f.si(p.total_flops)],
    ["Cache", (p) => f.bytes(p.kv_cache?.bytes)],
    ["Memory to serve", (p) => f.bytes(p.memory?.serve_bytes)],
];

function sideBySide(list: Pipeline[]): HTMLElement {
    const there = rows.filter(([, of]) => list.some((p) => of(figuresOf(p)) !== f.DASH));
    const columns: Column<Row>[] = [
        column("", ([name]) => name),
        ...list.map((p) => numbers<Row>(titleOf(p), ([, of]) => of(figuresOf(p)))),
    ];
    return table("Pipelines side by side", columns, there);
}

function totalMacs(list: Pipeline[]): HTMLElement {
    const total = (p: Pipeline) => figuresOf(p).total_macs;
    return figure({
        id: "pipelines-total",
        title: "Total MACs",
        height: 70 + 40 * list.length,
        about: "Bars of the total MACs of each pipeline.",
        option: () => {
            const c = palette();
            const bar = (p: Pipeline, i: number) => ({
                value: total(p),
                itemStyle: { color: c.series[i % c.series.length] },
            });
            return {
                grid: frame(90, 8, 8),
                xAxis: valueAxis({ show: false }),
                yAxis: rowAxis(
                    list.map((p) => f.clip(titleOf(p), 28)),
                    { axisLabel: { color: c.text } },
                ),
                tooltip: itemTip((m) => tip(m.name, [["MACs", f.si(m.value)]])),
                series: [
                    {
                        type: "bar",
                        barMaxWidth: 24,
                        data: list.map(bar),
                        label: {
                            show: true,
                            position: "right",
                            color: c.text,
                            formatter: labelText((m) => f.si(m.value)),
                        },
                    },
                ],
            };
        },
        table: () =>
            tabulate(list, [
                ["Pipeline", titleOf],
                ["Total MACs", (p) => f.si(total(p))],
                ["Total FLOPs", (p) => f.si(figuresOf(p).total_flops)],
            ]),
    });
}

export function pipelinesSections(list: Pipeline[], shown: Shown): (HTMLElement | null)[] {
    return [
        section("comparison", "Side by side", sideBySide(list), shown.graphs && totalMacs(list)),
    ];
}
