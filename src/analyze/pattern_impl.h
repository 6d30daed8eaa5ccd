/* Between the pattern*.c files. */
#ifndef ANALYZE_PATTERN_IMPL_H
#define ANALYZE_PATTERN_IMPL_H

#include "analyze/pattern.h"
#include "base/map.h"

/* ---- expressions: formulas that a layer's result is compared with (pattern_compile.c, pattern_match.c) ----
 *
 *   x, d           a value; the same letter means the same value. d=(...) also says what it is
 *   G, B           a constant
 *   (* 0.5 x y)    a product: number, then factors; (^ -0.5 e) is a factor with an exponent
 *   (+ 1 x y)      a sum: number, then terms; (neg e) is subtracted
 *   (erf e)        an operator by its family, operands in order; numbers are operands that are scalars
 *   _              any number
 *
 * Products are compared as products, however they are written: Mul, Div, Reciprocal, Sqrt, Pow and Neg in any
 * order and nesting, scalars as initialiser, Constant or computed in advance. Sums alike. Casts, reshapes
 * and the like are looked through.
 */
typedef struct pattern_row {
    const char *name, *form;
    pattern_class is;
    const char *formula;
    /* A last word on what matched; may be NULL. */
    bool (*check)(const flow *f, const uint32_t *layers, uint32_t n);
} pattern_row;

extern const pattern_row pattern_rows[];
extern const uint32_t pattern_rows_n;

typedef struct pattern_set { /* layers of a match in the making */
    uint32_t *layers;
    bool *pass; /* a layer that was looked through: may be left outside */
    uint32_t n;
} pattern_set;
enum { PATTERN_LAYERS = 96 };

struct pattern_program; /* a formula, compiled */
struct pattern_program *pattern_compile(const char *formula, arena *a);
/* Whether a model that has operators of these families, and no others, can hold it. */
bool pattern_possible(const struct pattern_program *p, const map *types);
/* Whether the layer computes the formula; its layers then are in `out`, which has room. Takes the steps it
 * needed from the budget. */
bool pattern_matches(const flow *f, const struct pattern_program *p, uint32_t layer,
                     pattern_set *out, int64_t *budget);
/* Whether a layer could be the last of it. */
bool pattern_may_end(const flow *f, const struct pattern_program *p, uint32_t layer);

/* Drops what was looked through and is read outside; sorts; false when anything else is read outside, a
 * graph's output, or of another graph than the last. */
bool pattern_close(const flow *f, pattern_set *s);
bool pattern_has(const pattern_set *s, uint32_t layer);
bool pattern_add(pattern_set *s, uint32_t layer, bool pass);

/* The scalar that a value is known to be. */
bool pattern_scalar(const flow *f, ir_id value, double *out);
bool pattern_is_constant(const flow *f, ir_id value);
/* Looks through casts, reshapes and the like: what a value is a form of. */
ir_id pattern_source(const flow *f, ir_id value);
bool pattern_is_pass(const flow *f, uint32_t layer);

/* Structures that are no formula (pattern_blocks.c); `ends` tells the match that ends at a layer, or NULL. */
typedef struct pattern_finder {
    const flow *f;
    pattern_list *list;
    const uint32_t *ends; /* [layers] 1 + place in the list of the match that ends there; 0: none */
    pattern_set set;
} pattern_finder;
bool pattern_attention(pattern_finder *x, uint32_t softmax, const char **form);
bool pattern_squeeze(pattern_finder *x, uint32_t pool);
bool pattern_gated(pattern_finder *x, uint32_t mul, const char **form);

#endif
