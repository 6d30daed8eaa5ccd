// A pipeline: diffusion by component, step and size; language models by phase and memory.
import type { Shown } from "../envelope";
import type { Pipeline } from "../view_types";
import { banner, section } from "../ui";
import { diffusionSections, diffusionUnder } from "./diffusion";
import { languageSections, languageUnder } from "./language";

export function pipelineUnder(p: Pipeline): string | undefined {
    if (p.enabled === false) return undefined;
    return p.kind === "language" ? languageUnder(p) : diffusionUnder(p);
}

export function pipelineSections(p: Pipeline, shown: Shown): (HTMLElement | null)[] {
    if (p.enabled !== false)
        return p.kind === "language" ? languageSections(p, shown) : diffusionSections(p, shown);
    const off = "Profiling was switched off for this pipeline: there is nothing to show.";
    return [section("summary", "Summary", banner("fair", off))];
}
