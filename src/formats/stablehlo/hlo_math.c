/* Operators of StableHLO that compute element by element, where one row is not enough. */
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"

static bool twice(hlo_op *o, const char *first, const char *second, uint32_t n_in)
{
    ir_id x = layer_step(&o->l, first, o->in, n_in, NULL);
    return made(layer_node_of(&o->l, NULL, second, &x, 1, NULL, 1));
}

/* stablehlo.compare LT, %a, %b, FLOAT; or comparison_direction = #stablehlo<comparison_direction LT> */
bool hlo_compare(hlo_op *o)
{
    static const char *const ops[][2] = {{"LT", "Less"},    {"LE", "LessOrEqual"},
                                         {"GT", "Greater"}, {"GE", "GreaterOrEqual"},
                                         {"EQ", "Equal"},   {"NE", ""}};
    str value = hlo_attr(o, "comparison_direction");
    const char *end = o->body.p + o->body.n, *p = hlo_skip(o->body.p, end);
    str word = hlo_word(p, end);
    bool logic = hlo_in(o, 0)->dtype == IR_BOOL;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        bool is = value.p ? str_contains(value, ops[i][0]) : str_is(word, ops[i][0]);
        if (!is)
            continue;
        if (logic && i < 4)
            return false;
        return *ops[i][1] ? made(layer_node_of(&o->l, NULL, ops[i][1], o->in, 2, NULL, 1))
                          : twice(o, "Equal", "Not", 2);
    }
    return false;
}

/* in: low, x, high. Bounds may be scalars. */
bool hlo_clamp(hlo_op *o)
{
    ir_id low[] = {o->in[1], o->in[0]};
    ir_id high[] = {layer_step(&o->l, "Max", low, 2, NULL), o->in[2]};
    return made(layer_node_of(&o->l, NULL, "Min", high, 2, NULL, 1));
}

bool hlo_convert(hlo_op *o)
{
    return layer_cast(&o->l, o->in[0], hlo_out(o, 0)->dtype);
}

bool hlo_rsqrt(hlo_op *o)
{
    return twice(o, "Sqrt", "Reciprocal", 1);
}

bool hlo_expm1(hlo_op *o)
{
    ir_id in[] = {layer_step(&o->l, "Exp", o->in, 1, NULL),
                  layer_number(&o->l, "one", hlo_in(o, 0)->dtype, 1)};
    return made(layer_node_of(&o->l, NULL, "Sub", in, 2, NULL, 1));
}

bool hlo_log1p(hlo_op *o)
{
    ir_id in[] = {o->in[0], layer_number(&o->l, "one", hlo_in(o, 0)->dtype, 1)};
    ir_id sum = layer_step(&o->l, "Add", in, 2, NULL);
    return made(layer_node_of(&o->l, NULL, "Log", &sum, 1, NULL, 1));
}

/* The sign is that of the dividend. */
bool hlo_remainder(hlo_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("fmod", 1), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "Mod", o->in, 2, attrs, 1));
}

bool hlo_is_finite(hlo_op *o)
{
    ir_id in[] = {layer_step(&o->l, "IsInf", o->in, 1, NULL),
                  layer_step(&o->l, "IsNaN", o->in, 1, NULL)};
    ir_id either = layer_step(&o->l, "Or", in, 2, NULL);
    return made(layer_node_of(&o->l, NULL, "Not", &either, 1, NULL, 1));
}

/* Only of unsigned numbers: ONNX has no others. */
bool hlo_shift(hlo_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("direction", o->row->onnx), LAYER_END};
    if (ir_dtype_get(hlo_in(o, 0)->dtype)->cls != IR_CLASS_UINT)
        return false;
    return made(layer_node_of(&o->l, NULL, "BitShift", o->in, 2, attrs, 1));
}

/* Counts along one axis: a range, then broadcast. */
bool hlo_iota(hlo_op *o)
{
    const hlo_type *t = hlo_out(o, 0);
    int64_t axis = hlo_int(o, "dim", "iota_dimension", -1), ones[IR_MAX_RANK];
    const foreign_layer *l = &o->l;
    if (t->rank < 1 || axis < 0 || axis >= t->rank || t->dtype == IR_UNDEFINED)
        return false;
    for (int d = 0; d < t->rank; d++) {
        ones[d] = d == axis ? t->dims[d] : 1;
        if (t->dims[d] < 0)
            return false;
    }
    ir_id range[] = {layer_number(l, "start", IR_INT64, 0),
                     layer_number(l, "limit", IR_INT64, (double)t->dims[axis]),
                     layer_number(l, "delta", IR_INT64, 1)};
    ir_id x = layer_step(l, "Range", range, 3, NULL);
    const ir_attr_spec to[] = {IR_SPEC_INT("to", t->dtype), LAYER_END};
    x = t->dtype == IR_INT64 ? x : layer_step(l, "Cast", &x, 1, to);
    ir_id in[] = {layer_step_reshape(l, x, ones, t->rank),
                  layer_ints(l, "shape", t->dims, t->rank)};
    return made(layer_node_of(l, NULL, "Expand", in, 2, NULL, 1));
}

/* sign(x) * |x| ^ (1 / 3) */
bool hlo_cbrt(hlo_op *o)
{
    ir_id pow[] = {layer_step(&o->l, "Abs", o->in, 1, NULL),
                   layer_number(&o->l, "third", hlo_in(o, 0)->dtype, 1.0 / 3)};
    ir_id in[] = {layer_step(&o->l, "Sign", o->in, 1, NULL),
                  layer_step(&o->l, "Pow", pow, 2, NULL)};
    return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
}

/* Halves away from zero: sign(x) * floor(|x| + 0.5) */
bool hlo_round_away(hlo_op *o)
{
    ir_id sum[] = {layer_step(&o->l, "Abs", o->in, 1, NULL),
                   layer_number(&o->l, "half", hlo_in(o, 0)->dtype, 0.5)};
    ir_id up = layer_step(&o->l, "Add", sum, 2, NULL);
    ir_id in[] = {layer_step(&o->l, "Sign", o->in, 1, NULL),
                  layer_step(&o->l, "Floor", &up, 1, NULL)};
    return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
}

/* einsum_config = "ij,jk->ik" */
bool hlo_einsum(hlo_op *o)
{
    str text = hlo_attr(o, "config");
    text = text.p ? text : hlo_attr(o, "einsum_config");
    if (text.n > 2 && text.p[0] == '"') {
        const char *close = memchr(text.p + 1, '"', text.n - 1);
        text = close ? (str){text.p + 1, (uint32_t)(close - text.p - 1)} : (str){0};
    }
    const char *own = text.n ? str_copy(o->l.f->m->arena, text).p : NULL;
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("equation", own ? own : ""), LAYER_END};
    return own && made(layer_node_of(&o->l, NULL, "Einsum", o->in, o->l.n_in, attrs, 1));
}

/* One size of a shape. */
bool hlo_size(hlo_op *o)
{
    int64_t axis = hlo_int(o, "dim", "dimension", -1), scalar = 0;
    const ir_attr_spec at[] = {IR_SPEC_INT("start", axis), IR_SPEC_INT("end", axis + 1), LAYER_END};
    if (axis < 0)
        return false;
    ir_id size = layer_step(&o->l, "Shape", o->in, 1, at);
    ir_id one = layer_step_reshape(&o->l, size, &scalar, 0);
    return layer_cast(&o->l, one, hlo_out(o, 0)->dtype);
}
