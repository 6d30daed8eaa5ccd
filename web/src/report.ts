// What documents make which page: one profile is its report; several are a comparison with each one's report
// a choice away; pipelines alike; anything else is shown field by field.
import { h } from "./dom";
import { shell, type Page } from "./shell";
import type { Document, Envelope, Profile, Shown, View } from "./types";
import { select } from "./ui";
import { compareSections, labels } from "./views/compare";
import { documentSections } from "./views/document";
import { pipelineSections, pipelinesSections } from "./views/pipeline";
import { profileSections, profileUnder } from "./views/profile";

export const isProfile = (d: Document): d is Profile =>
    typeof d?.schema === "string"
        ? d.schema.startsWith("assay.profile/")
        : Array.isArray(d?.layers) && "model" in d && !("models" in d);
const isPipeline = (d: Document): boolean => String(d?.schema ?? "").startsWith("assay.pipeline/");
const isComparison = (d: Document): boolean =>
    String(d?.schema ?? "").startsWith("assay.comparison/");

// A run over several pipelines is one document with a list.
function flatten(list: Document[]): Document[] {
    return list.flatMap((d) =>
        String(d?.schema ?? "").startsWith("assay.pipelines/") ||
        (isPipeline(d) && Array.isArray(d.pipelines))
            ? (d.pipelines ?? [])
            : [d],
    );
}

// The views that came with documents.
const views = new WeakMap<Document, View>();

export function pageOf(d: Document, shown: Shown): Page {
    if (isProfile(d)) d.model = String(d.model ?? "unnamed"); // everything below may count on a name
    if (isProfile(d))
        return { title: d.model, under: profileUnder(d), sections: profileSections(d, shown) };
    if (isPipeline(d))
        return {
            title: String(d.title ?? d.model),
            under:
                d.kind === "language"
                    ? `${d.family ?? ""} · ${d.prompt_tokens} prompt tokens, ${d.generate} generated, batch ${d.batch}`
                    : `${d.width}×${d.height} · ${d.num_inference_steps} steps · guidance ${d.guidance_scale}`,
            sections: pipelineSections(d, shown),
        };
    const view = views.get(d);
    return {
        title: view?.title || String(d?.model ?? d?.schema ?? "Result"),
        under: view?.under,
        sections: documentSections(d ?? {}, view, shown),
    };
}

// Several at once: an overview, and each by itself.
export function pageOfMany(
    list: Document[],
    comparison: Document | undefined,
    shown: Shown,
    go: (page: Page) => void,
): Page {
    const profiles = list.filter(isProfile);
    profiles.forEach((p) => {
        p.model = String(p.model ?? "unnamed");
    });
    const pipelines = list.filter(isPipeline);
    const names =
        profiles.length === list.length
            ? labels(profiles)
            : list.map((d, i) => String(d.title ?? d.model ?? `result ${i + 1}`));
    const chooser = (now: string) =>
        select(
            "Show",
            [
                { id: "all", text: "side by side" },
                ...names.map((n, i) => ({ id: String(i), text: n })),
            ],
            now,
            (id) => {
                go(
                    id === "all"
                        ? overview()
                        : { ...pageOf(list[Number(id)], shown), actions: chooser(id) },
                );
                scrollTo(0, 0);
            },
        );
    const overview = (): Page => ({
        title:
            new Set(list.map((d) => d.model)).size === 1
                ? `${list[0].model}: ${names.length} results`
                : names.length > 3
                  ? `${names.length} results`
                  : names.join(", "),
        under: `${names.length} results side by side; ratios are to the first`,
        actions: chooser("all"),
        sections: [
            ...(profiles.length > 1 ? compareSections(profiles, comparison, shown) : []),
            ...(pipelines.length > 1 ? pipelinesSections(pipelines, shown) : []),
            ...(profiles.length < 2 && pipelines.length < 2
                ? list.flatMap((d) => pageOf(d, shown).sections)
                : []),
        ],
    });
    return overview();
}

export function startReport(app: HTMLElement, envelope: Envelope): void {
    const shown = { graphs: envelope.graphs !== false, details: envelope.details !== false };
    const frame = shell(envelope.tool);
    app.replaceChildren(frame.root);
    envelope.documents.forEach((d, i) => {
        const v = envelope.views?.[i];
        if (v && d) views.set(d, v);
    });
    const all = flatten(envelope.documents);
    const comparison = all.find(isComparison);
    const list = all.length > 1 ? all.filter((d) => !isComparison(d)) : all;
    if (!list.length)
        frame.show({
            title: "Nothing to show",
            sections: [h("p", null, "This report was written without a result.")],
        });
    else
        frame.show(
            list.length > 1
                ? pageOfMany(list, comparison, shown, frame.show)
                : pageOf(list[0], shown),
        );
}
