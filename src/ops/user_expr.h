/* Expressions of a file of operator rules (user_ops.h): whole numbers computed from what is known of a node.
 *
 *   expression = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ] [ "?" expression ":" expression ]
 *   sum        = term { ("+" | "-") term }
 *   term       = unary { ("*" | "/" | "%") unary }
 *   unary      = [ "-" ] atom
 *   atom       = number | name | function "(" arguments ")" | "(" expression ")"
 *
 * Numbers are signed and of 64 bits. "/" and "%" round towards minus infinity. A comparison is 1 or 0. What depends on
 * an unknown size or content is unknown. Overflow and division by zero are errors, never a number.
 */
#ifndef OPS_USER_EXPR_H
#define OPS_USER_EXPR_H

#include "ops/op.h"

enum {
    USER_EXPR_CHARS = 1024, /* longest expression */
    USER_EXPR_DEPTH = 32,   /* deepest nesting */
    USER_TENSORS = 32,      /* inputs, or outputs, of a rule */
    USER_LETS = 32          /* definitions of a rule */
};

typedef struct user_expr user_expr;

/* Names that an expression may use. Outputs are those that are known by then: none in a shape. A definition uses only
 * those before it, so that none can recurse. */
typedef struct user_names {
    str inputs[USER_TENSORS], outputs[USER_TENSORS], lets[USER_LETS];
    uint32_t n_inputs, n_outputs, n_lets;
    uint32_t lets_before; /* of n_lets: those that may be used here */
} user_names;

typedef struct user_number {
    bool known;
    int64_t n;
} user_number;

/* A node under evaluation. */
typedef struct user_scope {
    const op_ctx *node;
    user_number lets[USER_LETS]; /* definitions, computed in their order */
    assay_error *err;
} user_scope;

/* ASSAY_ERR_MALFORMED with `where` and the character. Lives in the arena. */
assay_status user_expr_parse(str text, str where, const user_names *names, arena *a,
                             const user_expr **out, assay_error *err);
user_expr *user_expr_number(int64_t n, arena *a); /* NULL if out of memory */
/* Letters, digits and "_", 64 at most; a letter first. */
bool user_is_name(str s);
/* ASSAY_ERR_MALFORMED, naming `where`, the node and the character. */
assay_status user_expr_eval(user_scope *s, const user_expr *e, str where, user_number *out);
/* The same error, for a number that is known and cannot be. */
assay_status user_expr_fail(const user_scope *s, const user_expr *e, str where, const char *what);
#endif
