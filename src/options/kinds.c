/* The kinds of option values: how each is read, checked and stored. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/amount.h"
#include "base/sbuf.h"
#include "options/rows.h"

enum { DIGITS_MAX = 18 };

/* ---- parts of values ---- */

bool option_whole_number(str s, int64_t max, int64_t *out)
{
    uint64_t v;
    if (!str_to_u64(s, &v) || v > (uint64_t)max)
        return false;
    *out = (int64_t)v;
    return true;
}

bool option_decimal(str s, double *out)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (s.p[i] != '.' && !isdigit((unsigned char)s.p[i]))
            return false;
    return s.n <= DIGITS_MAX + 1 && str_to_f64(s, out);
}

str option_word_at(const char *values, int at)
{
    str rest = str_of(values), word = str_cut(&rest, '|');
    for (; at > 0 && word.n; at--)
        word = str_cut(&rest, '|');
    return word;
}

int option_choice(const char *values, str word)
{
    for (int i = 0; option_word_at(values, i).n; i++)
        if (str_eq(option_word_at(values, i), word))
            return i;
    return -1;
}

assay_status option_refuse(const option_row *row, str value, assay_error *err, const char *expected,
                           ...)
{
    char text[400];
    va_list ap;
    va_start(ap, expected);
    vsnprintf(text, sizeof text, expected, ap);
    va_end(ap);
    return err_fail(err, ASSAY_ERR_USAGE, "%s must be %s, got '" STR_FMT "'", row->name, text,
                    STR_ARG(value));
}

/* "a, b or c". */
static assay_status refuse_choice(const option_row *row, str value, assay_error *err)
{
    sbuf list = {0};
    for (int i = 0; option_word_at(row->values, i).n; i++)
        sbuf_printf(&list, "%s" STR_FMT,
                    i == 0                                      ? ""
                    : option_word_at(row->values, i + 1).n == 0 ? " or "
                                                                : ", ",
                    STR_ARG(option_word_at(row->values, i)));
    assay_status s = option_refuse(row, value, err, "%s", sbuf_cstr(&list));
    sbuf_free(&list);
    return s;
}

/* ---- kinds ---- */

static OPTION_SETTER(set_flag)
{
    bool v = str_is(value, "true");
    if (!v && !str_is(value, "false"))
        return option_refuse(row, value, err, "true or false");
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static OPTION_SETTER(set_int)
{
    int64_t v;
    bool number = option_whole_number(value, row->max, &v) && v >= row->min;
    if (row->values && (!number || option_choice(row->values, value) < 0))
        return refuse_choice(row, value, err);
    if (!number)
        return option_refuse(row, value, err, "a whole number from %lld to %lld",
                             (long long)row->min, (long long)row->max);
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static OPTION_SETTER(set_real)
{
    double v, min = (double)row->min, max = (double)row->max;
    if (!option_decimal(value, &v) || v < min || (row->above && v == min) || v > max)
        return option_refuse(row, value, err,
                             row->above ? "a number above %lld, at most %lld"
                                        : "a number from %lld to %lld",
                             (long long)row->min, (long long)row->max);
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static OPTION_SETTER(set_time)
{
    double v, min = (double)row->min, max = (double)row->max;
    if (!amount_seconds(value, &v) || v < min || (row->above && v == min) || v > max)
        return option_refuse(row, value, err, "a duration such as 4s or 500ms, at most %lld s",
                             (long long)row->max);
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static OPTION_SETTER(set_bytes)
{
    uint64_t v;
    if (!amount_parse_whole(AMOUNT_BYTES, value, &v) || v == 0)
        return option_refuse(row, value, err, "a size such as 500MiB or 4GB");
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static OPTION_SETTER(set_word)
{
    if (row->closed && option_choice(row->values, value) < 0)
        return refuse_choice(row, value, err);
    str copy = str_copy(o->arena, value);
    TRY_MEMORY(copy.p, err);
    memcpy((char *)o + row->at, &copy, sizeof copy);
    return ASSAY_OK;
}

static OPTION_SETTER(set_choice)
{
    int v = option_choice(row->values, value);
    if (v < 0)
        return refuse_choice(row, value, err);
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static OPTION_SETTER(add_word)
{
    VEC(str) *list = (void *)((char *)o + row->at);
    if (value.n == 0)
        return option_refuse(row, value, err, "%s", row->value);
    if (list->n >= row->max)
        return err_fail(err, ASSAY_ERR_USAGE, "%s may be given at most %lld times", row->name,
                        (long long)row->max);
    str *slot = VEC_PUSH(o->arena, list);
    TRY_MEMORY(slot, err);
    *slot = str_copy(o->arena, value);
    return slot->p ? ASSAY_OK : err_no_memory(err);
}

assay_status option_set_value(assay_options *o, const option_row *row, const char *value,
                              assay_error *err)
{
    static OPTION_SETTER((*const by_kind[])) = {
        [OPTION_FLAG] = set_flag,   [OPTION_INT] = set_int,   [OPTION_REAL] = set_real,
        [OPTION_BYTES] = set_bytes, [OPTION_WORD] = set_word, [OPTION_CHOICE] = set_choice,
        [OPTION_WORDS] = add_word,  [OPTION_TIME] = set_time,
    };
    if (!value && row->kind != OPTION_FLAG)
        return err_fail(err, ASSAY_ERR_USAGE, "%s needs a value: %s", row->name,
                        row->value ? row->value : row->values);
    return (row->kind == OPTION_OWN ? row->set : by_kind[row->kind])(
        o, row, str_of(value ? value : "true"), err);
}
