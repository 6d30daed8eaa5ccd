/* A rule as user_ops.c reads it and user_rule.c applies it. */
#ifndef OPS_USER_RULE_H
#define OPS_USER_RULE_H

#include "ops/user_expr.h"

typedef struct user_formula {
    const user_expr *is; /* NULL: not given */
    str where;           /* "rules.json: my::Op, cost.mac" */
} user_formula;

typedef struct user_output {
    int like; /* the input whose shape it has, or -1: dims */
    int rank;
    user_formula *dims; /* [rank] */
    int dtype_of;       /* the input whose type it has, or -1 */
    ir_dtype dtype;
} user_output;

/* What "cost" may name: a member of op_cost each. */
typedef struct user_cost_key {
    const char *key;
    size_t at;
} user_cost_key;
enum { USER_COSTS = 7 };
extern const user_cost_key user_cost_keys[USER_COSTS];

typedef struct user_rule {
    str file;
    user_names names;
    user_formula lets[USER_LETS];
    user_output *outputs; /* [names.n_outputs] */
    user_formula costs[USER_COSTS];
    user_formula read[USER_TENSORS], written[USER_TENSORS]; /* bytes; not given: whole tensors */
} user_rule;

assay_status user_rule_infer(op_ctx *c);
void user_rule_cost(const op_ctx *c, op_cost *k);

#endif
