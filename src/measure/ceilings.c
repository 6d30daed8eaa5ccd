/* See ceilings.h. */
#include "measure/ceilings.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "device/isa.h"
#include "measure/stats.h"
#include "measure/system.h"

enum { SAMPLES_MOST = 2000, SAMPLES_LEAST = 3, SAMPLES_BRIEF = 9 };

#define SAMPLE_SECONDS  3e-4
#define VISIT_NS        4000000u
#define FULL_SECONDS    23.0
#define QUICK_SECONDS   3.0
#define SHARED_QUANTILE 0.9 /* of what others use as well, or that may lie in a nearer cache */
/* A pass over memory takes long; a part of one does not. */
#define PART_BYTES ((uint64_t)512 << 10)
#define DRAM_LEAST ((uint64_t)64 << 20) /* of all threads together */
#define DRAM_MOST  ((uint64_t)512 << 20)

/* ---- figures ---- */

/* With 95 % confidence. Of a quantile: the order statistics that bound it, by the normal approximation of the
 * binomial (Conover, Practical Nonparametric Statistics). Of an end that no sample passes: from the best on,
 * by its distance to the second best (Robson and Whitlock 1964, Estimation of a truncation point). */
static void interval(const double *sorted, uint32_t n, double q, machine_figure *f)
{
    double middle = q * n, half = 1.96 * sqrt(n * q * (1 - q));
    double low = floor(middle - half), high = ceil(middle + half);
    f->low = sorted[low < 0 ? 0 : low > n - 1 ? n - 1 : (uint32_t)low];
    f->high = sorted[high > n - 1 ? n - 1 : (uint32_t)high];
    if (q >= 1 && n > 1)
        f->high += 19 * (sorted[n - 1] - sorted[n - 2]); /* (1 - 0.05) / 0.05 */
}

machine_figure ceilings_figure(double *rates, uint32_t n, double quantile)
{
    machine_figure f = {.samples = n};
    if (n == 0)
        return f;
    stats_sort(rates, n);
    f.value = stats_quantile(rates, n, quantile);
    interval(rates, n, quantile, &f);
    double median = stats_quantile(rates, n, 0.5);
    f.spread = median > 0
                   ? (stats_quantile(rates, n, 0.75) - stats_quantile(rates, n, 0.25)) / median
                   : 0;
    return f;
}

/* ---- sampling in turn ---- */

typedef struct series {
    uint64_t rounds;
    double *rates;
    uint32_t n;
    bool broken;
} series;

/* The shortest of three: a disturbance must not pass for a long sample. */
static double shortest(const ceiling_probe *p, uint64_t rounds, const ceiling_clock *clock)
{
    double least = clock->sample(clock->ctx, p, rounds);
    for (int i = 0; i < 2 && least >= SAMPLE_SECONDS / 2; i++) {
        double t = clock->sample(clock->ctx, p, rounds);
        least = t < least ? t : least;
    }
    return least;
}

/* More rounds until a sample is long enough for the clock; also the warm-up. */
static void find_rounds(const ceiling_probe *p, series *s, const ceiling_clock *clock)
{
    for (s->rounds = 1; s->rounds < UINT64_MAX / 64;) {
        double t = shortest(p, s->rounds, clock), more = t > 0 ? SAMPLE_SECONDS / t : 16;
        if (t >= SAMPLE_SECONDS / 2)
            return;
        s->rounds = (uint64_t)((double)s->rounds * (more > 16 ? 16 : more)) + 1;
    }
    s->broken = true;
}

static void take_sample(const ceiling_probe *p, series *s, const ceiling_clock *clock)
{
    double t = clock->sample(clock->ctx, p, s->rounds);
    if (t > 0)
        s->rates[s->n++] = p->work * (double)s->rounds / t;
    if (t < SAMPLE_SECONDS / 4) { /* the rounds were found in a bad moment */
        s->rounds = s->rounds * 2 + 1;
        s->n = 0;
    }
}

/* Equal time for each, so that short probes run more often. */
static void visit(const ceiling_probe *p, series *s, const ceiling_clock *clock)
{
    uint32_t most = p->brief ? SAMPLES_BRIEF : SAMPLES_MOST;
    if (p->lead_rounds && !s->broken && s->n < most)
        clock->sample(clock->ctx, p, p->lead_rounds);
    uint64_t until = clock->now_ns(clock->ctx) + VISIT_NS;
    while (!s->broken && s->n < most) {
        take_sample(p, s, clock);
        if (p->brief || clock->now_ns(clock->ctx) >= until)
            return;
    }
}

static void finish_series(const ceiling_probe *p, series *s)
{
    machine_figure f = ceilings_figure(s->rates, s->n, p->quantile);
    if (p->into)
        *p->into = f;
    if (p->best)
        *p->best = f.value;
}

static bool go_on(const ceiling_clock *clock, const char *what, uint64_t began, double seconds)
{
    double passed = (double)(clock->now_ns(clock->ctx) - began) / 1e9;
    return !clock->progress || clock->progress(clock->ctx, what, passed, seconds);
}

static assay_status interrupted(assay_error *err)
{
    return err_fail(err, ASSAY_ERR_INTERRUPTED,
                    "interrupted: the machine measurement was not stored");
}

static assay_status sample_all(const ceiling_probe *probes, series *all, uint32_t n, double seconds,
                               const ceiling_clock *clock, assay_error *err)
{
    uint64_t began = clock->now_ns(clock->ctx), limit = began + (uint64_t)(seconds * 1e9);
    for (uint32_t i = 0; i < n; i++) {
        if (!go_on(clock, probes[i].name, began, seconds))
            return interrupted(err);
        find_rounds(&probes[i], &all[i], clock);
    }
    for (uint32_t round = 0; round < SAMPLES_MOST; round++) {
        uint32_t wanting = 0; /* of those that the time was not enough for */
        for (uint32_t i = 0; i < n; i++) {
            bool enough = all[i].broken || all[i].n >= SAMPLES_LEAST;
            if (enough && clock->now_ns(clock->ctx) >= limit)
                continue;
            if (!go_on(clock, probes[i].name, began, seconds))
                return interrupted(err);
            visit(&probes[i], &all[i], clock);
            wanting += !enough;
        }
        if (!wanting && clock->now_ns(clock->ctx) >= limit)
            return ASSAY_OK;
    }
    return ASSAY_OK;
}

assay_status ceilings_sample(const ceiling_probe *probes, uint32_t n, double seconds,
                             const ceiling_clock *clock, assay_error *err)
{
    series *all = memory_zeroed((size_t)n + 1, sizeof *all);
    double *rates = memory_zeroed((size_t)n * SAMPLES_MOST + 1, sizeof *rates);
    assay_status s = all && rates ? ASSAY_OK : err_no_memory(err);
    assert(s != ASSAY_OK || (all && rates));
    for (uint32_t i = 0; s == ASSAY_OK && i < n; i++)
        all[i].rates = rates + (size_t)i * SAMPLES_MOST;
    if (s == ASSAY_OK)
        s = sample_all(probes, all, n, seconds, clock, err);
    for (uint32_t i = 0; s == ASSAY_OK && i < n; i++)
        finish_series(&probes[i], &all[i]);
    free(rates);
    free(all);
    return s;
}

/* ---- the probes of this machine ---- */

typedef struct plan {
    const ceiling_options *o;
    machine *m;
    ceiling_probe probes[CEILING_PROBES];
    uint32_t n;
    unsigned threads;
    uint64_t alone_bytes, shared_bytes; /* the largest set of one thread alone, and among all */
    ceiling_team *team;
} plan;

static ceiling_probe *add_probe(plan *p, unsigned threads)
{
    if (p->n == CEILING_PROBES)
        return NULL;
    ceiling_probe *x = &p->probes[p->n++];
    *x = (ceiling_probe){.threads = threads};
    return x;
}

static bool may_run(const plan *p, unsigned needs)
{
    if ((p->m->isa & needs) != needs)
        return false;
    return !(needs & (ISA_AMX_INT8 | ISA_AMX_BF16)) || isa_allow_amx();
}

static void add_rate(plan *p, const ceiling_fma_row *row, unsigned threads)
{
    machine *m = p->m;
    ceiling_probe *x = m->n_rates < MACHINE_RATES ? add_probe(p, threads) : NULL;
    if (!x)
        return;
    machine_rate *r = &m->rates[m->n_rates++];
    snprintf(r->dtype, sizeof r->dtype, "%s", row->dtype);
    snprintf(r->isa, sizeof r->isa, "%s", row->isa);
    r->threads = threads;
    snprintf(x->name, sizeof x->name, "%s %s", row->dtype, row->isa);
    x->of = row;
    x->kind = -1;
    x->quantile = 1;
    x->work = row->ops_per_round * threads;
    x->into = &r->ops;
}

static void add_rates(plan *p, const ceiling_fma_row *rows)
{
    for (; rows->run; rows++) {
        if (!may_run(p, rows->needs))
            continue;
        add_rate(p, rows, 1);
        if (p->threads > 1)
            add_rate(p, rows, p->threads);
    }
}

static const ceiling_move_row *widest_move(const plan *p)
{
    const ceiling_move_row *found = &ceiling_moves[0];
    for (const ceiling_move_row *r = ceiling_moves; r->isa; r++)
        if ((p->m->isa & r->needs) == r->needs)
            found = r;
    return found;
}

/* All caches of the last level together. */
static uint64_t cache_bytes(const plan *p)
{
    uint64_t bytes = 0;
    for (unsigned level = 1; level <= 4; level++) {
        const topology_cache *c = topology_data_cache(&p->m->where, level);
        if (c)
            bytes = c->size_bytes * (c->instances ? c->instances : 1);
    }
    return bytes;
}

/* A working set in a core's private caches. */
static bool is_private(const plan *p, uint64_t set_bytes)
{
    const topology_cache *c = topology_data_cache(&p->m->where, 2);
    return c && set_bytes <= c->size_bytes;
}

static const char *const kinds[] = {"read", "write", "copy", "triad"};

static ceiling_probe *add_move(plan *p, int kind, unsigned threads, uint64_t set_bytes)
{
    ceiling_probe *x = add_probe(p, threads);
    if (!x)
        return NULL;
    unsigned arrays = ceiling_arrays_of(kind);
    x->of = widest_move(p);
    x->kind = kind;
    x->array_bytes = set_bytes / arrays / CEILING_BLOCK * CEILING_BLOCK;
    x->part_bytes = x->array_bytes <= 16 * PART_BYTES ? x->array_bytes : PART_BYTES;
    x->work = (double)x->part_bytes * arrays * threads;
    x->quantile = is_private(p, set_bytes) ? 1 : SHARED_QUANTILE;
    if (x->part_bytes < x->array_bytes)
        x->lead_rounds = cache_bytes(p) / (x->part_bytes * arrays * threads) + 1;
    uint64_t *most = threads == 1 ? &p->alone_bytes : &p->shared_bytes;
    *most = set_bytes > *most ? set_bytes : *most;
    snprintf(x->name, sizeof x->name, "%s of %llu KiB", kinds[kind],
             (unsigned long long)(set_bytes >> 10));
    return x;
}

static void add_level(plan *p, const char *level, unsigned threads, uint64_t set_bytes)
{
    for (int kind = 0; kind < 4; kind++) {
        machine *m = p->m;
        ceiling_probe *x = m->n_flows < MACHINE_FLOWS ? add_move(p, kind, threads, set_bytes)
                                                      : NULL;
        if (!x)
            return;
        machine_flow *f = &m->flows[m->n_flows++];
        snprintf(f->level, sizeof f->level, "%s", level);
        snprintf(f->kind, sizeof f->kind, "%s", kinds[kind]);
        f->threads = threads;
        f->set_bytes = set_bytes;
        x->into = &f->bytes;
    }
}

/* As far from the end of the level as from the level below, which must not hold it, or it would be measured
 * again: the geometric mean of both. Of the nearest level, the half. */
static uint64_t set_in_cache(const plan *p, unsigned level, unsigned threads)
{
    const topology_cache *c = topology_data_cache(&p->m->where, level),
                         *below = level > 1 ? topology_data_cache(&p->m->where, level - 1) : NULL;
    if (!c || !c->size_bytes)
        return 0;
    unsigned sharing = c->shared_by < threads ? c->shared_by : threads;
    uint64_t own = c->size_bytes / (sharing ? sharing : 1);
    uint64_t set = below ? (uint64_t)sqrt((double)own * (double)below->size_bytes) : own / 2;
    return below && set <= below->size_bytes * 3 / 2 ? 0 : set;
}

/* Four times the caches, within limits. */
static uint64_t set_in_memory(const plan *p, unsigned threads)
{
    uint64_t set = cache_bytes(p) * 4, free_bytes = system_available(p->o->root ? p->o->root : "");
    set = set < DRAM_LEAST ? DRAM_LEAST : set > DRAM_MOST ? DRAM_MOST : set;
    if (free_bytes != PROFILE_NOT_TOLD && set > free_bytes / 4)
        set = free_bytes / 4;
    return set / threads;
}

static void add_flows(plan *p, unsigned threads)
{
    static const char *const levels[] = {"", "L1", "L2", "L3", "L4"};
    for (unsigned level = 1; level <= 4; level++) {
        uint64_t set = set_in_cache(p, level, threads);
        if (set)
            add_level(p, levels[level], threads, set);
    }
    add_level(p, "DRAM", threads, set_in_memory(p, threads));
}

/* Doubles from 4 KiB; with --quick every second size. */
static void add_curve(plan *p)
{
    uint64_t last = set_in_memory(p, 1);
    for (uint64_t set = 4096; set <= last && p->m->n_curve < MACHINE_POINTS;
         set *= p->o->quick ? 4 : 2) {
        machine_point *at = &p->m->curve[p->m->n_curve++];
        at->set_bytes = set;
        ceiling_probe *r = add_move(p, 0, 1, set), *t = add_move(p, 3, 1, set);
        if (!r || !t)
            return;
        r->brief = t->brief = true;
        r->best = &at->read;
        t->best = &at->triad;
    }
}

/* ---- the whole ---- */

static double team_sample(void *ctx, const ceiling_probe *p, uint64_t rounds)
{
    return ceiling_team_sample(((plan *)ctx)->team, p, rounds);
}

static uint64_t real_now(void *ctx)
{
    (void)ctx;
    return clock_mono_ns();
}

static bool report_progress(void *ctx, const char *what, double done, double planned)
{
    const plan *p = ctx;
    return !p->o->progress || p->o->progress(p->o->ctx, what, done, planned);
}

static void name_isas(machine *m)
{
    for (unsigned bit = 1; bit && m->n_isas < MACHINE_ISAS; bit <<= 1)
        if (m->isa & bit && isa_name(bit))
            snprintf(m->isas[m->n_isas++].name, sizeof m->isas[0].name, "%s", isa_name(bit));
}

static assay_status run_plan(plan *p, assay_error *err)
{
    const ceiling_clock clock = {
        .ctx = p, .sample = team_sample, .now_ns = real_now, .progress = report_progress};
    add_rates(p, ceiling_fma_x86);
    add_rates(p, ceiling_fma_arm);
    add_rates(p, ceiling_fma_plain);
    add_flows(p, 1);
    if (p->threads > 1)
        add_flows(p, p->threads);
    add_curve(p);
    const uint64_t steps = (uint64_t)1 << 17; /* between three arrays */
    TRY(ceiling_team_new(p->threads, p->alone_bytes + steps, p->shared_bytes + steps, &p->team,
                         err));
    assay_status s = ceilings_sample(p->probes, p->n, p->o->quick ? QUICK_SECONDS : FULL_SECONDS,
                                     &clock, err);
    ceiling_team_free(p->team);
    return s;
}

assay_status ceilings_measure(const ceiling_options *o, machine *out, assay_error *err)
{
    plan *p = memory_zeroed(1, sizeof *p);
    const char *root = o->root ? o->root : "";
    system_ticks before, after;
    uint64_t began = clock_mono_ns();
    TRY_MEMORY(p, err);
    memset(out, 0, sizeof *out);
    topology_read(root, &out->where);
    out->isa = isa_here();
    out->quick = o->quick;
    name_isas(out);
    snprintf(out->tool_version, sizeof out->tool_version, "%s", assay_version());
    clock_timestamp(out->timestamp);
    p->o = o;
    p->m = out;
    p->threads = o->threads ? o->threads : out->where.usable ? out->where.usable : 1;
    bool told = system_ticks_now(root, &before);
    assay_status s = run_plan(p, err);
    told = told && system_ticks_now(root, &after) && after.all > before.all;
    out->steal_percent =
        told ? (double)(after.steal - before.steal) * 100 / (double)(after.all - before.all) : NAN;
    out->seconds = (double)(clock_mono_ns() - began) / 1e9;
    free(p);
    return s;
}
