/* Operators with channels last, as TensorFlow, Keras and TFLite have them: domain "assay.nhwc". Data is [N,spatial...,C].
 *
 * The attribute kernel_layout says what each axis of a kernel is, one letter per axis: O outputs, I inputs of one group,
 * M outputs per input (depthwise), 1 an axis of one, any other letter a spatial axis.
 *   TFLite OHWI, depthwise 1HWO; Keras HWIO, depthwise HWIM, transposed HWOI; 3-D DHWIO
 * auto_pad, pads, strides, dilations and kernel_shape are those of ONNX's Conv.
 *
 * MACs: outputs * inputs of one group * kernel; transposed: inputs * outputs of one group * kernel. A fully connected
 * layer is elements of x times outputs.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"
#include "ops/op_util_spatial.h"

enum { X, W, B, OUT_SHAPE };

/* A kernel by its letters; sizes are -1 where unknown. */
typedef struct kernel {
    int n; /* spatial axes */
    int64_t spatial[IR_MAX_RANK];
    int64_t out, in; /* in is 1 where each output sees one input */
    bool depthwise;
} kernel;

static void take_letter(kernel *k, char letter, int64_t size)
{
    if (letter == 'O')
        k->out = size;
    else if (letter == 'I')
        k->in = size;
    else if (letter == 'M' || letter == '1')
        k->depthwise = true;
    else
        k->spatial[k->n++] = size;
}

/* Outputs of a kernel with a multiplier are inputs times that. */
static assay_status read_kernel(op_ctx *c, kernel *k)
{
    str letters = op_attr_str(c, "kernel_layout", "HWIO");
    *k = (kernel){.out = -1, .in = -1};
    if (letters.n < 3 || letters.n > 5)
        return op_fail(c, "kernel_layout has %u axes", letters.n);
    if (op_rank(c, W) >= 0 && op_rank(c, W) != (int)letters.n)
        return op_fail(c, "kernel %s does not have the axes %.*s", op_shape_text(c, W),
                       STR_ARG(letters));
    for (uint32_t i = 0; i < letters.n; i++)
        take_letter(k, letters.p[i], op_dim(c, W, (int)i));
    if (!k->depthwise)
        return ASSAY_OK;
    const char *m = memchr(letters.p, 'M', letters.n);
    int64_t times = m ? op_dim(c, W, (int)(m - letters.p)) : -1;
    if (m && (k->in < 0 || times < 0 || !num_mul(k->in, times, &k->out)))
        k->out = -1;
    k->in = 1;
    return ASSAY_OK;
}

static assay_status check_bias(op_ctx *c, const kernel *k)
{
    if (op_rank(c, B) == 1 && op_dim(c, B, 0) >= 0 && k->out >= 0 && op_dim(c, B, 0) != k->out)
        return op_fail(c, "bias %s does not match kernel %s", op_shape_text(c, B),
                       op_shape_text(c, W));
    return ASSAY_OK;
}

static assay_status check_inputs(op_ctx *c, const kernel *k, int64_t inputs)
{
    if (!k->depthwise && inputs >= 0 && k->in >= 0 && (k->in == 0 || inputs % k->in))
        return op_fail(c, "input %s and kernel %s differ in channels", op_shape_text(c, X),
                       op_shape_text(c, W));
    if (k->depthwise && inputs > 0 && k->out >= 0 && k->out % inputs)
        return op_fail(c, "kernel %s has no whole number of outputs for each channel of %s",
                       op_shape_text(c, W), op_shape_text(c, X));
    return ASSAY_OK;
}

static assay_status open_window(op_ctx *c, kernel *k, op_window *w)
{
    TRY(read_kernel(c, k));
    if (op_rank(c, X) >= 0 && op_rank(c, X) != k->n + 2)
        return op_fail(c, "input %s must have rank %d", op_shape_text(c, X), k->n + 2);
    TRY(check_bias(c, k));
    TRY(op_window_read(c, k->n, w));
    for (int d = 0; d < k->n; d++)
        w->kernel[d] = k->spatial[d];
    return ASSAY_OK;
}

static assay_status conv_infer(op_ctx *c)
{
    kernel k;
    op_window w;
    int64_t dims[IR_MAX_RANK];
    TRY(open_window(c, &k, &w));
    TRY(check_inputs(c, &k, op_rank(c, X) < 0 ? -1 : op_dim(c, X, k.n + 1)));
    dims[0] = op_rank(c, X) < 0 ? -1 : op_dim(c, X, 0);
    dims[k.n + 1] = k.out;
    for (int d = 0; d < k.n; d++)
        TRY(op_window_out(c, &w, d, op_rank(c, X) < 0 ? -1 : op_dim(c, X, d + 1), &dims[d + 1]));
    return op_set(c, 0, op_dtype(c, X), k.n + 2, dims);
}

/* The letters were found sound when the shape was inferred. */
static uint64_t kernel_cells(const op_ctx *c, uint64_t *out, uint64_t *in)
{
    str letters = op_attr_str(c, "kernel_layout", "HWIO");
    kernel k = {.out = -1, .in = -1};
    for (uint32_t i = 0; i < letters.n && i < 5; i++)
        take_letter(&k, letters.p[i], op_dim(c, W, (int)i));
    *out = k.out < 0 ? 0 : (uint64_t)k.out;
    *in = k.depthwise ? 1 : k.in < 0 ? 0 : (uint64_t)k.in;
    int64_t n = op_product(k.spatial, 0, k.n);
    return n < 0 ? 0 : (uint64_t)n;
}

/* op_row.needs: the kernel's letters say where its input channels are. */
static op_need need_kernel(const ir_node *n, const ir_tensor *weight)
{
    str letters = ir_attr_str(n, "kernel_layout", "HWIO");
    op_need need = {.rank = weight->rank, .axis = -1, .size = -1};
    if (weight->rank != (int)letters.n)
        return (op_need){.rank = -1};
    for (uint32_t i = 0; i < letters.n; i++)
        if (letters.p[i] == 'I')
            need.size = weight->dims[i];
    return need;
}

/* Of a matrix [outputs, inputs]. */
static op_need need_linear(const ir_node *n, const ir_tensor *weight)
{
    (void)n;
    return (op_need){
        .rank = 2, .any_rank = true, .axis = -1, .size = weight->rank == 2 ? weight->dims[1] : -1};
}

static void add_bias(const op_ctx *c, op_cost *k)
{
    if (op_has(c, B))
        op_count(c, k, &k->add, op_out_elems(c, 0));
}

static void conv_cost(const op_ctx *c, op_cost *k)
{
    uint64_t out, in, cells = kernel_cells(c, &out, &in);
    op_add_mac(k, op_mul3(op_out_elems(c, 0), in, cells));
    add_bias(c, k);
}

/* ---- transposed: X, W, B, and the shape of the output where the source gives it ---- */

static assay_status transposed_size(op_ctx *c, const op_window *w, int d, int64_t *out)
{
    int64_t in = op_rank(c, X) < 0 ? -1 : op_dim(c, X, d + 1);
    if (w->mode == OP_PAD_SAME) {
        *out = -1;
        return in < 0 || num_mul(in, w->stride[d], out) ? ASSAY_OK : op_fail(c, "size overflow");
    }
    return op_window_out_transposed(c, w, d, in, 0, out);
}

static assay_status transposed_infer(op_ctx *c)
{
    kernel k;
    op_window w;
    ev_list given;
    int64_t dims[IR_MAX_RANK];
    TRY(open_window(c, &k, &w));
    bool told = op_has(c, OUT_SHAPE) && ev_list_get(c, OUT_SHAPE, NULL, &given) &&
                given.n == k.n + 2;
    dims[0] = op_rank(c, X) < 0 ? -1 : op_dim(c, X, 0);
    dims[k.n + 1] = k.out;
    for (int d = 0; d < k.n; d++)
        if (told && given.known[d + 1] && given.v[d + 1] >= 0)
            dims[d + 1] = given.v[d + 1];
        else
            TRY(transposed_size(c, &w, d, &dims[d + 1]));
    return op_set(c, 0, op_dtype(c, X), k.n + 2, dims);
}

static void transposed_cost(const op_ctx *c, op_cost *k)
{
    uint64_t out, in, cells = kernel_cells(c, &out, &in);
    op_add_mac(k, op_mul3(op_in_elems(c, X), out, cells));
    add_bias(c, k);
}

/* ---- fully connected: X of any rank, W [outputs, inputs] ---- */

static assay_status linear_infer(op_ctx *c)
{
    int rank = op_rank(c, X);
    int64_t dims[IR_MAX_RANK], in = op_dim(c, W, 1), out = op_rank(c, W) < 0 ? -1 : op_dim(c, W, 0);
    if (op_rank(c, W) >= 0 && op_rank(c, W) != 2)
        return op_fail(c, "kernel %s must be [outputs,inputs]", op_shape_text(c, W));
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, X));
    int64_t n = op_product(op_dims(c, X), 0, rank);
    bool keep = op_attr_int(c, "keep_num_dims", 0) != 0 && rank > 0;
    if (in == 0 || (n >= 0 && in > 0 && n % in) ||
        (keep && in > 0 && op_dim(c, X, -1) >= 0 && op_dim(c, X, -1) != in))
        return op_fail(c, "input %s and kernel %s do not match", op_shape_text(c, X),
                       op_shape_text(c, W));
    for (int d = 0; keep && d < rank - 1; d++)
        dims[d] = op_dim(c, X, d);
    if (!keep) {
        dims[0] = n >= 0 && in > 0 ? n / in : -1;
        rank = 2;
    }
    dims[rank - 1] = out;
    return op_set(c, 0, op_dtype(c, X), rank, dims);
}

static void linear_cost(const op_ctx *c, op_cost *k)
{
    int64_t out = op_rank(c, W) < 0 ? -1 : op_dim(c, W, 0);
    op_add_mac(k, sat_mul(op_in_elems(c, X), out < 0 ? 0 : (uint64_t)out));
    add_bias(c, k);
}

/* ---- pooling ---- */

static assay_status pool_infer(op_ctx *c)
{
    return op_pool_infer(c, IR_INT64, true);
}

static void max_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->cmp, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
}

static void average_pool_cost(const op_ctx *c, op_cost *k)
{
    op_count(c, k, &k->add, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
    op_count(c, k, &k->div, op_out_elems(c, 0));
}

static void l2_pool_cost(const op_ctx *c, op_cost *k)
{
    average_pool_cost(c, k);
    op_count(c, k, &k->mul, sat_mul(op_out_elems(c, 0), op_window_elems(c)));
    op_count(c, k, &k->special, op_out_elems(c, 0));
}

#define NHWC(name_, type_, formula_, infer_, cost_) \
    OP_ROW("assay.nhwc", name_, type_, "1", formula_, infer_, cost_)
#define LEARNS .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS
#define POOLS  OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_SAME, .batch_axis = op_batch_first

static const op_row rows[] = {
    {NHWC("Conv", "conv#d", "N*out*M*(C/group)*kernel MACs; 1 add per output with bias", conv_infer,
          conv_cost),
     OP_SLOTS(2, 3, 1, 1), .batch_axis = op_batch_first, .weights = 1 << W | 1 << B,
     .needs = need_kernel, LEARNS},
    {NHWC("ConvTranspose", "convtranspose#d",
          "N*C*in*M*kernel MACs (over input positions); 1 add per output with bias",
          transposed_infer, transposed_cost),
     OP_SLOTS(2, 4, 1, 1), .batch_axis = op_batch_first, .weights = 1 << W | 1 << B,
     .aux = 1 << OUT_SHAPE, .needs = need_kernel, LEARNS},
    {NHWC("FullyConnected", "linear", "elements of x * outputs MACs; 1 add per output with bias",
          linear_infer, linear_cost),
     OP_SLOTS(2, 3, 1, 1), .weights = 1 << W | 1 << B, .needs = need_linear, LEARNS},
    {NHWC("MaxPool", "maxpool", "kernel cmp per output", pool_infer, max_pool_cost), POOLS,
     .saves = OP_SAVE_INPUTS},
    {NHWC("AveragePool", "avgpool", "per output: kernel add + 1 div", pool_infer,
          average_pool_cost),
     POOLS},
    {NHWC("L2Pool", "lppool", "per output: kernel (mul + add) + 1 div + 1 special", pool_infer,
          l2_pool_cost),
     POOLS, .saves = OP_SAVE_BOTH},
};
const op_rows op_nhwc_rows = OP_ROWS(rows);
