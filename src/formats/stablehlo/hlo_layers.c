/* Products, convolutions and reductions of StableHLO.
 *
 * dot_general: batch axes, contracted axes, and the free ones of both sides, in this order in the result. It is a MatMul where
 * the axes are in that order, else an Einsum.
 * convolution: any order of axes, "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]". Channels last and first have rows; other orders
 * are transposed before and after. */
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"

/* ---- products ---- */

bool hlo_dot(hlo_op *o)
{
    return made(layer_node_of(&o->l, NULL, "MatMul", o->in, 2, NULL, 1));
}

typedef struct dot_axes {
    int n_batch, n_sum;
    int64_t batch[2][HLO_LIST], sum[2][HLO_LIST];
} dot_axes;

/* "key = [1] x [0]" of the pretty form; false: absent or unequal. */
static bool read_pair(const hlo_op *o, const char *key, int64_t *a, int64_t *b, int *n)
{
    str value = hlo_attr(o, key);
    *n = 0;
    if (!value.p)
        return true;
    const char *end = value.p + value.n, *open = memchr(value.p, '[', value.n);
    const char *close = open ? hlo_close(open, end) : NULL;
    if (!close)
        return false;
    *n = hlo_ints_of((str){open, (uint32_t)(close - open)}, a);
    open = memchr(close, '[', (size_t)(end - close));
    close = open ? hlo_close(open, end) : NULL;
    return close && hlo_ints_of((str){open, (uint32_t)(close - open)}, b) == *n && *n >= 0;
}

static bool read_axes(const hlo_op *o, dot_axes *d)
{
    int n = hlo_ints(o, "lhs_contracting_dimensions", "lhs_contracting_dimensions", d->sum[0]);
    if (!hlo_attr(o, "dot_dimension_numbers").p)
        return read_pair(o, "contracting_dims", d->sum[0], d->sum[1], &d->n_sum) &&
               read_pair(o, "batching_dims", d->batch[0], d->batch[1], &d->n_batch);
    int m = hlo_ints(o, "lhs_batching_dimensions", "lhs_batching_dimensions", d->batch[0]);
    d->n_sum = n < 0 ? 0 : n;
    d->n_batch = m < 0 ? 0 : m;
    n = hlo_ints(o, "rhs_contracting_dimensions", "rhs_contracting_dimensions", d->sum[1]);
    m = hlo_ints(o, "rhs_batching_dimensions", "rhs_batching_dimensions", d->batch[1]);
    return d->n_sum == (n < 0 ? 0 : n) && d->n_batch == (m < 0 ? 0 : m);
}

/* Batch axes first on both sides, then one free and one contracted axis. */
static bool is_matmul(const hlo_op *o, const dot_axes *d)
{
    const hlo_type *a = hlo_in(o, 0), *b = hlo_in(o, 1);
    for (int i = 0; i < d->n_batch; i++)
        if (d->batch[0][i] != i || d->batch[1][i] != i)
            return false;
    return d->n_sum == 1 && a->rank == d->n_batch + 2 && b->rank == d->n_batch + 2 &&
           d->sum[0][0] == a->rank - 1 && d->sum[1][0] == b->rank - 2;
}

/* One letter per axis. False: an axis that is not there. */
static bool equation(const hlo_op *o, const dot_axes *d, char *text)
{
    char names[2][IR_MAX_RANK] = {{0}}, next = 'a', out[3 * IR_MAX_RANK] = {0};
    int n_out = 0, ranks[2] = {hlo_in(o, 0)->rank, hlo_in(o, 1)->rank};
    for (int k = 0; k < d->n_batch + d->n_sum; k++) {
        bool batch = k < d->n_batch;
        for (int side = 0; side < 2; side++) {
            int64_t at = batch ? d->batch[side][k] : d->sum[side][k - d->n_batch];
            if (at < 0 || at >= ranks[side] || names[side][at])
                return false;
            names[side][at] = next;
        }
        if (batch)
            out[n_out++] = next;
        next++;
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < ranks[side]; i++)
            if (!names[side][i]) {
                names[side][i] = next;
                out[n_out++] = next++;
            }
    if (next > 'z' + 1)
        return false;
    char *p = text;
    for (int side = 0; side < 2; side++) {
        memcpy(p, names[side], (size_t)ranks[side]);
        p += ranks[side];
        *p++ = side ? '-' : ',';
    }
    *p++ = '>';
    memcpy(p, out, (size_t)n_out);
    p[n_out] = 0;
    return true;
}

bool hlo_dot_general(hlo_op *o)
{
    dot_axes d = {.n_sum = 0};
    char text[8 * IR_MAX_RANK];
    if (hlo_in(o, 0)->rank < 0 || hlo_in(o, 1)->rank < 0 || hlo_in(o, 0)->rank > 12 ||
        hlo_in(o, 1)->rank > 12 || !read_axes(o, &d))
        return false;
    if (is_matmul(o, &d))
        return made(layer_node_of(&o->l, NULL, "MatMul", o->in, 2, NULL, 1));
    if (!equation(o, &d, text))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("equation", text), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "Einsum", o->in, 2, attrs, 1));
}

/* ---- convolutions ---- */

typedef struct conv_order {
    int n; /* spatial axes */
    int64_t perm
        [3]
        [IR_MAX_RANK]; /* batch, features, 0, 1 of data; outputs, inputs, 0, 1 of kernels; data of the result */
    char text[3][IR_MAX_RANK + 1]; /* as written: "b01f" */
} conv_order;

/* "[b, 0, 1, f]": where each of b (or o), f (or i), 0, 1 ... is. */
static bool read_order(const char **p, const char *end, int side, conv_order *c)
{
    const char *open = memchr(*p, '[', (size_t)(end - *p));
    const char *close = open ? hlo_close(open, end) : NULL;
    int rank = 0, seen = 0;
    if (!close)
        return false;
    for (const char *q = open + 1; q < close - 1; q++) {
        bool first = *q == 'b' || *q == 'o', second = *q == 'f' || *q == 'i';
        int at = first ? 0 : second ? 1 : *q >= '0' && *q <= '9' ? *q - '0' + 2 : -1;
        if (at < 0)
            continue;
        if (rank == 5 || at > 4 || (seen >> at & 1))
            return false;
        seen |= 1 << at;
        c->text[side][rank] = *q;
        c->perm[side][at] = rank++;
    }
    *p = close;
    if (rank < 3 || seen != (1 << rank) - 1 || (side && rank != c->n + 2))
        return false;
    c->n = rank - 2;
    return true;
}

/* Axes by name: "input_batch_dimension = 0, input_spatial_dimensions = [1, 2]". */
static bool read_raw(const hlo_op *o, conv_order *c)
{
    static const char *const keys[3][3] = {
        {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
        {"kernel_output_feature_dimension", "kernel_input_feature_dimension",
         "kernel_spatial_dimensions"},
        {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}};
    for (int side = 0; side < 3; side++) {
        int64_t at[HLO_LIST];
        int n = hlo_ints(o, keys[side][2], keys[side][2], at + 2);
        if (n < 1 || n > 3 || (side && n != c->n))
            return false;
        c->n = n;
        at[0] = hlo_int(o, keys[side][0], keys[side][0], 0);
        at[1] = hlo_int(o, keys[side][1], keys[side][1], 0);
        for (int i = 0; i < n + 2; i++) {
            if (at[i] < 0 || at[i] >= n + 2 || c->text[side][at[i]])
                return false;
            c->text[side][at[i]] = (char)(i == 0   ? (side == 1 ? 'o' : 'b')
                                          : i == 1 ? (side == 1 ? 'i' : 'f')
                                                   : '0' + i - 2);
            c->perm[side][i] = at[i];
        }
    }
    return true;
}

static bool read_orders(const hlo_op *o, conv_order *c)
{
    str value = hlo_attr(o, "dim_numbers");
    value = value.p ? value : hlo_attr(o, "dimension_numbers");
    if (!value.p || str_contains(value, "input_spatial"))
        return value.p && read_raw(o, c);
    const char *p = value.p, *end = p + value.n;
    return read_order(&p, end, 0, c) && read_order(&p, end, 1, c) && read_order(&p, end, 2, c);
}

/* Lists that default to ones; false: of another length. */
static bool spatial_list(const hlo_op *o, const char *key, const char *generic, int n,
                         int64_t *list)
{
    int found = hlo_ints(o, key, generic, list);
    for (int d = 0; found < 0 && d < n; d++)
        list[d] = 1;
    return found < 0 || found == n;
}

/* inner: how far elements of the data are apart. */
static bool read_window(const hlo_op *o, int n, layer_window *w, int64_t *inner)
{
    int64_t pairs[HLO_LIST];
    *w = (layer_window){.n = n, .has_strides = true, .has_dilations = true};
    if (!spatial_list(o, "stride", "window_strides", n, w->strides) ||
        !spatial_list(o, "rhs_dilate", "rhs_dilation", n, w->dilations) ||
        !spatial_list(o, "lhs_dilate", "lhs_dilation", n, inner))
        return false;
    int found = hlo_ints(o, "pad", "padding", pairs);
    for (int d = 0; d < n && found == 2 * n; d++) {
        w->pads[d] = pairs[2 * d];
        w->pads[n + d] = pairs[2 * d + 1];
        if (w->pads[d] < 0 || w->pads[n + d] < 0)
            return false;
    }
    return found < 0 || found == 2 * n;
}

static bool is_order(const conv_order *c, const char *data, const char *kernel)
{
    return strcmp(c->text[0], data) == 0 && strcmp(c->text[1], kernel) == 0 &&
           strcmp(c->text[2], data) == 0;
}

static bool is_channels_last(const conv_order *c)
{
    return is_order(c, "b01f", "01io") || is_order(c, "b0f", "0io") ||
           is_order(c, "b012f", "012io");
}

/* From batch, features, spatial back to the order of the result. */
static bool put_back(const hlo_op *o, const conv_order *c, ir_id x)
{
    int64_t perm[IR_MAX_RANK];
    for (int i = 0; i < c->n + 2; i++)
        perm[c->perm[2][i]] = i;
    return layer_transpose(&o->l, x, perm, c->n + 2);
}

/* All axes of the window are reversed, or none is; false: some are. */
static bool read_reversal(const hlo_op *o, bool *all)
{
    str text = hlo_attr(o, "window_reversal");
    text = text.p ? text : hlo_attr(o, "reverse");
    bool is = text.p &&
              (str_contains(text, "true") || str_contains(text, "1,") || str_contains(text, ", 1"));
    bool not = !text.p || str_contains(text, "false") || str_contains(text, "0,") ||
               str_contains(text, ", 0");
    *all = is;
    return !(is && not ) || !text.p;
}

bool hlo_convolution(hlo_op *o)
{
    conv_order c = {.n = 0};
    layer_window w;
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 2] = {{0}};
    int64_t groups = hlo_int(o, "feature_group_count", "feature_group_count", 1), inner[HLO_LIST];
    bool reversed, spread = false;
    if (hlo_int(o, "batch_group_count", "batch_group_count", 1) != 1 || !read_orders(o, &c) ||
        hlo_in(o, 0)->rank != c.n + 2 || !read_window(o, c.n, &w, inner) ||
        !read_reversal(o, &reversed))
        return false;
    for (int d = 0; d < c.n; d++)
        spread |= inner[d] != 1;
    if (spread && groups == 1 && hlo_in(o, 1)->rank == c.n + 2) {
        const hlo_transposition t = {c.n,       c.perm[0],   c.perm[1], inner,
                                     w.strides, w.dilations, w.pads,    reversed};
        ir_id y = hlo_transposed(o, &t);
        return y != IR_NONE && put_back(o, &c, y);
    }
    if (spread || reversed)
        return false;
    int k = layer_window_attrs(&w, attrs);
    ir_id in[] = {o->in[0], o->in[1]};
    if (is_channels_last(&c)) {
        attrs[k] = IR_SPEC_TEXT("kernel_layout", c.n == 1 ? "WIO" : c.n == 2 ? "HWIO" : "DHWIO");
        return made(layer_node_of(&o->l, FOREIGN_NHWC, "Conv", in, 2, attrs, 1));
    }
    attrs[k] = IR_SPEC_INT("group", groups);
    bool first = is_order(&c, "bf01", "oi01") || is_order(&c, "bf0", "oi0") ||
                 is_order(&c, "bf012", "oi012");
    if (first)
        return made(layer_node_of(&o->l, NULL, "Conv", in, 2, attrs, 1));
    in[0] = layer_step_transpose(&o->l, in[0], c.perm[0], c.n + 2);
    in[1] = layer_step_transpose(&o->l, in[1], c.perm[1], c.n + 2);
    return put_back(o, &c, layer_step(&o->l, "Conv", in, 2, attrs));
}

/* ---- reductions ---- */

/* The next operator of a region that is no constant; *truth has the name of a constant "true". False: there is none. */
static bool next_step(hlo_op *o, const char **p, const char *end, hlo_op *step, str *truth)
{
    bool found = false;
    do {
        *step = (hlo_op){.r = NULL};
        if (hlo_read_op(o->r, p, end, step, &found) != ASSAY_OK || !found)
            return false;
        if (str_ends(step->name, ".constant") && step->results.n == 1 &&
            str_contains(step->body, "dense<true>"))
            *truth = step->results.items[0];
    } while (str_ends(step->name, ".constant"));
    return true;
}

/* What a reduction combines with: the operator of its region, or "applies stablehlo.add". Some writers select true or false
 * by the result, which changes nothing. */
static str combiner(hlo_op *o)
{
    const char *end = o->body.p + o->body.n;
    for (const char *p = o->body.p; p + 7 < end; p++)
        if (memcmp(p, "applies", 7) == 0)
            return hlo_short(hlo_word(hlo_skip(p + 7, end), end));
    hlo_op *inner = ARENA_NEW(o->l.f->scratch, hlo_op);
    str region = o->n_regions ? o->regions[0] : STR(""), names[8], truth = {0}, last;
    hlo_region_args(&region, names, 8);
    const char *p = region.p;
    end = region.p + region.n;
    if (!inner || !next_step(o, &p, end, inner, &truth) || inner->results.n != 1)
        return (str){0};
    str name = hlo_short(inner->name);
    last = inner->results.items[0];
    if (!next_step(o, &p, end, inner, &truth))
        return (str){0};
    if (str_is(hlo_short(inner->name), "select") && inner->operands.n == 3 && truth.n &&
        str_eq(inner->operands.items[0], last) && str_eq(inner->operands.items[1], truth) &&
        hlo_in(o, 0)->dtype == IR_BOOL && !next_step(o, &p, end, inner, &truth))
        return (str){0};
    return str_ends(inner->name, "return") ? name : (str){0};
}

typedef enum { START_ZERO, START_LOWEST, START_HIGHEST, START_ONE } start_kind;

static const struct combiner_row {
    const char *name, *reduce, *pair; /* pair: how the value that it starts with is joined */
    start_kind start;                 /* the value that changes nothing */
    const char *logic;                /* the pair of booleans */
} combiners[] = {{"add", "ReduceSum", "Add", START_ZERO, "Or"},
                 {"maximum", "ReduceMax", "Max", START_LOWEST, "Or"},
                 {"minimum", "ReduceMin", "Min", START_HIGHEST, "And"},
                 {"multiply", "ReduceProd", "Mul", START_ONE, "And"},
                 {"or", "ReduceMax", NULL, START_ZERO, "Or"},
                 {"and", "ReduceMin", NULL, START_ONE, "And"}};

/* Bits of 1 and of infinity. */
static const struct float_bits {
    ir_dtype t;
    uint64_t one, infinity;
} float_bits[] = {{IR_FLOAT32, 0x3f800000, 0x7f800000},
                  {IR_FLOAT64, 0x3ff0000000000000, 0x7ff0000000000000},
                  {IR_FLOAT16, 0x3c00, 0x7c00},
                  {IR_BFLOAT16, 0x3f80, 0x7f80}};

static bool starts_float(ir_dtype t, uint64_t bits, uint64_t sign, start_kind start)
{
    for (size_t i = 0; i < sizeof float_bits / sizeof *float_bits; i++) {
        if (float_bits[i].t != t)
            continue;
        uint64_t inf = float_bits[i].infinity;
        switch (start) {
        case START_ZERO:
            return (bits & ~sign) == 0;
        case START_ONE:
            return bits == float_bits[i].one;
        case START_LOWEST:
            return bits == (inf | sign);
        case START_HIGHEST:
            return bits == inf;
        }
    }
    return false;
}

static bool starts_whole(ir_dtype t, uint64_t bits, uint64_t sign, start_kind start)
{
    bool negative = ir_dtype_get(t)->cls == IR_CLASS_INT;
    uint64_t all = t == IR_BOOL ? 1 : sign | (sign - 1);
    switch (start) {
    case START_ZERO:
        return bits == 0;
    case START_ONE:
        return bits == 1;
    case START_LOWEST:
        return bits == (negative ? sign : 0);
    case START_HIGHEST:
        return bits == (negative ? sign - 1 : all);
    }
    return false;
}

/* A constant, also behind what only changes its shape; NULL: none. */
static const ir_tensor *number_behind(const hlo_op *o, ir_id id)
{
    enum { STEPS = 8 };
    for (int i = 0; i < STEPS && id != IR_NONE; i++) {
        const ir_value *v = ir_value_at(o->l.f->m, id);
        if (v->constant)
            return v->constant;
        const ir_node *n = v->producer == IR_NONE ? NULL : ir_node_at(o->l.f->m, v->producer);
        if (!n || !n->n_inputs ||
            !(str_is(n->op, "Reshape") || str_is(n->op, "Expand") || str_is(n->op, "Identity")))
            return NULL;
        id = n->inputs[0];
    }
    return NULL;
}

/* Whether the value that a reduction starts with is a constant that changes nothing. */
static bool starts_neutral(const hlo_op *o, start_kind start)
{
    const ir_tensor *t = number_behind(o, o->in[1]);
    unsigned size = t ? ir_dtype_get(t->dtype)->bits / 8u : 0;
    uint64_t bits = 0;
    if (!t || t->storage != IR_DATA_INLINE || t->n_elems != 1 || size < 1 || size > 8)
        return false;
    memcpy(&bits, t->bytes, size);
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return ir_is_float(t->dtype) ? starts_float(t->dtype, bits, sign, start)
                                 : starts_whole(t->dtype, bits, sign, start);
}

/* Booleans are reduced as whole numbers. */
static bool reduce_logic(hlo_op *o, const char *op, const int64_t *axes, int n)
{
    const ir_attr_spec number[] = {IR_SPEC_INT("to", IR_INT32), LAYER_END};
    foreign_layer inner = o->l;
    ir_id result = foreign_inner(o->l.f, o->l.name, op), x = o->in[0];
    inner.out = &result;
    inner.n_out = 1;
    x = layer_step(&o->l, "Cast", &x, 1, number);
    return layer_reduce(&inner, op, x, axes, n, false) && layer_cast(&o->l, result, IR_BOOL);
}

/* Reduces and joins the value that it starts with. */
static bool reduce_from(hlo_op *o, const struct combiner_row *row, const int64_t *axes, int n)
{
    bool logic = hlo_in(o, 0)->dtype == IR_BOOL;
    foreign_layer inner = o->l;
    ir_id all = foreign_inner(o->l.f, o->l.name, row->reduce), pair[] = {all, o->in[1]};
    hlo_op part = *o;
    inner.out = &all;
    inner.n_out = 1;
    part.l = inner;
    bool reduced = logic ? reduce_logic(&part, row->reduce, axes, n)
                         : layer_reduce(&inner, row->reduce, o->in[0], axes, n, false);
    return reduced &&
           made(layer_node_of(&o->l, NULL, logic ? row->logic : row->pair, pair, 2, NULL, 1));
}

/* in: x, the value that it starts with. */
bool hlo_reduce(hlo_op *o)
{
    int64_t axes[HLO_LIST];
    int n = hlo_ints(o, "dimensions", "dimensions", axes);
    bool logic = hlo_in(o, 0)->dtype == IR_BOOL;
    if (o->l.n_in != 2 || n < 0)
        return false;
    str name = combiner(o);
    for (size_t i = 0; i < sizeof combiners / sizeof *combiners; i++) {
        struct combiner_row row = combiners[i];
        if (!str_is(name, row.name))
            continue;
        if (!logic && !row.pair)
            return false;
        if (logic && row.start == START_ZERO)
            row.reduce = "ReduceMax";
        if (!starts_neutral(o, row.start))
            return reduce_from(o, &row, axes, n);
        return logic ? reduce_logic(o, row.reduce, axes, n)
                     : layer_reduce(&o->l, row.reduce, o->in[0], axes, n, false);
    }
    return false;
}

/* Windows over data of `rank` axes. Where first and last axis have no window, channels are last; where the first two have
 * none, they are first; otherwise all axes are spatial (*bare), which two axes of one in front make an image. */
typedef struct pool {
    layer_window w;
    bool last, bare;
} pool;

static bool read_pool(const hlo_op *o, pool *p)
{
    int64_t size[HLO_LIST], stride[HLO_LIST], pairs[HLO_LIST], ones[HLO_LIST], far[HLO_LIST];
    int rank = hlo_in(o, 0)->rank;
    if (rank < 1 || rank > 5 ||
        hlo_ints(o, "window_dimensions", "window_dimensions", size) != rank ||
        !spatial_list(o, "window_strides", "window_strides", rank, stride) ||
        !spatial_list(o, "base_dilations", "base_dilations", rank, ones) ||
        !spatial_list(o, "window_dilations", "window_dilations", rank, far))
        return false;
    for (int d = 0; d < rank; d++)
        if (ones[d] != 1)
            return false;
    int found = hlo_ints(o, "padding", "padding", pairs);
    if (found >= 0 && found != 2 * rank)
        return false;
    bool image = rank >= 3 && size[0] == 1 && stride[0] == 1;
    p->last = image && size[rank - 1] == 1 && stride[rank - 1] == 1;
    p->bare = !p->last && !(image && size[1] == 1 && stride[1] == 1);
    int first = p->last ? 1 : p->bare ? 0 : 2, n = p->bare ? rank : rank - 2;
    p->w = (layer_window){.n = n, .has_strides = true, .has_kernel = true, .has_dilations = true};
    for (int d = 0; d < n && n <= 3; d++) {
        layer_window *w = &p->w;
        w->kernel[d] = size[first + d];
        w->strides[d] = stride[first + d];
        w->dilations[d] = far[first + d];
        w->pads[d] = found < 0 ? 0 : pairs[2 * (first + d)];
        w->pads[n + d] = found < 0 ? 0 : pairs[2 * (first + d) + 1];
        if (w->pads[d] < 0 || w->pads[n + d] < 0 || w->pads[d] >= w->kernel[d] ||
            w->pads[n + d] >= w->kernel[d])
            return false;
    }
    return n <= 3;
}

/* A sum over a window is the mean times the size of the window. */
static bool add_pool(hlo_op *o, const pool *p, bool sum)
{
    const hlo_type *x = hlo_in(o, 0), *t = hlo_out(o, 0);
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 2] = {{0}};
    const char *domain = p->last ? FOREIGN_NHWC : NULL, *op = sum ? "AveragePool" : "MaxPool";
    int64_t dims[IR_MAX_RANK] = {1, 1};
    int k = layer_window_attrs(&p->w, attrs);
    double cells = 1;
    ir_id from = o->in[0];
    for (int d = 0; d < p->w.n; d++)
        cells *= (double)p->w.kernel[d];
    if (sum)
        attrs[k] = IR_SPEC_INT("count_include_pad", 1);
    if (p->bare) {
        memcpy(dims + 2, x->dims, (size_t)x->rank * sizeof *dims);
        from = layer_step_reshape(&o->l, from, dims, x->rank + 2);
    }
    if (!sum && !p->bare)
        return made(layer_node_of(&o->l, domain, op, &from, 1, attrs, 1));
    ir_id in[] = {layer_step_in(&o->l, domain, op, &from, 1, attrs), IR_NONE};
    in[1] = sum ? layer_number(&o->l, "cells", x->dtype, cells) : IR_NONE;
    if (!p->bare)
        return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
    in[0] = sum ? layer_step(&o->l, "Mul", in, 2, NULL) : in[0];
    return layer_reshape(&o->l, in[0], t->dims, t->rank);
}

bool hlo_reduce_window(hlo_op *o)
{
    pool p = {.last = false};
    if (o->l.n_in != 2 || !ir_is_float(hlo_in(o, 0)->dtype) || !read_pool(o, &p))
        return false;
    for (int d = 0; d < hlo_in(o, 0)->rank; d++)
        if (p.bare && (hlo_in(o, 0)->dims[d] < 0 || hlo_out(o, 0)->rank != hlo_in(o, 0)->rank))
            return false;
    str name = combiner(o);
    bool sum = str_is(name, "add");
    return (sum || str_is(name, "maximum")) && starts_neutral(o, sum ? START_ZERO : START_LOWEST) &&
           add_pool(o, &p, sum);
}

/* in: x, scale, offset, mean, variance. */
bool hlo_batch_norm(hlo_op *o)
{
    int64_t axis = hlo_int(o, "feature_index", "feature_index", -1);
    int rank = hlo_in(o, 0)->rank;
    str text = hlo_attr(o, "epsilon");
    double epsilon = 0;
    if (!text.p || !str_take_f64(&text, &epsilon) || (axis != 1 && axis != rank - 1))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", epsilon), LAYER_END};
    return made(layer_node_of(&o->l, axis == 1 ? NULL : FOREIGN_NHWC, "BatchNormalization", o->in,
                              5, attrs, 1));
}
