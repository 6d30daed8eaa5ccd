/* Between user_expr.c, which parses, and user_eval.c, which computes. */
#ifndef OPS_USER_EXPR_IMPL_H
#define OPS_USER_EXPR_IMPL_H

#include "ops/user_expr.h"

typedef enum user_expr_kind {
    EXPR_NUMBER,
    EXPR_LET,
    EXPR_CALL,
    EXPR_MINUS,
    EXPR_ADD,
    EXPR_SUB,
    EXPR_MUL,
    EXPR_DIV,
    EXPR_MOD,
    EXPR_LESS,
    EXPR_AT_MOST,
    EXPR_MORE,
    EXPR_AT_LEAST,
    EXPR_EQUAL,
    EXPR_DIFFERS,
    EXPR_CHOICE
} user_expr_kind;

/* A call under evaluation: arguments are computed and known. */
typedef struct user_call {
    const op_ctx *node;
    const user_expr *e;
    const int64_t *args;
    uint32_t n_args;
} user_call;

typedef struct user_function {
    const char *name, *takes; /* t a tensor, a an attribute, i a number; after "|" optional */
    /* NULL, or what is wrong. */
    const char *(*eval)(const user_call *c, user_number *out);
} user_function;

struct user_expr {
    user_expr_kind kind;
    uint32_t at;     /* character */
    uint32_t tensor; /* or definition */
    bool is_output;
    uint8_t n_args;
    int64_t number;
    str name; /* of an attribute */
    const user_function *function;
    const user_expr *args[3];
};

const user_function *user_function_find(str name); /* NULL if there is none */

#endif
