/* See align.h. Keys from the surest to the vaguest, each for the layers that are still alone:
 *
 *   the whole graph above and below a layer is the same, with the attributes and then without; all above it; all below it; its neighbours to three
 *   steps; the layer itself under the same name; the graph of operators alone, whatever their sizes
 *
 * Layers of one key are paired in the order they run. What is left over stands between layers that have a
 * partner: within each such stretch the pairing that keeps the order and scores highest is found by dynamic
 * programming (Needleman and Wunsch 1970), so that a layer whose width changed meets its successor and is not
 * "removed" and "added".
 *
 * The hash of a graph above a layer is that of the layer mixed with the sum of its producers' (Weisfeiler and
 * Lehman's refinement run to the end along the edges); sums, because exporters swap the operands of an addition.
 *
 * Across formats, graphs are not the same: one folds a normalisation, another has the bias as an operator. There the
 * whole graphs are one stretch, and its pairing goes by the work: the type of a layer, its MACs and the sizes of its
 * output, without regard to their order and to axes of size 1.
 */
#include "study/align.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"

enum { NEAR_STEPS = 3 };
#define CELLS_MOST ((uint64_t)4 << 20) /* of one stretch's table; above it pairs go by key alone */

typedef struct side {
    const profile *p;
    uint32_t n;
    uint32_t *edge_at,
        *edges; /* producers of layer i: edges[edge_at[i]] .. edges[edge_at[i + 1] - 1] */
    uint64_t *own, *op, *name, *module; /* [n] hashes */
    uint64_t *work;                     /* [n] type, MACs and sizes in any order */
    uint64_t *up, *down, *near, *op_up, *op_down, *op_near;
    uint64_t *told, *told_up, *told_down; /* with attributes */
    uint64_t *key;                        /* of the stage at hand */
    uint32_t *partner;                    /* kept */
} side;

typedef struct keyed {
    uint64_t key;
    uint32_t at;
} keyed;

typedef struct aligning {
    arena *work;
    side a, b;
    keyed *list_a, *list_b;
    bool across;
} aligning;

/* ---- hashes ---- */

static uint64_t mix(uint64_t h)
{
    h ^= h >> 30;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 27;
    h *= UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static uint64_t with(uint64_t h, uint64_t v)
{
    return mix(h * 31 + v + UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t with_shapes(uint64_t h, const profile_tensor *t, uint32_t n)
{
    h = with(h, n);
    for (uint32_t i = 0; i < n; i++) {
        h = with(h, (uint64_t)(int64_t)t[i].shape.rank);
        for (int d = 0; d < t[i].shape.rank; d++)
            h = with(h, (uint64_t)t[i].shape.dims[d]);
    }
    return h;
}

static uint64_t own_hash(const profile_layer *l)
{
    uint64_t h = with(str_hash(l->op), l->parameters);
    h = with(with(with(h, l->macs), l->flops), l->memory);
    h = with_shapes(with(h, l->times), l->inputs, l->n_inputs);
    return with_shapes(h, l->outputs, l->n_outputs);
}

/* Whether the outputs of a layer are no more than a vector. */
static bool makes_vector(const profile_layer *l)
{
    int wide = 0;
    for (int d = 0; l->n_outputs && d < l->outputs[0].shape.rank; d++)
        wide += l->outputs[0].shape.dims[d] != 1;
    return l->n_outputs && l->outputs[0].shape.rank >= 0 && wide <= 1;
}

/* Convolutions of one or two axes are of one family; so are products with and without a bias, and the convolution of a
 * single point that stands for one. */
static str family_of(const profile_layer *l)
{
    bool conv = str_starts(l->type, "conv") && !str_contains(l->type, "transpose");
    if (str_is(l->type, "matmul") || (conv && makes_vector(l)))
        return STR("linear");
    return conv ? STR("conv") : l->type;
}

/* A sum, so that the order of the axes does not matter. */
static uint64_t sizes_hash(const profile_tensor *t, uint32_t n)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < n; i++)
        for (int d = 0; d < t[i].shape.rank; d++)
            h += t[i].shape.dims[d] == 1 ? 0 : mix((uint64_t)t[i].shape.dims[d] + 1);
    return h;
}

static uint64_t work_hash(const profile_layer *l)
{
    uint64_t h = with(with(str_hash(family_of(l)), l->macs), l->times);
    return with(h, sizes_hash(l->outputs, l->n_outputs ? 1 : 0));
}

static bool same_tensors(const profile_tensor *x, uint32_t n, const profile_tensor *y, uint32_t m)
{
    if (n != m)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const profile_shape *s = &x[i].shape, *t = &y[i].shape;
        if (s->rank != t->rank ||
            (s->rank > 0 && memcmp(s->dims, t->dims, sizeof *s->dims * (size_t)s->rank) != 0))
            return false;
    }
    return true;
}

static bool same_shapes(const profile_layer *x, const profile_layer *y)
{
    return same_tensors(x->inputs, x->n_inputs, y->inputs, y->n_inputs) &&
           same_tensors(x->outputs, x->n_outputs, y->outputs, y->n_outputs);
}

static uint32_t fewer(uint32_t n, uint32_t m)
{
    return n < m ? n : m;
}

/* Built-in models have the operators of ONNX. */
static bool is_onnx(str format)
{
    return str_is(format, "onnx") || str_is(format, "zoo");
}

bool align_is_across(const profile *a, const profile *b)
{
    return a->format.n && b->format.n && !str_eq(a->format, b->format) &&
           !(is_onnx(a->format) && is_onnx(b->format));
}

bool align_reshaped(const profile_layer *x, const profile_layer *y, bool across)
{
    uint32_t n = fewer(x->n_inputs, y->n_inputs), m = fewer(x->n_outputs, y->n_outputs);
    if (across)
        return sizes_hash(x->outputs, m) != sizes_hash(y->outputs, m);
    return !same_tensors(x->inputs, n, y->inputs, n) || !same_tensors(x->outputs, m, y->outputs, m);
}

/* What an older file does not say is not held against it. */
static bool same_attributes(const profile_layer *x, const profile_layer *y)
{
    uint32_t i = 0, k = 0;
    attribute_pair ignored;
    return !x->attributes_told || !y->attributes_told ||
           !attribute_next(x->attributes, y->attributes, &i, &k, &ignored);
}

bool align_same(const profile_layer *x, const profile_layer *y, bool across)
{
    if (x->flops != y->flops || x->macs != y->macs || x->parameters != y->parameters ||
        x->memory != y->memory || x->times != y->times)
        return false;
    return across ? work_hash(x) == work_hash(y)
                  : str_eq(x->op, y->op) && same_shapes(x, y) && same_attributes(x, y);
}

/* ---- the graph ---- */

/* Values by name, the last one made before the layer: bodies of loops may use a name again. */
static bool find_producers(side *s, arena *work)
{
    VEC(uint32_t) edges = {0};
    map made;
    if (!map_init(&made, work, s->n))
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        const profile_layer *l = &s->p->layers[i];
        s->edge_at[i] = edges.n;
        for (uint32_t k = 0; k < l->n_inputs; k++) {
            uint32_t from = l->inputs[k].name.n ? map_get(&made, l->inputs[k].name) : MAP_NONE;
            uint32_t *e = from != MAP_NONE ? VEC_PUSH(work, &edges) : NULL;
            if (e)
                *e = from;
        }
        for (uint32_t k = 0; k < l->n_outputs; k++)
            if (l->outputs[k].name.n && !map_put(&made, l->outputs[k].name, i))
                return false;
    }
    s->edge_at[s->n] = edges.n;
    s->edges = edges.items;
    return !arena_failed(work);
}

static void hash_up(const side *s, const uint64_t *own, uint64_t *up)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t sum = 0;
        for (uint32_t e = s->edge_at[i]; e < s->edge_at[i + 1]; e++)
            sum += mix(up[s->edges[e]]);
        up[i] = with(own[i], sum);
    }
}

/* down[i] holds the sum of its consumers until it is its turn. */
static void hash_down(const side *s, const uint64_t *own, uint64_t *down)
{
    for (uint32_t i = s->n; i-- > 0;) {
        down[i] = with(own[i], down[i]);
        for (uint32_t e = s->edge_at[i]; e < s->edge_at[i + 1]; e++)
            down[s->edges[e]] += mix(down[i]);
    }
}

static bool hash_near(const side *s, const uint64_t *own, uint64_t *near, arena *work)
{
    uint64_t *sums = ARENA_ARRAY(work, uint64_t, (size_t)s->n + 1);
    if (!sums)
        return false;
    memcpy(near, own, sizeof *near * s->n);
    for (int step = 0; step < NEAR_STEPS; step++) {
        memset(sums, 0, sizeof *sums * s->n);
        for (uint32_t i = 0; i < s->n; i++)
            for (uint32_t e = s->edge_at[i]; e < s->edge_at[i + 1]; e++) {
                sums[i] += mix(near[s->edges[e]]);
                sums[s->edges[e]] += mix(near[i] ^ UINT64_C(0x5555));
            }
        for (uint32_t i = 0; i < s->n; i++)
            near[i] = with(near[i], sums[i]);
    }
    return true;
}

static bool describe(side *s, const profile *p, arena *work, uint32_t *partner)
{
    uint64_t **const arrays[] = {&s->own,  &s->op,   &s->name,    &s->module,    &s->up,
                                 &s->down, &s->near, &s->op_up,   &s->op_down,   &s->op_near,
                                 &s->key,  &s->told, &s->told_up, &s->told_down, &s->work};
    s->p = p;
    s->n = p->n_layers;
    s->partner = partner;
    s->edge_at = ARENA_ARRAY(work, uint32_t, (size_t)s->n + 1);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ARENA_ARRAY(work, uint64_t, (size_t)s->n + 1);
    if (arena_failed(work) || !find_producers(s, work))
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        const profile_layer *l = &p->layers[i];
        s->own[i] = own_hash(l);
        s->told[i] = s->own[i];
        for (uint32_t k = 0; k < l->attributes.n; k++)
            s->told[i] = attribute_hash(s->told[i], &l->attributes.items[k]);
        s->op[i] = str_hash(l->op);
        s->name[i] = str_hash(l->name);
        s->module[i] = str_hash(l->module);
        s->work[i] = work_hash(l);
        partner[i] = ALIGN_NONE;
    }
    hash_up(s, s->told, s->told_up);
    hash_down(s, s->told, s->told_down);
    hash_up(s, s->own, s->up);
    hash_down(s, s->own, s->down);
    hash_up(s, s->op, s->op_up);
    hash_down(s, s->op, s->op_down);
    return hash_near(s, s->own, s->near, work) && hash_near(s, s->op, s->op_near, work);
}

/* ---- pairs of one key ---- */

static int by_key(const void *x, const void *y)
{
    const keyed *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Those of [from, to) that are alone. */
static uint32_t list_alone(const side *s, uint32_t from, uint32_t to, keyed *out)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++)
        if (s->partner[i] == ALIGN_NONE)
            out[n++] = (keyed){s->key[i], i};
    if (n)
        qsort(out, n, sizeof *out, by_key);
    return n;
}

static void pair(aligning *g, uint32_t i, uint32_t k)
{
    g->a.partner[i] = k;
    g->b.partner[k] = i;
}

static void pair_by_key(aligning *g, uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1)
{
    uint32_t n = list_alone(&g->a, a0, a1, g->list_a), m = list_alone(&g->b, b0, b1, g->list_b);
    for (uint32_t i = 0, k = 0; i < n && k < m;) {
        const keyed *x = &g->list_a[i], *y = &g->list_b[k];
        if (x->key == y->key)
            pair(g, x->at, y->at);
        i += x->key <= y->key;
        k += y->key <= x->key;
    }
}

typedef void key_fn(side *s);

#define KEY(name, expression)               \
    static void key_##name(side *s)         \
    {                                       \
        for (uint32_t i = 0; i < s->n; i++) \
            s->key[i] = (expression);       \
    }
KEY(told_named, with(with(s->told_up[i], s->told_down[i]), s->name[i]))
KEY(told, with(s->told_up[i], s->told_down[i]))
KEY(both_named, with(with(s->up[i], s->down[i]), s->name[i]))
KEY(both, with(s->up[i], s->down[i]))
KEY(up_named, with(s->up[i], s->name[i]))
KEY(up, s->up[i])
KEY(down_named, with(s->down[i], s->name[i]))
KEY(down, s->down[i])
KEY(near_named, with(s->near[i], s->name[i]))
KEY(near, s->near[i])
KEY(own_named, with(s->own[i], s->name[i]))
KEY(op_both_named, with(with(s->op_up[i], s->op_down[i]), s->name[i]))
KEY(op_both, with(s->op_up[i], s->op_down[i]))
KEY(op_named, with(s->op[i], s->name[i]))
KEY(op, s->op[i])
KEY(work, s->work[i])
/* Of layers that multiply: the same work on other sizes, as a dilated convolution that was cut into blocks. */
KEY(cost, s->p->layers[i].macs
              ? with(with(str_hash(family_of(&s->p->layers[i])), s->p->layers[i].macs),
                     with(s->p->layers[i].parameters, s->p->layers[i].times))
              : with((uintptr_t)s, i))

/* Of keys as sure as each other, those with the name first: of repeated blocks the one that people know. */
static key_fn *const stages[] = {
    key_told_named, key_told,          key_both_named, key_both, key_up_named,
    key_down_named, key_near_named,    key_own_named,  key_up,   key_down,
    key_near,       key_op_both_named, key_op_both,
};

static void pair_in(aligning *g, key_fn *key, uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1)
{
    key(&g->a);
    key(&g->b);
    pair_by_key(g, a0, a1, b0, b1);
}

/* ---- what is left, stretch by stretch ---- */

/* Layers that multiply are what two files of one network have in common; of others the same size is a hint. */
static int32_t score_across(const aligning *g, uint32_t i, uint32_t k)
{
    const side *a = &g->a, *b = &g->b;
    const profile_layer *x = &a->p->layers[i], *y = &b->p->layers[k];
    if (!str_eq(family_of(x), family_of(y)))
        return 0;
    return 2 + (x->macs ? 12 : 4) * (a->work[i] == b->work[k]) + (x->parameters == y->parameters) +
           2 * (a->name[i] == b->name[k]);
}

static int32_t score(const aligning *g, uint32_t i, uint32_t k)
{
    const side *a = &g->a, *b = &g->b;
    if (g->across)
        return score_across(g, i, k);
    if (a->op[i] != b->op[k])
        return 0;
    return 4 + 8 * (a->own[i] == b->own[k]) + 6 * (a->name[i] == b->name[k]) +
           2 * (a->module[i] == b->module[k]) + 3 * (a->op_near[i] == b->op_near[k]);
}

enum { STEP_A, STEP_B, STEP_BOTH };

/* The table of steps, n by m; row by row with two rows of scores. */
static void fill_table(const aligning *g, const keyed *x, uint32_t n, const keyed *y, uint32_t m,
                       int32_t *rows, uint8_t *steps)
{
    int32_t *last = rows, *row = rows + m + 1;
    memset(rows, 0, sizeof *rows * 2 * ((size_t)m + 1));
    for (uint32_t i = 0; i < n; i++) {
        row[0] = 0;
        for (uint32_t k = 0; k < m; k++) {
            int32_t s = score(g, x[i].at, y[k].at), best = last[k + 1];
            uint8_t step = STEP_A;
            if (row[k] > best) {
                best = row[k];
                step = STEP_B;
            }
            if (s > 0 && last[k] + s >= best) {
                best = last[k] + s;
                step = STEP_BOTH;
            }
            row[k + 1] = best;
            steps[(size_t)i * m + k] = step;
        }
        int32_t *t = last;
        last = row;
        row = t;
    }
}

static bool pair_by_order(aligning *g, uint32_t n, uint32_t m)
{
    int32_t *rows = memory_alloc(sizeof *rows * 2 * ((size_t)m + 1));
    uint8_t *steps = memory_alloc((size_t)n * m);
    bool ok = rows && steps;
    if (ok) {
        fill_table(g, g->list_a, n, g->list_b, m, rows, steps);
        for (uint32_t i = n, k = m; i && k;) {
            uint8_t step = steps[(size_t)(i - 1) * m + (k - 1)];
            if (step == STEP_BOTH)
                pair(g, g->list_a[i - 1].at, g->list_b[k - 1].at);
            i -= step != STEP_B;
            k -= step != STEP_A;
        }
    }
    free(rows);
    free(steps);
    return ok;
}

static void key_place(side *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->key[i] = i;
}

static bool pair_stretch(aligning *g, uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1)
{
    uint32_t n = list_alone(&g->a, a0, a1, g->list_a), m = list_alone(&g->b, b0, b1, g->list_b);
    if (!n || !m)
        return true;
    if ((uint64_t)n * m <= CELLS_MOST)
        return pair_by_order(g, n, m);
    if (g->across)
        pair_in(g, key_work, a0, a1, b0, b1);
    pair_in(g, key_op_named, a0, a1, b0, b1);
    pair_in(g, key_op, a0, a1, b0, b1);
    key_place(&g->a);
    key_place(&g->b);
    return true;
}

/* The longest run of pairs that are in order on both sides: the fixed points between stretches. tails[k] is the
 * pair that ends the best run of length k + 1; before[i] is the pair before i in its run. */
static uint32_t fixed_points(const aligning *g, uint32_t *tails, uint32_t *before)
{
    const uint32_t *to = g->a.partner;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->a.n; i++) {
        if (to[i] == ALIGN_NONE)
            continue;
        uint32_t low = 0, high = n;
        while (low < high) {
            uint32_t mid = (low + high) / 2;
            if (to[tails[mid]] < to[i])
                low = mid + 1;
            else
                high = mid;
        }
        before[i] = low ? tails[low - 1] : ALIGN_NONE;
        tails[low] = i;
        n = low == n ? n + 1 : n;
    }
    for (uint32_t i = n ? tails[n - 1] : ALIGN_NONE, k = n; k-- > 0; i = before[i])
        tails[k] = i;
    return n;
}

static bool pair_rest(aligning *g)
{
    uint32_t *points = ARENA_ARRAY(g->work, uint32_t, (size_t)g->a.n + 1);
    uint32_t *before = ARENA_ARRAY(g->work, uint32_t, (size_t)g->a.n + 1);
    uint32_t a0 = 0, b0 = 0;
    if (!points || !before)
        return false;
    uint32_t n = fixed_points(g, points, before);
    key_place(&g->a);
    key_place(&g->b);
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t a1 = i < n ? points[i] : g->a.n, b1 = i < n ? g->a.partner[points[i]] : g->b.n;
        if (!pair_stretch(g, a0, a1, b0, b1))
            return false;
        a0 = a1 + 1;
        b0 = b1 + 1;
    }
    return true;
}

/* ---- all ---- */

static bool align(aligning *g, const profile *a, const profile *b, alignment *out)
{
    g->list_a = ARENA_ARRAY(g->work, keyed, (size_t)a->n_layers + 1);
    g->list_b = ARENA_ARRAY(g->work, keyed, (size_t)b->n_layers + 1);
    if (!g->list_a || !g->list_b || !describe(&g->a, a, g->work, out->of_a) ||
        !describe(&g->b, b, g->work, out->of_b))
        return false;
    g->across = align_is_across(a, b);
    for (size_t i = 0; i < sizeof stages / sizeof *stages && !g->across; i++)
        pair_in(g, stages[i], 0, g->a.n, 0, g->b.n);
    if (!pair_rest(g))
        return false;
    if (g->across) { /* branches that run in another order */
        pair_in(g, key_work, 0, g->a.n, 0, g->b.n);
        pair_in(g, key_cost, 0, g->a.n, 0, g->b.n);
    }
    return true;
}

assay_status align_layers(const profile *a, const profile *b, arena *keep, alignment *out,
                          assay_error *err)
{
    size_t bytes = ((size_t)a->n_layers + b->n_layers + 64) * 4096;
    aligning g = {.work = arena_new(bytes)};
    out->of_a = ARENA_ARRAY(keep, uint32_t, (size_t)a->n_layers + 1);
    out->of_b = ARENA_ARRAY(keep, uint32_t, (size_t)b->n_layers + 1);
    bool ok = g.work && out->of_a && out->of_b && align(&g, a, b, out);
    arena_free(g.work);
    return ok ? ASSAY_OK : err_no_memory(err);
}
