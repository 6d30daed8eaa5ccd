/* Traces of the engine from arbitrary bytes: a status for every input; places within the lists, runs that do not
 * overlap in their events. */
#include <stdint.h>
#include <stdlib.h>

#include "engine/trace.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void check(const trace *t)
{
    for (uint32_t i = 0; i < t->n_events; i++) {
        const trace_event *e = &t->events[i];
        promise(e->node < t->n_nodes);
        promise(e->run == TRACE_NONE || e->run < t->n_runs);
        promise(e->parent == TRACE_NONE || (e->parent < t->n_events && e->parent != i));
    }
    for (uint32_t i = 0; i < t->n_runs; i++)
        promise(t->runs[i].first <= t->n_events && t->runs[i].n <= t->n_events - t->runs[i].first);
    for (uint32_t i = 0; i < t->n_kernels; i++)
        promise(t->kernels[i].node == TRACE_NONE || t->kernels[i].node < t->n_nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(LIMIT_BYTES);
    assay_error err = {0};
    trace t = {0};
    if (a && size < 1 << 20) {
        assay_status s = trace_parse((str){(const char *)data, (uint32_t)size}, a, &t, &err);
        promise(s == ASSAY_OK || (err.code == s && err.message[0]));
        if (s == ASSAY_OK)
            check(&t);
    }
    arena_free(a);
    return 0;
}
