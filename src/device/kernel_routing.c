/* See kernel_routing.h. */
#include "device/kernel_routing.h"

#include <math.h>

#define LARGEST_SHARE 0.8 /* of the tokens, that one expert gets before shares are scaled */

typedef struct power_law {
    double exponent, least, most;
} power_law;

static power_law law_of(const kernel_call *c)
{
    power_law p = {fabs(c->skew - 1) < 1e-3 ? 1.001 : c->skew, 0.01, 2};
    if (c->tokens * c->topk > c->experts) {
        p.least = 1;
        p.most = fmax(LARGEST_SHARE * c->tokens, 1.0001);
    }
    return p;
}

/* The value below which a share u of the law lies. */
static double law_quantile(const power_law *p, double u)
{
    double e = 1 - p->exponent, from = pow(p->least, e), to = pow(p->most, e);
    return pow((to - from) * u + from, 1 / e);
}

typedef struct moments {
    double mean, deviation, skewness;
} moments;

static moments law_moments(const power_law *p)
{
    double x[ROUTING_POINTS], square = 0, cube = 0;
    moments m = {0};
    for (int i = 0; i < ROUTING_POINTS; i++) {
        x[i] = law_quantile(p, (i + 0.5) / ROUTING_POINTS);
        m.mean += x[i] / ROUTING_POINTS;
    }
    for (int i = 0; i < ROUTING_POINTS; i++) {
        square += pow(x[i] - m.mean, 2) / ROUTING_POINTS;
        cube += pow(x[i] - m.mean, 3) / ROUTING_POINTS;
    }
    m.deviation = sqrt(square);
    m.skewness = square > 0 ? cube / pow(square, 1.5) : 0;
    return m;
}

/* Expected highest of n standard normal variables (Blom's score; the quantile by Tukey's lambda). */
static double highest_normal(double n)
{
    double p = (n - 0.375) / (n + 0.25);
    return n > 1 ? 4.91 * (pow(p, 0.14) - pow(1 - p, 0.14)) : 0;
}

/* Rows of the device that has the most. */
static double most_rows(const kernel_call *c, const power_law *p, double shares, double held)
{
    moments m = law_moments(p);
    double z = highest_normal(shares), root = sqrt(held);
    double score = z + (z > 1 ? m.skewness / 6 / root * (z * z - 1) : 0);
    double sum = fmin(held * m.mean + root * m.deviation * score, held * p->most);
    double rows = sum * c->tokens * c->topk / (c->experts * m.mean);
    return fmin(fmax(rows, 1), fmin(held, c->topk) * c->tokens);
}

/* Whole rows: none has more than there are tokens, and what rounding and that bound leave goes to the emptiest. */
static void round_loads(expert_loads *l, const double *exact, uint32_t n, double tokens)
{
    double lost = 0, empty = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool none = exact[i] < 0.5;
        lost += (none ? exact[i] : fmax(exact[i] - tokens, 0)) * l->experts_each;
        empty += none ? l->experts_each : 0;
        if (!none)
            l->load[l->n++] = fmin(exact[i], tokens);
    }
    l->single = fmin(lost, empty);
    l->reached = l->n * l->experts_each + l->single;
    for (uint32_t i = 0; i < l->n; i++)
        l->load[i] = round(fmin(l->load[i] + (lost - l->single) / l->held, tokens));
}

static void route_skewed(const kernel_call *c, double shares, expert_loads *l)
{
    power_law p = law_of(c);
    uint32_t n = l->held < ROUTING_POINTS ? (uint32_t)l->held : ROUTING_POINTS;
    double exact[ROUTING_POINTS], sum = 0;
    l->experts_each = l->held / n;
    l->rows = most_rows(c, &p, shares, l->held);
    for (uint32_t i = 0; i < n; i++)
        sum += exact[i] = law_quantile(&p, (i + 0.5) / n);
    for (uint32_t i = 0; i < n; i++)
        exact[i] *= l->rows / l->experts_each / sum;
    round_loads(l, exact, n, c->tokens);
}

void kernel_route(const kernel_call *c, expert_loads *out)
{
    double shares = c->shares > 1 ? c->shares : 1;
    *out = (expert_loads){.held = fmax(floor(c->experts / shares), 1), .n = 1};
    if (c->skew > 0) {
        out->n = 0;
        route_skewed(c, shares, out);
        return;
    }
    out->rows = fmax(c->tokens * c->topk / shares, 1);
    out->reached = out->experts_each = fmin(out->held, out->rows);
    out->load[0] = ceil(out->rows / out->reached);
}

double expert_tiles(const expert_loads *l, double tile_rows)
{
    double tiles = l->single;
    for (uint32_t i = 0; i < l->n; i++)
        tiles += ceil(l->load[i] / tile_rows) * l->experts_each;
    return tiles;
}
