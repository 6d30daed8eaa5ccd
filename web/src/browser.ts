// assay in the browser (docs/browser.md): model files that are dropped on the page, or built-in
// models by name, are analysed by assay.wasm in a worker. The page holds the program and its worker
// as texts; files are read in ranges and never leave the browser.
import { clear, h, type Child } from "./dom";
import { dropZone, isResult, modelsOf, takeDrops, type NamedFile } from "./files";
import { bytesOf, readPacked, shownOf, type Envelope } from "./envelope";
import { firstPage, keepView } from "./report";
import { shell, type Page, type Shell } from "./shell";

interface Done {
    code: number;
    out: string;
    error: string;
}
type Run = (args: string[], files: NamedFile[]) => Promise<Done>;

const textOf = (id: string): string => document.getElementById(id)?.textContent?.trim() ?? "";

async function startWorker(): Promise<Run> {
    const program = await bytesOf(textOf("assay-wasm"));
    const script = new Blob([textOf("assay-worker")], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(script));
    const waiting = new Map<number, (done: Done) => void>();
    let last = 0;
    worker.onmessage = (e: MessageEvent<{ id: number; done: Done }>) => {
        waiting.get(e.data.id)?.(e.data.done);
        waiting.delete(e.data.id);
    };
    worker.postMessage({ program });
    return (args, files) =>
        new Promise((resolve) => {
            waiting.set(++last, resolve);
            worker.postMessage({ id: last, args, files });
        });
}

// ---- what is analysed ----

const blobOf = (text: string): Blob => new Blob([text]);

interface Analysed {
    results: NamedFile[];
    troubles: string[];
}

async function resultOf(run: Run, word: string, files: NamedFile[], into: Analysed): Promise<void> {
    const own = files.find((f) => f.path === word);
    if (own && (await isResult(own))) {
        into.results.push(own);
        return;
    }
    const done = await run(["graph", word, "-f", "json"], files);
    if (done.code) into.troubles.push(done.error.replace(/^assay: /gm, "").trim());
    else
        into.results.push({
            path: `result-${into.results.length + 1}.json`,
            file: blobOf(done.out),
        });
}

async function envelopeOf(run: Run, results: NamedFile[]): Promise<Envelope> {
    const done = await run(["report", ...results.map((r) => r.path), "-f", "html"], results);
    const packed = />([^<]*)<\/script>/.exec(done.out);
    if (done.code || !packed) throw new Error(done.error || "The result could not be read.");
    return readPacked(packed[1]);
}

// ---- the first page ----

function nameField(names: string[], take: (word: string) => void): HTMLElement {
    const list = h(
        "datalist",
        { id: "models" },
        names.map((n) => h("option", { value: n })),
    );
    const input = h("input", { type: "text", name: "model", list: "models", required: true });
    const submit = (e: Event) => {
        e.preventDefault();
        if (input.value.trim()) take(input.value.trim());
    };
    return h(
        "form",
        { class: "card", onsubmit: submit },
        h("label", null, `One of ${names.length} built-in models: `, input),
        " ",
        h("button", { type: "submit", class: "small" }, "Analyse"),
        list,
    );
}

const what =
    "ONNX, TensorFlow (Lite), OpenVINO, Keras, NCNN, Core ML, PyTorch, StableHLO, safetensors, " +
    "GGUF, or a result (.json). Several models are compared; drop weights together with their " +
    "model, or a whole folder, also as a .zip. The files stay on this device.";

async function modelNames(run: Run): Promise<string[]> {
    const done = await run(["models", "-f", "json"], []);
    return done.code ? [] : (JSON.parse(done.out) as { name: string }[]).map((m) => m.name);
}

const troubleBanner = (text: string): Child => h("p", { class: "banner poor" }, text);

class Browser {
    private status = h("div", { role: "status", "aria-live": "polite" });
    constructor(
        private frame: Shell,
        private run: Run,
        private envelope: Envelope,
        private names: string[],
    ) {}

    home = (): void => {
        clear(this.status);
        this.frame.show({
            title: "assay",
            under: "Operations, memory and parameters of a model, counted in this browser",
            nav: false,
            sections: [
                dropZone(what, this.takeFiles),
                nameField(this.names, (word) => void this.analyse([word], [])),
                this.status,
            ],
        });
    };

    takeFiles = (coming: Promise<NamedFile[]>): void => {
        coming.then(
            (files) => void this.analyse(modelsOf(files), files),
            (error) => this.refuse(error),
        );
    };

    private refuse(error: unknown): void {
        this.home();
        const text = error instanceof Error ? error.message : String(error);
        clear(this.status, text.split("\n").map(troubleBanner));
    }

    private another = (): Child =>
        h("button", { type: "button", class: "small", onclick: this.home }, "Another model");

    private show = (page: Page): void =>
        this.frame.show({ ...page, actions: [page.actions, " ", this.another()] });

    async analyse(words: string[], files: NamedFile[]): Promise<void> {
        clear(this.status, h("p", { class: "banner" }, `Reading ${words.join(", ")} …`));
        const into: Analysed = { results: [], troubles: [] };
        try {
            for (const word of words) await resultOf(this.run, word, files, into);
            if (into.results.length) await this.report(into);
            else throw new Error(into.troubles.join("\n"));
        } catch (error) {
            this.refuse(error);
        }
        document.documentElement.dataset.analysed = words.join(" ");
    }

    private async report(of: Analysed): Promise<void> {
        const e = await envelopeOf(this.run, of.results);
        e.documents.forEach((d, i) => keepView(d, e.views?.[i]));
        const page = firstPage(e.documents, shownOf(this.envelope), this.show);
        const troubles = h("div", { role: "status" }, of.troubles.map(troubleBanner));
        this.show({ ...page, sections: [of.troubles.length > 0 && troubles, ...page.sections] });
        scrollTo(0, 0);
    }
}

export async function startBrowser(app: HTMLElement, envelope: Envelope): Promise<void> {
    const frame = shell(envelope.tool);
    app.replaceChildren(frame.root);
    const run = await startWorker();
    const browser = new Browser(frame, run, envelope, await modelNames(run));
    takeDrops(document.body, browser.takeFiles);
    browser.home();
}
