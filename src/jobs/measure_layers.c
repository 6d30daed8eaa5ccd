/* Time of every layer, from runs under the engine's profiler.
 *
 * The profiler costs some microseconds in each kernel's own time and some more between kernels. Both are
 * found on a chain of tiny nodes, run with and without it: with u the time per node without the
 * profiler, d the kernel time it reports and p the time per node of a profiled run, it adds d - u/2
 * inside a kernel (half of u is taken to be the kernel, half the dispatch) and p - u in all.
 *
 * Per run: layers + engine's own kernels + dispatch + unexplained = run - kernels * (p - u).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/kernels.h"
#include "base/file.h"
#include "formats/onnx_read.h"
#include "formats/onnx_write.h"
#include "ir/build.h"
#include "jobs/measure.h"
#include "jobs/measure_gpu.h"
#include "measure/stats.h"
#include "profile/time_groups.h"

enum { CHAIN = JOB_CHAIN, CHAIN_RUNS = 60, WARMUP_RUNS = 5, EVENTS_MAX = 800000, RUNS_MOST = 200 };

#define TRACE_BYTES ((size_t)1 << 30)

typedef struct bias {
    double inside_us, between_us, dispatch_us;
} bias;

typedef struct study {
    const job_layers_request *q;
    arena *arena;
    char *folder; /* of our own files */
    trace trace;
    uint32_t warmup_runs, runs;
    bias bias;
    kernel_map map;
    uint32_t *kernel_of; /* by node of the trace; UINT32_MAX: none */
} study;

static char *path_in(const study *s, const char *name)
{
    return arena_printf(s->arena, "%s/%s", s->folder, name);
}

/* ---- a profiled session ---- */

typedef struct session_run {
    const engine_model *model;
    engine_options options;
    const input_want *wants;
    uint32_t n_wants, warmup, runs;
    double median_ms;
} session_run;

static assay_status run_jobs(study *s, session_run *r, engine_session *session, assay_error *err)
{
    input_set inputs;
    engine_job *job = NULL;
    assay_status status = inputs_make(r->wants, r->n_wants, engine_session_about(session),
                                      (uint64_t)s->q->o->model.seed, &inputs, err);
    if (status == ASSAY_OK)
        status = engine_job_open(session, inputs.tensors, inputs.n, &job, err);
    if (status == ASSAY_OK)
        status = measure_median(s->q->engine, job, r->warmup, r->runs, &s->q->hook, &r->median_ms,
                                err);
    engine_job_close(job);
    inputs_free(&inputs);
    return status;
}

static assay_status run_session(study *s, session_run *r, trace *out, assay_error *err)
{
    engine_session *session = NULL;
    const char *path = NULL;
    TRY(engine_session_open(s->q->engine, r->model, &r->options, &session, err));
    assay_status status = run_jobs(s, r, session, err);
    if (out) {
        assay_error ignored;
        err_clear(&ignored);
        assay_status ended = engine_profile_end(session, &path,
                                                status == ASSAY_OK ? err : &ignored);
        if (status == ASSAY_OK)
            status = ended;
    }
    if (status == ASSAY_OK && out)
        status = trace_read(path, s->arena, out, err);
    if (path)
        file_remove(path);
    engine_session_close(session);
    return status;
}

/* ---- what the profiler costs ---- */

assay_status job_write_chain(const char *path, assay_error *err)
{
    ir_model *m = NULL;
    const int64_t dims[] = {1};
    TRY(ir_model_new((size_t)16 << 20, &m, err));
    ir_set_opset(m, (str){0}, 17);
    m->ir_version = 8;
    m->name = STR("chain");
    ir_id last = ir_add_value(m, 0, STR("x0"));
    ir_value_at(m, last)->declared = ir_tensor_type(m, IR_FLOAT32, 1, dims);
    ir_add_input(m, 0, last);
    for (int i = 1; i <= CHAIN; i++) {
        ir_id next = ir_add_value(m, 0, str_printf(m->arena, "x%d", i));
        const ir_node node = {.name = str_printf(m->arena, "n%d", i),
                              .op = STR("Neg"),
                              .version = 17,
                              .call = IR_NONE,
                              .inputs = &last,
                              .outputs = &next,
                              .n_inputs = 1,
                              .n_outputs = 1};
        ir_add_node(m, 0, &node);
        last = next;
    }
    ir_value_at(m, last)->declared = ir_tensor_type(m, IR_FLOAT32, 1, dims);
    ir_add_output(m, 0, last);
    assay_status s = arena_failed(m->arena) ? err_no_memory(err)
                                            : onnx_write_file(m, path, NULL, NULL, err);
    ir_model_free(m);
    return s;
}

/* Mean kernel time and whole time of each run of the chain after its warm-up. Single kernels are told in
 * whole microseconds, so medians are taken of runs, not of kernels. */
static uint32_t per_run(const trace *t, double *kernel_us, double *run_us)
{
    uint32_t n = 0;
    for (uint32_t r = WARMUP_RUNS; r < t->n_runs && n < CHAIN_RUNS; r++) {
        const trace_run *run = &t->runs[r];
        double sum = 0;
        for (uint32_t i = 0; i < run->n; i++)
            sum += (double)t->events[run->first + i].dur_us;
        if (run->n == 0)
            continue;
        kernel_us[n] = sum / run->n;
        run_us[n++] = (double)run->dur_us;
    }
    return n;
}

static assay_status calibrate(study *s, assay_error *err)
{
    static const int64_t dims[] = {1};
    const input_want x = {.name = STR("x0"), .dtype = IR_FLOAT32, .rank = 1, .dims = dims};
    const char *path = path_in(s, "chain.onnx");
    const engine_model model = {.path = path};
    session_run r = {.model = &model,
                     .options = job_engine_options(s->q->o, s->arena),
                     .wants = &x,
                     .n_wants = 1,
                     .warmup = WARMUP_RUNS,
                     .runs = CHAIN_RUNS};
    trace t;
    double kernel_us[CHAIN_RUNS], run_us[CHAIN_RUNS];
    TRY(job_write_chain(path, err));
    r.options.opt_level = ENGINE_OPT_OFF;
    TRY(run_session(s, &r, NULL, err));
    double plain_us = r.median_ms * 1000 / CHAIN;
    r.options.profile_prefix = path_in(s, "chain_trace");
    TRY(run_session(s, &r, &t, err));
    uint32_t n = per_run(&t, kernel_us, run_us);
    if (n == 0)
        return err_fail(err, ASSAY_ERR_ENGINE, "The engine's profile holds no kernels.");
    stats_sort(kernel_us, n);
    stats_sort(run_us, n);
    double inside = stats_quantile(kernel_us, n, 0.5) - plain_us / 2;
    double all = stats_quantile(run_us, n, 0.5) / CHAIN - plain_us;
    s->bias.inside_us = inside > 0 ? inside : 0;
    s->bias.between_us = all > s->bias.inside_us ? all - s->bias.inside_us : 0;
    s->bias.dispatch_us = plain_us / 2;
    return ASSAY_OK;
}

/* ---- the model ---- */

static assay_status profile_runs(study *s, assay_error *err)
{
    const job_runnable *x = s->q->x;
    const assay_options *o = s->q->o;
    uint32_t most = x->ir->nodes.n ? EVENTS_MAX / x->ir->nodes.n : EVENTS_MAX;
    s->warmup_runs = WARMUP_RUNS;
    s->runs = (uint32_t)o->measure.num_runs < RUNS_MOST ? (uint32_t)o->measure.num_runs : RUNS_MOST;
    if (most < s->runs + s->warmup_runs)
        s->runs = most > s->warmup_runs + 1 ? most - s->warmup_runs : 1;
    session_run r = {.model = &x->model,
                     .options = job_engine_options(o, s->arena),
                     .wants = x->wants,
                     .n_wants = x->n_wants,
                     .warmup = s->warmup_runs,
                     .runs = s->runs};
    r.options.profile_prefix = path_in(s, "trace");
    r.options.optimised_path = path_in(s, "optimised.onnx");
    return run_session(s, &r, &s->trace, err);
}

/* The layer a node is, or belongs to: what lowering put in its place has its id in `call`. */
uint32_t *job_layers_by_node(const job_runnable *x, arena *a)
{
    const ir_model *m = x->ir;
    uint32_t *layer = ARENA_ARRAY(a, uint32_t, m->nodes.n + 1u);
    for (ir_id i = 0; layer && i < m->nodes.n; i++)
        layer[i] = UINT32_MAX;
    for (uint32_t i = 0; layer && i < x->p->n_layers; i++)
        layer[x->of.nodes[i]] = i;
    for (ir_id i = 0; layer && i < m->nodes.n; i++) {
        ir_id at = ir_node_at(m, i)->call;
        for (int hops = 0; layer[i] == UINT32_MAX && at < m->nodes.n && hops < 8; hops++) {
            layer[i] = layer[at];
            at = ir_node_at(m, at)->call;
        }
    }
    return layer;
}

static assay_status map_kernels(study *s, assay_error *err)
{
    ir_model *optimised = NULL;
    map index;
    uint32_t *layer = job_layers_by_node(s->q->x, s->arena);
    if (!layer)
        return err_no_memory(err);
    TRY(onnx_read_file(path_in(s, "optimised.onnx"), NULL, &optimised, err));
    assay_status status = kernels_map(s->q->x->ir, optimised, layer, s->arena, &s->map, err);
    s->kernel_of = ARENA_ARRAY(s->arena, uint32_t, s->trace.n_nodes + 1u);
    if (status == ASSAY_OK && (!s->kernel_of || !map_init(&index, s->arena, s->map.n_kernels)))
        status = err_no_memory(err);
    for (uint32_t i = 0; status == ASSAY_OK && i < s->map.n_kernels; i++) {
        s->map.kernels[i].name = str_copy(s->arena, s->map.kernels[i].name);
        s->map.kernels[i].op = str_copy(s->arena, s->map.kernels[i].op);
        if (!map_put(&index, s->map.kernels[i].name, i))
            status = err_no_memory(err);
    }
    for (uint32_t i = 0; status == ASSAY_OK && i < s->trace.n_nodes; i++)
        s->kernel_of[i] = map_get(&index, s->trace.nodes[i].name);
    ir_model_free(optimised);
    return status;
}

/* ---- sums ---- */

typedef struct sums {
    double *layer, *layer_sq; /* [layers] over runs, microseconds */
    double *of_run;           /* [layers] within the current run */
    double *per_run;          /* [runs][layers] milliseconds */
    uint32_t n_runs;
    double *own; /* [nodes of the trace] the engine's own */
    double kernels_us, layers_us, own_us;
    uint64_t events;
} sums;

/* What a layer would cost on a machine that does 16 FLOPs per byte. */
static double weight_of(const profile_layer *l)
{
    return (double)l->flops / 16 + (double)l->memory + 1;
}

static void share(study *s, sums *x, const kernel_row *k, double us)
{
    const profile *p = s->q->x->p;
    double all = 0;
    for (uint32_t i = 0; i < k->n; i++)
        all += weight_of(&p->layers[s->map.layers[k->first + i]]);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t layer = s->map.layers[k->first + i];
        x->of_run[layer] += us * weight_of(&p->layers[layer]) / all;
    }
}

static void book(study *s, sums *x, const trace_event *e)
{
    uint32_t k = s->kernel_of[e->node];
    double us = (double)e->dur_us - s->bias.inside_us;
    us = us > 0 ? us : 0;
    x->events++;
    if (k != MAP_NONE && s->map.kernels[k].n) {
        share(s, x, &s->map.kernels[k], us);
        x->layers_us += us;
    } else {
        x->own[e->node] += us;
        x->own_us += us;
    }
}

static void end_run(const study *s, sums *x)
{
    double *row = x->per_run + (size_t)x->n_runs++ * s->q->x->p->n_layers;
    for (uint32_t i = 0; i < s->q->x->p->n_layers; i++) {
        row[i] = x->of_run[i] / 1000;
        x->layer[i] += x->of_run[i];
        x->layer_sq[i] += x->of_run[i] * x->of_run[i];
        x->of_run[i] = 0;
    }
}

static bool sums_init(const study *s, sums *x)
{
    size_t n = s->q->x->p->n_layers + 1u;
    x->layer = ARENA_ARRAY(s->arena, double, n);
    x->layer_sq = ARENA_ARRAY(s->arena, double, n);
    x->of_run = ARENA_ARRAY(s->arena, double, n);
    x->per_run = ARENA_ARRAY(s->arena, double, n *(s->trace.n_runs - s->warmup_runs + 1u));
    x->own = ARENA_ARRAY(s->arena, double, s->trace.n_nodes + 1u);
    return !arena_failed(s->arena);
}

static double add_up(study *s, sums *x)
{
    double runs_us = 0;
    for (uint32_t r = s->warmup_runs; r < s->trace.n_runs; r++) {
        const trace_run *run = &s->trace.runs[r];
        for (uint32_t i = 0; i < run->n; i++)
            if (s->trace.events[run->first + i].parent == TRACE_NONE)
                book(s, x, &s->trace.events[run->first + i]);
        end_run(s, x);
        runs_us += (double)run->dur_us;
    }
    return runs_us;
}

/* ---- the profile ---- */

static void fill_layers(const study *s, const sums *x, double runs, profile *p)
{
    for (uint32_t i = 0; i < p->n_layers && i < s->q->x->p->n_layers; i++) {
        double mean = x->layer[i] / runs, square = x->layer_sq[i] / runs - mean * mean;
        p->layers[i].time_ms = mean / 1000;
        p->layers[i].time_std_ms = square > 0 ? sqrt(square) / 1000 : 0;
    }
}

static void fill_own(const study *s, const sums *x, double runs, profile *p, profile_ledger *l)
{
    profile_kernel *list = ARENA_ARRAY(p->arena, profile_kernel, s->trace.n_nodes + 1u);
    for (uint32_t i = 0; list && i < s->trace.n_nodes; i++)
        if (x->own[i] > 0)
            list[l->n_engine_kernels++] = (profile_kernel){
                .name = str_copy(p->arena, s->trace.nodes[i].name),
                .op = str_copy(p->arena, s->trace.nodes[i].op),
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
static bool group_times(const study *s, const sums *x, profile *p, profile_ledger *l)
{
    bool same = p->n_layers == s->q->x->p->n_layers;
    str patterns = str_copy(p->arena, s->q->o->measure.layer_patterns);
    time_groups g;
    if (!time_groups_make(p, same ? x->per_run : NULL, x->n_runs, patterns, p->arena, &g))
        return false;
    l->groups = g.items;
    l->n_groups = g.n;
    return true;
}

/* Layers that no kernel stands for; a layer may be in several. */
static uint64_t unmapped(const study *s, uint32_t n_layers)
{
    bool *seen = ARENA_ARRAY(s->arena, bool, n_layers + 1u);
    uint64_t n = n_layers;
    for (uint32_t i = 0; seen && i < s->map.n_layers; i++) {
        uint32_t layer = s->map.layers[i];
        if (layer < n_layers && !seen[layer]) {
            seen[layer] = true;
            n--;
        }
    }
    return n;
}

static assay_status fill_ledger(study *s, profile *p, assay_error *err)
{
    sums x = {0};
    profile_ledger *l = &p->measured->ledger;
    if (s->trace.n_runs <= s->warmup_runs)
        return err_fail(err, ASSAY_ERR_ENGINE, "The engine's profile holds no runs.");
    if (!sums_init(s, &x))
        return err_no_memory(err);
    double runs = (double)(s->trace.n_runs - s->warmup_runs), runs_us = add_up(s, &x);
    double events = (double)x.events / runs;
    *l = (profile_ledger){.present = true,
                          .runs = (uint64_t)runs,
                          .warmup_runs = s->warmup_runs,
                          .layers_ms = x.layers_us / runs / 1000,
                          .engine_ms = x.own_us / runs / 1000,
                          .dispatch_ms = events * s->bias.dispatch_us / 1000,
                          .bias_us = s->bias.inside_us,
                          .overhead_us = s->bias.between_us,
                          .latency_ms = s->q->latency_ms};
    l->run_ms = runs_us / runs / 1000 - events * (s->bias.inside_us + s->bias.between_us) / 1000;
    balance(l);
    fill_layers(s, &x, runs, p);
    fill_own(s, &x, runs, p, l);
    if (!group_times(s, &x, p, l))
        return err_no_memory(err);
    job_gpu_events(&s->trace, s->warmup_runs, s->arena, p->arena,
                   (job_gpu_wanted)s->q->o->engine.gpu_events, &p->measured->gpu);
    l->kernels = s->map.n_kernels;
    l->unmapped_layers = unmapped(s, p->n_layers);
    for (uint32_t i = 0; i < s->map.n_kernels; i++)
        l->fused_kernels += s->map.kernels[i].n > 1;
    return ASSAY_OK;
}

static assay_status study_all(study *s, profile *p, assay_error *err)
{
    TRY(file_temp_folder(&s->folder, err));
    TRY(calibrate(s, err));
    TRY(profile_runs(s, err));
    TRY(map_kernels(s, err));
    if (s->trace.truncated)
        notes_add(&p->warnings, "trace-truncated", (str){0}, "Ask for fewer --num-runs.",
                  "The engine's profile reached its limit of events; later runs are not in it.");
    return fill_ledger(s, p, err);
}

assay_status job_measure_layers(const job_layers_request *q, profile *p, assay_error *err)
{
    study s = {.q = q, .arena = arena_new(TRACE_BYTES)};
    if (!s.arena)
        return err_no_memory(err);
    assay_status status = study_all(&s, p, err);
    if (s.folder)
        file_remove_folder(s.folder);
    free(s.folder);
    arena_free(s.arena);
    return status;
}
