/* Results of every kind: creation, release, and reading from JSON. */
#include "api/result.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "formats/format.h"
#include "profile/profile_fields.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"

void assay_result_free(assay_result *of)
{
    handle_free(of);
}

const char *assay_result_kind(const assay_result *of)
{
    return of->kind->name;
}

void api_begin(assay_error *err)
{
    memory_forget_lack();
    err_clear(err);
}

assay_status api_hand_result(assay_status s, assay_result *made, assay_result **out,
                             assay_error *err)
{
    if (s == ASSAY_OK && made->data && !result_conclude_read(made->kind, made->data, made->arena))
        s = err_no_memory(err);
    if (s == ASSAY_OK && memory_lacked())
        s = err_no_memory(err);
    if (s == ASSAY_OK)
        *out = made;
    else
        handle_free(made);
    return s;
}

assay_status api_settle(assay_status s, assay_result *const *of, assay_error *err)
{
    profile *p = *of ? (*of)->p : NULL;
    bool whole = !p || handle_settle(p);
    return whole && !(s == ASSAY_OK && memory_lacked()) ? s : err_no_memory(err);
}

profile *api_profile_of(const assay_result *of)
{
    return of->p ? of->p : of->stands_for;
}

assay_status api_need_profile(const assay_result *of, const char *what, assay_error *err)
{
    if (api_profile_of(of))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE, "%s needs a result of one model, not %s", what,
                    of->kind->what);
}

assay_status api_need_profiles(const assay_result *const *list, size_t n, const char *what,
                               assay_error *err)
{
    for (size_t i = 0; i < n; i++)
        TRY(api_need_profile(list[i], what, err));
    return ASSAY_OK;
}

/* ---- reading ---- */

assay_status api_result_read(str text, const char *shown, const char *kind, assay_result **out,
                             assay_error *err)
{
    assay_result *r = memory_zeroed(1, sizeof *r);
    assay_status s = r ? handle_read(text, shown, kind, r, err) : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

assay_status assay_result_from_json(const void *json, size_t n, const char *name, const char *kind,
                                    assay_result **out, assay_error *err)
{
    api_begin(err);
    *out = NULL;
    if (n > PROFILE_FILE_BYTES)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: too large for a result: %zu bytes%s", name,
                        n, LIMIT_TEXT(LIMIT_DOCUMENT));
    return api_result_read((str){json, (uint32_t)n}, name, kind, out, err);
}

/* Calls `use` with the file's bytes. */
static assay_status with_file(const char *path,
                              assay_status (*use)(str text, const char *shown, void *ctx, arena *a,
                                                  assay_error *err),
                              void *ctx, assay_error *err)
{
    str text;
    arena *a = arena_new(PROFILE_FILE_BYTES + ((size_t)16 << 20));
    TRY_MEMORY(a, err);
    assay_status s = file_read_limited(path, LIMIT_DOCUMENT, a, &text, err);
    if (s == ASSAY_OK)
        s = use(text, FILE_NAME(path), ctx, a, err);
    arena_free(a);
    return s;
}

typedef struct reading {
    const char *kind;
    assay_result **out;
} reading;

static assay_status use_result(str text, const char *shown, void *ctx, arena *a, assay_error *err)
{
    const reading *r = ctx;
    (void)a;
    TRY(format_refuse_model(text, shown, err));
    return api_result_read(text, shown, r->kind, r->out, err);
}

assay_status assay_result_read(const char *path, const char *kind, assay_result **out,
                               assay_error *err)
{
    reading r = {kind, out};
    api_begin(err);
    *out = NULL;
    TRY(with_file(path, use_result, &r, err));
    const char *slash = strrchr(path, '/');
    assert(*out);
    profile *p = (*out)->p;
    if (p)
        p->file = str_copy(p->arena, str_of(slash ? slash + 1 : path));
    return ASSAY_OK;
}

static assay_status use_schema(str text, const char *shown, void *ctx, arena *a, assay_error *err)
{
    result_identity is;
    TRY(result_identify(text, shown, a, &is, err));
    snprintf(ctx, ASSAY_SCHEMA_BYTES, STR_FMT, STR_ARG(is.schema));
    return ASSAY_OK;
}

assay_status assay_result_schema(const char *path, char schema[ASSAY_SCHEMA_BYTES],
                                 assay_error *err)
{
    api_begin(err);
    *schema = 0;
    return with_file(path, use_schema, schema, err);
}
