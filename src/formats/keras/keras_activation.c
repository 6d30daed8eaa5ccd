/* Activations: settings of layers, and layers of their own. */
#include "formats/keras/keras_impl.h"

static ir_t clip(keras_call *c, ir_t x, double low, double high)
{
    ir_id in[] = {x.id, foreign_number(c->f, c->name, "low", x.dtype, low),
                  foreign_number(c->f, c->name, "high", x.dtype, high)};
    return keras_step(c, NULL, "Clip", in, 3, NULL, x);
}

static ir_t with_float(keras_call *c, const char *op, ir_t x, const char *attr, double v)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT(attr, v), KERAS_END};
    return keras_step(c, NULL, op, &x.id, 1, attrs, x);
}

static ir_t with_axis(keras_call *c, const char *op, ir_t x, int64_t axis)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), KERAS_END};
    return keras_step(c, NULL, op, &x.id, 1, attrs, x);
}

static ir_t hard_sigmoid(keras_call *c, const char *op, ir_t x)
{
    bool three = c->r->major >= 3; /* relu6(x + 3) / 6; before: 0.2 x + 0.5 */
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", three ? 1.0 / 6 : 0.2),
                            IR_SPEC_FLOAT("beta", 0.5), KERAS_END};
    return keras_step(c, NULL, op, &x.id, 1, attrs, x);
}

static ir_t swish(keras_call *c, const char *op, ir_t x)
{
    ir_t gate = keras_unary(c, "Sigmoid", "Sigmoid", x);
    return keras_binary(c, NULL, op, x, gate);
}

static ir_t gelu(keras_call *c, const char *op, ir_t x)
{
    return keras_step_in(c, FOREIGN_MS, NULL, op, &x.id, 1, NULL, x);
}

static ir_t mish(keras_call *c, const char *op, ir_t x)
{
    ir_t plus = keras_unary(c, "Softplus", "Softplus", x);
    return keras_binary(c, NULL, op, x, keras_unary(c, "Tanh", "Tanh", plus));
}

static ir_t tanh_shrink(keras_call *c, const char *op, ir_t x)
{
    return keras_binary(c, NULL, op, x, keras_unary(c, "Tanh", "Tanh", x));
}

static ir_t log_sigmoid(keras_call *c, const char *op, ir_t x)
{
    return keras_unary(c, NULL, op, keras_unary(c, "Sigmoid", "Sigmoid", x));
}

static ir_t relu6(keras_call *c, const char *op, ir_t x)
{
    (void)op;
    return clip(c, x, 0, 6);
}

static ir_t hard_tanh(keras_call *c, const char *op, ir_t x)
{
    (void)op;
    return clip(c, x, -1, 1);
}

static ir_t last_axis(keras_call *c, const char *op, ir_t x)
{
    return with_axis(c, op, x, -1);
}

static ir_t leaky(keras_call *c, const char *op, ir_t x)
{
    return with_float(c, op, x, "alpha", 0.2);
}

static ir_t plain(keras_call *c, const char *op, ir_t x)
{
    return keras_unary(c, NULL, op, x);
}

static const struct {
    const char *name;
    ir_t (*make)(keras_call *c, const char *op, ir_t x);
    const char *op;
} functions[] = {
    {"relu", plain, "Relu"},
    {"sigmoid", plain, "Sigmoid"},
    {"tanh", plain, "Tanh"},
    {"softmax|softmax_v2", last_axis, "Softmax"},
    {"log_softmax", last_axis, "LogSoftmax"},
    {"softplus", plain, "Softplus"},
    {"softsign", plain, "Softsign"},
    {"elu", plain, "Elu"},
    {"selu", plain, "Selu"},
    {"celu", plain, "Celu"},
    {"exponential|exp", plain, "Exp"},
    {"sin", plain, "Sin"},
    {"cos", plain, "Cos"},
    {"hard_sigmoid", hard_sigmoid, "HardSigmoid"},
    {"hard_silu|hard_swish", plain, "HardSwish"},
    {"silu|swish", swish, "Mul"},
    {"gelu", gelu, "Gelu"},
    {"mish", mish, "Mul"},
    {"relu6|ReLU6", relu6, "Clip"},
    {"hard_tanh", hard_tanh, "Clip"},
    {"leaky_relu", leaky, "LeakyRelu"},
    {"tanh_shrink", tanh_shrink, "Sub"},
    {"log_sigmoid", log_sigmoid, "Log"},
};

/* What is not known keeps its name and the shape of its input. */
static ir_t unknown_function(keras_call *c, str name, ir_t x)
{
    str own = str_copy(c->f->m->arena, name.n ? name : STR("activation"));
    ir_t y = own.p ? keras_step_in(c, KERAS_DOMAIN, "activation", own.p, &x.id, 1, NULL, x) : x;
    if (y.id != IR_NONE && y.rank >= 0)
        ir_value_at(c->f->m, y.id)->declared = keras_type(c->r, y);
    return y;
}

static ir_t function_named(keras_call *c, str name, ir_t x)
{
    if (str_is(name, "linear") || !name.n)
        return x;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_in_list(name, functions[i].name, '|'))
            return functions[i].make(c, functions[i].op, x);
    return unknown_function(c, name, x);
}

/* ---- layers of their own ---- */

/* max_value, negative_slope, threshold */
static ir_t relu_of(keras_call *c, const json_value *config, ir_t x)
{
    const json_value *most = keras_get(config, "max_value");
    double slope = keras_number(config, "negative_slope|alpha", 0),
           from = keras_number(config, "threshold", 0);
    if (from != 0)
        return unknown_function(c, STR("ReLU"), x);
    if (slope != 0)
        x = with_float(c, "LeakyRelu", x, "alpha", slope);
    if (!most)
        return slope != 0 ? x : keras_unary(c, NULL, "Relu", x);
    double high = keras_number(config, "max_value", 0);
    return clip(c, x, slope != 0 ? -3.4e38 : 0, high);
}

static ir_t softmax_of(keras_call *c, const json_value *config, ir_t x)
{
    int64_t axes[IR_KIT_RANK];
    const json_value *v = keras_get(config, "axis");
    int n = v ? keras_list(v, axes, IR_KIT_RANK) : 0;
    return n > 1 ? unknown_function(c, STR("Softmax"), x)
                 : with_axis(c, "Softmax", x, n == 1 ? axes[0] : -1);
}

static ir_t layer_as_function(keras_call *c, str cls, const json_value *config, ir_t x)
{
    if (str_is(cls, "ReLU"))
        return relu_of(c, config, x);
    if (str_is(cls, "LeakyReLU"))
        return with_float(c, "LeakyRelu", x, "alpha",
                          keras_number(config, "negative_slope|alpha", 0.3));
    if (str_is(cls, "ELU"))
        return with_float(c, "Elu", x, "alpha", keras_number(config, "alpha", 1));
    if (str_is(cls, "ThresholdedReLU"))
        return with_float(c, "ThresholdedRelu", x, "alpha", keras_number(config, "theta", 1));
    if (str_is(cls, "Softmax"))
        return softmax_of(c, config, x);
    if (str_is(cls, "Activation"))
        return keras_activate_as(c, keras_get(config, "activation"), "linear", x);
    return unknown_function(c, cls, x);
}

/* "relu"; {"class_name": "function", "config": "relu"}; {"class_name": "LeakyReLU", "config": {...}}. */
ir_t keras_activate_as(keras_call *c, const json_value *setting, const char *def, ir_t x)
{
    const json_value *config;
    str name = setting ? keras_object(setting, &config) : str_of(def);
    if (!setting || setting->kind == JSON_TEXT)
        return function_named(c, name, x);
    if (config && config->kind == JSON_TEXT)
        return function_named(c, config->s, x);
    if (config && config->kind == JSON_OBJECT && keras_class_of(name))
        return layer_as_function(c, name, config, x);
    return function_named(c, name, x);
}

ir_t keras_activate(keras_call *c, const char *key, const char *def, ir_t x)
{
    return keras_activate_as(c, keras_get(c->config, key), def, x);
}

bool keras_activation(keras_call *c)
{
    if (!c->n_in)
        return false;
    ir_t x = keras_activate(c, "activation", "linear", c->in[0]);
    if (x.id == c->in[0].id)
        x = keras_unary(c, NULL, "Identity", x);
    return keras_give(c, x);
}

bool keras_relu(keras_call *c)
{
    return c->n_in && keras_give(c, layer_as_function(c, c->l->cls, c->config, c->in[0]));
}

/* One slope for each element behind the batch, but for shared axes. */
bool keras_prelu(keras_call *c)
{
    int64_t dims[IR_KIT_RANK], shared[IR_KIT_RANK];
    const json_value *v = keras_get(c->config, "shared_axes");
    int n = v ? keras_list(v, shared, IR_KIT_RANK) : 0;
    if (!c->n_in || c->in[0].rank < 2)
        return false;
    ir_t x = c->in[0];
    for (int d = 1; d < x.rank; d++)
        dims[d - 1] = x.d[d];
    for (int i = 0; i < n; i++)
        if (shared[i] >= 1 && shared[i] < x.rank)
            dims[shared[i] - 1] = 1;
    ir_t slope = keras_weight(c, "alpha", KERAS_TRAINED, x.rank - 1, dims);
    if (slope.id == IR_NONE)
        return false;
    return keras_give(c, keras_step(c, NULL, "PRelu", KERAS_IDS(x.id, slope.id), NULL, x));
}
