/* See blocking.h. */
#include "measure/blocking.h"

#include <math.h>

#include "base/map.h"

typedef struct
    span_of_layer { /* in microseconds since the run began; sums over runs until they are divided */
    double start, end;
    uint32_t runs;
} span_of_layer;

typedef struct blocking {
    const layer_times_request *q;
    arena *work;
    profile *p;
    uint32_t n;           /* layers */
    span_of_layer *spans; /* [n] */
    span_of_layer *now;   /* [n] of the run at hand; runs: 1 when it was seen */
    map makers;           /* name of a value to the layer that makes it */
    double *chain;        /* [n] the longest chain that ends with the layer, ms */
    uint32_t *before;     /* [n] the layer before it in that chain; MAP_NONE: it is the first */
} blocking;

/* ---- when layers began and ended ---- */

static void see_event(blocking *b, const trace_run *run, const trace_event *e)
{
    const layer_span *k = &b->q->spans[e->node];
    double start = (double)(e->start_us - run->start_us), end = start + (double)e->dur_us;
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t layer = b->q->layers[k->first + i];
        if (layer >= b->n)
            continue;
        span_of_layer *s = &b->now[layer];
        s->start = s->runs ? fmin(s->start, start) : start;
        s->end = s->runs ? fmax(s->end, end) : end;
        s->runs = 1;
    }
}

static void end_run(blocking *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        b->spans[i].start += b->now[i].start;
        b->spans[i].end += b->now[i].end;
        b->spans[i].runs += b->now[i].runs;
        b->now[i] = (span_of_layer){0};
    }
}

static void find_spans(blocking *b)
{
    const trace *t = b->q->trace;
    for (uint32_t r = b->q->warmup_runs; r < t->n_runs; r++) {
        for (uint32_t i = 0; i < t->runs[r].n; i++) {
            const trace_event *e = &t->events[t->runs[r].first + i];
            if (e->parent == TRACE_NONE && e->start_us >= t->runs[r].start_us)
                see_event(b, &t->runs[r], e);
        }
        end_run(b);
    }
    for (uint32_t i = 0; i < b->n; i++)
        if (b->spans[i].runs) {
            b->spans[i].start /= b->spans[i].runs;
            b->spans[i].end /= b->spans[i].runs;
        }
}

/* ---- who waits for whom ---- */

static bool find_makers(blocking *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t k = 0; k < b->p->layers[i].n_outputs; k++)
            if (!map_put(&b->makers, b->p->layers[i].outputs[k].name, i))
                return false;
    return true;
}

/* Layers are in the order of the graph: one that comes later makes nothing for this one. */
static uint32_t maker_of(const blocking *b, uint32_t layer, uint32_t input)
{
    uint32_t maker = map_get(&b->makers, b->p->layers[layer].inputs[input].name);
    return maker < layer ? maker : MAP_NONE;
}

static double time_of(const blocking *b, uint32_t layer)
{
    double ms = b->p->layers[layer].time_ms;
    return ms > 0 ? ms : 0;
}

static void find_chain(blocking *b, uint32_t layer)
{
    b->before[layer] = MAP_NONE;
    for (uint32_t k = 0; k < b->p->layers[layer].n_inputs; k++) {
        uint32_t maker = maker_of(b, layer, k);
        if (maker != MAP_NONE &&
            (b->before[layer] == MAP_NONE || b->chain[maker] > b->chain[b->before[layer]]))
            b->before[layer] = maker;
    }
    b->chain[layer] = time_of(b, layer) +
                      (b->before[layer] == MAP_NONE ? 0 : b->chain[b->before[layer]]);
}

/* The maker that ended last; MAP_NONE: inputs of the model and weights alone. */
static uint32_t last_maker(const blocking *b, uint32_t layer)
{
    uint32_t last = MAP_NONE;
    for (uint32_t k = 0; k < b->p->layers[layer].n_inputs; k++) {
        uint32_t maker = maker_of(b, layer, k);
        if (maker != MAP_NONE && (last == MAP_NONE || b->spans[maker].end > b->spans[last].end))
            last = maker;
    }
    return last;
}

static profile_wait wait_of(const blocking *b, uint32_t layer)
{
    const profile_layer *l = &b->p->layers[layer];
    const span_of_layer *s = &b->spans[layer];
    uint32_t last = last_maker(b, layer);
    double there = last == MAP_NONE ? 0 : b->spans[last].end;
    double ready = there < s->start ? there : s->start; /* of one kernel: both began at once */
    return (profile_wait){.layer = l->name,
                          .type = l->type,
                          .waits_for = last == MAP_NONE ? (str){0} : b->p->layers[last].name,
                          .time_ms = time_of(b, layer),
                          .ready_ms = ready / 1000,
                          .start_ms = s->start / 1000,
                          .end_ms = s->end / 1000,
                          .queued_ms = (s->start - ready) / 1000};
}

/* ---- the critical path ---- */

static bool mark_path(blocking *b, profile_blocking *out)
{
    bool *critical = ARENA_ARRAY(b->work, bool, b->n + 1u);
    profile_wait *list = ARENA_ARRAY(b->p->arena, profile_wait, b->n + 1u);
    uint32_t end = 0;
    if (!critical || !list)
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        find_chain(b, i);
        out->layers_ms += time_of(b, i);
        end = b->chain[i] > b->chain[end] ? i : end;
    }
    for (uint32_t i = end; i != MAP_NONE; i = b->before[i])
        critical[i] = true;
    for (uint32_t i = 0; i < b->n; i++) {
        out->critical_layers += critical[i];
        if (!b->spans[i].runs)
            continue;
        list[out->n_layers] = wait_of(b, i);
        list[out->n_layers++].critical = critical[i];
    }
    out->layers = list;
    out->critical_ms = b->chain[end];
    out->parallelism = out->critical_ms > 0 ? out->layers_ms / out->critical_ms : NAN;
    return true;
}

/* ---- threads ---- */

typedef struct thread_sums {
    double runs_us, wait_us;
    double sections_us[TRACE_WORKERS]; /* that the worker took part in */
} thread_sums;

static void sum_sections(const trace_event *e, thread_sums *x)
{
    x->wait_us += (double)e->wait_us;
    for (uint32_t i = 0; i < TRACE_WORKERS; i++)
        if (e->workers >> i & 1)
            x->sections_us[i] += (double)(e->own_us + e->wait_us + e->share_us);
}

static void sum_threads(const layer_times_request *q, thread_sums *x)
{
    const trace *t = q->trace;
    for (uint32_t r = q->warmup_runs; r < t->n_runs; r++) {
        x->runs_us += (double)t->runs[r].dur_us;
        for (uint32_t i = 0; i < t->runs[r].n; i++)
            if (t->events[t->runs[r].first + i].parent == TRACE_NONE)
                sum_sections(&t->events[t->runs[r].first + i], x);
    }
}

static profile_thread_wait thread_wait(str name, double wait_us, double runs_us, double runs)
{
    wait_us = wait_us > 0 ? wait_us : 0;
    return (profile_thread_wait){.thread = name,
                                 .wait_ms = wait_us / runs / 1000,
                                 .percent = runs_us > 0 ? 100 * wait_us / runs_us : 0};
}

static bool list_threads(const layer_times_request *q, profile *p, profile_blocking *out)
{
    thread_sums x = {0};
    double runs = (double)(q->trace->n_runs - q->warmup_runs);
    profile_thread_wait *list = ARENA_ARRAY(p->arena, profile_thread_wait,
                                            q->trace->n_workers + 1u);
    if (!list)
        return false;
    sum_threads(q, &x);
    list[out->n_threads++] = thread_wait(STR("main"), x.wait_us, x.runs_us, runs);
    for (uint32_t i = 0; i < q->trace->n_workers; i++)
        list[out->n_threads++] = thread_wait(str_printf(p->arena, "worker %u", i + 1),
                                             x.runs_us - x.sections_us[i], x.runs_us, runs);
    out->threads = list;
    return true;
}

assay_status blocking_fill(const layer_times_request *q, arena *work, profile *p, assay_error *err)
{
    blocking b = {.q = q, .work = work, .p = p, .n = p->n_layers};
    profile_blocking *out = &p->measured->blocking;
    *out = (profile_blocking){.parallelism = NAN};
    if (!b.n || b.n != q->of->n_layers || q->trace->n_runs <= q->warmup_runs)
        return ASSAY_OK;
    b.spans = ARENA_ARRAY(work, span_of_layer, b.n);
    b.now = ARENA_ARRAY(work, span_of_layer, b.n);
    b.chain = ARENA_ARRAY(work, double, b.n);
    b.before = ARENA_ARRAY(work, uint32_t, b.n);
    if (arena_failed(work) || !map_init(&b.makers, work, b.n) || !find_makers(&b))
        return err_no_memory(err);
    find_spans(&b);
    TRY_MEMORY(mark_path(&b, out) && list_threads(q, p, out), err);
    out->present = true;
    return ASSAY_OK;
}
