/* ML programs: types, constants and operations in order. Arguments have names; a constant is an operation of its own. */
#include "formats/coreml/coreml_mil.h"

#include <string.h>

#include "base/num.h"

/* ---- types ---- */

static ir_dtype dtype_of(uint64_t n)
{
    static const struct {
        uint8_t n;
        ir_dtype t;
    } rows[] = {{1, IR_BOOL},     {2, IR_STRING},    {10, IR_FLOAT16}, {11, IR_FLOAT32},
                {12, IR_FLOAT64}, {13, IR_BFLOAT16}, {21, IR_INT8},    {22, IR_INT16},
                {23, IR_INT32},   {24, IR_INT64},    {25, IR_INT4},    {31, IR_UINT8},
                {32, IR_UINT16},  {33, IR_UINT32},   {34, IR_UINT64},  {35, IR_UINT4},
                {36, IR_UINT2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].n == n)
            return rows[i].t;
    return IR_UNDEFINED;
}

/* ValueType: 1 TensorType {1 type, 2 rank, 3 dimensions {1 {1 size}}}. */
static void read_type(ml_reader *r, cursor type, ml_value *v)
{
    cursor tensor = wire_sub(type, 1);
    int64_t dims[IR_MAX_RANK];
    int n = 0;
    wire_field f;
    v->dtype = dtype_of(wire_find_u64(tensor, 1, 0));
    int64_t rank = (int64_t)wire_find_u64(tensor, 2, 0);
    while (wire_next(&tensor, &f)) {
        if (f.number != 3 || f.type != WIRE_LEN || n >= IR_MAX_RANK)
            continue;
        uint64_t size = wire_find_u64(wire_sub(f.body, 1), 1, UINT64_MAX);
        dims[n++] = size > INT32_MAX ? -1 : (int64_t)size;
    }
    v->rank = rank < 0 || v->dtype == IR_UNDEFINED ? -1 : n;
    v->dims = arena_copy(r->f.scratch, dims, ((size_t)n + 1) * sizeof *dims);
}

/* NamedValueType: 1 name, 2 type. */
static ml_value *read_named(ml_reader *r, cursor named)
{
    wire_field f;
    str name = wire_find(named, 1, &f) ? ml_text(r, &f) : (str){0};
    ml_value *v = name.n ? ml_put(r, name, IR_NONE) : NULL;
    if (v)
        read_type(r, wire_sub(named, 2), v);
    return v;
}

static uint64_t elements_of(const ml_value *v)
{
    uint64_t n = 1;
    for (int d = 0; d < v->rank; d++)
        n = sat_mul(n, v->dims[d] < 0 ? 0 : (uint64_t)v->dims[d]);
    return n;
}

/* ---- constants: a Value is 2 type, 3 {1 tensor {1 floats 2 ints 3 bools 4 strings 5 longs 7 bytes}}, 5 blob ---- */

static cursor tensor_of(cursor value, uint32_t kind)
{
    return wire_sub(wire_sub(wire_sub(value, 3), 1), kind);
}

static ir_tensor *new_tensor(ml_reader *r, const ml_value *v)
{
    static const int64_t none[1];
    return v->dtype == IR_UNDEFINED || v->rank < 0
               ? NULL
               : ir_make_tensor_borrowed(r->f.m, STR(""), v->dtype, v->rank,
                                         v->rank ? v->dims : none);
}

/* Where the data of a blob lies: a record of 64 bytes tells. */
static void place_blob(ml_reader *r, uint64_t at, ir_tensor *t)
{
    cursor c = {0};
    assay_error ignored = {0};
    t->storage = IR_DATA_NONE;
    r->guess |= !r->blobs;
    if (!r->blobs)
        return;
    c = cursor_at(r->blobs, at, at < source_size(r->blobs) ? source_size(r->blobs) - at : 0,
                  &ignored);
    uint32_t mark = cursor_u32le(&c);
    cursor_u32le(&c);
    uint64_t size = cursor_u64le(&c), offset = cursor_u64le(&c), all = source_size(r->blobs);
    if (!cursor_ok(&c) || mark != 0xDEADBEEF || offset > all || size > all - offset ||
        size != t->size_bytes)
        return;
    t->storage = IR_DATA_SLICE;
    t->offset = offset;
    t->length = size;
}

/* Small content is copied; ints are varints in the file. */
static void copy_content(ml_reader *r, cursor value, ir_tensor *t)
{
    int64_t list[ML_LIST];
    cursor floats = wire_sub(tensor_of(value, 1), 1), bytes = wire_sub(tensor_of(value, 7), 1);
    cursor raw = cursor_left(&floats) ? floats : bytes;
    uint8_t *to = t->size_bytes <= ML_INLINE ? arena_alloc(r->f.m->arena, (size_t)t->size_bytes + 8)
                                             : NULL;
    t->storage = IR_DATA_NONE;
    if (!to)
        return;
    if (cursor_left(&raw) == t->size_bytes) {
        cursor_copy(&raw, to, t->size_bytes);
    } else {
        uint32_t kind = t->dtype == IR_BOOL ? 3 : t->dtype == IR_INT64 ? 5 : 2;
        int n = ml_list(tensor_of(value, kind), 1, list);
        unsigned size = ir_dtype_get(t->dtype)->bits / 8u;
        bool whole = ir_is_integer(t->dtype) || t->dtype == IR_BOOL;
        if ((uint64_t)n != t->n_elems || !whole || size == 0)
            return;
        for (int i = 0; i < n; i++)
            memcpy(to + (size_t)i * size, &list[i], size);
    }
    t->storage = IR_DATA_INLINE;
    t->bytes = to;
}

static ir_id make_constant(ml_reader *r, ml_value *v, cursor value)
{
    ir_tensor *t = new_tensor(r, v);
    ir_id id = t ? foreign_slice(&r->f, v->name, t, 0, 0) : IR_NONE;
    ir_tensor *own = id == IR_NONE ? NULL
                                   : arena_copy(r->f.m->arena, ir_value_at(r->f.m, id)->constant,
                                                sizeof *own);
    if (!own)
        return IR_NONE;
    cursor blob = wire_sub(value, 5);
    if (cursor_left(&blob))
        place_blob(r, wire_find_u64(blob, 2, 0), own);
    else if (own->dtype == IR_STRING)
        own->storage = IR_DATA_NONE;
    else
        copy_content(r, value, own);
    ir_value_at(r->f.m, id)->constant = own;
    return id;
}

/* ---- arguments ---- */

static cursor no_cursor(const mil_op *o)
{
    return cursor_at(o->r->f.src, 0, 0, o->r->f.err);
}

static bool find_arg(const mil_op *o, const char *key, cursor *out)
{
    for (uint32_t i = 0; i < o->n_args; i++)
        if (str_is(o->args[i].key, key)) {
            *out = o->args[i].body;
            return true;
        }
    return false;
}

/* The Value that an argument is bound to: its own, or that of a constant. */
static cursor constant_of(const mil_op *o, const char *key)
{
    cursor arg;
    wire_field f;
    if (!find_arg(o, key, &arg))
        return no_cursor(o);
    cursor binding = wire_sub(arg, 1);
    if (wire_find(binding, 1, &f)) {
        str name = cursor_str(&f.body, cursor_left(&f.body), o->r->f.scratch, FOREIGN_MAX_NAME);
        const ml_value *v = ml_get(o->r, name);
        return v && v->constant.src ? v->constant : no_cursor(o);
    }
    return wire_sub(binding, 2);
}

const ml_value *mil_type(const mil_op *o, const char *key)
{
    cursor arg;
    wire_field f;
    if (!find_arg(o, key, &arg) || !wire_find(wire_sub(arg, 1), 1, &f))
        return NULL;
    return ml_get(o->r,
                  cursor_str(&f.body, cursor_left(&f.body), o->r->f.scratch, FOREIGN_MAX_NAME));
}

static ir_id bound_value(mil_op *o, cursor binding)
{
    wire_field f;
    if (wire_find(binding, 1, &f)) {
        ml_value *v = ml_get(
            o->r, cursor_str(&f.body, cursor_left(&f.body), o->r->f.scratch, FOREIGN_MAX_NAME));
        if (v && v->id == IR_NONE && v->constant.src)
            v->id = make_constant(o->r, v, v->constant);
        return v ? v->id : IR_NONE;
    }
    cursor value = wire_sub(binding, 2);
    if (!cursor_left(&value))
        return IR_NONE;
    ml_value own = {.name = o->l.name, .rank = -1};
    read_type(o->r, wire_sub(value, 2), &own);
    return make_constant(o->r, &own, value);
}

uint32_t mil_in_list(mil_op *o, const char *key, ir_id *list, uint32_t max)
{
    cursor arg;
    wire_field f;
    uint32_t n = 0;
    if (!find_arg(o, key, &arg))
        return 0;
    while (wire_next(&arg, &f))
        if (f.number == 1 && f.type == WIRE_LEN && n < max)
            list[n++] = bound_value(o, f.body);
    return n;
}

ir_id mil_in(mil_op *o, const char *key)
{
    ir_id id = IR_NONE;
    mil_in_list(o, key, &id, 1);
    return id;
}

int mil_ints(const mil_op *o, const char *key, int64_t *list)
{
    cursor value = constant_of(o, key);
    static const uint32_t kinds[] = {2, 5, 3};
    if (!cursor_left(&value))
        return -1;
    for (size_t i = 0; i < 3; i++) {
        cursor t = tensor_of(value, kinds[i]);
        if (cursor_left(&t)) {
            int n = ml_list(t, 1, list);
            for (int k = 0; k < n; k++)
                list[k] = kinds[i] == 2 ? (int32_t)(uint32_t)(uint64_t)list[k] : list[k];
            return n;
        }
    }
    return wire_has(wire_sub(wire_sub(value, 3), 1), 2) ? 0 : -1;
}

int64_t mil_int(const mil_op *o, const char *key, int64_t def)
{
    int64_t list[ML_LIST];
    return mil_ints(o, key, list) == 1 ? list[0] : def;
}

double mil_float(const mil_op *o, const char *key, double def)
{
    cursor value = constant_of(o, key);
    cursor floats = wire_sub(tensor_of(value, 1), 1), bytes = wire_sub(tensor_of(value, 7), 1);
    if (cursor_left(&floats) == 4)
        return (double)wire_f32(cursor_u32le(&floats));
    if (cursor_left(&bytes) == 2) {
        uint8_t b[2];
        cursor_copy(&bytes, b, 2);
        return ir_load_float(IR_FLOAT16, b);
    }
    return (double)mil_int(o, key, 0) == 0 ? def : (double)mil_int(o, key, 0);
}

bool mil_is(const mil_op *o, const char *key, const char *text)
{
    wire_field f;
    cursor strings = tensor_of(constant_of(o, key), 4);
    if (!wire_find(strings, 1, &f) || f.type != WIRE_LEN)
        return false;
    return str_is(cursor_str(&f.body, cursor_left(&f.body), o->r->f.scratch, FOREIGN_MAX_NAME),
                  text);
}

/* ---- operations: 1 type, 2 inputs, 3 outputs, 4 blocks, 5 attributes ---- */

/* A map entry: 1 key, 2 value. */
static str entry_key(ml_reader *r, cursor entry)
{
    wire_field f;
    return wire_find(entry, 1, &f) ? ml_text(r, &f) : (str){0};
}

static void read_const(ml_reader *r, cursor op, ml_value *v)
{
    wire_field f;
    while (wire_next(&op, &f))
        if ((f.number == 5 || f.number == 2) && f.type == WIRE_LEN &&
            str_is(entry_key(r, f.body), "val")) {
            v->constant = wire_sub(f.body, 2);
            if (f.number == 2) /* an argument, whose binding has the value */
                v->constant = wire_sub(wire_sub(v->constant, 1), 2);
        }
    foreign_count(&r->f, elements_of(v), ir_dtype_bytes(v->dtype, elements_of(v)));
}

static assay_status define_outputs(ml_reader *r, mil_op *o, cursor op, ir_id *out, ml_value *types)
{
    wire_field f;
    while (wire_next(&op, &f)) {
        if (f.number != 3 || f.type != WIRE_LEN)
            continue;
        if (o->l.n_out >= ML_MAX_NAMES)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "an operation has too many outputs");
        ml_value *v = read_named(r, f.body);
        if (!v)
            return r->f.err->code != ASSAY_OK ? r->f.err->code : err_no_memory(r->f.err);
        v->id = foreign_value(&r->f, v->name, v->dtype, v->rank, v->dims);
        types[o->l.n_out] = *v;
        out[o->l.n_out++] = v->id;
    }
    return ASSAY_OK;
}

static void read_args(ml_reader *r, mil_op *o, cursor op)
{
    wire_field f;
    while (wire_next(&op, &f))
        if (f.number == 2 && f.type == WIRE_LEN && o->n_args < MIL_ARGS) {
            o->args[o->n_args].key = entry_key(r, f.body);
            o->args[o->n_args++].body = wire_sub(f.body, 2);
        }
}

/* Weights that are packed in attributes or arguments: a constant of the output's type without content. */
static bool add_compressed(mil_op *o)
{
    ml_value v = o->out[0];
    ir_tensor *t = new_tensor(o->r, &v);
    if (!t)
        return false;
    str name = str_printf(o->r->f.m->arena, STR_FMT "/packed", STR_ARG(o->l.name));
    ir_id in = foreign_slice(&o->r->f, name, t, 0, 0);
    ir_tensor *own = in == IR_NONE ? NULL
                                   : arena_copy(o->r->f.m->arena,
                                                ir_value_at(o->r->f.m, in)->constant, sizeof *own);
    if (!own)
        return false;
    own->storage = IR_DATA_NONE;
    ir_value_at(o->r->f.m, in)->constant = own;
    foreign_count(&o->r->f, own->n_elems, 0);
    return layer_node_of(&o->l, NULL, "Identity", &in, 1, NULL, 1) != IR_NONE;
}

static void add_unknown(mil_op *o)
{
    ir_id in[MIL_ARGS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n_args && n < MIL_ARGS; i++)
        n += mil_in_list(o, o->args[i].key.p ? o->args[i].key.p : "", in + n, 1);
    o->l.in = in;
    o->l.n_in = n;
    layer_unknown(&o->l, o->type.p);
}

static assay_status read_operation(ml_reader *r, cursor op)
{
    mil_op *o = ARENA_NEW(r->f.scratch, mil_op);
    ir_id *out = ARENA_ARRAY(r->f.scratch, ir_id, ML_MAX_NAMES);
    ml_value *types = ARENA_ARRAY(r->f.scratch, ml_value, ML_MAX_NAMES);
    wire_field f;
    TRY_MEMORY(o && out && types, r->f.err);
    o->r = r;
    o->type = wire_find(op, 1, &f) ? ml_text(r, &f) : (str){0};
    if (o->type.n == 0)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "an operation has no type");
    if (str_is(o->type, "const")) {
        ml_value *v = read_named(r, wire_sub(op, 3));
        if (v)
            read_const(r, op, v);
        return v ? ASSAY_OK : err_fail(r->f.err, ASSAY_ERR_MALFORMED, "a constant has no name");
    }
    o->l = (foreign_layer){.f = &r->f, .out = out};
    o->out = types;
    TRY(define_outputs(r, o, op, out, types));
    o->l.name = o->l.n_out ? types[0].name : o->type;
    read_args(r, o, op);
    const mil_row *row = mil_row_of(o->type);
    o->op = row ? row->op : NULL;
    bool packed = str_starts(o->type, "constexpr_") && o->l.n_out == 1;
    bool done = packed ? add_compressed(o) : row && o->l.n_out && row->map(o);
    if (!done && r->f.err->code == ASSAY_OK)
        add_unknown(o);
    return r->f.err->code;
}

/* ---- the program ---- */

static cursor find_entry(ml_reader *r, cursor message, uint32_t field, str key)
{
    wire_field f;
    cursor first = message;
    first.pos = first.end;
    while (wire_next(&message, &f)) {
        if (f.number != field || f.type != WIRE_LEN)
            continue;
        if (!cursor_left(&first) || str_eq(entry_key(r, f.body), key))
            first = wire_sub(f.body, 2);
    }
    return first;
}

static assay_status read_inputs(ml_reader *r, cursor function)
{
    wire_field f;
    while (wire_next(&function, &f)) {
        if (f.number != 1 || f.type != WIRE_LEN)
            continue;
        ml_value *v = read_named(r, f.body);
        if (!v)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "an input has no name");
        v->id = foreign_value(&r->f, v->name, v->dtype, v->rank, v->dims);
        if (v->id == IR_NONE || !ir_add_input(r->f.m, 0, v->id))
            return err_no_memory(r->f.err);
    }
    return ASSAY_OK;
}

static assay_status read_block(ml_reader *r, cursor block)
{
    wire_field f;
    cursor again = block;
    uint32_t n = 0;
    while (wire_next(&block, &f))
        if (f.number == 3 && f.type == WIRE_LEN) {
            if (++n > FOREIGN_MAX_NODES)
                return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "too many operations");
            TRY(read_operation(r, f.body));
            if (arena_failed(r->f.m->arena) || arena_failed(r->f.scratch))
                return err_no_memory(r->f.err);
        }
    TRY(wire_status(&block));
    while (wire_next(&again, &f)) {
        if (f.number != 2 || f.type != WIRE_LEN)
            continue;
        const ml_value *v = ml_get(r, ml_text(r, &f));
        if (!v || v->id == IR_NONE)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                            "an output of the program has no source");
        TRY_MEMORY(foreign_output(&r->f, v->id), r->f.err);
    }
    return ASSAY_OK;
}

assay_status ml_read_program(ml_reader *r, cursor program, cursor description)
{
    wire_field f;
    (void)description;
    r->program = true;
    cursor function = find_entry(r, program, 2, STR("main"));
    str opset = wire_find(function, 2, &f) ? ml_text(r, &f) : (str){0};
    cursor block = find_entry(r, function, 3, opset);
    if (!cursor_left(&block))
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "the program has no operations");
    TRY(read_inputs(r, function));
    return read_block(r, block);
}
