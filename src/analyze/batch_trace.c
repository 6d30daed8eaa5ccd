/* See batch_trace.h. */
#include "analyze/batch_trace.h"

/* ---- a prime that means the batch ---- */

static bool divides_any(const ir_model *m, int64_t prime)
{
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        for (int d = 0; v->constant && d < v->constant->rank; d++)
            if (v->constant->dims[d] > 0 && v->constant->dims[d] % prime == 0)
                return true;
        for (int d = 0; v->declared.dims && d < v->declared.rank; d++)
            if (v->declared.dims[d].value > 0 && v->declared.dims[d].value % prime == 0)
                return true;
    }
    return false;
}

/* Large enough to be rare among sizes, small enough that contents over it are still followed. */
int64_t batch_prime(const ir_model *m)
{
    static const int64_t primes[] = {61, 67, 71, 73, 79, 83, 89, 103, 107, 109, 113, 131};
    enum { N = sizeof primes / sizeof *primes };
    int i = 0;
    while (i < N - 1 && divides_any(m, primes[i]))
        i++;
    return primes[i];
}

/* ---- who has it ---- */

static bool has(int64_t dim, int64_t prime)
{
    return dim > 0 && dim % prime == 0;
}

/* How often, over all dimensions of a shape; -1: not known, or only assumed. */
static int times_in(const op_info *x, int64_t prime)
{
    int n = 0;
    if (x->kind != IR_KIND_TENSOR || x->assumed || x->rank < 0)
        return -1;
    for (int d = 0; d < x->rank; d++) {
        if (x->dims[d] < 0)
            return -1;
        for (int64_t left = x->dims[d]; has(left, prime); left /= prime)
            n++;
    }
    return n;
}

static bool is_grouped(const ir_node *n)
{
    return ir_attr_int(n, "group", 1) > 1;
}

/* Samples among the channels of a grouped convolution are kept apart too. */
static void ask_operator(batch_trace *t, const infer_result *r, ir_id id, int64_t prime)
{
    const ir_node *n = ir_node_at(r->model, id);
    const op_info *x = n->n_inputs && n->inputs[0] != IR_NONE ? &r->info[n->inputs[0]] : NULL;
    if (!r->rows[id]->batch_axis || !x || times_in(x, prime) < 1)
        return;
    int axis = r->rows[id]->batch_axis(n);
    for (int d = 0; d < x->rank; d++) {
        if (!has(x->dims[d], prime))
            continue;
        if (d == axis)
            t->proofs++;
        else if (t->mixed_at == IR_NONE && !(d == 1 && is_grouped(n))) {
            t->mixed_at = id;
            t->steps = d < axis; /* only a recurrence has anything before its batch */
        }
    }
}

static void look_for_squares(batch_trace *t, const infer_result *r, ir_id id, int64_t prime)
{
    const ir_node *n = ir_node_at(r->model, id);
    for (uint32_t o = 0; t->squared_at == IR_NONE && o < n->n_outputs; o++)
        if (n->outputs[o] != IR_NONE && times_in(&r->info[n->outputs[o]], prime) > 1)
            t->squared_at = id;
}

/* Sizes that are assumed count too: upper bounds of many samples grow with them. */
static bool is_without(const op_info *x, int64_t prime)
{
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] < 0 || has(x->dims[d], prime))
            return false;
    return op_shape_full(x);
}

/* What comes of an input that has it, by its numbers and not by its shape alone, must have it where it is multiplied
 * with weights. Where it has not, a constant has cut it off: the size of a Resize, indices that were counted. */
static void look_for_losses(batch_trace *t, const infer_result *r, ir_id id, int64_t prime,
                            uint8_t *comes_of)
{
    const ir_node *n = ir_node_at(r->model, id);
    const op_row *row = r->rows[id];
    bool any = false;
    for (uint32_t i = 0; i < n->n_inputs && !(row->flags & OPF_SHAPE_ONLY); i++)
        any = any || (n->inputs[i] != IR_NONE && comes_of[n->inputs[i]]);
    for (uint32_t o = 0; any && o < n->n_outputs; o++) {
        if (n->outputs[o] == IR_NONE)
            continue;
        comes_of[n->outputs[o]] = 1;
        if (row->backward == OP_BW_CONTRACTION && o == 0 && t->lost_at == IR_NONE &&
            is_without(&r->info[n->outputs[o]], prime))
            t->lost_at = id;
    }
}

static void ask_outputs(batch_trace *t, const infer_result *r, int64_t prime)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    t->n_outputs = g->outputs.n;
    for (uint32_t i = 0; i < g->outputs.n; i++) {
        int times = times_in(&r->info[g->outputs.items[i]], prime);
        if (times >= 0 && t->n_opaque == i)
            t->first_follows = times > 0;
        t->n_opaque += times < 0;
        t->n_follow += times > 0;
        t->n_squared += times > 1;
    }
}

static uint8_t *mark_inputs(const infer_result *r, int64_t prime, arena *work)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    uint8_t *comes_of = ARENA_ARRAY(work, uint8_t, r->model->values.n + 1u);
    for (uint32_t i = 0; comes_of && i < g->inputs.n; i++)
        comes_of[g->inputs.items[i]] = times_in(&r->info[g->inputs.items[i]], prime) > 0;
    return comes_of;
}

static void ask_node(batch_trace *t, const infer_result *r, ir_id id, int64_t prime,
                     uint8_t *comes_of)
{
    if (!r->rows[id] || !(r->state[id] & INFER_REACHED) || (r->state[id] & INFER_FOLDED))
        return;
    ask_operator(t, r, id, prime);
    look_for_squares(t, r, id, prime);
    if (comes_of)
        look_for_losses(t, r, id, prime, comes_of);
}

/* In the order of execution: ids are not, where functions were inlined or the file was not sorted. */
batch_trace batch_follow(const infer_result *r, int64_t prime, arena *work)
{
    batch_trace t = {.mixed_at = IR_NONE, .squared_at = IR_NONE, .lost_at = IR_NONE};
    uint8_t *comes_of = mark_inputs(r, prime, work);
    for (ir_id g = 0; g < r->model->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(r->model, g);
        for (uint32_t i = 0; i < graph->nodes.n; i++)
            ask_node(&t, r, graph->nodes.items[i], prime, comes_of);
    }
    ask_outputs(&t, r, prime);
    return t;
}
