/* The struct behind assay_result: a result of any kind, made here or read from its document. */
#ifndef PROFILE_HANDLE_H
#define PROFILE_HANDLE_H

#include <assay/assay.h>

#include "base/result.h"
#include "profile/profile.h"

/* A result of any kind. */
struct assay_result {
    const result_kind *kind;
    void *data;   /* that kind->of describes; of a profile NULL: `p` */
    arena *arena; /* of data and text; NULL: a profile that was made here */
    str text;     /* the document it was read from; empty: it was made here */
    profile *p;   /* of a profile; else NULL */
    profile
        *stands_for; /* of a load: what is compared and checked of it (profile/load.h); else NULL */
    profile *before; /* that measuring replaced, or NULL: strings of it may still be in use */
    bool saved;      /* read from a file: its context is that of its own machine */
    struct job_pipeline *pipeline;     /* a pipeline that can be measured; in the arena */
    struct job_comparison *comparison; /* the same of a comparison */
};

/* Of other kinds than a profile: unknown data in an arena of its own. NULL if out of memory. */
assay_result *handle_new(const result_kind *kind, size_t limit_bytes);
void handle_free(assay_result *of); /* NULL is allowed */
/* Frees the result of a profile but not the profile, which is the caller's from here on. NULL is allowed. */
profile *handle_take_profile(assay_result *of);
/* Fills what is derived of a profile that was made or changed; false if out of memory. */
bool handle_settle(profile *p);
/* From a document, into an empty result that the caller frees after a failure too; `shown` is what messages call it,
 * `kind` what it must be ("check|trend"), or NULL. */
assay_status handle_read(str text, const char *shown, const char *kind, assay_result *out,
                         assay_error *err);

#endif
