// What stands around every view: the bar on top, the list of sections, the foot.
import { clear, h, type Child } from "./dom";
import { choose, theme, whileListening } from "./theme";

declare const __LICENSES__: string;

export interface Page {
    title: string;
    under?: Child;
    actions?: Child;
    sections: (HTMLElement | null | false)[];
    nav?: boolean;
}
export interface Shell {
    root: HTMLElement;
    show: (page: Page) => void;
}

function themeButton(): HTMLElement {
    const other = () => (theme() === "dark" ? "light" : "dark");
    const button = h("button", {
        type: "button",
        class: "small theme",
        onclick: () => choose(other()),
    });
    const say = () => {
        button.setAttribute("aria-label", `Switch to ${other()} colours`);
        button.textContent = theme() === "dark" ? "☀" : "☾";
    };
    whileListening(say);
    say();
    return button;
}

function licences(): HTMLElement {
    const dialog = h(
        "dialog",
        { class: "details", "aria-label": "Licences" },
        h("h3", null, "Licences"),
        h("p", null, "assay is MIT-licensed. This page holds:"),
        h("pre", { tabindex: 0 }, __LICENSES__),
        h("form", { method: "dialog" }, h("button", { class: "small", autofocus: true }, "Close")),
    );
    const open = () => dialog.showModal();
    return h(
        "span",
        null,
        h("button", { type: "button", class: "link", onclick: open }, "Licences"),
        dialog,
    );
}

function skipLink(main: HTMLElement): HTMLElement {
    const skip = (e: Event) => {
        e.preventDefault();
        main.focus();
    };
    return h("a", { class: "skip", href: "#main", onclick: skip }, "Skip to the content");
}

function jump(e: Event, to: HTMLElement): void {
    e.preventDefault(); // the address stays: the dashboard keeps its place in it
    to.scrollIntoView({ block: "start" });
    to.focus({ preventScroll: true });
}

// Marks the link of the first section in view.
function follow(list: HTMLElement[], links: HTMLElement[]): IntersectionObserver {
    const visible = new Set<Element>();
    const mark = (link: HTMLElement, on: boolean) =>
        on ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    const watch = new IntersectionObserver(
        (entries) => {
            for (const e of entries)
                if (e.isIntersecting) visible.add(e.target);
                else visible.delete(e.target);
            const first = list.findIndex((s) => visible.has(s));
            links.forEach((a, i) => mark(a, i === first));
        },
        { rootMargin: "-80px 0px -55% 0px" },
    );
    list.forEach((s) => watch.observe(s));
    return watch;
}

// The list of the sections that have a title; what it returns follows the reader.
function fillNav(nav: HTMLElement, sections: HTMLElement[], wanted: boolean): IntersectionObserver {
    const named = sections.filter((s) => s.id && s.querySelector("h2"));
    const links = named.map((s) => {
        const text = s.querySelector("h2")?.textContent;
        return h("a", { href: "#" + s.id, onclick: (e) => jump(e, s) }, text);
    });
    const items = () => links.map((a) => h("li", null, a));
    clear(nav, wanted && links.length > 1 && h("ul", null, items()));
    return follow(named, links);
}

export function shell(tool: string, home?: Child): Shell {
    const title = h("h1");
    const under = h("p", { class: "soft under" });
    const actions = h("div", { class: "actions no-print" });
    const nav = h("nav", { class: "sections no-print", "aria-label": "Sections" });
    const main = h("main", { id: "main", tabindex: -1 });
    const root = h(
        "div",
        { class: "page" },
        skipLink(main),
        h(
            "header",
            { class: "top" },
            h("div", { class: "brand" }, home, h("div", { class: "titles" }, title, under)),
            h("div", { class: "tools no-print" }, actions, themeButton()),
        ),
        h("div", { class: "columns" }, nav, main),
        h("footer", null, `assay ${tool}`, " · ", licences()),
    );
    let watch: IntersectionObserver | null = null;
    const show = (page: Page) => {
        const list = page.sections.filter((s): s is HTMLElement => !!s);
        document.title = page.title ? `${page.title} · assay` : "assay";
        clear(title, page.title);
        clear(under, page.under);
        clear(actions, page.actions);
        clear(main, list);
        watch?.disconnect();
        watch = fillNav(nav, list, page.nav !== false);
    };
    return { root, show };
}
