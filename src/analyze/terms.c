/* See terms.h. */
#include "analyze/terms.h"

#include "analyze/fuse.h"
#include "base/num.h"

#define TILE 128.0 /* rows and columns of the tile that one unit computes */
#define FULL 64.0  /* columns or depth that fill a tile */
enum { FEW_CHANNELS = 8, MASKED_INPUTS = 64 };

/* ---- the plan ---- */

static term_kind moving_kind(const op_family *f, const op_row *row)
{
    if (f->role == OPR_LAYOUT || (f->is & (OPS_REORDERS | OPS_REPEATS | OPS_CUTS | OPS_PICKS)) ||
        (row && strcmp(row->type, "concat") == 0))
        return KIND_MOVE;
    if (f->role == OPR_NORM)
        return f->is & OPS_WEIGHS ? KIND_ELEMENTWISE : KIND_NORM;
    if (f->role == OPR_AFFINE || f->role == OPR_ACT || f->role == OPR_POINT ||
        f->algebra != OPA_NONE || (row && (row->flags & OPF_ELEMENTWISE)))
        return KIND_ELEMENTWISE;
    return KIND_POOL;
}

/* A product with a weight, or of two activations. */
static term_kind product_kind(const flow *f, uint32_t layer)
{
    const profile_layer *l = &f->p->layers[layer];
    bool usual = flow_family(f, layer)->is & OPS_USUAL_LOOPS;
    bool conv = flow_family(f, layer)->is & OPS_CONVOLVES;
    return conv || (usual && l->weight_bytes > 0) || flow_family(f, layer)->role == OPR_CONV
               ? KIND_CORE
               : KIND_BATCHED;
}

static term_kind kind_of(const flow *f, uint32_t layer)
{
    const profile_layer *l = &f->p->layers[layer];
    if (l->macs)
        return product_kind(f, layer);
    return l->memory ? moving_kind(flow_family(f, layer), flow_row(f, layer)) : KIND_FREE;
}

typedef struct planner {
    const flow *f;
    const fuse_partition *g;
    term_plan *out;
} planner;

static uint32_t maker_group(const planner *x, ir_id value)
{
    ir_id root = value == IR_NONE ? IR_NONE : x->f->root[value];
    uint32_t maker = root == IR_NONE ? FLOW_NONE : flow_maker(x->f, root);
    return maker == FLOW_NONE ? FLOW_NONE : x->g->group_of[maker];
}

static void note_operands(planner *x, uint32_t layer)
{
    const ir_node *n = flow_node(x->f, layer);
    term_step *s = &x->out->steps[layer];
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        ir_id root = n->inputs[i] == IR_NONE ? IR_NONE : x->f->root[n->inputs[i]];
        uint32_t maker = root == IR_NONE ? FLOW_NONE : flow_maker(x->f, root);
        if (maker == FLOW_NONE)
            continue;
        if (maker_group(x, n->inputs[i]) != x->g->group_of[layer])
            x->out->steps[maker].leaves = true;
        else if (i < MASKED_INPUTS)
            s->inside |= (uint64_t)1 << i;
    }
    s->leaves = s->leaves || x->f->kept[layer];
}

/* The layer with the most multiply-accumulates leads, else the one that moves the most. */
static uint32_t leader_of(const planner *x, uint32_t group)
{
    const profile_layer *l = x->f->p->layers;
    uint32_t best = x->g->members[x->g->first[group]];
    for (uint32_t k = x->g->first[group]; k < x->g->first[group + 1]; k++) {
        uint32_t at = x->g->members[k];
        if (l[at].macs > l[best].macs ||
            (l[at].macs == l[best].macs && l[at].memory > l[best].memory))
            best = at;
    }
    return best;
}

/* Depthwise and grouped convolutions have kernels of their own. */
static runtime_term core_bytes(const profile_layer *l)
{
    bool conv = (op_family_find(l->type)->is & OPS_CONVOLVES) && l->n_inputs >= 2 &&
                l->inputs[0].shape.rank >= 3 && l->inputs[1].shape.rank >= 3;
    if (!conv || l->inputs[0].shape.dims[1] <= l->inputs[1].shape.dims[1])
        return TERM_CORE_BYTES;
    return l->inputs[1].shape.dims[1] < 2 ? TERM_DEPTHWISE_BYTES : TERM_GROUPED_BYTES;
}

static runtime_term bytes_term(uint32_t kind, runtime_term product)
{
    static const runtime_term of[] = {[KIND_ELEMENTWISE] = TERM_ELEMENTWISE_BYTES,
                                      [KIND_NORM] = TERM_NORM_BYTES,
                                      [KIND_MOVE] = TERM_MOVE_BYTES,
                                      [KIND_POOL] = TERM_POOL_BYTES,
                                      [KIND_FREE] = TERM_POOL_BYTES};
    return kind == KIND_CORE ? product : kind == KIND_BATCHED ? TERM_BATCHED_BYTES : of[kind];
}

static void plan_group(planner *x, uint32_t group)
{
    uint32_t lead = leader_of(x, group);
    term_step *steps = x->out->steps;
    runtime_term chain = bytes_term(steps[lead].kind, core_bytes(&x->f->p->layers[lead]));
    for (uint32_t k = x->g->first[group]; k < x->g->first[group + 1]; k++) {
        uint32_t at = x->g->members[k];
        steps[at].lead = at == lead && steps[at].kind != KIND_FREE;
        steps[at].chain = (uint8_t)chain;
        steps[at].core = steps[lead].kind == KIND_CORE;
        steps[at].bias = at != lead && steps[at].core && x->g->role_of[lead] == ROLE_MATMUL &&
                         x->g->role_of[at] == ROLE_BIAS;
    }
}

assay_status term_plan_make(infer_result *r, const counted *of, const profile *p, arena *a,
                            term_plan *out, assay_error *err)
{
    flow f;
    pattern_list patterns;
    fuse_partition g;
    TRY(flow_build(r, of, p, IR_UNDEFINED, &f, err));
    TRY(pattern_find(&f, &patterns, err));
    TRY(fuse_run(&f, &patterns, FUSE_CONVENTIONAL, &g, err));
    *out = (term_plan){.steps = ARENA_ARRAY(a, term_step, (size_t)f.n + 1), .n = f.n};
    planner x = {.f = &f, .g = &g, .out = out};
    TRY_MEMORY(out->steps, err);
    for (uint32_t layer = 0; layer < f.n; layer++)
        out->steps[layer].kind = (uint8_t)kind_of(&f, layer);
    for (uint32_t layer = 0; layer < f.n; layer++)
        note_operands(&x, layer);
    for (uint32_t group = 0; group < g.n_groups; group++)
        plan_group(&x, group);
    return ASSAY_OK;
}

/* ---- figures of a layer ---- */

typedef struct product {
    runtime_term flops, bytes;
    double m, n, k; /* rows, columns, depth of one group */
} product;

static double product_of(const int64_t *dims, int from, int to)
{
    double v = 1;
    for (int i = from; i < to; i++)
        v *= dims[i] > 0 ? (double)dims[i] : 1;
    return v;
}

static bool is_convolution(const op_ctx *c)
{
    return c->row && (op_family_find(str_of(c->row->type))->is & OPS_CONVOLVES) && c->n_in >= 2 &&
           c->in[0] && c->in[1] && c->in[0]->rank >= 3 && c->in[1]->rank >= 3;
}

/* x[n, c, ...] with w[m, c/g, ...]. */
static product convolution_of(const op_ctx *c)
{
    const op_info *x = c->in[0], *w = c->in[1];
    double in = num_max((double)w->dims[1], 1), groups = num_max((double)x->dims[1] / in, 1);
    double window = product_of(w->dims, 2, w->rank), columns = num_max((double)w->dims[0], 1);
    product p = {
        .flops = TERM_CONV, .bytes = TERM_CORE_BYTES, .n = columns / groups, .k = in * window};
    p.m = num_max((double)op_out_elems(c, 0) / columns, 1);
    if (groups > 1 && in < 2) {
        p.flops = TERM_DEPTHWISE;
        p.bytes = TERM_DEPTHWISE_BYTES;
    } else if (groups > 1) {
        p.flops = TERM_GROUPED;
        p.bytes = TERM_GROUPED_BYTES;
    } else if (x->dims[1] < FEW_CHANNELS)
        p.flops = TERM_IMAGE;
    else if (window < 2)
        p.flops = TERM_POINTWISE;
    return p;
}

static product product_facts(const term_step *s, const term_layer *l)
{
    const op_ctx *c = l->c;
    if (is_convolution(c))
        return convolution_of(c);
    const op_info *y = c->n_out ? &c->out[0] : NULL;
    double out = c->n_out ? num_max((double)op_out_elems(c, 0), 1) : 1;
    double n = y && y->rank > 0 && y->dims[y->rank - 1] > 0 ? (double)y->dims[y->rank - 1] : 1;
    bool core = s->kind == KIND_CORE;
    return (product){.flops = core ? TERM_MATMUL : TERM_BATCHED,
                     .bytes = core ? TERM_CORE_BYTES : TERM_BATCHED_BYTES,
                     .m = num_max(out / n, 1),
                     .n = n,
                     .k = num_max((double)l->k->mac / out, 1)};
}

static void add_flops(const product *p, double flops, double times, double *t)
{
    t[p->flops] += flops;
    if (p->flops == TERM_DEPTHWISE || p->flops == TERM_BATCHED)
        return;
    t[TERM_NARROW] += flops * FULL / p->n;
    t[TERM_SHALLOW] += flops * FULL / p->k;
    t[TERM_WAVE] += 2 * num_min(p->m, TILE) * num_min(p->n, TILE) * p->k * times;
}

/* Bytes of a tensor at the width, of `part` bytes of it at its own. */
static double at_width(const op_info *x, double part, ir_dtype width)
{
    double own = (double)count_tensor_bytes(x, IR_UNDEFINED);
    return own > 0 ? part / own * (double)count_tensor_bytes(x, width) : part;
}

/* Bytes that a chain keeps to itself. */
static double kept_inside(const term_step *s, const term_layer *l)
{
    double sum = 0;
    for (uint32_t i = 0; i < l->c->n_in && i < MASKED_INPUTS; i++)
        if (s->inside >> i & 1 && l->c->in[i])
            sum += at_width(l->c->in[i], (double)l->k->read[i], l->width);
    for (uint32_t o = 0; o < l->c->n_out && !s->leaves; o++)
        sum += at_width(&l->c->out[o], (double)l->k->written[o], l->width);
    return sum * l->times;
}

static void add_to_chain(const term_step *s, const term_layer *l, double *t)
{
    double kept = kept_inside(s, l), moved = (double)l->moved;
    bool small = s->chain == TERM_DEPTHWISE_BYTES || s->chain == TERM_GROUPED_BYTES;
    t[s->chain] += moved > kept ? moved - kept : 0;
    if (s->core)
        t[small ? TERM_JOINED_SMALL_BYTES : TERM_JOINED_BYTES] += kept;
    t[TERM_KERNELS] += s->lead ? l->times : 0;
}

void terms_add(const term_plan *plan, uint32_t step, const term_layer *l, term_totals out)
{
    if (step >= plan->n || plan->steps[step].kind == KIND_FREE)
        return;
    const term_step *s = &plan->steps[step];
    product p = {0};
    if (s->kind == KIND_CORE || s->kind == KIND_BATCHED) {
        double flops = 2 * (double)l->k->mac * l->times;
        p = product_facts(s, l);
        add_flops(&p, flops, l->times, out[RUNTIME_LAYERS]);
        add_flops(&p, flops, l->times, out[RUNTIME_CHAINS]);
    }
    if (!s->bias) {
        out[RUNTIME_LAYERS][bytes_term(s->kind, p.bytes)] += (double)l->moved;
        out[RUNTIME_LAYERS][TERM_KERNELS] += l->times;
    }
    add_to_chain(s, l, out[RUNTIME_CHAINS]);
}
