/* Parses ranges of sizes and the conditions of --solve. */
#include "study/scaling_options.h"

#include <stdlib.h>

#include "base/amount.h"
#include "base/memory.h"
#include "study/scaling.h"

enum { DECIMALS_MAX = 4 };
#define VALUE_MAX ((int64_t)1 << 40)

/* ---- numbers ---- */

/* "0.25" is 25 with two decimals. */
static bool read_decimal(str s, int64_t *out, int *decimals)
{
    str behind = s, whole = str_cut(&behind, '.');
    uint64_t w, fraction = 0;
    bool dot = whole.n < s.n;
    if (!str_to_u64(whole, &w) || w > (uint64_t)VALUE_MAX || behind.n > DECIMALS_MAX ||
        (dot && !str_to_u64(behind, &fraction)))
        return false;
    *decimals = (int)behind.n;
    for (int i = 0; i < *decimals; i++)
        w *= 10;
    *out = (int64_t)(w + fraction);
    return true;
}

typedef struct numbers {
    int64_t v[SCALING_POINTS_MAX];
    int decimals[SCALING_POINTS_MAX];
    uint32_t n;
    int most; /* decimals */
} numbers;

static bool add_number(numbers *l, str s)
{
    if (l->n == SCALING_POINTS_MAX || !read_decimal(s, &l->v[l->n], &l->decimals[l->n]))
        return false;
    l->most = l->decimals[l->n] > l->most ? l->decimals[l->n] : l->most;
    l->n++;
    return true;
}

static void align(numbers *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        for (int d = l->decimals[i]; d < l->most; d++)
            l->v[i] *= 10;
}

/* Where `mark` stands in s, or s.n. */
static uint32_t find_mark(str s, const char *mark)
{
    const char *at = memmem(s.p, s.n, mark, strlen(mark));
    return at ? (uint32_t)(at - s.p) : s.n;
}

static str cut_at(str *s, uint32_t at, uint32_t mark)
{
    str head = {s->p, at};
    uint32_t skip = at + mark < s->n ? at + mark : s->n;
    *s = (str){s->p + skip, s->n - skip};
    return head;
}

/* ---- ranges ---- */

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static bool read_list(numbers *l, str text, scaling_range *r, arena *a)
{
    for (bool more = true; more;) {
        uint32_t at = find_mark(text, ",");
        more = at < text.n;
        if (!add_number(l, cut_at(&text, at, 1)))
            return false;
    }
    align(l);
    qsort(l->v, l->n, sizeof *l->v, compare_values);
    int64_t *values = arena_copy(a, l->v, l->n * sizeof *values);
    uint32_t n = 0;
    for (uint32_t i = 0; values && i < l->n; i++)
        if (n == 0 || values[i] != values[n - 1])
            values[n++] = values[i];
    r->values = values;
    r->n_values = n;
    r->from = l->v[0];
    r->to = l->v[l->n - 1];
    return true;
}

static bool read_range(numbers *l, str text, scaling_range *r)
{
    str rest = text, from = cut_at(&rest, find_mark(rest, ".."), 2);
    int none;
    uint32_t colon = find_mark(rest, ":"), dots = find_mark(rest, "..");
    bool by_count = colon < rest.n, stepped = dots < rest.n;
    if (by_count && stepped)
        return false;
    str to = cut_at(&rest, by_count ? colon : dots, by_count ? 1 : 2);
    if (!add_number(l, from) || !add_number(l, to) || (stepped && !add_number(l, rest)))
        return false;
    if (by_count && (!read_decimal(rest, &r->count, &none) || none || r->count < 1 ||
                     r->count > SCALING_POINTS_MAX))
        return false;
    align(l);
    r->from = l->v[0];
    r->to = l->v[1];
    r->step = stepped ? l->v[2] : 0;
    return r->from <= r->to && !(stepped && r->step < 1);
}

assay_status scaling_add_range(scaling_options *o, arena *a, str name, str text, assay_error *err)
{
    scaling_range r = {.name = str_copy(a, name)};
    numbers *l = memory_zeroed(1, sizeof *l);
    if (!l || !r.name.p) {
        free(l);
        return err_no_memory(err);
    }
    bool good = find_mark(text, "..") < text.n ? read_range(l, text, &r)
                                               : read_list(l, text, &r, a);
    r.decimals = l->most;
    free(l);
    if (!good || r.from < 1 || r.to > VALUE_MAX)
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "dim must be NAME=N, or for scale NAME=A..B, A..B..STEP, A..B:COUNT or A,B,C "
            "with numbers of at least 1 (0.0001) and A below B, not '" STR_FMT "'",
            STR_ARG(text));
    if (o->ranges.n == SCALING_AXES)
        return err_fail(err, ASSAY_ERR_USAGE, "at most %d sizes can be varied", SCALING_AXES);
    return VEC_ADD(a, &o->ranges, r) ? ASSAY_OK : err_no_memory(err);
}

/* ---- questions ---- */

static bool names_metric(const scaling_metric *m, str word)
{
    return str_is(word, m->key) || str_in_list(word, m->aliases, ' ');
}

static bool read_question(str text, scaling_question *q)
{
    uint32_t at = find_mark(text, "<=");
    q->at_least = at == text.n;
    at = q->at_least ? find_mark(text, ">=") : at;
    if (at == text.n)
        return false;
    str limit = text, what = str_trim(cut_at(&limit, at, 2));
    uint32_t colon = find_mark(what, ":");
    if (colon < what.n)
        q->axis = str_trim(cut_at(&what, colon, 1));
    for (int m = 0; m < SCALING_METRICS; m++) {
        if (!names_metric(&scaling_metrics[m], str_trim(what)))
            continue;
        q->metric = (scaling_metric_id)m;
        return amount_parse_whole(scaling_metrics[m].bytes ? AMOUNT_BYTES : AMOUNT_COUNT,
                                  str_trim(limit), &q->limit);
    }
    return false;
}

assay_status scaling_add_question(scaling_options *o, arena *a, str value, assay_error *err)
{
    scaling_question q = {.text = str_copy(a, value)};
    TRY_MEMORY(q.text.p, err);
    if (!read_question(q.text, &q))
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "solve must be [NAME:]WHAT<=LIMIT or >=, where WHAT is macs, flops, traffic, "
            "parameters, "
            "activations, memory or training, for example batch:memory<=24GB or macs<=100G, got "
            "'" STR_FMT "'",
            STR_ARG(value));
    if (o->questions.n == SCALING_QUESTIONS)
        return err_fail(err, ASSAY_ERR_USAGE, "at most %d questions are supported",
                        SCALING_QUESTIONS);
    return VEC_ADD(a, &o->questions, q) ? ASSAY_OK : err_no_memory(err);
}
