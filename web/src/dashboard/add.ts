// Adds a result to the history, or shows what a model costs.
import { api } from "../api";
import { clear, h, type Child } from "../dom";
import { keepView, pageOf } from "../report";
import type { Page } from "../shell";
import { button } from "../ui";
import { link, trouble } from "./links";
import type { State } from "./state";

const added = (id: number): HTMLElement =>
    h("p", { class: "banner good" }, "Added as record ", link(`record/${id}`, `#${id}`), ".");

async function addResult(file: File): Promise<Child> {
    const { id } = await api.addRecord(file);
    return added(id);
}

// Analyses it once more at the server, which stores what it finds itself: nothing passes through
// the page.
function saveButton(file: File, status: HTMLElement): HTMLElement {
    const press = async () => {
        made.disabled = true;
        try {
            clear(status, added(await api.saveModel(file.name, file)));
        } catch (error) {
            made.disabled = false;
            clear(status, trouble(error));
        }
    };
    const made = button("Save to history", () => void press(), "small main");
    return made;
}

async function showModel(s: State, file: File): Promise<void> {
    const { document, view } = await api.addModel(file.name, file);
    const page = pageOf(keepView(document, view), s.shown);
    const status = h("div", { role: "status", "aria-live": "polite" });
    s.frame.show({
        ...page,
        under: [page.under, " · not saved"],
        actions: [saveButton(file, status), button("Add another", () => s.frame.show(addPage(s)))],
        sections: [status, ...page.sections],
    });
}

// A result has its schema in front; any other JSON is a model.
async function isResult(file: File): Promise<boolean> {
    if (!/\.json$/i.test(file.name)) return false;
    return /"schema"\s*:\s*"assay\./.test(await file.slice(0, 4096).text());
}

function fileInput(take: (file: File) => void): HTMLInputElement {
    const input: HTMLInputElement = h("input", {
        type: "file",
        id: "file",
        class: "hidden",
        onchange: () => {
            const file = input.files?.[0];
            if (file) take(file);
        },
    });
    return input;
}

function dropZone(take: (file: File) => void): HTMLElement {
    const what =
        "A result (.json) joins the history. A model is analysed and shown; it is not run. ONNX, " +
        "safetensors, GGUF, TFLite, PyTorch, Keras, OpenVINO (.xml), NCNN (.param), Core ML " +
        "(.mlmodel) and every other format that is complete in one file.";
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
            if (await isResult(file)) clear(status, await addResult(file));
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
