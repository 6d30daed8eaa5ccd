// Files that a user drops or chooses: single ones, folders (a SavedModel, an .mlpackage, a folder
// of Hugging Face) and zip archives of them. Each has the path by which other files refer to it.
import { h } from "./dom";
import { isArchive, unpack } from "./zip";

export interface NamedFile {
    path: string;
    file: Blob;
}

// ---- from the browser ----

const ignored = (path: string): boolean => /(^|\/)(\.|__MACOSX\/)/.test(path);

async function unpackAll(files: NamedFile[]): Promise<NamedFile[]> {
    const lists = await Promise.all(files.map(async (f) => ((await isArchive(f)) ? unpack(f) : f)));
    return lists.flat().filter((f) => !ignored(f.path));
}

const namedOf = (file: File): NamedFile => ({ path: file.webkitRelativePath || file.name, file });

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
    new Promise((resolve, reject) => entry.file(resolve, reject));
// A reader gives the names in portions; an empty one is the last.
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
    const reader = folder.createReader();
    const all: FileSystemEntry[] = [];
    for (;;) {
        const some = await new Promise<FileSystemEntry[]>((a, b) => reader.readEntries(a, b));
        if (!some.length) return all;
        all.push(...some);
    }
}

async function filesBelow(entry: FileSystemEntry): Promise<NamedFile[]> {
    const path = entry.fullPath.replace(/^\/+/, "");
    if (entry.isFile) return [{ path, file: await fileOf(entry as FileSystemFileEntry) }];
    const inner = await entriesOf(entry as FileSystemDirectoryEntry);
    return (await Promise.all(inner.map(filesBelow))).flat();
}

// To be called in the handler of the event, after which its items are gone.
function dropped(data: DataTransfer): Promise<NamedFile[]> {
    const entries = [...data.items].map((item) => item.webkitGetAsEntry());
    if (entries.some((e) => e?.isDirectory))
        return Promise.all(entries.map((e) => (e ? filesBelow(e) : []))).then((l) => l.flat());
    return Promise.resolve([...data.files].map(namedOf));
}

export type TakeFiles = (files: Promise<NamedFile[]>) => void;

export function takeDrops(on: HTMLElement, take: TakeFiles): void {
    const mark = (over: boolean) => document.querySelector(".drop")?.classList.toggle("over", over);
    on.addEventListener("dragover", (e) => {
        e.preventDefault();
        mark(true);
    });
    on.addEventListener("dragleave", () => mark(false));
    on.addEventListener("drop", (e) => {
        e.preventDefault();
        mark(false);
        if (e.dataTransfer?.items.length) take(dropped(e.dataTransfer).then(unpackAll));
    });
}

function input(id: string, more: Record<string, boolean>, take: TakeFiles): HTMLInputElement {
    const change = () => {
        const files = [...(made.files ?? [])].map(namedOf);
        made.value = ""; // the same file may be chosen again
        if (files.length) take(unpackAll(files));
    };
    const made = h("input", { type: "file", id, class: "hidden", ...more, onchange: change });
    return made;
}

// The place where files are dropped, or chosen.
export function dropZone(what: string, take: TakeFiles): HTMLElement {
    return h(
        "div",
        { class: "drop card" },
        h(
            "p",
            null,
            "Drop files or a folder here, or ",
            h("label", { class: "button", for: "file" }, "choose files"),
            input("file", { multiple: true }, take),
            " ",
            h("label", { class: "button", for: "folder" }, "choose a folder"),
            input("folder", { webkitdirectory: true }, take),
        ),
        h("p", { class: "soft" }, what),
    );
}

// ---- which of them are models ----

// Files that other files refer to: weights beside a graph, shards, and what a folder has besides.
const weights = /\.(data|bin|weights|mil|msgpack)$|-\d{5}-of-\d{5}(\.|$)/i;
const besides = /\.(index|txt|md|py|model)$/i;
const settings =
    /(^|\/)(config|vocab|added_tokens|(tokenizer|preprocessor|generation|special).*)\.json$/;
const isCompanion = (path: string): boolean =>
    [weights, besides, settings].some((r) => r.test(path));

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

// The folder that a file makes a model, with its slash; null: none.
function modelFolder(path: string): string | null {
    const core = /^(?:.*\/)?[^/]+\.mlpackage\//.exec(path);
    if (core) return core[0];
    const marks = /(^|\/)(saved_model\.pb|config\.json|model_index\.json)$/;
    return marks.test(path) ? folderOf(path) || null : null;
}

// The paths of the models: files, and folders that are one. Folders in others belong to these.
export function modelsOf(files: NamedFile[]): string[] {
    const folders = [...new Set(files.map((f) => modelFolder(f.path)))].filter((f) => f !== null);
    const outer = folders.filter((f) => !folders.some((o) => o !== f && f.startsWith(o)));
    const others = files.map((f) => f.path).filter((p) => !outer.some((o) => p.startsWith(o)));
    const single = others.filter((p) => !isCompanion(p));
    const found = [...outer.map((f) => f.replace(/\/$/, "")), ...single];
    return found.length ? found : others;
}

// A result has its schema in front; any other JSON is a model.
export async function isResult({ path, file }: NamedFile): Promise<boolean> {
    if (!/\.json$/i.test(path)) return false;
    return /"schema"\s*:\s*"assay\.(?!model\/)/.test(await file.slice(0, 4096).text());
}
