// Thousands of steps are put together by their highest: a peak is never lost.
export function thin<T>(
    rows: T[],
    height: (row: T) => number,
    buckets: number,
): [index: number, row: T][] {
    if (rows.length <= buckets) return rows.map((row, i) => [i, row]);
    const out: [number, T][] = [];
    for (let b = 0; b < buckets; b++) {
        const from = Math.floor((b * rows.length) / buckets);
        const to = Math.floor(((b + 1) * rows.length) / buckets);
        let best = from;
        for (let i = from; i < to; i++) if (height(rows[i]) > height(rows[best])) best = i;
        out.push([best, rows[best]]);
    }
    return out;
}
