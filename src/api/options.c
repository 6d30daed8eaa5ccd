/* Options in the public API; options/rows.h has their table. */
#include <stdio.h>

#include "api/api.h"

#define OPTIONS_BYTES ((size_t)16 << 20)

assay_options *assay_options_new(void)
{
    arena *a = arena_new(OPTIONS_BYTES);
    assay_options *o = a ? ARENA_NEW(a, assay_options) : NULL;
    const char **given = o ? ARENA_ARRAY(a, const char *, options_count()) : NULL;
    if (!given) {
        arena_free(a);
        return NULL;
    }
    *o = options_default();
    o->arena = a;
    o->given = given;
    return o;
}

void assay_options_free(assay_options *options)
{
    if (options)
        arena_free(options->arena);
}

assay_status assay_options_set(assay_options *o, const char *name, const char *value,
                               assay_error *err)
{
    api_begin(err);
    return options_set(o, name, value, err);
}

const char *assay_options_get(const assay_options *o, const char *name)
{
    return options_given(o, name);
}

/* ---- the table ---- */

/* Numbers that are not given are 0: only others are defaults that help shows. */
static void put_initial(const option_row *row, char *out, size_t cap)
{
    if (row->initial > 0 && row->kind == OPTION_CHOICE)
        snprintf(out, cap, STR_FMT, STR_ARG(option_word_at(row->values, (int)row->initial)));
    else if (row->initial > 0)
        snprintf(out, cap, "%g", row->initial);
}

bool assay_option_at(size_t index, assay_option_info *out)
{
    const option_topic *topic;
    const option_row *row = option_at(index, &topic);
    if (!row)
        return false;
    bool flag = row->kind == OPTION_FLAG;
    bool number = row->kind == OPTION_INT || row->kind == OPTION_REAL;
    assay_option_info info = {.name = row->name,
                              .value = flag         ? NULL
                                       : row->value ? row->value
                                                    : row->values,
                              .about = row->about,
                              .repeatable = row->repeatable,
                              .letter = row->letter,
                              .topic = topic->title,
                              .commands = row->commands ? row->commands : "",
                              .values = row->values ? row->values : "",
                              .formats = row->formats ? row->formats : "",
                              .needs = row->needs ? row->needs : "",
                              .min = number ? (double)row->min : 0,
                              .max = number ? (double)row->max : 0};
    put_initial(row, info.initial, sizeof info.initial);
    return HAND_OUT(out, info);
}

assay_status assay_options_hooks(assay_options *options, const assay_hooks *hooks, assay_error *err)
{
    api_begin(err);
    TRY(api_check_size(hooks, err));
    options->hooks = hooks;
    return ASSAY_OK;
}
