/* Neural networks of Core ML: inputs by the description, layers in order, weights in place. */
#include "formats/coreml/coreml_nn.h"

#include <string.h>

#include "base/num.h"

/* ---- weights: 1 floats, 2 float16, 30 raw with 40 quantization {1 bits}, 31 int8 ---- */

typedef struct nn_data {
    ir_dtype dtype;
    uint64_t offset, length, elements;
    bool plain;
} nn_data;

static bool find_data(cursor weight, nn_data *d)
{
    static const struct {
        uint32_t field;
        ir_dtype t;
    } kinds[] = {{1, IR_FLOAT32}, {2, IR_FLOAT16}, {31, IR_INT8}, {30, IR_UINT8}};
    wire_field f;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!wire_find(weight, kinds[i].field, &f) || f.type != WIRE_LEN)
            continue;
        uint64_t bits = kinds[i].field == 30 ? wire_find_u64(wire_sub(weight, 40), 1, 8)
                                             : ir_dtype_get(kinds[i].t)->bits;
        *d = (nn_data){.dtype = kinds[i].t,
                       .offset = f.body.pos,
                       .length = cursor_left(&f.body),
                       .plain = kinds[i].field != 30};
        d->elements = bits ? d->length * 8 / bits : 0;
        return d->length > 0;
    }
    return false;
}

ir_id nn_weight(nn_op *o, cursor message, uint32_t field, const char *what, int rank,
                const int64_t *dims)
{
    nn_data d;
    uint64_t n = 1;
    if (!find_data(wire_sub(message, field), &d))
        return IR_NONE;
    int64_t all = (int64_t)(d.elements & INT64_MAX);
    for (int i = 0; i < rank; i++)
        n = sat_mul(n, dims[i] < 0 ? 0 : (uint64_t)dims[i]);
    foreign_count(&o->r->f, d.elements, d.length);
    if (n != d.elements && d.plain) /* sizes of another form: as a list */
        rank = 1, dims = &all;
    str name = str_printf(o->r->f.m->arena, STR_FMT ".%s", STR_ARG(o->l.name), what);
    ir_tensor *t = ir_make_tensor_borrowed(o->r->f.m, STR(""), d.dtype, rank, dims);
    ir_id id = t && name.p ? foreign_slice(&o->r->f, name, t, d.offset, d.length) : IR_NONE;
    if (id == IR_NONE || (d.plain && d.dtype != IR_INT8 && t->size_bytes == d.length))
        return layer_float_weight(&o->l, id);
    ir_tensor *own = arena_copy(o->r->f.m->arena, ir_value_at(o->r->f.m, id)->constant,
                                sizeof *own);
    if (!own)
        return IR_NONE;
    own->storage = IR_DATA_NONE;
    own->stored = STR("quantised");
    own->stored_bytes = d.length;
    ir_value_at(o->r->f.m, id)->constant = own;
    return id;
}

/* ---- inputs: FeatureDescription {1 name, 3 type {4 image {1 width, 2 height, 3 colours}, 5 array {1 shape}}} ---- */

static int input_dims(cursor type, bool old, int64_t *dims)
{
    int64_t list[ML_LIST];
    cursor image = wire_sub(type, 4), array = wire_sub(type, 5);
    if (cursor_left(&image)) {
        dims[0] = 1;
        dims[1] = wire_find_u64(image, 3, 20) == 10 ? 1 : 3;
        dims[2] = (int64_t)(wire_find_u64(image, 2, 0) & INT32_MAX);
        dims[3] = (int64_t)(wire_find_u64(image, 1, 0) & INT32_MAX);
        return 4;
    }
    int n = ml_list(array, 1, list);
    for (int i = 0; i < n; i++)
        list[i] = list[i] < 0 || list[i] > INT32_MAX ? -1 : list[i];
    if (n > IR_MAX_RANK)
        return -1;
    if (!old || n == 4) {
        memcpy(dims, list, (size_t)n * sizeof *dims);
        return n;
    }
    dims[0] = dims[1] = dims[2] = dims[3] = 1;
    for (int i = 0; i < n && n <= 3; i++)
        dims[n == 2 ? i + 2 : i + 1] = list[i];
    return n <= 3 ? 4 : -1;
}

static assay_status add_inputs(ml_reader *r, cursor description, bool old)
{
    wire_field f, name;
    while (wire_next(&description, &f)) {
        int64_t dims[IR_MAX_RANK];
        if (f.number != 1 || f.type != WIRE_LEN || !wire_find(f.body, 1, &name))
            continue;
        str text = ml_text(r, &name);
        int rank = input_dims(wire_sub(f.body, 3), old, dims);
        ir_id id = foreign_value(&r->f, text, IR_FLOAT32, rank, dims);
        if (id == IR_NONE || !ml_put(r, text, id) || !ir_add_input(r->f.m, 0, id))
            return err_no_memory(r->f.err);
    }
    return ASSAY_OK;
}

/* ---- layers: 1 name, 2 inputs, 3 outputs, and the kind ---- */

static assay_status read_names(ml_reader *r, cursor layer, nn_op *o, ir_id *in, ir_id *out)
{
    wire_field f;
    while (wire_next(&layer, &f)) {
        if ((f.number != 2 && f.number != 3) || f.type != WIRE_LEN)
            continue;
        str name = ml_text(r, &f);
        if (o->l.n_in >= ML_MAX_NAMES || o->l.n_out >= ML_MAX_NAMES || !name.n)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "a layer has invalid inputs or outputs");
        if (f.number == 2) {
            const ml_value *v = ml_get(r, name);
            if (!v)
                return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                                "value '" STR_FMT "' is read before a layer writes it",
                                STR_ARG(name));
            in[o->l.n_in++] = v->id;
            continue;
        }
        ir_id id = foreign_value(&r->f, name, IR_UNDEFINED, -1, NULL);
        if (id == IR_NONE || !ml_put(r, name, id))
            return err_no_memory(r->f.err);
        out[o->l.n_out++] = id;
    }
    return ASSAY_OK;
}

/* Weights of recurrent layers, so that they are counted. */
static void add_weights(nn_op *o, cursor message, ir_id *in, int depth)
{
    wire_field f;
    cursor walk = message;
    nn_data d;
    while (wire_next(&walk, &f)) {
        if (f.type != WIRE_LEN || o->l.n_in >= ML_MAX_NAMES)
            continue;
        bool nested = f.number == 20 && (o->kind == 420 || o->kind == 430) && depth == 0;
        if (nested)
            add_weights(o, f.body, in, 1);
        else if ((depth == 1 || f.number >= 30) && find_data(f.body, &d)) {
            int64_t n = (int64_t)(d.elements & INT64_MAX);
            in[o->l.n_in++] = nn_weight(o, message, f.number, "weight", 1, &n);
        }
    }
}

static assay_status read_layer(ml_reader *r, cursor layer, bool old)
{
    ir_id *in = ARENA_ARRAY(r->f.scratch, ir_id, ML_MAX_NAMES + 1);
    ir_id *out = ARENA_ARRAY(r->f.scratch, ir_id, ML_MAX_NAMES + 1);
    wire_field f;
    nn_op o = {.r = r, .old = old};
    TRY_MEMORY(in && out, r->f.err);
    o.l = (foreign_layer){.f = &r->f, .in = in, .out = out};
    o.l.name = wire_find(layer, 1, &f) ? ml_text(r, &f) : (str){0};
    TRY(read_names(r, layer, &o, in, out));
    for (cursor c = layer; wire_next(&c, &f);)
        if (f.number >= 100 && f.type == WIRE_LEN) {
            o.kind = f.number;
            o.params = f.body;
        }
    const nn_row *row = nn_row_of(o.kind);
    o.op = row ? row->op : NULL;
    bool done = row && o.l.n_out &&
                (row->map  ? row->map(&o)
                 : row->op ? layer_node_of(&o.l, NULL, row->op, in, o.l.n_in, NULL, 1) != IR_NONE
                           : false);
    if (done || r->f.err->code != ASSAY_OK)
        return r->f.err->code;
    if (o.kind >= 400 && o.kind <= 430)
        add_weights(&o, o.params, in, 0);
    const char *name = row ? row->name : arena_printf(r->f.m->arena, "layer_%u", o.kind);
    layer_unknown(&o.l, name ? name : "layer");
    return r->f.err->code;
}

/* What no layer reads is an output. */
static assay_status add_outputs(ml_reader *r)
{
    const uint32_t *uses = ir_kit_uses(r->f.m, NULL, 1, r->f.scratch);
    for (uint32_t i = 0; uses && i < r->list.n; i++) {
        ir_id id = r->list.items[i].id;
        if (id != IR_NONE && !uses[id] && ir_value_at(r->f.m, id)->producer != IR_NONE &&
            !foreign_output(&r->f, id))
            return err_no_memory(r->f.err);
    }
    return uses ? ASSAY_OK : err_no_memory(r->f.err);
}

assay_status ml_read_network(ml_reader *r, cursor network, cursor description)
{
    wire_field f;
    uint32_t n = 0;
    bool old = wire_find_u64(network, 5, 0) != 1 && wire_find_u64(network, 6, 0) != 1;
    TRY(add_inputs(r, description, old));
    while (wire_next(&network, &f)) {
        if (f.number != 1 || f.type != WIRE_LEN)
            continue;
        if (++n > FOREIGN_MAX_NODES)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "too many layers");
        TRY(read_layer(r, f.body, old));
        if (arena_failed(r->f.m->arena) || arena_failed(r->f.scratch))
            return err_no_memory(r->f.err);
    }
    TRY(wire_status(&network));
    return add_outputs(r);
}
