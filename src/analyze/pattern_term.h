/* A compiled formula: between pattern_compile.c and pattern_match.c. */
#ifndef ANALYZE_PATTERN_TERM_H
#define ANALYZE_PATTERN_TERM_H

#include "analyze/pattern_impl.h"

enum { TERMS = 8, LETTERS = 26, TERM_DEPTH = 40 };

typedef enum term_kind {
    TERM_VALUE,
    TERM_CONSTANT,
    TERM_PRODUCT,
    TERM_SUM,
    TERM_NEG,
    TERM_CALL
} term_kind;

typedef struct term {
    term_kind kind;
    const char *type; /* TERM_CALL: family */
    uint32_t type_n;
    int letter;      /* the value it is or is called; -1: none */
    double number;   /* coefficient or constant; NAN: any */
    double exponent; /* as a factor */
    double args[TERMS];
    bool is_number[TERMS];
    const struct term *of[TERMS];
    int n;
} term;

struct pattern_program {
    const term *root;
    const term *named[LETTERS]; /* what a letter stands for */
};

/* "(part x)": any operator that cuts out or picks of its operand (pattern_compile.c). */
bool term_is_part(const term *t);
bool term_takes_part(const op_family *f);

#endif
