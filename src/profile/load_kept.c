/* A load as a profile: what check, compare, trend and the history know of it. Latency and throughput are those of one
 * configuration whose sample is a request; figures that only loads have are in profile.load. */
#include <math.h>

#include "profile/load.h"
#include "profile/profile_fields.h"

static void fill_stats(const load_times *t, profile_stats *s)
{
    *s = (profile_stats){.runs = t->runs,
                         .mean = t->mean,
                         .std = t->std,
                         .min = t->min,
                         .max = t->max,
                         .median = t->p50,
                         .p50 = t->p50,
                         .p90 = t->p90,
                         .p95 = t->p95,
                         .p99 = t->p99,
                         .ci95_low = t->ci95_low,
                         .ci95_high = t->ci95_high};
}

static bool add_runs(const load_result *r, arena *a, profile *p)
{
    profile_measured *m = ARENA_NEW(a, profile_measured);
    profile_config *c = ARENA_NEW(a, profile_config);
    if (!m || !c)
        return false;
    *c = (profile_config)PROFILE_CONFIG_UNKNOWN;
    c->batch = 1;
    c->precision = STR("");
    c->ran = true;
    fill_stats(&r->latency, &c->latency);
    c->samples_ms = r->latency.samples_ms;
    c->n_samples = r->latency.n_samples;
    c->samples_per_second = r->throughput.requests;
    *m = (profile_measured){.unit = "requests",
                            .units_per_sample = 1,
                            .concurrency = r->settings.concurrency,
                            .rate = isnan(r->settings.rate) ? 0 : r->settings.rate,
                            .seed = r->settings.seed,
                            .interrupted = r->interrupted,
                            .configs = c,
                            .n_configs = 1};
    p->measured = m;
    return true;
}

profile *load_as_profile(const load_result *r, arena *a)
{
    profile *p = ARENA_NEW(a, profile);
    profile_load_figures *f = ARENA_NEW(a, profile_load_figures);
    if (!p || !f)
        return NULL;
    if (r->about)
        p->context = r->about->context;
    p->arena = a;
    p->model = r->model;
    p->kind = load_kind.name;
    p->lens = STR("assay");
    *f = (profile_load_figures){.ttft = r->ttft.present ? r->ttft.p99 : NAN,
                                .itl = r->itl.present ? r->itl.p99 : NAN,
                                .goodput = r->slo.present ? r->slo.goodput : NAN,
                                .error_rate = r->error_rate,
                                .tokens = r->throughput.tokens,
                                .max_rate = r->answer.present ? r->answer.max_rate : NAN};
    p->load = f;
    notes_init(&p->warnings, a);
    if (r->good && !add_runs(r, a, p))
        return NULL;
    return profile_settle(p) && !arena_failed(a) ? p : NULL;
}
