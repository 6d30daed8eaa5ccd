// Asks the worker where boxes stand. The worker's script is part of the page (build.mjs), so that a
// report is one file and needs no server.
declare const __LAYOUT_WORKER__: string;

export interface Point {
    x: number;
    y: number;
}
export interface LayoutBox {
    id: string;
    parent?: string;
    width: number;
    height: number;
}
export interface LayoutEdge {
    from: string;
    to: string;
    width: number; // of its label
    height: number;
}
export interface LayoutQuestion {
    question: number;
    boxes: LayoutBox[];
    frames: LayoutBox[]; // height: of the title
    edges: LayoutEdge[];
}
export interface PlacedBox extends Point {
    id: string;
    width: number;
    height: number;
}
export interface PlacedEdge {
    points: Point[];
    label: Point;
}
export interface LayoutAnswer {
    question: number;
    width: number;
    height: number;
    boxes: PlacedBox[];
    frames: PlacedBox[];
    edges: PlacedEdge[];
}

let worker: Worker | null = null;
let asked = 0;
const waiting = new Map<number, { done: (a: LayoutAnswer) => void; failed: (e: Error) => void }>();

function failAll(e: ErrorEvent): void {
    const why = new Error(e.message || "the layout failed");
    waiting.forEach(({ failed }) => failed(why));
    waiting.clear();
}

function start(): Worker {
    const url = URL.createObjectURL(new Blob([__LAYOUT_WORKER__], { type: "text/javascript" }));
    const made = new Worker(url);
    made.addEventListener("message", (e: MessageEvent<LayoutAnswer>) => {
        waiting.get(e.data.question)?.done(e.data);
        waiting.delete(e.data.question);
    });
    made.addEventListener("error", failAll);
    return made;
}

export function place(q: Omit<LayoutQuestion, "question">): Promise<LayoutAnswer> {
    worker ??= start();
    const question = ++asked;
    const to = worker;
    return new Promise((done, failed) => {
        waiting.set(question, { done, failed });
        to.postMessage({ ...q, question });
    });
}
