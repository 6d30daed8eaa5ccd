// Finding a layer of the graph by words of its name, type, operator or module.
import { clear, h } from "../dom";
import * as f from "../format";
import type { ProfileLayer } from "../types";
import { button } from "../ui";

const FOUND_MOST = 30;

interface Hits {
    first: number[];
    count: number;
}

function hitsOf(layers: ProfileLayer[], words: string[]): Hits {
    const hits: Hits = { first: [], count: 0 };
    if (!words.length) return hits;
    layers.forEach((l, i) => {
        const all = `${l.name} ${l.type ?? ""} ${l.op ?? ""} ${l.module ?? ""}`.toLowerCase();
        if (!words.every((w) => all.includes(w))) return;
        hits.count++;
        if (hits.first.length < FOUND_MOST) hits.first.push(i);
    });
    return hits;
}

export function searchBox(layers: ProfileLayer[], goTo: (layer: number) => void): HTMLElement {
    const found = h("ul", { class: "g-found", hidden: true });
    const item = (i: number) =>
        h(
            "li",
            null,
            button(layers[i].name || "?", () => choose(i), "link name-link"),
            " ",
            h("span", { class: "soft" }, layers[i].type ?? ""),
        );
    const choose = (i: number) => {
        found.hidden = true;
        goTo(i);
    };
    const find = (text: string) => {
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        const { first, count } = hitsOf(layers, words);
        const more = `and ${f.whole(count - first.length)} more`;
        clear(
            found,
            first.map(item),
            count > first.length && h("li", { class: "soft" }, more),
            words.length > 0 && !count && h("li", { class: "soft" }, "No layer matches."),
        );
        found.hidden = words.length === 0;
    };
    const press = (e: Event) => {
        if (!(e instanceof KeyboardEvent)) return;
        const first = found.querySelector("button");
        if (e.key === "Enter" && first) first.click();
        if (e.key === "ArrowDown" && first) first.focus();
        if (e.key === "Escape") find("");
    };
    const input: HTMLInputElement = h("input", {
        type: "search",
        placeholder: "Search the graph",
        "aria-label": "Search the graph",
        autocomplete: "off",
        spellcheck: "false",
        oninput: () => find(input.value),
        onkeydown: press,
    });
    return h("div", { class: "g-search" }, input, found);
}
