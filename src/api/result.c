/* Results that were written to files, read back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/file.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"

static assay_status take(str text, const char *shown, assay_profile **out, assay_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_no_memory(err);
    (*out)->saved = true;
    assay_status s = profile_read(text, shown, JOB_PROFILE_BYTES, &(*out)->p, err);
    if (s != ASSAY_OK) {
        free(*out);
        *out = NULL;
    }
    return s;
}

assay_status assay_profile_from_json(const void *bytes, size_t n, const char *name,
                                     assay_profile **out, assay_error *err)
{
    err_clear(err);
    *out = NULL;
    if (n > PROFILE_FILE_BYTES)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "'%s' is larger than any result: %zu bytes.",
                        name, n);
    return take((str){bytes, (uint32_t)n}, name, out, err);
}

/* Calls `use` with the file's bytes. */
static assay_status with_file(const char *path,
                              assay_status (*use)(str text, const char *shown, void *ctx, arena *a,
                                                  assay_error *err),
                              void *ctx, assay_error *err)
{
    char shown[FILE_SHOWN];
    str text;
    arena *a = arena_new(PROFILE_FILE_BYTES + ((size_t)16 << 20));
    if (!a)
        return err_no_memory(err);
    assay_status s = file_read_all(path, PROFILE_FILE_BYTES, a, &text, err);
    if (s == ASSAY_OK)
        s = use(text, file_shown(path, shown), ctx, a, err);
    arena_free(a);
    return s;
}

static assay_status use_profile(str text, const char *shown, void *ctx, arena *a, assay_error *err)
{
    (void)a;
    return take(text, shown, ctx, err);
}

assay_status assay_profile_read(const char *path, assay_profile **out, assay_error *err)
{
    err_clear(err);
    *out = NULL;
    TRY(with_file(path, use_profile, out, err));
    const char *slash = strrchr(path, '/');
    profile *p = (*out)->p;
    p->file = str_copy(p->arena, str_of(slash ? slash + 1 : path));
    return ASSAY_OK;
}

static assay_status use_schema(str text, const char *shown, void *ctx, arena *a, assay_error *err)
{
    assay_document *out = ctx;
    result_identity is;
    TRY(result_identify(text, shown, a, &is, err));
    const char *what = result_what(is.schema);
    assay_document d = {
        .size = out->size, .what = what ? what : "", .version = (int64_t)is.version};
    snprintf(d.schema, sizeof d.schema, STR_FMT, STR_ARG(is.schema));
    memcpy(out, &d, out->size < sizeof d ? out->size : sizeof d);
    return ASSAY_OK;
}

assay_status assay_document_of(const char *path, assay_document *out, assay_error *err)
{
    err_clear(err);
    return with_file(path, use_schema, out, err);
}
