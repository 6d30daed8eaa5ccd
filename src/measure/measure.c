/* See measure.h. */
#include "measure/measure.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "measure/busy.h"
#include "measure/cause.h"
#include "measure/pulse.h"
#include "measure/stats.h"

enum { MEASURE_CURVE = 512 };

typedef struct bench {
    const measure_request *q;
    arena *arena;
    profile_config *out;
    const char *root;
    engine_session *session;
    input_set inputs;
    engine_job **jobs;
    uint32_t n_jobs;
    watch *watch;
    sample_runs runs;
    system_resident before_session, before;
    uint64_t mark;         /* the kernel's high-water mark when the stage at hand began */
    uint64_t session_peak; /* of making the session; 0: no more than before it */
    uint64_t first_run_ns;
    system_usage usage_before, usage_after;
    double wait_before, wait_after; /* for a CPU, in seconds */
    profile_io io_before, io_after;
    uint64_t energy_before, energy_after;
    profile_gpu_use gpu;
    counter counter;
    double beats[2 * PULSE_BEATS];
    uint32_t n_beats;
} bench;

/* ---- hooks ---- */

static bool while_warming(void *ctx, uint64_t done, uint64_t planned, double fraction)
{
    const measure_request *q = ((bench *)ctx)->q;
    return !q->hooks.go_on || q->hooks.go_on(q->hooks.ctx, true, done, planned, fraction);
}

static bool while_running(void *ctx, uint64_t done, uint64_t planned, double fraction)
{
    const measure_request *q = ((bench *)ctx)->q;
    return !q->hooks.go_on || q->hooks.go_on(q->hooks.ctx, false, done, planned, fraction);
}

static void stop_session(void *target)
{
    engine_session_stop(target);
}

/* A run that was stopped because the user wanted it so has not failed. */
static assay_status forgive(bench *b, assay_status s, assay_error *err)
{
    const measure_hooks *h = &b->q->hooks;
    if (s == ASSAY_OK || !h->cancelled || !h->cancelled(h->ctx))
        return s;
    b->out->partial = true;
    err_clear(err);
    return ASSAY_OK;
}

/* ---- resident memory ---- */

/* The looks of the watch are milliseconds apart; the kernel's own mark misses nothing. */
static void begin_stage(bench *b, system_resident *now)
{
    system_resident_peak_reset(b->root);
    b->mark = system_resident_peak(b->root);
    system_resident_now(b->root, now);
}

/* Highest of the stage; 0: no more than it began with. */
static uint64_t stage_peak(const bench *b)
{
    uint64_t peak = system_resident_peak(b->root);
    return peak > b->mark ? peak : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- making ready ---- */

static assay_status open_jobs(bench *b, assay_error *err)
{
    uint32_t n = b->q->load.concurrency ? b->q->load.concurrency : 1;
    b->jobs = memory_zeroed(n, sizeof *b->jobs);
    TRY_MEMORY(b->jobs, err);
    for (; b->n_jobs < n; b->n_jobs++)
        TRY(engine_job_open(b->session, b->inputs.tensors, b->inputs.n, &b->jobs[b->n_jobs], err));
    return ASSAY_OK;
}

static assay_status make_ready(bench *b, assay_error *err)
{
    const measure_request *q = b->q;
    if (!q->no_malloc_trim)
        malloc_trim(0);
    begin_stage(b, &b->before_session);
    TRY(engine_session_open(q->engine, &q->model, &q->options, &b->session, err));
    watch_aim(b->watch, b->session);
    b->out->load_ms = (double)engine_about(q->engine)->load_ns / 1e6;
    b->out->session_ms = (double)engine_session_about(b->session)->create_ns / 1e6;
    /* What making the session needed and gave back would else be counted as the model's. */
    if (!q->no_malloc_trim)
        malloc_trim(0);
    TRY(inputs_make(q->wants, q->n_wants, engine_session_about(b->session), q->seed, &b->inputs,
                    err));
    return open_jobs(b, err);
}

static assay_status warm_up(bench *b, assay_error *err)
{
    const sample_hook hook = {.go_on = while_warming, .ctx = b};
    warmup_rule rule = b->q->warmup;
    warmup_result r;
    b->session_peak = stage_peak(b);
    begin_stage(b, &b->before);
    b->first_run_ns = engine_now_ns(b->q->engine);
    if (rule.min_runs == 0)
        rule.min_runs = 1; /* the first run is never like the others */
    assay_status s = warmup_run(b->q->engine, b->jobs[0], &rule, &hook, &r, err);
    bool interrupted = r.interrupted;
    if (s == ASSAY_OK && !warmup_keep(&r, b->arena, b->out))
        s = err_no_memory(err);
    warmup_result_free(&r);
    TRY(s);
    /* The first run of every other thread allocates its own memory. */
    for (uint32_t i = 1; i < b->n_jobs && !interrupted; i++) {
        TRY(engine_job_run(b->jobs[i], err));
        engine_job_drop(b->jobs[i]);
    }
    return ASSAY_OK;
}

/* ---- running ---- */

static assay_status run_bench(bench *b, assay_error *err)
{
    const measure_request *q = b->q;
    const sample_hook hook = {.go_on = while_running, .ctx = b};
    sample_load load = q->load;
    load.counter = &b->counter;
    pulse_take(b->beats, &b->n_beats);
    system_io_now(b->root, &b->io_before);
    b->energy_before = system_energy_uj(b->root);
    gpu_range_push(q->gpu, "assay runs");
    watch_gpu_clear(b->watch);
    b->wait_before = system_run_queue_wait(b->root);
    system_usage_now(false, &b->usage_before);
    assay_status s = sample_measure(q->engine, b->jobs, &q->rule, &load, &hook, &b->runs, err);
    system_usage_now(false, &b->usage_after);
    b->wait_after = system_run_queue_wait(b->root);
    watch_gpu(b->watch, &b->gpu);
    gpu_range_pop(q->gpu);
    b->energy_after = system_energy_uj(b->root);
    system_io_now(b->root, &b->io_after);
    pulse_take(b->beats, &b->n_beats);
    b->out->partial = b->out->partial || b->runs.interrupted;
    return s;
}

/* ---- what came out ---- */

static assay_status describe_times(bench *b, assay_error *err)
{
    uint32_t n = b->runs.n;
    double *ms = ARENA_ARRAY(b->arena, double, n + 1u),
           *work = memory_alloc(sizeof *work * (2 * n + 1u));
    if (!ms || !work) {
        free(work);
        return err_no_memory(err);
    }
    for (uint32_t i = 0; i < n; i++)
        ms[i] = sample_ms(&b->runs.items[i]);
    stats_describe(ms, n, work, &b->out->latency);
    free(work);
    b->out->samples_ms = ms;
    b->out->n_samples = n;
    return ASSAY_OK;
}

/* One run at a time: the runs' own time, not what the loop does between them. Several at once, or runs
 * that wait for their turn: what came through in the time that passed. */
static void describe_rates(bench *b)
{
    profile_config *c = b->out;
    double wall_ms = (double)(b->runs.end_ns - b->runs.begin_ns) / 1e6;
    bool alone = b->n_jobs <= 1 && b->q->load.rate <= 0;
    double each = alone ? c->latency.mean : c->latency.runs ? wall_ms / (double)c->latency.runs : 0;
    if (each > 0 && b->q->batch)
        c->samples_per_second = (double)b->q->batch * 1000 / each;
    if (c->latency.median > 0 && b->q->load.rate <= 0) {
        double per = alone ? c->latency.median : each;
        c->gflops_per_s = (double)b->q->flops / per / 1e6;
        c->gbytes_per_s = (double)b->q->bytes / per / 1e6;
    }
}

static void describe_memory(bench *b, const watch_tick *t, uint32_t n)
{
    profile_resident *m = &b->out->memory;
    watch_summary s;
    system_resident after;
    engine_memory arena_now;
    uint64_t plan = m->plan_activations;
    bool seen = watch_summarise(t, n, b->runs.begin_ns, b->runs.end_ns, &s);
    system_resident_now(b->root, &after);
    if (!seen)
        s = (watch_summary){.peak = after, .average = after};
    *m = (profile_resident){.before = b->before.total,
                            .after = after.total,
                            .before_session = b->before_session.total,
                            .engine_bytes = b->q->engine_bytes,
                            .before_anon = b->before_session.anon,
                            .before_file = b->before_session.file,
                            .average = s.average.total,
                            .arena_in_use = PROFILE_NOT_TOLD,
                            .arena_requested = PROFILE_NOT_TOLD,
                            .arena_held = PROFILE_NOT_TOLD,
                            .arena_peak = PROFILE_NOT_TOLD,
                            .plan_activations = plan,
                            .fragmentation = NAN};
    m->run_peak = larger(larger(after.total, b->before.total), stage_peak(b));
    if (watch_summarise(t, n, b->first_run_ns, UINT64_MAX, &s))
        m->run_peak = larger(m->run_peak, s.peak.total);
    watch_summarise(t, n, 0, UINT64_MAX, &s);
    m->peak = larger(larger(m->run_peak, b->session_peak), s.peak.total);
    m->peak_anon = larger(s.peak.anon, after.anon);
    m->peak_file = larger(s.peak.file, after.file);
    if (!engine_session_memory(b->session, &arena_now))
        return;
    m->arena_in_use = arena_now.in_use;
    m->arena_requested = arena_now.requested;
    m->arena_held = arena_now.held;
    m->arena_peak = arena_now.max_in_use;
    if (arena_now.held >= arena_now.max_in_use && arena_now.held > 0)
        m->fragmentation = 1 - (double)arena_now.max_in_use / (double)arena_now.held;
}

static void describe_use(bench *b, const watch_tick *t, uint32_t n)
{
    profile_use *u = &b->out->use;
    watch_summary s;
    double wall = (double)(b->runs.end_ns - b->runs.begin_ns) / 1e9;
    const system_usage used = system_usage_between(&b->usage_before, &b->usage_after);
    int threads = b->q->options.threads; /* the engine's, of which a caller's own is one */
    *u = (profile_use){.present = true,
                       .wall_s = wall,
                       .cpu_s = (double)used.cpu_ns / 1e9,
                       .threads = threads > 0 ? threads - 1 + (int)b->n_jobs : 0,
                       .voluntary_switches = used.voluntary,
                       .involuntary_switches = used.involuntary,
                       .minor_faults = used.minor_faults,
                       .major_faults = used.major_faults,
                       .io = profile_io_between(&b->io_before, &b->io_after),
                       .steal_percent = NAN,
                       .frequency_mhz = NAN,
                       .frequency_min_mhz = NAN,
                       .gpu = b->gpu};
    u->cpu_percent = system_cpu_percent(u->cpu_s, wall);
    u->energy_j = system_energy_between(b->root, b->energy_before, b->energy_after);
    u->run_queue_wait_s = b->wait_after - b->wait_before;
    busy_describe(u, b->root, b->arena);
    if (!watch_summarise(t, n, b->runs.begin_ns, b->runs.end_ns, &s))
        return;
    u->steal_percent = s.all ? 100 * (double)s.steal / (double)s.all : NAN;
    u->frequency_mhz = s.mhz;
    u->frequency_min_mhz = s.mhz_min;
}

/* Resident memory over time, thinned. */
static uint32_t measure_curve(const watch_tick *t, uint32_t n, arena *a,
                              const profile_memory_sample **out)
{
    uint32_t step = n / MEASURE_CURVE + 1, kept = 0;
    profile_memory_sample *list = ARENA_ARRAY(a, profile_memory_sample, n / step + 1u);
    *out = list;
    for (uint32_t i = 0; list && i < n; i += step)
        list[kept++] = (profile_memory_sample){.ms = (double)(t[i].time_ns - t[0].time_ns) / 1e6,
                                               .resident = t[i].resident.total,
                                               .anon = t[i].resident.anon,
                                               .file = t[i].resident.file};
    return kept;
}

/* Median, fewest and most of a run: the same code on the same inputs retires the same number. */
static assay_status describe_instructions(bench *b, assay_error *err)
{
    profile_use *u = &b->out->use;
    uint32_t n = 0;
    double *x = memory_alloc(sizeof *x * ((size_t)b->runs.n + 1));
    TRY_MEMORY(x, err);
    for (uint32_t i = 0; i < b->runs.n; i++)
        if (b->runs.items[i].instructions)
            x[n++] = (double)b->runs.items[i].instructions;
    counter_summary told = counter_describe(x, n == b->runs.n ? n : 0);
    u->instructions = told.median;
    u->instructions_min = told.fewest;
    u->instructions_max = told.most;
    free(x);
    return ASSAY_OK;
}

static assay_status describe(bench *b, assay_error *err)
{
    uint32_t n;
    watch_stop(b->watch);
    const watch_tick *t = watch_ticks(b->watch, &n);
    TRY(describe_times(b, err));
    describe_rates(b);
    describe_memory(b, t, n);
    describe_use(b, t, n);
    b->out->use.pulse_us = pulse_median(b->beats, b->n_beats);
    TRY(describe_instructions(b, err));
    b->out->n_curve = measure_curve(t, n, b->arena, &b->out->curve);
    return cause_outliers(&b->runs, t, n, b->arena, b->out, err);
}

static assay_status measure(bench *b, assay_error *err)
{
    gpu_range_push(b->q->gpu, "assay session");
    assay_status s = forgive(b, make_ready(b, err), err);
    gpu_range_pop(b->q->gpu);
    if (s != ASSAY_OK || !b->session || !b->jobs)
        return s;
    gpu_range_push(b->q->gpu, "assay warm-up");
    s = forgive(b, warm_up(b, err), err);
    gpu_range_pop(b->q->gpu);
    TRY(s);
    if (b->out->partial)
        return ASSAY_OK;
    s = forgive(b, run_bench(b, err), err);
    if (b->runs.n == 0)
        return s;
    assay_error ignored;
    err_clear(&ignored);
    assay_status described = describe(b, s == ASSAY_OK ? err : &ignored);
    if (b->q->outputs && s == ASSAY_OK && !b->out->partial)
        outputs_take(b->session, b->jobs[0], b->q->outputs, &ignored);
    return s == ASSAY_OK ? described : s;
}

assay_status measure_config(const measure_request *q, arena *a, profile_config *out,
                            measure_session_fn *seen, void *ctx, assay_error *err)
{
    bench b = {
        .q = q, .arena = a, .out = out, .root = q->root ? q->root : "", .gpu = PROFILE_GPU_UNKNOWN};
    const watch_options w = {.root = b.root,
                             .cancelled = q->hooks.cancelled,
                             .gpu = q->gpu,
                             .on_cancel = stop_session,
                             .ctx = q->hooks.ctx};
    out->pre_ms = out->post_ms = NAN;
    out->samples_per_second = out->gflops_per_s = out->gbytes_per_s = NAN;
    out->percent_of_peak = out->percent_of_bandwidth = NAN;
    TRY(watch_start(&w, &b.watch, err));
    counter_open(&b.counter, q->counter); /* before the engine begins its threads */
    assay_status s = measure(&b, err);
    counter_close(&b.counter);
    watch_aim(b.watch, NULL);
    watch_free(b.watch);
    if (seen && b.session)
        seen(ctx, b.session);
    for (uint32_t i = 0; i < b.n_jobs; i++)
        engine_job_close(b.jobs[i]);
    free(b.jobs);
    inputs_free(&b.inputs);
    engine_session_close(b.session);
    sample_runs_free(&b.runs);
    return s;
}

assay_status measure_outputs(const measure_request *q, output_set *out, assay_error *err)
{
    engine_session *session = NULL;
    engine_job *job = NULL;
    input_set inputs = {0};
    *out = (output_set){0};
    TRY(engine_session_open(q->engine, &q->model, &q->options, &session, err));
    assay_status s = inputs_make(q->wants, q->n_wants, engine_session_about(session), q->seed,
                                 &inputs, err);
    if (s == ASSAY_OK)
        s = engine_job_open(session, inputs.tensors, inputs.n, &job, err);
    if (s == ASSAY_OK)
        s = outputs_take(session, job, out, err);
    engine_job_close(job);
    inputs_free(&inputs);
    engine_session_close(session);
    return s;
}

assay_status measure_median(engine *e, engine_job *job, uint32_t warmup, uint32_t runs,
                            const sample_hook *hook, double *ms, assay_error *err)
{
    const sample_rule rule = {.runs = runs};
    const sample_load load = {.concurrency = 1};
    sample_runs got;
    warmup_result w;
    *ms = 0;
    assay_status s = warmup_run(e, job, &(warmup_rule){.min_runs = warmup, .max_runs = warmup},
                                hook, &w, err);
    warmup_result_free(&w);
    TRY(s);
    s = sample_measure(e, &job, &rule, &load, hook, &got, err);
    double *x = got.n ? memory_alloc(sizeof *x * got.n) : NULL;
    for (uint32_t i = 0; x && i < got.n; i++)
        x[i] = sample_ms(&got.items[i]);
    if (x) {
        stats_sort(x, got.n);
        *ms = stats_quantile(x, got.n, 0.5);
    }
    free(x);
    sample_runs_free(&got);
    return s;
}

/* ---- what is worth saying of a configuration ---- */

void measure_note_config(const profile_config *c, double precision_target, notes *n)
{
    double *work = c->n_samples ? memory_alloc(sizeof *work * c->n_samples) : NULL;
    double drift = work ? stats_drift(c->samples_ms, c->n_samples, work) : 0;
    free(work);
    if (c->latency.runs && !c->steady && !c->partial)
        notes_add(n, "not-steady", (str){0}, "Close other programs, or use more --warmup-runs.",
                  "Latency of batch size %llu was not steady after %llu warm-up runs.",
                  (unsigned long long)c->batch, (unsigned long long)c->warmup_runs);
    if (drift != 0)
        notes_add(n, "drift", (str){0}, "The machine's speed changes. Check the individual runs.",
                  "Runs of batch size %llu became %.0f %% %s during the measurement.",
                  (unsigned long long)c->batch, 100 * (drift < 0 ? -drift : drift),
                  drift > 0 ? "slower" : "faster");
    double half = c->latency.mean > 0
                      ? 50 * (c->latency.ci95_high - c->latency.ci95_low) / c->latency.mean
                      : 0;
    if (precision_target > 0 && isnan(half) && c->latency.runs && !c->partial)
        notes_add(n, "not-precise", (str){0}, "Use a quieter machine or a longer --duration.",
                  "Batch size %llu has too few or too scattered runs for a confidence interval of "
                  "the mean.",
                  (unsigned long long)c->batch);
    if (precision_target > 0 && half > precision_target && !c->partial)
        notes_add(n, "not-precise", (str){0}, "Use a quieter machine or a longer --duration.",
                  "The mean of batch size %llu is precise to ± %.2g %%; the target was %.2g %%.",
                  (unsigned long long)c->batch, half, precision_target);
    if (c->use.steal_percent > 2)
        notes_add(n, "steal", (str){0}, "The machine is shared, so times vary.",
                  "CPU steal was %.1f %% while batch size %llu ran.", c->use.steal_percent,
                  (unsigned long long)c->batch);
}
