/* Alert expressions on arbitrary bytes: understood, or pointed at within the expression; what was understood can be
 * judged against any series, an empty one too.
 */
#include <stdint.h>
#include <stdlib.h>

#include "study/trend.h"

enum { RUNS = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void judge(const alert *q, uint32_t n)
{
    history_point points[RUNS];
    history_trend t = trend_of(q->metric);
    history_alert out;
    arena *a = arena_new((size_t)1 << 20);
    for (uint32_t i = 0; i < n; i++)
        points[i] = (history_point){
            .id = i + 1, .created_s = 1700000000 + 86400 * (int64_t)i, .v = {.v = 1.0 + i % 3}};
    t.points = points;
    t.n = n;
    promise(a && alert_judge(q, &t, a, &out, NULL) == ASSAY_OK);
    promise(out.verdict != ALERT_INCONCLUSIVE || out.why.n);
    promise(out.window_records < RUNS);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error err = {0};
    alert q;
    if (size > 4096)
        return 0;
    const str text = {size ? (const char *)data : "", (uint32_t)size};
    if (alert_parse(text, &q, &err) != ASSAY_OK) {
        promise(err.code == ASSAY_ERR_USAGE && err.message[0] && err.offset <= size);
        return 0;
    }
    promise(q.metric && q.factor >= 0 && q.window_s >= 0);
    judge(&q, 0);
    judge(&q, 1);
    judge(&q, RUNS);
    return 0;
}
