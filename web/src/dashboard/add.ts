// Adds results to the history, or shows what a model costs.
import { api } from "../api";
import { clear, h } from "../dom";
import { dropZone, isResult, modelsOf, takeDrops, type NamedFile } from "../files";
import { keepView, pageOf } from "../report";
import type { Page } from "../shell";
import { button } from "../ui";
import { link, trouble } from "./links";
import type { State } from "./state";

const added = (id: number): HTMLElement =>
    h("p", { class: "banner good" }, "Added as record ", link(`record/${id}`, `#${id}`), ".");

// Analyses it once more at the server, which stores what it finds itself: nothing passes through
// the page.
function saveButton(model: string, files: NamedFile[], status: HTMLElement): HTMLElement {
    const press = async () => {
        made.disabled = true;
        try {
            clear(status, added(await api.saveModel(model, files)));
        } catch (error) {
            made.disabled = false;
            clear(status, trouble(error));
        }
    };
    const made = button("Save to history", () => void press(), "small main");
    return made;
}

async function showModel(s: State, model: string, files: NamedFile[]): Promise<void> {
    const { document, view } = await api.addModel(model, files);
    const page = pageOf(keepView(document, view), s.shown);
    const status = h("div", { role: "status", "aria-live": "polite" });
    s.frame.show({
        ...page,
        under: [page.under, " · not saved"],
        actions: [
            saveButton(model, files, status),
            button("Add another", () => s.frame.show(addPage(s))),
        ],
        sections: [status, ...page.sections],
    });
}

// One model with all of its files, or any number of results.
async function addFiles(s: State, files: NamedFile[], status: HTMLElement): Promise<void> {
    const are = await Promise.all(files.map(isResult));
    const rest = files.filter((_, i) => !are[i]);
    const models = modelsOf(rest);
    if (models.length > 1)
        throw new Error(
            `${models.length} models: ${models.slice(0, 5).join(", ")}` +
                `${models.length > 5 ? ", …" : ""}. Add one at a time, with the files of its own.`,
        );
    const records = [];
    for (const f of files.filter((_, i) => are[i])) records.push(await api.addRecord(f.file));
    clear(
        status,
        records.map((r) => added(r.id)),
    );
    if (models.length) await showModel(s, models[0], rest);
}

const what =
    "Results (.json) join the history. A model is analysed and shown; it is not run. ONNX, " +
    "safetensors, GGUF, TFLite, TensorFlow, PyTorch, Keras, OpenVINO, NCNN, Core ML, StableHLO: " +
    "drop a model together with its weights (external data, .xml and .bin, .param and .bin, " +
    "shards), or a whole folder (SavedModel, .mlpackage, Hugging Face), also as a .zip.";

export function addPage(s: State): Page {
    const status = h("div", { role: "status", "aria-live": "polite" });
    const take = async (coming: Promise<NamedFile[]>) => {
        clear(status, h("p", { class: "banner" }, "Reading …"));
        try {
            await addFiles(s, await coming, status);
        } catch (error) {
            clear(status, trouble(error));
        }
    };
    const zone = dropZone(what, (files) => void take(files));
    takeDrops(zone, (files) => void take(files));
    return { title: "Add", under: "A result or a model", nav: false, sections: [zone, status] };
}
