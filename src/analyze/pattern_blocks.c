/* Structures of several contractions: attention around a softmax, squeeze-and-excite behind a pooling, gated
 * MLPs before a product. They are walked rather than compared with a formula, because what may stand
 * between their parts (scales, masks, biases, repeats of heads) comes in any number and order.
 */
#include "analyze/fuse.h"
#include "analyze/pattern_impl.h"

enum { WALK_MAX = 24 };

static bool is(const flow *f, uint32_t layer, unsigned what)
{
    return layer != FLOW_NONE && (flow_family(f, layer)->is & what);
}

static bool is_product(const flow *f, uint32_t layer)
{
    return layer != FLOW_NONE && fuse_role_of(f, layer) == ROLE_MATMUL;
}

/* A matrix product of two computed tensors. */
static bool is_dynamic_product(const flow *f, uint32_t layer)
{
    const ir_node *n = layer == FLOW_NONE ? NULL : flow_node(f, layer);
    return is_product(f, layer) && n->n_inputs >= 2 && !pattern_is_constant(f, n->inputs[0]) &&
           !pattern_is_constant(f, n->inputs[1]);
}

static int64_t elems(const flow *f, ir_id v)
{
    return v == IR_NONE ? -1 : op_numel(&f->r->info[v]);
}

static bool is_elementwise(const flow *f, uint32_t layer)
{
    fuse_role r = fuse_role_of(f, layer);
    return r >= ROLE_ACT && r <= ROLE_POINT;
}

/* The one layer that reads it, when it is one: a guard against NaN (Where(IsNaN(w), 0, w)) is one too. */
static uint32_t only_reader(pattern_finder *x, uint32_t layer)
{
    const flow *f = x->f;
    const uint32_t *uses = flow_at(&f->uses, layer);
    uint32_t n = flow_n(&f->uses, layer);
    if (f->kept[layer] || n == 0 || n > 2)
        return FLOW_NONE;
    if (n == 1)
        return uses[0];
    uint32_t first = uses[0] < uses[1] ? uses[0] : uses[1];
    uint32_t last = uses[0] < uses[1] ? uses[1] : uses[0];
    if (flow_n(&f->uses, first) != 1 || flow_at(&f->uses, first)[0] != last ||
        !is_elementwise(f, last) || fuse_role_of(f, first) == ROLE_ALONE)
        return FLOW_NONE;
    return pattern_add(&x->set, first, false) ? last : FLOW_NONE;
}

/* ---- attention ---- */

/* From the softmax on to the product with the values. */
static uint32_t to_values(pattern_finder *x, uint32_t softmax)
{
    uint32_t at = softmax;
    for (int k = 0; k < WALK_MAX; k++) {
        at = only_reader(x, at);
        if (at == FLOW_NONE || !pattern_add(&x->set, at, false))
            return FLOW_NONE;
        if (is_dynamic_product(x->f, at))
            return at;
        if (!pattern_is_pass(x->f, at) && !is_elementwise(x->f, at) && !is(x->f, at, OPS_REORDERS))
            return FLOW_NONE;
    }
    return FLOW_NONE;
}

typedef struct back {
    uint32_t scores; /* the product that was found */
    bool masked;
    int steps;
} back;

/* From the softmax's input back to the product of queries and keys: through whatever works element by
 * element on tensors of that size. */
static bool to_scores(pattern_finder *x, ir_id value, int64_t size, back *b)
{
    const flow *f = x->f;
    uint32_t layer = flow_maker(f, value);
    if (layer == FLOW_NONE || ++b->steps > WALK_MAX || elems(f, value) != size)
        return false;
    uint32_t before = x->set.n;
    if (!pattern_add(&x->set, layer, false))
        return false;
    if (is_dynamic_product(f, layer)) {
        b->scores = layer;
        return true;
    }
    const ir_node *n = flow_node(f, layer);
    if (pattern_is_pass(f, layer) || is_elementwise(f, layer))
        for (uint32_t i = 0; i < n->n_inputs && b->steps <= WALK_MAX; i++)
            if (n->inputs[i] != IR_NONE && to_scores(x, n->inputs[i], size, b)) {
                double s;
                for (uint32_t k = 0; k < n->n_inputs; k++)
                    b->masked |= k != i && n->inputs[k] != IR_NONE && is_elementwise(f, layer) &&
                                 !pattern_scalar(f, n->inputs[k], &s);
                return true;
            }
    x->set.n = before;
    return false;
}

static bool scales(const flow *f, uint32_t layer)
{
    const ir_node *n = flow_node(f, layer);
    op_algebra a = flow_family(f, layer)->algebra;
    bool product = a == OPA_MUL || a == OPA_DIV;
    return product && n->n_inputs == 2 && fuse_role_of(f, layer) == ROLE_POINT;
}

/* What an operand was made from by scaling, repeating heads and changing its order. */
static bool take_operand(pattern_finder *x, ir_id value, bool *repeats)
{
    const flow *f = x->f;
    for (int k = 0; k < WALK_MAX; k++) {
        uint32_t layer = flow_maker(f, value);
        if (layer == FLOW_NONE || f->kept[layer] || flow_n(&f->uses, layer) != 1)
            break;
        bool repeat = is(f, layer, OPS_REPEATS);
        if (!repeat && !flow_is_view(f, layer) && !is(f, layer, OPS_REORDERS | OPS_CONVERTS) &&
            !scales(f, layer))
            break;
        *repeats |= repeat;
        if (!pattern_add(&x->set, layer, flow_is_view(f, layer)))
            return false;
        value = flow_node(f, layer)->inputs[0];
        for (uint32_t i = 0; scales(f, layer) && i < flow_node(f, layer)->n_inputs; i++)
            if (elems(f, flow_node(f, layer)->inputs[i]) ==
                elems(f, flow_node(f, layer)->outputs[0]))
                value = flow_node(f, layer)->inputs[i];
    }
    return true;
}

static bool take_softmax(pattern_finder *x, uint32_t layer)
{
    const pattern_match *m = x->ends[layer] ? &x->list->items[x->ends[layer] - 1] : NULL;
    if (!m)
        return pattern_add(&x->set, layer, false);
    if (strcmp(m->name, "softmax") != 0)
        return false;
    for (uint32_t k = 0; k < m->n; k++)
        if (!pattern_add(&x->set, m->layers[k], false))
            return false;
    return true;
}

/* Where the softmax takes its input: of one that was decomposed, the first layers'. */
static ir_id softmax_input(const pattern_finder *x, uint32_t layer)
{
    const pattern_match *m = x->ends[layer] ? &x->list->items[x->ends[layer] - 1] : NULL;
    const ir_node *n = flow_node(x->f, m ? m->layers[0] : layer);
    return n->n_inputs ? n->inputs[0] : IR_NONE;
}

bool pattern_attention(pattern_finder *x, uint32_t softmax, const char **form)
{
    const flow *f = x->f;
    back b = {0};
    bool repeats = false;
    x->set.n = 0;
    ir_id in = softmax_input(x, softmax);
    if (in == IR_NONE || elems(f, in) < 0 || !take_softmax(x, softmax))
        return false;
    uint32_t values = to_values(x, softmax);
    if (values == FLOW_NONE || !to_scores(x, in, elems(f, in), &b))
        return false;
    const ir_node *s = flow_node(f, b.scores), *v = flow_node(f, values);
    for (uint32_t i = 0; i < 2; i++)
        if (!take_operand(x, s->inputs[i], &repeats))
            return false;
    for (uint32_t i = 0; i < 2; i++)
        if (!pattern_has(&x->set, flow_maker(f, v->inputs[i])) &&
            !take_operand(x, v->inputs[i], &repeats))
            return false;
    *form = repeats ? (b.masked ? "grouped, masked" : "grouped") : b.masked ? "masked" : "";
    return pattern_close(f, &x->set) && x->set.layers[x->set.n - 1] == values;
}

/* ---- squeeze and excite ---- */

static bool squeezes(const flow *f, uint32_t layer)
{
    fuse_role r = fuse_role_of(f, layer);
    return r == ROLE_CONV || r == ROLE_MATMUL || r == ROLE_AFFINE || r == ROLE_LAYOUT ||
           r == ROLE_VIEW || r == ROLE_POINT || r == ROLE_BIAS || r == ROLE_ACT || r == ROLE_BINARY;
}

/* Whether the layer multiplies what was pooled by what came of it. */
static bool excites(const flow *f, uint32_t layer, ir_id pooled)
{
    const ir_node *n = flow_node(f, layer);
    if (flow_family(f, layer)->algebra != OPA_MUL || n->n_inputs != 2)
        return false;
    for (int i = 0; i < 2; i++)
        if (pattern_source(f, n->inputs[i]) == pattern_source(f, pooled))
            return true;
    return false;
}

bool pattern_squeeze(pattern_finder *x, uint32_t pool)
{
    const flow *f = x->f;
    uint32_t at = pool, contractions = 0;
    x->set.n = 0;
    if (!flow_node(f, pool)->n_inputs || !pattern_add(&x->set, pool, false))
        return false;
    ir_id pooled = flow_node(f, pool)->inputs[0];
    for (int k = 0; k < WALK_MAX; k++) {
        at = only_reader(x, at);
        if (at == FLOW_NONE || !pattern_add(&x->set, at, false))
            return false;
        if (excites(f, at, pooled))
            return contractions > 0 && pattern_close(f, &x->set);
        if (!squeezes(f, at))
            return false;
        fuse_role r = fuse_role_of(f, at);
        contractions += r == ROLE_CONV || r == ROLE_MATMUL;
    }
    return false;
}

/* ---- gated MLP ---- */

typedef struct branch {
    uint32_t product; /* the matrix product that it comes from */
    ir_id of;         /* the product's input, or what a split product gave */
    const char *act;
} branch;

/* Takes the activation that ends at the layer: an operator, or what a formula found. */
static bool take_act(pattern_finder *x, uint32_t layer, ir_id *before, const char **name)
{
    const flow *f = x->f;
    const pattern_match *m = x->ends[layer] ? &x->list->items[x->ends[layer] - 1] : NULL;
    if (m && m->is != PATTERN_ACT)
        return false;
    if (!m && fuse_role_of(f, layer) != ROLE_ACT)
        return false;
    for (uint32_t k = 0; m && k < m->n; k++)
        if (!pattern_add(&x->set, m->layers[k], false))
            return false;
    *name = m ? m->name : flow_type(f, layer);
    const ir_node *n = flow_node(f, m ? m->layers[0] : layer);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != IR_NONE && !pattern_is_constant(f, n->inputs[i])) {
            *before = n->inputs[i];
            return m || pattern_add(&x->set, layer, false);
        }
    return false;
}

/* From a factor of the product back to its matrix product: through a bias, views, an activation and a
 * split. */
static bool take_branch(pattern_finder *x, ir_id value, branch *b)
{
    const flow *f = x->f;
    for (int k = 0; k < 8; k++) {
        uint32_t layer = flow_maker(f, value);
        if (layer == FLOW_NONE || !flow_node(f, layer)->n_inputs)
            return false;
        if (is_product(f, layer)) {
            b->product = layer;
            b->of = flow_node(f, layer)->inputs[0];
            return pattern_add(&x->set, layer, false);
        }
        ir_id before = flow_node(f, layer)->inputs[0];
        fuse_role r = fuse_role_of(f, layer);
        if (!b->act && take_act(x, layer, &before, &b->act)) {
            value = before;
            continue;
        }
        bool part = is(f, layer, OPS_CUTS);
        if (r == ROLE_BIAS && pattern_is_constant(f, before) && flow_node(f, layer)->n_inputs > 1)
            before = flow_node(f, layer)->inputs[1];
        if ((r != ROLE_BIAS && r != ROLE_VIEW && !part) || !pattern_add(&x->set, layer, false))
            return false;
        value = before;
    }
    return false;
}

bool pattern_gated(pattern_finder *x, uint32_t mul, const char **form)
{
    const flow *f = x->f;
    const ir_node *n = flow_node(f, mul);
    branch b[2] = {{0}};
    x->set.n = 0;
    if (n->n_inputs != 2 || x->ends[mul] || !pattern_add(&x->set, mul, false))
        return false;
    for (int i = 0; i < 2; i++)
        if (n->inputs[i] == IR_NONE || !take_branch(x, n->inputs[i], &b[i]))
            return false;
    if (!b[0].act == !b[1].act || pattern_source(f, b[0].of) != pattern_source(f, b[1].of))
        return false;
    *form = b[0].act ? b[0].act : b[1].act;
    return pattern_close(f, &x->set);
}
