/* See cold.h. */
#include "measure/cold.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/process.h"
#include "measure/stats.h"

enum { ENGINE, SESSION, FIRST_RUN, TOTAL };

typedef struct cold_answer { /* of one process */
    assay_status status;
    double ms[PROFILE_COLD_PARTS];
    assay_error err;
} cold_answer;

/* ---- in the new process ---- */

static assay_status first_run(engine *e, engine_session *s, const cold_request *t, double *ms,
                              assay_error *err)
{
    input_set inputs = {0};
    engine_job *job = NULL;
    TRY(inputs_make(t->wants, t->n_wants, engine_session_about(s), t->seed, &inputs, err));
    TRY(engine_job_open(s, inputs.tensors, inputs.n, &job, err));
    uint64_t began = engine_now_ns(e);
    TRY(engine_job_run(job, err));
    *ms = (double)(engine_now_ns(e) - began) / 1e6;
    return ASSAY_OK;
}

/* Nothing is closed: the process ends. */
static assay_status start_engine(const cold_request *t, cold_answer *out)
{
    engine *e = NULL;
    engine_session *s = NULL;
    TRY(t->open(t->ctx, &e, &out->err));
    out->ms[ENGINE] = (double)engine_about(e)->load_ns / 1e6;
    TRY(engine_session_open(e, &t->model, &t->options, &s, &out->err));
    out->ms[SESSION] = (double)engine_session_about(s)->create_ns / 1e6;
    TRY(first_run(e, s, t, &out->ms[FIRST_RUN], &out->err));
    out->ms[TOTAL] = out->ms[ENGINE] + out->ms[SESSION] + out->ms[FIRST_RUN];
    return ASSAY_OK;
}

static void run_start(void *ctx, void *out)
{
    cold_answer answer = {0};
    answer.status = start_engine(ctx, &answer);
    memcpy(out, &answer, sizeof answer);
}

/* ---- all of them ---- */

static assay_status start_once(const cold_request *t, double ms[PROFILE_COLD_PARTS],
                               assay_error *err)
{
    cold_answer answer = {0};
    const process_call call = {.run = run_start,
                               .ctx = (void *)(uintptr_t)t,
                               .out_bytes = sizeof answer,
                               .cancelled = t->cancelled,
                               .asks = t->ctx};
    TRY(process_call_apart(&call, &answer, err));
    if (answer.status != ASSAY_OK)
        return err_fail(err, answer.status, "%s", answer.err.message);
    memcpy(ms, answer.ms, sizeof answer.ms);
    return ASSAY_OK;
}

static bool describe_part(profile_cold_part *p, double *x, uint32_t n, arena *a)
{
    profile_stats s;
    double *work = memory_alloc(sizeof *work * (2 * (size_t)n + 1));
    p->samples_ms = arena_copy(a, x, sizeof *x * n);
    p->n_samples = n;
    if (!work || !p->samples_ms) {
        free(work);
        return false;
    }
    stats_describe(x, n, work, &s);
    free(work);
    p->mean_ms = s.mean;
    p->std_ms = s.std;
    p->min_ms = s.min;
    p->median_ms = s.median;
    p->p95_ms = s.p95;
    p->max_ms = s.max;
    return true;
}

static assay_status describe_starts(double (*ms)[PROFILE_COLD_PARTS], uint32_t n, profile *p,
                                    profile_cold *out, assay_error *err)
{
    static const char *const names[PROFILE_COLD_PARTS] = {"engine", "session", "first run",
                                                          "total"};
    profile_cold_part *parts = ARENA_ARRAY(p->arena, profile_cold_part, PROFILE_COLD_PARTS);
    double *x = ARENA_ARRAY(p->arena, double, n);
    TRY_MEMORY(parts && x, err);
    for (int k = 0; k < PROFILE_COLD_PARTS; k++) {
        parts[k].part = names[k];
        for (uint32_t i = 0; i < n; i++)
            x[i] = ms[i][k];
        TRY_MEMORY(describe_part(&parts[k], x, n, p->arena), err);
    }
    out->parts = parts;
    out->n_parts = PROFILE_COLD_PARTS;
    out->starts = n;
    out->present = true;
    return ASSAY_OK;
}

assay_status cold_measure(const cold_request *t, profile *p, profile_cold *out, assay_error *err)
{
    const uint32_t n = t->starts;
    double(*ms)[PROFILE_COLD_PARTS] = memory_zeroed(n, sizeof *ms);
    assay_status s = ms ? ASSAY_OK : err_no_memory(err);
    for (uint32_t i = 0; i < n && s == ASSAY_OK; i++)
        s = start_once(t, ms[i], err);
    if (s == ASSAY_OK)
        s = describe_starts(ms, n, p, out, err);
    free(ms);
    return s;
}
