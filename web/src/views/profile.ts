// A profile, section by section; what it does not hold is not there.
import type { Child } from "../dom";
import type { Shown, View } from "../envelope";
import * as f from "../format";
import type { Config, Profile, ProfileEngine } from "../types";
import { banner } from "../ui";
import { accountingView } from "./accounting";
import { adviceView } from "./advice";
import { batchesView } from "./batches";
import { contextView } from "./context";
import { devicesView } from "./devices";
import { fusionView } from "./fusion";
import { graphView } from "./graph";
import { inventoryView } from "./inventory";
import { latencyView } from "./latency";
import { layersView } from "./layers";
import { ledgerView } from "./ledger";
import { memoryView } from "./memory";
import { rooflineView } from "./roofline";
import { startingView } from "./starting";
import { summaryView } from "./summary";
import { trainingView } from "./training";
import { warningsView } from "./warnings";
import { watchView } from "./watch";
import { workView } from "./work";

const views: ((p: Profile, shown: Shown) => HTMLElement | null)[] = [
    watchView,
    graphView,
    workView,
    rooflineView,
    latencyView,
    batchesView,
    ledgerView,
    startingView,
    memoryView,
    devicesView,
    fusionView,
    trainingView,
    inventoryView,
    adviceView,
    layersView,
    accountingView,
    contextView,
];

// A result that is not as it should be loses the section it breaks, not the page.
export function profileSections(
    p: Profile,
    view: View | undefined,
    shown: Shown,
): (HTMLElement | null)[] {
    const summary = () => summaryView(view, warningsView(p));
    return [summary, ...views].map((part) => {
        try {
            return part(p, shown);
        } catch (error) {
            const why = error instanceof Error ? error.message : String(error);
            return banner("fair", `A part of this result could not be shown: ${why}`);
        }
    });
}

function inputsOf(c: Config): string {
    const shapes = Object.entries(c.input_shapes ?? {});
    if (shapes.length === 1) return f.shape(shapes[0][1]);
    return shapes
        .slice(0, 3)
        .map(([name, s]) => `${name} ${f.shape(s)}`)
        .join(", ");
}

const engineOf = (e: ProfileEngine): string => `${e.title ?? e.name} on ${e.device ?? "?"}`;

export function profileUnder(p: Profile): Child {
    const c = p.config ?? {};
    const engine = p.context?.engine;
    const parts = [
        c.format,
        c.precision,
        inputsOf(c),
        engine && engineOf(engine),
        f.day(p.context?.timestamp),
    ];
    return parts.filter((x) => x && x !== f.DASH).join(" · ");
}
