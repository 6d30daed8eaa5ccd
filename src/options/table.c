/* The table of options, by topic: finding one, its default, setting its value. */
#include "base/sbuf.h"
#include "base/text.h"
#include "options/rows.h"

/* In the order of help. */
static const option_topic *const topics[] = {
    &options_model,  &options_analysis, &options_hardware, &options_machine,   &options_memory,
    &options_fusion, &options_scaling,  &options_measure,  &options_engine,    &options_watch,
    &options_check,  &options_capacity, &options_pipeline, &options_diffusion, &options_language,
    &options_load,   &options_export,   &options_sweep,    &options_view,      &options_caller,
};
enum { N_TOPICS = sizeof topics / sizeof *topics, NAMES_MOST = 128 };

size_t options_count(void)
{
    size_t n = 0;
    for (size_t t = 0; t < N_TOPICS; t++)
        n += topics[t]->n;
    return n;
}

const option_row *option_at(size_t index, const option_topic **topic)
{
    for (size_t t = 0; t < N_TOPICS; index -= topics[t++]->n)
        if (index < topics[t]->n) {
            *topic = topics[t];
            return &topics[t]->rows[index];
        }
    return NULL;
}

/* Its row and its index; NULL if there is none of that name. */
static const option_row *find_option(const char *name, size_t *index)
{
    *index = 0;
    for (size_t t = 0; t < N_TOPICS; t++)
        for (uint32_t i = 0; i < topics[t]->n; i++, ++*index)
            if (strcmp(topics[t]->rows[i].name, name) == 0)
                return &topics[t]->rows[i];
    return NULL;
}

/* ---- values ---- */

static void set_initial(assay_options *o, const option_row *row)
{
    char *at = (char *)o + row->at;
    if (row->kind == OPTION_INT)
        memcpy(at, &(int64_t){(int64_t)row->initial}, sizeof(int64_t));
    else if (row->kind == OPTION_REAL || row->kind == OPTION_TIME)
        memcpy(at, &row->initial, sizeof row->initial);
    else if (row->kind == OPTION_CHOICE)
        memcpy(at, &(int){(int)row->initial}, sizeof(int));
}

assay_options options_default(void)
{
    assay_options o = {0};
    for (size_t t = 0; t < N_TOPICS; t++)
        for (uint32_t i = 0; i < topics[t]->n; i++)
            if (topics[t]->rows[i].initial != 0)
                set_initial(&o, &topics[t]->rows[i]);
    return o;
}

const assay_options *options_or_default(const assay_options *given, assay_options *none)
{
    if (given)
        return given;
    *none = options_default();
    return none;
}

static assay_status unknown_option(const char *name, assay_error *err)
{
    const char *names[NAMES_MOST];
    const option_topic *topic;
    const option_row *row;
    uint32_t n = 0;
    sbuf hint = {0};
    for (; n < NAMES_MOST && (row = option_at(n, &topic)); n++)
        names[n] = row->name;
    text_did_you_mean(&hint, str_of(name), names, n);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "unknown option '%s'.%s", name,
                              sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

assay_status options_set(assay_options *o, const char *name, const char *value, assay_error *err)
{
    size_t index;
    const option_row *row = find_option(name, &index);
    if (!row)
        return unknown_option(name, err);
    TRY(option_set_value(o, row, value, err));
    const char *before = row->kind == OPTION_WORDS ? o->given[index] : NULL;
    o->given[index] = str_printf(o->arena, "%s%s%s", before ? before : "", before ? "\n" : "",
                                 value ? value : "true")
                          .p;
    return o->given[index] ? ASSAY_OK : err_no_memory(err);
}

const char *options_given(const assay_options *o, const char *name)
{
    size_t index;
    return o && o->given && find_option(name, &index) ? o->given[index] : NULL;
}

assay_status option_refuse_topic(const assay_options *o, const option_topic *topic,
                                 const char *what, assay_error *err)
{
    for (uint32_t i = 0; i < topic->n; i++)
        if (options_given(o, topic->rows[i].name))
            return err_fail(err, ASSAY_ERR_USAGE, "--%s has no effect on %s", topic->rows[i].name,
                            what);
    return ASSAY_OK;
}
