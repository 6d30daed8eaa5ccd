/* The options of measuring whose values are lists, sizes or pairs. */
#include <ctype.h>

#include "api/api.h"
#include "rewrite/precision.h"

static bool number(str s, int64_t max, int64_t *out)
{
    int64_t v = 0;
    if (s.n == 0 || s.n > 15)
        return false;
    for (uint32_t i = 0; i < s.n; i++) {
        if (!isdigit((unsigned char)s.p[i]))
            return false;
        v = v * 10 + (s.p[i] - '0');
    }
    *out = v;
    return v >= 1 && v <= max;
}

/* Cuts the part before the first `c` off s; all of it when there is none. */
static str cut(str *s, char c)
{
    const char *at = s->n ? memchr(s->p, c, s->n) : NULL;
    uint32_t n = at ? (uint32_t)(at - s->p) : s->n;
    str head = {s->p, n};
    uint32_t skip = at ? n + 1 : n;
    *s = (str){s->p + skip, s->n - skip};
    return head;
}

API_SETTER(api_set_batch_sizes)
{
    str rest = value;
    (void)row;
    o->batch_sizes.n = 0;
    do {
        int64_t v, *slot;
        if (!number(cut(&rest, ','), 1 << 30, &v))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "batch-sizes takes whole numbers such as 1,2,4,8, not '" STR_FMT "'.",
                            STR_ARG(value));
        slot = VEC_PUSH(o->arena, &o->batch_sizes);
        if (!slot)
            return err_no_memory(err);
        *slot = v;
    } while (rest.n);
    return ASSAY_OK;
}

API_SETTER(api_set_configs)
{
    str rest = value;
    (void)row;
    o->configs.n = 0;
    do {
        str item = cut(&rest, ','), batch = cut(&item, ':');
        api_config c = {.precision = item.n ? str_copy(o->arena, item) : STR("fp32")}, *slot;
        if (!number(batch, 1 << 30, &c.batch) ||
            (!precision_find(c.precision) && ir_dtype_by_name(c.precision) == IR_UNDEFINED))
            return err_fail(
                err, ASSAY_ERR_USAGE,
                "configs takes BATCH:PRECISION pairs such as 1:fp32,8:fp16, not '" STR_FMT "'.",
                STR_ARG(value));
        slot = VEC_PUSH(o->arena, &o->configs);
        if (!slot)
            return err_no_memory(err);
        *slot = c;
    } while (rest.n);
    return ASSAY_OK;
}

API_SETTER(api_set_input)
{
    str path = value, name = {0};
    (void)row;
    if (memchr(value.p, '=', value.n))
        name = cut(&path, '=');
    if (!path.n)
        return err_fail(err, ASSAY_ERR_USAGE, "input takes [NAME=]FILE, not '" STR_FMT "'.",
                        STR_ARG(value));
    api_input *in = VEC_PUSH(o->arena, &o->inputs);
    if (!in)
        return err_no_memory(err);
    *in = (api_input){.name = name.n ? str_copy(o->arena, name) : (str){0},
                      .path = str_copy(o->arena, path)};
    return in->path.p ? ASSAY_OK : err_no_memory(err);
}

API_SETTER(api_set_provider_option)
{
    str text = value, key = cut(&text, '=');
    (void)row;
    if (!key.n || key.n == value.n)
        return err_fail(err, ASSAY_ERR_USAGE, "provider-option takes KEY=VALUE, not '" STR_FMT "'.",
                        STR_ARG(value));
    api_setting *s = VEC_PUSH(o->arena, &o->provider_options);
    if (!s)
        return err_no_memory(err);
    *s = (api_setting){.key = str_copy(o->arena, key), .value = str_copy(o->arena, text)};
    return s->key.p && s->value.p ? ASSAY_OK : err_no_memory(err);
}

typedef struct size_unit {
    const char *name;
    uint64_t bytes;
} size_unit;

static const size_unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"K", 1u << 10},
    {"M", 1u << 20},
    {"G", 1u << 30},
    {"KiB", 1u << 10},
    {"MiB", 1u << 20},
    {"GiB", 1u << 30},
    {"TiB", (uint64_t)1 << 40},
};

API_SETTER(api_set_memory_limit)
{
    uint32_t digits = 0;
    int64_t v;
    (void)row;
    while (digits < value.n && isdigit((unsigned char)value.p[digits]))
        digits++;
    str unit = {value.p + digits, value.n - digits};
    for (size_t i = 0; i < sizeof size_units / sizeof *size_units; i++)
        if (str_is(unit, size_units[i].name) && number((str){value.p, digits}, 1 << 30, &v)) {
            o->memory_limit = (uint64_t)v * size_units[i].bytes;
            return ASSAY_OK;
        }
    return err_fail(err, ASSAY_ERR_USAGE,
                    "memory-limit takes a size such as 500MiB or 4GiB, not '" STR_FMT "'.",
                    STR_ARG(value));
}

API_SETTER(api_set_opt_level)
{
    static const struct {
        const char *text;
        int64_t level;
    } levels[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"99", 99}};
    (void)row;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (str_is(value, levels[i].text)) {
            o->opt_level = levels[i].level;
            return ASSAY_OK;
        }
    return err_fail(err, ASSAY_ERR_USAGE,
                    "opt-level takes 0 (none), 1 (basic), 2 (extended) or 99 (all), not '" STR_FMT
                    "'.",
                    STR_ARG(value));
}

/* One of the words as the table has it, so that what is kept lives for ever. */
static bool take_word(const char *const *words, size_t n, str value, str *to)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(value, words[i])) {
            *to = str_of(words[i]);
            return true;
        }
    return false;
}

API_SETTER(api_set_unit)
{
    static const char *const units[] = {"samples", "images", "tokens", "requests"};
    (void)row;
    if (take_word(units, sizeof units / sizeof *units, value, &o->unit))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "unit takes samples, images, tokens or requests, not '" STR_FMT "'.",
                    STR_ARG(value));
}

API_SETTER(api_set_rows)
{
    static const char *const kinds[] = {"layers",   "runs",      "batches", "groups", "events",
                                        "timeline", "snapshots", "slots",   "curve"};
    (void)row;
    if (take_word(kinds, sizeof kinds / sizeof *kinds, value, &o->rows))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "rows takes layers, runs, batches, groups, events, timeline, snapshots, "
                    "slots or curve, not '" STR_FMT "'.",
                    STR_ARG(value));
}
