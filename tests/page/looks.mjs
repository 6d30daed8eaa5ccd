// What can be checked of the looks of a page without eyes, at three widths and in both themes:
// nothing is wider than the window or than what contains it, no text covers another, no value is
// cut, the last row of cards is never a single card, axe finds no contrast too low, and the browser
// does not complain.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { axe, noHoles, noOverflow, quiet, scrollThrough } from "./lib.mjs";

const widths = [390, 1280, 1920];
const schemes = ["light", "dark"];

// In the page: a list of sentences.
function findFaults() {
    const faults = [];
    const shown = (e) => {
        const s = getComputedStyle(e);
        return s.visibility === "visible" && Number(s.opacity) > 0 && e.checkVisibility();
    };
    const name = (e) =>
        `${e.tagName.toLowerCase()}${e.id ? `#${e.id}` : ""}` +
        `.${(e.getAttribute("class") ?? "").split(" ").join(".")} ` +
        `"${(e.textContent ?? "").trim().slice(0, 40)}"`;
    // Hidden by an ancestor that scrolls or cuts.
    const clipped = (e, rect) => {
        let { left, top, right, bottom } = rect;
        for (let p = e; p && p !== document.documentElement; p = p.parentElement) {
            const s = getComputedStyle(p);
            if (s.clipPath !== "none" && /inset\(50%|rect/.test(s.clipPath)) return null;
            if (s.overflowX === "visible" && s.overflowY === "visible") continue;
            const r = p.getBoundingClientRect();
            left = Math.max(left, r.left);
            right = Math.min(right, r.right);
            top = Math.max(top, r.top);
            bottom = Math.min(bottom, r.bottom);
        }
        return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : null;
    };

    const scrolls = (e) =>
        e !== document.body &&
        (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));

    // ---- wider than what contains it ----
    for (const e of document.querySelectorAll("main *, header *")) {
        if (!(e instanceof HTMLElement) || !shown(e) || e.clientWidth < 2) continue;
        const s = getComputedStyle(e);
        if (s.display.startsWith("inline") && s.display === "inline") continue;
        const over = e.scrollWidth - e.clientWidth;
        if (over <= 1 || e.closest(".hidden")) continue;
        const cuts = ["hidden", "clip"].includes(s.overflowX);
        // Words may end in "…", digits never.
        const ends = s.textOverflow === "ellipsis" && !/^[\d.,×\s]+$/.test(e.textContent);
        if (cuts && !ends && e.textContent.trim() && !e.querySelector("svg"))
            faults.push(`cut by ${over} px: ${name(e)}`);
        else if (s.overflowX === "visible" && !scrolls(e))
            faults.push(`${over} px too wide: ${name(e)}`);
    }

    // ---- texts on each other ----
    const boxes = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const e = node.parentElement;
        if (!node.data.trim() || !e || /^(script|style|title|option)$/i.test(e.tagName)) continue;
        if (!shown(e) || e.closest(".hidden")) continue;
        if (/^\d+\/\d+$/.test(node.data)) continue; // ECharts' pages of a legend
        const range = document.createRange();
        range.selectNodeContents(node);
        // A short word of a table is in one line.
        const word = /^[^\s\-/.]{1,12}$/.test(node.data.trim()) && e.closest("th, td");
        const tops = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
        if (word && tops.size > 1) faults.push(`a word is broken: ${name(e)}`);
        for (const r of range.getClientRects()) {
            const rect = clipped(e, r);
            if (rect) boxes.push({ ...rect, e, node, text: node.data.trim() });
        }
    }
    const fixed = (e) => {
        for (let p = e; p; p = p.parentElement)
            if (["fixed", "sticky"].includes(getComputedStyle(p).position)) return true;
        return false;
    };
    boxes.sort((a, b) => a.top - b.top);
    for (let i = 0; i < boxes.length; i++)
        for (let k = i + 1; k < boxes.length && boxes[k].top < boxes[i].bottom; k++) {
            const [a, b] = [boxes[i], boxes[k]];
            const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (w <= 2 || h <= 0 || a.node === b.node) continue;
            const small = Math.min(
                (a.right - a.left) * (a.bottom - a.top),
                (b.right - b.left) * (b.bottom - b.top),
            );
            if ((w * h) / small < 0.25 || fixed(a.e) || fixed(b.e)) continue;
            const at = a.e.closest("section")?.id ?? "";
            faults.push(`"${a.text.slice(0, 40)}" and "${b.text.slice(0, 40)}" overlap in #${at}`);
        }

    // ---- rows of cards ----
    for (const grid of document.querySelectorAll(".facts, .cards")) {
        const tops = [...grid.children].filter(shown).map((c) => c.getBoundingClientRect().top);
        const rows = [...new Set(tops.map(Math.round))];
        const last = tops.filter((t) => Math.round(t) === rows.at(-1)).length;
        const first = tops.filter((t) => Math.round(t) === rows[0]).length;
        if (rows.length > 1 && first > 1 && last === 1)
            faults.push(`a single card in the last row of ${tops.length}: ${name(grid)}`);
    }
    return [...new Set(faults)];
}

async function lowContrast(page) {
    if (!(await page.evaluate(() => "axe" in window))) await page.addScriptTag({ path: axe });
    return page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { runOnly: ["color-contrast"] });
        return violations.flatMap((v) =>
            v.nodes.slice(0, 5).map((n) => `${n.html.slice(0, 120)}: ${n.any[0]?.message ?? v.id}`),
        );
    });
}

// The address in each width and theme; `act` brings the page to what is looked at. Colours do not
// depend on the width.
export async function checkLooks(w, what, url, act = async () => {}) {
    const faults = [];
    const page = await w.page(url, { bypassCSP: true, reducedMotion: "reduce" });
    await act(page);
    for (const width of widths) {
        await page.setViewportSize({ width, height: width < 500 ? 844 : 1000 });
        for (const colorScheme of schemes) {
            await page.emulateMedia({ colorScheme });
            await scrollThrough(page, 600);
            await noHoles(page, what);
            await noOverflow(page);
            const found = await page.evaluate(findFaults);
            if (existsSync(axe) && width === 1280) found.push(...(await lowContrast(page)));
            faults.push(...found.map((f) => `${width} px, ${colorScheme}: ${f}`));
        }
    }
    quiet(page);
    await w.closeAll();
    assert.deepEqual(faults, [], what);
}
