// What stands around every view: the bar on top, the list of sections, the foot.
import { clear, h, type Child } from "./dom";
import { choose, theme, whileListening } from "./theme";

declare const __LICENSES__: string;

function themeButton(): HTMLElement {
    const button = h("button", {
        type: "button",
        class: "small theme",
        onclick: () => choose(theme() === "dark" ? "light" : "dark"),
    });
    const say = () => {
        const other = theme() === "dark" ? "light" : "dark";
        button.setAttribute("aria-label", `Switch to ${other} colours`);
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
    return h(
        "span",
        null,
        h(
            "button",
            { type: "button", class: "link", onclick: () => dialog.showModal() },
            "Licences",
        ),
        dialog,
    );
}

export interface Shell {
    root: HTMLElement;
    show: (page: Page) => void;
}
export interface Page {
    title: string;
    under?: Child;
    actions?: Child;
    sections: (HTMLElement | null | false)[];
    nav?: boolean;
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
        h(
            "a",
            {
                class: "skip",
                href: "#main",
                onclick: (e) => {
                    e.preventDefault();
                    main.focus();
                },
            },
            "Skip to the content",
        ),
        h(
            "header",
            { class: "top" },
            h("div", { class: "brand" }, home, h("div", { class: "titles" }, title, under)),
            h("div", { class: "tools no-print" }, actions, themeButton()),
        ),
        h("div", { class: "columns" }, nav, main),
        h("footer", null, `assay ${tool}`, " · ", licences()),
    );
    const jump = (e: Event, to: HTMLElement) => {
        e.preventDefault(); // the address stays: the dashboard keeps its place in it
        to.scrollIntoView({ block: "start" });
        to.focus({ preventScroll: true });
    };
    let watch: IntersectionObserver | null = null;
    const follow = (list: HTMLElement[], links: HTMLElement[]) => {
        watch?.disconnect();
        const visible = new Set<Element>();
        watch = new IntersectionObserver(
            (entries) => {
                entries.forEach((e) =>
                    e.isIntersecting ? visible.add(e.target) : visible.delete(e.target),
                );
                const first = list.findIndex((s) => visible.has(s));
                links.forEach((a, i) =>
                    i === first
                        ? a.setAttribute("aria-current", "true")
                        : a.removeAttribute("aria-current"),
                );
            },
            { rootMargin: "-80px 0px -55% 0px" },
        );
        list.forEach((s) => watch!.observe(s));
    };
    return {
        root,
        show: (page) => {
            const list = page.sections.filter((s): s is HTMLElement => !!s);
            document.title = page.title ? `${page.title} · assay` : "assay";
            clear(title, page.title);
            clear(under, page.under);
            clear(actions, page.actions);
            clear(main, list);
            const named = list.filter((s) => s.id && s.querySelector("h2"));
            const links = named.map((s) =>
                h(
                    "a",
                    { href: "#" + s.id, onclick: (e) => jump(e, s) },
                    s.querySelector("h2")!.textContent,
                ),
            );
            clear(
                nav,
                page.nav === false || links.length < 2
                    ? null
                    : h(
                          "ul",
                          null,
                          links.map((a) => h("li", null, a)),
                      ),
            );
            follow(named, links);
        },
    };
}
