// Adds a result to the history, or shows what a model costs.
import { api } from "../api";
import { clear, h, type Child } from "../dom";
import { keepView, pageOf } from "../report";
import type { Page } from "../shell";
import { link, linkButton, trouble } from "./links";
import type { State } from "./state";

async function addResult(file: File): Promise<Child> {
    const { id } = await api.addRecord(file);
    return h(
        "p",
        { class: "banner good" },
        "Added as record ",
        link(`record/${id}`, `#${id}`),
        ".",
    );
}

async function showModel(s: State, file: File): Promise<void> {
    const { document, view } = await api.addModel(file.name, file);
    const page = pageOf(keepView(document, view), s.shown);
    s.frame.show({
        ...page,
        under: [page.under, " · not saved"],
        actions: linkButton("add", "Another"),
    });
}

function fileInput(take: (file: File) => void): HTMLInputElement {
    const input: HTMLInputElement = h("input", {
        type: "file",
        id: "file",
        class: "hidden",
        accept: ".json,.onnx,.safetensors,.gguf",
        onchange: () => {
            const file = input.files?.[0];
            if (file) take(file);
        },
    });
    return input;
}

function dropZone(take: (file: File) => void): HTMLElement {
    const what =
        "A result (.json) joins the history. A model (.onnx, .safetensors, .gguf) is analysed " +
        "and shown; it is neither run nor stored.";
    const choose = h("label", { class: "button", for: "file" }, "choose one");
    const drop = h(
        "div",
        { class: "drop card" },
        h("p", null, "Drop a file here, or ", choose, fileInput(take)),
        h("p", { class: "soft" }, what),
    );
    drop.addEventListener("dragover", (e) => {
        e.preventDefault();
        drop.classList.add("over");
    });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (e) => {
        e.preventDefault();
        drop.classList.remove("over");
        const file = e.dataTransfer?.files[0];
        if (file) take(file);
    });
    return drop;
}

export function addPage(s: State): Page {
    const status = h("div", { role: "status", "aria-live": "polite" });
    const take = async (file: File) => {
        clear(status, h("p", { class: "banner" }, `Reading ${file.name} …`));
        try {
            if (/\.json$/i.test(file.name)) clear(status, await addResult(file));
            else await showModel(s, file);
        } catch (error) {
            clear(status, trouble(error));
        }
    };
    return {
        title: "Add",
        under: "A result or a model",
        nav: false,
        sections: [dropZone((file) => void take(file)), status],
    };
}
