/* The memory plan against the engine's own book: runs without optimisations and without the engine's planned
 * block, so that every tensor is asked for by itself. The arena's bytes after each kernel, minus those in use
 * before the first, are the activations that are alive then; scratch of the kernel is given back by that time.
 *
 * The engine has two ways to run, and neither tells all. Usually kernels work in place, but a dead tensor's
 * buffer may be kept for a later one of its size. With that forbidden, dead tensors are given back at once,
 * but no kernel works in place. Both are run; at each kernel the smaller of the two is what was in use, as
 * either way only ever adds to it.
 *
 * The same trace tells the sizes of all outputs, which are compared with the inferred ones. */
#include <stdlib.h>

#include "analyze/plan_as_run.h"
#include "base/file.h"
#include "base/num.h"
#include "engine/trace.h"
#include "jobs/measure.h"

#define TRACE_BYTES ((size_t)1 << 30)

/* One way to run. */
typedef struct booked {
    trace trace;
    engine_memory before, after; /* with the session made; and after the runs */
} booked;

typedef struct check {
    const job_layers_request *q;
    arena *arena;
    char *folder;
    booked freed, kept; /* dead buffers given back; kept for later */
    plan_as_run run;
} check;

/* ---- running ---- */

static assay_status run_twice(check *c, engine_session *s, assay_error *err)
{
    const job_runnable *x = c->q->x;
    input_set in;
    engine_job *job = NULL;
    assay_status status = inputs_make(x->wants, x->n_wants, engine_session_about(s),
                                      (uint64_t)c->q->o->model.seed, &in, err);
    if (status == ASSAY_OK)
        status = engine_job_open(s, in.tensors, in.n, &job, err);
    for (int i = 0; i < 2 && status == ASSAY_OK; i++) {
        status = engine_job_run(job, err);
        engine_job_drop(job);
    }
    engine_job_close(job);
    inputs_free(&in);
    return status;
}

/* Symbolic dimensions get their values: the engine works in place only where sizes are known equal. */
static void fix_dims(const check *c, engine_options *o)
{
    const infer_result *r = c->q->x->r;
    engine_dim_value *list = ARENA_ARRAY(c->arena, engine_dim_value, r->symbols.n + 1u);
    for (uint32_t i = 0; list && i < r->symbols.n; i++)
        list[i] = (engine_dim_value){.name = str_copy(c->arena, r->symbols.items[i].symbol).p,
                                     .value = r->symbols.items[i].value};
    o->dims = list;
    o->n_dims = list ? r->symbols.n : 0;
}

static assay_status untold(assay_error *err)
{
    return err_fail(
        err, ASSAY_ERR_ENGINE,
        "this engine version does not report memory per kernel. Use ONNX Runtime 1.30 or newer.");
}

static bool tells_memory(const trace *t)
{
    for (uint32_t i = 0; i < t->n_events; i++)
        if (t->events[i].mem_requested)
            return true;
    return false;
}

static assay_status book_session(check *c, engine_session *s, booked *out, assay_error *err)
{
    const char *path = NULL;
    if (!engine_session_memory(s, &out->before))
        return untold(err);
    TRY(run_twice(c, s, err));
    engine_session_memory(s, &out->after);
    TRY(engine_profile_end(s, &path, err));
    TRY(trace_read(path, c->arena, &out->trace, err));
    if (out->trace.n_runs == 0)
        return err_fail(err, ASSAY_ERR_ENGINE, "the engine's profile has no runs");
    return tells_memory(&out->trace) ? ASSAY_OK : untold(err);
}

static assay_status book(check *c, bool reuse, booked *out, assay_error *err)
{
    engine_options o = job_engine_options(c->q->o, c->arena);
    engine_session *s = NULL;
    o.opt_level = ENGINE_OPT_OFF;
    o.mem_pattern = false;
    o.reuse = reuse;
    fix_dims(c, &o);
    o.profile_prefix = arena_printf(c->arena, "%s/%s", c->folder, reuse ? "kept" : "freed");
    TRY(engine_session_open(c->q->engine, &c->q->x->model, &o, &s, err));
    assay_status status = book_session(c, s, out, err);
    engine_session_close(s);
    return status;
}

/* ---- memory ---- */

/* Bytes of the graph's outputs that a node makes: the plan counts them from the first step on, the engine
 * from when they are made. */
static uint64_t output_bytes(const check *c, ir_id node)
{
    const ir_model *m = c->q->x->ir;
    const ir_graph *g = ir_graph_at(m, 0);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->outputs.n && node != IR_NONE; i++)
        if (ir_value_at(m, g->outputs.items[i])->producer == node)
            sum = sat_add(sum,
                          count_tensor_bytes(&c->run.r->info[g->outputs.items[i]], IR_UNDEFINED));
    return sum;
}

static const trace_run *last_run(const trace *t)
{
    return &t->runs[t->n_runs - 1];
}

static uint64_t in_use(const booked *b, uint32_t index)
{
    const trace_event *e = &b->trace.events[last_run(&b->trace)->first + index];
    return e->mem_requested > b->before.requested ? e->mem_requested - b->before.requested : 0;
}

static str event_name(const booked *b, uint32_t index)
{
    const trace *t = &b->trace;
    return t->nodes[t->events[last_run(t)->first + index].node].name;
}

/* Both ways ran the same kernels in the same order; else only one of them counts. */
static bool same_order(const check *c)
{
    uint32_t n = last_run(&c->freed.trace)->n;
    if (last_run(&c->kept.trace)->n != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!str_eq(event_name(&c->freed, i), event_name(&c->kept, i)))
            return false;
    return true;
}

static uint64_t planned_at(const check *c, ir_id node)
{
    uint32_t step = node == IR_NONE ? UINT32_MAX : c->run.step_of[node];
    return step == UINT32_MAX ? PROFILE_NOT_TOLD : c->run.p->memory_plan.timeline[step].live_bytes;
}

static void fill_moments(const check *c, profile *p, profile_plan_check *out)
{
    const trace_run *r = last_run(&c->freed.trace);
    profile_moment_measured *list = ARENA_ARRAY(p->arena, profile_moment_measured, r->n + 1u);
    bool both = same_order(c);
    uint64_t later = 0;
    for (uint32_t i = r->n; list && i-- > 0;) {
        ir_id node = c->run.node_of[c->freed.trace.events[r->first + i].node];
        uint64_t freed = in_use(&c->freed, i), kept = both ? in_use(&c->kept, i) : freed;
        uint64_t live = sat_add(kept < freed ? kept : freed, later);
        if (sat_add(freed, later) > out->measured_no_reuse)
            out->measured_no_reuse = sat_add(freed, later);
        later = sat_add(later, output_bytes(c, node));
        list[i] = (profile_moment_measured){.node = str_copy(p->arena, event_name(&c->freed, i)),
                                            .requested = live,
                                            .planned = planned_at(c, node)};
        if (live >= out->measured_peak) {
            out->measured_peak = live;
            out->peak_node = list[i].node;
        }
    }
    out->moments = list;
    out->n_moments = list ? r->n : 0;
}

/* The arena's high-water mark, when the runs set it, holds scratch of kernels and what it rounds up. */
static uint64_t workspace(const check *c)
{
    const booked *b = &c->freed;
    uint64_t peak = b->after.max_in_use > b->before.in_use ? b->after.max_in_use - b->before.in_use
                                                           : 0;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < last_run(&b->trace)->n; i++)
        seen = in_use(b, i) > seen ? in_use(b, i) : seen;
    if (b->after.max_in_use <= b->before.max_in_use)
        return PROFILE_NOT_TOLD;
    return peak > seen ? peak - seen : 0;
}

/* ---- shapes ---- */

static bool same_shape(const op_info *x, const trace_shape *t)
{
    if (x->rank != t->rank)
        return false;
    for (int i = 0; i < x->rank; i++)
        if (x->dims[i] >= 0 && x->dims[i] != t->dims[i])
            return false;
    return true;
}

static void check_node(const check *c, profile *p, const ir_node *n, const trace_node *t,
                       profile_plan_check *out)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < n->n_outputs && told < t->n_outputs; i++) {
        if (n->outputs[i] == IR_NONE)
            continue;
        const op_info *x = &c->run.r->info[n->outputs[i]];
        const trace_shape *shape = &t->outputs[told++];
        if (x->kind != IR_KIND_TENSOR || x->rank < 0)
            continue;
        out->shapes_checked++;
        if (same_shape(x, shape))
            out->shapes_equal++;
        else if (!out->first_unequal.n)
            out->first_unequal = str_copy(p->arena, n->name.n ? n->name : t->name);
    }
}

static void check_shapes(const check *c, profile *p, profile_plan_check *out)
{
    for (uint32_t i = 0; i < c->freed.trace.n_nodes; i++)
        if (c->run.node_of[i] != IR_NONE)
            check_node(c, p, ir_node_at(c->q->x->ir, c->run.node_of[i]), &c->freed.trace.nodes[i],
                       out);
}

static bool works_in_place(const void *e, str domain, str op)
{
    return engine_works_in_place(e, domain, op);
}

static assay_status plan_the_run(check *c, assay_error *err)
{
    const trace *t = &c->freed.trace;
    plan_kernel *kernels = ARENA_ARRAY(c->arena, plan_kernel, t->n_nodes + 1u);
    uint32_t *order = ARENA_ARRAY(c->arena, uint32_t, last_run(t)->n + 1u);
    TRY_MEMORY(kernels && order, err);
    for (uint32_t i = 0; i < t->n_nodes; i++)
        kernels[i] = (plan_kernel){t->nodes[i].name, t->nodes[i].op, t->nodes[i].index};
    for (uint32_t i = 0; i < last_run(t)->n; i++)
        order[i] = t->events[last_run(t)->first + i].node;
    const plan_run run = {kernels, order, t->n_nodes, last_run(t)->n, works_in_place, c->q->engine};
    return plan_as_run_make(c->q->x->ir, &c->q->x->sized.shapes, &run, &c->run, err);
}

static assay_status check_all(check *c, profile *p, assay_error *err)
{
    profile_plan_check *out = &p->measured->plan;
    TRY(file_temp_folder(&c->folder, err));
    TRY(book(c, false, &c->freed, err));
    TRY(book(c, true, &c->kept, err));
    TRY(plan_the_run(c, err));
    *out = (profile_plan_check){.planned_peak = c->q->x->p->memory_plan.activations_peak_bytes,
                                .planned_expanded = c->run.expanded,
                                .planned_in_order = c->run.in_order,
                                .planned_as_run = c->run.as_run,
                                .planned_no_reuse = c->run.no_reuse,
                                .planned_with_kept = c->run.with_kept};
    fill_moments(c, p, out);
    out->workspace = workspace(c);
    check_shapes(c, p, out);
    out->present = true;
    return ASSAY_OK;
}

assay_status job_measure_plan(const job_layers_request *q, profile *p, assay_error *err)
{
    check c = {.q = q, .arena = arena_new(TRACE_BYTES)};
    TRY_MEMORY(c.arena, err);
    assay_status s = check_all(&c, p, err);
    plan_as_run_free(&c.run);
    file_drop_folder(c.folder);
    arena_free(c.arena);
    return s;
}
