/* Operators of OpenVINO without an equal in ONNX 17: bags of embeddings, decoding of CTC, blocks to batch, patches, tensors
 * made from sizes. Domain "openvino"; attributes have the names of the IR. */
#include <string.h>

#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"

/* A type by its name in the IR, as attributes have it. */
static ir_dtype type_attr(const op_ctx *c, const char *name, ir_dtype def)
{
    static const struct {
        const char *text;
        ir_dtype type;
    } types[] = {{"f32", IR_FLOAT32},   {"f16", IR_FLOAT16}, {"f64", IR_FLOAT64},
                 {"bf16", IR_BFLOAT16}, {"i64", IR_INT64},   {"i32", IR_INT32},
                 {"i16", IR_INT16},     {"i8", IR_INT8},     {"u64", IR_UINT64},
                 {"u32", IR_UINT32},    {"u16", IR_UINT16},  {"u8", IR_UINT8},
                 {"boolean", IR_BOOL}};
    str v = op_attr_str(c, name, "");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(v, types[i].text))
            return types[i].type;
    return def;
}

static int64_t known_size(const op_ctx *c, uint32_t slot, int64_t at)
{
    int64_t n;
    return op_int_at(c, slot, at, &n) && n >= 0 ? n : -1;
}

/* ---- rows of a table [K, n...], summed: [bags, n...] ---- */

typedef struct bag_row {
    uint8_t index, bags; /* slots: indices; what has one entry for each bag along axis 0 */
    uint8_t number;      /* or the slot of a scalar with their number; 0: none */
} bag_row;
static const bag_row offsets = {1, 2, 0}, packed = {1, 1, 0}, segments = {1, 0, 3},
                     segment_max = {0, 0, 2};

static assay_status bag_infer(op_ctx *c)
{
    const bag_row *v = c->row->with;
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    if (rank < 1)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    dims[0] = v->number                  ? known_size(c, v->number, 0)
              : op_rank(c, v->bags) >= 1 ? op_dim(c, v->bags, 0)
                                         : -1;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

static void bag_cost(const op_ctx *c, op_cost *k)
{
    const bag_row *v = c->row->with;
    uint64_t rows = op_in_elems(c, v->index), width = op_in_product(c, 0, 1);
    op_count(c, k, &k->add, sat_mul(rows, width));
    op_read_elems(c, k, 0, sat_mul(rows, width));
}

static void segment_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, op_in_elems(c, 0));
}

/* ---- CTC ---- */

static assay_status ctc_infer(op_ctx *c)
{
    const int64_t dims[] = {op_dim(c, 0, 1), op_dim(c, 0, 0), 1, 1};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

static assay_status ctc_lengths_infer(op_ctx *c)
{
    const int64_t dims[] = {op_dim(c, 0, 0), op_dim(c, 0, 1)};
    TRY(op_set(c, 0, type_attr(c, "classes_index_type", IR_INT32), 2, dims));
    return op_set(c, 1, type_attr(c, "sequence_length_type", IR_INT32), 1, dims);
}

static assay_status ctc_loss_infer(op_ctx *c)
{
    const int64_t batch = op_rank(c, 0) < 0 ? -1 : op_dim(c, 0, 0);
    return op_set(c, 0, op_dtype(c, 0), 1, &batch);
}

/* ---- blocks of space and batch: x, block [rank], begins, ends ---- */

/* One size: n cut or padded by a and b, then divided or multiplied by the block. */
static assay_status block_size(op_ctx *c, bool to_batch, const int64_t *place, int64_t *n)
{
    int64_t block = place[0], around;
    if (block < 1 || place[1] < 0 || place[2] < 0 || !num_add(place[1], place[2], &around))
        return op_fail(c, "invalid block or border");
    if (*n < 0)
        return ASSAY_OK;
    if (to_batch ? !num_add(*n, around, n) || *n % block : !num_mul(*n, block, n) || *n < around)
        return op_fail(c, "input %s does not fit its blocks", op_shape_text(c, 0));
    *n = to_batch ? *n / block : *n - around;
    return ASSAY_OK;
}

static assay_status blocks_infer(op_ctx *c)
{
    bool to_batch = c->row->with != NULL;
    int rank = op_rank(c, 0);
    int64_t list[3][IR_MAX_RANK], dims[IR_MAX_RANK], all = 1;
    if (rank < 1)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    for (uint32_t i = 0; i < 3; i++)
        if (op_ints(c, i + 1, list[i], IR_MAX_RANK) != rank) {
            for (int d = 0; d < rank; d++)
                dims[d] = -1;
            return op_set(c, 0, op_dtype(c, 0), rank, dims);
        }
    for (int d = 1; d < rank; d++) {
        const int64_t place[] = {list[0][d], list[1][d], list[2][d]};
        TRY(block_size(c, to_batch, place, &dims[d]));
        if (!num_mul(all, place[0], &all))
            return op_fail(c, "invalid block or border");
    }
    const int64_t whole[] = {dims[0], all};
    dims[0] = to_batch ? op_product(whole, 0, 2) : dims[0] < 0 ? -1 : dims[0] / all;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- patches: [N, C * kernel, ...] ---- */

/* -1: no whole number. */
static int64_t whole_attr(const op_ctx *c, const char *name, int i, int64_t def)
{
    int64_t v;
    return num_whole(op_attr_number(c, name, i, (double)def), &v) ? v : -1;
}

static int64_t patch_places(const op_ctx *c, int64_t n, int axis)
{
    int64_t size = whole_attr(c, "sizes", axis, 0);
    int64_t step = whole_attr(c, "strides", axis, 0);
    int64_t rate = whole_attr(c, "rates", axis, 1);
    bool same = str_starts(op_attr_str(c, "auto_pad", "valid"), "same");
    if (n < 0 || size < 1 || step < 1 || rate < 1 || size > 1 << 20 || rate > 1 << 20)
        return -1;
    int64_t span = (size - 1) * rate + 1;
    return same ? n / step + (n % step != 0) : n < span ? 0 : (n - span) / step + 1;
}

static assay_status patches_infer(op_ctx *c)
{
    double kernel = op_attr_number(c, "sizes", 0, 0) * op_attr_number(c, "sizes", 1, 0);
    const int64_t channels[] = {op_dim(c, 0, 1),
                                kernel >= 1 && kernel < 1e12 ? (int64_t)kernel : -1};
    const int64_t dims[] = {op_dim(c, 0, 0), op_product(channels, 0, 2),
                            patch_places(c, op_dim(c, 0, 2), 0),
                            patch_places(c, op_dim(c, 0, 3), 1)};
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 4)
        return op_fail(c, "input %s must be [N,C,H,W]", op_shape_text(c, 0));
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* ---- tensors made from sizes ---- */

/* The content of a slot as the shape of the output. */
static assay_status shaped_by(op_ctx *c, uint32_t slot, ir_dtype t)
{
    int64_t dims[IR_MAX_RANK];
    int64_t n = op_rank(c, slot) == 1 ? op_dim(c, slot, 0) : -1;
    if (n < 0 || n > IR_MAX_RANK)
        return op_set_unknown(c, 0, t);
    for (int d = 0; d < n; d++)
        dims[d] = known_size(c, slot, d);
    return op_set(c, 0, t, (int)n, dims);
}

static assay_status random_infer(op_ctx *c)
{
    return shaped_by(c, 0, type_attr(c, "output_type", op_dtype(c, 1)));
}

static assay_status multinomial_infer(op_ctx *c)
{
    const int64_t dims[] = {op_dim(c, 0, 0), known_size(c, 1, 0)};
    return op_set(c, 0, type_attr(c, "convert_type", IR_INT64), 2, dims);
}

/* rows, columns, diagonal, [batch shape] */
static assay_status eye_infer(op_ctx *c)
{
    int64_t dims[IR_MAX_RANK], n = op_rank(c, 3) == 1 ? op_dim(c, 3, 0) : op_has(c, 3) ? -1 : 0;
    ir_dtype t = type_attr(c, "output_type", IR_FLOAT32);
    if (n < 0 || n > IR_MAX_RANK - 2)
        return op_set_unknown(c, 0, t);
    for (int d = 0; d < n; d++)
        dims[d] = known_size(c, 3, d);
    dims[n] = known_size(c, 0, 0);
    dims[n + 1] = known_size(c, 1, 0);
    return op_set(c, 0, t, (int)n + 2, dims);
}

/* [N, C*kernel, L], [H, W], kernel -> [N, C, H, W]; without a batch one axis less. */
static assay_status col2im_infer(op_ctx *c)
{
    int64_t kh = known_size(c, 2, 0), kw = known_size(c, 2, 1), n = op_dim(c, 0, -2), kernel = -1;
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 2 && op_rank(c, 0) != 3)
        return op_fail(c, "input %s must have rank 2 or 3", op_shape_text(c, 0));
    if (kh < 1 || kw < 1 || !num_mul(kh, kw, &kernel))
        kernel = -1;
    const int64_t dims[] = {op_dim(c, 0, 0), kernel > 0 && n >= 0 ? n / kernel : -1,
                            known_size(c, 1, 0), known_size(c, 1, 1)};
    int skip = op_rank(c, 0) == 2;
    return op_rank(c, 0) < 0 ? op_set_unknown(c, 0, op_dtype(c, 0))
                             : op_set(c, 0, op_dtype(c, 0), 4 - skip, dims + skip);
}

/* NV12 and I420, [N, H*3/2, W, 1] or planes of which the first is [N,H,W,1], to [N,H,W,3]. */
static assay_status colour_infer(op_ctx *c)
{
    int64_t h = op_dim(c, 0, 1);
    bool one = !op_has(c, 1);
    const int64_t dims[] = {op_dim(c, 0, 0), h < 0 || !one ? h : h / 3 * 2, op_dim(c, 0, 2), 3};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

static void colour_cost(const op_ctx *c, op_cost *k)
{
    op_count_mix(c, k, (op_mix){.add = 2, .mul = 2, .cmp = 1}, op_out_elems(c, 0));
}

/* ---- elementwise ---- */

static assay_status bucket_infer(op_ctx *c)
{
    return op_set_shape_of(c, 0, type_attr(c, "output_type", IR_INT64), c->row->with ? 1 : 0);
}

/* Binary search: ceil(log2(n + 1)) comparisons. */
static void bucket_cost(const op_ctx *c, op_cost *k)
{
    int64_t n = c->row->with ? op_dim(c, 0, -1) : op_dim(c, 1, -1);
    uint64_t steps = 0;
    while (n > 0 && steps < 62 && (INT64_C(1) << steps) <= n)
        steps++;
    k->cmp = sat_add(k->cmp, sat_mul(op_out_elems(c, 0), steps));
}

static assay_status shift_infer(op_ctx *c)
{
    return op_broadcast_inputs(c, 0, 1, 0, op_dtype(c, 0));
}

static assay_status finite_infer(op_ctx *c)
{
    return op_set_shape_of(c, 0, IR_BOOL, 0);
}

static void grn_cost(const op_ctx *c, op_cost *k)
{
    op_count_mix(c, k, (op_mix){.add = 1, .mul = 1, .div = 1}, op_out_elems(c, 0));
}

/* Gauss-Jordan: n^3 for each matrix [..., n, n]. */
static void inverse_cost(const op_ctx *c, op_cost *k)
{
    int64_t n = op_dim(c, 0, -1);
    op_add_mac(k, sat_mul(op_in_elems(c, 0), n < 0 ? 0 : (uint64_t)n));
}

#define OV(name_, type_, formula_, infer_, cost_) \
    OP_ROW("openvino", name_, type_, "1", formula_, infer_, cost_)
#define MOVES(name_, type_, infer_) OV(name_, type_, "0 (data movement)", infer_, NULL)
#define MOVE                        .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE
#define BAG(name_, with_)                                                                 \
    OV(name_, "embeddingbag", "1 add per element of the rows that are summed", bag_infer, \
       bag_cost),                                                                         \
        .with = &(with_), .weights = 1, OP_SLOTS(2, 6, 1, 1), .backward = OP_BW_MOVE
#define COLOUR(name_)                                                                    \
    OV(name_, "color", "per element: 2 add + 2 mul + 1 cmp", colour_infer, colour_cost), \
        OP_SLOTS(1, 3, 1, 1)
#define SEARCH "ceil(log2(n + 1)) cmp per element"

static const op_row rows[] = {
    {BAG("EmbeddingBagOffsets", offsets)},
    {BAG("EmbeddingBagOffsetsSum", offsets)},
    {BAG("EmbeddingBagPacked", packed)},
    {BAG("EmbeddingBagPackedSum", packed)},
    {BAG("EmbeddingSegmentsSum", segments)},
    {OV("SegmentMax", "segmentmax", "1 cmp per element", bag_infer, segment_cost),
     .with = &segment_max, OP_SLOTS(2, 3, 1, 1)},
    {OV("CTCGreedyDecoder", "ctc", "1 cmp per score", ctc_infer, op_cost_cmp_in),
     OP_SLOTS(2, 2, 1, 1), .aux = 2},
    {OV("CTCGreedyDecoderSeqLen", "ctc", "1 cmp per score", ctc_lengths_infer, op_cost_cmp_in),
     OP_SLOTS(2, 3, 1, 2), .aux = 6},
    {OV("CTCLoss", "ctc", "1 add per score", ctc_loss_infer, op_cost_add_in), OP_SLOTS(4, 5, 1, 1)},
    {MOVES("BatchToSpace", "batchtospace", blocks_infer), OP_SLOTS(4, 4, 1, 1), .aux = 14, MOVE},
    {MOVES("SpaceToBatch", "spacetobatch", blocks_infer), .with = &offsets, OP_SLOTS(4, 4, 1, 1),
     .aux = 14, MOVE},
    {MOVES("ExtractImagePatches", "im2col", patches_infer), OP_SLOTS(1, 1, 1, 1), MOVE},
    {OV("Col2Im", "col2im", "1 add per element", col2im_infer, op_cost_add_in),
     OP_SLOTS(3, 3, 1, 1), .aux = 6},
    {MOVES("Roll", "roll", op_infer_like), OP_SLOTS(3, 3, 1, 1), .aux = 6, MOVE},
    {MOVES("GatherTree", "gather", op_infer_like), OP_SLOTS(4, 4, 1, 1), MOVE},
    {MOVES("SliceScatter", "scatter", op_infer_like), OP_SLOTS(5, 6, 1, 1), .aux = 0x3c, MOVE},
    {MOVES("Eye", "eye", eye_infer), OP_SLOTS(3, 4, 1, 1), .aux = 15},
    {OV("RandomUniform", "random", "1 special per element", random_infer, op_cost_special1),
     OP_SLOTS(3, 3, 1, 1), .aux = 7, .flags = OPF_RANDOM},
    {OV("Multinomial", "random", "1 special per element", multinomial_infer, op_cost_special1),
     OP_SLOTS(2, 2, 1, 1), .aux = 2, .flags = OPF_RANDOM},
    {OV("Bucketize", "bucketize", SEARCH, bucket_infer, bucket_cost), OP_SLOTS(2, 2, 1, 1),
     .aux = 2},
    {OV("SearchSorted", "bucketize", SEARCH, bucket_infer, bucket_cost), .with = &offsets,
     OP_SLOTS(2, 2, 1, 1)},
    {OV("BitwiseLeftShift", "bitwise", "1 per element", shift_infer, op_cost_mul1),
     OP_SLOTS(2, 2, 1, 1)},
    {OV("BitwiseRightShift", "bitwise", "1 per element", shift_infer, op_cost_mul1),
     OP_SLOTS(2, 2, 1, 1)},
    {OV("IsFinite", "logic", "1 cmp per element", finite_infer, op_cost_cmp1),
     OP_SLOTS(1, 1, 1, 1)},
    {OV("FakeConvert", "fakequantize", "1 mul per element", op_infer_like, op_cost_mul1),
     OP_SLOTS(2, 3, 1, 1), .aux = 6, .flags = OPF_PASS, .backward = OP_BW_ELEMENTWISE},
    {OV("GRN", "normalization", "per element: 1 add + 1 mul + 1 div", op_infer_like, grn_cost),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {OV("Inverse", "inverse", "n MACs per element of matrices [n,n]", op_infer_like, inverse_cost),
     OP_SLOTS(1, 1, 1, 1)},
    {COLOUR("NV12toBGR")},
    {COLOUR("NV12toRGB")},
    {COLOUR("I420toBGR")},
    {COLOUR("I420toRGB")},
};
const op_rows op_openvino_more_rows = OP_ROWS(rows);
