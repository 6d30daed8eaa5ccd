/* The combined list of options of the program and the library, and where their values are stored. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_rows.h"

/* ---- one list ---- */

/* Texts that a row leaves out are "". */
static assay_option_info whole_info(const own_option *row)
{
    assay_option_info info = row->info;
    info.size = sizeof info;
    info.values = info.values ? info.values : "";
    info.formats = "";
    info.needs = "";
    return info;
}

bool cli_option_at(size_t index, assay_option_info *out)
{
    *out = (assay_option_info){.size = sizeof *out};
    if (index >= n_own_options)
        return assay_option_at(index - n_own_options, out);
    *out = whole_info(&own_options[index]);
    return true;
}

bool cli_find_option(const char *name, size_t n, assay_option_info *out)
{
    for (size_t i = 0; cli_option_at(i, out); i++)
        if (*out->commands && strlen(out->name) == n && memcmp(out->name, name, n) == 0)
            return true;
    return false;
}

/* ---- who takes what ---- */

bool cli_has_word(const char *list, char separator, const char *word, size_t n)
{
    for (const char *at = list; *at;) {
        const char *end = strchr(at, separator);
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (length == n && memcmp(at, word, n) == 0)
            return true;
        at += length + (end != NULL);
    }
    return false;
}

bool cli_takes(const cli_command *c, const assay_option_info *o)
{
    for (const char *at = o->commands; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        bool class_name = *at == '@';
        if (n == 1 && *at == '*')
            return true;
        if (class_name ? cli_has_word(c->classes, ' ', at + 1, n - 1)
                       : strlen(c->name) == n && memcmp(c->name, at, n) == 0)
            return true;
        at += n;
    }
    return false;
}

const char *cli_option_value(const cli_command *c, const assay_option_info *o)
{
    bool formats = strcmp(o->values, "@formats") == 0;
    return formats && c && c->formats ? c->formats : o->value;
}

void cli_option_text(const assay_option_info *o, char *out, size_t cap)
{
    snprintf(out, cap, "%s%s%s%s%s", o->about, *o->initial ? " Default: " : "", o->initial,
             *o->initial ? "." : "", o->repeatable ? " Repeatable." : "");
}

/* The library's order; topics that only this program has follow it. */
const char *cli_topic_at(size_t index)
{
    static const char *const later[] = {"Output", "History", "Dashboard", "General"};
    assay_option_info o = {.size = sizeof o};
    const char *last = "";
    for (size_t i = 0; assay_option_at(i, &o); i++) {
        bool taken = *o.commands && strcmp(o.topic, last) != 0;
        if (taken && index-- == 0)
            return o.topic;
        last = *o.commands ? o.topic : last;
    }
    return index < sizeof later / sizeof *later ? later[index] : NULL;
}

/* ---- storing ---- */

static assay_status store_count(const own_option *row, long *to, const char *value,
                                assay_error *err)
{
    char *end;
    assert(value);
    long v = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || (double)v < row->info.min ||
        (double)v > row->info.max)
        return cli_refuse(err, "--%s must be a whole number from %.0f to %.0f, got '%.100s'",
                          row->info.name, row->info.min, row->info.max, value);
    *to = v;
    return ASSAY_OK;
}

static assay_status store_choice(const own_option *row, int *to, const char *value,
                                 assay_error *err)
{
    int at = 0;
    assert(value);
    for (const char *word = row->info.values; word; at++) {
        size_t n = strcspn(word, "|");
        if (strlen(value) == n && memcmp(word, value, n) == 0) {
            *to = at;
            return ASSAY_OK;
        }
        word = word[n] ? word + n + 1 : NULL;
    }
    return cli_refuse(err, "--%s must be one of %s, got '%.100s'", row->info.name, row->info.values,
                      value);
}

static assay_status store_word(const own_option *row, cli_words *to, const char *value,
                               assay_error *err)
{
    if (to->n >= (int)row->info.max)
        return cli_refuse(err, "--%s may be given at most %.0f times.", row->info.name,
                          row->info.max);
    to->items[to->n++] = value;
    return ASSAY_OK;
}

static assay_status store_own(cli_args *a, const own_option *row, const char *value,
                              assay_error *err)
{
    void *to = (char *)a + row->at;
    switch (row->kind) {
    case OWN_FLAG:
        *(bool *)to = true;
        return ASSAY_OK;
    case OWN_WORD:
        *(const char **)to = value;
        return ASSAY_OK;
    case OWN_MEANS:
        *(const char **)to = row->means;
        return ASSAY_OK;
    case OWN_WORDS:
        return store_word(row, to, value, err);
    case OWN_COUNT:
        return store_count(row, to, value, err);
    case OWN_CHOICE:
        return store_choice(row, to, value, err);
    default:
        return ASSAY_OK;
    }
}

static assay_status store_library(cli_args *a, const assay_option_info *o, const char *value,
                                  assay_error *err)
{
    assay_error inner;
    assay_status s = assay_options_set(a->options, o->name, value, &inner);
    if (s == ASSAY_OK)
        return ASSAY_OK;
    /* Messages of the library name "batch"; the user typed "--batch". */
    bool names_it = strncmp(inner.message, o->name, strlen(o->name)) == 0;
    snprintf(err->message, sizeof err->message, "%s%.700s", names_it ? "--" : "", inner.message);
    err->code = s;
    return s;
}

assay_status cli_option_set(cli_args *a, const assay_option_info *o, const char *value,
                            assay_error *err)
{
    for (size_t i = 0; i < n_own_options; i++)
        if (strcmp(own_options[i].info.name, o->name) == 0) {
            if (!o->value && value)
                return cli_refuse(err, "--%s takes no value.", o->name);
            a->given[i] = value ? value : "true";
            return store_own(a, &own_options[i], value, err);
        }
    return store_library(a, o, value, err);
}

const char *cli_given(const cli_args *a, const char *name)
{
    for (size_t i = 0; i < n_own_options; i++)
        if (strcmp(own_options[i].info.name, name) == 0)
            return a->given[i];
    return assay_options_get(a->options, name);
}
