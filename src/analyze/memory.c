/* Liveness, peak and witnesses. The offset plan is memory_plan.c, the list of events memory_events.c. */
#include "analyze/memory.h"

#include <assert.h>

#include "analyze/memory_events.h"

#define NO_BUFFER     UINT32_MAX
#define WITNESSES_MAX 16

typedef struct planner {
    infer_result *r;
    const counted *of;
    profile *p;
    ir_dtype precision;
    const memory_rule *rule; /* NULL: our own */
    uint32_t n_steps;
    uint32_t *buffer_of; /* [n_values] */
    uint32_t *graph_end; /* [n_graphs] last step of the graph's nodes (inner graphs included) */
    uint32_t *last_use;  /* [n_values] of the value itself */
    memory_buffer *buffers;
    uint32_t n_buffers;
    memory_share *shares; /* [n_values], or NULL: not asked for */
    uint32_t n_shares;
    uint32_t *kept; /* dead buffers that an engine keeps, the latest last */
    uint32_t n_kept;
} planner;

static uint64_t bytes_of(const planner *x, ir_id id)
{
    return count_tensor_bytes(&x->r->info[id], x->precision);
}

/* ---- last uses ---- */

static void find_graph_ends(planner *x)
{
    const ir_model *m = x->r->model;
    for (uint32_t s = 0; s < x->n_steps; s++)
        for (ir_id g = ir_node_at(m, x->of->nodes[s])->graph; g != IR_NONE;
             g = ir_graph_at(m, g)->parent)
            x->graph_end[g] = s;
}

/* A value used in an inner graph must outlive all runs of it: until the end of the outermost graph
 * between the use and the value's own. */
static uint32_t use_step(const planner *x, ir_id value, ir_id user_graph, uint32_t step)
{
    const ir_model *m = x->r->model;
    ir_id home = ir_value_at(m, value)->graph;
    for (ir_id g = user_graph; g != home && g != IR_NONE; g = ir_graph_at(m, g)->parent)
        step = x->graph_end[g] > step ? x->graph_end[g] : step;
    return step;
}

static void note_use(planner *x, ir_id value, ir_id user_graph, uint32_t step)
{
    if (value == IR_NONE)
        return;
    step = use_step(x, value, user_graph, step);
    assert(value < x->r->model->values.n && step < x->n_steps);
    if (step > x->last_use[value])
        x->last_use[value] = step;
}

static void find_last_uses(planner *x)
{
    const ir_model *m = x->r->model;
    for (uint32_t s = 0; s < x->n_steps; s++) {
        const ir_node *n = ir_node_at(m, x->of->nodes[s]);
        for (uint32_t i = 0; i < n->n_inputs; i++)
            note_use(x, n->inputs[i], n->graph, s);
        for (uint32_t o = 0; o < n->n_outputs; o++)
            if (n->outputs[o] != IR_NONE && x->last_use[n->outputs[o]] < s)
                x->last_use[n->outputs[o]] = s;
    }
    for (ir_id g = 1; g < m->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(m, g);
        for (uint32_t k = 0; x->r->times[g] && k < graph->outputs.n; k++)
            note_use(x, graph->outputs.items[k], g, x->graph_end[g]);
    }
}

/* ---- buffers ---- */

static uint32_t new_buffer(planner *x, ir_id value, uint64_t bytes, uint32_t from, uint32_t to)
{
    assert(from <= to && to < x->n_steps);
    assert(x->n_buffers < x->r->model->values.n + x->n_steps + 1);
    x->buffers[x->n_buffers] = (memory_buffer){
        .value = value, .bytes = bytes, .from = from, .to = to};
    return x->n_buffers++;
}

static void extend(planner *x, uint32_t buffer, ir_id value)
{
    assert(buffer < x->n_buffers);
    if (x->buffers[buffer].to < x->last_use[value])
        x->buffers[buffer].to = x->last_use[value];
}

static void outputs_from_start(planner *x)
{
    const ir_graph *g = ir_graph_at(x->r->model, 0);
    for (uint32_t k = 0; k < g->outputs.n; k++) {
        ir_id id = g->outputs.items[k];
        const ir_value *v = ir_value_at(x->r->model, id);
        if (x->buffer_of[id] == NO_BUFFER && !v->constant && !(v->flags & IR_VALUE_INPUT))
            x->buffer_of[id] = new_buffer(x, id, bytes_of(x, id), 0, x->n_steps - 1);
    }
}

static void share(planner *x, ir_id out, ir_id of, uint32_t step, bool view)
{
    x->buffer_of[out] = x->buffer_of[of];
    extend(x, x->buffer_of[out], out);
    if (x->shares)
        x->shares[x->n_shares++] = (memory_share){
            .value = out, .of = of, .step = step, .buffer = x->buffer_of[out], .view = view};
}

/* A view shares its input's buffer, unless the output has one of its own already (graph output). */
static bool take_view(planner *x, const ir_node *n, ir_id out, uint32_t step)
{
    ir_id in = n->n_inputs ? n->inputs[0] : IR_NONE;
    if (in == IR_NONE)
        return false;
    if (x->buffer_of[in] == NO_BUFFER)
        return true; /* of a weight or a graph input: no bytes of ours */
    share(x, out, in, step, true);
    return true;
}

/* What a loop's body takes from outside is read on the next trip too. */
static bool read_again(const planner *x, uint32_t buffer, const ir_node *n)
{
    ir_id home = ir_value_at(x->r->model, x->buffers[buffer].value)->graph;
    return x->r->times[n->graph] != x->r->times[home];
}

static bool works_in_place(const planner *x, const op_row *row, ir_id node)
{
    if (x->rule && x->rule->in_place)
        return x->rule->in_place(x->rule->ctx, node);
    return row && (row->flags & OPF_INPLACE);
}

static bool take_in_place(planner *x, const ir_node *n, ir_id out, uint32_t step)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t b = n->inputs[i] == IR_NONE ? NO_BUFFER : x->buffer_of[n->inputs[i]];
        if (b == NO_BUFFER || x->buffers[b].to != step || x->buffers[b].bytes != bytes_of(x, out) ||
            read_again(x, b, n))
            continue;
        share(x, out, n->inputs[i], step, false);
        return true;
    }
    return false;
}

/* ---- what is kept ---- */

static bool same_kind(const op_info *a, const op_info *b)
{
    if (a->rank != b->rank || a->rank < 1 ||
        ir_dtype_bytes(a->dtype, 1) != ir_dtype_bytes(b->dtype, 1))
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] < 0 || a->dims[i] != b->dims[i])
            return false;
    return true;
}

/* The buffer that died last among those that were made for a tensor of the same shape. */
static bool take_kept(planner *x, ir_id out)
{
    const op_info *info = x->r->info;
    for (uint32_t k = x->n_kept; k-- > 0;) {
        uint32_t b = x->kept[k];
        assert(b < x->n_buffers && x->buffers[b].to < x->n_steps);
        if (!same_kind(&info[x->buffers[b].value], &info[out]))
            continue;
        for (x->n_kept--; k < x->n_kept; k++)
            x->kept[k] = x->kept[k + 1];
        x->buffer_of[out] = b;
        extend(x, b, out);
        return true;
    }
    return false;
}

static void keep_dead(planner *x, const ir_node *n, uint32_t step)
{
    for (uint32_t i = 0; i < n->n_inputs + n->n_outputs; i++) {
        ir_id id = i < n->n_inputs ? n->inputs[i] : n->outputs[i - n->n_inputs];
        uint32_t b = id == IR_NONE ? NO_BUFFER : x->buffer_of[id];
        if (b == NO_BUFFER || x->buffers[b].to != step)
            continue;
        bool known = false; /* a node may read it twice */
        for (uint32_t k = x->n_kept; k-- > 0 && !known;)
            known = x->kept[k] == b;
        if (!known)
            x->kept[x->n_kept++] = b;
    }
}

/* Views of a value may be used after the value itself: its buffer must last for all of them. Walking
 * backwards, each view hands its last use to what it views. */
static void lend_to_viewed(planner *x)
{
    for (uint32_t s = x->n_steps; s-- > 0;) {
        const ir_node *n = ir_node_at(x->r->model, x->of->nodes[s]);
        const op_row *row = x->r->rows[x->of->nodes[s]];
        if (!row || !(row->flags & OPF_VIEW) || !n->n_inputs || n->inputs[0] == IR_NONE ||
            !n->n_outputs || n->outputs[0] == IR_NONE)
            continue;
        if (x->last_use[n->outputs[0]] > x->last_use[n->inputs[0]])
            x->last_use[n->inputs[0]] = x->last_use[n->outputs[0]];
    }
}

static void place_scratch(planner *x, ir_id node, const ir_node *n, uint32_t step)
{
    const memory_rule *rule = x->rule;
    if (rule && rule->taken_apart && n->n_outputs && n->outputs[0] != IR_NONE &&
        rule->taken_apart(rule->ctx, node))
        new_buffer(x, n->outputs[0], bytes_of(x, n->outputs[0]), step, step);
}

static void place_outputs(planner *x, uint32_t step)
{
    ir_id node = x->of->nodes[step];
    const ir_node *n = ir_node_at(x->r->model, node);
    const op_row *row = x->r->rows[node];
    bool keeps = x->rule && x->rule->keeps && n->graph == 0;
    place_scratch(x, node, n, step);
    for (uint32_t o = 0; o < n->n_outputs; o++) {
        ir_id out = n->outputs[o];
        if (out == IR_NONE || x->buffer_of[out] != NO_BUFFER ||
            ir_value_at(x->r->model, out)->constant)
            continue;
        if (row && (row->flags & OPF_VIEW) && o == 0 && take_view(x, n, out, step))
            continue;
        if (o == 0 && works_in_place(x, row, node) && take_in_place(x, n, out, step))
            continue;
        if (keeps && take_kept(x, out))
            continue;
        x->buffer_of[out] = new_buffer(x, out, bytes_of(x, out), step, x->last_use[out]);
    }
    if (keeps)
        keep_dead(x, n, step);
}

/* ---- results ---- */

/* live[s] from starts and ends; returns the peak step. */
static uint32_t sweep(const planner *x, uint64_t *live)
{
    uint64_t *freed = live + x->n_steps + 1;
    for (uint32_t b = 0; b < x->n_buffers; b++) {
        live[x->buffers[b].from] = sat_add(live[x->buffers[b].from], x->buffers[b].bytes);
        freed[x->buffers[b].to] = sat_add(freed[x->buffers[b].to], x->buffers[b].bytes);
    }
    uint64_t now = 0;
    uint32_t peak = 0;
    for (uint32_t s = 0; s < x->n_steps; s++) {
        now = sat_add(now, live[s]);
        live[s] = now;
        now = now > freed[s] ? now - freed[s] : 0;
        if (live[s] > live[peak])
            peak = s;
    }
    return peak;
}

/* What one node alone needs at once: no order and no allocation can do with less. */
static uint64_t working_set(const planner *x, uint32_t step, uint32_t *seen, uint32_t mark)
{
    const ir_node *n = ir_node_at(x->r->model, x->of->nodes[step]);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < n->n_inputs + n->n_outputs; k++) {
        ir_id id = k < n->n_inputs ? n->inputs[k] : n->outputs[k - n->n_inputs];
        uint32_t b = id == IR_NONE ? NO_BUFFER : x->buffer_of[id];
        if (b == NO_BUFFER || seen[b] == mark)
            continue;
        seen[b] = mark;
        sum = sat_add(sum, x->buffers[b].bytes);
    }
    return sum;
}

uint64_t memory_weights(const profile_architecture *a, ir_dtype precision)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < a->n_dtypes; k++) {
        const profile_bytes_by_dtype *d = &a->dtypes[k];
        bool again = precision != IR_UNDEFINED && ir_is_float(d->dtype);
        sum = sat_add(sum, again ? ir_dtype_bytes(precision, d->elements) : d->bytes);
    }
    return sum;
}

static uint64_t *room_for_sweep(const planner *x)
{
    return ARENA_ARRAY(x->r->arena, uint64_t, 2 * ((size_t)x->n_steps + 1));
}

static memory_story story_of(const planner *x, const memory_detail *detail, const uint64_t *live,
                             uint32_t peak)
{
    return (memory_story){.model = x->r->model,
                          .buffers = x->buffers,
                          .n_buffers = x->n_buffers,
                          .shares = x->shares,
                          .n_shares = x->n_shares,
                          .live = live,
                          .n_steps = x->n_steps,
                          .peak = peak,
                          .detail = detail,
                          .scratch = x->r->arena,
                          .p = x->p};
}

static assay_status fill_plan(planner *x, const memory_detail *detail, assay_error *err)
{
    profile *p = x->p;
    profile_memory_plan *plan = &p->memory_plan;
    uint64_t *live = room_for_sweep(x);
    uint32_t *seen = ARENA_ARRAY(x->r->arena, uint32_t, (size_t)x->n_buffers + 1);
    profile_moment *timeline = ARENA_ARRAY(p->arena, profile_moment, (size_t)x->n_steps + 1);
    TRY_MEMORY(live && seen && timeline, err);
    uint32_t peak = sweep(x, live);
    for (uint32_t s = 0; s < x->n_steps; s++) {
        uint64_t need = working_set(x, s, seen, s + 1);
        assert(need <= live[s]);
        p->layers[s].live_bytes = live[s];
        timeline[s] = (profile_moment){p->layers[s].name, live[s]};
        if (need > plan->lower_bound_bytes)
            plan->lower_bound_bytes = need;
    }
    assert(x->n_steps == p->n_layers);
    plan->timeline = timeline;
    plan->n_timeline = x->n_steps;
    plan->activations_peak_bytes = x->n_steps ? live[peak] : 0;
    plan->weights_bytes = memory_weights(&p->architecture, x->precision);
    plan->peak_bytes = sat_add(plan->weights_bytes, plan->activations_peak_bytes);
    plan->peak_node = x->n_steps ? p->layers[peak].name : (str){0};
    TRY(memory_plan_offsets(x->buffers, x->n_buffers, x->n_steps, x->r->arena, &plan->planned_bytes,
                            err));
    const memory_story story = story_of(x, detail, live, peak);
    uint64_t smaller;
    TRY(memory_alive(&story, peak, WITNESSES_MAX, &plan->witnesses, &plan->n_witnesses, &smaller,
                     err));
    return detail && (detail->slots || detail->events) ? memory_tell(&story, err) : ASSAY_OK;
}

/* How long each value is needed: the same at every precision. */
static bool find_lives(planner *x)
{
    arena *a = x->r->arena;
    size_t n_values = x->r->model->values.n + (size_t)1;
    x->buffer_of = ARENA_ARRAY(a, uint32_t, n_values);
    x->graph_end = ARENA_ARRAY(a, uint32_t, x->r->model->graphs.n + (size_t)1);
    x->last_use = ARENA_ARRAY(a, uint32_t, n_values);
    x->buffers = ARENA_ARRAY(a, memory_buffer, n_values + x->n_steps);
    x->kept = ARENA_ARRAY(a, uint32_t, n_values + x->n_steps);
    if (!x->buffer_of || !x->graph_end || !x->last_use || !x->buffers || !x->kept)
        return false;
    find_graph_ends(x);
    find_last_uses(x);
    lend_to_viewed(x);
    return true;
}

static void place_all(planner *x)
{
    memset(x->buffer_of, 0xff, (x->r->model->values.n + (size_t)1) * sizeof *x->buffer_of);
    x->n_buffers = x->n_kept = 0;
    if (x->n_steps > 0)
        outputs_from_start(x);
    for (uint32_t s = 0; s < x->n_steps; s++)
        place_outputs(x, s);
}

assay_status memory_live(infer_result *r, const counted *of, const ir_dtype *precisions, uint32_t n,
                         uint64_t **live, assay_error *err)
{
    planner x = {.r = r, .of = of, .n_steps = of->n};
    TRY_MEMORY(find_lives(&x), err);
    for (uint32_t k = 0; k < n; k++) {
        x.precision = precisions[k];
        place_all(&x);
        live[k] = room_for_sweep(&x);
        TRY_MEMORY(live[k], err);
        sweep(&x, live[k]);
    }
    return ASSAY_OK;
}

static assay_status plan_all(infer_result *r, const counted *of, ir_dtype precision,
                             const memory_detail *detail, const memory_rule *rule, profile *p,
                             assay_error *err)
{
    planner x = {
        .r = r, .of = of, .p = p, .precision = precision, .rule = rule, .n_steps = p->n_layers};
    bool shares = detail && detail->events;
    if (shares)
        x.shares = ARENA_ARRAY(r->arena, memory_share, r->model->values.n + (size_t)1);
    if (!find_lives(&x) || (shares && !x.shares))
        return err_no_memory(err);
    place_all(&x);
    return fill_plan(&x, detail, err);
}

assay_status memory_run(infer_result *r, const counted *of, ir_dtype precision,
                        const memory_detail *detail, profile *p, assay_error *err)
{
    return plan_all(r, of, precision, detail, NULL, p, err);
}

assay_status memory_run_by(infer_result *r, const counted *of, const memory_rule *rule, profile *p,
                           assay_error *err)
{
    return plan_all(r, of, IR_UNDEFINED, NULL, rule, p, err);
}
