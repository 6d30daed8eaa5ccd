/* The main model: its inputs and outputs, and the weights that are left. */
#include "formats/keras/keras_model.h"

/* ---- the main model ---- */

ir_type keras_type(keras_reader *r, ir_t shape)
{
    static const char *const names[4][4] = {{"batch"},
                                            {"batch", "sequence"},
                                            {"batch", "sequence", "features"},
                                            {"batch", "height", "width", "channels"}};
    ir_type t = ir_tensor_type(r->f.m, shape.dtype, shape.rank, shape.d);
    ir_dim *dims = shape.rank > 0 ? ARENA_ARRAY(r->f.m->arena, ir_dim, (size_t)shape.rank) : NULL;
    for (int d = 0; dims && d < shape.rank; d++) {
        dims[d] = (ir_dim){.value = shape.d[d] < 0 ? -1 : shape.d[d]};
        if (shape.d[d] < 0)
            dims[d].symbol = d == 0            ? STR("batch")
                             : shape.rank <= 4 ? str_of(names[shape.rank - 1][d])
                                               : str_printf(r->f.m->arena, "dim%d", d);
    }
    t.dims = dims;
    return t;
}

static bool add_input(keras_reader *r, str name, ir_t *shape)
{
    if (shape->dtype == IR_UNDEFINED)
        shape->dtype = IR_FLOAT32;
    name = str_copy(r->f.m->arena, name);
    shape->id = name.p ? foreign_value(&r->f, name, IR_UNDEFINED, -1, NULL) : IR_NONE;
    if (shape->id == IR_NONE)
        return false;
    ir_value_at(r->f.m, shape->id)->declared = keras_type(r, *shape);
    return ir_add_input(r->f.m, 0, shape->id);
}

/* Embedding and Masking state their input in settings of their own; Keras 1 may state the features alone. */
static ir_t input_shape(const json_value *config)
{
    const json_value *shape = keras_get(config, "batch_shape|batch_input_shape");
    ir_t x = keras_shape_of(shape, keras_dtype(config, "dtype|input_dtype", IR_FLOAT32));
    if (x.rank >= 0)
        return x;
    int64_t dims[2] = {-1, keras_int(config, "input_length", -1)};
    if (json_get(config, "input_length") && json_get(config, "embeddings_initializer"))
        return keras_shape(x.dtype, 2, dims);
    return x;
}

/* The shape of what a Sequential model takes: stated by its first layer, or by the model itself. */
static ir_t sequential_input(keras_reader *r, keras_layer *l, unsigned depth)
{
    const json_value *layers = l->config && l->config->kind == JSON_LIST
                                   ? l->config
                                   : keras_get(l->config, "layers");
    const json_value *first = layers && layers->kind == JSON_LIST && layers->n ? layers->items
                                                                               : NULL,
                     *config;
    str cls = keras_object(first, &config);
    ir_t x = input_shape(config);
    if (first && x.rank < 0 && depth < KERAS_MAX_DEPTH) {
        keras_layer inner = {.cls = cls, .config = config};
        const json_value *wrapped;
        str wrapped_cls = keras_object(keras_get(config, "layer"), &wrapped);
        if (str_is(cls, "Sequential"))
            x = sequential_input(r, &inner, depth + 1);
        else if (keras_is_model(cls, config))
            x = input_shape(keras_get(json_path(config, "layers.0"), "config"));
        else if (wrapped_cls.n)
            x = input_shape(wrapped);
    }
    const json_value *build = keras_get(first, "build_config");
    if (x.rank < 0)
        x = keras_shape_of(keras_get(l->config, "build_input_shape"), x.dtype);
    if (x.rank < 0)
        x = keras_shape_of(build ? keras_get(build, "input_shape") : NULL, x.dtype);
    return x;
}

static assay_status sequential_inputs(keras_reader *r, keras_layer *l, ir_t *in, uint32_t *n)
{
    const json_value *layers = l->config && l->config->kind == JSON_LIST
                                   ? l->config
                                   : keras_get(l->config, "layers"),
                     *config = NULL;
    str name = STR("input"), cls = {0};
    if (layers && layers->kind == JSON_LIST && layers->n)
        cls = keras_object(layers->items, &config);
    if (config && keras_word(config, "name", "").n)
        name = str_is(cls, "InputLayer")
                   ? keras_word(config, "name", "")
                   : str_printf(r->a, STR_FMT "_input", STR_ARG(keras_word(config, "name", "")));
    in[0] = sequential_input(r, l, 0);
    *n = 1;
    return name.p && add_input(r, name, &in[0]) ? ASSAY_OK : err_no_memory(r->f.err);
}

/* InputLayer, or the first layer of Keras 1, in the order of input_layers. */
static assay_status functional_inputs(keras_reader *r, keras_layer *l, ir_t *in, uint32_t *n)
{
    found_refs *refs = ARENA_NEW(r->a, found_refs);
    TRY_MEMORY(refs, r->f.err);
    TRY(keras_open_model(r, l));
    keras_collect(l->inner, l->inner->inputs, refs);
    if (refs->full)
        return keras_fail_model(r, l->name, "more than 256 inputs");
    for (uint32_t i = 0; i < refs->n; i++) {
        const call_site *s = keras_site_of(l->inner, &refs->list[i]);
        in[i] = s ? input_shape(s->l->config) : keras_unknown_shape(IR_FLOAT32);
        TRY_MEMORY(s && add_input(r, s->l->name, &in[i]), r->f.err);
    }
    *n = refs->n;
    return *n ? ASSAY_OK : keras_fail_model(r, l->name, "it has no inputs");
}

static assay_status add_outputs(keras_reader *r, const ir_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ir_id id = out[i].id;
        const ir_value *v = id == IR_NONE ? NULL : ir_value_at(r->f.m, id);
        TRY_MEMORY(v, r->f.err);
        if (v->producer == IR_NONE || v->flags & IR_VALUE_OUTPUT) {
            str name = v->name;
            ir_id own = foreign_inner(&r->f, name, "output");
            foreign_unary(&r->f, "Identity", name, id, own);
            id = own;
        }
        if (id == IR_NONE || !ir_add_output(r->f.m, 0, id))
            return err_no_memory(r->f.err);
        ir_t shape = out[i];
        if (shape.rank >= 0)
            ir_value_at(r->f.m, id)->declared = keras_type(r, shape);
    }
    return ASSAY_OK;
}

/* Weights that a layer has but does not use at inference, such as the count of Normalization. */
static void mark_unread(keras_reader *r)
{
    ir_model *m = r->f.m;
    uint8_t *read = ARENA_ARRAY(r->a, uint8_t, (size_t)m->values.n + 1);
    for (uint32_t i = 0; read && i < m->nodes.n; i++)
        for (uint32_t k = 0; k < m->nodes.items[i].n_inputs; k++)
            if (m->nodes.items[i].inputs[k] != IR_NONE)
                read[m->nodes.items[i].inputs[k]] = 1;
    for (ir_id id = 0; read && id < m->values.n; id++)
        if (!read[id] && ir_value_at(m, id)->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER))
            ir_value_at(m, id)->flags |= IR_VALUE_UNREAD;
}

assay_status keras_build(keras_reader *r, const json_value *root)
{
    const json_value *config;
    str cls = keras_object(root, &config);
    ir_t *in = ARENA_ARRAY(r->a, ir_t, KERAS_MAX_PORTS),
         *out = ARENA_ARRAY(r->a, ir_t, KERAS_MAX_PORTS);
    uint32_t n_in = 0, n_out = 0;
    bool list = config && config->kind == JSON_LIST;
    if (!cls.n || (!list && !keras_is_model(cls, config)))
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "Keras model of class '" STR_FMT
                        "', which is not in the file. Export it in Python with model.export().",
                        STR_ARG(cls));
    keras_layer *l = keras_new_layer(r, (str){0}, (str){0}, cls, config);
    TRY_MEMORY(in && out && l, r->f.err);
    ir_graph_at(r->f.m, 0)->name = str_copy(r->f.m->arena, keras_word(config, "name", "model"));
    bool functional = !list && !str_is(cls, "Sequential");
    TRY(functional ? functional_inputs(r, l, in, &n_in) : sequential_inputs(r, l, in, &n_in));
    TRY(keras_run_model(r, l, in, n_in, out, &n_out));
    TRY(add_outputs(r, out, n_out));
    keras_weights_left(r);
    mark_unread(r);
    return keras_status(r);
}
