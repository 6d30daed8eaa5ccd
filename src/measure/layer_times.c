#include "measure/layer_times.h"

#include <math.h>

#include "measure/stats.h"
#include "profile/time_groups.h"

/* ---- what the profiler costs ---- */

enum { CHAIN_RUNS_MOST = 64 };

/* Mean kernel time and whole time of each run of the chain after its warm-up. Single kernels are reported in whole
 * microseconds, so medians are taken over runs, not kernels. */
static uint32_t per_run(const trace *t, uint32_t from, double *kernel_us, double *run_us)
{
    uint32_t n = 0;
    for (uint32_t r = from; r < t->n_runs && n < CHAIN_RUNS_MOST; r++) {
        const trace_run *run = &t->runs[r];
        double sum = 0;
        for (uint32_t i = 0; i < run->n; i++)
            sum += (double)t->events[run->first + i].dur_us;
        if (run->n == 0)
            continue;
        kernel_us[n] = sum / run->n;
        run_us[n++] = (double)run->dur_us;
    }
    stats_sort(kernel_us, n);
    stats_sort(run_us, n);
    return n;
}

bool profiler_bias_of(const trace *t, uint32_t warmup_runs, double plain_us, uint32_t nodes,
                      profiler_bias *out)
{
    double kernel_us[CHAIN_RUNS_MOST], run_us[CHAIN_RUNS_MOST];
    uint32_t n = per_run(t, warmup_runs, kernel_us, run_us);
    if (n == 0)
        return false;
    double inside = stats_quantile(kernel_us, n, 0.5) - plain_us / 2;
    double all = stats_quantile(run_us, n, 0.5) / nodes - plain_us;
    out->inside_us = inside > 0 ? inside : 0;
    out->between_us = all > out->inside_us ? all - out->inside_us : 0;
    out->dispatch_us = plain_us / 2;
    return true;
}

/* ---- sums ---- */

typedef struct sums {
    double *layer, *layer_sq; /* [layers] over runs, microseconds */
    double *of_run;           /* [layers] within the current run */
    double *per_run;          /* [runs][layers] milliseconds */
    uint32_t n_runs;
    double *own; /* [nodes of the trace] the engine's own */
    double layers_us, own_us;
    uint64_t events;
} sums;

/* What a layer would cost on a machine that does 16 FLOPs per byte. */
static double weight_of(const profile_layer *l)
{
    return (double)l->flops / 16 + (double)l->memory + 1;
}

static void share(const layer_times_request *q, sums *x, const layer_span *k, double us)
{
    const profile *p = q->of;
    double all = 0;
    for (uint32_t i = 0; i < k->n; i++)
        all += weight_of(&p->layers[q->layers[k->first + i]]);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t layer = q->layers[k->first + i];
        x->of_run[layer] += us * weight_of(&p->layers[layer]) / all;
    }
}

static void book(const layer_times_request *q, sums *x, const trace_event *e)
{
    const layer_span *k = &q->spans[e->node];
    double us = (double)e->dur_us - q->bias.inside_us;
    us = us > 0 ? us : 0;
    x->events++;
    if (k->n) {
        share(q, x, k, us);
        x->layers_us += us;
    } else {
        x->own[e->node] += us;
        x->own_us += us;
    }
}

static void end_run(const layer_times_request *q, sums *x)
{
    double *row = x->per_run + (size_t)x->n_runs++ * q->of->n_layers;
    for (uint32_t i = 0; i < q->of->n_layers; i++) {
        row[i] = x->of_run[i] / 1000;
        x->layer[i] += x->of_run[i];
        x->layer_sq[i] += x->of_run[i] * x->of_run[i];
        x->of_run[i] = 0;
    }
}

static bool sums_init(const layer_times_request *q, arena *work, sums *x)
{
    size_t n = q->of->n_layers + 1u;
    x->layer = ARENA_ARRAY(work, double, n);
    x->layer_sq = ARENA_ARRAY(work, double, n);
    x->of_run = ARENA_ARRAY(work, double, n);
    x->per_run = ARENA_ARRAY(work, double, n *(q->trace->n_runs - q->warmup_runs + 1u));
    x->own = ARENA_ARRAY(work, double, q->trace->n_nodes + 1u);
    return !arena_failed(work);
}

static double add_up(const layer_times_request *q, sums *x)
{
    double runs_us = 0;
    for (uint32_t r = q->warmup_runs; r < q->trace->n_runs; r++) {
        const trace_run *run = &q->trace->runs[r];
        for (uint32_t i = 0; i < run->n; i++)
            if (q->trace->events[run->first + i].parent == TRACE_NONE)
                book(q, x, &q->trace->events[run->first + i]);
        end_run(q, x);
        runs_us += (double)run->dur_us;
    }
    return runs_us;
}

/* ---- the profile ---- */

static void fill_layers(const layer_times_request *q, const sums *x, double runs, profile *p)
{
    for (uint32_t i = 0; i < p->n_layers && i < q->of->n_layers; i++) {
        double mean = x->layer[i] / runs, square = x->layer_sq[i] / runs - mean * mean;
        p->layers[i].time_ms = mean / 1000;
        p->layers[i].time_std_ms = square > 0 ? sqrt(square) / 1000 : 0;
    }
}

static void fill_own(const layer_times_request *q, const sums *x, double runs, profile *p,
                     profile_ledger *l)
{
    profile_kernel *list = ARENA_ARRAY(p->arena, profile_kernel, q->trace->n_nodes + 1u);
    for (uint32_t i = 0; list && i < q->trace->n_nodes; i++)
        if (x->own[i] > 0)
            list[l->n_engine_kernels++] = (profile_kernel){
                .name = str_copy(p->arena, q->trace->nodes[i].name),
                .op = str_copy(p->arena, q->trace->nodes[i].op),
                .time_ms = x->own[i] / runs / 1000};
    l->engine_kernels = list;
}

/* Small differences of large numbers: what is below nothing is taken from the line before it. */
static void balance(profile_ledger *l)
{
    double left = l->run_ms - l->layers_ms - l->engine_ms;
    if (left < 0) {
        l->run_ms -= left;
        left = 0;
    }
    if (l->dispatch_ms > left)
        l->dispatch_ms = left;
    l->unexplained_ms = left - l->dispatch_ms;
}

/* The profile has the layers of the graph that was run, one for one, but for what a limit may have cut off. */
static bool group_times(const layer_times_request *q, const sums *x, profile *p, profile_ledger *l)
{
    bool same = p->n_layers == q->of->n_layers;
    str patterns = str_copy(p->arena, q->patterns);
    time_groups g;
    if (!time_groups_make(p, same ? x->per_run : NULL, x->n_runs, patterns, p->arena, &g))
        return false;
    l->groups = g.items;
    l->n_groups = g.n;
    return true;
}

assay_status layer_times_fill(const layer_times_request *q, arena *work, profile *p,
                              assay_error *err)
{
    sums x = {0};
    profile_ledger *l = &p->measured->ledger;
    if (q->trace->n_runs <= q->warmup_runs)
        return err_fail(err, ASSAY_ERR_ENGINE, "the engine's profile has no runs");
    TRY_MEMORY(sums_init(q, work, &x), err);
    double runs = (double)(q->trace->n_runs - q->warmup_runs), runs_us = add_up(q, &x);
    double events = (double)x.events / runs;
    *l = (profile_ledger){.present = true,
                          .runs = (uint64_t)runs,
                          .warmup_runs = q->warmup_runs,
                          .layers_ms = x.layers_us / runs / 1000,
                          .engine_ms = x.own_us / runs / 1000,
                          .dispatch_ms = events * q->bias.dispatch_us / 1000,
                          .bias_us = q->bias.inside_us,
                          .overhead_us = q->bias.between_us,
                          .latency_ms = q->latency_ms};
    l->run_ms = runs_us / runs / 1000 - events * (q->bias.inside_us + q->bias.between_us) / 1000;
    balance(l);
    fill_layers(q, &x, runs, p);
    fill_own(q, &x, runs, p, l);
    return group_times(q, &x, p, l) ? ASSAY_OK : err_no_memory(err);
}
