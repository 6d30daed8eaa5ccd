#include "formats/onnx_fill.h"

#include <math.h>

#define SMALL_DEVIATION 0.02
#define QUANT_SCALE     0.02

/* ---- what a slot wants ---- */

typedef enum fan {
    FAN_NONE,
    FAN_REST,  /* all dims but the first: [out, in, k, k] */
    FAN_OTHER, /* all dims but the second: [in, out, k, k] */
    FAN_ROWS,  /* the last but one: [.., in, out] */
    FAN_LAST,  /* the last: [.., out, in] */
} fan;

typedef struct fill_row {
    const char *op;
    int slot; /* -1: any */
    fan fan;
    double centre, deviation;
    bool table; /* also for constants that are no weights */
} fill_row;

static const fill_row rows[] = {
    {"Conv", 1, FAN_REST, 0, 0, false},
    {"Conv", 2, FAN_NONE, 0, SMALL_DEVIATION, false},
    {"ConvTranspose", 1, FAN_OTHER, 0, 0, false},
    {"ConvTranspose", 2, FAN_NONE, 0, SMALL_DEVIATION, false},
    {"DeformConv", 1, FAN_REST, 0, 0, false},
    {"Gemm", 0, FAN_LAST, 0, 0, false},
    {"Gemm", 1, FAN_ROWS, 0, 0, false},
    {"Gemm", 2, FAN_NONE, 0, SMALL_DEVIATION, false},
    {"MatMul", 0, FAN_LAST, 0, 0, false},
    {"MatMul", 1, FAN_ROWS, 0, 0, false},
    {"LSTM", -1, FAN_LAST, 0, 0, false},
    {"GRU", -1, FAN_LAST, 0, 0, false},
    {"RNN", -1, FAN_LAST, 0, 0, false},
    {"BatchNormalization", 1, FAN_NONE, 1, 0, false},
    {"BatchNormalization", 2, FAN_NONE, 0, 0, false},
    {"BatchNormalization", 3, FAN_NONE, 0, 0, false},
    {"BatchNormalization", 4, FAN_NONE, 1, 0, false},
    {"LayerNormalization", 1, FAN_NONE, 1, 0, false},
    {"LayerNormalization", 2, FAN_NONE, 0, 0, false},
    {"InstanceNormalization", 1, FAN_NONE, 1, 0, false},
    {"InstanceNormalization", 2, FAN_NONE, 0, 0, false},
    {"GroupNormalization", 1, FAN_NONE, 1, 0, false},
    {"GroupNormalization", 2, FAN_NONE, 0, 0, false},
    {"RMSNormalization", 1, FAN_NONE, 1, 0, false},
    {"SimplifiedLayerNormalization", 1, FAN_NONE, 1, 0, false},
    {"SkipSimplifiedLayerNormalization", 2, FAN_NONE, 1, 0, false},
    {"SkipLayerNormalization", 2, FAN_NONE, 1, 0, false},
    {"Mul", -1, FAN_NONE, 1, 0, false},
    {"Div", -1, FAN_NONE, 1, 0, false},
    {"Pow", -1, FAN_NONE, 1, 0, false},
    {"PRelu", 1, FAN_NONE, 0.25, 0, false},
    {"QuantizeLinear", 1, FAN_NONE, QUANT_SCALE, 0, true},
    {"DequantizeLinear", 1, FAN_NONE, QUANT_SCALE, 0, true},
    {"QuantizeLinear", 2, FAN_NONE, 0, 0, true},
    {"DequantizeLinear", 2, FAN_NONE, 0, 0, true},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* Operators that a weight is still that weight behind, by input 0. */
static bool passes_through(const ir_node *n)
{
    return str_in_list(
        n->op, "Identity Cast Transpose Reshape Squeeze Unsqueeze DequantizeLinear Flatten", ' ');
}

static const fill_row *row_of(const ir_node *n, uint32_t slot)
{
    for (int i = 0; i < N_ROWS; i++)
        if ((rows[i].slot < 0 || rows[i].slot == (int)slot) && str_is(n->op, rows[i].op))
            return &rows[i];
    return NULL;
}

/* ---- fan-in ---- */

static double dims_product(const int64_t *dims, int rank, int skip)
{
    double n = 1;
    for (int i = 0; i < rank; i++)
        n *= i == skip ? 1.0 : (double)dims[i];
    return n;
}

/* The dims as the slot sees them: behind a Transpose they are the declared ones. */
static int seen_dims(const ir_model *m, ir_id used, const ir_tensor *t, int64_t *dims)
{
    const ir_type *d = &ir_value_at(m, used)->declared;
    int rank = d->kind == IR_KIND_TENSOR && d->rank >= 0 ? d->rank : t->rank;
    bool declared = rank == d->rank && d->kind == IR_KIND_TENSOR;
    for (int i = 0; i < rank && i < IR_MAX_RANK; i++) {
        dims[i] = declared ? d->dims[i].value : t->dims[i];
        if (dims[i] < 1)
            dims[i] = 1;
    }
    return rank < IR_MAX_RANK ? rank : IR_MAX_RANK;
}

static fan transposed_fan(const ir_node *n, fan f)
{
    return f == FAN_ROWS && ir_attr_int(n, "transB", 0) ? FAN_LAST : f;
}

static double fan_in(const ir_model *m, const ir_node *n, fan f, ir_id used, const ir_tensor *t)
{
    int64_t dims[IR_MAX_RANK];
    int rank = seen_dims(m, used, t, dims);
    f = transposed_fan(n, f);
    if (f == FAN_REST)
        return dims_product(dims, rank, 0);
    if (f == FAN_OTHER)
        return dims_product(dims, rank, 1);
    if (f == FAN_ROWS && rank >= 2)
        return (double)dims[rank - 2];
    return rank > 0 ? (double)dims[rank - 1] : 1.0;
}

/* ---- what comes after ---- */

typedef struct planner {
    const ir_model *m;
    onnx_fill *fills;
    ir_id *origin; /* [values] the constant behind a value, or IR_NONE */
    ir_id *user;   /* [values] the first node that reads it, or IR_NONE */
} planner;

/* Factors on the deviation, so that a signal neither dies behind an activation that halves it nor grows
 * with every residual branch that is added. */
static const struct {
    const char *op;
    double gain; /* 0: look further */
} after[] = {
    {"BatchNormalization", 0},
    {"Identity", 0},
    {"QuantizeLinear", 0},
    {"DequantizeLinear", 0},
    {"Relu", 1.41},
    {"Clip", 1.41},
    {"LeakyRelu", 1.41},
    {"PRelu", 1.41},
    {"Swish", 1.9},
    {"HardSwish", 1.8},
    {"Sigmoid", 1.9},
    {"Mish", 1.9},
    {"Gelu", 1.8},
    {"HardSigmoid", 1.8},
    {"Add", 0.4},
};
enum { N_AFTER = sizeof after / sizeof *after, HOPS_MAX = 6 };

/* The operator that a part of it stands for after lowering, so that weights are the same at every
 * opset; NULL when the node stands for itself. */
static const ir_node *whole_of(const ir_model *m, const ir_node *n)
{
    const ir_node *of = n->call < m->nodes.n ? ir_node_at(m, n->call) : NULL;
    return of && str_empty(of->domain) ? of : NULL;
}

static int after_index(const planner *p, const ir_node *n)
{
    const ir_node *of = whole_of(p->m, n);
    int i = 0;
    while (i < N_AFTER && !str_is((of ? of : n)->op, after[i].op))
        i++;
    return i;
}

static double gain_behind(const planner *p, const ir_node *n)
{
    for (int hop = 0; hop < HOPS_MAX; hop++) {
        ir_id out = n->n_outputs ? n->outputs[0] : IR_NONE;
        ir_id next = out == IR_NONE ? IR_NONE : p->user[out];
        if (next == IR_NONE)
            return 1.0;
        n = ir_node_at(p->m, next);
        int i = after_index(p, n);
        if (i == N_AFTER || after[i].gain > 0)
            return i == N_AFTER ? 1.0 : after[i].gain;
    }
    return 1.0;
}

static double weight_deviation(const planner *p, const ir_node *n, const fill_row *row,
                               uint32_t slot, const ir_tensor *t)
{
    if (row->fan == FAN_NONE)
        return row->deviation;
    bool steered = row->fan == FAN_REST || str_is(n->op, "Gemm");
    return (steered ? gain_behind(p, n) : 1.0) /
           sqrt(fan_in(p->m, n, row->fan, n->inputs[slot], t));
}

/* ---- the plan ---- */

static onnx_fill fill_of(const planner *p, const ir_node *n, uint32_t slot, ir_id id)
{
    const ir_value *v = ir_value_at(p->m, id);
    const fill_row *row = row_of(n, slot);
    bool weight = !(v->flags & (IR_VALUE_NOT_PARAM | IR_VALUE_BUFFER));
    onnx_fill f = {.set = true};
    if (row && (weight || row->table || (v->flags & IR_VALUE_BUFFER))) {
        f.centre = (float)row->centre;
        f.spread = (float)(weight_deviation(p, n, row, slot, v->constant) * sqrt(3.0));
    } else if (weight) {
        f.spread = (float)(SMALL_DEVIATION * sqrt(3.0));
    }
    return f;
}

/* The first slot that a constant reaches decides. */
static void look_at_slot(planner *p, const ir_node *n, uint32_t slot)
{
    ir_id used = n->inputs[slot], id = used == IR_NONE ? IR_NONE : p->origin[used];
    if (id == IR_NONE || p->fills[id].set)
        return;
    if (slot == 0 && passes_through(n)) {
        if (n->n_outputs > 0 && n->outputs[0] != IR_NONE)
            p->origin[n->outputs[0]] = id;
        return;
    }
    p->fills[id] = fill_of(p, n, slot, id);
}

static void look_at_whole(planner *p, const ir_node *n)
{
    const ir_node *of = whole_of(p->m, n);
    for (uint32_t k = 0; of && k < of->n_inputs; k++)
        if (row_of(of, k))
            look_at_slot(p, of, k);
}

static void look_at_node(planner *p, ir_id id, bool users)
{
    const ir_node *n = ir_node_at(p->m, id);
    if (!users)
        look_at_whole(p, n);
    for (uint32_t k = 0; k < n->n_inputs; k++) {
        if (!users)
            look_at_slot(p, n, k);
        else if (n->inputs[k] != IR_NONE && p->user[n->inputs[k]] == IR_NONE)
            p->user[n->inputs[k]] = id;
    }
}

/* Nodes stand in execution order in their graphs; a subgraph's number is above that of its parent. */
static void look_at_nodes(planner *p, bool users)
{
    for (ir_id g = 0; g < p->m->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(p->m, g);
        for (uint32_t i = 0; i < graph->nodes.n; i++)
            look_at_node(p, graph->nodes.items[i], users);
    }
}

const onnx_fill *onnx_fill_plan(const ir_model *m, arena *a)
{
    size_t n = (size_t)m->values.n + 1;
    planner p = {.m = m,
                 .fills = ARENA_ARRAY(a, onnx_fill, n),
                 .origin = ARENA_ARRAY(a, ir_id, n),
                 .user = ARENA_ARRAY(a, ir_id, n)};
    if (!p.fills || !p.origin || !p.user)
        return NULL;
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_tensor *t = ir_value_at(m, id)->constant;
        p.origin[id] = t && t->storage == IR_DATA_NONE ? id : IR_NONE;
        p.user[id] = IR_NONE;
    }
    look_at_nodes(&p, true);
    look_at_nodes(&p, false);
    return p.fills;
}

/* ---- content ---- */

onnx_filler onnx_filler_of(const ir_tensor *t, str name, const onnx_fill *fill, uint64_t seed)
{
    onnx_filler f = {.dtype = t->dtype};
    if (fill)
        f.fill = *fill;
    rng_seed(&f.rng, str_hash_seeded(name, seed));
    return f;
}

static float draw_uniform(onnx_filler *f)
{
    float u = (float)(rng_next(&f->rng) >> 40) * 0x1p-23f - 1.0f; /* [-1, 1) */
    return f->fill.centre + f->fill.spread * u;
}

static uint32_t f32_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Rounds towards zero; the numbers drawn here are normal in half precision or may as well be 0. */
static uint16_t f16_bits(float v)
{
    uint32_t b = f32_bits(v);
    int exponent = (int)(b >> 23 & 0xff) - 127;
    uint16_t sign = (uint16_t)(b >> 16 & 0x8000);
    if (exponent < -14)
        return sign;
    if (exponent > 15)
        return (uint16_t)(sign | 0x7bff);
    return (uint16_t)(sign | (uint32_t)(exponent + 15) << 10 | (b >> 13 & 0x3ff));
}

static int64_t step8(float v)
{
    double q = nearbyint((double)v / QUANT_SCALE);
    return q > 127 ? 127 : q < -127 ? -127 : (int64_t)q;
}

static uint64_t draw_element(onnx_filler *f)
{
    uint64_t wide;
    double d;
    switch (f->dtype) {
    case IR_FLOAT32:
        return f32_bits(draw_uniform(f));
    case IR_FLOAT16:
        return f16_bits(draw_uniform(f));
    case IR_BFLOAT16:
        return f32_bits(draw_uniform(f)) >> 16;
    case IR_FLOAT64:
        d = (double)draw_uniform(f);
        memcpy(&wide, &d, sizeof wide);
        return wide;
    case IR_INT8:
        return (uint64_t)step8(draw_uniform(f));
    case IR_UINT8:
        return f->fill.spread > 0 ? (uint64_t)(128 + step8(draw_uniform(f))) : 0;
    default:
        return 0;
    }
}

static unsigned dtype_bytes(ir_dtype t)
{
    unsigned bits = ir_dtype_get(t)->bits;
    return bits >= 8 && bits <= 64 ? bits / 8 : 1;
}

static void next_f32(onnx_filler *f, uint8_t *buf, size_t n)
{
    for (size_t at = 0; at + 4 <= n; at += 4) {
        uint32_t bits = f32_bits(draw_uniform(f));
        const uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                                  (uint8_t)(bits >> 24)};
        memcpy(buf + at, bytes, sizeof bytes);
    }
}

void onnx_filler_next(onnx_filler *f, uint8_t *buf, size_t n)
{
    unsigned w = dtype_bytes(f->dtype);
    if (f->dtype == IR_FLOAT32) {
        next_f32(f, buf, n);
        return;
    }
    for (size_t at = 0; at < n; at += w) {
        uint64_t v = draw_element(f);
        for (unsigned i = 0; i < w && at + i < n; i++)
            buf[at + i] = (uint8_t)(v >> (8 * i));
    }
}

/* ---- as a maker ---- */

#define PLAN_BYTES ((size_t)1 << 30)

typedef struct drawn { /* numbers come one after the other: reading on is free, going back is not */
    ir_maker maker;
    onnx_filler first, next;
    uint64_t pos;
} drawn;

static assay_status make_drawn(void *ctx, const ir_reader *r, uint64_t from, size_t n, void *buf,
                               assay_error *err)
{
    drawn *d = ctx;
    uint8_t skipped[4096];
    (void)r;
    (void)err;
    if (from < d->pos) {
        d->next = d->first;
        d->pos = 0;
    }
    while (d->pos < from) {
        uint64_t left = from - d->pos;
        size_t step = left < sizeof skipped ? (size_t)left : sizeof skipped;
        onnx_filler_next(&d->next, skipped, step);
        d->pos += step;
    }
    onnx_filler_next(&d->next, buf, n);
    d->pos += n;
    return ASSAY_OK;
}

static bool fill_value(ir_model *m, ir_id id, const onnx_fill *fill, uint64_t seed)
{
    ir_value *v = ir_value_at(m, id);
    ir_tensor *t = arena_copy(m->arena, v->constant, sizeof *t);
    drawn *d = ARENA_NEW(m->arena, drawn);
    if (!t || !d)
        return false;
    d->maker = (ir_maker){.ctx = d, .make = make_drawn};
    d->first = d->next = onnx_filler_of(t, v->name, fill, seed);
    ir_set_maker(t, &d->maker);
    v->constant = t;
    return true;
}

assay_status onnx_fill_model(ir_model *m, uint64_t seed, uint64_t *n, assay_error *err)
{
    arena *a = arena_new(PLAN_BYTES);
    const onnx_fill *fills = a ? onnx_fill_plan(m, a) : NULL;
    assay_status s = fills ? ir_reader_wrap(m, err) : err_no_memory(err);
    uint64_t count = 0;
    for (ir_id id = 0; s == ASSAY_OK && id < m->values.n; id++) {
        const ir_tensor *t = ir_value_at(m, id)->constant;
        if (!t || t->storage != IR_DATA_NONE || t->n_elems == 0 || t->sparse ||
            t->dtype == IR_STRING)
            continue;
        count++;
        if (!fill_value(m, id, &fills[id], seed))
            s = err_no_memory(err);
    }
    arena_free(a);
    if (n)
        *n = count;
    return s;
}
