/* Between the files of the recognition. */
#ifndef FORMATS_RECOGNISE_IMPL_H
#define FORMATS_RECOGNISE_IMPL_H

#include "formats/recognise.h"
#include "zoo/names.h"

enum { RECOGNISE_BUILDS = 200, RECOGNISE_ROWS = 16, RECOGNISE_WRONG = 64 };

typedef struct named { /* a tensor of the file */
    str name;          /* without its prefix */
    weight_item *item;
} named;

typedef struct recognise_names {
    const named *list;
    uint32_t n;
} recognise_names;

typedef struct recognise_found {
    recognised *found;
    recognise_names names; /* those that the tensors of the file have in the row */
} recognise_found;

typedef struct search {
    arena *scratch, *arena; /* of the search; of its result */
    const named *tensors;   /* that count: zoo_name_counts() */
    uint32_t n;
    map by_name;
    bool library;     /* parameters of language models are derived, too */
    bool loose;       /* shapes may differ in ones at their end */
    bool auxiliary;   /* the file has a head that only training uses */
    uint32_t builds;  /* so far */
    assay_error said; /* by the last build that failed */
} search;

/* A model that was built, and how it differs from the file. */
typedef struct attempt {
    const zoo_row *row;
    zoo_args args;
    ir_model *m;
    zoo_asked_list asked;
    uint32_t wrong; /* tensors of another shape, and names of one side only */
    struct {
        ir_id value;
        weight_item *item;
    } reshaped[RECOGNISE_WRONG];
    uint32_t n_reshaped;
    bool names_differ;
} attempt;

/* Builds a row with these arguments and compares. False if it does not build, or too many were built. */
bool recognise_try(search *s, const zoo_row *row, const zoo_args *args, attempt *out);
void recognise_drop(attempt *t);
/* Changes the arguments until nothing is wrong; whether that was reached. Replaces *t. usual: only what differs from user
 * to user (classes, channels); else only the rest. */
bool recognise_shapes(search *s, attempt *t, bool usual);
/* The same for numbers of layers, until the names agree. */
bool recognise_depths(search *s, attempt *t);

/* Looks these names up. */
assay_status recognise_names_as(search *s, recognise_names in, recognise_found *out,
                                assay_error *err);
/* Tries a row, beginning with these arguments. any: other widths and depths, too. */
assay_status recognise_row(search *s, const zoo_row *row, const zoo_args *start, bool any,
                           recognise_names in, recognise_found *out, assay_error *err);
/* By the names of other packages; by the heads of language models. */
assay_status recognise_schemes(search *s, recognise_names in, recognise_found *out,
                               assay_error *err);
assay_status recognise_heads(search *s, recognise_names in, recognise_found *out, assay_error *err);

#endif
