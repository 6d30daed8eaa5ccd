/* See handle.h. */
#include "profile/handle.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/memory.h"
#include "profile/load.h"
#include "profile/profile_fields.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"

assay_result *handle_new(const result_kind *kind, size_t limit_bytes)
{
    arena *a = arena_new(limit_bytes);
    assay_result *r = a ? memory_zeroed(1, sizeof *r) : NULL;
    void *data = r ? arena_alloc(a, kind->of->size) : NULL;
    if (!data) {
        arena_free(a);
        free(r);
        return NULL;
    }
    *r = (assay_result){.kind = kind, .data = data, .arena = a};
    return r;
}

void handle_free(assay_result *of)
{
    if (!of)
        return;
    profile_free(of->p);
    profile_free(of->before);
    arena_free(of->arena);
    free(of);
}

profile *handle_take_profile(assay_result *of)
{
    profile *p = of ? of->p : NULL;
    if (of)
        of->p = NULL;
    handle_free(of);
    return p;
}

bool handle_settle(profile *p)
{
    return profile_settle(p) && result_conclude(&profile_kind, p, p->arena);
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
    TRY_MEMORY(out->arena, err);
    TRY(profile_read(text, shown, LIMIT_RESULT_BYTES, &out->p, err));
    bool whole = profile_settle(out->p) &&
                 result_conclude_read(&profile_kind, out->p, out->p->arena);
    return whole ? ASSAY_OK : err_no_memory(err);
}

static assay_status read_other(str text, const char *shown, assay_result *out, assay_error *err)
{
    result of;
    TRY(result_read(text, shown, PROFILE_FILE_BYTES + LIMIT_RESULT_BYTES, &of, err));
    out->kind = of.kind;
    out->arena = of.arena;
    out->data = of.data;
    if (of.kind != &load_kind)
        return ASSAY_OK;
    out->stands_for = load_as_profile(of.data, of.arena);
    return out->stands_for ? ASSAY_OK : err_no_memory(err);
}

/* A document without a schema is left to the reader of profiles, whose message says what is wrong. */
assay_status handle_read(str text, const char *shown, const char *kind, assay_result *out,
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
    TRY_MEMORY(out->text.p, err);
    if (kind && !str_in_list(str_of(out->kind->name), kind, '|'))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: this is %s, not a result of kind '%s'",
                        shown, out->kind->what, kind);
    return ASSAY_OK;
}
