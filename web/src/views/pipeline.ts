// Charts of a pipeline: diffusion by component and size; language models by phase and memory.
import type { Pipeline } from "../view_types";
import { section } from "../ui";
import { diffusionCharts } from "./diffusion";
import { languageCharts } from "./language";

export function pipelineSection(p: Pipeline): HTMLElement | null {
    if (p.enabled === false) return null;
    const charts = p.kind === "language" ? languageCharts(p) : diffusionCharts(p);
    return section("charts", "Charts", charts);
}
