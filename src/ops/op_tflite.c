/* Operators that only TFLite has: recurrent layers with a tensor per gate, and variables. Domain "tflite".
 *
 * A recurrent layer multiplies each of its matrices with one vector per step and sample: MACs are steps * batch * the
 * elements of all matrices; a vector of weights (peephole, layer normalisation, bias) is one mul or add per element.
 */
#include "ops/op_util_contract.h"
#include "ops/op_util_cost.h"

/* Slots that hold the first and the last of the weights of a layer. */
typedef struct recurrent {
    uint8_t first, last;
    uint8_t project; /* slot of the output projection [outputs, cells]; 0: none */
    uint8_t rows;    /* slot of a matrix whose rows are the cells */
    bool sequence;   /* X is [time,batch,n] or [batch,time,n]; else [batch,n] */
} recurrent;

static const recurrent lstm = {1, 23, 16, 2, true}, lstm_cell = {1, 23, 16, 2, false},
                       rnn = {1, 3, 0, 1, true}, rnn_cell = {1, 3, 0, 1, false},
                       svdf = {1, 3, 0, 1, false};

static assay_status recurrent_infer(op_ctx *c)
{
    const recurrent *v = c->row->with;
    int rank = v->sequence ? 3 : 2;
    int64_t dims[3];
    uint32_t from = v->project && op_rank(c, v->project) == 2 ? v->project : v->rows;
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != rank)
        return op_fail(c, "input %s must have rank %d", op_shape_text(c, 0), rank);
    for (int d = 0; d < rank - 1; d++)
        dims[d] = op_dim(c, 0, d);
    dims[rank - 1] = op_rank(c, from) == 2 ? op_dim(c, from, 0) : -1;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* Features of rank `rank` are units: outputs are features / rank. */
static assay_status svdf_infer(op_ctx *c)
{
    int64_t rank = op_attr_int(c, "rank", 1), features = op_dim(c, 1, 0);
    int64_t dims[2] = {op_dim(c, 0, 0), -1};
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 2)
        return op_fail(c, "input %s must have rank 2", op_shape_text(c, 0));
    if (rank > 0 && op_rank(c, 1) == 2 && features >= 0)
        dims[1] = features / rank;
    return op_set(c, 0, op_dtype(c, 0), 2, dims);
}

static uint64_t steps_of(const op_ctx *c, const recurrent *v)
{
    int64_t n = op_rank(c, 0) > 1 ? op_product(op_dims(c, 0), 0, v->sequence ? 2 : 1) : 0;
    return n < 0 ? 0 : (uint64_t)n;
}

static void recurrent_cost(const op_ctx *c, op_cost *k)
{
    const recurrent *v = c->row->with;
    uint64_t steps = steps_of(c, v);
    for (uint32_t i = v->first; i <= v->last && i < c->n_in; i++) {
        if (i == 18 || i == 19) /* the states of an LSTM */
            continue;
        uint64_t n = sat_mul(steps, op_in_elems(c, i));
        if (op_rank(c, i) == 2)
            op_add_mac(k, n);
        else
            op_count(c, k, &k->add, n);
    }
    op_count(c, k, &k->special, op_out_elems(c, 0));
}

/* ---- two directions: forward weights, then backward ones ---- */

typedef struct both {
    uint8_t first, last, fw_rows, bw_rows;
} both;
static const both bidirectional_lstm = {1, 34, 2, 19}, bidirectional_rnn = {1, 8, 1, 5};

static assay_status both_infer(op_ctx *c)
{
    const both *v = c->row->with;
    int64_t dims[3], fw = -1, bw = -1;
    bool merge = op_attr_int(c, "merge_outputs", 0) != 0;
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 3)
        return op_fail(c, "input %s must have rank 3", op_shape_text(c, 0));
    if (op_rank(c, v->fw_rows) == 2)
        fw = op_dim(c, v->fw_rows, 0);
    if (op_rank(c, v->bw_rows) == 2)
        bw = op_dim(c, v->bw_rows, 0);
    dims[0] = op_dim(c, 0, 0);
    dims[1] = op_dim(c, 0, 1);
    dims[2] = !merge ? fw : fw < 0 || bw < 0 || !num_add(fw, bw, &fw) ? -1 : fw;
    TRY(op_set(c, 0, op_dtype(c, 0), 3, dims));
    dims[2] = bw;
    return op_set(c, 1, op_dtype(c, 0), 3, dims);
}

static void both_cost(const op_ctx *c, op_cost *k)
{
    const both *v = c->row->with;
    int64_t n = op_rank(c, 0) == 3 ? op_product(op_dims(c, 0), 0, 2) : 0;
    uint64_t steps = n < 0 ? 0 : (uint64_t)n;
    for (uint32_t i = v->first; i <= v->last && i < c->n_in; i++)
        if (op_rank(c, i) == 2 && op_has(c, i) && c->in_ids[i] != IR_NONE &&
            ir_value_at(c->model, c->in_ids[i])->constant)
            op_add_mac(k, sat_mul(steps, op_in_elems(c, i)));
    op_count(c, k, &k->special, sat_add(op_out_elems(c, 0), op_out_elems(c, 1)));
}

/* ---- variables: what the file declares of them is all that is known ---- */

static assay_status unknown_infer(op_ctx *c)
{
    for (uint32_t o = 0; o < c->n_out; o++)
        TRY(op_set_unknown(c, o, IR_UNDEFINED));
    return ASSAY_OK;
}

static assay_status nothing_infer(op_ctx *c)
{
    (void)c;
    return ASSAY_OK;
}

/* ---- detection: boxes [N,P,4], scores [N,P,C], anchors [P,4] ---- */

static assay_status detections_infer(op_ctx *c)
{
    int64_t most = op_attr_int(c, "max_detections", -1), batch = op_dim(c, 0, 0);
    const int64_t sizes[] = {most, op_attr_int(c, "max_classes_per_detection", 1)};
    const int64_t dims[] = {batch, op_product(sizes, 0, 2), 4};
    for (uint32_t o = 0; o < c->n_out; o++) /* boxes, classes, scores, number */
        TRY(op_set(c, o, IR_FLOAT32, o == 0 ? 3 : o == 3 ? 1 : 2, dims));
    return ASSAY_OK;
}

/* A centre is 1 mul and 1 add, a size 1 exp and 1 mul. */
static void detections_cost(const op_ctx *c, op_cost *k)
{
    uint64_t deltas = op_in_elems(c, 0);
    k->mul = sat_add(k->mul, deltas);
    k->add = sat_add(k->add, deltas / 2);
    k->special = sat_add(k->special, deltas / 2);
    op_count_kept(c, k, op_in_elems(c, 1), op_out_elems(c, 1));
}

#define TFL(name_, type_, formula_, infer_, cost_) \
    OP_ROW("tflite", name_, type_, "1", formula_, infer_, cost_)
#define LAYER(with_)                                                          \
    .with = &(with_), OP_SLOTS(2, 255, 1, 255), .weights = ~UINT32_C(0) << 1, \
    .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_INPUTS
#define STEPS "steps*batch*(elements of all matrices) MACs; per step and vector element 1 add"

static const op_row rows[] = {
    {TFL("UNIDIRECTIONAL_SEQUENCE_LSTM", "lstm", STEPS, recurrent_infer, recurrent_cost),
     LAYER(lstm)},
    {TFL("LSTM", "lstm", STEPS, recurrent_infer, recurrent_cost), LAYER(lstm_cell)},
    {TFL("UNIDIRECTIONAL_SEQUENCE_RNN", "rnn", STEPS, recurrent_infer, recurrent_cost), LAYER(rnn)},
    {TFL("RNN", "rnn", STEPS, recurrent_infer, recurrent_cost), LAYER(rnn_cell)},
    {TFL("SVDF", "svdf", STEPS, svdf_infer, recurrent_cost), LAYER(svdf)},
    {TFL("BIDIRECTIONAL_SEQUENCE_LSTM", "lstm", STEPS, both_infer, both_cost),
     LAYER(bidirectional_lstm)},
    {TFL("BIDIRECTIONAL_SEQUENCE_RNN", "rnn", STEPS, both_infer, both_cost),
     LAYER(bidirectional_rnn)},
    {TFL("TFLite_Detection_PostProcess", "detectionoutput",
         "per delta: 1 mul + 1/2 add + 1/2 special; 1 cmp per score; per box: 7 cmp + 4 add + 1 mul "
         "+ 1 div",
         detections_infer, detections_cost),
     OP_SLOTS(3, 3, 1, 4), .buffers = 4},
    {TFL("VAR_HANDLE", "variable", "0", unknown_infer, NULL), OP_SLOTS(0, 0, 1, 1),
     .flags = OPF_NO_SHAPES | OPF_DATA_MOVE},
    {TFL("READ_VARIABLE", "variable", "0 (data movement)", unknown_infer, NULL),
     OP_SLOTS(1, 1, 1, 1), .flags = OPF_NO_SHAPES | OPF_DATA_MOVE},
    {TFL("ASSIGN_VARIABLE", "variable", "0 (data movement)", nothing_infer, NULL),
     OP_SLOTS(2, 2, 0, 0), .flags = OPF_NO_SHAPES | OPF_DATA_MOVE},
};
const op_rows op_tflite_rows = OP_ROWS(rows);
