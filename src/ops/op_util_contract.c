/* Matrix products and attention; see the header for what counts. */
#include "ops/op_util_contract.h"
#include "ops/op_util_norm.h"

void op_add_mac(op_cost *k, uint64_t n)
{
    k->mac = sat_add(k->mac, n);
    k->causal_mac = sat_add(k->causal_mac, n);
}

uint64_t op_mul3(uint64_t a, uint64_t b, uint64_t c)
{
    return sat_mul(sat_mul(a, b), c);
}

uint64_t op_in_product(const op_ctx *c, uint32_t i, int from)
{
    int64_t n = op_rank(c, i) > 0 ? op_product(op_dims(c, i), from, op_rank(c, i)) : 0;
    return n < 0 ? 0 : (uint64_t)n;
}

/* ---- matrix product ---- */

/* One operand as batch axes and a matrix; a vector is a row on the left, a column on the right. */
typedef struct operand {
    int rank; /* of the batch */
    int64_t batch[IR_MAX_RANK];
    int64_t rows, cols;
    bool vector;
} operand;

static void matrix_of(const op_ctx *c, uint32_t i, bool trans, bool trans_batch, operand *x)
{
    int rank = op_rank(c, i);
    const int64_t *dims = op_dims(c, i);
    *x = (operand){
        .rank = rank - 2, .rows = dims[trans_batch ? 0 : rank - 2], .cols = dims[rank - 1]};
    for (int d = 0; d < x->rank; d++)
        x->batch[d] = dims[trans_batch ? d + 1 : d];
    if (trans) {
        int64_t rows = x->rows;
        x->rows = x->cols;
        x->cols = rows;
    }
}

static void operand_of(const op_ctx *c, uint32_t i, bool trans, bool trans_batch, bool left,
                       operand *x)
{
    if (op_rank(c, i) > 1) {
        matrix_of(c, i, trans, trans_batch, x);
        return;
    }
    int64_t n = op_dim(c, i, 0);
    *x = (operand){.rows = left ? 1 : n, .cols = left ? n : 1, .vector = true};
}

static assay_status check_inner(op_ctx *c, const op_matmul *m, const operand *a, const operand *b)
{
    if (a->cols >= 0 && b->rows >= 0 && a->cols != b->rows)
        return op_fail(c, "the inner sizes of %s%s and %s%s differ (%lld and %lld)",
                       op_shape_text(c, m->a), m->trans_a ? " (transposed)" : "",
                       op_shape_text(c, m->b), m->trans_b ? " (transposed)" : "",
                       (long long)a->cols, (long long)b->rows);
    return ASSAY_OK;
}

/* Shape of the product into dims (room for IR_MAX_RANK), *rank -1 when unknown. */
static assay_status op_matmul_dims(op_ctx *c, const op_matmul *m, int *rank, int64_t *dims)
{
    operand a, b;
    *rank = -1;
    if (op_rank(c, m->a) == 0 || op_rank(c, m->b) == 0)
        return op_fail(c, "%s and %s must have at least rank 1", op_shape_text(c, m->a),
                       op_shape_text(c, m->b));
    if (op_rank(c, m->a) < 0 || op_rank(c, m->b) < 0)
        return ASSAY_OK;
    operand_of(c, m->a, m->trans_a, m->trans_batch_a, true, &a);
    operand_of(c, m->b, m->trans_b, m->trans_batch_b, false, &b);
    TRY(check_inner(c, m, &a, &b));
    TRY(op_broadcast(c, &a.rank, a.batch, b.rank, b.batch));
    memcpy(dims, a.batch, (size_t)a.rank * sizeof *dims);
    *rank = a.rank;
    if (!a.vector)
        dims[(*rank)++] = a.rows;
    if (!b.vector)
        dims[(*rank)++] = b.cols;
    return ASSAY_OK;
}

assay_status op_matmul_infer(op_ctx *c, const op_matmul *m, uint32_t o, ir_dtype t)
{
    int rank;
    int64_t dims[IR_MAX_RANK];
    TRY(op_matmul_dims(c, m, &rank, dims));
    return op_set(c, o, t, rank, dims);
}

uint64_t op_matmul_macs(const op_ctx *c, const op_matmul *m, uint32_t o)
{
    operand a;
    if (op_rank(c, m->a) < 1)
        return 0;
    operand_of(c, m->a, m->trans_a, m->trans_batch_a, true, &a);
    return a.cols < 0 ? 0 : sat_mul(op_out_elems(c, o), (uint64_t)a.cols);
}

int op_batch_first(const ir_node *n)
{
    (void)n;
    return 0;
}

/* ---- what a weight asks of the other operand ---- */

op_need op_need_conv(const ir_node *n, const ir_tensor *weight)
{
    op_need need = {.rank = weight->rank, .axis = 1, .size = -1};
    int64_t groups = ir_attr_int(n, "group", 1);
    if (weight->rank < 2 || !num_mul(weight->dims[1], groups > 0 ? groups : 1, &need.size))
        need.size = -1;
    return need;
}

op_need op_need_conv_transpose(const ir_node *n, const ir_tensor *weight)
{
    (void)n;
    return (op_need){
        .rank = weight->rank, .axis = 1, .size = weight->rank < 2 ? -1 : weight->dims[0]};
}

op_need op_need_matrix(const ir_node *n, const ir_tensor *weight)
{
    op_need need = {.rank = 2, .any_rank = true, .axis = -1, .size = -1};
    bool swapped = ir_attr_int(n, "transB", 0) != 0;
    if (weight->rank >= 2 && ir_attr_int(n, "transA", 0) == 0)
        need.size = weight->dims[weight->rank - (swapped ? 1 : 2)];
    return need;
}

/* ---- attention ---- */

/* n * (n + 1) / 2. */
static uint64_t triangle(uint64_t n)
{
    return n % 2 ? sat_mul(n, n / 2 + 1) : sat_mul(n / 2, n + 1);
}

/* Sum of min(p + 1, sk) over the positions p in [0, n): keys at or before each of them. */
static uint64_t keys_before(uint64_t n, uint64_t sk)
{
    return n <= sk ? triangle(n) : sat_add(triangle(sk), sat_mul(n - sk, sk));
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Pairs (query at offset + i, key) with key <= query and, with a window, key >= query - left. */
static uint64_t causal_pairs(const op_attn *a)
{
    uint64_t end = sat_add(a->offset, a->sq);
    uint64_t pairs = less(keys_before(end, a->sk), keys_before(a->offset, a->sk));
    if (a->left < 0)
        return pairs;
    uint64_t out_of_sight = (uint64_t)a->left + 1;
    uint64_t hidden = less(keys_before(less(end, out_of_sight), a->sk),
                           keys_before(less(a->offset, out_of_sight), a->sk));
    return less(pairs, hidden);
}

/* Keys that one query can see at most: the window bounds sk when both of its sides are bounded. */
static uint64_t window_keys(const op_attn *a)
{
    int64_t right = a->causal ? 0 : a->right;
    if (a->left < 0 || right < 0)
        return a->sk;
    uint64_t window = sat_add(sat_add((uint64_t)a->left, (uint64_t)right), 1);
    return window < a->sk ? window : a->sk;
}

static void scores_cost(const op_ctx *c, op_cost *k, const op_attn *a, uint64_t scores)
{
    if (!a->no_scale)
        op_count(c, k, &k->mul, scores);
    if (a->mask)
        op_count(c, k, &k->add, scores);
    if (a->softcap) {
        op_count(c, k, &k->div, scores);
        op_count(c, k, &k->special, scores);
        op_count(c, k, &k->mul, scores);
    }
    op_softmax_cost(c, k, scores);
}

void op_attention_cost(const op_ctx *c, op_cost *k, const op_attn *a)
{
    uint64_t heads = sat_mul(a->batch, a->heads), width = sat_add(a->dk, a->dv);
    uint64_t scores = op_mul3(heads, a->sq, window_keys(a));
    uint64_t visible = a->causal ? sat_mul(heads, causal_pairs(a)) : scores;
    k->mac = sat_add(k->mac, sat_mul(scores, width));
    k->causal_mac = sat_add(k->causal_mac, sat_mul(visible < scores ? visible : scores, width));
    k->mac_qk = sat_add(k->mac_qk, sat_mul(scores, a->dk));
    k->mac_av = sat_add(k->mac_av, sat_mul(scores, a->dv));
    scores_cost(c, k, a, scores);
}

/* ---- rotary embedding ---- */

assay_status op_infer_rotary(op_ctx *c)
{
    int rank = op_rank(c, 0);
    if (rank >= 0 && rank != 3 && rank != 4)
        return op_fail(c, "input %s must have rank 3 or 4", op_shape_text(c, 0));
    return op_set_like(c, 0, 0);
}
