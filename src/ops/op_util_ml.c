/* See ops/op_util_ml.h. */
#include "ops/op_util_ml.h"

uint64_t op_ml_len(const op_ctx *c, const char *name)
{
    const ir_attr *a = ir_attr_find(c->node, name);
    if (!a)
        return 0;
    switch (a->kind) {
    case IR_ATTR_FLOATS:
    case IR_ATTR_INTS:
    case IR_ATTR_STRINGS:
        return a->n;
    case IR_ATTR_TENSOR:
        return a->v.tensor ? a->v.tensor->n_elems : 0;
    default:
        return 0;
    }
}

assay_status op_ml_matrix(op_ctx *c, int64_t *rows, int64_t *features)
{
    int rank = op_rank(c, 0);
    if (rank == 0 || rank > 2)
        return op_fail(c, "the input must be [C] or [N,C], not %s", op_shape_text(c, 0));
    *rows = rank == 1 ? 1 : op_dim(c, 0, 0);
    *features = op_dim(c, 0, -1);
    return ASSAY_OK;
}

uint64_t op_ml_n_features(const op_ctx *c)
{
    int64_t d = op_dim(c, 0, -1);
    return d < 0 ? 0 : (uint64_t)d;
}

uint64_t op_ml_n_rows(const op_ctx *c)
{
    int64_t d = op_rank(c, 0) == 1 ? 1 : op_dim(c, 0, 0);
    return d < 0 ? 0 : (uint64_t)d;
}

uint64_t op_ml_labels(const op_ctx *c, const char *strings, const char *ints, ir_dtype *t)
{
    uint64_t n = op_ml_len(c, strings);
    *t = n ? IR_STRING : IR_INT64;
    return n ? n : op_ml_len(c, ints);
}

assay_status op_ml_set_classes(op_ctx *c, ir_dtype label, int64_t scores)
{
    int64_t rows, features;
    TRY(op_ml_matrix(c, &rows, &features));
    TRY(op_set(c, 0, label, 1, &rows));
    return op_set(c, 1, IR_FLOAT32, 2, (const int64_t[]){rows, scores});
}

op_ml_post op_ml_post_by_name(const op_ctx *c)
{
    static const char *const names[] = {
        [ML_NONE] = "NONE",         [ML_SOFTMAX] = "SOFTMAX",
        [ML_LOGISTIC] = "LOGISTIC", [ML_SOFTMAX_ZERO] = "SOFTMAX_ZERO",
        [ML_PROBIT] = "PROBIT",
    };
    str given = op_attr_str(c, "post_transform", "NONE");
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (str_is(given, names[k]))
            return (op_ml_post)k;
    return ML_NONE;
}

void op_ml_cost_post(op_cost *k, op_ml_post post, uint64_t scores)
{
    if (post == ML_NONE)
        return;
    k->special = sat_add(k->special, scores);
    if (post == ML_LOGISTIC || post == ML_PROBIT)
        return;
    k->cmp = sat_add(k->cmp, scores);
    k->add = sat_add(k->add, sat_mul(2, scores));
    k->div = sat_add(k->div, scores);
}
