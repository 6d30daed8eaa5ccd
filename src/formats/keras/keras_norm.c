/* Normalisation. ONNX has the channels of BatchNormalization second; "assay.nhwc" has them last. Statistics of the training
 * are not parameters but buffers. */
#include "formats/keras/keras_impl.h"

/* One axis of x, counted from the front; -1: another form. */
static int one_axis(const json_value *config, const char *key, ir_t x, int def)
{
    int64_t axes[IR_KIT_RANK];
    const json_value *v = keras_get(config, key);
    int n = v ? keras_list(v, axes, IR_KIT_RANK) : 1;
    if (!v)
        axes[0] = def;
    if (n != 1 || axes[0] < -x.rank || axes[0] >= x.rank)
        return -1;
    return (int)(axes[0] < 0 ? axes[0] + x.rank : axes[0]);
}

/* gamma and beta, or what stands for them. */
static bool scale_and_shift(keras_call *c, int64_t n, ir_t *gamma, ir_t *beta)
{
    bool scaled = keras_bool(c->config, "scale", true),
         centered = keras_bool(c->config, "center", true);
    *gamma = *beta = (ir_t){.id = IR_NONE};
    if (scaled)
        *gamma = keras_weight(c, "gamma", KERAS_TRAINED, 1, &n);
    if (centered)
        *beta = keras_weight(c, "beta", KERAS_TRAINED, 1, &n);
    return (!scaled || gamma->id != IR_NONE) && (!centered || beta->id != IR_NONE);
}

bool keras_batch_norm(keras_call *c)
{
    if (!c->n_in || c->in[0].rank < 2)
        return false;
    ir_t x = c->in[0], gamma, beta;
    int axis = one_axis(c->config, "axis", x, -1);
    if (axis < 1)
        return false;
    const int64_t n = x.d[axis];
    bool taken = scale_and_shift(c, n, &gamma, &beta);
    ir_t mean = keras_weight(c, "moving_mean", KERAS_FIXED, 1, &n),
         var = keras_weight(c, "moving_variance", KERAS_FIXED, 1, &n);
    if (!taken || mean.id == IR_NONE || var.id == IR_NONE || (axis != 1 && axis != x.rank - 1))
        return false;
    if (gamma.id == IR_NONE)
        gamma = keras_filled(c, "gamma", mean.dtype, mean.d[0], 1);
    if (beta.id == IR_NONE)
        beta = keras_filled(c, "beta", mean.dtype, mean.d[0], 0);
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", keras_number(c->config, "epsilon", 1e-3)),
                            KERAS_END};
    x = keras_cast(c, x, mean.dtype);
    ir_id in[] = {x.id, gamma.id, beta.id, mean.id, var.id};
    return keras_give(c, keras_step_in(c, axis == 1 ? NULL : FOREIGN_NHWC, NULL,
                                       "BatchNormalization", in, 5, attrs, x));
}

/* (x - mean) / sqrt(var + epsilon) over axes. */
static ir_t standardised(keras_call *c, ir_t x, const int64_t *axes, int n, double epsilon)
{
    ir_t mean = keras_reduce(c, "mean", "ReduceMean", x, axes, n, true);
    ir_t apart = keras_binary(c, "centered", "Sub", x, mean);
    ir_t square = keras_binary(c, "square", "Mul", apart, apart);
    ir_t var = keras_reduce(c, "variance", "ReduceMean", square, axes, n, true);
    var = keras_binary(c, "stable", "Add", var, keras_scalar(c, "epsilon", x.dtype, epsilon));
    return keras_binary(c, NULL, "Div", apart, keras_unary(c, "deviation", "Sqrt", var));
}

typedef struct norm_axes {
    int n;
    int64_t axis[IR_KIT_RANK], size[IR_KIT_RANK];
    bool last; /* they are the last axes, in order: one axis of ONNX's operators */
} norm_axes;

/* "axis": a number or a list, counted from either end. */
static bool read_axes(const keras_call *c, ir_t x, norm_axes *a)
{
    const json_value *v = keras_get(c->config, "axis");
    *a = (norm_axes){.n = 1, .axis = {-1}, .last = true};
    a->n = v ? keras_list(v, a->axis, IR_KIT_RANK) : 1;
    for (int i = 0; i < a->n; i++) {
        if (a->axis[i] < -x.rank || a->axis[i] >= x.rank)
            return false;
        a->axis[i] += a->axis[i] < 0 ? x.rank : 0;
        a->size[i] = x.d[a->axis[i]];
        a->last = a->last && a->axis[i] == x.rank - a->n + i;
    }
    return a->n > 0 && a->n <= x.rank;
}

/* A weight of the normalised axes as it meets x: [T] of axis 1 is [1,T,1]. */
static ir_t spread(keras_call *c, const char *part, ir_t w, ir_t x, const norm_axes *a)
{
    int64_t dims[IR_KIT_RANK];
    if (w.id == IR_NONE || a->last)
        return w;
    for (int d = 0; d < x.rank; d++)
        dims[d] = 1;
    for (int i = 0; i < a->n && i < w.rank; i++)
        dims[a->axis[i]] = w.d[i];
    return keras_reshape(c, part, w, dims, x.rank);
}

static ir_t scaled_and_shifted(keras_call *c, ir_t y, ir_t gamma, ir_t beta)
{
    if (gamma.id != IR_NONE)
        y = keras_binary(c, "scaled", "Mul", y, gamma);
    return beta.id == IR_NONE ? y : keras_binary(c, "shifted", "Add", y, beta);
}

/* x / sqrt(mean(x^2) + epsilon) */
static ir_t by_root_mean_square(keras_call *c, ir_t x, const norm_axes *a, double epsilon)
{
    ir_t square = keras_binary(c, "square", "Mul", x, x);
    ir_t mean = keras_reduce(c, "mean", "ReduceMean", square, a->axis, a->n, true);
    mean = keras_binary(c, "stable", "Add", mean, keras_scalar(c, "epsilon", x.dtype, epsilon));
    return keras_binary(c, NULL, "Div", x, keras_unary(c, "root", "Sqrt", mean));
}

/* x / sqrt(variance + epsilon), where the variance is that of centered values (rms_scaling). */
static ir_t by_variance(keras_call *c, ir_t x, const norm_axes *a, double epsilon)
{
    ir_t mean = keras_reduce(c, "mean", "ReduceMean", x, a->axis, a->n, true);
    ir_t apart = keras_binary(c, "centered", "Sub", x, mean);
    ir_t square = keras_binary(c, "square", "Mul", apart, apart);
    ir_t var = keras_reduce(c, "variance", "ReduceMean", square, a->axis, a->n, true);
    var = keras_binary(c, "stable", "Add", var, keras_scalar(c, "epsilon", x.dtype, epsilon));
    return keras_binary(c, NULL, "Div", x, keras_unary(c, "deviation", "Sqrt", var));
}

/* The last axes in a row are an axis of ONNX's; others are normalised step by step. */
bool keras_layer_norm(keras_call *c)
{
    norm_axes a;
    if (!c->n_in || c->in[0].rank < 1 || !read_axes(c, c->in[0], &a))
        return false;
    ir_t x = c->in[0], gamma = {.id = IR_NONE}, beta = gamma;
    bool rms = keras_bool(c->config, "rms_scaling", false);
    bool scaled = rms || keras_bool(c->config, "scale", true),
         centered = !rms && keras_bool(c->config, "center", true);
    if (scaled)
        gamma = keras_weight(c, "gamma", KERAS_TRAINED, a.n, a.size);
    if (centered)
        beta = keras_weight(c, "beta", KERAS_TRAINED, a.n, a.size);
    if ((scaled && gamma.id == IR_NONE) || (centered && beta.id == IR_NONE))
        return false;
    double epsilon = keras_number(c->config, "epsilon", 1e-3);
    if (scaled || centered)
        x = keras_cast(c, x, scaled ? gamma.dtype : beta.dtype);
    if (!scaled || rms || !a.last) {
        ir_t y = rms ? by_variance(c, x, &a, epsilon) : standardised(c, x, a.axis, a.n, epsilon);
        return keras_give(c, scaled_and_shifted(c, y, spread(c, "gamma_axes", gamma, x, &a),
                                                spread(c, "beta_axes", beta, x, &a)));
    }
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", a.axis[0]), IR_SPEC_FLOAT("epsilon", epsilon),
                            KERAS_END};
    ir_id in[] = {x.id, gamma.id, beta.id};
    return keras_give(c, keras_step(c, NULL, "LayerNormalization", in, centered ? 3 : 2, attrs, x));
}

bool keras_rms_norm(keras_call *c)
{
    norm_axes a;
    if (!c->n_in || c->in[0].rank < 1 || !read_axes(c, c->in[0], &a))
        return false;
    ir_t x = c->in[0], scale = keras_weight(c, "scale", KERAS_TRAINED, a.n, a.size);
    if (scale.id == IR_NONE)
        return false;
    x = keras_cast(c, x, scale.dtype);
    ir_t y = by_root_mean_square(c, x, &a, keras_number(c->config, "epsilon", 1e-6));
    return keras_give(c,
                      keras_binary(c, "scaled", "Mul", y, spread(c, "scale_axes", scale, x, &a)));
}

bool keras_unit_norm(keras_call *c)
{
    if (!c->n_in || c->in[0].rank < 1)
        return false;
    int axis = one_axis(c->config, "axis", c->in[0], -1);
    if (axis < 0)
        return false;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("p", 2), KERAS_END};
    return keras_give(c, keras_step(c, NULL, "LpNormalization", &c->in[0].id, 1, attrs, c->in[0]));
}

/* Channels last: [N,spatial...,C] is [N,-1,G,C/G] while it is normalised. */
bool keras_group_norm(keras_call *c)
{
    if (!c->n_in || c->in[0].rank < 3)
        return false;
    ir_t x = c->in[0], gamma, beta;
    int axis = one_axis(c->config, "axis", x, -1);
    int64_t n = axis < 0 ? -1 : x.d[axis], groups = keras_int(c->config, "groups", 32);
    groups = groups == -1 ? n : groups;
    if (!scale_and_shift(c, n, &gamma, &beta) || axis != x.rank - 1 || n < 1 || groups < 1 ||
        n % groups)
        return false;
    const int64_t apart[] = {0, -1, groups, n / groups}, over[] = {1, 3};
    int64_t back[IR_KIT_RANK];
    for (int d = 0; d < x.rank; d++)
        back[d] = d == 0 ? 0 : x.d[d];
    for (int d = 1; d < x.rank; d++)
        if (back[d] < 1)
            return false;
    ir_t y = keras_reshape(c, "groups", x, apart, 4);
    y = standardised(c, y, over, 2, keras_number(c->config, "epsilon", 1e-3));
    y = keras_reshape(c, "together", y, back, x.rank);
    if (gamma.id != IR_NONE)
        y = keras_binary(c, "scaled", "Mul", y, gamma);
    return keras_give(c, beta.id == IR_NONE ? y : keras_binary(c, "shifted", "Add", y, beta));
}

/* A list of numbers within a setting, flat: [[0.1, 0.2]]. */
static int read_floats(const json_value *v, double *list, int max)
{
    uint32_t n;
    const json_value *items = keras_items(v, &n);
    if (items && n == 1 && items[0].kind == JSON_LIST)
        return read_floats(&items[0], list, max);
    if (v && !items && json_is_number(v)) {
        list[0] = v->f;
        return 1;
    }
    for (uint32_t i = 0; items && i < n && n <= (uint32_t)max; i++) {
        if (!json_is_number(&items[i]))
            return -1;
        list[i] = items[i].f;
    }
    return items && n <= (uint32_t)max ? (int)n : -1;
}

/* (x - mean) / max(sqrt(variance), 1e-7): of the adapted data, or of the settings. */
bool keras_normalization(keras_call *c)
{
    enum { MAX = 4096 };
    double *list = ARENA_ARRAY(c->r->a, double, 2 * MAX);
    if (!c->n_in || c->in[0].rank < 1 || !list)
        return false;
    ir_t x = c->in[0], mean, var;
    int axis = keras_get(c->config, "axis") ? one_axis(c->config, "axis", x, -1) : x.rank;
    const json_value *given = keras_get(c->config, "mean");
    int n = given ? read_floats(given, list, MAX) : 0,
        m = given ? read_floats(keras_get(c->config, "variance"), list + MAX, MAX) : 0;
    if (given && n > 0 && m > 0) {
        mean = keras_floats(c, "mean", IR_FLOAT32, list, n);
        var = keras_floats(c, "variance", IR_FLOAT32, list + MAX, m);
    } else {
        const int64_t dims[] = {axis >= 0 && axis < x.rank ? x.d[axis] : -1};
        int rank = axis == x.rank ? 0 : 1;
        mean = keras_weight(c, "mean", KERAS_FIXED, rank, dims);
        var = keras_weight(c, "variance", KERAS_FIXED, rank, dims);
        if (c->r->major < 3) /* later versions do not keep it */
            keras_weight(c, "count", KERAS_FIXED, 0, NULL);
    }
    if (mean.id == IR_NONE || var.id == IR_NONE || axis < x.rank - 1)
        return false;
    x = keras_cast(c, x, mean.dtype);
    ir_t y = keras_binary(c, "centered", "Sub", x, mean);
    ir_t deviation = keras_unary(c, "deviation", "Sqrt", var);
    ir_t least = keras_scalar(c, "epsilon", mean.dtype, 1e-7);
    deviation = keras_step(c, "stable", "Max", KERAS_IDS(deviation.id, least.id), NULL, deviation);
    return keras_give(c, keras_binary(c, NULL, "Div", y, deviation));
}

/* The wrapped layer: its kernel was divided when it was trained. */
bool keras_spectral_norm(keras_call *c)
{
    const json_value *config;
    str cls = keras_object(keras_get(c->config, "layer"), &config);
    keras_layer *part = cls.n ? keras_part(c, "layer", cls, config) : NULL;
    if (!part || !keras_call_part(c, part, c->in, c->n_in, c->out, &c->n_out))
        return false;
    keras_note(c, "norm-ignored",
               "The kernel is used as it is stored, without the division by its "
               "norm.");
    return c->n_out > 0;
}
