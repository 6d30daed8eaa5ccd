/* Scaling: which sizes to look at, and looking at them.
 *
 * Strides, patches and windows make cost a polynomial only at multiples of some size: 32 of a ResNet's side, 8
 * of a SwinIR's, 16 of a ViT's, which takes no other. That granule is found by trial: seven multiples spread
 * over the range are evaluated, and their MACs must lie on one polynomial with at least two points to spare. Nothing is known of the architecture; every figure comes from an evaluation of the model, and each
 * evaluation is done once.
 */
#include "base/num.h"

#include "study/scaling_memo.h"
#include <assert.h>

enum { LINE = 7, LINE_LEAST = 4 };

/* ---- evaluations, remembered ---- */

static str key_of(const int64_t *at)
{
    return (str){(const char *)at, SCALING_AXES * sizeof *at};
}

static void evaluate(scaling_job *j, scaling_eval *e)
{
    assay_error err;
    bool assumed = false;
    err_clear(&err);
    assay_status s = j->q->evaluate(j->q->ctx, e->at, &e->figures, &assumed, &err);
    e->ok = s == ASSAY_OK;
    j->stopped = s == ASSAY_ERR_INTERRUPTED;
    j->s->evaluations++;
    j->s->assumed += assumed;
    if (e->ok)
        return;
    e->why = str_copy(j->s->arena, str_of(err.message));
    if (j->first.code == ASSAY_OK)
        j->first = err;
}

const scaling_eval *scaling_at(scaling_job *j, const int64_t *at)
{
    arena *a = j->s->arena;
    uint32_t known = map_get(&j->memo->at, key_of(at));
    if (known != MAP_NONE)
        return j->memo->list.items[known];
    if (j->stopped || j->memo->list.n >= SCALING_EVALUATIONS_MAX)
        return NULL;
    scaling_eval *e = ARENA_NEW(a, scaling_eval), **slot = VEC_PUSH(a, &j->memo->list);
    if (!e || !slot)
        return NULL;
    memcpy(e->at, at, sizeof e->at);
    *slot = e;
    evaluate(j, e);
    bool kept = map_put(&j->memo->at, key_of(e->at), j->memo->list.n - 1);
    return kept && !j->stopped ? e : NULL;
}

static assay_status too_much(const scaling_job *j, assay_error *err)
{
    TRY_MEMORY(!arena_failed(j->s->arena), err);
    if (j->stopped)
        return err_fail(err, ASSAY_ERR_INTERRUPTED, "interrupted: no result was kept");
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "more than %d evaluations of the model needed. Use fewer sizes.",
                    SCALING_EVALUATIONS_MAX);
}

/* ---- granules ---- */

/* Tried in this order; each list downwards for as long as it goes well. */
static const int64_t granules[][6] = {{1},      {32, 16, 8, 4, 2}, {64},
                                      {128},    {24, 12, 6, 3},    {224, 112, 56, 28, 14, 7},
                                      {40, 20}, {10, 5},           {48}};
enum { N_GRANULES = sizeof granules / sizeof *granules };

/* Seven multiples of g in the range, and above it when it holds too few. Not evenly spaced: sizes that are all
 * multiples of something larger would hide what happens between. */
static void spread(const scaling_job *j, uint32_t k, int64_t g, int64_t line[LINE])
{
    static const int64_t off[LINE] = {0, 1, 1, 1, 0, 0, 0};
    const scale_axis *x = &j->s->axes[k];
    int64_t low = num_ceil_div(x->from > 0 ? x->from : 1, g), high = j->top[k] / g;
    if (high < low + LINE - 1)
        high = low + LINE - 1;
    bool wide = (high - low) / (LINE - 1) >= 2;
    for (int i = 0; i < LINE; i++)
        line[i] = (low + (high - low) * i / (LINE - 1) + (wide ? off[i] : 0)) * g;
}

typedef enum trial { TRIAL_REFUSED, TRIAL_UNEVEN, TRIAL_EXACT, TRIAL_FAILED } trial;

/* The line of axis k that the model takes; sizes above the range may be refused, others not. */
static trial walk_line(scaling_job *j, uint32_t k, int64_t g, int64_t line[LINE], uint32_t *n,
                       uint64_t y[LINE])
{
    int64_t at[SCALING_AXES];
    spread(j, k, g, line);
    memcpy(at, j->reference, sizeof at);
    for (*n = 0; *n < LINE; ++*n) {
        at[k] = line[*n];
        const scaling_eval *e = scaling_at(j, at);
        if (!e)
            return TRIAL_FAILED;
        if (!e->ok && at[k] <= j->top[k])
            return TRIAL_REFUSED;
        if (!e->ok)
            break;
        y[*n] = e->figures.v[j->gauge];
    }
    return *n < LINE_LEAST ? TRIAL_REFUSED : TRIAL_UNEVEN;
}

static trial try_granule(scaling_job *j, uint32_t k, int64_t g)
{
    int64_t line[LINE], u[LINE];
    uint64_t y[LINE];
    uint32_t n;
    scale_axis *x = &j->s->axes[k];
    trial t = walk_line(j, k, g, line, &n, y);
    if (t != TRIAL_UNEVEN)
        return t;
    for (uint32_t i = 0; i < n; i++)
        u[i] = line[i] / g;
    bool exact = scaling_degree(u, y, n) >= 0;
    if (!x->accepted || g < x->accepted)
        x->accepted = g;
    if (!exact && j->n_line[k])
        return t;
    memcpy(j->line[k], line, sizeof line);
    j->n_line[k] = n;
    x->granule = g;
    return exact ? TRIAL_EXACT : t;
}

/* Whether the search is over. */
static bool try_list(scaling_job *j, uint32_t k, const int64_t *list, trial *last)
{
    bool exact = false;
    for (int i = 0; i < 6 && list[i]; i++) {
        *last = try_granule(j, k, list[i]);
        if (*last == TRIAL_FAILED)
            return true;
        if (*last != TRIAL_EXACT)
            break;
        exact = true;
    }
    return exact;
}

/* Some models end inside the range: a language model knows so many positions. Multiples of the smallest size
 * have all its divisors, so that what refuses them is their size. */
static bool find_top(scaling_job *j, uint32_t k)
{
    const scale_axis *x = &j->s->axes[k];
    assert(j->reference[k] > 0);
    int64_t at[SCALING_AXES], least = j->reference[k], low = 1, high = x->to / least;
    memcpy(at, j->reference, sizeof at);
    at[k] = high * least;
    const scaling_eval *e = scaling_at(j, at);
    j->top[k] = x->to;
    while (e && !e->ok && high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        at[k] = mid * least;
        const scaling_eval *m = scaling_at(j, at);
        if (!m)
            return false;
        if (m->ok)
            low = mid;
        else
            high = mid;
        j->top[k] = low * least;
    }
    return e != NULL;
}

static bool find_granule(scaling_job *j, uint32_t k)
{
    trial last = TRIAL_UNEVEN;
    scale_axis *x = &j->s->axes[k];
    if (!find_top(j, k))
        return false;
    if (x->decimals == 0)
        for (int i = 0; i < N_GRANULES && !try_list(j, k, granules[i], &last); i++)
            ;
    if (!x->granule)
        x->granule = x->accepted = 1;
    return last != TRIAL_FAILED;
}

/* ---- where to stand ---- */

/* The smallest sizes of all axes that the model takes together. */
static assay_status find_reference(scaling_job *j, assay_error *err)
{
    static const int64_t round_to[] = {1, 2, 4, 8, 16, 32, 64, 14, 28, 56, 224, 12, 24, 48, 10, 20};
    for (size_t i = 0; i < sizeof round_to / sizeof *round_to; i++) {
        int64_t at[SCALING_AXES] = {0};
        for (uint32_t k = 0; k < j->s->n_axes; k++) {
            const scale_axis *x = &j->s->axes[k];
            at[k] = num_ceil_div(x->from, round_to[i]) * round_to[i];
            if (x->n_values || x->decimals || at[k] > x->to)
                at[k] = x->n_values ? x->values[0] : x->from;
        }
        const scaling_eval *e = scaling_at(j, at);
        if (!e)
            return too_much(j, err);
        memcpy(j->reference, at, sizeof at);
        j->gauge = e->figures.v[SCALING_MACS] ? SCALING_MACS : SCALING_FLOPS;
        if (e->ok)
            return ASSAY_OK;
    }
    return err_fail(err, j->first.code, "%s", j->first.message);
}

/* ---- the grid ---- */

/* Values from..top by step, or doubling when it is 0. */
static uint32_t fill_values(int64_t from, int64_t top, int64_t step, int64_t *out, uint32_t max)
{
    uint32_t n = 0;
    for (int64_t v = from; v <= top && n < max; v = step ? v + step : v * 2)
        out[n++] = v;
    return n;
}

static int64_t last_multiple(const scale_axis *x, int64_t g)
{
    return x->to / g * g;
}

/* A handful of multiples of the granule: doubling over wide ranges, evenly spaced over narrow ones. */
static uint32_t sample_values(const scale_axis *x, uint32_t most, int64_t *out)
{
    int64_t g = x->granule > 0 ? x->granule : 1, from = num_ceil_div(x->from, g) * g;
    if (from > x->to || last_multiple(x, g) - from < g) {
        g = x->accepted > 0 ? x->accepted : 1;
        from = num_ceil_div(x->from, g) * g;
    }
    int64_t top = last_multiple(x, g), steps = (top - from) / g;
    bool doubling = top >= 8 * from;
    int64_t step = num_ceil_div(steps > 0 ? steps : 1, (int64_t)most - 1) * g;
    uint32_t n = fill_values(from, top, doubling ? 0 : step, out, most);
    if (n && out[n - 1] < top && n < most)
        out[n++] = top;
    else if (n && doubling && out[n - 1] < top)
        out[n - 1] = top;
    return n;
}

static uint32_t by_count(const scale_axis *x, int64_t count, int64_t *out)
{
    int64_t g = x->accepted > 0 ? x->accepted : 1;
    uint32_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t v = count < 2 ? x->from
                              : x->from + (x->to - x->from) / (count - 1) * i +
                                    (x->to - x->from) % (count - 1) * i / (count - 1);
        v = num_ceil_div(v, g) * g;
        v = v > x->to ? x->to / g * g : v;
        if (v >= 1 && (n == 0 || v > out[n - 1]))
            out[n++] = v;
    }
    return n;
}

static assay_status choose_values(scaling_job *j, uint32_t k, assay_error *err)
{
    static const uint32_t most[SCALING_AXES + 1] = {2, 12, 7, 5, 4};
    scale_axis *x = &j->s->axes[k];
    uint32_t ranges = 0;
    if (x->n_values)
        return ASSAY_OK;
    for (uint32_t i = 0; i < j->s->n_axes; i++)
        ranges += j->s->axes[i].from < j->s->axes[i].to;
    int64_t *values = ARENA_ARRAY(j->s->arena, int64_t, SCALING_POINTS_MAX);
    TRY_MEMORY(values, err);
    if (j->q->step[k])
        x->n_values = fill_values(x->from, x->to, j->q->step[k], values, SCALING_POINTS_MAX);
    else if (j->q->count[k])
        x->n_values = by_count(x, j->q->count[k], values);
    else
        x->n_values = sample_values(x, most[ranges], values);
    if (!x->n_values)
        values[x->n_values++] = x->from;
    x->values = values;
    return ASSAY_OK;
}

static assay_status count_points(const scale_work *s, uint32_t *n, assay_error *err)
{
    uint64_t all = 1;
    for (uint32_t k = 0; k < s->n_axes; k++)
        all *= s->axes[k].n_values;
    *n = (uint32_t)all;
    return all <= SCALING_POINTS_MAX
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE,
                          "the grid has %llu points; the limit is %d. Use larger steps.",
                          (unsigned long long)all, SCALING_POINTS_MAX);
}

static void place_point(const scale_work *s, uint32_t i, int64_t at[SCALING_AXES])
{
    memset(at, 0, SCALING_AXES * sizeof *at);
    for (uint32_t k = s->n_axes; k-- > 0; i /= s->axes[k].n_values)
        at[k] = s->axes[k].values[i % s->axes[k].n_values];
}

static assay_status run_grid(scaling_job *j, assay_error *err)
{
    scale_work *s = j->s;
    TRY(count_points(s, &s->n_points, err));
    s->points = ARENA_ARRAY(s->arena, scale_point, s->n_points);
    for (uint32_t i = 0; s->points && i < s->n_points; i++) {
        scale_point *p = &s->points[i];
        place_point(s, i, p->at);
        const scaling_eval *e = scaling_at(j, p->at);
        if (!e)
            return too_much(j, err);
        p->figures = e->figures;
        p->refused = e->why;
        s->n_refused += !e->ok;
    }
    return s->points ? ASSAY_OK : err_no_memory(err);
}

/* ---- the whole ---- */

/* "b" for batch, and "x2" where letters would be taken twice. */
static void name_symbols(scale_work *s)
{
    for (uint32_t k = 0; k < s->n_axes; k++) {
        char c = s->axes[k].name.n ? (char)(s->axes[k].name.p[0] | 0x20) : 'x';
        bool taken = c < 'a' || c > 'z';
        for (uint32_t i = 0; i < k; i++)
            taken = taken || s->axes[i].symbol[0] == c;
        s->axes[k].symbol[0] = taken ? 'x' : c;
        s->axes[k].symbol[1] = taken ? (char)('1' + k) : '\0';
    }
}

static assay_status run_scaling(scaling_job *j, assay_error *err)
{
    name_symbols(j->s);
    TRY(find_reference(j, err));
    for (uint32_t k = 0; k < j->s->n_axes; k++)
        if (!find_granule(j, k))
            return too_much(j, err);
    for (uint32_t k = 0; k < j->s->n_axes; k++)
        TRY(choose_values(j, k, err));
    TRY(run_grid(j, err));
    TRY(scaling_fit_all(j, err));
    if (!j->stopped)
        TRY(scaling_solve_all(j, err));
    if (j->stopped)
        return too_much(j, err);
    return arena_failed(j->s->arena) ? err_no_memory(err) : ASSAY_OK;
}

assay_status scaling_run(const scaling_request *q, scale_work *out, assay_error *err)
{
    struct scaling_memo memo = {0};
    scaling_job j = {.q = q, .s = out, .memo = &memo};
    return map_init(&memo.at, out->arena, 512) ? run_scaling(&j, err) : err_no_memory(err);
}
