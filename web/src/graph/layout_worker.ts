// Places boxes by rank with dagre. Runs in a worker of its own, so that the page stays quick while
// a large level is laid out.
import { Graph, layout } from "@dagrejs/dagre";
import type { LayoutAnswer, LayoutBox, LayoutQuestion, PlacedBox, Point } from "./layout";

const MARGIN = 12;

interface Placed {
    x: number;
    y: number;
    width: number;
    height: number;
}
interface Bent {
    points: Point[];
    x?: number;
    y?: number;
}

function place(q: LayoutQuestion): LayoutAnswer {
    const g = new Graph({ compound: true, multigraph: false });
    g.setGraph({
        rankdir: "TB",
        nodesep: 26,
        ranksep: 34,
        edgesep: 14,
        marginx: MARGIN,
        marginy: MARGIN,
        ranker: q.boxes.length > 150 ? "longest-path" : "network-simplex",
    });
    g.setDefaultEdgeLabel(() => ({}));
    for (const f of q.frames) g.setNode(f.id, {});
    for (const b of q.boxes) g.setNode(b.id, { width: b.width, height: b.height });
    for (const b of [...q.frames, ...q.boxes]) if (b.parent) g.setParent(b.id, b.parent);
    q.edges.forEach((e) =>
        g.setEdge(e.from, e.to, { width: e.width, height: e.height, labelpos: "c" }),
    );
    layout(g);
    // dagre leaves no room for titles: a frame begins above what is in it.
    const raised = (frames: PlacedBox[]): PlacedBox[] => {
        const inside = new Map<string, LayoutBox[]>();
        for (const b of [...q.frames, ...q.boxes])
            if (b.parent) inside.set(b.parent, [...(inside.get(b.parent) ?? []), b]);
        const tops = new Map<string, number>();
        const topOf = (b: LayoutBox): number => {
            const known = tops.get(b.id);
            if (known !== undefined) return known;
            const inner = inside.get(b.id);
            const { y, height } = g.node(b.id) as Placed;
            const top = inner ? Math.min(...inner.map(topOf)) - b.height - 4 : y - height / 2;
            tops.set(b.id, top);
            return top;
        };
        return frames.map((f, i) => {
            const top = topOf(q.frames[i]);
            return { ...f, y: top, height: f.y + f.height - top };
        });
    };
    const boxOf = ({ id }: LayoutBox) => {
        const { x, y, width, height } = g.node(id) as Placed;
        return { id, x: x - width / 2, y: y - height / 2, width, height };
    };
    const { width = 0, height = 0 } = g.graph() as { width?: number; height?: number };
    return {
        question: q.question,
        width,
        height,
        boxes: q.boxes.map(boxOf),
        frames: raised(q.frames.map(boxOf)),
        edges: q.edges.map((e) => {
            const { points, x, y } = g.edge(e.from, e.to) as Bent;
            return { points, label: { x: x ?? points[0].x, y: y ?? points[0].y } };
        }),
    };
}

addEventListener("message", (e: MessageEvent<LayoutQuestion>) => postMessage(place(e.data)));
