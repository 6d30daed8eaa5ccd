/* Preprocessing layers that a model holds. Random augmentation does nothing at inference. Texts and vocabularies are named
 * and keep their shapes. */

#include "formats/keras/keras_impl.h"

/* A number, or one for each channel. */
static ir_t number_or_list(keras_call *c, const char *key, ir_dtype t, double def)
{
    enum { MAX = 4096 };
    uint32_t n;
    const json_value *v = keras_get(c->config, key), *items = keras_items(v, &n);
    double *list = items && n <= MAX ? ARENA_ARRAY(c->r->a, double, (size_t)n + 1) : NULL;
    for (uint32_t i = 0; list && i < n; i++)
        list[i] = items[i].f;
    return list ? keras_floats(c, key, t, list, (int)n)
                : keras_scalar(c, key, t, keras_number(c->config, key, def));
}

/* x * scale + offset */
bool keras_rescale(keras_call *c)
{
    if (!c->n_in)
        return false;
    ir_t x = c->in[0];
    if (!ir_is_float(x.dtype))
        x = keras_cast(c, x, IR_FLOAT32);
    ir_t y = keras_binary(c, NULL, "Mul", x, number_or_list(c, "scale", x.dtype, 1));
    const json_value *offset = keras_get(c->config, "offset");
    if (offset && !(json_is_number(offset) && offset->f == 0))
        y = keras_binary(c, "offset_added", "Add", y, number_or_list(c, "offset", x.dtype, 0));
    return keras_give(c, y);
}

bool keras_resize(keras_call *c)
{
    const int64_t sizes[] = {keras_int(c->config, "height", -1), keras_int(c->config, "width", -1)};
    str how = keras_word(c->config, "interpolation", "bilinear");
    bool nearest = str_is(how, "nearest"), first = keras_channels_first(c->config);
    bool changed = keras_bool(c->config, "crop_to_aspect_ratio", false) ||
                   keras_bool(c->config, "pad_to_aspect_ratio", false) ||
                   keras_bool(c->config, "antialias", false);
    if (!c->n_in || c->in[0].rank != 4 || sizes[0] < 1 || sizes[1] < 1 || first || changed ||
        (!nearest && !str_is(how, "bilinear")))
        return false;
    ir_t x = c->in[0];
    if (!ir_is_float(x.dtype))
        x = keras_cast(c, x, IR_FLOAT32);
    ir_t y = x;
    y.d[1] = sizes[0];
    y.d[2] = sizes[1];
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", nearest ? "nearest" : "linear"),
                            IR_SPEC_INT("half_pixel_centers", 1), KERAS_END};
    ir_id in[] = {x.id, keras_consts(c, "sizes", sizes, 2)};
    return keras_give(c, keras_step_in(c, FOREIGN_NHWC, NULL, "Resize", in, 2, attrs, y));
}

bool keras_center_crop(keras_call *c)
{
    const int64_t sizes[] = {keras_int(c->config, "height", -1), keras_int(c->config, "width", -1)};
    int64_t starts[2], ends[2], axes[2];
    if (!c->n_in || c->in[0].rank != 4)
        return false;
    ir_t x = c->in[0], y = x;
    for (int d = 0; d < 2; d++) {
        axes[d] = keras_channels_first(c->config) ? d + 2 : d + 1;
        int64_t have = x.d[axes[d]];
        if (sizes[d] < 1 || have < sizes[d])
            return false;
        starts[d] = (have - sizes[d]) / 2;
        ends[d] = starts[d] + sizes[d];
        y.d[axes[d]] = sizes[d];
    }
    ir_id in[] = {x.id, keras_consts(c, "starts", starts, 2), keras_consts(c, "ends", ends, 2),
                  keras_consts(c, "axes", axes, 2)};
    return keras_give(c, keras_step(c, NULL, "Slice", in, 4, NULL, y));
}

/* one_hot [N] or [N,1] is [N,n]; multi_hot [N,k] is [N,n]. */
bool keras_encode_category(keras_call *c)
{
    int64_t n = keras_int(c->config, "num_tokens|max_tokens", -1);
    str mode = keras_word(c->config, "output_mode", "multi_hot");
    bool one = str_is(mode, "one_hot"), count = str_is(mode, "count");
    if (!c->n_in || c->in[0].rank < 1 || c->in[0].rank > 2 || n < 1 || n > INT32_MAX ||
        (!one && !count && !str_is(mode, "multi_hot")))
        return false;
    ir_t x = keras_cast(c, c->in[0], IR_INT64), y;
    if (one && x.rank == 2 && x.d[1] == 1)
        x = keras_squeeze(c, "flat", x, 1);
    y = x;
    y.dtype = IR_FLOAT32;
    y.d[y.rank++] = n;
    const double values[] = {0, 1};
    const int64_t behind = 1;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), KERAS_END};
    ir_id in[] = {x.id, foreign_number(c->f, c->name, "depth", IR_INT64, (double)n),
                  keras_floats(c, "values", IR_FLOAT32, values, 2).id};
    y = keras_step(c, NULL, "OneHot", in, 3, attrs, y);
    if (!one && x.rank == 2)
        y = keras_reduce(c, "joined", count ? "ReduceSum" : "ReduceMax", y, &behind, 1, false);
    return keras_give(c, y);
}

/* A layer of Keras that no row has, whose output is known in shape and type. */
static bool opaque(keras_call *c, ir_t shape)
{
    str op = str_copy(c->f->m->arena, c->l->cls);
    shape = op.p ? keras_step_in(c, KERAS_DOMAIN, NULL, op.p, &c->in[0].id, 1, NULL, shape) : shape;
    if (shape.id == IR_NONE)
        return false;
    ir_value_at(c->f->m, shape.id)->declared = keras_type(c->r, shape);
    return keras_give(c, shape);
}

/* Lookups, hashes and buckets give one whole number for each item. */
bool keras_lookup(keras_call *c)
{
    str mode = keras_word(c->config, "output_mode", "int");
    if (!c->n_in || c->in[0].rank < 0 || !str_is(mode, "int"))
        return false;
    ir_t y = c->in[0];
    y.dtype = IR_INT64;
    return opaque(c, y);
}

/* How many boundaries an item has reached: 0 below the first. */
bool keras_discretize(keras_call *c)
{
    const int64_t behind[] = {c->n_in ? c->in[0].rank : 0};
    if (!c->n_in || c->in[0].rank < 0 || c->in[0].rank >= IR_KIT_RANK ||
        !keras_get(c->config, "bin_boundaries") ||
        !str_is(keras_word(c->config, "output_mode", "int"), "int"))
        return keras_lookup(c);
    ir_t x = keras_cast(c, c->in[0], IR_FLOAT32);
    ir_t bounds = number_or_list(c, "bin_boundaries", IR_FLOAT32, 0);
    ir_t reached = keras_binary(c, NULL, "GreaterOrEqual", keras_expand_dims(c, "items", x, x.rank),
                                bounds);
    reached.dtype = IR_BOOL;
    ir_t y = keras_reduce(c, "bin", "ReduceSum", keras_cast(c, reached, IR_INT64), behind, 1,
                          false);
    return keras_give(c, y);
}

/* Each channel of an image to the whole range of values. */
bool keras_auto_contrast(keras_call *c)
{
    double range[] = {0, 255};
    uint32_t n;
    const json_value *given = keras_items(keras_get(c->config, "value_range"), &n);
    if (!c->n_in || c->in[0].rank < 3 || keras_channels_first(c->config))
        return false;
    for (uint32_t i = 0; given && n == 2 && i < n; i++)
        range[i] = given[i].f;
    ir_t x = keras_cast(c, c->in[0], IR_FLOAT32);
    const int64_t axes[] = {x.rank - 3, x.rank - 2};
    ir_t low = keras_reduce(c, "low", "ReduceMin", x, axes, 2, true);
    ir_t high = keras_reduce(c, "high", "ReduceMax", x, axes, 2, true);
    ir_t least = keras_scalar(c, "least", x.dtype, range[0]),
         most = keras_scalar(c, "most", x.dtype, range[1]),
         width = keras_scalar(c, "width", x.dtype, range[1] - range[0]);
    ir_t scale = keras_binary(c, "scale", "Div", width, keras_binary(c, "span", "Sub", high, low));
    ir_t y = keras_binary(c, NULL, "Mul", keras_binary(c, "above", "Sub", x, low), scale);
    y = keras_binary(c, "moved", "Add", y, least);
    y = keras_step(c, "clipped", "Clip", KERAS_IDS(y.id, least.id, most.id), NULL, y);
    ir_t flat = keras_unary(c, "flat", "IsNaN", y);
    flat.dtype = IR_BOOL;
    return keras_give(c, keras_step(c, "result", "Where", KERAS_IDS(flat.id, x.id, y.id), NULL, x));
}

/* [N] or [N,1] texts are [N,length] tokens. */
bool keras_text_vectors(keras_call *c)
{
    const int64_t dims[] = {c->n_in && c->in[0].rank > 0 ? c->in[0].d[0] : -1,
                            keras_int(c->config, "output_sequence_length", -1)};
    if (!c->n_in || !str_is(keras_word(c->config, "output_mode", "int"), "int"))
        return false;
    return opaque(c, keras_shape(IR_INT64, 2, dims));
}
