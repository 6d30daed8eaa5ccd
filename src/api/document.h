/* Writing results that are not of one model: comparisons, pipelines, scalings and the like (document.c). */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include "api/api.h"

typedef assay_status api_write_fn(const void *of, str format, const report_options *o, sbuf *out,
                                  assay_error *err);

typedef struct api_document {
    const void *of;
    api_write_fn *write;                  /* knows "json" and what else is its own */
    bool own_md;                          /* "md" among them */
    const assay_profile *const *profiles; /* that the page shows beside it; or NULL */
    size_t n_profiles;
} api_document;

/* In any format: what `write` does not know is made of its JSON. */
assay_status api_document_report(const api_document *d, const char *format,
                                 const assay_options *options, char **out, size_t *n,
                                 assay_error *err);

#endif
