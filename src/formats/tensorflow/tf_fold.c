/* Lists of whole numbers that a graph computes from constants and stated shapes: axes, permutations, sizes, conditions.
 * ONNX has many of them as attributes. Sizes that are not known are TF_UNKNOWN. */
#include <stdlib.h>

#include "base/num.h"
#include "formats/tensorflow/tf_impl.h"

typedef struct fold {
    tf_reader *r;
    tf_ref ref;
    const tf_node *n;
    int depth;
    tf_ints *out;
} fold;

static bool fold_ref(tf_reader *r, tf_ref ref, int depth, tf_ints *out);

static bool fold_input(const fold *f, uint32_t i, tf_ints *out)
{
    return fold_ref(f->r, tf_input(f->ref.s, f->ref.node, i), f->depth + 1, out);
}

static int64_t fold_int_attr(const fold *f, const char *key, int64_t def)
{
    return (int64_t)wire_find_u64(tf_node_attr(f->r, f->n, key), 3, (uint64_t)def);
}

static bool fold_const(const fold *f)
{
    return tf_tensor_ints(f->r, wire_sub(tf_node_attr(f->r, f->n, "value"), 8), f->out);
}

static bool fold_shape(const fold *f)
{
    int64_t dims[IR_MAX_RANK];
    tf_ref in = tf_input(f->ref.s, f->ref.node, f->ref.out);
    f->out->scalar = false;
    if (!in.s || !tf_static_shape(f->r, in, &f->out->n, dims))
        return false;
    for (int i = 0; i < f->out->n; i++)
        f->out->v[i] = dims[i] < 0 ? TF_UNKNOWN : dims[i];
    return true;
}

static bool fold_rank(const fold *f)
{
    int64_t dims[IR_MAX_RANK];
    int rank;
    if (!tf_static_shape(f->r, tf_input(f->ref.s, f->ref.node, 0), &rank, dims))
        return false;
    *f->out = (tf_ints){.n = 1, .scalar = true, .v = {rank}};
    return true;
}

static bool fold_true(const fold *f)
{
    *f->out = (tf_ints){.n = 1, .scalar = true, .v = {1}};
    return true;
}

/* Switches of Keras and TensorFlow 1 for training; without a value they are off. */
static bool fold_placeholder(const fold *f)
{
    bool is_bool = wire_find_u64(tf_node_attr(f->r, f->n, "dtype"), 6, 0) == 10;
    if (!is_bool || f->ref.s->slots[f->ref.node].state == TF_DONE ||
        !(str_contains(f->n->name, "learning_phase") || str_contains_any_case(f->n->name, "train")))
        return false;
    notes_add(&f->r->f.m->notes, "assumed-condition", f->n->name, NULL,
              "The graph asks whether it is trained. False is assumed.");
    *f->out = (tf_ints){.n = 1, .scalar = true};
    return true;
}

/* ---- lists ---- */

static bool append(tf_ints *to, const tf_ints *from)
{
    if (to->n + from->n > TF_LIST)
        return false;
    for (int i = 0; i < from->n; i++)
        to->v[to->n++] = from->v[i];
    return true;
}

/* Pack, and ConcatV2, whose last input is the axis. */
static bool fold_join(const fold *f)
{
    uint32_t n = f->n->n_in - (str_is(f->n->op, "ConcatV2") && f->n->n_in > 0);
    tf_ints part;
    *f->out = (tf_ints){.n = 0};
    for (uint32_t i = 0; i < n; i++)
        if (!fold_input(f, i, &part) || !append(f->out, &part))
            return false;
    return true;
}

static bool fold_expand(const fold *f)
{
    bool ok = fold_input(f, 0, f->out);
    f->out->scalar = false;
    return ok && f->out->n == 1;
}

static bool fold_reshape(const fold *f)
{
    tf_ints shape;
    bool ok = fold_input(f, 0, f->out) && fold_input(f, 1, &shape);
    f->out->scalar = ok && shape.n == 0;
    return ok && shape.n <= 1;
}

static bool fold_squeeze(const fold *f)
{
    bool ok = fold_input(f, 0, f->out);
    f->out->scalar = ok && f->out->n == 1;
    return ok;
}

static bool fold_range(const fold *f)
{
    tf_ints a, b, by;
    if (!fold_input(f, 0, &a) || !fold_input(f, 1, &b) || !fold_input(f, 2, &by) || a.n != 1 ||
        b.n != 1 || by.n != 1 || by.v[0] == 0 || a.v[0] == TF_UNKNOWN || b.v[0] == TF_UNKNOWN ||
        by.v[0] == TF_UNKNOWN)
        return false;
    *f->out = (tf_ints){.n = 0};
    for (int64_t v = a.v[0]; by.v[0] > 0 ? v < b.v[0] : v > b.v[0];) {
        if (f->out->n == TF_LIST)
            return false;
        f->out->v[f->out->n++] = v;
        if (!num_add(v, by.v[0], &v))
            return false;
    }
    return true;
}

static bool fold_gather(const fold *f)
{
    tf_ints x, at;
    if (!fold_input(f, 0, &x) || !fold_input(f, 1, &at) || x.scalar)
        return false;
    *f->out = (tf_ints){.n = at.n, .scalar = at.scalar};
    for (int i = 0; i < at.n; i++) {
        if (at.v[i] < 0 || at.v[i] >= x.n)
            return false;
        f->out->v[i] = x.v[at.v[i]];
    }
    return true;
}

static int64_t clamp_index(int64_t v, int n)
{
    v = v < 0 ? v + n : v;
    return v < 0 ? 0 : v > n ? n : v;
}

static bool fold_strided(const fold *f)
{
    tf_ints x, b, e, s;
    if (!fold_input(f, 0, &x) || !fold_input(f, 1, &b) || !fold_input(f, 2, &e) ||
        !fold_input(f, 3, &s) || b.n != 1 || e.n != 1 || s.n != 1 || s.v[0] != 1 || x.scalar ||
        b.v[0] == TF_UNKNOWN || e.v[0] == TF_UNKNOWN || fold_int_attr(f, "ellipsis_mask", 0) ||
        fold_int_attr(f, "new_axis_mask", 0))
        return false;
    bool one = fold_int_attr(f, "shrink_axis_mask", 0) & 1;
    int64_t from = fold_int_attr(f, "begin_mask", 0) & 1 ? 0 : clamp_index(b.v[0], x.n);
    int64_t to = one                                   ? from + 1
                 : fold_int_attr(f, "end_mask", 0) & 1 ? x.n
                                                       : clamp_index(e.v[0], x.n);
    if (to > x.n)
        return false;
    *f->out = (tf_ints){.n = 0, .scalar = one};
    for (int64_t i = from; i < to; i++)
        f->out->v[f->out->n++] = x.v[i];
    return true;
}

static bool fold_fill(const fold *f)
{
    tf_ints shape, v;
    if (!fold_input(f, 0, &shape) || !fold_input(f, 1, &v) || v.n != 1 || shape.n > 1 ||
        (shape.n == 1 && (shape.v[0] < 0 || shape.v[0] > TF_LIST)))
        return false;
    *f->out = (tf_ints){.n = shape.n ? (int)shape.v[0] : 1, .scalar = shape.n == 0};
    for (int i = 0; i < f->out->n; i++)
        f->out->v[i] = v.v[0];
    return true;
}

/* ---- numbers ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

static bool compute(str op, int64_t a, int64_t b, int64_t *v)
{
    bool div = str_is(op, "FloorDiv") || str_is(op, "RealDiv") || str_is(op, "Div");
    if (str_is(op, "Add") || str_is(op, "AddV2"))
        return num_add(a, b, v);
    if (str_is(op, "Sub"))
        return num_sub(a, b, v);
    if (str_is(op, "Mul"))
        return num_mul(a, b, v);
    if ((div || str_is(op, "FloorMod")) && (b == 0 || (a == INT64_MIN && b == -1)))
        return false;
    if (div || str_is(op, "FloorMod")) {
        int64_t q = floor_div(a, b);
        *v = div ? q : a - q * b;
        return true;
    }
    *v = str_is(op, "Maximum")        ? (a > b ? a : b)
         : str_is(op, "Minimum")      ? (a < b ? a : b)
         : str_is(op, "Less")         ? a < b
         : str_is(op, "LessEqual")    ? a <= b
         : str_is(op, "Greater")      ? a > b
         : str_is(op, "GreaterEqual") ? a >= b
         : str_is(op, "Equal")        ? a == b
         : str_is(op, "NotEqual")     ? a != b
         : str_is(op, "LogicalAnd")   ? a && b
                                      : a || b;
    return true;
}

static bool fold_binary(const fold *f)
{
    tf_ints a, b;
    if (!fold_input(f, 0, &a) || !fold_input(f, 1, &b) || (a.n != b.n && a.n != 1 && b.n != 1))
        return false;
    *f->out = (tf_ints){.n = a.n > b.n ? a.n : b.n, .scalar = a.scalar && b.scalar};
    for (int i = 0; i < f->out->n; i++) {
        int64_t x = a.v[a.n == 1 ? 0 : i], y = b.v[b.n == 1 ? 0 : i];
        if (x == TF_UNKNOWN || y == TF_UNKNOWN)
            f->out->v[i] = TF_UNKNOWN;
        else if (!compute(f->n->op, x, y, &f->out->v[i]))
            return false;
    }
    return true;
}

static bool fold_not(const fold *f)
{
    if (!fold_input(f, 0, f->out))
        return false;
    for (int i = 0; i < f->out->n; i++)
        f->out->v[i] = f->out->v[i] == TF_UNKNOWN ? TF_UNKNOWN : !f->out->v[i];
    return true;
}

/* Prod, Sum, All and Any of a whole list. */
static bool fold_total(const fold *f)
{
    tf_ints x;
    bool prod = str_is(f->n->op, "Prod"), all = str_is(f->n->op, "All");
    int64_t v = prod || all;
    if (!fold_input(f, 0, &x))
        return false;
    for (int i = 0; i < x.n; i++) {
        if (x.v[i] == TF_UNKNOWN)
            return false;
        if (prod  ? !num_mul(v, x.v[i], &v)
            : all ? (v = v && x.v[i], false)
                  : !num_add(v, x.v[i], &v))
            return false;
    }
    *f->out = (tf_ints){.n = 1, .scalar = true, .v = {v}};
    return true;
}

static bool fold_invert(const fold *f)
{
    tf_ints x;
    if (!fold_input(f, 0, &x))
        return false;
    *f->out = (tf_ints){.n = x.n};
    for (int i = 0; i < x.n; i++) {
        if (x.v[i] < 0 || x.v[i] >= x.n)
            return false;
        f->out->v[x.v[i]] = i;
    }
    return true;
}

static bool fold_select(const fold *f)
{
    tf_ints c;
    return fold_input(f, 0, &c) && c.n == 1 && c.v[0] != TF_UNKNOWN &&
           fold_input(f, c.v[0] ? 1 : 2, f->out);
}

static bool fold_same(const fold *f)
{
    return fold_input(f, 0, f->out);
}

static const struct fold_row {
    const char *op;
    bool (*fold)(const fold *f);
} rows[] = {
    {"Add", fold_binary},
    {"AddV2", fold_binary},
    {"All", fold_total},
    {"Cast", fold_same},
    {"ConcatV2", fold_join},
    {"Const", fold_const},
    {"Div", fold_binary},
    {"Equal", fold_binary},
    {"ExpandDims", fold_expand},
    {"Fill", fold_fill},
    {"FloorDiv", fold_binary},
    {"FloorMod", fold_binary},
    {"Gather", fold_gather},
    {"GatherV2", fold_gather},
    {"Greater", fold_binary},
    {"GreaterEqual", fold_binary},
    {"InvertPermutation", fold_invert},
    {"Less", fold_binary},
    {"LessEqual", fold_binary},
    {"LogicalAnd", fold_binary},
    {"LogicalNot", fold_not},
    {"LogicalOr", fold_binary},
    {"Maximum", fold_binary},
    {"Minimum", fold_binary},
    {"Mul", fold_binary},
    {"NotEqual", fold_binary},
    {"Pack", fold_join},
    {"Placeholder", fold_placeholder},
    {"Prod", fold_total},
    {"Range", fold_range},
    {"Rank", fold_rank},
    {"RealDiv", fold_binary},
    {"Reshape", fold_reshape},
    {"Select", fold_select},
    {"SelectV2", fold_select},
    {"Shape", fold_shape},
    {"ShapeN", fold_shape},
    {"Squeeze", fold_squeeze},
    {"StridedSlice", fold_strided},
    {"Sub", fold_binary},
    {"Sum", fold_total},
    {"VarIsInitializedOp", fold_true},
};

static bool fold_ref(tf_reader *r, tf_ref ref, int depth, tf_ints *out)
{
    ref = tf_resolve(r, ref);
    if (!ref.s || depth > TF_MAX_FOLD || r->f.err->code != ASSAY_OK || ++r->n_looks > TF_MAX_LOOKS)
        return false;
    const tf_node *n = &ref.s->g->nodes.items[ref.node];
    const struct fold_row *row = bsearch(&n->op, rows, sizeof rows / sizeof *rows, sizeof *rows,
                                         str_order_row);
    fold f = {.r = r, .ref = ref, .n = n, .depth = depth, .out = out};
    return row && row->fold(&f);
}

bool tf_fold_ref(tf_reader *r, tf_ref ref, int64_t *v)
{
    tf_ints list;
    if (!fold_ref(r, ref, 0, &list) || list.n != 1 || list.v[0] == TF_UNKNOWN)
        return false;
    *v = list.v[0];
    return true;
}

int tf_fold_in(const tf_op *o, uint32_t in, int64_t *list)
{
    tf_ints found;
    if (!fold_ref(o->r, tf_in_ref(o, in), 0, &found))
        return -1;
    for (int i = 0; i < found.n; i++) {
        if (found.v[i] == TF_UNKNOWN)
            return -1;
        list[i] = found.v[i];
    }
    return found.n;
}

bool tf_fold_one(const tf_op *o, uint32_t in, int64_t *v)
{
    return tf_fold_ref(o->r, tf_in_ref(o, in), v);
}
