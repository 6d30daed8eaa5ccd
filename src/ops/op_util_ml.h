/* What the models of ai.onnx.ml have in common: rows and features of their input, class labels kept in attributes,
 * the transform after the scores. Their weights are attributes, so they are part of the cost and not of the
 * parameters (only constants of the graph are parameters; docs/counting.md).
 */
#ifndef OPS_OP_UTIL_ML_H
#define OPS_OP_UTIL_ML_H

#include "ops/op.h"

/* Entries of a list attribute or elements of a tensor attribute; 0 when absent. */
uint64_t op_ml_len(const op_ctx *c, const char *name);
/* Input 0 as [rows, features]; a vector is one row. -1 where unknown; fails on other ranks. */
assay_status op_ml_matrix(op_ctx *c, int64_t *rows, int64_t *features);
/* The same for cost rules: 0 where unknown. */
uint64_t op_ml_n_rows(const op_ctx *c);
uint64_t op_ml_n_features(const op_ctx *c);

/* Number of class labels and the type they give to output 0. */
uint64_t op_ml_labels(const op_ctx *c, const char *strings, const char *ints, ir_dtype *t);
/* Output 0: one label per row; output 1: `scores` scores per row (-1 unknown). */
assay_status op_ml_set_classes(op_ctx *c, ir_dtype label, int64_t scores);

typedef enum op_ml_post { ML_NONE, ML_SOFTMAX, ML_LOGISTIC, ML_SOFTMAX_ZERO, ML_PROBIT } op_ml_post;
op_ml_post op_ml_post_by_name(const op_ctx *c);
/* Softmax 5 per score, logistic and probit 1 special each. */
void op_ml_cost_post(op_cost *k, op_ml_post post, uint64_t scores);

#endif
