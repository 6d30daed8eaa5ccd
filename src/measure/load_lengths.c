/* See load_lengths.h. */
#include "measure/load_lengths.h"

#include <math.h>

static const struct length_row {
    const char *word;
    load_length_kind kind;
    bool two; /* numbers */
} length_rows[] = {
    {"normal", LENGTH_NORMAL, true},
    {"lognormal", LENGTH_LOGNORMAL, true},
    {"exponential", LENGTH_EXPONENTIAL, false},
};

static bool is_length(double v)
{
    return v >= 1 && v <= LOAD_LENGTH_MOST;
}

static bool parse_range(str text, load_lengths *out)
{
    str rest = text;
    uint64_t a, b;
    out->kind = LENGTH_FIXED;
    if (str_to_u64(text, &a)) {
        out->a = out->b = (double)a;
        return is_length(out->a);
    }
    bool range = str_take_u64(&rest, &a) && str_starts(rest, "..");
    rest = range ? (str){rest.p + 2, rest.n - 2} : rest;
    if (!range || !str_to_u64(rest, &b))
        return false;
    *out = (load_lengths){LENGTH_UNIFORM, (double)a, (double)b};
    return is_length(out->a) && is_length(out->b) && a <= b;
}

bool load_lengths_parse(str text, load_lengths *out)
{
    str rest = text, word = str_cut(&rest, ':'), first = str_cut(&rest, ':');
    for (size_t i = 0; i < sizeof length_rows / sizeof *length_rows; i++) {
        const struct length_row *row = &length_rows[i];
        if (!str_is(word, row->word))
            continue;
        *out = (load_lengths){.kind = row->kind};
        return str_to_f64(first, &out->a) && is_length(out->a) && row->two == (rest.n > 0) &&
               (!row->two || (str_to_f64(rest, &out->b) && out->b >= 0));
    }
    return parse_range(text, out);
}

static double draw(const load_lengths *l, rng *r)
{
    switch (l->kind) {
    case LENGTH_UNIFORM:
        return l->a + floor(rng_uniform(r) * (l->b - l->a + 1));
    case LENGTH_NORMAL:
        return l->a + l->b * rng_normal(r);
    case LENGTH_LOGNORMAL:
        return l->a * exp(l->b * rng_normal(r));
    case LENGTH_EXPONENTIAL:
        return -l->a * log(1 - rng_uniform(r));
    default:
        return l->a;
    }
}

uint32_t load_lengths_draw(const load_lengths *l, rng *r)
{
    if (l->kind == LENGTH_NONE)
        return 0;
    double v = round(draw(l, r));
    return v < 1 ? 1 : v > LOAD_LENGTH_MOST ? LOAD_LENGTH_MOST : (uint32_t)v;
}
