// A profile, section by section; what it does not hold is not there.
import { h, type Child } from "../dom";
import * as f from "../format";
import type { Profile, Shown } from "../types";
import { batchesView } from "./batches";
import { latencyView } from "./latency";
import { layersView } from "./layers";
import { memoryView } from "./memory";
import {
    accountingView,
    adviceView,
    contextView,
    devicesView,
    groupsView,
    inventoryView,
    ledgerView,
    trainingView,
    watchView,
} from "./rest";
import { rooflineView } from "./roofline";
import { summary } from "./summary";
import { workView } from "./work";

const views: ((p: Profile, shown: Shown) => HTMLElement | null)[] = [
    summary,
    watchView,
    workView,
    rooflineView,
    latencyView,
    batchesView,
    ledgerView,
    memoryView,
    devicesView,
    groupsView,
    trainingView,
    inventoryView,
    adviceView,
    layersView,
    accountingView,
    contextView,
];

// A result that is not as it should be loses the section it breaks, not the page.
export function profileSections(p: Profile, shown: Shown): (HTMLElement | null)[] {
    return views.map((view) => {
        try {
            return view(p, shown);
        } catch (error) {
            return h(
                "p",
                { class: "banner fair" },
                `A part of this result could not be shown: ${error instanceof Error ? error.message : String(error)}`,
            );
        }
    });
}

export function profileUnder(p: Profile): Child {
    const c = p.config ?? {};
    const shapes = Object.entries((c.input_shapes ?? {}) as Record<string, (number | null)[]>);
    return [
        c.format,
        c.precision,
        shapes.length === 1
            ? f.shape(shapes[0][1])
            : shapes
                  .slice(0, 3)
                  .map(([n, s]) => `${n} ${f.shape(s)}`)
                  .join(", "),
        p.context?.engine
            ? `${p.context.engine.title ?? p.context.engine.name} on ${p.context.engine.device ?? "?"}`
            : null,
        f.day(p.context?.timestamp),
    ]
        .filter((x) => x && x !== f.DASH)
        .join(" · ");
}
