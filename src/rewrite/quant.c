#include "rewrite/quant.h"

#include "base/num.h"
#include "rewrite/convert.h"

#define SCALE_MIN 1e-30f

int quant_limit(const int8_options *opt)
{
    return opt && opt->seven_bits ? 63 : 127;
}

/* A channel of zeros takes the largest scale of the others. */
static void scales_of(float *s, uint64_t n, const quant_request *r)
{
    float most = 0;
    for (uint64_t i = 0; i < n; i++) {
        s[i] /= (float)r->limit;
        if (r->least && s[i] < r->least[i])
            s[i] = r->least[i];
        most = s[i] > most ? s[i] : most;
    }
    for (uint64_t i = 0; i < n; i++)
        if (s[i] < SCALE_MIN)
            s[i] = most < SCALE_MIN ? 1.0f : most;
}

static uint64_t dims_product(const ir_tensor *t, int from, int to)
{
    uint64_t n = 1;
    for (int i = from; i < to; i++)
        n *= (uint64_t)t->dims[i]; /* a part of n_elems, which fits */
    return n;
}

static ir_id add_scale(kit *k, const quant_request *r, const quant_weight *w, const float *s)
{
    float *stored = ARENA_ARRAY(k->scratch, float, (size_t)w->channels);
    const ir_t shape = {
        .dtype = IR_FLOAT32, .rank = r->per_channel ? 1 : 0, .d = {(int64_t)w->channels}};
    for (uint64_t i = 0; stored && i < w->channels; i++)
        stored[i] = (float)((double)s[i] * r->factor);
    return stored ? kit_bytes(k, r->graph, ir_value_at(k->m, r->weight)->name, "_scale", &shape,
                              stored)
                  : IR_NONE;
}

static ir_id add_zero(kit *k, const quant_request *r, const quant_weight *w)
{
    uint8_t *zeros = ARENA_ARRAY(k->scratch, uint8_t, (size_t)w->channels);
    const ir_t shape = {
        .dtype = IR_INT8, .rank = r->per_channel ? 1 : 0, .d = {(int64_t)w->channels}};
    return zeros
               ? kit_bytes(k, r->graph, ir_value_at(k->m, r->weight)->name, "_zero", &shape, zeros)
               : IR_NONE;
}

static ir_id add_steps(kit *k, const quant_request *r, const quant_weight *w, float *s)
{
    const ir_tensor *t = kit_weight(k, r->weight);
    conversion c = {.source = t,
                    .to = IR_INT8,
                    .scale = s,
                    .channels = w->channels,
                    .inner = r->turn ? 1 : dims_product(t, r->axis + 1, t->rank),
                    .limit = r->limit,
                    .transpose = r->turn};
    str name = kit_name(k, ir_value_at(k->m, r->weight)->name, "_int8");
    ir_id id = name.p ? kit_const(k, r->graph, name, convert_tensor(k->m, name, &c), r->weight)
                      : IR_NONE;
    if (id != IR_NONE && r->turn)
        ir_value_at(k->m, id)->flags ^= IR_VALUE_TRANSPOSED;
    return id;
}

static assay_status make_new(kit *k, const quant_request *r, quant_weight *out)
{
    const ir_tensor *t = kit_weight(k, r->weight);
    uint64_t n = r->per_channel ? (uint64_t)t->dims[r->axis] : 1;
    uint64_t inner = r->per_channel ? dims_product(t, r->axis + 1, t->rank) : 1;
    float *s = ARENA_ARRAY(k->m->arena, float, n ? (size_t)n : 1);
    *out = (quant_weight){.channels = n, .scales = s};
    TRY_MEMORY(s, k->err);
    TRY(convert_peaks(k->m, t, n, inner ? inner : 1, s, k->err));
    scales_of(s, n, r);
    out->q = add_steps(k, r, out, s);
    out->scale = add_scale(k, r, out, s);
    out->zero = add_zero(k, r, out);
    return out->q == IR_NONE || out->scale == IR_NONE || out->zero == IR_NONE
               ? err_no_memory(k->err)
               : ASSAY_OK;
}

bool quant_memo_init(quant_memo *memo, kit *k)
{
    *memo = (quant_memo){.first = ARENA_ARRAY(k->scratch, uint32_t, (size_t)k->m->values.n + 1)};
    for (uint32_t i = 0; memo->first && i < k->m->values.n; i++)
        memo->first[i] = UINT32_MAX;
    return memo->first != NULL;
}

static bool same_request(const quant_request *a, const quant_request *b)
{
    return a->graph == b->graph && a->axis == b->axis && a->turn == b->turn &&
           a->factor == b->factor;
}

assay_status quant_make(kit *k, quant_memo *memo, const quant_request *r, quant_weight *out)
{
    for (uint32_t i = memo->first[r->weight]; i != UINT32_MAX; i = memo->list.items[i].next)
        if (same_request(&memo->list.items[i].request, r)) {
            *out = memo->list.items[i].made;
            return ASSAY_OK;
        }
    TRY(make_new(k, r, out));
    if (!VEC_ADD(k->scratch, &memo->list,
                 (quant_entry){.request = *r, .made = *out, .next = memo->first[r->weight]}))
        return err_no_memory(k->err);
    memo->first[r->weight] = memo->list.n - 1;
    return ASSAY_OK;
}

/* ---- finding ---- */

static bool is_transposing(const kit *k, const ir_node *n)
{
    const ir_attr *a = ir_attr_find(n, "perm");
    const ir_tensor *t = kit_weight(k, kit_in(n, 0));
    if (!kit_is(n, "Transpose") || !t || t->rank != 2)
        return false;
    return !a || (a->kind == IR_ATTR_INTS && a->n == 2 && a->v.ints[0] == 1 && a->v.ints[1] == 0);
}

quant_source quant_find(const kit *k, ir_id value)
{
    for (int hops = 0; hops < 4 && value != IR_NONE; hops++) {
        ir_id p = ir_value_at(k->m, value)->producer;
        if (kit_weight(k, value))
            return (quant_source){.value = value};
        const ir_node *n = p == IR_NONE ? NULL : ir_node_at(k->m, p);
        if (n && is_transposing(k, n))
            return (quant_source){.value = kit_in(n, 0), .turned = true};
        if (!n || !kit_is(n, "Identity"))
            break;
        value = kit_in(n, 0);
    }
    return (quant_source){.value = IR_NONE};
}

/* ---- failure ---- */

assay_status quant_check_opset(const ir_model *m, int oldest, assay_error *err)
{
    int opset = ir_opset_version(m, STR(""));
    if (opset >= oldest)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "the model uses opset %d; 8-bit operators need opset %d. Export it again with "
                    "a newer opset.",
                    opset, oldest);
}

assay_status quant_nothing(bool dynamic, assay_error *err)
{
    if (dynamic)
        return err_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "dynamic quantisation does not apply: no MatMul or Gemm has suitable constant float32 "
            "weights. Use int8 to quantise convolutions with calibrated ranges.");
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "8-bit quantisation does not apply: no Conv, MatMul or Gemm outside If, Loop "
                    "and Scan bodies has suitable constant float32 weights");
}
