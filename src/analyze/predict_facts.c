/* Terms that the time of a layer may depend on, and the kernel that could include it.
 *
 * Families: convolutions by how engines treat them (depthwise; few channels, as of images; grouped, by whether
 * the channels of a group fill vectors; 1×1; the rest), products with a weight and between activations,
 * attention, and every other operator type by itself. Terms are counts in millions, so that coefficients are
 * microseconds per million: about nanoseconds each.
 */
#include <string.h>

#include "analyze/predict.h"
#include "base/map.h"
#include "base/num.h"
#include "ops/family.h"

#define MILLION 1e-6
/* Where data stops fitting into caches of its own core, and into those that are shared. Rough on purpose: what a
 * byte costs on either side is fitted. */
#define NEAR_BYTES ((double)(512 * 1024))
#define FAR_BYTES  ((double)(16 * 1024 * 1024))

typedef struct facts {
    double macs, other, special, times;
    double read, weights, written, out; /* bytes; elements of the first output */
    double m, n, k; /* as a matrix product: rows, columns, depth; of one group */
    double groups;  /* or matrices of a batched product */
    double window;  /* positions of a convolution's kernel */
} facts;

/* ---- facts ---- */

static double product(const profile_shape *s, int from, int to)
{
    double v = 1;
    for (int i = from; i < to && i < s->rank; i++)
        v *= s->dims[i] > 0 ? (double)s->dims[i] : 1;
    return v;
}

static double over(double v, double limit)
{
    return v > limit ? v - limit : 0;
}

/* x[n, c, ...] with w[m, c/g, ...]. */
static void convolution(const profile_layer *l, facts *f)
{
    const profile_shape *x = &l->inputs[0].shape, *w = &l->inputs[1].shape,
                        *y = &l->outputs[0].shape;
    f->k = num_max((double)w->dims[1], 1);
    f->groups = num_max(product(x, 1, 2) / f->k, 1);
    f->n = num_max((double)w->dims[0] / f->groups, 1);
    f->window = product(w, 2, w->rank);
    f->m = product(y, 0, 1) * product(y, 2, y->rank);
}

/* a[..., m, k] with b[..., k, n]: one matrix when b is a weight, else as many as the axes before say. */
static void matrix_product(const profile_layer *l, facts *f)
{
    const profile_shape *y = &l->outputs[0].shape;
    int r = y->rank > 0 ? y->rank : 0;
    f->n = r > 0 ? product(y, r - 1, r) : 1;
    f->m = f->weights > 0 ? product(y, 0, r - 1) : r > 1 ? product(y, r - 2, r - 1) : 1;
    f->groups = num_max(product(y, 0, r) / num_max(f->m * f->n, 1), 1);
    f->k = num_max(f->macs / num_max(f->m * f->n * f->groups, 1), 1);
    f->window = 1;
}

static bool is_convolution(const profile_layer *l)
{
    return (op_family_find(l->type)->is & OPS_CONVOLVES) && l->n_outputs && l->n_inputs >= 2 &&
           l->inputs[0].shape.rank >= 3 && l->inputs[1].shape.rank >= 3;
}

static facts facts_of(const profile_layer *l)
{
    const profile_ops *o = &l->ops;
    facts f = {.macs = (double)l->macs,
               .other = (double)o->add + (double)o->mul + (double)o->div + (double)o->cmp,
               .special = (double)o->special,
               .times = num_max((double)l->times, 1),
               .read = (double)l->read_bytes,
               .weights = (double)l->weight_bytes,
               .written = (double)l->written_bytes,
               .m = 1,
               .n = 1,
               .k = 1,
               .groups = 1,
               .window = 1};
    if (l->n_outputs)
        f.out = product(&l->outputs[0].shape, 0, l->outputs[0].shape.rank) * f.times;
    if (is_convolution(l))
        convolution(l, &f);
    else if (l->macs && l->n_outputs)
        matrix_product(l, &f);
    return f;
}

/* ---- terms ---- */

typedef uint32_t terms_fn(const facts *f, double *x);

static uint32_t conv_terms(const facts *f, double *x)
{
    const double all[] = {f->times,
                          f->macs * MILLION,
                          f->macs * MILLION * 8 / f->n,
                          f->macs * MILLION * 8 / f->k,
                          f->macs * MILLION * 64 / num_max(f->m, 1),
                          f->out * MILLION,
                          f->read * MILLION / 4,
                          f->weights * MILLION / 4,
                          over(f->weights, NEAR_BYTES) * MILLION / 4,
                          over(f->read + f->written, FAR_BYTES) * MILLION / 4};
    memcpy(x, all, sizeof all);
    return sizeof all / sizeof *all;
}

static uint32_t depthwise_terms(const facts *f, double *x)
{
    const double all[] = {f->times,
                          f->macs * MILLION,
                          f->out * MILLION,
                          f->read * MILLION / 4,
                          over(f->read + f->written, NEAR_BYTES) * MILLION / 4,
                          over(f->read + f->written, FAR_BYTES) * MILLION / 4,
                          f->weights * MILLION / 4};
    memcpy(x, all, sizeof all);
    return sizeof all / sizeof *all;
}

static uint32_t product_terms(const facts *f, double *x)
{
    const double all[] = {f->times,
                          f->macs * MILLION,
                          f->macs * MILLION * 16 / num_max(f->n, 1),
                          f->macs * MILLION * 16 / num_max(f->k, 1),
                          f->macs * MILLION * 16 / num_max(f->m, 1),
                          f->out * MILLION,
                          f->read * MILLION / 4,
                          over(f->weights, NEAR_BYTES) * MILLION / 4,
                          over(f->weights + f->read + f->written, FAR_BYTES) * MILLION / 4,
                          (f->groups + f->special * 1e-3) * 1e-3};
    memcpy(x, all, sizeof all);
    return sizeof all / sizeof *all;
}

static uint32_t moving_terms(const facts *f, double *x)
{
    double moved = f->read + f->weights + f->written;
    const double all[] = {f->times,
                          f->out * MILLION,
                          (f->read + f->weights) * MILLION / 4,
                          f->written * MILLION / 4,
                          f->special * MILLION,
                          f->other * MILLION,
                          over(moved, NEAR_BYTES) * MILLION / 4,
                          over(moved, FAR_BYTES) * MILLION / 4};
    memcpy(x, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* ---- families ---- */

typedef struct family_row {
    const char *name, *like;
    terms_fn *terms;
} family_row;

enum { CONV, POINTWISE, IMAGE, DEPTHWISE, GROUPED, GROUPED_ODD, VECTOR, PRODUCT, BATCHED, MOVING };
static const family_row families[] = {
    [CONV] = {"conv", "conv 1x1", conv_terms},
    [POINTWISE] = {"conv 1x1", "conv", conv_terms},
    [IMAGE] = {"conv few channels", "conv", conv_terms},
    [DEPTHWISE] = {"conv depthwise", "conv depthwise", depthwise_terms},
    [GROUPED] = {"conv grouped", "conv", conv_terms},
    [GROUPED_ODD] = {"conv grouped narrow", "conv", conv_terms},
    [VECTOR] = {"matvec", "matmul", product_terms},
    [PRODUCT] = {"matmul", "matmul", product_terms},
    [BATCHED] = {"matmul batched", "matmul", product_terms},
    [MOVING] = {NULL, "other", moving_terms},
};

static bool fills(double channels)
{
    return channels >= 8 && (uint64_t)channels % 8 == 0;
}

static int conv_family(const facts *f)
{
    if (f->groups > 1 && f->n < 2 && f->k < 2)
        return DEPTHWISE;
    if (f->groups > 1)
        return fills(f->n) && fills(f->k) ? GROUPED : GROUPED_ODD;
    return f->k < 8 ? IMAGE : f->window < 2 ? POINTWISE : CONV;
}

static int family_of(const profile_layer *l, const facts *f)
{
    if (is_convolution(l) && l->macs)
        return conv_family(f);
    if (!l->macs)
        return MOVING;
    return f->weights > 0 ? f->m <= 8 ? VECTOR : PRODUCT : BATCHED;
}

/* Contractions whose loops are their own (attention, recurrent cells, transposed convolutions) are families by
 * their type, with the terms of a product. */
static void describe(const profile_layer *l, predict_layer *out)
{
    facts f = facts_of(l);
    const family_row *row = &families[family_of(l, &f)];
    bool usual = op_family_find(l->type)->is & OPS_USUAL_LOOPS;
    out->family = row->name && usual ? str_of(row->name) : l->type;
    out->like = row->like;
    out->n_terms = row->terms(&f, out->x);
}

/* ---- who takes whom in ---- */

typedef struct walk {
    const profile *p;
    predict_layer *l;
    map made;       /* value to the layer that makes it */
    map readers;    /* value to the number of layers that read it */
    map given;      /* inputs of the model */
    uint32_t *base; /* [layers] hash of the contraction that a chain began with */
} walk;

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint64_t v = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
    v ^= v >> 29;
    return (uint32_t)(v * 0xbf58476d1ce4e5b9u >> 32) | 1u;
}

static bool index_values(walk *w, arena *a)
{
    const profile *p = w->p;
    if (!map_init(&w->made, a, p->n_layers) || !map_init(&w->readers, a, p->n_layers) ||
        !map_init(&w->given, a, p->n_inputs))
        return false;
    for (uint32_t i = 0; i < p->n_inputs; i++)
        if (!map_put(&w->given, p->inputs[i].name, i))
            return false;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        for (uint32_t o = 0; o < l->n_outputs; o++)
            if (!map_put(&w->made, l->outputs[o].name, i))
                return false;
        for (uint32_t k = 0; k < l->n_inputs; k++) {
            uint32_t n = map_get(&w->readers, l->inputs[k].name);
            if (!map_put(&w->readers, l->inputs[k].name, n == MAP_NONE ? 1 : n + 1))
                return false;
        }
    }
    return true;
}

/* The latest layer that it reads from and that is not constant; what else it reads makes it live too. */
static uint32_t producer(walk *w, uint32_t i, bool *constant)
{
    const profile_layer *l = &w->p->layers[i];
    uint32_t last = PREDICT_NONE;
    *constant = true;
    for (uint32_t k = 0; k < l->n_inputs; k++) {
        uint32_t from = map_get(&w->made, l->inputs[k].name);
        if (from == MAP_NONE || from >= i) {
            *constant = *constant && from == MAP_NONE &&
                        map_get(&w->given, l->inputs[k].name) == MAP_NONE;
            continue;
        }
        if (w->l[from].constant)
            continue;
        *constant = false;
        last = last == PREDICT_NONE || from > last ? from : last;
    }
    *constant = *constant && l->n_inputs > 0;
    return last;
}

static bool read_once(const walk *w, uint32_t layer)
{
    const profile_layer *l = &w->p->layers[layer];
    for (uint32_t o = 0; o < l->n_outputs; o++) {
        uint32_t n = map_get(&w->readers, l->outputs[o].name);
        if (n != MAP_NONE && n > 1)
            return false;
    }
    return true;
}

/* Elementwise on one tensor, on several, or something else. */
static uint32_t kind_of(const walk *w, uint32_t i)
{
    const profile_layer *l = &w->p->layers[i];
    const profile_shape *y = l->n_outputs ? &l->outputs[0].shape : NULL;
    uint32_t live = 0;
    for (uint32_t k = 0; k < l->n_inputs; k++)
        live += map_get(&w->made, l->inputs[k].name) != MAP_NONE;
    bool same = y && l->n_inputs && l->memory && l->inputs[0].shape.rank == y->rank &&
                product(&l->inputs[0].shape, 0, y->rank) == product(y, 0, y->rank);
    return !same || l->n_outputs != 1 ? 3 : live > 1 ? 4 : 5;
}

static void place_kernel(walk *w, uint32_t i)
{
    predict_layer *l = &w->l[i];
    uint32_t from = producer(w, i, &l->constant), own = str_hash_stored(l->family);
    w->base[i] = own;
    if (l->constant || w->p->layers[i].macs || from == PREDICT_NONE)
        return;
    uint32_t once = read_once(w, from) ? 1 : 2;
    w->base[i] = w->base[from];
    l->pairs[1] = mix(own, once);
    l->pairs[0] = mix(mix(l->pairs[1], str_hash_stored(w->l[from].family)), w->base[from]);
    l->pairs[2] = mix(mix(kind_of(w, i), once + (w->p->layers[from].macs ? 2 : 0)), w->base[from]);
}

predict_layer *predict_facts(const profile *p, arena *a)
{
    walk w = {.p = p};
    w.l = ARENA_ARRAY(a, predict_layer, (size_t)p->n_layers + 1);
    w.base = ARENA_ARRAY(a, uint32_t, (size_t)p->n_layers + 1);
    if (!w.l || !w.base || !index_values(&w, a))
        return NULL;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        describe(&p->layers[i], &w.l[i]);
        place_kernel(&w, i);
    }
    return w.l;
}
