/* Operators of TensorFlow that reduce, compare and compute element by element, where one row is not enough. */
#include "formats/tensorflow/tf_impl.h"

static bool binary_of(const tf_op *o, const char *op, ir_id a, ir_id b)
{
    ir_id in[] = {a, b};
    return made(layer_node_of(&o->l, NULL, op, in, 2, NULL, 1));
}

/* Two steps: `second` of `first` of the inputs. */
static bool twice(tf_op *o, const char *first, const char *second, uint32_t n_in)
{
    ir_id x = layer_step(&o->l, first, o->in, n_in, NULL);
    return made(layer_node_of(&o->l, NULL, second, &x, 1, NULL, 1));
}

/* ---- reductions ---- */

bool tf_reduce(tf_op *o)
{
    int64_t axes[TF_LIST];
    int n = tf_fold_in(o, 1, axes);
    bool keep = tf_bool(o, "keep_dims", false);
    ir_id x = o->in[0];
    const ir_attr_spec number[] = {IR_SPEC_INT("to", IR_INT32), LAYER_END};
    bool logic = str_is(o->n->op, "All") || str_is(o->n->op, "Any");
    if (n < 0)
        return false;
    if (!logic)
        return layer_reduce(&o->l, o->row->onnx, x, axes, n, keep);
    foreign_layer inner = o->l;
    ir_id result = foreign_inner(o->l.f, o->l.name, o->row->onnx);
    inner.out = &result;
    inner.n_out = 1;
    x = layer_step(&o->l, "Cast", &x, 1, number);
    return layer_reduce(&inner, o->row->onnx, x, axes, n, keep) &&
           layer_cast(&o->l, result, IR_BOOL);
}

/* ONNX has int64 indices. */
bool tf_arg(tf_op *o)
{
    int64_t axis = 0;
    ir_dtype t = tf_dtype(o, "output_type");
    if (o->l.n_in > 1 && !tf_fold_one(o, 1, &axis))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("keepdims", 0), LAYER_END};
    if (t == IR_INT64 || t == IR_UNDEFINED)
        return made(layer_node_of(&o->l, NULL, o->row->onnx, o->in, 1, attrs, 1));
    return layer_cast(&o->l, layer_step(&o->l, o->row->onnx, o->in, 1, attrs), t);
}

bool tf_cumsum(tf_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("exclusive", tf_bool(o, "exclusive", false)),
                                  IR_SPEC_INT("reverse", tf_bool(o, "reverse", false)), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "CumSum", o->in, 2, attrs, 1));
}

/* ---- element by element ---- */

bool tf_cast(tf_op *o)
{
    return layer_cast(&o->l, o->in[0], tf_dtype(o, "DstT"));
}

bool tf_squared_difference(tf_op *o)
{
    ir_id d = layer_step(&o->l, "Sub", o->in, 2, NULL);
    return binary_of(o, "Mul", d, d);
}

bool tf_rsqrt(tf_op *o)
{
    return twice(o, "Sqrt", "Reciprocal", 1);
}

bool tf_square(tf_op *o)
{
    return binary_of(o, "Mul", o->in[0], o->in[0]);
}

bool tf_floor_div(tf_op *o)
{
    return layer_floor_div(&o->l, o->in[0], o->in[1], tf_dtype(o, "T"));
}

bool tf_truncate_div(tf_op *o)
{
    return !ir_is_float(tf_dtype(o, "T")) && binary_of(o, "Div", o->in[0], o->in[1]);
}

bool tf_floor_mod(tf_op *o)
{
    if (!ir_is_float(tf_dtype(o, "T")))
        return binary_of(o, "Mod", o->in[0], o->in[1]);
    ir_id q = layer_step(&o->l, "Div", o->in, 2, NULL);
    q = layer_step(&o->l, "Floor", &q, 1, NULL);
    ir_id whole[] = {q, o->in[1]};
    return binary_of(o, "Sub", o->in[0], layer_step(&o->l, "Mul", whole, 2, NULL));
}

/* x / y, and 0 where y is 0. */
bool tf_div_no_nan(tf_op *o)
{
    ir_id zero = layer_number(&o->l, "zero", tf_dtype(o, "T"), 0), test[] = {o->in[1], zero};
    ir_id in[] = {layer_step(&o->l, "Equal", test, 2, NULL), zero,
                  layer_step(&o->l, "Div", o->in, 2, NULL)};
    return made(layer_node_of(&o->l, NULL, "Where", in, 3, NULL, 1));
}

bool tf_not_equal(tf_op *o)
{
    return twice(o, "Equal", "Not", 2);
}

bool tf_log1p(tf_op *o)
{
    ir_id in[] = {o->in[0], layer_number(&o->l, "one", tf_dtype(o, "T"), 1)};
    ir_id sum = layer_step(&o->l, "Add", in, 2, NULL);
    return made(layer_node_of(&o->l, NULL, "Log", &sum, 1, NULL, 1));
}

bool tf_expm1(tf_op *o)
{
    ir_id e = layer_step(&o->l, "Exp", o->in, 1, NULL);
    return binary_of(o, "Sub", e, layer_number(&o->l, "one", tf_dtype(o, "T"), 1));
}

bool tf_add_n(tf_op *o)
{
    return made(layer_node_of(&o->l, NULL, "Sum", o->in, o->l.n_in, NULL, 1));
}

/* A condition of rank 1 is one for each row of the others. */
bool tf_select(tf_op *o)
{
    int rank = tf_rank(o, 1);
    ir_id in[] = {o->in[0], o->in[1], o->in[2]};
    if (str_is(o->n->op, "Select") && tf_rank(o, 0) == 1 && rank > 1) {
        int64_t axes[IR_MAX_RANK];
        for (int d = 1; d < rank; d++)
            axes[d - 1] = d;
        ir_id list[] = {in[0], layer_ints(&o->l, "axes", axes, rank - 1)};
        in[0] = layer_step(&o->l, "Unsqueeze", list, 2, NULL);
    }
    return made(layer_node_of(&o->l, NULL, "Where", in, 3, NULL, 1));
}

bool tf_true(tf_op *o)
{
    return tf_stand(o, 0, layer_number(&o->l, "true", IR_BOOL, 1));
}

/* ---- values that others hold ---- */

/* The content of a variable is a constant of the main graph. */
bool tf_read_variable(tf_op *o)
{
    return tf_stand(o, 0, tf_variable_of(o->r, tf_in_ref(o, 0)));
}

/* A placeholder that is no input of the signature: an input nevertheless, because nobody gives it a value. */
bool tf_placeholder(tf_op *o)
{
    int rank;
    int64_t dims[IR_MAX_RANK];
    foreign *f = &o->r->f;
    ir_id outer = f->graph;
    bool known = tf_static_shape(o->r, (tf_ref){o->s, o->at, 0}, &rank, dims);
    f->graph = 0;
    ir_id id = foreign_value(f, o->l.name, tf_dtype(o, "dtype"), known ? rank : -1, dims);
    f->graph = outer;
    return id != IR_NONE && ir_add_input(f->m, 0, id) && tf_stand(o, 0, id);
}
