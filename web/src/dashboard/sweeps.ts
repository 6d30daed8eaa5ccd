// The sweeps that the server was started with: how far they are, and the report of one.
import { api, type SweepProgress } from "../api";
import { h } from "../dom";
import * as f from "../format";
import { keepView, pageOf } from "../report";
import type { Page } from "../shell";
import { code, column, empty, numbers, section, table } from "../ui";
import { link } from "./links";
import type { State } from "./state";

const progress = (s: SweepProgress): HTMLElement =>
    h("progress", { max: s.total, value: s.done, "aria-label": `${s.done} of ${s.total} tasks` });

const columns = [
    column<SweepProgress>("Sweep", (s) => link(`sweep/${s.id}`, s.name)),
    column<SweepProgress>("Progress", progress),
    numbers<SweepProgress>("Done", (s) => `${f.whole(s.done)} of ${f.whole(s.total)}`),
    numbers<SweepProgress>("Noisy", (s) => f.whole(s.noisy)),
    numbers<SweepProgress>("Missing", (s) => f.whole(s.missing)),
];

const none = (): HTMLElement =>
    empty(
        "No sweeps",
        h("p", null, "Start the server with a plan: ", code("assay serve --sweep-plan sweep.json")),
    );

export async function sweepsPage(): Promise<Page> {
    const { sweeps } = await api.sweeps();
    return {
        title: "Sweeps",
        under: "Tasks with a record in the history",
        nav: false,
        sections: [
            sweeps.length
                ? section("sweeps", "Progress", table("Sweeps", columns, sweeps))
                : none(),
        ],
    };
}

export async function sweepPage(s: State, id: number): Promise<Page> {
    const { document, view } = await api.sweep(id);
    return {
        ...pageOf(keepView(document, view), s.shown),
        actions: [link("sweeps", "All sweeps")],
    };
}
