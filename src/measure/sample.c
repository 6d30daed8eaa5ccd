/* The measurement loops; see sample.h. Threads share only the number of started runs and the stop flag. Each thread
 * keeps its own samples, which are merged in order at the end. */
#include "measure/sample.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "measure/stats.h"
#include "measure/system.h"

enum { THREADS_MAX = 256, FIRST_LOOK = 10, PRECISE_RUNS_MAX = 20000 };
#define DEFAULT_MAX_NS 60000000000u

typedef struct samples {
    sample_run *items;
    uint32_t n, cap;
} samples;

typedef struct loop {
    engine *engine;
    const sample_rule *rule;
    const sample_load *load;
    const sample_hook *hook;
    uint32_t n_threads;
    uint64_t begin_ns;
    pthread_mutex_t lock; /* of the hook, the arrivals and the four below */
    rng arrivals;
    uint64_t handed_out, done, next_look;
    double next_due; /* nanoseconds after the beginning */
    atomic_bool over;
    bool interrupted, precise;
} loop;

typedef struct worker {
    loop *loop;
    engine_job *job;
    samples got;
    assay_status status;
    assay_error err;
} worker;

static sample_run *push_run(samples *s)
{
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 256;
        sample_run *grown = memory_resize(s->items, cap * sizeof *grown);
        if (!grown)
            return NULL;
        s->items = grown;
        s->cap = cap;
    }
    return &s->items[s->n++];
}

void sample_runs_free(sample_runs *r)
{
    free(r->items);
    *r = (sample_runs){0};
}

/* ---- when to end ---- */

static bool narrow(const sample_run *runs, uint32_t n, double share)
{
    double *x = n ? memory_alloc(sizeof *x * 3 * n) : NULL;
    profile_stats s;
    if (!x)
        return false;
    for (uint32_t i = 0; i < n; i++)
        x[i] = sample_ms(&runs[i]);
    stats_describe(x, n, x + n, &s);
    free(x);
    return s.ci95_high - s.mean <= share * s.mean;
}

/* Looks at the interval at lengths that grow by a fifth, so that all looks together cost no more than
 * some passes over the series, and chance gets few tries. */
static bool precise_enough(loop *l, const samples *own)
{
    if (l->precise)
        return true;
    if (own->n < l->next_look)
        return false;
    l->next_look = own->n + own->n / 5 + 1;
    uint32_t from = own->n > PRECISE_RUNS_MAX ? own->n - PRECISE_RUNS_MAX : 0;
    l->precise = narrow(own->items + from, own->n - from, l->rule->precision);
    return l->precise;
}

static bool is_enough(loop *l, const samples *own, uint64_t now)
{
    const sample_rule *r = l->rule;
    uint64_t passed = now - l->begin_ns;
    if (l->done >= SAMPLE_RUNS_MAX)
        return true;
    if (r->precision > 0 && passed > (r->max_ns ? r->max_ns : DEFAULT_MAX_NS))
        return true;
    return l->done >= r->runs && passed >= r->duration_ns &&
           (r->precision <= 0 || precise_enough(l, own));
}

static double fraction_of(const loop *l, uint64_t now)
{
    const sample_rule *r = l->rule;
    double runs = r->runs ? (double)l->done / (double)r->runs : 1;
    double time = r->duration_ns ? (double)(now - l->begin_ns) / (double)r->duration_ns : 1;
    double least = runs < time ? runs : time;
    return least < 1 ? least : 1;
}

static void account(loop *l, const samples *own, uint64_t now)
{
    const sample_hook *h = l->hook;
    uint64_t planned = l->rule->duration_ns || l->rule->precision > 0 ? 0 : l->rule->runs;
    pthread_mutex_lock(&l->lock);
    l->done++;
    if (!l->interrupted && h && h->go_on &&
        !h->go_on(h->ctx, l->done, planned, fraction_of(l, now)))
        l->interrupted = true;
    if (l->interrupted || is_enough(l, own, now))
        atomic_store(&l->over, true);
    pthread_mutex_unlock(&l->lock);
}

/* ---- one run ---- */

/* Runs that are planned by count alone are handed out by number, so that no thread adds a surplus one.
 * In an open loop the next request's due time comes with it. */
static bool take_turn(loop *l, uint64_t *due_ns)
{
    const sample_rule *r = l->rule;
    bool counted = !r->duration_ns && r->precision <= 0;
    *due_ns = 0;
    pthread_mutex_lock(&l->lock);
    bool granted = !atomic_load(&l->over) && !(counted && l->handed_out >= r->runs);
    if (granted)
        l->handed_out++;
    if (granted && l->load->rate > 0) {
        l->next_due += -log(1 - rng_uniform(&l->arrivals)) / l->load->rate * 1e9;
        *due_ns = l->begin_ns + (uint64_t)l->next_due;
    }
    pthread_mutex_unlock(&l->lock);
    return granted;
}

static uint32_t less(uint64_t after, uint64_t before)
{
    return after - before < UINT32_MAX ? (uint32_t)(after - before) : UINT32_MAX;
}

static assay_status run_once(worker *w, uint64_t due_ns)
{
    loop *l = w->loop;
    system_usage before, after;
    uint64_t counted_from = 0, counted_to = 0;
    bool own_thread = l->n_threads > 1;
    sample_run *r = push_run(&w->got);
    TRY_MEMORY(r, &w->err);
    if (due_ns)
        engine_sleep_until(l->engine, due_ns);
    system_usage_now(own_thread, &before);
    bool counts = !own_thread && counter_read(l->load->counter, &counted_from);
    uint64_t start = engine_now_ns(l->engine);
    assay_status s = engine_job_run(w->job, &w->err);
    uint64_t end = engine_now_ns(l->engine);
    counts = counts && counter_read(l->load->counter, &counted_to);
    system_usage_now(own_thread, &after);
    if (s != ASSAY_OK) {
        w->got.n--;
        return s;
    }
    engine_job_drop(w->job);
    *r = (sample_run){.due_ns = due_ns ? due_ns : start,
                      .start_ns = start,
                      .end_ns = end,
                      .instructions = counts ? counted_to - counted_from : 0,
                      .cpu_ns = after.cpu_ns - before.cpu_ns,
                      .voluntary = less(after.voluntary, before.voluntary),
                      .involuntary = less(after.involuntary, before.involuntary),
                      .minor_faults = less(after.minor_faults, before.minor_faults),
                      .major_faults = less(after.major_faults, before.major_faults)};
    return ASSAY_OK;
}

static void *run_worker(void *arg)
{
    worker *w = arg;
    uint64_t due;
    while (take_turn(w->loop, &due)) {
        w->status = run_once(w, due);
        if (w->status != ASSAY_OK) {
            atomic_store(&w->loop->over, true);
            break;
        }
        account(w->loop, &w->got, w->got.items[w->got.n - 1].end_ns);
    }
    return NULL;
}

/* ---- all threads ---- */

static int by_start(const void *a, const void *b)
{
    const sample_run *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Moves every worker's samples into one list. */
static assay_status gather(worker *w, uint32_t n, sample_runs *out, assay_error *err)
{
    samples all = w[0].got;
    assay_status s = ASSAY_OK;
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t k = 0; s == ASSAY_OK && k < w[i].got.n; k++) {
            sample_run *r = push_run(&all);
            if (r)
                *r = w[i].got.items[k];
            else
                s = err_no_memory(err);
        }
        free(w[i].got.items);
    }
    assert(all.items || !all.n);
    if (n > 1 && all.n)
        qsort(all.items, all.n, sizeof *all.items, by_start);
    out->items = all.items;
    out->n = all.n;
    return s;
}

static assay_status first_failure(const worker *w, uint32_t n, assay_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (w[i].status != ASSAY_OK) {
            if (err)
                *err = w[i].err;
            return w[i].status;
        }
    return ASSAY_OK;
}

static assay_status run_workers(worker *w, uint32_t n, assay_error *err)
{
    pthread_t threads[THREADS_MAX];
    uint32_t started = 1;
    assay_status s = ASSAY_OK;
    for (; started < n; started++)
        if (pthread_create(&threads[started], NULL, run_worker, &w[started]) != 0) {
            atomic_store(&w->loop->over, true);
            s = err_fail(err, ASSAY_ERR_SYSTEM, "cannot start %u threads, only %u", n, started);
            break;
        }
    run_worker(&w[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    return s;
}

assay_status sample_measure(engine *e, engine_job *const *jobs, const sample_rule *rule,
                            const sample_load *load, const sample_hook *hook, sample_runs *out,
                            assay_error *err)
{
    uint32_t n = load->concurrency ? load->concurrency : 1;
    *out = (sample_runs){0};
    if (n > THREADS_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "at most %d concurrent runs are supported",
                        THREADS_MAX);
    worker *w = memory_zeroed(n, sizeof *w);
    TRY_MEMORY(w, err);
    loop l = {.engine = e, .rule = rule, .load = load, .hook = hook, .n_threads = n};
    l.next_look = FIRST_LOOK;
    pthread_mutex_init(&l.lock, NULL);
    rng_seed(&l.arrivals, load->seed);
    for (uint32_t i = 0; i < n; i++) {
        w[i].loop = &l;
        w[i].job = jobs[i];
    }
    l.begin_ns = out->begin_ns = engine_now_ns(e);
    assay_status s = run_workers(w, n, err);
    out->end_ns = engine_now_ns(e);
    out->interrupted = l.interrupted;
    out->precise = l.precise;
    if (s == ASSAY_OK)
        s = first_failure(w, n, err);
    assay_status gathered = gather(w, n, out, err);
    pthread_mutex_destroy(&l.lock);
    free(w);
    return s == ASSAY_OK ? gathered : s;
}
