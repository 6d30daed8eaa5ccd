/* The patterns, one row each, and the search for them. The first row that matches a layer names it, so what holds
 * another precedes it. */
#include "analyze/pattern.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/pattern_impl.h"

/* A layer of a real model takes some tens. */
enum { STEPS_FREE = 1000000, STEPS_PER_LAYER = 200 };

static int64_t dim_of(const flow *f, ir_id v, int axis)
{
    const op_info *x = &f->r->info[v];
    return axis < x->rank ? x->dims[axis] : -1;
}

/* A group norm reshapes its channels into groups for the instance norm. */
static bool is_grouped(const flow *f, const uint32_t *layers, uint32_t n)
{
    ir_id last = flow_node(f, layers[n - 1])->outputs[0];
    for (uint32_t k = 0; k < n; k++)
        if (flow_family(f, layers[k])->role == OPR_NORM)
            return dim_of(f, flow_node(f, layers[k])->outputs[0], 1) != dim_of(f, last, 1);
    return false;
}

#define MEAN_SQUARE(v)      "(^ -0.5 (+ _ (reducemean (^ 2 " v "))))"
#define CENTRED             "d=(+ x (neg (reducemean x)))"
#define ROTATED_HALF        "(concat (neg (part x)) (part x))"
#define ROTATED_BACK        "(concat (part x) (neg (part x)))"
#define COMPLEX(real, imag) "(concat " real " " imag ")"

const pattern_row pattern_rows[] = {
    {"layernorm", "", PATTERN_NORM, "(+ B (* G " CENTRED " " MEAN_SQUARE("d") "))", NULL},
    {"layernorm", "folded", PATTERN_NORM,
     "(+ (* x i=(* G (^ -0.5 (+ _ (reducemean (^ 2 (+ x (neg m=(reducemean x))))))))) "
     "(+ B (neg (* m i))))",
     NULL},
    {"layernorm", "no bias", PATTERN_NORM, "(* G " CENTRED " " MEAN_SQUARE("d") ")", NULL},
    {"layernorm", "no affine", PATTERN_NORM, "(* " CENTRED " " MEAN_SQUARE("d") ")", NULL},
    {"rmsnorm", "", PATTERN_NORM, "(* G x " MEAN_SQUARE("x") ")", NULL},
    {"rmsnorm", "unit offset", PATTERN_NORM, "(* (+ 1 G) x " MEAN_SQUARE("x") ")", NULL},
    {"rmsnorm", "no affine", PATTERN_NORM, "(* x " MEAN_SQUARE("x") ")", NULL},
    {"groupnorm", "instance norm", PATTERN_NORM, "(+ B (* G (instancenorm x)))", is_grouped},
    {"l2norm", "", PATTERN_NORM, "(* x (^ -1 (clip (reducel2 x))))", NULL},
    {"l2norm", "", PATTERN_NORM, "(* x (^ -1 (max (reducel2 x))))", NULL},
    {"l2norm", "", PATTERN_NORM, "(* x (^ -1 (reducel2 x)))", NULL},
    {"l2norm", "", PATTERN_NORM, "(* x (^ -0.5 (+ _ (reducesum (^ 2 x)))))", NULL},
    {"softmax", "", PATTERN_NORM, "(* e=(exp (+ x (neg (reducemax x)))) (^ -1 (reducesum e)))",
     NULL},
    {"gelu", "erf", PATTERN_ACT, "(* 0.5 x (+ 1 (erf (* 0.70710678 x))))", NULL},
    {"gelu", "erf", PATTERN_ACT, "(* x (+ 0.5 (* 0.5 (erf (* 0.70710678 x)))))", NULL},
    {"gelu", "tanh", PATTERN_ACT,
     "(* 0.5 x (+ 1 (tanh (* 0.79788456 (+ x (* 0.044715 (^ 3 x)))))))", NULL},
    {"gelu", "tanh", PATTERN_ACT,
     "(* 0.5 x (+ 1 (tanh (* 0.79788456 x (+ 1 (* 0.044715 (^ 2 x)))))))", NULL},
    {"gelu", "sigmoid", PATTERN_ACT, "(* x (sigmoid (* 1.702 x)))", NULL},
    {"silu", "", PATTERN_ACT, "(* x (sigmoid x))", NULL},
    {"silu", "scaled", PATTERN_ACT, "(* x (sigmoid (* _ x)))", NULL},
    {"silu", "exp", PATTERN_ACT, "(* x (^ -1 (+ 1 (exp (neg x)))))", NULL},
    {"mish", "", PATTERN_ACT, "(* x (tanh (softplus x)))", NULL},
    {"mish", "log", PATTERN_ACT, "(* x (tanh (log (+ 1 (exp x)))))", NULL},
    {"hardswish", "", PATTERN_ACT, "(* x (hardsigmoid x))", NULL},
    {"hardswish", "clip", PATTERN_ACT, "(* 0.16666667 x (clip (+ 3 x) 0 6))", NULL},
    {"hardsigmoid", "clip", PATTERN_ACT, "(* 0.16666667 (clip (+ 3 x) 0 6))", NULL},
    {"rotary", "half", PATTERN_POINT, "(+ (* x c) (* s " ROTATED_HALF "))", NULL},
    {"rotary", "half", PATTERN_POINT, "(+ (* x c) (* s " ROTATED_BACK "))", NULL},
    {"rotary", "parts", PATTERN_POINT,
     COMPLEX("(+ (* a=(part x) c) (neg (* b=(part x) s)))", "(+ (* b c) (* a s))"), NULL},
    {"rotary", "parts", PATTERN_POINT,
     COMPLEX("(+ (* a=(part x) c) (neg (* b=(part x) s)))", "(+ (* a s) (* b c))"), NULL},
};
const uint32_t pattern_rows_n = sizeof pattern_rows / sizeof *pattern_rows;

/* ---- the search ---- */

typedef struct search {
    pattern_finder x;
    struct pattern_program **programs; /* NULL: the model has not what it takes */
    arena *arena;
    uint32_t *ends;
    int64_t budget; /* of steps: a file made to be slow is not searched to its end */
} search;

static bool keep_match(search *s, const char *name, const char *form, pattern_class is, bool native)
{
    const pattern_set *set = &s->x.set;
    pattern_match *m = VEC_PUSH(s->arena, s->x.list);
    if (!m)
        return false;
    *m = (pattern_match){.name = name, .form = form, .is = is, .n = set->n, .native = native};
    m->layers = arena_copy(s->arena, set->layers, sizeof *set->layers * set->n);
    s->ends[set->layers[set->n - 1]] = s->x.list->n;
    return m->layers;
}

/* x sigmoid(1.702 x) is known as an approximation of GELU, whichever operator writes it. */
static bool is_quick_gelu(const flow *f, uint32_t layer)
{
    return fabs(ir_attr_float(flow_node(f, layer), "alpha", 1) - 1.702) < 0.002;
}

/* Operators that are such a computation by themselves. */
static bool find_native(search *s, uint32_t layer)
{
    static const pattern_class classes[OPR_COUNT] = {[OPR_ATTENTION] = PATTERN_ATTENTION,
                                                     [OPR_NORM] = PATTERN_NORM,
                                                     [OPR_ACT] = PATTERN_ACT,
                                                     [OPR_POINT] = PATTERN_POINT};
    const op_family *f = flow_family(s->x.f, layer);
    if (!f->known_as)
        return true;
    bool quick = strcmp(f->known_as, "silu") == 0 && is_quick_gelu(s->x.f, layer);
    s->x.set.n = 1;
    s->x.set.layers[0] = layer;
    return keep_match(s, quick ? "gelu" : f->known_as, quick ? "sigmoid" : "", classes[f->role],
                      true);
}

static bool find_formula(search *s, uint32_t layer)
{
    for (uint32_t k = 0; k < pattern_rows_n && s->budget > 0; k++) {
        const pattern_row *row = &pattern_rows[k];
        if (s->programs[k] && pattern_may_end(s->x.f, s->programs[k], layer) &&
            pattern_matches(s->x.f, s->programs[k], layer, &s->x.set, &s->budget) &&
            (!row->check || row->check(s->x.f, s->x.set.layers, s->x.set.n)))
            return keep_match(s, row->name, row->form, row->is, false);
    }
    return true;
}

/* These begin at a layer in their middle, and look at the formulas found before. */
static bool find_blocks(search *s, uint32_t layer)
{
    const op_family *f = flow_family(s->x.f, layer);
    const char *form = "";
    if (((f->is & OPS_WEIGHS) || s->ends[layer]) && pattern_attention(&s->x, layer, &form) &&
        !keep_match(s, "attention", form, PATTERN_ATTENTION, false))
        return false;
    if ((f->is & OPS_AVERAGES) && pattern_squeeze(&s->x, layer) &&
        !keep_match(s, "squeeze-excite", "", PATTERN_BLOCK, false))
        return false;
    if (f->algebra == OPA_MUL && pattern_gated(&s->x, layer, &form))
        return keep_match(s, "gated-mlp", form, PATTERN_BLOCK, false);
    return true;
}

static int by_exit(const void *a, const void *b)
{
    const pattern_match *x = a, *y = b;
    uint32_t p = x->layers[x->n - 1], q = y->layers[y->n - 1];
    if (p != q)
        return p < q ? -1 : 1;
    return x->n != y->n ? (x->n > y->n ? -1 : 1) : strcmp(x->name, y->name);
}

/* Of two matches, the one that lies within another of its own name says nothing new (an RMS norm without
 * scale inside one with it). */
static void drop_nested(search *s)
{
    pattern_list *list = s->x.list;
    uint32_t n = 0, *owner = ARENA_ARRAY(s->arena, uint32_t, s->x.f->n + (size_t)1);
    bool *nested = ARENA_ARRAY(s->arena, bool, list->n + (size_t)1);
    if (!owner || !nested)
        return;
    for (uint32_t k = 0; k < list->n; k++)
        for (uint32_t i = 0; i < list->items[k].n; i++) {
            uint32_t *o = &owner[list->items[k].layers[i]];
            bool norm = list->items[k].is == PATTERN_NORM;
            if (norm && (!*o || list->items[*o - 1].n < list->items[k].n))
                *o = k + 1;
        }
    for (uint32_t k = 0; k < list->n; k++) {
        const pattern_match *m = &list->items[k];
        uint32_t o = owner[m->layers[m->n - 1]];
        bool inside = m->is == PATTERN_NORM && o && o != k + 1;
        for (uint32_t i = 0; inside && i < m->n; i++)
            inside = owner[m->layers[i]] == o;
        nested[k] = inside;
    }
    for (uint32_t k = 0; k < list->n; k++)
        if (!nested[k])
            list->items[n++] = list->items[k];
    list->n = n;
}

static bool prepare(search *s, const flow *f)
{
    arena *a = s->arena;
    s->ends = ARENA_ARRAY(a, uint32_t, f->n + (size_t)1);
    s->programs = ARENA_ARRAY(a, struct pattern_program *, pattern_rows_n);
    s->x.set.layers = ARENA_ARRAY(a, uint32_t, PATTERN_LAYERS);
    s->x.set.pass = ARENA_ARRAY(a, bool, PATTERN_LAYERS);
    s->x.ends = s->ends;
    map types;
    if (arena_failed(a) || !map_init(&types, a, 64))
        return false;
    for (uint32_t layer = 0; layer < f->n; layer++)
        if (!map_put(&types, str_of(flow_type(f, layer)), layer))
            return false;
    for (uint32_t k = 0; k < pattern_rows_n; k++) {
        s->programs[k] = pattern_compile(pattern_rows[k].formula, a);
        if (s->programs[k] && !pattern_possible(s->programs[k], &types))
            s->programs[k] = NULL;
    }
    return !arena_failed(a);
}

assay_status pattern_find(const flow *f, pattern_list *out, assay_error *err)
{
    search s = {.x = {.f = f, .list = out},
                .arena = f->r->arena,
                .budget = STEPS_FREE + (int64_t)STEPS_PER_LAYER * f->n};
    *out = (pattern_list){0};
    TRY_MEMORY(prepare(&s, f), err);
    for (uint32_t layer = 0; layer < f->n; layer++)
        TRY_MEMORY(find_native(&s, layer) && find_formula(&s, layer), err);
    for (uint32_t layer = 0; layer < f->n; layer++)
        TRY_MEMORY(find_blocks(&s, layer), err);
    drop_nested(&s);
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_exit);
    return arena_failed(s.arena) ? err_no_memory(err) : ASSAY_OK;
}

assay_status pattern_fill(const flow *f, const pattern_list *list, profile *p, assay_error *err)
{
    profile_pattern *to = ARENA_ARRAY(p->arena, profile_pattern, list->n + (size_t)1);
    for (uint32_t k = 0; to && k < list->n; k++) {
        const pattern_match *m = &list->items[k];
        str *names = ARENA_ARRAY(p->arena, str, m->n);
        to[k] = (profile_pattern){.name = m->name,
                                  .form = m->form,
                                  .output = p->layers[m->layers[m->n - 1]].name,
                                  .nodes = names,
                                  .n_nodes = m->n,
                                  .native = m->native};
        for (uint32_t i = 0; names && i < m->n; i++) {
            const profile_layer *l = &p->layers[m->layers[i]];
            names[i] = l->name;
            to[k].flops = sat_add(to[k].flops, l->flops);
            to[k].macs = sat_add(to[k].macs, l->macs);
        }
    }
    (void)f;
    p->patterns = to;
    p->n_patterns = list->n;
    p->has_patterns = true;
    return arena_failed(p->arena) ? err_no_memory(err) : ASSAY_OK;
}
