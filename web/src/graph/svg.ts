// Elements of SVG. As in dom.ts, text is always text.
import type { Attributes } from "../dom";

const SPACE = "http://www.w3.org/2000/svg";
type Part = Node | string | null | false | undefined;

export function s<K extends keyof SVGElementTagNameMap>(
    tag: K,
    attributes: Attributes,
    ...children: Part[]
): SVGElementTagNameMap[K] {
    const e = document.createElementNS(SPACE, tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") e.addEventListener(key.slice(2), value);
        else e.setAttribute(key, value === true ? "" : String(value));
    }
    for (const c of children) if (c) e.append(c);
    return e;
}
