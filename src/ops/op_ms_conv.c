/* com.microsoft convolutions and pooling: fused with an addition and an activation, channels last,
 * quantised, transposed with padding as an input, causal with a carried state.
 *
 * MACs as in op_conv.c: N·M·out·(C/group)·kernel; transposed over the input positions.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"
#include "ops/op_util_spatial.h"

/* ---- X, W, B, Z: the convolution, + Z, the activation ---- */

static const op_conv plain = {.w = 1, .b = 2}, nhwc = {.w = 1, .b = 2, .channels_last = true},
                     quantised = {.w = 3, .b = 8, .type_slot = 7, .asks_layout = true};

static assay_status conv_infer(op_ctx *c)
{
    TRY(op_conv_infer(c));
    return ms_known_activation(c);
}

/* ---- transposed: X [N,C,...], W [C,M/group,k...] ---- */

typedef struct transposed {
    uint32_t w, b, pads, type; /* input slots; pads UINT32_MAX: there is none */
} transposed;
static const transposed dynamic_pads = {.w = 1, .b = 3, .pads = 2};
static const transposed quantised_transposed = {.w = 3, .b = 8, .pads = UINT32_MAX, .type = 7};

/* Padding from an input: 2 values per axis, or unknown, and then so are the sizes. */
static assay_status padding(op_ctx *c, const transposed *v, op_window *w, bool *known)
{
    int64_t list[2 * IR_MAX_RANK];
    *known = !op_has(c, v->pads);
    if (*known)
        return ASSAY_OK;
    int n = op_ints(c, v->pads, list, 2 * IR_MAX_RANK);
    if (n >= 0 && n != 2 * w->n)
        return op_fail(c, "%d pads for %d spatial axes", n, w->n);
    for (int d = 0; d < w->n && n > 0; d++) {
        w->begin[d] = list[d];
        w->end[d] = list[d + w->n];
    }
    *known = n >= 0;
    return ASSAY_OK;
}

static assay_status transposed_size(op_ctx *c, const op_window *w, int d, int64_t *out)
{
    const int64_t *extra = NULL;
    int n = op_attr_ints(c, "output_padding", &extra);
    return op_window_out_transposed(c, w, d, op_dim(c, 0, d + 2), n == w->n ? extra[d] : 0, out);
}

static assay_status transposed_infer(op_ctx *c)
{
    const transposed *v = c->row->with;
    const ir_dtype type = op_dtype(c, op_has(c, v->type) ? v->type : 0);
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK], group = op_attr_int(c, "group", 1);
    op_window w;
    bool known;
    if (rank < 0)
        return op_set_unknown(c, 0, type);
    if (rank < 3 || group < 1)
        return op_fail(c, "input %s with %lld groups must have at least rank 3 and 1 group",
                       op_shape_text(c, 0), (long long)group);
    TRY(op_window_read(c, rank - 2, &w));
    TRY(op_window_from_weight(c, &w, v->w, 2));
    TRY(padding(c, v, &w, &known));
    dims[0] = op_dim(c, 0, 0);
    dims[1] = ms_dim_mul(op_dim(c, v->w, 1), group);
    for (int d = 0; d < w.n; d++) {
        dims[d + 2] = -1;
        if (known)
            TRY(transposed_size(c, &w, d, &dims[d + 2]));
    }
    return op_set(c, 0, type, rank, dims);
}

static void transposed_cost(const op_ctx *c, op_cost *k)
{
    const transposed *v = c->row->with;
    op_add_mac(k, sat_mul(op_in_elems(c, 0), op_in_product(c, v->w, 1)));
    if (op_has(c, v->b))
        op_count(c, k, &k->add, op_out_elems(c, 0));
}

static void requantised_cost(const op_ctx *c, op_cost *k)
{
    transposed_cost(c, k);
    op_count(c, k, &k->mul, sat_mul(op_out_elems(c, 0), 2));
}

/* ---- CausalConvWithState: X [B,C,...], W [C,1,k...]; the state holds k-1 positions ---- */

static assay_status causal_infer(op_ctx *c)
{
    int rank = op_rank(c, 0), n = 0;
    int64_t dims[IR_MAX_RANK + 1], window = op_attr_int(c, "state_window", 0);
    int64_t kernel = op_dim(c, 1, -1);
    TRY(op_set_like(c, 0, 0));
    if (rank < 0)
        return op_set_unknown(c, 1, op_dtype(c, 0));
    if (rank < 3 || window < 0)
        return op_fail(c, "input %s with a state window of %lld must have at least rank 3",
                       op_shape_text(c, 0), (long long)window);
    if (window > 0)
        dims[n++] = window;
    for (int d = 0; d < rank - 1; d++)
        dims[n++] = op_dim(c, 0, d);
    dims[n++] = kernel > 0 ? kernel - 1 : -1;
    return op_set(c, 1, op_dtype(c, 0), n, dims);
}

static void causal_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    op_add_mac(k, sat_mul(n, op_in_product(c, 1, 2)));
    if (op_has(c, 2))
        op_count(c, k, &k->add, n);
    ms_act_cost(k, ms_act_find(op_attr_str(c, "activation", "none")), n);
}

/* ---- pooling ---- */

static assay_status nhwc_pool_infer(op_ctx *c)
{
    return op_pool_infer(c, IR_INT64, true);
}

static assay_status pool_infer(op_ctx *c)
{
    return op_pool_infer(c, IR_INT64, false);
}

static void max_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
}

#define CONV_WORDS "N*M*out*(C/group)*kernel MACs"
#define LEARNS     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS

static const op_row rows[] = {
    {MS_ROW("FusedConv", "conv#d",
            CONV_WORDS "; per output: 1 add with a bias, 1 add with Z, the activation", conv_infer,
            ms_conv_cost),
     .with = &plain, OP_SLOTS(2, 4, 1, 1), .weights = 3u << 1, .sum_slot = 3, .needs = op_need_conv,
     LEARNS},
    {MS_ROW("NhwcConv", "conv#d", CONV_WORDS "; 1 add per output with a bias", conv_infer,
            ms_conv_cost),
     .with = &nhwc, OP_SLOTS(2, 3, 1, 1), .weights = 3u << 1, LEARNS},
    {MS_ROW("NhwcFusedConv", "conv#d",
            CONV_WORDS "; per output: 1 add with a bias, 1 add with Z, the activation", conv_infer,
            ms_conv_cost),
     .with = &nhwc, OP_SLOTS(2, 4, 1, 1), .weights = 3u << 1, .sum_slot = 3, LEARNS},
    {MS_ROW("QLinearConv", "conv#d", CONV_WORDS "; per output: 1 add with a bias, 2 to requantise",
            op_conv_infer, op_conv_cost_requantised),
     .with = &quantised, OP_SLOTS(8, 9, 1, 1), .weights = 1u << 3 | 1u << 8,
     .aux = 3u << 1 | 15u << 4},
    {MS_ROW("ConvTransposeWithDynamicPads", "convtranspose#d",
            "N*C*in*(M/group)*kernel MACs; 1 add per output with a bias", transposed_infer,
            transposed_cost),
     .with = &dynamic_pads, OP_SLOTS(2, 4, 1, 1), .weights = 1u << 1 | 1u << 3, .aux = 1u << 2,
     .needs = op_need_conv_transpose, LEARNS},
    {MS_ROW("QLinearConvTranspose", "convtranspose#d",
            "N*C*in*(M/group)*kernel MACs; per output: 1 add with a bias, 2 to requantise",
            transposed_infer, requantised_cost),
     .with = &quantised_transposed, OP_SLOTS(8, 9, 1, 1), .weights = 1u << 3 | 1u << 8,
     .aux = 3u << 1 | 15u << 4},
    {MS_ROW("CausalConvWithState", "conv#d",
            "B*C*out*kernel MACs; per output: 1 add with a bias, SiLU 1 special + 1 mul",
            causal_infer, causal_cost),
     OP_SLOTS(2, 4, 1, 2), .weights = 3u << 1, LEARNS},
    {MS_ROW("NhwcMaxPool", "maxpool", "kernel cmp per output", nhwc_pool_infer, max_pool_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {MS_ROW("MaxpoolWithMask", "maxpool", "kernel cmp per output", pool_infer, max_pool_cost),
     OP_SLOTS(2, 2, 1, 1), .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
};
const op_rows op_ms_conv_rows = OP_ROWS(rows);
