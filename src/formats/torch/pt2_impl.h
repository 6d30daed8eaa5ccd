/* What the parts of the reader of torch.export files share. */
#ifndef FORMATS_PT2_IMPL_H
#define FORMATS_PT2_IMPL_H

#include "base/json_tree.h"
#include "formats/aten/aten.h"
#include "formats/torch/torch_impl.h"

enum { PT2_MAX_JSON = 256 << 20, PT2_DEPTH = 16, PT2_SOURCES = 4 };

typedef struct pt2_reader {
    foreign f;
    aten t;
    zip_directory z;
    str root;  /* folder within the archive, with its slash, or empty */
    str model; /* "model" of models/model.json */
    json_value program;
    weight_set *set;              /* of all tensors, in scratch */
    source *sources[PT2_SOURCES]; /* the file, and weights that were compressed */
    uint32_t n_sources;
    struct bound_files *files;
    map names; /* of values of the graph */
    VEC(aten_value) values;
    uint32_t depth; /* of subgraphs */
    uint8_t *read;  /* [set items] whether the graph has it */
} pt2_reader;

/* ---- the graph (pt2_graph.c) ---- */

assay_status pt2_build(pt2_reader *r);
/* The alternative that is used, and its name; NULL: none. */
const json_value *pt2_union(const json_value *v, str *key);
/* Type and sizes of a tensor; false: they are not stated. rank is at most IR_MAX_RANK, open sizes are -1. */
typedef struct pt2_meta {
    ir_dtype dtype;
    int rank;
    int64_t dims[IR_MAX_RANK];
    str symbols[IR_MAX_RANK]; /* of open sizes */
} pt2_meta;
bool pt2_read_meta(const json_value *v, pt2_meta *m);

#endif
