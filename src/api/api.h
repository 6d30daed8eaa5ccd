/* What stands behind the opaque types of <assay/assay.h>, for the files of this room. */
#ifndef API_API_H
#define API_API_H

#include <assay/assay.h>

#include "analyze/count.h"
#include "base/str.h"
#include "ir/graph.h"
#include "profile/profile.h"
#include "report/report.h"

/* Together below 1 GB, whatever the file holds. */
#define API_MODEL_BYTES    ((size_t)448 << 20)
#define API_ANALYSIS_BYTES ((size_t)256 << 20)
#define API_PROFILE_BYTES  ((size_t)256 << 20)

struct assay_model {
    ir_model *ir; /* functions inlined, verified */
};

struct assay_profile {
    profile *p;
};

struct assay_options {
    arena *arena;
    VEC(infer_shape) shapes;
    VEC(infer_dim) dims;
    int64_t batch;
    const lens *lens;
    ir_dtype precision;
    double threshold;
    bool training, strict, verbose;
    int64_t top, depth, width;
    bool color, ascii;
    str command;
};

/* As if nothing had been set. */
#define API_NO_OPTIONS ((assay_options){.top = 10, .width = 80})

/* The names that `word` is most likely a slip of: "Did you mean 'graph'?" or "". */
void api_did_you_mean(sbuf *out, str word, const char *const *names, uint32_t n);

/* ---- kinds of model files (formats.c) ---- */

typedef struct api_format {
    const char *name;
    const char *suffix;
    assay_status (*open)(const char *path, ir_model **out, assay_error *err); /* NULL: not read */
    const char *what;   /* what the file is, for those that are not read */
    const char *export; /* how to make an ONNX file of it; %s is the path */
} api_format;

/* By the suffix of a path; NULL when it says nothing. */
const api_format *api_format_of(str path);
/* ASSAY_ERR_UNSUPPORTED with the command that exports the file. */
assay_status api_format_refuse(const api_format *f, const char *path, assay_error *err);

#endif
