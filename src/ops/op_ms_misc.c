/* com.microsoft operators that fit nowhere else: transforms, distances, crops, text helpers, the
 * LSTM with attention, TensorRT plugins that exporters write, and compiled blobs of vendors, whose
 * cost nobody can read from the file.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_ms.h"
#include "ops/op_util_norm.h"

/* ---- Inverse: n^3 mul + n^3 add per matrix (elimination on [A | I]) ---- */

static assay_status inverse_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t rows = op_dim(c, 0, -2), cols = op_dim(c, 0, -1);
    if ((rank >= 0 && rank < 2) || (rows >= 0 && cols >= 0 && rows != cols))
        return op_fail(c, "input %s is not a square matrix", op_shape_text(c, 0));
    return op_set_like(c, 0, 0);
}

static void inverse_cost(const op_ctx *c, op_cost *k)
{
    uint64_t steps = sat_mul(op_in_elems(c, 0), ms_u(op_dim(c, 0, -1)));
    ms_add(&k->mul, steps);
    ms_add(&k->add, steps);
}

/* ---- Rfft [.., n] -> [.., n/2+1, 2], and back; other signal dims keep their size ---- */

static assay_status rfft_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK + 1];
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank == 0)
        return op_fail(c, "the signal is a scalar");
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    if (dims[rank - 1] >= 0)
        dims[rank - 1] = dims[rank - 1] / 2 + 1;
    dims[rank] = 2;
    return op_set(c, 0, op_dtype(c, 0), rank + 1, dims);
}

static assay_status irfft_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 2)
        return op_fail(c, "the last axis of input %s must be 2 (real, imaginary)",
                       op_shape_text(c, 0));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    int64_t half = dims[rank - 2];
    dims[rank - 2] = half > 0 ? ms_dim_mul(half - 1, 2) : -1;
    return op_set(c, 0, op_dtype(c, 0), rank - 1, dims);
}

/* n/2·ceil(log2 n) butterflies of 4 mul + 6 add over the points of all signal dims. */
static void butterflies(op_cost *k, uint64_t total, uint64_t points)
{
    uint64_t stages = 0;
    while (stages < 63 && (1ULL << stages) < points)
        stages++;
    uint64_t n = sat_mul(total / 2, stages);
    ms_add(&k->mul, sat_mul(n, 4));
    ms_add(&k->add, sat_mul(n, 6));
}

static uint64_t points_of(const op_ctx *c, const op_info *signal)
{
    int64_t dims = op_attr_int(c, "signal_ndim", 1);
    if (signal->rank < 1 || dims < 1)
        return 0;
    int from = dims < signal->rank ? signal->rank - (int)dims : 0;
    return ms_u(op_product(signal->dims, from, signal->rank));
}

static void rfft_cost(const op_ctx *c, op_cost *k)
{
    if (op_has(c, 0))
        butterflies(k, op_in_elems(c, 0), points_of(c, c->in[0]));
}

static void irfft_cost(const op_ctx *c, op_cost *k)
{
    if (c->n_out > 0)
        butterflies(k, op_out_elems(c, 0), points_of(c, &c->out[0]));
}

/* ---- ComplexMul: pairs in the last dim; 4 mul + 2 add per pair ---- */

static assay_status complex_infer(op_ctx *c)
{
    return op_broadcast_inputs(c, 0, 1, 0, op_dtype(c, 0));
}

static void complex_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->mul, sat_mul(op_out_elems(c, 0), 2));
    ms_add(&k->add, op_out_elems(c, 0));
}

/* ---- CDist: A [M,N], B [K,N] -> [M,K] ---- */

static assay_status cdist_infer(op_ctx *c)
{
    int64_t width;
    TRY(ms_want_rank(c, 0, 2));
    TRY(ms_want_rank(c, 1, 2));
    TRY(op_same_dim(c, op_dim(c, 0, 1), op_dim(c, 1, 1), "the length of a point", &width));
    return op_set(c, 0, op_dtype(c, 0), 2, (int64_t[]){op_dim(c, 0, 0), op_dim(c, 1, 0)});
}

static void cdist_cost(const op_ctx *c, op_cost *k)
{
    uint64_t pairs = op_out_elems(c, 0), steps = sat_mul(pairs, ms_u(op_dim(c, 0, 1)));
    ms_add(&k->add, sat_mul(steps, 2));
    ms_add(&k->mul, steps);
    if (!str_is(op_attr_str(c, "metric", "sqeuclidean"), "sqeuclidean"))
        ms_add(&k->special, pairs);
}

/* ---- bilinear samples: 4 mul + 3 add per output, nearest none ---- */

static assay_status crop_infer(op_ctx *c)
{
    int64_t height = -1, width = -1;
    if (!op_int_at(c, 3, 0, &height) || !op_int_at(c, 3, 1, &width))
        height = width = -1;
    else if (height <= 0 || width <= 0)
        return op_fail(c, "a crop of %lld x %lld is empty", (long long)height, (long long)width);
    TRY(ms_want_rank(c, 0, 4));
    int64_t dims[] = {op_dim(c, 1, 0), op_dim(c, 0, 1), height, width};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

static assay_status grid_infer(op_ctx *c)
{
    TRY(ms_want_rank(c, 0, 4));
    TRY(ms_want_rank(c, 1, 4));
    int64_t dims[] = {op_dim(c, 0, 0), op_dim(c, 0, 1), op_dim(c, 1, 1), op_dim(c, 1, 2)};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

static void sample_cost(const op_ctx *c, op_cost *k)
{
    str mode = op_attr_str(c, "mode", "bilinear");
    uint64_t taps = str_is(mode, "nearest") ? 1 : str_is(mode, "bicubic") ? 16 : 4;
    if (taps == 1)
        return;
    ms_add(&k->mul, sat_mul(op_out_elems(c, 0), taps));
    ms_add(&k->add, sat_mul(op_out_elems(c, 0), taps - 1));
}

/* boxes [B,n,4], feature maps [B,C,..]... -> [B,n,C,p,p] */
static assay_status pyramid_infer(op_ctx *c)
{
    int64_t p = op_attr_int(c, "pooled_size", 1);
    if (p < 1)
        return op_fail(c, "attribute pooled_size must be positive");
    int64_t dims[] = {op_dim(c, 0, 0), op_dim(c, 0, 1), op_dim(c, 1, 1), p, p};
    return op_set(c, 0, op_dtype(c, 0), 5, dims);
}

/* boxes [B,n,4] or [B,n,classes,4], scores [B,n,classes] */
static assay_status nms_infer(op_ctx *c)
{
    int64_t most = op_attr_int(c, "max_output_boxes", 1), batch = op_dim(c, 0, 0);
    if (most < 1)
        return op_fail(c, "attribute max_output_boxes must be positive");
    TRY(op_set(c, 0, IR_INT32, 2, (int64_t[]){batch, 1}));
    TRY(op_set(c, 1, op_dtype(c, 0), 3, (int64_t[]){batch, most, 4}));
    TRY(op_set(c, 2, op_dtype(c, 0), 2, (int64_t[]){batch, most}));
    return op_set(c, 3, IR_INT32, 2, (int64_t[]){batch, most});
}

static void nms_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->cmp, op_in_elems(c, 1));
}

/* c2c [B,S,S] + two gathered tensors, scaled. */
static void disentangled_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->add, sat_mul(op_out_elems(c, 0), 2));
    ms_add(&k->mul, op_out_elems(c, 0));
}

/* ---- DynamicTimeWarping: costs [M,N] or [1,M,N] -> path [2, up to M+N-1] ---- */

static assay_status warping_infer(op_ctx *c)
{
    int64_t both = ms_dim_add(op_dim(c, 0, -2), op_dim(c, 0, -1));
    TRY(op_set(c, 0, IR_INT32, 2, (int64_t[]){2, both > 0 ? both - 1 : both}));
    op_assume(c, "the longest possible warping path was assumed");
    return ASSAY_OK;
}

static void warping_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->cmp, sat_mul(op_in_elems(c, 0), 2));
    ms_add(&k->add, op_in_elems(c, 0));
}

/* ---- text ---- */

static assay_status second_like(op_ctx *c)
{
    return op_set_like(c, 0, 1);
}

static assay_status tokenizer_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK + 1];
    if (rank < 0)
        return op_set_unknown(c, 0, IR_STRING);
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, d);
    dims[rank] = -1;
    return op_set(c, 0, IR_STRING, rank + 1, dims);
}

static assay_status bifurcation_infer(op_ctx *c)
{
    int64_t n = op_has(c, 3) ? ms_dim_add(op_dim(c, 1, 0), op_dim(c, 3, 0)) : op_dim(c, 1, 0);
    TRY(op_set(c, 0, op_dtype(c, 1), 1, &n));
    TRY(op_set_scalar(c, 1, IR_INT64));
    op_assume(c, "the number of tokens kept depends on data; all were assumed");
    return ASSAY_OK;
}

/* Words [n,chars], convolution [filters,1,window,size], bias, characters [m,size] -> [n,filters]:
 * the maximum over tanh of a convolution along each word. */
static assay_status word_conv_infer(op_ctx *c)
{
    int64_t dims[] = {op_dim(c, 0, 0), op_dim(c, 1, 0)};
    if (op_rank(c, 0) < 0)
        return op_set_unknown(c, 0, op_dtype(c, 1));
    TRY(ms_want_rank(c, 0, 2));
    return op_set(c, 0, op_dtype(c, 1), 2, dims);
}

static void word_conv_cost(const op_ctx *c, op_cost *k)
{
    uint64_t chars = ms_u(op_dim(c, 0, -1)), window = ms_u(op_dim(c, 1, 2));
    uint64_t places = chars >= window ? chars - window + 1 : 0;
    uint64_t n = sat_mul(op_out_elems(c, 0), places);
    op_add_mac(k, sat_mul(n, op_in_product(c, 1, 1)));
    ms_add(&k->add, n);
    ms_add(&k->special, n);
    ms_add(&k->cmp, n);
}

/* ---- AttnLSTM: LSTM inputs, then QW 8, MW 9, V 10, memory 11, lengths 12, AW 13 ---- */

static assay_status attn_lstm_infer(op_ctx *c)
{
    return ms_lstm_infer(c, 2);
}

/* Per step and sequence: query, scores over the memory (add, tanh, dot), softmax, context, join. */
static void attn_step_cost(const op_ctx *c, op_cost *k, uint64_t steps)
{
    uint64_t memory = ms_u(op_dim(c, 11, 1)), attn = ms_u(op_dim(c, 8, 2));
    uint64_t scored = op_mul3(steps, memory, attn);
    op_ctx real = ms_real(c);
    op_add_mac(k, op_mul3(steps, op_in_product(c, 8, 1), 1));
    op_add_mac(k, scored);
    ms_add(&k->add, scored);
    ms_add(&k->special, scored);
    op_softmax_cost(&real, k, sat_mul(steps, memory));
    op_add_mac(k, op_mul3(steps, memory, ms_u(op_dim(c, 11, 2))));
    op_add_mac(k, sat_mul(steps, op_in_product(c, 13, 1)));
}

static void attn_lstm_cost(const op_ctx *c, op_cost *k)
{
    int64_t each[] = {op_dim(c, 0, 0), op_dim(c, 0, 1), ms_lstm_directions(c)};
    uint64_t steps = ms_product(3, each), units = sat_mul(steps, ms_u(ms_lstm_hidden(c, 2)));
    op_add_mac(k, sat_mul(steps, sat_add(op_in_product(c, 1, 1), op_in_product(c, 2, 1))));
    ms_add(&k->special, sat_mul(units, 5));
    ms_add(&k->mul, sat_mul(units, op_has(c, 7) ? 6 : 3));
    ms_add(&k->add, sat_mul(units, 1 + (op_has(c, 3) ? 8u : 0u) + (op_has(c, 7) ? 3u : 0u)));
    if (!op_has(c, 8) || !op_has(c, 11))
        return;
    attn_step_cost(c, k, steps);
    op_add_mac(k, op_mul3(op_in_elems(c, 11), ms_u(op_dim(c, 9, 2)), ms_u(each[2])));
}

/* ---- blobs ---- */

/* A pipeline stage sends tensors to another process and gets a signal; data comes in by the declared types. */
static assay_status send_infer(op_ctx *c)
{
    return op_set_scalar(c, 0, IR_BOOL);
}

static assay_status recv_infer(op_ctx *c)
{
    const int64_t *types = NULL;
    int n = op_attr_ints(c, "element_types", &types);
    TRY(op_set_scalar(c, 0, IR_BOOL));
    for (uint32_t o = 1; o < c->n_out; o++) {
        bool known = (int64_t)o <= n && ir_dtype_valid(types[o - 1]);
        TRY(op_set_unknown(c, o, known ? (ir_dtype)types[o - 1] : IR_UNDEFINED));
    }
    return ASSAY_OK;
}

static assay_status blob_infer(op_ctx *c)
{
    for (uint32_t o = 0; o < c->n_out; o++)
        TRY(op_set_unknown(c, o, IR_UNDEFINED));
    op_assume(
        c, "it contains a part of the model compiled for a vendor's device; its cost is unknown");
    return ASSAY_OK;
}

#define SAMPLES "per output: 4 mul + 3 add (bilinear), 16 mul + 15 add (bicubic), nearest 0"
#define NMS(dom)                                                                                \
    {                                                                                           \
        OP_ROW(dom, "EfficientNMS_TRT", "nonmaxsuppression", "1", "1 cmp per score", nms_infer, \
               nms_cost),                                                                       \
            OP_SLOTS(2, 3, 1, 4), .weights = 1u << 2                                            \
    }
#define PYRAMID(dom, op)                                                       \
    {                                                                          \
        OP_ROW(dom, op, "roialign", "1", SAMPLES, pyramid_infer, sample_cost), \
            OP_SLOTS(2, 6, 1, 1), .backward = OP_BW_SAME                       \
    }

static const op_row rows[] = {
    {MS_ROW("Inverse", "inverse", "per n*n matrix: n^3 mul + n^3 add", inverse_infer, inverse_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME, .saves = OP_SAVE_OUTPUT},
    {MS_ROW("Rfft", "dft", "per transform of n points: n/2*ceil(log2 n) * (4 mul + 6 add)",
            rfft_infer, rfft_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME},
    {MS_ROW("Irfft", "dft", "per transform of n points: n/2*ceil(log2 n) * (4 mul + 6 add)",
            irfft_infer, irfft_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME},
    {MS_ROW("ComplexMul", "mul", "per pair: 4 mul + 2 add", complex_infer, complex_cost),
     OP_SLOTS(2, 2, 1, 1), .flags = OPF_ELEMENTWISE | OPF_INPLACE, .backward = OP_BW_SAME,
     .saves = OP_SAVE_INPUTS},
    {MS_ROW("ComplexMulConj", "mul", "per pair: 4 mul + 2 add", complex_infer, complex_cost),
     OP_SLOTS(2, 2, 1, 1), .flags = OPF_ELEMENTWISE | OPF_INPLACE, .backward = OP_BW_SAME,
     .saves = OP_SAVE_INPUTS},
    {MS_ROW("CDist", "cdist",
            "per pair of points: 2 add + 1 mul per coordinate, 1 special unless squared",
            cdist_infer, cdist_cost),
     OP_SLOTS(2, 2, 1, 1), .weights = 3u << 0, .backward = OP_BW_SAME, .saves = OP_SAVE_BOTH},
    {MS_ROW("CropAndResize", "roialign", SAMPLES, crop_infer, sample_cost), OP_SLOTS(4, 4, 1, 1),
     .aux = 7u << 1, .backward = OP_BW_SAME},
    {MS_ROW("GridSample", "gridsample", SAMPLES, grid_infer, sample_cost), OP_SLOTS(2, 2, 1, 1),
     .backward = OP_BW_SAME, .saves = OP_SAVE_INPUTS},
    PYRAMID("", "PyramidROIAlign_TRT"),
    PYRAMID("TRT", "PyramidROIAlign_TRT"),
    PYRAMID("", "MultilevelCropAndResize_TRT"),
    PYRAMID("TRT", "MultilevelCropAndResize_TRT"),
    NMS(""),
    NMS("TRT"),
    {OP_ROW("", "DisentangledAttention_TRT", "add", "1", "per output: 2 add + 1 mul", op_infer_like,
            disentangled_cost),
     OP_SLOTS(3, 3, 1, 1)},
    {MS_ROW("DynamicTimeWarping", "dtw", "per cell: 2 cmp + 1 add", warping_infer, warping_cost),
     OP_SLOTS(1, 1, 1, 1)},
    {MS_ROW("NGramRepeatBlock", "ngram", "0 (data movement)", second_like, NULL),
     OP_SLOTS(2, 2, 1, 1), .flags = OPF_DATA_MOVE},
    {MS_ROW("Tokenizer", "tokenizer", "0 (strings)", tokenizer_infer, NULL), OP_SLOTS(1, 1, 1, 1),
     .flags = OPF_DATA_MOVE},
    {MS_ROW("BifurcationDetector", "ngram", "0 (data movement)", bifurcation_infer, NULL),
     OP_SLOTS(3, 4, 1, 2), .flags = OPF_DATA_MOVE},
    {MS_ROW(
         "WordConvEmbedding", "embedding",
         "words*places*filters*window*size MACs; per place and filter: 1 add + 1 special + 1 cmp",
         word_conv_infer, word_conv_cost),
     OP_SLOTS(4, 4, 1, 1), .weights = 7u << 1, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_BOTH},
    {MS_ROW("AttnLSTM", "lstm",
            "per step: the gates' MACs + query, scores and context over the memory; per "
            "unit 5 special + 3 mul "
            "+ 1 add; per score 1 add + 1 special + softmax 5",
            attn_lstm_infer, attn_lstm_cost),
     OP_SLOTS(3, 14, 1, 3), .weights = 7u << 1 | 15u << 7 | 1u << 13, .aux = 1u << 4 | 1u << 12,
     .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH},
    {MS_ROW("Send", "send", "0 (data movement)", send_infer, NULL), OP_SLOTS(3, 255, 1, 1),
     .aux = 3, .flags = OPF_DATA_MOVE},
    {MS_ROW("Recv", "recv", "0 (data movement)", recv_infer, NULL), OP_SLOTS(2, 2, 2, 255),
     .aux = 3, .flags = OPF_DATA_MOVE},
    {MS_ROW("EPContext", "blob", "unknown: compiled for a vendor's device", blob_infer, NULL),
     OP_SLOTS(0, 255, 1, 255)},
    {MS_ROW("Snpe", "blob", "unknown: compiled for a vendor's device", blob_infer, NULL),
     OP_SLOTS(1, 255, 1, 255)},
};
const op_rows op_ms_misc_rows = OP_ROWS(rows);
