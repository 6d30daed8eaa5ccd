/* A model as the user names it. A word is a path or a built-in name; a path is a graph, weights, a configuration or a
 * directory of these. A file with a graph is read and verified; of anything else the result is the architecture and
 * its parameters, from which a graph is built. */
#ifndef FORMATS_MODEL_H
#define FORMATS_MODEL_H

#include <assay/assay.h>

#include "base/limits.h"
#include "ir/graph.h"
#include "zoo/zoo.h"

/* A built-in architecture is built when an analysis says with which parameters, and again for the next
 * one; see job_model_build() of jobs/job.h. */
struct assay_model {
    ir_model *ir;               /* functions inlined, verified; NULL until built */
    const zoo_row *row;         /* of a built-in architecture, or NULL */
    str name;                   /* of it, as the user called it */
    str config_file;            /* that described it, or empty */
    zoo_args config;            /* what that file says */
    str recognised;             /* what its weights were recognised as, or empty */
    bool input_stated;          /* then: the file says how large its input is */
    struct weight_set *weights; /* that are stored for it (formats/weights.h), or NULL */
    notes said;                 /* by reading it; in the arena below when it has one */
    arena *arena;               /* of the three above */
    const void *bytes;          /* of a model that was given as bytes; borrowed */
    size_t n_bytes;
    str folder; /* of their external data */
    const struct batch_rule
        *batch; /* of a file, once somebody asked (study/batch.h); in ir's arena */
};

/* What the word means: a path, or a built-in name. ASSAY_ERR_USAGE with the nearest built-in names. */
assay_status model_open(const char *word, assay_model **out, assay_error *err);
/* A file in memory, which stays the caller's. */
assay_status model_from_bytes(const void *bytes, size_t n, const char *name, const char *folder,
                              assay_model **out, assay_error *err);
void model_free(assay_model *model); /* NULL is allowed */
/* A second copy of a model that came from a file with a graph; *out may be set after a failure too. */
assay_status model_again(const assay_model *m, ir_model **out, assay_error *err);
/* Reads a configuration file into an empty model, whose arena is created if there is none. */
assay_status model_configure(assay_model *m, const char *path, assay_error *err);
/* Tells a graph that was built how its weights are stored, and what was said when they were read. */
assay_status model_match_weights(const assay_model *m, ir_model *ir, assay_error *err);
/* ASSAY_ERR_UNSUPPORTED: an inventory cannot be run, exported or validated. */
assay_status model_no_graph(const assay_model *m, assay_error *err);

#endif
