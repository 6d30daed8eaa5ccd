/* Attention. Kernels of the heads are [inputs, heads, size], that of the output [heads, size, outputs]; they are made flat
 * when the model is loaded. Masks are not applied: the work is the same. */
#include "formats/keras/keras_impl.h"

enum { MAX_HEADS = 1 << 20 };

/* ---- arguments ---- */

/* query, value, key: by position or by name. */
static const ir_t *operand(const keras_call *c, const char *name, uint32_t place)
{
    const ir_t *x = keras_arg(c, name);
    if (x)
        return x;
    for (uint32_t i = 0; i < c->n_in; i++)
        if ((!c->keys || !c->keys[i].n) && place-- == 0)
            return &c->in[i];
    return NULL;
}

static bool take_operands(keras_call *c, ir_t x[3])
{
    const ir_t *q = operand(c, "query", 0), *v = operand(c, "value", 1), *k = operand(c, "key", 2);
    if (!q || !v || q->rank != 3 || v->rank != 3 || (k && k->rank != 3))
        return false;
    x[0] = *q;
    x[1] = k ? *k : *v;
    x[2] = *v;
    bool causal = keras_bool(c->args, "use_causal_mask", false) ||
                  keras_bool(c->config, "causal", false);
    if (keras_arg(c, "attention_mask") || keras_arg(c, "mask") || causal)
        keras_note(c, "mask-ignored", "The mask is not applied: all steps are computed.");
    return true;
}

/* ---- heads ---- */

typedef struct dense {
    ir_t kernel, bias; /* bias.id IR_NONE: none */
} dense;

/* heads 0: the output [heads, size, n]. */
static bool take_dense(keras_call *c, const char *attr, const int64_t dims[3], bool output,
                       dense *d)
{
    keras_call part = *c;
    part.l = keras_part(c, attr, STR("EinsumDense"), NULL);
    if (!part.l)
        return false;
    d->kernel = keras_weight(&part, output ? "output_kernel" : "kernel", KERAS_TRAINED, 3, dims);
    d->bias = (ir_t){.id = IR_NONE};
    bool biased = keras_bool(c->config, "use_bias", true);
    if (biased && output)
        d->bias = keras_weight(&part, "bias", KERAS_TRAINED, 1, &dims[2]);
    else if (biased)
        d->bias = keras_weight(&part, "bias", KERAS_TRAINED, 2, &dims[1]);
    return d->kernel.id != IR_NONE && d->kernel.rank == 3 && (!biased || d->bias.id != IR_NONE);
}

static ir_t times_kernel(keras_call *c, const char *part, ir_t x, const dense *d, bool output)
{
    const int64_t *k = d->kernel.d;
    const int64_t in = output ? k[0] * k[1] : k[0], out = output ? k[2] : k[1] * k[2];
    const int64_t flat[] = {in, out};
    ir_t w = keras_reshape(c, "flat_kernel", d->kernel, flat, 2), y = x;
    y.d[2] = out;
    x = keras_cast(c, x, d->kernel.dtype);
    y.dtype = d->kernel.dtype;
    y = keras_step(c, part, "MatMul", KERAS_IDS(x.id, w.id), NULL, y);
    if (d->bias.id == IR_NONE)
        return y;
    ir_t b = output ? d->bias : keras_reshape(c, "flat_bias", d->bias, &out, 1);
    return keras_binary(c, "biased", "Add", y, b);
}

/* [N,T,H*K] is [N,H,T,K], or [N,H,K,T] of keys. */
static ir_t heads_first(keras_call *c, const char *part, ir_t x, int64_t heads, int64_t size,
                        bool keys)
{
    static const int64_t plain[] = {0, 2, 1, 3}, turned[] = {0, 2, 3, 1};
    const int64_t apart[] = {0, 0, heads, size};
    x = keras_reshape(c, part, x, apart, 4);
    return keras_transpose(c, part, x, keys ? turned : plain);
}

/* Keys and values of a group serve several heads. */
static ir_t repeat_heads(keras_call *c, const char *part, ir_t x, int64_t heads, int64_t size,
                         int64_t times)
{
    const int64_t apart[] = {0, 0, heads, 1, size}, tiles[] = {1, 1, 1, times, 1},
                  flat[] = {0, 0, heads * times * size};
    if (times == 1)
        return x;
    x = keras_reshape(c, part, x, apart, 5);
    x.d[3] = times;
    x = keras_step(c, part, "Tile", KERAS_IDS(x.id, keras_consts(c, "times", tiles, 5)), NULL, x);
    return keras_reshape(c, part, x, flat, 3);
}

static ir_t softmax(keras_call *c, ir_t x)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), KERAS_END};
    return keras_step(c, "softmax", "Softmax", &x.id, 1, attrs, x);
}

static ir_t product(keras_call *c, const char *part, ir_t a, ir_t b)
{
    ir_t y = a;
    y.d[a.rank - 1] = b.d[b.rank - 1];
    return keras_step(c, part, "MatMul", KERAS_IDS(a.id, b.id), NULL, y);
}

typedef struct heads {
    int64_t query, keys, size, value; /* how many, and their sizes */
} heads;

static bool multi_head(keras_call *c, const heads *h)
{
    ir_t x[3], q, k, v;
    dense d[4];
    static const int64_t back[] = {0, 2, 1, 3};
    if (h->query < 1 || h->keys < 1 || h->size < 1 || h->value < 1 || h->query > MAX_HEADS ||
        h->size > MAX_HEADS || h->value > MAX_HEADS || h->query % h->keys || !take_operands(c, x))
        return false;
    int64_t width[1];
    const json_value *shape = keras_get(c->config, "output_shape");
    int64_t out = shape && keras_list(shape, width, 1) == 1 ? width[0] : x[0].d[2];
    const int64_t dq[] = {x[0].d[2], h->query, h->size}, dk[] = {x[1].d[2], h->keys, h->size},
                  dv[] = {x[2].d[2], h->keys, h->value}, dy[] = {h->query, h->value, out};
    if (!take_dense(c, "query_dense|_query_dense", dq, false, &d[0]) ||
        !take_dense(c, "key_dense|_key_dense", dk, false, &d[1]) ||
        !take_dense(c, "value_dense|_value_dense", dv, false, &d[2]) ||
        !take_dense(c, "output_dense|_output_dense", dy, true, &d[3]))
        return false;
    q = times_kernel(c, "query", x[0], &d[0], false);
    k = times_kernel(c, "key", x[1], &d[1], false);
    v = times_kernel(c, "value", x[2], &d[2], false);
    int64_t times = h->query / h->keys;
    k = repeat_heads(c, "keys", k, h->keys, h->size, times);
    v = repeat_heads(c, "values", v, h->keys, h->value, times);
    ir_t scale = keras_scalar(c, "scale", q.dtype, 1 / __builtin_sqrt((double)h->size));
    q = heads_first(c, "query_heads", keras_binary(c, "scaled", "Mul", q, scale), h->query, h->size,
                    false);
    k = heads_first(c, "key_heads", k, h->query, h->size, true);
    v = heads_first(c, "value_heads", v, h->query, h->value, false);
    ir_t scores = softmax(c, product(c, "scores", q, k));
    ir_t y = keras_transpose(c, "together", product(c, NULL, scores, v), back);
    const int64_t flat[] = {0, 0, h->query * h->value};
    y = times_kernel(c, "output", keras_reshape(c, "flat", y, flat, 3), &d[3], true);
    keras_give(c, y);
    if (keras_bool(c->args, "return_attention_scores", false) || c->n_wanted > 1)
        c->out[c->n_out++] = scores;
    return y.id != IR_NONE;
}

bool keras_mha(keras_call *c)
{
    int64_t n = keras_int(c->config, "num_heads", -1), size = keras_int(c->config, "key_dim", -1);
    const heads h = {n, n, size, keras_int(c->config, "value_dim", size)};
    if (keras_bool(c->config, "use_gate", false))
        return false;
    return multi_head(c, &h);
}

bool keras_gqa(keras_call *c)
{
    int64_t size = keras_int(c->config, "head_dim", -1);
    const heads h = {keras_int(c->config, "num_query_heads", -1),
                     keras_int(c->config, "num_key_value_heads", -1), size, size};
    if (keras_bool(c->config, "use_gate", false))
        return false;
    return multi_head(c, &h);
}

/* ---- one head ---- */

/* scale * tanh(query + key), summed over the features. */
static ir_t additive_scores(keras_call *c, const ir_t x[3], ir_t scale)
{
    const int64_t last = 3;
    ir_t q = keras_expand_dims(c, "queries", x[0], 2), k = keras_expand_dims(c, "keys", x[1], 1);
    ir_t s = keras_unary(c, "tanh", "Tanh", keras_binary(c, "pairs", "Add", q, k));
    if (scale.id != IR_NONE)
        s = keras_binary(c, "scaled", "Mul", s, scale);
    return keras_reduce(c, "scores", "ReduceSum", s, &last, 1, false);
}

static ir_t dot_scores(keras_call *c, const ir_t x[3], ir_t scale)
{
    static const int64_t turn[] = {0, 2, 1};
    ir_t s = product(c, "scores", x[0], keras_transpose(c, "keys", x[1], turn));
    return scale.id == IR_NONE ? s : keras_binary(c, "scaled", "Mul", s, scale);
}

/* Attention and AdditiveAttention: no weights but a scale. */
bool keras_attention(keras_call *c)
{
    ir_t x[3], scale = {.id = IR_NONE};
    bool additive = str_is(c->l->cls, "AdditiveAttention");
    if (!take_operands(c, x) || !str_is(keras_word(c->config, "score_mode", "dot"), "dot"))
        return false;
    bool scaled = keras_bool(c->config, "use_scale", additive);
    if (scaled)
        scale = keras_weight(c, "scale", KERAS_TRAINED, additive ? 1 : 0, &x[0].d[2]);
    if (scaled && scale.id == IR_NONE)
        return false;
    ir_t scores = softmax(c, additive ? additive_scores(c, x, scale) : dot_scores(c, x, scale));
    ir_t y = product(c, NULL, scores, x[2]);
    keras_give(c, y);
    if (keras_bool(c->args, "return_attention_scores", false))
        c->out[c->n_out++] = scores;
    return y.id != IR_NONE;
}
