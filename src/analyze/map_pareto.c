/* The Pareto front: rows that no other beats in both the goal and the metric that it is traded for. */
#include <math.h>
#include <stdlib.h>

#include "analyze/map.h"
#include "base/amount.h"

struct map_goal_row {
    const char *name, *unit; /* of a limit */
    double (*value)(const profile_mapping *m,
                    const mapping_row *r); /* less is better; below 0: unknown */
    double (*limit)(double given);         /* what value() must not be above */
    const char *against;                   /* another goal's name */
    amount_unit amount;                    /* how a limit is typed */
};

static double latency_of(const profile_mapping *m, const mapping_row *r)
{
    (void)m;
    return r->latency_ms;
}

/* Time per sample, so that less is better. */
static double sample_time_of(const profile_mapping *m, const mapping_row *r)
{
    (void)m;
    return r->throughput > 0 ? 1 / r->throughput : -1;
}

static double memory_of(const profile_mapping *m, const mapping_row *r)
{
    (void)m;
    return (double)r->memory_bytes;
}

static double power_of(const profile_mapping *m, const mapping_row *r)
{
    double w = m->hardware[r->hardware].power_w;
    return w > 0 ? w : -1;
}

static double energy_of(const profile_mapping *m, const mapping_row *r)
{
    (void)m;
    return r->energy_j > 0 ? r->energy_j : -1;
}

static double cost_of(const profile_mapping *m, const mapping_row *r)
{
    (void)m;
    return r->cost_per_million >= 0 ? r->cost_per_million : -1;
}

static double as_given(double v)
{
    return v;
}

static double inverse(double v)
{
    return 1 / v;
}

static const map_goal_row goals[] = {
    {"latency", "ms", latency_of, as_given, "power", AMOUNT_MS},
    {"throughput", "/s", sample_time_of, inverse, "power", AMOUNT_RATE},
    {"memory", "bytes", memory_of, as_given, "throughput", AMOUNT_BYTES},
    {"power", "W", power_of, as_given, "throughput", AMOUNT_WATT},
    {"energy", "J", energy_of, as_given, "latency", AMOUNT_JOULE},
    {"cost", "USD per million", cost_of, as_given, "latency", AMOUNT_PLAIN},
};
enum { N_GOALS = sizeof goals / sizeof *goals };

static const map_goal_row *find_goal(str name)
{
    for (int i = 0; i < N_GOALS; i++)
        if (str_is(name, goals[i].name))
            return &goals[i];
    return NULL;
}

assay_status map_goal_parse(str text, const map_goal_row **goal, double *limit, assay_error *err)
{
    const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
    str name = {text.p, colon ? (uint32_t)(colon - text.p) : text.n};
    *goal = text.n ? find_goal(name) : &goals[0];
    *limit = 0;
    if (*goal && !colon)
        return ASSAY_OK;
    if (*goal && !amount_parse((*goal)->amount, (str){colon + 1, text.n - name.n - 1}, limit))
        *limit = 0;
    if (*limit > 0)
        return ASSAY_OK;
    return err_fail(
        err, ASSAY_ERR_USAGE,
        "goal must be latency, throughput, memory, power, energy or cost, optionally with a limit "
        "(latency:10ms, throughput:1000, memory:8GiB, power:75W, energy:2J, cost:0.5), got '%.*s'",
        (int)(text.n < 80 ? text.n : 80), text.p);
}

typedef struct candidate {
    double x, y;
    uint32_t row;
} candidate;

static int by_both(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* Where nobody's power is published, as of `this`, memory is what is paid with. */
static bool any_known(const profile_mapping *m, const map_goal_row *h)
{
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (h->value(m, &m->rows[i]) >= 0)
            return true;
    return false;
}

static bool overlaps(const mapping_row *a, const mapping_row *b)
{
    return a->batch == b->batch && a->latency_high_ms > 0 && b->latency_high_ms > 0 &&
           a->latency_low_ms <= b->latency_high_ms && b->latency_low_ms <= a->latency_high_ms;
}

static bool ranks(const mapping_row *r)
{
    return r->fits && !r->imprecise;
}

/* The row of that batch in a list of one row per batch; n: none. */
static uint32_t find_batch(const mapping_row *const *rows, uint32_t n, int64_t batch)
{
    uint32_t k = 0;
    while (k < n && rows[k]->batch != batch)
        k++;
    return k;
}

/* The fastest row of each batch; their number. */
static uint32_t fastest_of_batches(const profile_mapping *m, const mapping_row **fastest)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const mapping_row *r = &m->rows[i];
        if (!ranks(r))
            continue;
        uint32_t k = find_batch(fastest, n, r->batch);
        if (k == n || r->latency_ms < fastest[k]->latency_ms)
            fastest[k] = r;
        n += k == n;
    }
    return n;
}

/* An expectation is a tie when its interval overlaps that of the fastest on another device at the same batch, or on the
 * front that of the better row before it. */
static void mark_ties(profile_mapping *m, const uint32_t *front, const mapping_row **fastest)
{
    uint32_t n = fastest_of_batches(m, fastest);
    for (uint32_t i = 0; i < m->n_rows; i++) {
        mapping_row *r = &m->rows[i];
        uint32_t k = ranks(r) ? find_batch(fastest, n, r->batch) : n;
        r->tie = k < n && r->hardware != fastest[k]->hardware && overlaps(r, fastest[k]);
    }
    for (uint32_t i = 1; i < m->n_pareto; i++) {
        mapping_row *r = &m->rows[front[i]];
        r->tie = r->tie || overlaps(r, &m->rows[front[i - 1]]);
    }
}

assay_status map_pareto(profile_mapping *m, const map_options *o, arena *scratch, arena *keep,
                        assay_error *err)
{
    const map_goal_row *g = o->goal ? o->goal : &goals[0], *h = find_goal(str_of(g->against));
    if (!any_known(m, h))
        h = find_goal(STR("memory"));
    candidate *c = ARENA_ARRAY(scratch, candidate, (size_t)m->n_rows + 1);
    const mapping_row **fastest = ARENA_ARRAY(scratch, const mapping_row *, (size_t)m->n_rows + 1);
    uint32_t *front = ARENA_ARRAY(keep, uint32_t, (size_t)m->n_rows + 1), n = 0;
    double best = INFINITY;
    TRY_MEMORY(c && front && fastest, err);
    for (uint32_t i = 0; i < m->n_rows; i++) {
        double x = g->value(m, &m->rows[i]), y = h->value(m, &m->rows[i]);
        if (!ranks(&m->rows[i]) || (o->limit > 0 && x > g->limit(o->limit)))
            continue;
        if (x < 0 || y < 0)
            m->n_no_power++;
        else
            c[n++] = (candidate){x, y, i};
    }
    qsort(c, n, sizeof *c, by_both);
    for (uint32_t i = 0; i < n; i++) {
        if (c[i].y >= best)
            continue;
        best = c[i].y;
        m->rows[c[i].row].pareto = true;
        front[m->n_pareto++] = c[i].row;
    }
    mark_ties(m, front, fastest);
    m->pareto = front;
    m->goal = g->name;
    m->against = h->name;
    m->goal_unit = g->unit;
    m->limit = o->limit;
    return ASSAY_OK;
}
