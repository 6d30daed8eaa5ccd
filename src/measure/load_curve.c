/* See load_curve.h. */
#include "measure/load_curve.h"

#include <math.h>
#include <stdlib.h>

#define CLOSE_ENOUGH 1.06 /* ratio of the two rates that hold the answer */
#define RATE_MOST    1e7

bool load_step_is_good(const load_curve_step *s)
{
    return !s->saturated && (!s->has_slo || s->meets_slo);
}

/* The highest good rate below the lowest one that is not. */
static void find_bounds(const load_search *s, double *good, double *bad)
{
    *good = 0;
    *bad = INFINITY;
    for (uint32_t i = 0; i < s->n; i++)
        if (!load_step_is_good(&s->steps[i]) && s->steps[i].rate < *bad)
            *bad = s->steps[i].rate;
    for (uint32_t i = 0; i < s->n; i++)
        if (load_step_is_good(&s->steps[i]) && s->steps[i].rate < *bad && s->steps[i].rate > *good)
            *good = s->steps[i].rate;
}

static double highest_rate(const load_search *s)
{
    double most = 0;
    for (uint32_t i = 0; i < s->n; i++)
        most = fmax(most, s->steps[i].rate);
    return most;
}

static bool any_saturated(const load_search *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->steps[i].saturated)
            return true;
    return false;
}

double load_search_next(const load_search *s)
{
    double good, bad;
    if (s->rates)
        return s->n < s->n_rates ? s->rates[s->n] : 0;
    if (s->n == LOAD_STEPS_MOST)
        return 0;
    if (!s->n)
        return s->first;
    find_bounds(s, &good, &bad);
    if (!any_saturated(s)) { /* to the end of the curve first */
        double next = 2 * highest_rate(s);
        return next <= RATE_MOST ? next : 0;
    }
    if (!isfinite(bad))
        return 0;
    if (good <= 0) /* even the lowest is too much: lower, a few times */
        return bad > s->first / 64 ? bad / 4 : 0;
    return bad / good > CLOSE_ENOUGH ? sqrt(good * bad) : 0;
}

static int order_steps(const void *a, const void *b)
{
    const load_curve_step *x = a, *y = b;
    return (x->rate > y->rate) - (x->rate < y->rate);
}

static double power_of(const load_curve_step *s)
{
    return s->mean > 0 && s->requests_per_second > 0 ? s->requests_per_second / s->mean : 0;
}

void load_search_finish(load_search *s, load_curve_answer *out)
{
    double good, bad;
    uint32_t knee = UINT32_MAX;
    find_bounds(s, &good, &bad);
    qsort(s->steps, s->n, sizeof *s->steps, order_steps);
    *out = (load_curve_answer){.present = s->n > 0,
                               .knee_rate = NAN,
                               .max_rate = good > 0 ? good : NAN,
                               .next_rate = isfinite(bad) ? bad : NAN,
                               .saturation = NAN,
                               .whole = any_saturated(s)};
    for (uint32_t i = 0; i < s->n; i++) {
        load_curve_step *x = &s->steps[i];
        x->best = good > 0 && x->rate == good;
        out->saturation = fmax(isnan(out->saturation) ? 0 : out->saturation,
                               x->requests_per_second);
        if (power_of(x) > 0 && (knee == UINT32_MAX || power_of(x) > power_of(&s->steps[knee])))
            knee = i;
    }
    if (knee != UINT32_MAX && out->whole) {
        s->steps[knee].knee = true;
        out->knee_rate = s->steps[knee].rate;
    }
}
