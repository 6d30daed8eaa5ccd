// What documents make which page: one profile is its report; several are a comparison with each
// one's report a choice away; pipelines alike; anything else is shown field by field.
import { flatten, isComparison, isPipeline, isProfile, nameOf, type Document } from "./documents";
import { h } from "./dom";
import { shownOf, type Envelope, type Shown, type View } from "./envelope";
import { shell, type Page } from "./shell";
import type { Comparison } from "./view_types";
import { select } from "./ui";
import { compareSections, labels } from "./views/compare";
import { documentSections } from "./views/document";
import { pipelinesSections } from "./views/pipelines";
import { profileSections, profileUnder } from "./views/profile";

// The views that came with documents.
const views = new WeakMap<Document, View>();

export function keepView(d: Document, view: View | null | undefined): Document {
    if (view) views.set(d, view);
    flatten([d]).forEach((inner, i) => view?.inner?.[i] && views.set(inner, view.inner[i]));
    return d;
}

export function pageOf(d: Document, shown: Shown): Page {
    const view = views.get(d);
    if (isProfile(d))
        return {
            title: nameOf(d),
            under: profileUnder(d),
            sections: profileSections(d, view, shown),
        };
    return {
        title: String(d.title ?? (view?.title || (d.model ?? d.schema ?? "Result"))),
        under: view?.under,
        sections: documentSections(d, view, shown),
    };
}

// ---- several at once: an overview, and each by itself ----

function namesOf(list: Document[]): string[] {
    if (list.every(isProfile)) return labels(list);
    return list.map((d, i) => String(d.title ?? d.model ?? `result ${i + 1}`));
}

function titleOfMany(list: Document[], names: string[]): string {
    if (new Set(list.map(nameOf)).size === 1) return `${nameOf(list[0])}: ${names.length} results`;
    return names.length > 3 ? `${names.length} results` : names.join(", ");
}

function sectionsOfMany(
    list: Document[],
    comparison: Comparison | undefined,
    shown: Shown,
): Page["sections"] {
    const profiles = list.filter(isProfile);
    const pipelines = list.filter(isPipeline);
    if (profiles.length < 2 && pipelines.length < 2)
        return list.flatMap((d) => pageOf(d, shown).sections);
    return [
        ...(profiles.length > 1 ? compareSections(profiles, comparison, shown) : []),
        ...(pipelines.length > 1 ? pipelinesSections(pipelines, shown) : []),
    ];
}

export function pageOfMany(
    list: Document[],
    comparison: Comparison | undefined,
    shown: Shown,
    go: (page: Page) => void,
): Page {
    const names = namesOf(list);
    const options = [
        { id: "all", text: "side by side" },
        ...names.map((n, i) => ({ id: String(i), text: n })),
    ];
    const chooser = (now: string) =>
        select("Show", options, now, (id) => {
            const one = () => ({ ...pageOf(list[Number(id)], shown), actions: chooser(id) });
            go(id === "all" ? overview() : one());
            scrollTo(0, 0);
        });
    const overview = (): Page => ({
        title: titleOfMany(list, names),
        under: `${names.length} results side by side; ratios are to the first`,
        actions: chooser("all"),
        sections: sectionsOfMany(list, comparison, shown),
    });
    return overview();
}

// ---- the report ----

export function firstPage(documents: Document[], shown: Shown, go: (page: Page) => void): Page {
    const all = flatten(documents);
    const list = all.length > 1 ? all.filter((d) => !isComparison(d)) : all;
    if (list.length > 1) return pageOfMany(list, all.find(isComparison), shown, go);
    if (list.length === 1) return pageOf(list[0], shown);
    const text = "This report was written without a result.";
    return { title: "Nothing to show", sections: [h("p", null, text)] };
}

export function startReport(app: HTMLElement, envelope: Envelope): void {
    const frame = shell(envelope.tool);
    app.replaceChildren(frame.root);
    envelope.documents.forEach((d, i) => keepView(d, envelope.views?.[i]));
    frame.show(firstPage(envelope.documents, shownOf(envelope), frame.show));
}
