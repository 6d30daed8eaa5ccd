/* Results of every kind: creation, release, and reading from JSON. */
#include "api/result.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "formats/format.h"
#include "profile/load.h"
#include "profile/profile_fields.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"

void assay_result_free(assay_result *of)
{
    job_result_free(of);
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
        job_result_free(made);
    return s;
}

assay_status api_settle(assay_status s, assay_result *const *of, assay_error *err)
{
    profile *p = *of ? (*of)->p : NULL;
    bool whole = !p || (profile_settle(p) && result_conclude(&profile_kind, p, p->arena));
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

/* What is no result, and what reads it. */
static assay_status refuse_other(str schema, const char *shown, assay_error *err)
{
    static const struct {
        const char *schema, *advice;
    } others[] = {
        {"assay.history", "Read it with `assay history import`"},
        {"assay.model", "Show it with `assay graph`"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is(schema, others[i].schema))
            return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: this is %s (\"%s\"), not a result. %s.", shown,
                            result_what(schema), others[i].schema, others[i].advice);
    return ASSAY_OK;
}

static assay_status read_profile(str text, const char *shown, assay_result *out, assay_error *err)
{
    out->kind = &profile_kind;
    out->arena = arena_new(PROFILE_FILE_BYTES + ((size_t)1 << 20));
    if (!out->arena)
        return err_no_memory(err);
    TRY(profile_read(text, shown, JOB_PROFILE_BYTES, &out->p, err));
    bool whole = profile_settle(out->p) &&
                 result_conclude_read(&profile_kind, out->p, out->p->arena);
    return whole ? ASSAY_OK : err_no_memory(err);
}

static assay_status read_other(str text, const char *shown, assay_result *out, assay_error *err)
{
    result of;
    TRY(result_read(text, shown, PROFILE_FILE_BYTES + JOB_PROFILE_BYTES, &of, err));
    out->kind = of.kind;
    out->arena = of.arena;
    out->data = of.data;
    if (of.kind != &load_kind)
        return ASSAY_OK;
    out->stands_for = load_as_profile(of.data, of.arena);
    return out->stands_for ? ASSAY_OK : err_no_memory(err);
}

/* A document without a schema is left to the reader of profiles, whose message says what is wrong. */
static assay_status read_into(str text, const char *shown, const char *kind, assay_result *out,
                              assay_error *err)
{
    result_identity is = {0};
    arena *scratch = arena_new((size_t)1 << 20);
    assay_status s = scratch ? result_identify(text, shown, scratch, &is, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = refuse_other(is.schema, shown, err);
    /* Of several kinds that are wanted, the one that it is; else the first, whose reader says what is wrong. */
    const result_kind *own = result_kind_find(is.schema);
    bool other = kind && own && own != &profile_kind && str_in_list(str_of(own->name), kind, '|');
    bool wants_profile = kind && !other && str_starts(str_of(kind), profile_kind.name);
    bool as_profile = !is.schema.n || wants_profile || str_is(is.schema, profile_kind.schema);
    arena_free(scratch);
    TRY(s);
    TRY(as_profile ? read_profile(text, shown, out, err) : read_other(text, shown, out, err));
    out->saved = true;
    out->text = str_copy(out->arena, text);
    if (!out->text.p)
        return err_no_memory(err);
    if (kind && !str_in_list(str_of(out->kind->name), kind, '|'))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: this is %s, not a result of kind '%s'",
                        shown, out->kind->what, kind);
    return ASSAY_OK;
}

assay_status api_result_read(str text, const char *shown, const char *kind, assay_result **out,
                             assay_error *err)
{
    assay_result *r = memory_zeroed(1, sizeof *r);
    assay_status s = r ? read_into(text, shown, kind, r, err) : err_no_memory(err);
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
    if (!a)
        return err_no_memory(err);
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

/* Another kind of file, called what it is. */
static assay_status refuse_file(const format_row *f, const char *shown, assay_error *err)
{
    if (f->what)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: %s, not a result of assay", shown, f->what);
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "%s: a model (%s), not a result of assay. Analyse it with `assay graph`.",
                    shown, f->name);
}

static assay_status use_result(str text, const char *shown, void *ctx, arena *a, assay_error *err)
{
    const reading *r = ctx;
    uint64_t head = text.n < FORMAT_HEAD ? text.n : FORMAT_HEAD;
    const format_row *f = format_by_content(text.p, head, text.n);
    (void)a;
    if (f)
        return refuse_file(f, shown, err);
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
