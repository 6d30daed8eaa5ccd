/* The kinds of results. A new kind is a struct, its field table, and a row here. */
#include "profile/result_kinds.h"

#include "base/text.h"
#include "profile/capacity.h"
#include "profile/comparison.h"
#include "profile/fleet.h"
#include "profile/history.h"
#include "profile/language.h"
#include "profile/load.h"
#include "profile/pipeline.h"
#include "profile/profile_fields.h"
#include "profile/scaling.h"
#include "profile/sweep.h"
#include "profile/validation.h"
#include "profile/verdicts.h"

const result_kind *const result_kinds[] = {&profile_kind,      &machine_kind,      &records_kind,
                                           &models_kind,       &trend_kind,        &capacity_kind,
                                           &validation_kind,   &check_kind,        &scaling_kind,
                                           &language_kind,     &diffusion_kind,    &pipelines_kind,
                                           &comparison_kind,   &load_kind,         &sweep_kind,
                                           &sweep_status_kind, &sweep_report_kind, &changes_kind,
                                           &drift_kind,        &cheapest_kind,     NULL};
const uint32_t result_kinds_n = sizeof result_kinds / sizeof *result_kinds - 1;

const result_kind *result_kind_find(str schema)
{
    for (uint32_t i = 0; i < result_kinds_n; i++)
        if (!result_kinds[i]->word && str_is(schema, result_kinds[i]->schema))
            return result_kinds[i];
    return NULL;
}

const char *result_what(str schema)
{
    static const struct {
        const char *schema, *what;
    } others[] = {
        {"assay.model", "a model's description"},
        {"assay.history", "an exported history"},
    };
    const result_kind *kind = result_kind_find(schema);
    for (size_t i = 0; !kind && i < sizeof others / sizeof *others; i++)
        if (str_is(schema, others[i].schema))
            return others[i].what;
    return kind ? kind->what : NULL;
}

static assay_status find_kind(str text, const char *shown, const result_kind **out,
                              assay_error *err)
{
    char name[40] = "";
    result_identity is = {0};
    arena *scratch = arena_new((size_t)1 << 20);
    assay_status status = scratch ? result_identify(text, shown, scratch, &is, err)
                                  : err_no_memory(err);
    *out = status == ASSAY_OK ? result_choose(result_kinds, text, scratch) : NULL;
    *out = *out ? *out
                : result_kind_find(is.schema); /* of another version, which reading refuses */
    text_safe_into(name, sizeof name, is.schema);
    arena_free(scratch);
    if (status == ASSAY_OK && !*out)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: no result of assay: its schema is '%s'",
                        shown, name);
    return status;
}

assay_status result_read(str text, const char *shown, size_t limit_bytes, result *out,
                         assay_error *err)
{
    *out = (result){0};
    TRY(find_kind(text, shown, &out->kind, err));
    out->arena = arena_new(limit_bytes);
    out->data = out->arena ? arena_alloc(out->arena, out->kind->of->size) : NULL;
    assay_status status = out->data
                              ? result_read_as(out->kind, text, shown, out->arena, out->data, err)
                              : err_no_memory(err);
    if (status != ASSAY_OK)
        result_free(out);
    return status;
}

void result_free(result *r)
{
    arena_free(r->arena);
    *r = (result){0};
}
