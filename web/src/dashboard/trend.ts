// A metric over the records of a model.
import { api, Failure, modelNames } from "../api";
import { h } from "../dom";
import * as f from "../format";
import type { Page } from "../shell";
import type { Trend } from "../types";
import { banner, cards, code, empty, section, select } from "../ui";
import { changesTable, formatOf, metrics, trendChart } from "../views/trend";
import { goTo } from "./links";

const go = (model: string, metric: string): void =>
    goTo(`trend/${encodeURIComponent(model)}/${encodeURIComponent(metric)}`);

function controls(names: string[], model: string, metric: string): HTMLElement {
    const models = [...new Set([model, ...names])].filter(Boolean);
    const options = models.map((n) => ({ id: n, text: f.clip(n, 50) }));
    const known = metrics.some((m) => m.id === metric);
    const kinds = known ? metrics : [...metrics, { id: metric, text: metric }];
    return h(
        "div",
        { class: "controls card" },
        select("Model", options, model, (m) => go(m, metric)),
        select("Metric", kinds, metric, (k) => go(model, k)),
    );
}

function figures(t: Trend, points: { value: number }[]): HTMLElement {
    const show = formatOf(t);
    const last = points[points.length - 1].value;
    const median = f.isNumber(t.median) && t.median ? t.median : null;
    return cards([
        { name: "Records", value: f.whole(points.length) },
        { name: "Median", value: show(t.median) },
        {
            name: "Latest",
            value: show(last),
            note: median !== null && `${f.ratio(last / median)} the median`,
        },
        { name: "Changes", value: f.whole(t.change_points?.length ?? 0) },
    ]);
}

function trendOf(model: string, t: Trend): HTMLElement {
    const points = t.points ?? [];
    if (!points.length)
        return empty(
            "No records with this metric",
            h("p", null, "Choose another metric or model."),
        );
    return section(
        "trend-section",
        model,
        figures(t, points),
        trendChart(t, (id) => goTo(`record/${id}`)),
        changesTable(t),
    );
}

const nothing = (): HTMLElement =>
    empty(
        "Nothing has been saved yet",
        h("p", null, "A trend needs records of a model: ", code("assay bench resnet18 --save")),
    );

// The metric that was asked for; where no record has it, the main one of the records and a
// sentence.
async function availableTrend(model: string, metric: string): Promise<[Trend, HTMLElement | null]> {
    try {
        return [await api.trend(model, metric), null];
    } catch (error) {
        if (!metric || (error instanceof Failure && error.status !== 400)) throw error;
        const t = await api.trend(model);
        const said = error instanceof Error ? error.message : "";
        return [t, banner("fair", `Shown: ${t.title}. ${said}`)];
    }
}

export async function trendPage(model: string, metric: string): Promise<Page> {
    const names = await modelNames();
    const now = model || names[0] || "";
    if (!now) return { title: "Trends", nav: false, sections: [nothing()] };
    const [trend, said] = await availableTrend(now, metric);
    return {
        title: "Trends",
        under: "A metric over the records of a model",
        nav: false,
        sections: [controls(names, now, trend.metric), said, trendOf(now, trend)],
    };
}
