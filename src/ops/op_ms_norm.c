/* com.microsoft normalisations, alone and fused with what comes before: skip connections, embedding
 * lookups, gates. Per element 7 for a layer or group norm and 4 for an RMS norm (op_util_norm.h),
 * plus 1 add per summand that is fused in.
 *
 * SimplifiedLayerNormalization (an RMS norm) is written by ONNX Runtime's optimiser and by
 * exporters into the default domain, too.
 */
#include "ops/op_util_ms.h"
#include "ops/op_util_norm.h"

/* ---- layer norms: X, gamma, beta ---- */

/* The result has the type of gamma, which need not be that of X. */
static ir_dtype norm_dtype(const op_ctx *c)
{
    return op_dtype(c, 1) != IR_UNDEFINED ? op_dtype(c, 1) : op_dtype(c, 0);
}

static assay_status layer_norm_infer(op_ctx *c)
{
    int64_t axis = op_attr_int(c, "axis", -1);
    TRY(op_set_shape_of(c, 0, norm_dtype(c), 0));
    for (uint32_t o = 1; o < c->n_out; o++)
        TRY(op_set_stats(c, o, op_stash_type(c), axis));
    return ASSAY_OK;
}

static void layer_norm_cost(const op_ctx *c, op_cost *k)
{
    op_norm_cost(c, k, op_in_elems(c, 0), op_has(c, 1), op_has(c, 2));
}

static void simplified_cost(const op_ctx *c, op_cost *k)
{
    op_rms_cost(c, k, op_in_elems(c, 0), op_has(c, 1));
}

/* X int8, scale of X, gamma, beta, scale of Y. */
static void qordered_norm_cost(const op_ctx *c, op_cost *k)
{
    op_ctx real = ms_real(c);
    op_norm_cost(&real, k, op_in_elems(c, 0), op_has(c, 2), op_has(c, 3));
}

/* X, gamma [C], gate: the last dim is any number of groups of C. */
static void gated_rms_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    op_rms_cost(c, k, n, true);
    ms_act_cost(k, ms_act_find(STR("silu")), n);
    ms_add(&k->mul, n);
}

/* ---- with a skip: X, skip, gamma, beta, bias -> Y, mean, inverse deviation, sum ---- */

static assay_status check_width(op_ctx *c, uint32_t i)
{
    int64_t width = op_dim(c, 0, -1), got = op_dim(c, i, -1);
    if (op_has(c, i) && width >= 0 && got >= 0 && width != got)
        return op_fail(c, "input %u %s does not match the last dimension of %s", (unsigned)i,
                       op_shape_text(c, i), op_shape_text(c, 0));
    return ASSAY_OK;
}

static assay_status skip_infer(op_ctx *c)
{
    for (uint32_t i = 1; i < c->n_in && i < 5; i++)
        TRY(check_width(c, i));
    if (op_rank(c, 0) == 0)
        return op_fail(c, "the input is a scalar");
    TRY(op_set_like(c, 0, 0));
    TRY(op_set_stats(c, 1, IR_FLOAT32, -1));
    TRY(op_set_stats(c, 2, IR_FLOAT32, -1));
    return op_set_like(c, 3, 0);
}

static void skip_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    ms_add(&k->add, sat_mul(n, op_has(c, 4) ? 2 : 1));
    op_norm_cost(c, k, n, true, op_has(c, 3));
}

static void skip_simplified_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    ms_add(&k->add, sat_mul(n, op_has(c, 3) ? 2 : 1));
    op_rms_cost(c, k, n, true);
}

/* ---- with embeddings: ids, segment ids, word, position and segment tables, gamma, beta ---- */

static assay_status embed(op_ctx *c, ir_dtype t)
{
    int64_t hidden;
    TRY(ms_want_rank(c, 0, 2));
    TRY(ms_want_rank(c, 2, 2));
    TRY(op_same_dim(c, op_dim(c, 2, 1), op_dim(c, 3, 1), "the width of the embeddings", &hidden));
    int64_t dims[] = {op_dim(c, 0, 0), op_dim(c, 0, 1), hidden};
    TRY(op_set(c, 0, t, 3, dims));
    TRY(op_set(c, 1, op_dtype(c, 0), 1, dims)); /* [B]: words of each sequence */
    return op_set(c, 2, t, 3, dims);
}

static assay_status embed_infer(op_ctx *c)
{
    return embed(c, op_dtype(c, 2));
}

/* The tables are int8; their scales (8) have the type of the result. */
static assay_status qembed_infer(op_ctx *c)
{
    return embed(c, op_has(c, 8) ? op_dtype(c, 8) : IR_FLOAT32);
}

/* Rows that are looked up; position rows are shared by the batch when no position ids are given. */
static void embed_cost(const op_ctx *c, op_cost *k)
{
    op_ctx real = ms_real(c);
    uint64_t n = op_out_elems(c, 0), positions = op_has(c, 4) ? 2 : 1;
    ms_add(&k->add, sat_mul(n, positions));
    op_norm_cost(&real, k, n, true, true);
    op_read_elems(c, k, 2, n);
    int64_t shared[] = {op_dim(c, 0, 1), op_dim(c, 2, 1)};
    op_read_elems(c, k, 3, ms_product(2, shared));
    if (op_has(c, 4) && op_in_elems(c, 4) > n)
        op_read_elems(c, k, 4, n);
}

/* ---- group norms: X, gamma, beta, skip, bias ---- */

static assay_status group_infer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    bool last = op_attr_int(c, "channels_last", 1) != 0;
    int64_t groups = op_attr_int(c, "groups", 1), channels = op_dim(c, 0, last ? -1 : 1);
    if (rank >= 0 && rank < 3)
        return op_fail(c, "input %s has no spatial dimension", op_shape_text(c, 0));
    if (groups <= 0 || (channels >= 0 && channels % groups != 0))
        return op_fail(c, "%lld channels of %s are not divisible into %lld groups",
                       (long long)channels, op_shape_text(c, 0), (long long)groups);
    TRY(op_set_like(c, 0, 0));
    return op_set_like(c, 1, 0);
}

static void group_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_in_elems(c, 0);
    op_norm_cost(c, k, n, true, true);
    if (op_attr_int(c, "activation", 0) == 1)
        ms_act_cost(k, ms_act_find(STR("silu")), n);
}

static void skip_group_cost(const op_ctx *c, op_cost *k)
{
    ms_add(&k->add, sat_mul(op_in_elems(c, 0), op_has(c, 4) ? 2 : 1));
    group_cost(c, k);
}

#define SIMPLIFIED(dom)                                                            \
    {                                                                              \
        OP_ROW(dom, "SimplifiedLayerNormalization", "rmsnorm", "1",                \
               "4 per element: 3 mul + 1 add", layer_norm_infer, simplified_cost), \
            OP_SLOTS(1, 3, 1, 2), .weights = 1u << 1, .backward = OP_BW_NORM,      \
                                  .saves = OP_SAVE_INPUTS                          \
    }

static const op_row rows[] = {
    SIMPLIFIED(""),
    SIMPLIFIED(MS_DOMAIN),
    {MS_ROW("LayerNormalization", "layernorm",
            "7 per element: 4 add + 3 mul; 1 add less without beta", layer_norm_infer,
            layer_norm_cost),
     OP_SLOTS(2, 3, 1, 3), .weights = 3u << 1, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {MS_ROW("SkipLayerNormalization", "layernorm",
            "7 per element of the norm (6 without beta) + 1 add for the skip + 1 add with a bias",
            skip_infer, skip_cost),
     OP_SLOTS(3, 5, 1, 4), .weights = 15u << 1, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {MS_ROW("SkipSimplifiedLayerNormalization", "rmsnorm",
            "4 per element of the norm + 1 add for the skip + 1 add with a bias", skip_infer,
            skip_simplified_cost),
     OP_SLOTS(3, 4, 1, 4), .weights = 7u << 1, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {MS_ROW(
         "EmbedLayerNormalization", "embedding",
         "7 per output element of the norm + 1 add per further embedding; rows looked up are read",
         embed_infer, embed_cost),
     OP_SLOTS(7, 9, 1, 3), .weights = 31u << 2, .aux = 3u << 7, .lookups = {{0, 2}, {1, 4}},
     .backward = OP_BW_NORM, .saves = OP_SAVE_BOTH},
    {MS_ROW(
         "QEmbedLayerNormalization", "embedding",
         "7 per output element of the norm + 1 add per further embedding; rows looked up are read",
         qembed_infer, embed_cost),
     OP_SLOTS(18, 18, 1, 2), .weights = 31u << 2, .aux = 2047u << 7, .lookups = {{0, 2}, {1, 4}},
     .backward = OP_BW_NONE},
    {MS_ROW("GroupNorm", "groupnorm", "7 per element: 4 add + 3 mul; SiLU 1 special + 1 mul",
            group_infer, group_cost),
     OP_SLOTS(3, 3, 1, 1), .weights = 3u << 1, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {MS_ROW(
         "SkipGroupNorm", "groupnorm",
         "7 per element of the norm + 1 add for the skip + 1 add with a bias; SiLU 1 special + 1 "
         "mul",
         group_infer, skip_group_cost),
     OP_SLOTS(4, 5, 1, 2), .weights = 3u << 1 | 1u << 4, .backward = OP_BW_NORM,
     .saves = OP_SAVE_INPUTS},
    {MS_ROW("GatedRMSNorm", "rmsnorm", "4 per element of the norm + 2 mul + 1 special of the gate",
            op_infer_like, gated_rms_cost),
     OP_SLOTS(3, 3, 1, 1), .weights = 1u << 1, .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS},
    {MS_ROW("QOrderedLayerNormalization", "layernorm",
            "7 per element: 4 add + 3 mul; 1 add less without beta", op_infer_like,
            qordered_norm_cost),
     OP_SLOTS(5, 5, 1, 1), .weights = 3u << 2, .aux = 1u << 1 | 1u << 4, .backward = OP_BW_NONE},
};
const op_rows op_ms_norm_rows = OP_ROWS(rows);
