/* The steps of `assay load --curve`. The light load is measured first, with one connection in a closed loop: it tells how
 * long a request takes, and so where to begin and how long a step must be. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "measure/load_curve.h"
#include "measure/load_endpoint.h"

#define CURVE_DURATION_S 60.0
#define STEPS_PLANNED    12   /* of the time there is */
#define FIRST_SHARE      0.25 /* of the rate that one connection reaches */
#define STEP_LEAST_S     0.2
#define ERRORS_MOST      0.05

typedef struct curving {
    loading *l;
    load_search search;
    double budget_s, step_s;
    bool has_best; /* the result holds the figures of a step */
    double best_rate;
} curving;

static double spent_s(const loading *l)
{
    return (double)(clock_mono_ns() - l->begin_ns) / 1e9;
}

/* The server answers as fast as requests are due: in the second half of the time, within chance. */
static bool keeps_up(const load_run_result *run)
{
    uint64_t half = run->sending_ns / 2, due = 0, done = 0;
    for (uint32_t i = 0; i < run->n; i++) {
        const load_record *r = &run->items[i];
        uint64_t end = r->due_ns + (uint64_t)((double)r->end_ms * 1e6);
        due += r->due_ns >= half;
        done += r->outcome == LOAD_GOOD && end >= half && end < run->sending_ns;
    }
    return (double)done >= 0.95 * (double)due - 2 * sqrt((double)due) - 1;
}

static void fill_step(load_curve_step *s, const load_result *r, const load_run_result *run)
{
    s->requests = r->requests;
    s->errors = r->failed;
    s->error_rate = isnan(r->error_rate) ? 0 : r->error_rate;
    s->duration_s = (double)run->sending_ns / 1e9;
    s->requests_per_second = r->throughput.requests;
    s->tokens_per_second = r->throughput.tokens;
    s->mean = r->latency.mean;
    s->mean_low = r->latency.ci95_low;
    s->mean_high = r->latency.ci95_high;
    s->p50 = r->latency.p50;
    s->p90 = r->latency.p90;
    s->p95 = r->latency.p95;
    s->p99 = r->latency.p99;
    s->p99_low = r->latency.p99_low;
    s->p99_high = r->latency.p99_high;
    s->ttft_p50 = r->ttft.present ? r->ttft.p50 : NAN;
    s->ttft_p99 = r->ttft.present ? r->ttft.p99 : NAN;
    s->itl_p50 = r->itl.present ? r->itl.p50 : NAN;
    s->itl_p99 = r->itl.present ? r->itl.p99 : NAN;
    s->client_saturated = r->client.saturated;
    s->has_slo = r->slo.present;
    s->meets_slo = r->slo.present && r->slo.met;
    s->goodput = r->slo.present ? r->slo.goodput : NAN;
}

/* The figures of the best step so far are those of the result. */
static void keep_figures(curving *c, const load_result *r, const load_curve_step *s)
{
    load_result *out = c->l->out;
    bool good = load_step_is_good(s);
    bool better = !c->has_best || (good && s->rate > c->best_rate);
    if (!better || !r->requests)
        return;
    load_result kept = *out;
    *out = *r;
    out->model = kept.model;
    out->about = kept.about;
    out->target = kept.target;
    out->settings = kept.settings;
    out->warnings = kept.warnings;
    out->interrupted = kept.interrupted;
    c->has_best = true;
    c->best_rate = good ? s->rate : 0;
}

static assay_status take_step(curving *c, double rate, bool *stop, assay_error *err)
{
    loading *l = c->l;
    load_run_result run;
    load_result *r = ARENA_NEW(l->a, load_result);
    load_curve_step *s = &c->search.steps[c->search.n];
    load_run_request q = {.mode = LOAD_OPEN,
                          .concurrency = l->most,
                          .duration_ns = (uint64_t)(c->step_s * 1e9),
                          .drain_ns = (uint64_t)(c->step_s * 1e9)};
    TRY_MEMORY(r, err);
    load_arrivals_begin(&q.arrivals, rate, l->o->arrivals == 0, l->plan.seed + c->search.n);
    assay_status status = load_run_hooked(l, &q, &run, err);
    load_steady steady = load_run_steady(run.items, run.n, c->step_s);
    const load_summary_request sum = {.run = &run,
                                      .slo = &l->o->slo,
                                      .tokens = l->plan.protocol->tokens,
                                      .open = true,
                                      .from_ns = (uint64_t)(steady.after_s * 1e9)};
    if (status == ASSAY_OK && !run.interrupted)
        status = load_summarise(&sum, l->a, r, err);
    *stop = run.interrupted || run.gave_up || status != ASSAY_OK;
    if (!run.interrupted && status == ASSAY_OK) {
        *s = (load_curve_step){
            .rate = rate, .steady = steady.steady, .steady_after_s = steady.after_s};
        fill_step(s, r, &run);
        s->saturated = !keeps_up(&run) || s->error_rate > ERRORS_MOST;
        c->search.n++;
        keep_figures(c, r, s);
    }
    l->out->interrupted = l->out->interrupted || run.interrupted;
    load_run_free(&run);
    return status;
}

/* One connection: the mean time of a request, in seconds. 0: none was answered. */
static assay_status measure_light_load(curving *c, double *mean_s, bool *stop, assay_error *err)
{
    loading *l = c->l;
    load_run_result run;
    load_result *r = ARENA_NEW(l->a, load_result);
    load_run_request q = {.mode = LOAD_CLOSED,
                          .concurrency = 1,
                          .duration_ns = (uint64_t)(c->budget_s / STEPS_PLANNED / 2 * 1e9)};
    TRY_MEMORY(r, err);
    assay_status s = load_run_hooked(l, &q, &run, err);
    const load_summary_request sum = {
        .run = &run, .slo = &l->o->slo, .tokens = l->plan.protocol->tokens};
    if (s == ASSAY_OK)
        s = load_summarise(&sum, l->a, r, err);
    *stop = run.interrupted || !r->good;
    l->out->interrupted = run.interrupted;
    *mean_s = r->latency.p50 / 1000;
    if (s == ASSAY_OK && *stop) /* nothing but this is known */
        keep_figures(c, r, &(load_curve_step){.rate = 0});
    load_run_free(&run);
    return s;
}

static assay_status take_steps(curving *c, assay_error *err)
{
    bool stop = false;
    for (double rate; !stop && (rate = load_search_next(&c->search)) > 0;) {
        bool given = c->search.rates != NULL;
        if (!given && c->search.n && spent_s(c->l) + c->step_s > c->budget_s) {
            notes_add(&c->l->out->warnings, "budget", (str){0},
                      "Use a longer --duration for more steps.",
                      "The curve ended with its time: %u steps of %.2g s.", c->search.n, c->step_s);
            break;
        }
        TRY(take_step(c, rate, &stop, err));
    }
    return ASSAY_OK;
}

assay_status load_steps_run(loading *l, assay_error *err)
{
    const load_options *o = l->o;
    curving *c = ARENA_NEW(l->a, curving);
    double mean_s = 0;
    bool stop = false;
    TRY_MEMORY(c, err);
    *c = (curving){.l = l, .budget_s = o->duration > 0 ? o->duration : CURVE_DURATION_S};
    c->search.rates = o->rates.n ? o->rates.items : NULL;
    c->search.n_rates = o->rates.n;
    l->planned_s = c->budget_s;
    l->what = "curve";
    c->step_s = c->budget_s / (c->search.rates ? c->search.n_rates : STEPS_PLANNED);
    if (!c->search.rates) {
        TRY(measure_light_load(c, &mean_s, &stop, err));
        c->search.first = mean_s > 0 ? FIRST_SHARE / mean_s : 1;
    }
    c->step_s = fmax(c->step_s, STEP_LEAST_S);
    if (!stop)
        TRY(take_steps(c, err));
    load_search_finish(&c->search, &l->out->answer);
    l->out->curve = arena_copy(l->a, c->search.steps, sizeof *c->search.steps * c->search.n);
    l->out->n_curve = l->out->curve ? c->search.n : 0;
    l->out->slo.present = l->out->slo.present && o->slo.n;
    return ASSAY_OK;
}
