#include "measure/compare_times.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sbuf.h"
#include "measure/busy.h"
#include "measure/judge.h"
#include "measure/stats.h"

/* ---- saved runs ---- */

static const char *verdict_word(verdict_kind v, double low, double tolerance)
{
    switch (v) {
    case VERDICT_REGRESSION:
        return "slower";
    case VERDICT_IMPROVEMENT:
        return "faster";
    case VERDICT_PASS: /* of a gate: not slower; here neither may be */
        return low >= 1 / (1 + tolerance) ? "no difference" : "inconclusive";
    default:
        return "inconclusive";
    }
}

/* A reason is a part of a sentence, a note a whole one. */
static void put_as_sentence(sbuf *b, str reason)
{
    if (!reason.n)
        return;
    sbuf_putc(b, (char)toupper((unsigned char)reason.p[0]));
    sbuf_put(b, reason.p + 1, reason.n - 1);
    sbuf_puts(b, reason.p[reason.n - 1] == '.' ? "" : ".");
}

/* What differs between the two contexts belongs to the answer. */
static str reason_of(arena *a, const verdicts *v, const verdict_row *r)
{
    sbuf b = {0};
    put_as_sentence(&b, r->why);
    for (uint32_t i = 0; i < v->n_notes && b.n < 400; i++)
        sbuf_printf(&b, "%s" STR_FMT, b.n ? " " : "", STR_ARG(v->notes[i]));
    str s = str_copy(a, str_of(sbuf_cstr(&b)));
    sbuf_free(&b);
    return s;
}

void compare_instructions(const profile *base, const profile *now, comparison_timing *out)
{
    const profile_use *a = &profile_smallest(base)->use;
    const profile_use *b = &profile_smallest(now)->use;
    if (!(a->instructions_min > 0) || !(b->instructions > 0))
        return;
    out->instructions = (comparison_instructions){.present = true,
                                                  .ratio = b->instructions / a->instructions,
                                                  .low = b->instructions_min / a->instructions_max,
                                                  .high = b->instructions_max /
                                                          a->instructions_min};
}

assay_status compare_saved_times(const profile *base, const profile *now, double tolerance,
                                 arena *a, comparison_timing *out, assay_error *err)
{
    const metric_row *p50 = metric_find(STR("p50"));
    const judge_request q = {
        .now = now, .base = base, .metrics = &p50, .n_metrics = 1, .tolerance = tolerance};
    verdicts v;
    if (!profile_smallest(now) || !profile_smallest(base))
        return ASSAY_OK;
    TRY(judge_profile(&q, a, &v, err));
    const verdict_row *r = &v.rows[0];
    *out = (comparison_timing){.verdict = verdict_word(r->verdict, r->low, tolerance),
                               .ratio = r->ratio,
                               .low = r->low,
                               .high = r->high,
                               .runs = (uint32_t)profile_smallest(now)->latency.runs,
                               .why = reason_of(a, &v, r)};
    compare_instructions(base, now, out); /* what they mean is among the notes */
    return ASSAY_OK;
}

/* ---- turns ---- */

static const char *why_not(const gate_answer *g)
{
    return g->reason == GATE_NOISE
               ? "The interval contains the tolerance. Use more --num-runs or a quieter machine."
           : g->reason == GATE_DEPENDENT
               ? "The interval contains the tolerance, and the rounds are correlated: the "
                 "machine's speed changed during the measurement."
           : g->reason == GATE_FEW_RUNS ? "Too few rounds."
                                        : "";
}

void compare_turns(const interleave_series *base, const interleave_series *now, double tolerance,
                   comparison_timing *out)
{
    gate_answer g;
    interleave_judge(base, now, tolerance, &g);
    bool tested = g.reason != GATE_FEW_RUNS;
    *out = (comparison_timing){.verdict = g.verdict == VERDICT_REGRESSION    ? "slower"
                                          : g.verdict == VERDICT_IMPROVEMENT ? "faster"
                                          : g.verdict == VERDICT_PASS        ? "no difference"
                                                                             : "inconclusive",
                               .interleaved = true,
                               .ratio = g.ratio,
                               .low = tested ? g.low : NAN,
                               .high = tested ? g.high : NAN,
                               .runs = now->ms.n,
                               .why = str_of(why_not(&g))};
}

static void set_use(const interleave_series *s, arena *a, profile_use *u)
{
    u->wall_s = (double)s->wall_ns / 1e9;
    u->cpu_s = (double)s->used.cpu_ns / 1e9;
    u->present = true;
    u->cpu_percent = system_cpu_percent(u->cpu_s, u->wall_s);
    u->voluntary_switches = s->used.voluntary;
    u->involuntary_switches = s->used.involuntary;
    u->minor_faults = s->used.minor_faults;
    u->major_faults = s->used.major_faults;
    u->instructions = s->instructions.median;
    u->instructions_min = s->instructions.fewest;
    u->instructions_max = s->instructions.most;
    u->run_queue_wait_s = s->wait_s;
    busy_describe(u, "", a);
}

static assay_status describe(arena *a, const interleave_series *s, profile_config *c,
                             assay_error *err)
{
    double *work = memory_alloc(sizeof *work * (2 * (size_t)s->ms.n + 1));
    double *ms = ARENA_ARRAY(a, double, (size_t)s->ms.n + 1);
    if (work && ms) {
        memcpy(ms, s->ms.items, sizeof *ms * s->ms.n);
        stats_describe(ms, s->ms.n, work, &c->latency);
    }
    c->samples_ms = ms;
    c->n_samples = s->ms.n;
    bool done = work && ms;
    free(work);
    return done ? ASSAY_OK : err_no_memory(err);
}

static void keep_rates(const profile *p, profile_config *c)
{
    if (c->latency.mean > 0 && c->batch)
        c->samples_per_second = (double)c->batch * 1000 / c->latency.mean;
    if (c->latency.median > 0) {
        c->gflops_per_s = (double)p->total_flops / c->latency.median / 1e6;
        c->gbytes_per_s = (double)p->total_memory / c->latency.median / 1e6;
    }
}

assay_status turns_describe(const interleave_series *s, const profile *of, arena *a,
                            profile_config *c, assay_error *err)
{
    set_use(s, a, &c->use); /* memory of models in one process cannot be separated */
    c->session_ms = s->session_ms;
    TRY_MEMORY(warmup_keep(&s->warmup, a, c), err);
    TRY(describe(a, s, c, err));
    keep_rates(of, c);
    return ASSAY_OK;
}
