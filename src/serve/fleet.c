/* Questions about all machines of a history, and the sweeps whose plans the server was started with (--sweep-plan). A plan is
 * read once, at the start; no request names a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

#define PRICES_MAX 65 /* one more than the library takes, which refuses it */
/* A question reads rows of the whole history: this part of the budget of work, whatever it finds. */
#define FLEET_SHARE 4

/* ---- a result as a reply ---- */

/* Takes `of`. With "?view=1" the reply has the view beside it. */
static assay_status hand_result(const request *r, assay_result *of, reply *out, assay_error *err)
{
    char *text, *view = NULL;
    size_t n, n_view;
    assay_status s = assay_result_write(of, "json", NULL, &text, &n, err);
    if (s == ASSAY_OK) {
        reply_json(out, text, n);
        if (query_flag(r, "view") &&
            (s = assay_result_write(of, "view", NULL, &view, &n_view, err)) == ASSAY_OK)
            reply_join_view(out, view);
        assay_free(view);
    }
    assay_result_free(of);
    return s;
}

/* ---- questions ---- */

typedef assay_status fleet_fn(assay_store *store, const assay_fleet_request *request,
                              assay_result **out, assay_error *err);

static assay_fleet_request fleet_request(const request *r)
{
    return (assay_fleet_request){.size = sizeof(assay_fleet_request),
                                 .model = query_of(r, "model"),
                                 .machine = query_of(r, "machine"),
                                 .tag = query_of(r, "tag"),
                                 .since = query_of(r, "since"),
                                 .metric = query_of(r, "metric"),
                                 .by = query_of(r, "by"),
                                 .latency = query_of(r, "latency")};
}

/* That there are regressions, or nothing within a latency, is an answer here. */
static assay_status answer(const request *r, assay_store *store, fleet_fn *ask,
                           const assay_fleet_request *q, reply *out, assay_error *err)
{
    assay_result *result = NULL;
    const uint64_t bytes = r->s->work.most / FLEET_SHARE;
    if (!take_work(r, bytes, out))
        return ASSAY_OK;
    assay_status s = ask(store, q, &result, err);
    if (result)
        s = hand_result(r, result, out, err);
    budget_give(&r->s->work, bytes);
    return s;
}

static assay_status give_changes(request *r, assay_store *store, reply *out, assay_error *err)
{
    assay_fleet_request q = fleet_request(r);
    q.worse_only = query_flag(r, "worse");
    return answer(r, store, assay_store_changes, &q, out, err);
}

static assay_status give_drift(request *r, assay_store *store, reply *out, assay_error *err)
{
    const assay_fleet_request q = fleet_request(r);
    if (q.model || q.metric || q.by) {
        reply_error(out, MHD_HTTP_BAD_REQUEST, "drift takes machine, since, tag and limit");
        return ASSAY_OK;
    }
    return answer(r, store, assay_store_drift, &q, out, err);
}

/* "large=2.50,small=0.40", cut into pieces in place; how many, at most PRICES_MAX. */
static size_t cut_prices(char *list, const char **prices)
{
    size_t n = 0;
    char *rest = list;
    for (char *one; rest && n < PRICES_MAX && (one = strsep(&rest, ",")) != NULL;)
        if (*one)
            prices[n++] = one;
    return n;
}

static assay_status give_cheapest(request *r, assay_store *store, reply *out, assay_error *err)
{
    const char *given = query_of(r, "price"), *prices[PRICES_MAX];
    assay_fleet_request q = fleet_request(r);
    if (!q.model) {
        reply_error(out, MHD_HTTP_BAD_REQUEST, "model is required");
        return ASSAY_OK;
    }
    char *list = strdup(given ? given : "");
    if (!list) {
        reply_error(out, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
        return ASSAY_OK;
    }
    q.prices = prices;
    q.n_prices = cut_prices(list, prices);
    assay_status s = answer(r, store, assay_store_cheapest, &q, out, err);
    free(list);
    return s;
}

void serve_changes(request *r, reply *out)
{
    with_store(r, out, give_changes);
}

void serve_drift(request *r, reply *out)
{
    with_store(r, out, give_drift);
}

void serve_cheapest(request *r, reply *out)
{
    with_store(r, out, give_cheapest);
}

/* ---- sweeps ---- */

bool sweeps_open(server *s, assay_error *err)
{
    for (; s->n_sweeps < s->options.n_sweeps; s->n_sweeps++) {
        const int i = s->n_sweeps;
        assay_result *plan = NULL;
        assay_status status = assay_sweep_open(s->options.sweeps[i], NULL, &plan, err);
        if (status == ASSAY_OK)
            status = assay_result_write(plan, "json", NULL, &s->sweeps[i], &s->sweep_bytes[i], err);
        assay_result_free(plan);
        if (status != ASSAY_OK)
            return false;
    }
    return true;
}

/* A result is used by one thread at a time: each request has its own. */
static assay_status read_plan(const request *r, int i, assay_result **out, assay_error *err)
{
    return assay_result_from_json(r->s->sweeps[i], r->s->sweep_bytes[i], r->s->options.sweeps[i],
                                  "sweep", out, err);
}

void sweeps_close(server *s)
{
    while (s->n_sweeps)
        assay_free(s->sweeps[--s->n_sweeps]);
}

/* One sweep of the list: what its tasks are at. */
static assay_status put_progress(FILE *f, const request *r, int i, assay_store *store,
                                 assay_error *err)
{
    static const char *const counts[] = {"total", "done", "noisy", "running", "waiting", "missing"};
    assay_result *plan = NULL, *status = NULL;
    assay_status s = read_plan(r, i, &plan, err);
    if (s == ASSAY_OK)
        s = assay_sweep_status(plan, store, NULL, &status, err);
    if (s != ASSAY_OK) {
        assay_result_free(plan);
        return s;
    }
    char *name = json_quoted(assay_result_text(status, "id"));
    fprintf(f, "%s{\"id\": %d, \"name\": %s", i ? ", " : "", i + 1, name ? name : "null");
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        fprintf(f, ", \"%s\": %.0f", counts[k], assay_result_number(status, counts[k]));
    fputs("}", f);
    free(name);
    assay_result_free(status);
    assay_result_free(plan); /* which the status borrows texts of */
    return ASSAY_OK;
}

static assay_status list_sweeps(request *r, assay_store *store, reply *out, assay_error *err)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assay_status s = ASSAY_OK;
    if (f)
        fputs("{\"sweeps\": [", f);
    for (int i = 0; f && i < r->s->n_sweeps && s == ASSAY_OK; i++)
        s = put_progress(f, r, i, store, err);
    if (f)
        fputs("]}\n", f);
    if (s == ASSAY_OK) {
        reply_stream(out, f, &text, &n);
        return s;
    }
    fclose(f);
    free(text);
    return s;
}

void serve_sweeps(request *r, reply *out)
{
    with_store(r, out, list_sweeps);
}

/* Tasks without a record are part of the answer. */
static assay_status give_sweep(request *r, assay_store *store, reply *out, assay_error *err)
{
    assay_result *plan = NULL, *report = NULL;
    if (r->id > r->s->n_sweeps) {
        reply_error(out, MHD_HTTP_NOT_FOUND,
                    "no such sweep. Start the server with --sweep-plan PLAN.");
        return ASSAY_OK;
    }
    const uint64_t bytes = r->s->sweep_bytes[r->id - 1];
    if (!take_work(r, bytes < r->s->work.most ? bytes : r->s->work.most, out))
        return ASSAY_OK;
    assay_status s = read_plan(r, (int)r->id - 1, &plan, err);
    if (s == ASSAY_OK)
        s = assay_sweep_report(plan, store, &report, err);
    if (report)
        s = hand_result(r, report, out, err);
    assay_result_free(plan);
    budget_give(&r->s->work, bytes < r->s->work.most ? bytes : r->s->work.most);
    return s;
}

void serve_sweep(request *r, reply *out)
{
    with_store(r, out, give_sweep);
}
