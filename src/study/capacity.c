/* See capacity.h. */
#include "study/capacity.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "study/capacity_curve.h"

/* ---- one machine ---- */

/* The chance that all c are busy, from the recursion of Erlang's B, which does not overflow. */
static double erlang_c(uint64_t c, double a)
{
    double b = 1;
    for (uint64_t k = 1; k <= c; k++)
        b = a * b / ((double)k + a * b);
    double rho = a / (double)c;
    return b / (1 - rho * (1 - b));
}

/* How much likelier a wait is than with Poisson arrivals (Kraemer and Langenbach-Belz, for ca2 <= 1). */
static double wait_factor(double rho, double ca2, double cs2)
{
    double h = (1 + ca2 + rho * cs2) / (1 + rho * (cs2 - 1) + rho * rho * (4 * ca2 + cs2));
    double f = 1 + (ca2 - 1) * (1 - rho) * h;
    return f > 0.02 ? f : 0.02;
}

static void moments(const double *v, uint32_t n, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += v[i];
    *mean = sum / n;
    for (uint32_t i = 0; i < n; i++)
        squares += (v[i] - *mean) * (v[i] - *mean);
    *variance = n > 1 ? squares / (n - 1) : 0;
}

bool capacity_times_of(const capacity_machine *m, capacity_times *out)
{
    double mean, variance;
    moments(m->samples_ms, m->n_samples, &mean, &variance);
    double batches = m->rate / (double)m->batch, a = batches * mean, rho = a / (double)m->servers;
    double ca2 = 1.0 / (double)m->batch, cs2 = variance / (mean * mean);
    *out = (capacity_times){
        .load = rho, .service_ms = mean, .forming_ms = ((double)m->batch - 1) / (2 * m->rate)};
    if (!(rho < 1))
        return false;
    double c = erlang_c(m->servers, a);
    double g = exp(-2 * (1 - rho) / (3 * rho) * (1 - ca2) * (1 - ca2) / (ca2 + cs2));
    out->waiting_ms = c / ((double)m->servers / mean - batches) * (ca2 + cs2) / 2 * g;
    out->wait_chance = c * wait_factor(rho, ca2, cs2);
    return true;
}

/* ---- distributions on a grid ---- */

void capacity_service_grid(const double *sorted, uint32_t n, double *out)
{
    for (uint32_t i = 0; i < CAPACITY_GRID; i++)
        out[i] = sorted[(uint32_t)((i + 0.5) / CAPACITY_GRID * n)];
}

/* E[min(N + 1, b)] / b, N Poisson of mean t. */
static double forming_share(uint64_t b, double t)
{
    double p = exp(-t), below = 0, expected = 0;
    if (t > 700) /* where exp() ends; a batch of that size has long been full */
        return t > (double)b + 40 * sqrt(t) ? 1 : fmin(1, (t + 1) / (double)b);
    for (uint64_t k = 0; k + 1 < b; k++) {
        expected += p * (double)(k + 1);
        below += p;
        p *= t / (double)(k + 1);
    }
    return (expected + (1 - below) * (double)b) / (double)b;
}

void capacity_forming_grid(uint64_t batch, double *out)
{
    for (uint32_t i = 0; i < CAPACITY_GRID; i++) {
        double share = (i + 0.5) / CAPACITY_GRID, low = 0,
               high = (double)batch + 20 * sqrt((double)batch) + 20;
        if (share <= 1.0 / (double)batch) { /* the last of a batch waits for nobody */
            out[i] = 0;
            continue;
        }
        for (int step = 0; step < 60; step++) {
            double middle = (low + high) / 2;
            *(forming_share(batch, middle) < share ? &low : &high) = middle;
        }
        out[i] = high;
    }
}

static double share_within(const capacity_machine *m, const capacity_times *t,
                           const double *service, const double *forming, double ms)
{
    double sum = 0, wait = t->wait_chance > 0 ? t->waiting_ms / t->wait_chance : 0;
    uint32_t n = m->batch == 1 ? 1 : CAPACITY_GRID;
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t s = 0; s < CAPACITY_GRID; s++) {
            double left = ms - service[s] - (n == 1 ? 0 : forming[f] / m->rate);
            if (left >= 0)
                sum += wait > 0 ? 1 - t->wait_chance * exp(-left / wait) : 1;
        }
    return sum / (n * (double)CAPACITY_GRID);
}

double capacity_quantile(const capacity_machine *m, const capacity_times *t, const double *service,
                         const double *forming, double quantile)
{
    double low = 0, high = service[CAPACITY_GRID - 1] + t->waiting_ms + 1;
    while (share_within(m, t, service, forming, high) < quantile && high < 1e12)
        high *= 2;
    for (int step = 0; step < 40 && high - low > 1e-6 * high; step++) {
        double middle = (low + high) / 2;
        *(share_within(m, t, service, forming, middle) < quantile ? &low : &high) = middle;
    }
    return high;
}

/* ---- how many ---- */

typedef struct sizing {
    const capacity_request *q;
    capacity_machine machine;
    double *service, *forming;
    capacity_times times;
    double figure_ms; /* what the limit is of, at the last number that was tried */
} sizing;

static double figure_of(sizing *s, double quantile)
{
    const capacity_times *t = &s->times;
    return quantile > 0 ? capacity_quantile(&s->machine, t, s->service, s->forming, quantile)
                        : t->forming_ms + t->waiting_ms + t->service_ms;
}

/* Whether M machines are enough. */
static bool enough(sizing *s, uint64_t machines)
{
    s->machine.rate = s->q->target / 1000 / (double)machines;
    if (!capacity_times_of(&s->machine, &s->times) || s->times.load > 1 - s->q->headroom)
        return false;
    s->figure_ms = figure_of(s, s->q->quantile);
    return s->q->limit_ms <= 0 || s->figure_ms <= s->q->limit_ms;
}

/* Without any wait it is already too long: more machines make it longer still. */
static bool hopeless(sizing *s)
{
    capacity_times kept = s->times;
    s->times.waiting_ms = 0;
    bool over = s->q->limit_ms > 0 && figure_of(s, s->q->quantile) > s->q->limit_ms;
    s->times = kept;
    return over;
}

#define MACHINES_MAX 1e9

/* From the least that the load allows upwards in steps of a fiftieth; then the first that is enough between the
 * last two: up to there more machines mean less waiting. 0: none. */
static uint64_t least_machines(sizing *s, double most)
{
    double least = ceil(s->q->target / most - 1e-9);
    if (!(least < MACHINES_MAX))
        return 0;
    uint64_t low = 0, high = least < 1 ? 1 : (uint64_t)least;
    while (!enough(s, high)) {
        if (hopeless(s) || (double)high > MACHINES_MAX)
            return 0;
        low = high;
        high += high / 50 + 1;
    }
    while (low && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *(enough(s, middle) ? &high : &low) = middle;
    }
    return enough(s, high) ? high : 0;
}

/* ---- plans ---- */

static str why_not(const capacity_request *q, sizing *s, arena *a)
{
    char name[16];
    const char *what = capacity_quantile_name(q->quantile, name);
    s->times.waiting_ms = 0;
    double bare = figure_of(s, q->quantile);
    if (s->times.service_ms > q->limit_ms)
        return str_printf(a, "one run takes %.4g ms", s->times.service_ms);
    return str_printf(a, "%s is %.4g ms even without a queue%s", what, bare,
                      s->machine.batch > 1 ? ": batches form too slowly" : "");
}

static void fill_plan(capacity_plan *p, uint64_t machines, sizing *s)
{
    const capacity_times *t = &s->times;
    p->feasible = true;
    p->machines = machines;
    p->per_machine = 1000 * s->machine.rate;
    p->utilization = t->load;
    p->forming_ms = t->forming_ms;
    p->waiting_ms = t->waiting_ms;
    p->service_ms = t->service_ms;
    p->mean_ms = t->forming_ms + t->waiting_ms + t->service_ms;
    p->quantile_ms = s->q->quantile > 0 ? s->figure_ms : figure_of(s, 0.99);
    p->in_flight = s->machine.rate * p->mean_ms;
}

static bool plan_one(const capacity_request *q, const profile_config *c, uint64_t servers, arena *a,
                     capacity_plan *p)
{
    double *sorted = arena_copy(a, c->samples_ms, c->n_samples * sizeof *sorted);
    sizing s = {.q = q,
                .machine = {.batch = c->batch ? c->batch : 1,
                            .servers = servers,
                            .samples_ms = c->samples_ms,
                            .n_samples = c->n_samples},
                .service = ARENA_ARRAY(a, double, CAPACITY_GRID),
                .forming = ARENA_ARRAY(a, double, CAPACITY_GRID)};
    if (arena_failed(a))
        return false;
    qsort(sorted, c->n_samples, sizeof *sorted, num_order);
    capacity_service_grid(sorted, c->n_samples, s.service);
    capacity_forming_grid(s.machine.batch, s.forming);
    double mean, variance;
    moments(c->samples_ms, c->n_samples, &mean, &variance);
    *p = (capacity_plan){.batch = s.machine.batch,
                         .concurrency = servers,
                         .precision = str_copy(a, c->precision),
                         .runs = c->n_samples,
                         .most = (1 - q->headroom) * 1000 * (double)servers *
                                 (double)s.machine.batch / mean,
                         CAPACITY_PLAN_UNKNOWN};
    uint64_t machines = least_machines(&s, p->most);
    if (machines)
        fill_plan(p, machines, &s);
    else
        p->why = why_not(q, &s, a);
    return !arena_failed(a);
}

/* Times of an open loop hold waits already, and a configuration needs runs to draw from. */
static bool is_usable(const profile_config *c)
{
    if (c->error.n || c->n_samples < 2)
        return false;
    for (uint32_t i = 0; i < c->n_samples; i++)
        if (!(c->samples_ms[i] > 0))
            return false;
    return true;
}

void capacity_put_price(capacity_plan *p, price_list *prices, str name)
{
    price of = {.per_hour = NAN};
    if (prices)
        of = price_of_name(prices, name);
    p->price_per_hour = of.per_hour;
    p->price_basis = of.basis;
    p->cost_per_hour = p->feasible ? (double)p->machines * of.per_hour : NAN;
}

/* The processor and the device that a result was measured on. */
static void put_measured_price(const capacity_request *q, uint32_t i, arena *a, capacity_plan *p)
{
    const profile *of = q->profiles[i];
    p->source = str_copy(a, q->sources[i]);
    capacity_put_price(
        p, q->prices,
        str_printf(a, STR_FMT " · " STR_FMT, STR_ARG(of->context.cpu), STR_ARG(of->device)));
}

typedef VEC(capacity_plan) plan_list;

/* Larger values in a file are implausible, and the recursion over servers would not end. */
enum { CONCURRENCY_MOST = 65536 };

static bool plan_load(const capacity_request *q, uint32_t i, arena *a, plan_list *plans)
{
    capacity_plan *p = q->loads[i]->n_curve ? VEC_PUSH(a, plans) : NULL;
    if (!p)
        return !arena_failed(a);
    capacity_plan_curve(q, q->loads[i], a, p);
    put_measured_price(q, i, a, p);
    return true;
}

static bool plan_profile(const capacity_request *q, uint32_t i, arena *a, plan_list *plans)
{
    const profile_measured *m = q->profiles[i]->measured;
    if (q->loads && q->loads[i])
        return plan_load(q, i, a, plans);
    if (m && m->concurrency > CONCURRENCY_MOST)
        return true;
    for (uint32_t k = 0; m && m->rate <= 0 && k < m->n_configs; k++) {
        if (!is_usable(&m->configs[k]))
            continue;
        capacity_plan *p = VEC_PUSH(a, plans);
        if (!p || !plan_one(q, &m->configs[k], m->concurrency ? m->concurrency : 1, a, p))
            return false;
        put_measured_price(q, i, a, p);
    }
    return true;
}

/* Fewest machines; of equals the one that answers sooner. */
static uint32_t best_of(const capacity_plan *p, uint32_t n)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (p[i].feasible &&
            (best == UINT32_MAX || p[i].machines < p[best].machines ||
             (p[i].machines == p[best].machines && p[i].quantile_ms < p[best].quantile_ms)))
            best = i;
    return best;
}

/* ---- what is assumed, and what is more than was measured ---- */

typedef VEC(str) note_list;

static void add_note(arena *a, note_list *l, str text)
{
    str *n = VEC_PUSH(a, l);
    if (n)
        *n = text;
}

static void note_runs(const capacity *c, arena *a, note_list *l)
{
    uint64_t fewest = UINT64_MAX;
    char name[16];
    for (uint32_t i = 0; i < c->n; i++)
        fewest = c->plans[i].runs < fewest ? c->plans[i].runs : fewest;
    double needed = c->quantile > 0 && c->quantile < 1 ? 1 / (1 - c->quantile) : 0;
    if ((double)fewest < needed)
        add_note(
            a, l,
            str_printf(a,
                       "Extrapolated: %s is estimated from as few as %llu runs of a batch size, "
                       "and fewer than 1 in %.0f runs exceed it. Use --num-runs %.0f or more.",
                       capacity_quantile_name(c->quantile, name), (unsigned long long)fewest,
                       needed, 5 * needed));
}

static void take_notes(capacity *c, arena *a, note_list *l)
{
    bool batches = false, several = false, curves = false, queues = false;
    for (uint32_t i = 0; i < c->n; i++) {
        batches = batches || c->plans[i].batch > 1;
        several = several || (c->plans[i].concurrency > 1 && !c->plans[i].by_curve);
        curves = curves || c->plans[i].by_curve;
        queues = queues || !c->plans[i].by_curve;
    }
    if (curves)
        add_note(
            a, l,
            STR("Measured: latency at a rate is interpolated between the steps of the measured "
                "load curve; no queue is assumed. Rates above its last good step are not used."));
    if (queues)
        add_note(a, l,
                 STR("Assumed: Poisson arrivals, spread at random over identical machines. Each "
                     "machine is a first-come-first-served GI/G/c queue with the measured service "
                     "times (Allen-Cunneen with the Kraemer and Langenbach-Belz correction)."));
    if (batches)
        add_note(
            a, l,
            STR("Assumed: a batch starts when it is full, so its first request waits for its last. "
                "A server that starts partial batches responds sooner and has a lower capacity."));
    if (several)
        add_note(a, l, STR("Only the measured concurrency is considered."));
    add_note(a, l,
             STR("Extrapolated from one measured machine. Network, load balancer and machine "
                 "failures are not modelled; only measured batch sizes are considered."));
    note_runs(c, a, l);
}

/* Implausible times: below a nanosecond or above a hundred days the formulas give infinities. */
#define SHORTEST_MS 1e-6
#define LONGEST_MS  1e10

static assay_status check_times(const capacity_request *q, uint32_t i, assay_error *err)
{
    const profile_measured *m = q->profiles[i]->measured;
    for (uint32_t k = 0; m && k < m->n_configs; k++) {
        const profile_config *c = &m->configs[k];
        for (uint32_t n = 0; n < c->n_samples; n++) {
            double ms = c->samples_ms[n];
            if (ms > 0 && !(ms >= SHORTEST_MS && ms <= LONGEST_MS))
                return err_fail(err, ASSAY_ERR_MALFORMED,
                                STR_FMT
                                ": implausible run time at batch %llu: %g ms. Measure again.",
                                STR_ARG(q->sources[i]), (unsigned long long)c->batch, ms);
        }
    }
    return ASSAY_OK;
}

assay_status capacity_run(const capacity_request *q, arena *a, capacity *out, assay_error *err)
{
    plan_list plans = {0};
    note_list said = {0};
    for (uint32_t i = 0; i < q->n; i++) {
        TRY(check_times(q, i, err));
        TRY_MEMORY(plan_profile(q, i, a, &plans), err);
    }
    if (!plans.n)
        return err_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "the result has no run times. Measure with `assay profile MODEL --batch-sizes 1,2,4,8 "
            "-o result.json` (without --rate, which adds waiting time), or a server with `assay load "
            "URL --curve -o result.json`.");
    *out = (capacity){.model = str_copy(a, q->profiles[0]->model),
                      .target = q->target,
                      .quantile = q->quantile > 0 ? q->quantile : NAN,
                      .limit_ms = q->limit_ms > 0 ? q->limit_ms : NAN,
                      .headroom = q->headroom,
                      .plans = plans.items,
                      .n = plans.n,
                      .best = best_of(plans.items, plans.n)};
    if (out->best < out->n)
        plans.items[out->best].best = true;
    capacity_quantile_name(out->quantile, out->limit_name);
    capacity_quantile_name(q->quantile > 0 ? q->quantile : 0.99, out->latency_name);
    take_notes(out, a, &said);
    out->notes = said.items;
    out->n_notes = said.n;
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
