/* ai.onnx.ml, linear models and support vector machines. Their weights are attributes: they cost,
 * but are not parameters (SPEC.md).
 *
 *   linear   N * C * F MACs, 1 add per score with intercepts, then the post transform
 *   SVM      N * n_sv * F MACs for the kernel of each support vector; rbf takes F differences first
 *            and an exponential, poly and sigmoid a scale, a shift and a special each; then one MAC
 *            per support vector and classifier that it votes in
 */
#include "base/num.h"
#include "ops/op_util_ml.h"

/* ---- linear ---- */

static assay_status infer_linear_classifier(op_ctx *c)
{
    ir_dtype label;
    uint64_t labels = op_ml_labels(c, "classlabels_strings", "classlabels_ints", &label);
    uint64_t scores = op_ml_len(c, "intercepts"), coefs = op_ml_len(c, "coefficients");
    uint64_t features = op_ml_n_features(c);
    if (!scores && features)
        scores = coefs / features;
    if (scores == 1 && labels == 2)
        scores = 2;
    return op_ml_set_classes(c, label, scores ? (int64_t)scores : -1);
}

static void cost_linear_classifier(const op_ctx *c, op_cost *k)
{
    uint64_t rows = op_ml_n_rows(c), scores = op_out_elems(c, 1);
    sat_add_to(&k->mac, sat_mul(rows, op_ml_len(c, "coefficients")));
    sat_add_to(&k->add, sat_mul(rows, op_ml_len(c, "intercepts")));
    sat_add_to(&k->cmp, scores); /* the best class */
    op_ml_cost_post(k, op_ml_post_by_name(c), scores);
}

static int64_t targets(const op_ctx *c)
{
    int64_t n = op_attr_int(c, "targets", 1);
    return n < 0 ? -1 : n;
}

static assay_status infer_linear_regressor(op_ctx *c)
{
    int64_t rows, features;
    TRY(op_ml_matrix(c, &rows, &features));
    return op_set(c, 0, IR_FLOAT32, 2, (const int64_t[]){rows, targets(c)});
}

static void cost_linear_regressor(const op_ctx *c, op_cost *k)
{
    uint64_t scores = op_out_elems(c, 0);
    sat_add_to(&k->mac, sat_mul(scores, op_ml_n_features(c)));
    sat_add_to(&k->add, op_attr_has(c, "intercepts") ? scores : 0);
    op_ml_cost_post(k, op_ml_post_by_name(c), scores);
}

/* ---- support vectors ---- */

/* The kernel between every row and every one of n vectors. */
static void cost_kernel(const op_ctx *c, op_cost *k, uint64_t n)
{
    uint64_t pairs = sat_mul(op_ml_n_rows(c), n), products = sat_mul(pairs, op_ml_n_features(c));
    str kernel = op_attr_str(c, "kernel_type", "LINEAR");
    bool rbf = str_is(kernel, "RBF");
    sat_add_to(&k->mac, products);
    if (str_is(kernel, "LINEAR"))
        return;
    sat_add_to(&k->add, rbf ? products : pairs);
    sat_add_to(&k->mul, pairs);
    sat_add_to(&k->special, pairs);
}

static uint64_t support_vectors(const op_ctx *c)
{
    const int64_t *per_class = NULL;
    int n = op_attr_ints(c, "vectors_per_class", &per_class);
    uint64_t sum = 0;
    for (int k = 0; k < n; k++)
        sat_add_to(&sum, per_class[k] > 0 ? (uint64_t)per_class[k] : 0);
    return sum;
}

/* Pairs of classes: each has its own classifier. */
static uint64_t pairs_of(uint64_t classes)
{
    return classes < 2 ? 0 : sat_mul(classes, classes - 1) / 2;
}

static assay_status infer_svm_classifier(op_ctx *c)
{
    ir_dtype label;
    uint64_t classes = op_ml_labels(c, "classlabels_strings", "classlabels_ints", &label);
    uint64_t scores = classes;
    bool probable = op_ml_len(c, "prob_a") > 0;
    if (support_vectors(c) && !probable)
        scores = classes > 2 ? pairs_of(classes) : 2;
    return op_ml_set_classes(c, label, scores ? (int64_t)scores : -1);
}

static void cost_svm_classifier(const op_ctx *c, op_cost *k)
{
    ir_dtype label;
    uint64_t classes = op_ml_labels(c, "classlabels_strings", "classlabels_ints", &label);
    uint64_t rows = op_ml_n_rows(c), n = support_vectors(c), scores = op_out_elems(c, 1);
    if (!n) {
        sat_add_to(&k->mac, sat_mul(rows, op_ml_len(c, "coefficients")));
        sat_add_to(&k->add, sat_mul(rows, classes));
    } else {
        cost_kernel(c, k, n);
        sat_add_to(&k->mac, sat_mul(rows, sat_mul(n, classes > 1 ? classes - 1 : 1)));
        sat_add_to(&k->add, sat_mul(rows, pairs_of(classes)));
        sat_add_to(&k->special, sat_mul(rows, op_ml_len(c, "prob_a")));
    }
    sat_add_to(&k->cmp, scores);
    op_ml_cost_post(k, op_ml_post_by_name(c), scores);
}

static assay_status infer_svm_regressor(op_ctx *c)
{
    int64_t rows, features;
    TRY(op_ml_matrix(c, &rows, &features));
    return op_set(c, 0, IR_FLOAT32, 2, (const int64_t[]){rows, 1});
}

static void cost_svm_regressor(const op_ctx *c, op_cost *k)
{
    int64_t given = op_attr_int(c, "n_supports", 0);
    uint64_t n = given > 0 ? (uint64_t)given : 0, rows = op_ml_n_rows(c);
    if (n) {
        cost_kernel(c, k, n);
        sat_add_to(&k->mac, sat_mul(rows, n));
    } else {
        sat_add_to(&k->mac, sat_mul(rows, op_ml_len(c, "coefficients")));
    }
    sat_add_to(&k->add, rows);
    sat_add_to(&k->cmp, op_attr_int(c, "one_class", 0) ? rows : 0);
    op_ml_cost_post(k, op_ml_post_by_name(c), rows);
}

#define ML        "ai.onnx.ml"
#define TO_LABELS .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 2
#define TO_SCORES .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1

static const op_row rows[] = {
    {OP_ROW(ML, "LinearClassifier", "linear", "1",
            "N*C*F mac + N*C add (intercepts) + N*C cmp (best class) + post transform; weights are "
            "attributes, not parameters",
            infer_linear_classifier, cost_linear_classifier),
     TO_LABELS},
    {OP_ROW(ML, "LinearRegressor", "linear", "1",
            "N*T*F mac + N*T add (intercepts) + post transform; weights are attributes, not "
            "parameters",
            infer_linear_regressor, cost_linear_regressor),
     TO_SCORES},
    {OP_ROW(
         ML, "SVMClassifier", "svm", "1",
         "N*n_sv*F mac (rbf: as many add, and 1 mul + 1 special per vector) + N*n_sv*(C-1) mac + "
         "N*C*(C-1)/2 add; weights are attributes, not parameters",
         infer_svm_classifier, cost_svm_classifier),
     TO_LABELS},
    {OP_ROW(ML, "SVMRegressor", "svm", "1",
            "N*n_sv*F mac (rbf: as many add, and 1 mul + 1 special per vector) + N*n_sv mac + N "
            "add; weights are attributes, not parameters",
            infer_svm_regressor, cost_svm_regressor),
     TO_SCORES},
};

const op_rows op_ml_model_rows = OP_ROWS(rows);
