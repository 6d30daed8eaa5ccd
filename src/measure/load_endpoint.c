/* See load_endpoint.h. */
#include "measure/load_endpoint.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/redact.h"

#define DURATION_S       10.0
#define CURVE_DURATION_S 60.0

/* ---- hooks ---- */

static bool go_on(void *ctx, uint64_t done, double seconds)
{
    loading *l = ctx;
    double spent = (double)(clock_mono_ns() - l->begin_ns) / 1e9;
    (void)seconds;
    return l->hook.go_on(l->hook.ctx, l->what, done,
                         l->planned_s > 0 ? fmin(1, spent / l->planned_s) : 0);
}

assay_status load_run_hooked(loading *l, load_run_request *q, load_run_result *run,
                             assay_error *err)
{
    q->go_on = go_on;
    q->ctx = l;
    return load_run(l->client, q, run, err);
}

/* ---- one run ---- */

static load_run_request request_of(loading *l)
{
    const load_options *o = l->o;
    load_run_request q = {.mode = o->trace.n    ? LOAD_REPLAY
                                  : o->rate > 0 ? LOAD_OPEN
                                                : LOAD_CLOSED,
                          .concurrency = l->most,
                          .requests = (uint64_t)o->num_requests};
    double seconds = o->duration > 0                       ? o->duration
                     : q.requests || q.mode == LOAD_REPLAY ? 0
                                                           : DURATION_S;
    q.duration_ns = (uint64_t)(seconds * 1e9);
    if (q.mode == LOAD_OPEN)
        load_arrivals_begin(&q.arrivals, o->rate, o->arrivals == 0, l->plan.seed);
    l->planned_s = seconds;
    return q;
}

static assay_status prepare_replay(loading *l, load_run_request *q, assay_error *err)
{
    uint64_t *at = ARENA_ARRAY(l->a, uint64_t, l->plan.n_items);
    TRY_MEMORY(at, err);
    for (uint32_t i = 0; i < l->plan.n_items; i++)
        at[i] = l->plan.items[i].at_ns;
    q->arrivals = (load_arrivals){.at_ns = at, .n_at = l->plan.n_items};
    if (l->planned_s <= 0)
        l->planned_s = (double)at[l->plan.n_items - 1] / 1e9;
    return ASSAY_OK;
}

static assay_status warm_up(loading *l, const load_run_request *of, bool *interrupted,
                            assay_error *err)
{
    load_run_request q = *of;
    load_run_result run;
    *interrupted = false;
    if (!(l->o->warmup > 0))
        return ASSAY_OK;
    l->what = "warm-up";
    q.duration_ns = (uint64_t)(l->o->warmup * 1e9);
    q.requests = 0;
    assay_status s = load_run_hooked(l, &q, &run, err);
    *interrupted = run.interrupted;
    load_run_free(&run);
    return s;
}

static assay_status run_once(loading *l, assay_error *err)
{
    load_run_request q = request_of(l);
    load_run_result run;
    bool interrupted;
    if (q.mode == LOAD_REPLAY)
        TRY(prepare_replay(l, &q, err));
    TRY(warm_up(l, &q, &interrupted, err));
    l->begin_ns = clock_mono_ns();
    l->what = "requests";
    if (interrupted)
        q.duration_ns = 1;
    assay_status s = load_run_hooked(l, &q, &run, err);
    const load_summary_request sum = {.run = &run,
                                      .slo = &l->o->slo,
                                      .tokens = l->plan.protocol->tokens,
                                      .open = q.mode != LOAD_CLOSED};
    if (s == ASSAY_OK)
        s = load_summarise(&sum, l->a, l->out, err);
    l->out->interrupted = run.interrupted || interrupted;
    if (run.full)
        notes_add(&l->out->warnings, "too-many-requests", (str){0}, NULL,
                  "Sending ended early: %u requests were recorded, which is the limit.", run.n);
    if (run.gave_up)
        notes_add(&l->out->warnings, "gave-up", (str){0},
                  "Check the URL and whether the server runs.",
                  "Sending ended early: every connection was refused.");
    load_run_free(&run);
    return s;
}

/* ---- what is said about it ---- */

static void describe(loading *l)
{
    const load_options *o = l->o;
    load_result *r = l->out;
    const load_target *t = &l->plan.target;
    bool curve = o->curve, replay = o->trace.n > 0, open = o->rate > 0;
    r->model = t->url;
    r->target = (load_endpoint){.url = t->url,
                                .host = t->host,
                                .address = str_copy(l->a, str_of(t->address)),
                                .port = t->port,
                                .tls = t->tls,
                                .loopback = t->loopback,
                                .protocol = str_of(l->plan.protocol->name),
                                .model = l->plan.model};
    load_settings *s = &r->settings;
    s->mode = curve ? "curve" : replay ? "replay" : open ? "open" : "closed";
    s->concurrency = l->most;
    s->rate = open ? o->rate : NAN;
    s->arrivals = !curve && !open ? NULL : o->arrivals ? "constant" : "poisson";
    s->duration_s = o->duration > 0             ? o->duration
                    : curve                     ? CURVE_DURATION_S
                    : o->num_requests || replay ? NAN
                                                : DURATION_S;
    s->warmup_s = o->warmup;
    s->timeout_s = o->timeout;
    s->seed = l->plan.seed;
    s->stream = l->plan.stream;
    s->prompt_tokens = str_copy(l->a, o->prompt.text);
    s->output_tokens = str_copy(l->a, o->output.text);
    s->trace = redact_copy(l->a, o->trace);
    s->speed = replay ? o->speed : NAN;
}

/* A P99 of fewer requests is their slowest. */
enum { REQUESTS_FOR_P99 = 100 };

static void note_few_requests(const load_result *r, notes *n)
{
    uint64_t fewest = UINT64_MAX;
    for (uint32_t i = 0; i < r->n_curve; i++)
        fewest = r->curve[i].requests < fewest ? r->curve[i].requests : fewest;
    if (r->n_curve && fewest < REQUESTS_FOR_P99)
        notes_add(n, "few-requests", (str){0}, "Use a longer --duration.",
                  "Steps of the curve have as few as %llu requests: the P99 of fewer than %d is "
                  "that of the slowest request, and an SLO met by them is not certain.",
                  (unsigned long long)fewest, REQUESTS_FOR_P99);
}

static void add_notes(loading *l)
{
    load_result *r = l->out;
    notes *n = &r->warnings;
    if (r->client.saturated)
        notes_add(n, "client-saturated", (str){0},
                  "Use a faster or quieter machine for the load generator, or a lower rate.",
                  "The load generator may limit these figures: " STR_FMT ".",
                  STR_ARG(r->client.why));
    note_few_requests(r, n);
    if (r->client.waited && r->settings.mode[0] != 'c')
        notes_add(n, "connections", (str){0}, "Raise --concurrency, if the server takes more.",
                  "%llu request%s waited for a connection (at most %llu at once); the wait is part "
                  "of the latency.",
                  (unsigned long long)r->client.waited, r->client.waited == 1 ? "" : "s",
                  (unsigned long long)r->settings.concurrency);
    if (r->tokens_source && r->tokens_source[0] != 'u')
        notes_add(
            n, "tokens-by-chunks", (str){0}, NULL,
            "The server reported no usage: tokens are events of the stream with text, each of "
            "which may hold more than one token.");
    if (r->latency.present && r->failed && r->good)
        notes_add(n, "failed-requests", (str){0}, NULL,
                  "%llu of %llu requests failed; percentiles count them as the slowest.",
                  (unsigned long long)r->failed, (unsigned long long)r->requests);
}

static assay_status status_of(const loading *l, assay_error *err)
{
    const load_result *r = l->out;
    if (r->interrupted)
        return err_fail(err, ASSAY_ERR_INTERRUPTED,
                        "interrupted: the result contains the measurements so far");
    if (!r->good) {
        str kind = r->n_errors ? r->errors[0].kind : STR("none was sent");
        str why = r->n_causes ? r->causes[0].why : (str){0};
        return err_fail(err, ASSAY_ERR_ENGINE,
                        STR_FMT ": no request succeeded (" STR_FMT "%s" STR_FMT ")",
                        STR_ARG(r->target.url), STR_ARG(kind), why.n ? ": " : "", STR_ARG(why));
    }
    if (r->slo.present && !r->slo.met && !l->o->curve)
        return err_fail(err, ASSAY_ERR_THRESHOLD, "the SLO was missed: " STR_FMT,
                        STR_ARG(r->slo.text));
    return ASSAY_OK;
}

/* ---- the whole ---- */

static assay_status load_endpoint_of(loading *l, assay_error *err)
{
    load_watch *watch = NULL;
    TRY(load_client_open(&l->plan, l->plan.tls, &l->client, err));
    TRY(load_watch_begin(l->o, l->a, &watch, err));
    l->begin_ns = clock_mono_ns();
    assay_status s = l->o->curve ? load_steps_run(l, err) : run_once(l, err);
    l->out->server = load_watch_end(watch);
    return s;
}

/* What was not measured is unknown. */
static void forget_figures(load_result *r)
{
    const load_times none = {0};
    r->latency = r->ttft = r->itl = none;
    r->error_rate = NAN;
    r->throughput = (load_throughput){.tokens = NAN, .in_tokens = NAN, .offered = NAN};
    r->client = (load_client_use){.cpu_percent = NAN};
}

assay_status load_endpoint_run(const char *url, const load_options *o, load_hook hook, arena *a,
                               load_result *out, bool *done, assay_error *err)
{
    loading l = {.o = o, .hook = hook, .a = a, .out = out};
    *done = false;
    forget_figures(out);
    notes_init(&out->warnings, a);
    assay_status s = load_setup(&l, url, err);
    if (s == ASSAY_OK) {
        describe(&l);
        s = load_endpoint_of(&l, err);
    }
    load_client_close(l.client);
    load_tls_close(l.plan.tls);
    TRY(s);
    out->slo.text = str_copy(a, o->slo_text);
    add_notes(&l);
    TRY_MEMORY(!arena_failed(a), err);
    *done = true;
    return status_of(&l, err);
}
