/* The memory plan against the engine's own book: one run without optimisations and without the engine's
 * planned block, so that every tensor is asked for and given back by itself. The arena's bytes after each
 * kernel, minus those in use before the first, are the activations that are alive then. The same trace
 * tells the sizes of all outputs, which are compared with the inferred ones. */
#include <stdlib.h>

#include "api/measure.h"
#include "base/file.h"
#include "base/map.h"
#include "base/num.h"
#include "engine/trace.h"

#define TRACE_BYTES ((size_t)1 << 30)

typedef struct check {
    const api_layers_request *q;
    arena *arena;
    char *folder;
    trace trace;
    uint64_t base; /* requested with the session made and before any run */
} check;

static assay_status run_twice(check *c, engine_session *s, assay_error *err)
{
    const api_runnable *x = c->q->x;
    engine_memory m;
    input_set in;
    engine_job *job = NULL;
    if (!engine_session_memory(s, &m))
        return err_fail(err, ASSAY_ERR_ENGINE,
                        "This version of the engine does not tell its memory.");
    c->base = m.requested;
    assay_status status = inputs_make(x->wants, x->n_wants, engine_session_about(s),
                                      (uint64_t)c->q->o->seed, &in, err);
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

/* Symbolic dimensions get their values: the engine reuses a buffer only where sizes are known equal. */
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

static assay_status trace_run_of(check *c, assay_error *err)
{
    engine_options o = api_engine_options(c->q->o, c->arena);
    engine_session *s = NULL;
    const char *path = NULL;
    TRY(file_temp_folder(&c->folder, err));
    o.opt_level = ENGINE_OPT_OFF;
    o.mem_pattern = false;
    fix_dims(c, &o);
    o.profile_prefix = arena_printf(c->arena, "%s/plan", c->folder);
    TRY(engine_session_open(c->q->engine, &c->q->x->model, &o, &s, err));
    assay_status status = run_twice(c, s, err);
    if (status == ASSAY_OK)
        status = engine_profile_end(s, &path, err);
    if (status == ASSAY_OK)
        status = trace_read(path, c->arena, &c->trace, err);
    engine_session_close(s);
    return status;
}

/* ---- memory ---- */

/* Bytes of the graph's outputs that a node makes: the plan counts them from the first step on, the engine
 * from when they are made. */
static uint64_t output_bytes(const check *c, str node)
{
    const ir_model *m = c->q->x->ir;
    const ir_graph *g = ir_graph_at(m, 0);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->outputs.n; i++) {
        ir_id id = g->outputs.items[i], producer = ir_value_at(m, id)->producer;
        const op_info *x = &c->q->x->r->info[id];
        uint64_t n = 1;
        if (producer == IR_NONE || !str_eq(ir_node_at(m, producer)->name, node))
            continue;
        for (int d = 0; d < x->rank; d++)
            n = sat_mul(n, x->dims[d] > 0 ? (uint64_t)x->dims[d] : 0);
        sum = sat_add(sum, ir_dtype_bytes(x->dtype, n));
    }
    return sum;
}

static void fill_moments(const check *c, profile *p, profile_plan_check *out)
{
    const trace_run *r = &c->trace.runs[c->trace.n_runs - 1];
    profile_moment_measured *list = ARENA_ARRAY(p->arena, profile_moment_measured, r->n + 1u);
    uint64_t later = 0;
    for (uint32_t i = r->n; list && i-- > 0;) {
        const trace_event *e = &c->trace.events[r->first + i];
        str name = str_copy(p->arena, c->trace.nodes[e->node].name);
        uint64_t live = sat_add(e->mem_requested > c->base ? e->mem_requested - c->base : 0, later);
        later = sat_add(later, output_bytes(c, name));
        list[i] = (profile_moment_measured){.node = name, .requested = live};
        if (live >= out->measured_peak) {
            out->measured_peak = live;
            out->peak_node = name;
        }
    }
    out->moments = list;
    out->n_moments = list ? r->n : 0;
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
        const op_info *x = &c->q->x->r->info[n->outputs[i]];
        const trace_shape *shape = &t->outputs[told++];
        if (x->kind != IR_KIND_TENSOR || x->rank < 0)
            continue;
        out->shapes_checked++;
        if (same_shape(x, shape))
            out->shapes_equal++;
        else if (!out->first_unequal.n)
            out->first_unequal = str_copy(p->arena, n->name);
    }
}

static assay_status check_shapes(const check *c, profile *p, profile_plan_check *out,
                                 assay_error *err)
{
    const ir_model *m = c->q->x->ir;
    const ir_graph *g = ir_graph_at(m, 0);
    map names;
    if (!map_init(&names, c->arena, g->nodes.n))
        return err_no_memory(err);
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        ir_id id = g->nodes.items[i];
        /* What lowering added was not inferred. */
        if (ir_node_at(m, id)->call == IR_NONE && !map_put(&names, ir_node_at(m, id)->name, id))
            return err_no_memory(err);
    }
    for (uint32_t i = 0; i < c->trace.n_nodes; i++) {
        uint32_t id = map_get(&names, c->trace.nodes[i].name);
        if (id != MAP_NONE)
            check_node(c, p, ir_node_at(m, id), &c->trace.nodes[i], out);
    }
    return ASSAY_OK;
}

static assay_status check_all(check *c, profile *p, assay_error *err)
{
    profile_plan_check *out = &p->measured->plan;
    TRY(trace_run_of(c, err));
    if (c->trace.n_runs == 0)
        return err_fail(err, ASSAY_ERR_ENGINE, "The engine's profile holds no runs.");
    *out = (profile_plan_check){.planned_peak = c->q->x->p->memory_plan.activations_peak_bytes};
    fill_moments(c, p, out);
    TRY(check_shapes(c, p, out, err));
    out->present = true;
    return ASSAY_OK;
}

assay_status api_measure_plan(const api_layers_request *q, profile *p, assay_error *err)
{
    check c = {.q = q, .arena = arena_new(TRACE_BYTES)};
    if (!c.arena)
        return err_no_memory(err);
    assay_status s = check_all(&c, p, err);
    if (c.folder)
        file_remove_folder(c.folder);
    free(c.folder);
    arena_free(c.arena);
    return s;
}
