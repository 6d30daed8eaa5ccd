/* Layers of older releases, and those of newer ones that no other file has: maxout, highway, locally connected layers,
 * embeddings that also run backwards, pipelines. */
#include "formats/keras/keras_impl.h"

/* max over n of x W[n] + b[n]; Keras 1. */
bool keras_maxout(keras_call *c)
{
    const int64_t n = keras_int(c->config, "nb_feature", 4),
                  units = keras_int(c->config, "output_dim", -1), front = 0;
    if (!c->n_in || c->in[0].rank != 2)
        return false;
    const int64_t dims[] = {n, c->in[0].d[1], units}, flat[] = {n, units}, wide[] = {n, 1, units};
    bool biased = keras_bool(c->config, "bias", true);
    ir_t w = keras_weight(c, "W", KERAS_TRAINED, 3, dims), b = {.id = IR_NONE};
    if (biased)
        b = keras_weight(c, "b", KERAS_TRAINED, 2, flat);
    if (w.id == IR_NONE || w.rank != 3 || (biased && b.id == IR_NONE))
        return false;
    ir_t x = keras_cast(c, c->in[0], w.dtype),
         y = keras_shape(x.dtype, 3, (int64_t[]){w.d[0], x.d[0], w.d[2]});
    y = keras_step(c, NULL, "MatMul", KERAS_IDS(x.id, w.id), NULL, y);
    if (biased)
        y = keras_binary(c, "BiasAdd", "Add", y, keras_reshape(c, "bias_wide", b, wide, 3));
    return keras_give(c, keras_reduce(c, "largest", "ReduceMax", y, &front, 1, false));
}

/* x W + b */
static ir_t times_plus(keras_call *c, const char *part, ir_t x, ir_t w, ir_t b)
{
    ir_id in[] = {x.id, w.id, b.id};
    return keras_step(c, part, "Gemm", in, b.id == IR_NONE ? 2 : 3, NULL, x);
}

/* t * f(x W + b) + (1 - t) * x with t = sigmoid(x W_carry + b_carry); Keras 1. */
bool keras_highway(keras_call *c)
{
    if (!c->n_in || c->in[0].rank != 2)
        return false;
    const int64_t n = c->in[0].d[1], dims[] = {n, n};
    bool biased = keras_bool(c->config, "bias", true);
    ir_t w = keras_weight(c, "W", KERAS_TRAINED, 2, dims),
         carry = keras_weight(c, "W_carry", KERAS_TRAINED, 2, dims), b = {.id = IR_NONE}, d = b;
    if (biased) {
        b = keras_weight(c, "b", KERAS_TRAINED, 1, &n);
        d = keras_weight(c, "b_carry", KERAS_TRAINED, 1, &n);
    }
    if (w.id == IR_NONE || carry.id == IR_NONE || (biased && (b.id == IR_NONE || d.id == IR_NONE)))
        return false;
    ir_t x = keras_cast(c, c->in[0], w.dtype);
    ir_t gate = keras_unary(c, "gate", "Sigmoid", times_plus(c, "carry", x, carry, d));
    ir_t y = keras_activate(c, "activation", "linear", times_plus(c, NULL, x, w, b));
    ir_t rest = keras_binary(c, "rest", "Sub", keras_scalar(c, "one", x.dtype, 1), gate);
    return keras_give(c, keras_binary(c, "sum", "Add", keras_binary(c, "gated", "Mul", gate, y),
                                      keras_binary(c, "carried", "Mul", rest, x)));
}

/* cos(x W / scale + b) with random W and b; Keras 2. The scale is trained if the layer is, and then comes first. */
bool keras_fourier_features(keras_call *c)
{
    const int64_t units = keras_int(c->config, "output_dim", -1), one = 1;
    if (!c->n_in || c->in[0].rank != 2)
        return false;
    const int64_t dims[] = {c->in[0].d[1], units};
    bool trained = keras_bool(c->config, "trainable", false);
    ir_t scale = {.id = IR_NONE};
    if (trained)
        scale = keras_weight(c, "kernel_scale", KERAS_TRAINED, 1, &one);
    ir_t w = keras_weight(c, "unscaled_kernel", KERAS_FIXED, 2, dims),
         b = keras_weight(c, "bias", KERAS_FIXED, 1, &units);
    if (!trained)
        scale = keras_weight(c, "kernel_scale", KERAS_FIXED, 1, &one);
    if (w.id == IR_NONE || w.rank != 2 || b.id == IR_NONE || scale.id == IR_NONE)
        return false;
    ir_t x = keras_cast(c, c->in[0], w.dtype), kernel = keras_binary(c, "kernel", "Div", w, scale),
         y = keras_shape(x.dtype, 2, (int64_t[]){x.d[0], w.d[1]});
    y = keras_step(c, NULL, "Gemm", KERAS_IDS(x.id, kernel.id, b.id), NULL, y);
    return keras_give(c, keras_unary(c, "cosine", "Cos", y));
}

/* alpha * log(1 + exp(beta * x)); Keras 1. */
bool keras_soft_plus(keras_call *c)
{
    if (!c->n_in || c->in[0].rank < 2)
        return false;
    ir_t x = c->in[0], alpha = keras_weight(c, "alphas", KERAS_TRAINED, x.rank - 1, x.d + 1),
         beta = keras_weight(c, "betas", KERAS_TRAINED, x.rank - 1, x.d + 1);
    if (alpha.id == IR_NONE || beta.id == IR_NONE)
        return false;
    ir_t y = keras_unary(c, NULL, "Softplus", keras_binary(c, "steeper", "Mul", x, beta));
    return keras_give(c, keras_binary(c, "scaled", "Mul", y, alpha));
}

/* ---- locally connected ---- */

typedef struct patches {
    int n; /* spatial axes */
    int64_t kernel[2], stride[2], in[2], out[2];
    int64_t places, points; /* of the output; of a kernel */
} patches;

static bool read_patches(const keras_call *c, patches *p)
{
    p->n = c->l->row->arg;
    if (!c->n_in || c->in[0].rank != p->n + 2 || keras_channels_first(c->config) ||
        keras_int(c->config, "implementation", 1) != 1 ||
        !str_is(keras_word(c->config, "padding|border_mode", "valid"), "valid") ||
        !keras_ints(c->config, "kernel_size|filter_length", p->kernel, p->n))
        return false;
    p->stride[0] = p->stride[1] = 1;
    keras_ints(c->config, "strides|subsample|subsample_length", p->stride, p->n);
    p->places = p->points = 1;
    for (int d = 0; d < p->n; d++) {
        p->in[d] = c->in[0].d[d + 1];
        if (p->kernel[d] < 1 || p->stride[d] < 1 || p->in[d] < p->kernel[d] ||
            p->in[d] > KERAS_MAX_WINDOW)
            return false;
        p->out[d] = (p->in[d] - p->kernel[d]) / p->stride[d] + 1;
        p->places *= p->out[d];
        p->points *= p->kernel[d];
    }
    return c->in[0].d[p->n + 1] > 0 && p->points <= KERAS_MAX_WINDOW / p->places;
}

/* Where in the flat image point k of the kernel at place i reads. */
static int64_t point_at(const patches *p, int64_t i, int64_t k)
{
    if (p->n == 1)
        return i * p->stride[0] + k;
    int64_t row = i / p->out[1] * p->stride[0] + k / p->kernel[1],
            column = i % p->out[1] * p->stride[1] + k % p->kernel[1];
    return row * p->in[1] + column;
}

/* [N,...,C] is [N, places, 1, points * C]. */
static ir_t gather_patches(keras_call *c, const patches *p, ir_t x)
{
    int64_t channels = x.d[p->n + 1],
            *at = ARENA_ARRAY(c->r->a, int64_t, (size_t)(p->places * p->points));
    const int64_t flat[] = {0, p->n == 1 ? p->in[0] : p->in[0] * p->in[1], channels},
                  rows[] = {0, p->places, 1, p->points * channels};
    if (!at)
        return keras_unknown_shape(x.dtype);
    for (int64_t i = 0; i < p->places; i++)
        for (int64_t k = 0; k < p->points; k++)
            at[i * p->points + k] = point_at(p, i, k);
    ir_t y = keras_reshape(c, "flat", x, flat, 3), taken = y;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", 1), KERAS_END};
    taken.d[1] = p->places * p->points;
    ir_id in[] = {y.id, keras_consts(c, "points", at, (int)(p->places * p->points))};
    return keras_reshape(c, "rows", keras_step(c, "patches", "Gather", in, 2, attrs, taken), rows,
                         4);
}

/* A convolution whose kernel is another one at each place: [places, points * C, filters]. */
bool keras_local(keras_call *c)
{
    patches p;
    int64_t filters = keras_int(c->config, "filters|nb_filter", -1);
    if (!read_patches(c, &p))
        return false;
    ir_t x = c->in[0], b = {.id = IR_NONE};
    const int64_t dims[] = {p.places, p.points * x.d[p.n + 1], filters};
    int64_t spread[] = {p.out[0], p.n == 1 ? filters : p.out[1], filters};
    ir_t w = keras_weight(c, "kernel", KERAS_TRAINED, 3, dims);
    bool biased = keras_bool(c->config, "use_bias|bias", true);
    if (biased)
        b = keras_weight(c, "bias", KERAS_TRAINED, p.n + 1, spread);
    if (w.id == IR_NONE || w.rank != 3 || w.d[0] != p.places || w.d[1] != dims[1] ||
        (biased && b.id == IR_NONE))
        return false;
    x = gather_patches(c, &p, keras_cast(c, x, w.dtype));
    ir_t y = x;
    y.d[3] = w.d[2];
    y = keras_step(c, NULL, "MatMul", KERAS_IDS(x.id, w.id), NULL, y);
    const int64_t image[] = {0, p.out[0], p.n == 1 ? w.d[2] : p.out[1], w.d[2]};
    y = keras_reshape(c, "image", y, image, p.n + 2);
    if (biased)
        y = keras_binary(c, "BiasAdd", "Add", y, b);
    return keras_give(c, keras_activate(c, "activation", "linear", y));
}

/* ---- embeddings, pipelines ---- */

/* Tokens to vectors; with the argument reverse, vectors to scores of tokens. */
bool keras_reversible(keras_call *c)
{
    static const int64_t turned[] = {1, 0};
    if (!c->args || !keras_bool(c->args, "reverse", false))
        return keras_embedding(c);
    const int64_t dims[] = {keras_int(c->config, "input_dim", -1),
                            keras_int(c->config, "output_dim", -1)};
    bool tied = keras_bool(c->config, "tie_weights", true);
    ir_t table = keras_weight(c, "embeddings", KERAS_TRAINED, 2, dims);
    const int64_t back[] = {dims[1], dims[0]};
    ir_t w = tied ? table : keras_weight(c, "reverse_embeddings", KERAS_TRAINED, 2, back);
    if (!c->n_in || c->in[0].rank < 1 || w.id == IR_NONE || w.rank != 2)
        return false;
    ir_t x = keras_cast(c, c->in[0], w.dtype), y = x;
    w = tied ? keras_transpose(c, "turned", w, turned) : w;
    y.d[y.rank - 1] = w.d[1];
    return keras_give(c, keras_step(c, NULL, "MatMul", KERAS_IDS(x.id, w.id), NULL, y));
}

/* Layers one after another. */
bool keras_pipeline(keras_call *c)
{
    const json_value *config;
    uint32_t n, n_out = 0;
    const json_value *layers = keras_items(keras_get(c->config, "layers"), &n);
    ir_t *out = ARENA_ARRAY(c->r->a, ir_t, KERAS_MAX_PORTS);
    ir_t x = c->n_in ? c->in[0] : keras_unknown_shape(IR_FLOAT32);
    for (uint32_t i = 0; i < n && layers && out && x.id != IR_NONE; i++) {
        str cls = keras_object(&layers[i], &config), snake = keras_snake_case(c->r->a, cls);
        const char *attr = snake.p
                               ? arena_printf(c->r->a, "_pipeline_layers/" STR_FMT, STR_ARG(snake))
                               : NULL;
        keras_layer *part = attr ? keras_part(c, attr, cls, config) : NULL;
        if (!part || !keras_call_part(c, part, &x, 1, out, &n_out) || !n_out)
            return false;
        x = out[0];
    }
    return layers && n && n_out && keras_give(c, x);
}
