/* Parts of layers, which are layers of their own: cells, and what wrappers hold. */
#include "formats/keras/keras_impl.h"

/* Where the weights of a part are: the first of "forward_layer|_forward" that the file has. */
static str part_prefix(keras_call *c, const char *attrs)
{
    str rest = str_of(attrs), attr, first = {0};
    if (!c->l->prefix.p)
        return first;
    while (str_split(&rest, '|', &attr)) {
        str path = str_printf(c->r->a, STR_FMT "/" STR_FMT, STR_ARG(c->l->prefix), STR_ARG(attr));
        if (path.p && map_get(&c->r->store.groups, path) != MAP_NONE)
            return path;
        if (!first.p)
            first = path;
    }
    return first;
}

keras_layer *keras_part(keras_call *c, const char *attr, str cls, const json_value *config)
{
    for (uint32_t i = 0; i < c->l->parts.n; i++)
        if (str_is(c->l->parts.items[i]->attr, attr))
            return c->l->parts.items[i];
    str own = keras_word(config, "name", ""), shown = c->l->shown;
    if (own.n && !str_eq(own, c->l->name))
        shown = str_printf(c->r->a, STR_FMT "/" STR_FMT, STR_ARG(shown), STR_ARG(own));
    keras_layer *part = shown.p ? keras_new_layer(c->r, c->l->name, shown, cls, config) : NULL;
    if (!part || !VEC_ADD(c->r->a, &c->l->parts, part))
        return NULL;
    part->attr = str_copy(c->r->a, str_of(attr));
    part->trainable = part->trainable && c->l->trainable;
    part->bag = c->l->bag;
    part->prefix = part_prefix(c, attr);
    return part;
}

bool keras_call_part(keras_call *c, keras_layer *part, const ir_t *in, uint32_t n_in, ir_t *out,
                     uint32_t *n_out)
{
    keras_call inner = {.in = in, .n_in = n_in, .out = out, .n_wanted = 1};
    bool called = keras_call_layer(c->r, part, &inner);
    *n_out = inner.n_out;
    return called;
}

/* ---- one layer for each step ---- */

/* Layers that treat every vector of the last axis alike need no steps. */
static bool ignores_steps(str cls)
{
    static const char same[] =
        "Dense|Activation|Dropout|BatchNormalization|LayerNormalization|LeakyReLU|ReLU|ELU|Softmax|"
        "GaussianNoise|GaussianDropout|AlphaDropout|Rescaling|ThresholdedReLU|Identity";
    return str_in_list(cls, same, '|');
}

static bool sizes_known(ir_t x, int from)
{
    for (int d = from; d < x.rank; d++)
        if (x.d[d] < 1)
            return false;
    return x.rank > from;
}

static bool call_each_step(keras_call *c, keras_layer *part)
{
    ir_t x = c->in[0], y, *made = ARENA_ARRAY(c->r->a, ir_t, KERAS_MAX_PORTS);
    uint32_t n = 0;
    int64_t dims[IR_KIT_RANK] = {-1};
    if (!made || x.rank < 3 || !sizes_known(x, 1))
        return false;
    for (int d = 2; d < x.rank; d++)
        dims[d - 1] = x.d[d];
    y = keras_reshape(c, "steps", x, dims, x.rank - 1);
    y.d[0] = -1;
    if (!keras_call_part(c, part, &y, 1, made, &n) || !n)
        return false;
    y = made[0];
    if (y.rank < 1 || y.rank >= IR_KIT_RANK || !sizes_known(y, y.rank > 1 ? 1 : 0))
        return false;
    dims[1] = x.d[1];
    for (int d = 1; d < y.rank; d++)
        dims[d + 1] = y.d[d];
    return keras_give(c, keras_reshape(c, "together", y, dims, y.rank + 1));
}

bool keras_time_distributed(keras_call *c)
{
    const json_value *config;
    str cls = keras_object(keras_get(c->config, "layer"), &config);
    if (!c->n_in || !cls.n || c->in[0].rank < 2)
        return false;
    keras_layer *part = keras_part(c, "layer", cls, config);
    if (!part)
        return false;
    if (!ignores_steps(cls))
        return call_each_step(c, part);
    ir_t made[1];
    uint32_t n = 0;
    return keras_call_part(c, part, c->in, 1, made, &n) && n == 1 && keras_give(c, made[0]);
}
