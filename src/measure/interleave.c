/* See interleave.h. */
#include "measure/interleave.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "measure/stats.h"

enum { ROUNDS_LEAST = 8, INDEPENDENT_LEAST = 5 };
#define TURN_MS 2.0
#define Z99     2.575829304

typedef struct subject {
    engine_session *session;
    engine_job *job;
    input_set inputs;
} subject;

typedef struct interleaving {
    const interleave_request *q;
    arena *arena;
    subject *of;
    interleave_series *out;
    counter counter;
    uint64_t done, planned;
    bool stopped;
} interleaving;

/* ---- making ready ---- */

static assay_status open_subject(interleaving *g, uint32_t i, assay_error *err)
{
    const measure_request *q = &g->q->subjects[i];
    subject *s = &g->of[i];
    TRY(engine_session_open(q->engine, &q->model, &q->options, &s->session, err));
    g->out[i].session_ms = (double)engine_session_about(s->session)->create_ns / 1e6;
    TRY(inputs_make(q->wants, q->n_wants, engine_session_about(s->session), q->seed, &s->inputs,
                    err));
    return engine_job_open(s->session, s->inputs.tensors, s->inputs.n, &s->job, err);
}

static void close_subject(subject *s)
{
    engine_job_close(s->job);
    inputs_free(&s->inputs);
    engine_session_close(s->session);
}

static bool go_on(interleaving *g, bool warming, uint64_t done, uint64_t planned)
{
    const measure_hooks *h = &g->q->hooks;
    double fraction = planned ? (double)done / (double)planned : 0;
    if ((h->go_on && !h->go_on(h->ctx, warming, done, planned, fraction)) ||
        (h->cancelled && h->cancelled(h->ctx)))
        g->stopped = true;
    return !g->stopped;
}

static bool while_warming(void *ctx, uint64_t done, uint64_t planned, double fraction)
{
    (void)fraction;
    return go_on(ctx, true, done, planned);
}

static assay_status keep_warmup(interleaving *g, uint32_t i, const warmup_result *r,
                                assay_error *err)
{
    interleave_series *to = &g->out[i];
    to->warmup = *r;
    to->warmup.ms = r->runs ? arena_copy(g->arena, r->ms, sizeof *r->ms * r->runs) : NULL;
    TRY_MEMORY(!arena_failed(g->arena), err);
    if (r->last_ms > 0 && r->last_ms * to->block < TURN_MS)
        to->block = r->last_ms * INTERLEAVE_BLOCK_MOST < TURN_MS
                        ? INTERLEAVE_BLOCK_MOST
                        : (uint32_t)ceil(TURN_MS / r->last_ms);
    return ASSAY_OK;
}

static assay_status warm(interleaving *g, uint32_t i, assay_error *err)
{
    const measure_request *q = &g->q->subjects[i];
    const sample_hook hook = {.go_on = while_warming, .ctx = g};
    warmup_result r;
    assay_status s = warmup_run(q->engine, g->of[i].job, &q->warmup, &hook, &r, err);
    if (s == ASSAY_OK)
        s = keep_warmup(g, i, &r, err);
    warmup_result_free(&r);
    return s;
}

/* ---- turns ---- */

typedef struct one_run {
    uint64_t ns, instructions;
    system_usage used;
    bool counted;
} one_run;

static assay_status run_once(interleaving *g, uint32_t i, one_run *out, assay_error *err)
{
    engine *e = g->q->subjects[i].engine;
    uint64_t counted_from = 0, counted_to = 0;
    system_usage before, after;
    system_usage_now(false, &before);
    bool counts = counter_read(&g->counter, &counted_from);
    uint64_t from = engine_now_ns(e);
    TRY(engine_job_run(g->of[i].job, err));
    uint64_t to = engine_now_ns(e);
    counts = counts && counter_read(&g->counter, &counted_to);
    system_usage_now(false, &after);
    engine_job_drop(g->of[i].job);
    *out = (one_run){.ns = to - from,
                     .used = system_usage_between(&before, &after),
                     .instructions = counts ? counted_to - counted_from : 0,
                     .counted = counts};
    return ASSAY_OK;
}

static bool keep_run(arena *a, interleave_series *s, const one_run *r)
{
    double *count = r->counted ? VEC_PUSH(a, &s->counts) : NULL;
    double *ms = VEC_PUSH(a, &s->ms);
    if (!ms || (r->counted && !count))
        return false;
    *ms = (double)r->ns / 1e6;
    if (count)
        *count = (double)r->instructions;
    s->wall_ns += r->ns;
    system_usage_add(&s->used, &r->used);
    return true;
}

static assay_status take_turn(interleaving *g, uint32_t i, assay_error *err)
{
    interleave_series *s = &g->out[i];
    double turn[INTERLEAVE_BLOCK_MOST];
    one_run r;
    const char *root = g->q->subjects[i].root ? g->q->subjects[i].root : "";
    TRY(run_once(g, i, &r, err)); /* not counted */
    double waited = system_run_queue_wait(root);
    for (uint32_t k = 0; k < s->block; k++) {
        TRY(run_once(g, i, &r, err));
        TRY_MEMORY(keep_run(g->arena, s, &r), err);
        turn[k] = s->ms.items[s->ms.n - 1];
    }
    s->wait_s += system_run_queue_wait(root) - waited;
    stats_sort(turn, s->block);
    TRY_MEMORY(VEC_ADD(g->arena, &s->turns, stats_quantile(turn, s->block, 0.5)), err);
    go_on(g, false, ++g->done, g->planned);
    return ASSAY_OK;
}

static assay_status run_rounds(interleaving *g, uint32_t rounds, assay_error *err)
{
    uint32_t n = g->q->n;
    for (uint32_t r = 0; r < rounds; r++)
        for (uint32_t k = 0; k < n && !g->stopped; k++)
            TRY(take_turn(g, r % 2 ? n - 1 - k : k, err));
    return ASSAY_OK;
}

static assay_status measure(interleaving *g, uint32_t rounds, assay_error *err)
{
    for (uint32_t i = 0; i < g->q->n; i++)
        TRY(open_subject(g, i, err));
    for (uint32_t i = 0; i < g->q->n && !g->stopped; i++)
        TRY(warm(g, i, err));
    g->planned = (uint64_t)rounds * g->q->n;
    return run_rounds(g, rounds, err);
}

/* An even number, so that each goes first as often as last. */
static uint32_t rounds_for(uint32_t runs)
{
    uint32_t n = (runs + INTERLEAVE_BLOCK - 1) / INTERLEAVE_BLOCK;
    n = n < ROUNDS_LEAST ? ROUNDS_LEAST : n;
    return n + n % 2;
}

assay_status interleave_measure(const interleave_request *q, arena *a, interleave_series *out,
                                measure_session_fn *seen, void *ctx, assay_error *err)
{
    interleaving g = {.q = q, .arena = a, .out = out, .of = memory_zeroed(q->n, sizeof *g.of)};
    uint32_t rounds = rounds_for(q->runs);
    TRY_MEMORY(g.of, err);
    memset(out, 0, sizeof *out * q->n);
    counter_open(&g.counter, q->counter); /* before the engine begins its threads */
    for (uint32_t i = 0; i < q->n; i++)
        out[i].block = INTERLEAVE_BLOCK;
    assay_status s = measure(&g, rounds, err);
    counter_close(&g.counter);
    for (uint32_t i = 0; i < q->n; i++) {
        if (seen && g.of[i].session)
            seen(ctx, g.of[i].session);
        close_subject(&g.of[i]);
        out[i].instructions = counter_describe(out[i].counts.items,
                                               out[i].counts.n == out[i].ms.n ? out[i].ms.n : 0);
    }
    free(g.of);
    if (g.stopped)
        return err_fail(err, ASSAY_ERR_INTERRUPTED, "interrupted: too few runs for a comparison");
    return s;
}

/* ---- what the rounds say ---- */

/* Fisher and Cornish's expansion around the normal quantile; within 0.1 % from seven degrees on. */
static double t99(double df)
{
    const double z = Z99, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df);
}

static void decide(double tolerance, bool dependent, gate_answer *out)
{
    double limit = 1 + tolerance;
    out->reason = GATE_CLEAR;
    if (out->low > limit)
        out->verdict = VERDICT_REGRESSION;
    else if (out->high < 1 / limit)
        out->verdict = VERDICT_IMPROVEMENT;
    else if (out->low >= 1 / limit && out->high <= limit)
        out->verdict = VERDICT_PASS;
    else
        out->reason = dependent ? GATE_DEPENDENT : GATE_NOISE;
}

/* Correlated rounds are too few for a deviation: the interval is the range of all rounds. */
static void take_range(const double *logs, uint32_t n, gate_answer *out)
{
    double least = logs[0], most = logs[0];
    for (uint32_t i = 1; i < n; i++) {
        least = fmin(least, logs[i]);
        most = fmax(most, logs[i]);
    }
    out->low = exp(least);
    out->high = exp(most);
}

static void take_student(double mean, double deviation, double independent, gate_answer *out)
{
    double half = t99(independent - 1) * deviation / sqrt(independent);
    out->low = exp(mean - half);
    out->high = exp(mean + half);
}

static void judge_logs(const double *logs, uint32_t n, double tolerance, gate_answer *out)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++)
        mean += logs[i] / n;
    for (uint32_t i = 0; i < n; i++)
        squares += (logs[i] - mean) * (logs[i] - mean);
    double independent = n / stats_autocorrelation_time(logs, n);
    out->effective_base = out->effective_now = independent;
    out->ratio = exp(mean);
    bool dependent = independent < INDEPENDENT_LEAST;
    if (dependent)
        take_range(logs, n, out);
    else
        take_student(mean, sqrt(squares / (n - 1)), independent, out);
    decide(tolerance, dependent, out);
}

static double median_of(const interleave_series *s)
{
    uint32_t n = s->ms.n;
    double *x = n ? memory_alloc(sizeof *x * n) : NULL, m = 0;
    if (x) {
        memcpy(x, s->ms.items, sizeof *x * n);
        stats_sort(x, n);
        m = stats_quantile(x, n, 0.5);
    }
    free(x);
    return m;
}

void interleave_judge(const interleave_series *base, const interleave_series *now, double tolerance,
                      gate_answer *out)
{
    uint32_t n = base->turns.n < now->turns.n ? base->turns.n : now->turns.n, kept = 0;
    double *logs = n ? memory_alloc(sizeof *logs * n) : NULL;
    *out = (gate_answer){.verdict = VERDICT_INCONCLUSIVE,
                         .reason = GATE_FEW_RUNS,
                         .ratio = 1,
                         .base = median_of(base),
                         .now = median_of(now)};
    for (uint32_t i = 0; logs && i < n; i++)
        if (base->turns.items[i] > 0 && now->turns.items[i] > 0)
            logs[kept++] = log(now->turns.items[i] / base->turns.items[i]);
    if (kept >= ROUNDS_LEAST)
        judge_logs(logs, kept, tolerance, out);
    free(logs);
}
