/* Validation of our counts against those of other tools. */
#include "jobs/validate.h"
#include "api/document.h"

static assay_status write_validation(const void *of, str format, const report_options *o, sbuf *out,
                                     assay_error *err)
{
    return report_result(&validation_kind, of, format, o, out, err);
}

assay_status assay_validate(const char *const *models, size_t n_models, const char *format,
                            const assay_options *options, char **out, size_t *n, assay_error *err)
{
    assay_options none;
    validation v = {.arena = arena_new(JOB_ANALYSIS_BYTES)};
    const api_document d = {.of = &v, .write = write_validation};
    err_clear(err);
    *out = NULL;
    *n = 0;
    assay_status s = v.arena ? job_validate(models, n_models, api_options(options, &none), &v, err)
                             : err_no_memory(err);
    if (s == ASSAY_OK)
        s = api_document_report(&d, format, options, out, n, err);
    arena_free(v.arena);
    return s;
}
