/* Changes of element type. Values are converted, bits are reinterpreted; nothing is counted, only
 * the bytes move. Cast-1 names its type by a string ("FLOAT"), later versions by number.
 */
#include "ops/op_util_eval.h"

static ir_dtype named_dtype(str name)
{
    static const struct {
        const char *name;
        ir_dtype dtype;
    } names[] = {
        {"FLOAT", IR_FLOAT32},   {"UINT8", IR_UINT8},         {"INT8", IR_INT8},
        {"UINT16", IR_UINT16},   {"INT16", IR_INT16},         {"INT32", IR_INT32},
        {"INT64", IR_INT64},     {"STRING", IR_STRING},       {"BOOL", IR_BOOL},
        {"FLOAT16", IR_FLOAT16}, {"DOUBLE", IR_FLOAT64},      {"UINT32", IR_UINT32},
        {"UINT64", IR_UINT64},   {"COMPLEX64", IR_COMPLEX64}, {"COMPLEX128", IR_COMPLEX128},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (str_is(name, names[k].name))
            return names[k].dtype;
    return IR_UNDEFINED;
}

static ir_dtype target(const op_ctx *c)
{
    int64_t to = op_attr_int(c, "to", IR_UNDEFINED);
    if (ir_dtype_valid(to))
        return (ir_dtype)to;
    return named_dtype(op_attr_str(c, "to", ""));
}

static assay_status cast(op_ctx *c)
{
    return op_set_shape_of(c, 0, target(c), 0);
}

static assay_status cast_like(op_ctx *c)
{
    return op_set_shape_of(c, 0, op_dtype(c, 1), 0);
}

static assay_status bit_cast(op_ctx *c)
{
    unsigned from = ir_dtype_get(op_dtype(c, 0))->bits, to = ir_dtype_get(target(c))->bits;
    if (from && to && from != to)
        return op_fail(c, "cannot reinterpret %u-bit elements (%s) as %u-bit elements (%s)", from,
                       ir_dtype_get(op_dtype(c, 0))->name, to, ir_dtype_get(target(c))->name);
    return cast(c);
}

/* Of the second tensor only the type is looked at. */
static void cast_like_cost(const op_ctx *c, op_cost *k)
{
    if (c->n_in > 1)
        k->read[1] = 0;
}

/* ---- values ---- */

static bool cast_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    (void)how;
    return a->known[0] && ev_convert(a->cell[0], a->dtype[0], c->out[0].dtype, r);
}

static bool to_bits(op_cell x, ir_dtype t, uint64_t *bits)
{
    float single = (float)x.f;
    uint32_t low;
    memcpy(&low, &single, sizeof low);
    memcpy(bits, &x, sizeof *bits);
    if (t == IR_FLOAT32)
        *bits = low;
    return t == IR_FLOAT32 || t == IR_FLOAT64 || ir_is_integer(t);
}

static bool from_bits(uint64_t bits, ir_dtype t, op_cell *r)
{
    uint32_t low = (uint32_t)bits;
    float single;
    memcpy(&single, &low, sizeof single);
    if (t == IR_FLOAT32)
        r->f = (double)single;
    else if (t == IR_FLOAT64)
        memcpy(&r->f, &bits, sizeof bits);
    else
        r->i = ev_wrap(t, (int64_t)bits);
    return t == IR_FLOAT32 || t == IR_FLOAT64 || ir_is_integer(t);
}

static bool bit_cast_cell(const op_ctx *c, const void *how, const ev_args *a, op_cell *r)
{
    uint64_t bits;
    (void)how;
    return a->known[0] && to_bits(a->cell[0], a->dtype[0], &bits) &&
           from_bits(bits, c->out[0].dtype, r);
}

static const op_row rows[] = {
    {OP_ROW("", "Cast", "cast", "1,6,9,13,19,21,23,24,25", "0 (data movement)", cast, NULL),
     OP_SLOTS(1, 1, 1, 1), EV_CELLS(1, cast_cell, NULL), .flags = OPF_PASS | OPF_DATA_MOVE,
     .backward = OP_BW_MOVE, .saves = OP_SAVE_NOTHING},
    {OP_ROW("", "CastLike", "cast", "15,19,21,23,24,25", "0 (data movement)", cast_like,
            cast_like_cost),
     OP_SLOTS(2, 2, 1, 1), EV_CELLS(1, cast_cell, NULL), .aux = 1u << 1,
     .flags = OPF_PASS | OPF_DATA_MOVE, .backward = OP_BW_MOVE, .saves = OP_SAVE_NOTHING},
    {OP_ROW("", "BitCast", "bitcast", "26", "0 (data movement)", bit_cast, NULL),
     OP_SLOTS(1, 1, 1, 1), EV_CELLS(1, bit_cast_cell, NULL), .flags = OPF_PASS | OPF_DATA_MOVE,
     .backward = OP_BW_NONE, .saves = OP_SAVE_NOTHING},
};

const op_rows op_cast_rows = OP_ROWS(rows);
