/* Layers of transformers: RMSNorm, RotaryEmbed, SDPA, Tile. Blobs are [heads, rows, width]. */
#include <math.h>

#include "formats/ncnn/ncnn_impl.h"

static int64_t inner_size(const nc_shape *s, int from_end)
{
    return s->rank > from_end ? s->d[s->rank - 1 - from_end] : -1;
}

/* ---- RMSNorm ---- */

bool nc_size_norm(nc_op *o)
{
    int64_t d[] = {nc_tokens(o), nc_int(o, 0, 0)};
    nc_want(o, 0, 2, d);
    return nc_size_like(o);
}

bool nc_rms_norm(nc_op *o)
{
    int64_t n = nc_int(o, 0, 0);
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), IR_SPEC_FLOAT("epsilon", nc_float(o, 1, 1e-3)),
                            LAYER_END};
    if (!nc_int(o, 2, 1) || n < 1 || (o->in[0].rank && inner_size(&o->in[0], 0) != n))
        return false;
    ir_id in[] = {o->l.in[0], nc_weight(o, "gamma", false, 1, &n)};
    return made(layer_node_of(&o->l, NULL, "SimplifiedLayerNormalization", in, 2, attrs, 1));
}

/* ---- RotaryEmbed: x, cosines and sines of half the width ---- */

bool nc_size_rotary(nc_op *o)
{
    int64_t d[] = {inner_size(&o->in[0], 1), inner_size(&o->in[0], 0) / 2};
    nc_want(o, 1, 2, d);
    nc_want(o, 2, 2, d);
    return nc_size_like(o);
}

/* Half of the last axis: the first or second part, or every second number. */
static ir_id half_of(nc_op *o, int64_t width, bool second, bool apart)
{
    int64_t from = second ? (apart ? 1 : width / 2) : 0;
    int64_t to = apart || second ? width : width / 2, axis = -1, step = apart ? 2 : 1;
    ir_id in[] = {o->l.in[0], layer_ints(&o->l, "from", &from, 1), layer_ints(&o->l, "to", &to, 1),
                  layer_ints(&o->l, "axis", &axis, 1), layer_ints(&o->l, "step", &step, 1)};
    return layer_step(&o->l, "Slice", in, 5, NULL);
}

static ir_id times(nc_op *o, ir_id a, ir_id b)
{
    ir_id in[] = {a, b};
    return layer_step(&o->l, "Mul", in, 2, NULL);
}

bool nc_rotary(nc_op *o)
{
    int rank = o->in[0].rank + 1;
    int64_t width = inner_size(&o->in[0], 0), one[NC_RANK + 2] = {0}, whole[NC_RANK + 1] = {0};
    bool apart = nc_int(o, 0, 0) != 0;
    ir_attr_spec last[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    if (rank < 3 || rank > 4 || width < 2 || width % 2)
        return false;
    whole[rank - 1] = width;
    one[rank - 1] = width / 2;
    one[rank] = 1;
    ir_id a = half_of(o, width, false, apart), b = half_of(o, width, true, apart);
    ir_id left[] = {times(o, a, o->l.in[1]), times(o, b, o->l.in[2])};
    ir_id right[] = {times(o, a, o->l.in[2]), times(o, b, o->l.in[1])};
    ir_id both[] = {layer_step(&o->l, "Sub", left, 2, NULL),
                    layer_step(&o->l, "Add", right, 2, NULL)};
    if (!apart)
        return made(layer_node_of(&o->l, NULL, "Concat", both, 2, last, 1));
    for (int i = 0; i < 2; i++)
        both[i] = layer_step_reshape(&o->l, both[i], one, rank + 1);
    return layer_reshape(&o->l, layer_step(&o->l, "Concat", both, 2, last), whole, rank);
}

/* ---- SDPA: queries, keys, values, then a mask (key 5), then earlier keys and values (key 7) ---- */

static uint32_t cache_slot(const nc_op *o)
{
    return nc_int(o, 7, 0) ? (nc_int(o, 5, 0) ? 4 : 3) : 0;
}

bool nc_size_sdpa(nc_op *o)
{
    const nc_shape *q = &o->in[0], *k = &o->in[1], *v = &o->in[2];
    uint32_t cache = cache_slot(o);
    if (q->rank != 3 || k->rank != 3 || v->rank != 3)
        return false;
    int64_t past = cache ? NC_TOKENS : 0;
    int64_t keys[] = {k->d[0], past, k->d[2]}, values[] = {v->d[0], past, v->d[2]};
    int64_t mask[] = {q->d[1], k->d[1] < 0 ? -1 : k->d[1] + past};
    if (cache) {
        nc_want(o, cache, 3, keys);
        nc_want(o, cache + 1, 3, values);
        past = cache + 1 < o->layer->n_in ? inner_size(&o->in[cache], 1) : -1;
    }
    if (nc_int(o, 5, 0))
        nc_want(o, 3, 2, mask);
    int64_t all = past < 0 || k->d[1] < 0 ? -1 : past + k->d[1];
    int64_t d[] = {q->d[0], q->d[1], v->d[2]};
    keys[1] = values[1] = all;
    o->clash |= k->d[2] > 0 && q->d[2] > 0 && k->d[2] != q->d[2];
    return nc_set(o, 0, 3, d) && nc_set(o, 1, 3, keys) && nc_set(o, 2, 3, values);
}

/* Earlier and new ones; an output of the layer where it has one. */
static ir_id with_past(nc_op *o, uint32_t cache, uint32_t which)
{
    ir_id in[] = {cache ? o->l.in[cache + which] : IR_NONE, o->l.in[1 + which]};
    ir_attr_spec rows[] = {IR_SPEC_INT("axis", 2), LAYER_END};
    if (!cache)
        return in[1];
    if (o->l.n_out <= 1 + which)
        return layer_step(&o->l, "Concat", in, 2, rows);
    ir_id out = o->l.out[1 + which];
    return made(layer_into(&o->l, "Concat", in, 2, rows, out)) ? out : IR_NONE;
}

/* Heads that share keys and values are one more axis of the queries. */
bool nc_sdpa(nc_op *o)
{
    const nc_shape *q = &o->in[0], *k = &o->in[1];
    uint32_t cache = cache_slot(o);
    int64_t groups = k->rank == 3 ? k->d[0] : 0;
    bool mask = nc_int(o, 5, 0) != 0;
    if (o->l.n_in < 3 + mask + (cache ? 2u : 0u) || q->rank != 3 || groups < 1 || q->d[0] < 1 ||
        q->d[2] < 1 || q->d[0] % groups || nc_int(o, 18, 0) || (!cache && o->l.n_out > 1))
        return false;
    bool shared = q->d[0] != groups;
    if (shared && mask && o->in[3].rank == 3 && o->in[3].d[0] != 1)
        return false;
    double scale = nc_float(o, 6, 0);
    scale = scale == 0 ? 1 / sqrt((double)q->d[2]) : scale;
    int64_t split[] = {0, groups, q->d[0] / groups, -1, q->d[2]};
    int64_t alone[] = {0, groups, 1, -1, k->d[2]}, alone_v[] = {0, groups, 1, -1, o->in[2].d[2]};
    int64_t whole[] = {0, q->d[0], -1, o->in[2].d[2]};
    ir_id keys = with_past(o, cache, 0), values = with_past(o, cache, 1), x = o->l.in[0];
    x = shared ? layer_step_reshape(&o->l, x, split, 5) : x;
    keys = shared ? layer_step_reshape(&o->l, keys, alone, 5) : keys;
    values = shared ? layer_step_reshape(&o->l, values, alone_v, 5) : values;
    ir_attr_spec turned[] = {IR_SPEC_INT("transB", 1), IR_SPEC_FLOAT("alpha", scale), LAYER_END};
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    ir_id score = layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", (ir_id[]){x, keys}, 2, turned);
    score = mask ? layer_step(&o->l, "Add", (ir_id[]){score, o->l.in[3]}, 2, NULL) : score;
    ir_id in[] = {layer_step(&o->l, "Softmax", &score, 1, axis), values};
    if (!shared)
        return made(layer_node_of(&o->l, NULL, "MatMul", in, 2, NULL, 1));
    return layer_reshape(&o->l, layer_step(&o->l, "MatMul", in, 2, NULL), whole, 4);
}

/* ---- Tile ---- */

/* Repeats of the axes of the result, from the outside in; how many axes, 0: not known. */
static int repeats_of(const nc_op *o, int64_t *times_of)
{
    int64_t list[NC_LIST], axis = nc_int(o, 0, 0);
    int rank = o->in[0].rank, n = nc_ints(o, 2, list), all = n > rank ? n : rank;
    if (!rank || all > NC_RANK || axis < 0 || (n <= 0 && axis >= rank))
        return 0;
    for (int k = 0; k < all; k++)
        times_of[k] = n > 0 ? (k - (all - n) >= 0 ? list[k - (all - n)] : 1)
                            : (k == axis ? nc_int(o, 1, 1) : 1);
    return all;
}

bool nc_size_tile(nc_op *o)
{
    int64_t times_of[NC_RANK], d[NC_RANK];
    int n = repeats_of(o, times_of), before = n - o->in[0].rank;
    for (int k = 0; k < n; k++) {
        int64_t size = k < before ? 1 : o->in[0].d[k - before];
        d[k] = size < 0 || times_of[k] < 1 || times_of[k] > 1 << 24 ? -1 : size * times_of[k];
    }
    return n > 0 && nc_set(o, 0, n, d);
}

bool nc_tile(nc_op *o)
{
    int64_t list[NC_RANK + 1] = {1}, dims[NC_RANK + 1] = {0};
    int n = repeats_of(o, list + 1), before = n - o->in[0].rank;
    for (int k = 0; k < n; k++)
        dims[k + 1] = k < before ? 1 : o->in[0].d[k - before];
    if (!n)
        return false;
    ir_id x = before ? layer_step_reshape(&o->l, o->l.in[0], dims, n + 1) : o->l.in[0];
    ir_id in[] = {x, layer_ints(&o->l, "repeats", list, n + 1)};
    return made(layer_node_of(&o->l, NULL, "Tile", in, 2, NULL, 1));
}
