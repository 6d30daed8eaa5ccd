/* The domains of ONNX Runtime's layout optimisers, found in models it saved after optimising:
 *
 *   com.microsoft.nchwc   channels in blocks of 8 or 16, whichever the machine that saved the model
 *                         had; shapes stay N,C,spatial with C rounded up to whole blocks
 *   com.ms.internal.nhwc  data as N,spatial,C, weights as in ONNX
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_ms.h"
#include "ops/op_util_norm.h"
#include "ops/op_util_spatial.h"

#define NCHWC "com.microsoft.nchwc"
#define NHWC  "com.ms.internal.nhwc"

/* ---- reordering ---- */

#define LOOK_AHEAD 64 /* nodes searched for who reads a reordered input */

/* The convolution that reads the output knows how many channels its weights were padded to. */
static int64_t reader_channels(const op_ctx *c)
{
    const ir_model *m = c->model;
    ir_id out = c->node->n_outputs > 0 ? c->node->outputs[0] : IR_NONE;
    if (out >= m->values.n || ir_value_at(m, out)->producer == IR_NONE)
        return -1;
    ir_id first = ir_value_at(m, out)->producer + 1;
    for (ir_id id = first; id < m->nodes.n && id - first < LOOK_AHEAD; id++) {
        const ir_node *n = ir_node_at(m, id);
        if (n->n_inputs < 2 || n->inputs[0] != out || n->inputs[1] >= m->values.n ||
            !str_is(n->op, "Conv") || !str_is(n->domain, NCHWC))
            continue;
        const ir_tensor *w = ir_value_at(m, n->inputs[1])->constant;
        return w && w->rank > 1 ? ms_dim_mul(w->dims[1], ir_attr_int(n, "group", 1)) : -1;
    }
    return -1;
}

/* Rounding up to 8 and to 16 agree for most channel counts; else the reader tells. */
static int64_t blocked_channels(const op_ctx *c, int64_t channels)
{
    if (channels < 0)
        return -1;
    int64_t by8 = ms_dim_mul(num_ceil_div(channels, 8), 8);
    int64_t by16 = ms_dim_mul(num_ceil_div(channels, 16), 16);
    int64_t told = by8 == by16 ? by8 : reader_channels(c);
    return told == by8 || told == by16 ? told : -1;
}

static assay_status reorder_input_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    bool last = op_attr_int(c, "channels_last", 0) != 0;
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 2)
        return op_fail(c, "input %s has no channels to reorder", op_shape_text(c, 0));
    dims[0] = op_dim(c, 0, 0);
    dims[1] = blocked_channels(c, op_dim(c, 0, last ? rank - 1 : 1));
    for (int d = 2; d < rank; d++)
        dims[d] = op_dim(c, 0, last ? d - 1 : d);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static assay_status reorder_output_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    bool last = op_attr_int(c, "channels_last", 0) != 0;
    int64_t dims[IR_MAX_RANK], channels = op_attr_int(c, "channels", 0);
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 2 || channels <= 0)
        return op_fail(c, "cannot reorder input %s to %lld channels", op_shape_text(c, 0),
                       (long long)channels);
    dims[0] = op_dim(c, 0, 0);
    dims[last ? rank - 1 : 1] = channels;
    for (int d = 2; d < rank; d++)
        dims[last ? d - 1 : d] = op_dim(c, 0, d);
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- NCHWc Upsample: whole factors per dim ---- */

static assay_status upsample_infer(op_ctx *c)
{
    const int64_t *scales = NULL;
    int rank = op_rank(c, 0), n = op_attr_ints(c, "scales", &scales);
    int64_t dims[IR_MAX_RANK];
    if (rank < 0 || n < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (n != rank)
        return op_fail(c, "%d scales for %s", n, op_shape_text(c, 0));
    for (int d = 0; d < rank; d++) {
        if (scales[d] <= 0)
            return op_fail(c, "scale %lld is not positive", (long long)scales[d]);
        dims[d] = ms_dim_mul(op_dim(c, 0, d), scales[d]);
    }
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* Bilinear: 4 weighted neighbours, 3 additions. */
static void upsample_cost(const op_ctx *c, op_cost *k)
{
    if (str_is(op_attr_str(c, "mode", "nearest"), "nearest"))
        return;
    op_count(c, k, &k->mul, sat_mul(op_out_elems(c, 0), 4));
    op_count(c, k, &k->add, sat_mul(op_out_elems(c, 0), 3));
}

/* ---- convolution and pooling in both layouts ---- */

static const op_conv nchwc_conv = {.w = 1, .b = 2},
                     nhwc_conv = {.w = 1, .b = 2, .channels_last = true},
                     nhwc_quantised = {.w = 3, .b = 8, .type_slot = 7, .channels_last = true};

static bool last_of(const op_ctx *c)
{
    return str_is(c->node->domain, NHWC);
}

static void activation_cost(const op_ctx *c, op_cost *k)
{
    ms_act_cost(k, ms_act_find(op_attr_str(c, "activation", "")), op_out_elems(c, 0));
}

static assay_status pool_infer(op_ctx *c)
{
    return op_pool_infer(c, IR_INT64, last_of(c));
}

static assay_status global_pool_infer(op_ctx *c)
{
    return op_global_pool_infer(c, last_of(c));
}

static void max_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
    activation_cost(c, k);
}

static void average_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
    op_count(c, k, &k->div, op_out_elems(c, 0));
    activation_cost(c, k);
}

/* ---- norms of the NHWC domain: shapes do not depend on the layout ---- */

static void batch_norm_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->mul, op_in_elems(c, 0));
    op_count(c, k, &k->add, op_in_elems(c, 0));
    activation_cost(c, k);
}

static void instance_norm_cost(const op_ctx *c, op_cost *k)
{
    op_norm_cost(c, k, op_in_elems(c, 0), true, true);
    activation_cost(c, k);
}

#define POOLS OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME
#define CONV_WORDS                                                                         \
    "N*M*out*(C/group)*kernel MACs; per output: 1 add with a bias, 1 add with a sum, the " \
    "activation"

static const op_row rows[] = {
    {OP_ROW(NCHWC, "ReorderInput", "reorder", "1", "0 (data movement)", reorder_input_infer, NULL),
     OP_SLOTS(1, 1, 1, 1), .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW(NCHWC, "ReorderOutput", "reorder", "1", "0 (data movement)", reorder_output_infer,
            NULL),
     OP_SLOTS(1, 1, 1, 1), .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW(NCHWC, "Upsample", "upsample", "1", "linear: 4 mul + 3 add per output; nearest: 0",
            upsample_infer, upsample_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME},
    {OP_ROW(NCHWC, "Conv", "conv#d", "1", CONV_WORDS, op_conv_infer, ms_conv_cost),
     .with = &nchwc_conv, OP_SLOTS(2, 4, 1, 1), .weights = 3u << 1, .sum_slot = 3,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OP_ROW(NCHWC, "MaxPool", "maxpool", "1", "kernel cmp per output", pool_infer, max_pool_cost),
     POOLS, .saves = OP_SAVE_INPUTS},
    {OP_ROW(NCHWC, "AveragePool", "avgpool", "1", "per output: kernel add + 1 div", pool_infer,
            average_pool_cost),
     POOLS},
    {OP_ROW(NCHWC, "GlobalMaxPool", "globalmaxpool", "1", "1 cmp per input element",
            global_pool_infer, op_cost_cmp_in),
     POOLS, .saves = OP_SAVE_INPUTS},
    {OP_ROW(NCHWC, "GlobalAveragePool", "globalavgpool", "1",
            "1 add per input element + 1 div per output", global_pool_infer, op_cost_mean),
     POOLS},
    {OP_ROW(NHWC, "Conv", "conv#d", "1,11", CONV_WORDS, op_conv_infer, ms_conv_cost),
     .with = &nhwc_conv, OP_SLOTS(2, 4, 1, 1), .weights = 3u << 1, .sum_slot = 3,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS},
    {OP_ROW(NHWC, "QLinearConv", "conv#d", "10",
            "N*M*out*(C/group)*kernel MACs; per output: 1 add with a bias, 2 to requantise",
            op_conv_infer, op_conv_cost_requantised),
     .with = &nhwc_quantised, OP_SLOTS(8, 9, 1, 1), .weights = 1u << 3 | 1u << 8,
     .aux = 3u << 1 | 15u << 4},
    {OP_ROW(NHWC, "MaxPool", "maxpool", "1,8,10,11,12", "kernel cmp per output", pool_infer,
            max_pool_cost),
     OP_SLOTS(1, 1, 1, 2), .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    {OP_ROW(NHWC, "AveragePool", "avgpool", "7,10,11,19", "per output: kernel add + 1 div",
            pool_infer, average_pool_cost),
     POOLS},
    {OP_ROW(NHWC, "GlobalMaxPool", "globalmaxpool", "1", "1 cmp per input element",
            global_pool_infer, op_cost_cmp_in),
     POOLS, .saves = OP_SAVE_INPUTS},
    {OP_ROW(NHWC, "GlobalAveragePool", "globalavgpool", "1",
            "1 add per input element + 1 div per output", global_pool_infer, op_cost_mean),
     POOLS},
    {OP_ROW(NHWC, "BatchNormalization", "batchnorm", "7,9,14,15", "per element: 1 mul + 1 add",
            op_infer_like, batch_norm_cost),
     OP_SLOTS(5, 5, 1, 1), .weights = 3u << 1, .buffers = 3u << 3, .backward = OP_BW_NORM,
     .saves = OP_SAVE_INPUTS},
    {OP_ROW(NHWC, "InstanceNormalization", "instancenorm", "6", "per element: 4 add + 3 mul",
            op_infer_like, instance_norm_cost),
     OP_SLOTS(3, 3, 1, 1), .weights = 3u << 1, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
};
const op_rows op_ms_layout_rows = OP_ROWS(rows);
