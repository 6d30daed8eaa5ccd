/* Compares the conditions of a result and its baseline: model, machine, settings, time, and load by other programs. A
 * difference is a note; a difference that makes runs incomparable is a reason. */
#include <stdio.h>
#include <time.h>

#include "measure/judge_impl.h"

enum { ANOTHER_HOUR_S = 3600 };
#define PULSE_SHARE 0.02 /* up to which two pulses of one machine differ */

static bool differ(judging *j, const char *what, str now, str base)
{
    if (str_eq(now, base) || !now.n || !base.n)
        return false;
    judge_add_note(j, str_printf(j->a, "%s: '" STR_FMT "', baseline '" STR_FMT "'.", what,
                                 STR_ARG(now), STR_ARG(base)));
    return true;
}

static bool differ_n(judging *j, const char *what, uint64_t now, uint64_t base)
{
    if (now == base)
        return false;
    judge_add_note(j, str_printf(j->a, "%s: %llu, baseline %llu.", what, (unsigned long long)now,
                                 (unsigned long long)base));
    return true;
}

static void not_comparable(judging *j, const char *why)
{
    j->comparable = false;
    if (!j->not_comparable.n)
        j->not_comparable = str_of(why);
}

static bool other_machine(judging *j)
{
    const profile_context *a = &j->q->now->context, *b = &j->q->base->context;
    bool cpu = differ(j, "Processor", a->cpu, b->cpu);
    bool kind = differ(j, "Machine", a->machine, b->machine);
    bool cores = a->cores && b->cores && differ_n(j, "Cores", a->cores, b->cores);
    return cpu || kind || cores;
}

static bool other_setup(judging *j)
{
    const profile_measured *a = j->q->now->measured, *b = j->q->base->measured;
    const profile_config *x = profile_smallest(j->q->now), *y = profile_smallest(j->q->base);
    bool other = x->batch != y->batch && /* said already when the inputs tell it */
                 (j->other_batch || differ_n(j, "Batch size", x->batch, y->batch));
    other |= differ(j, "Precision", x->precision, y->precision);
    other |= differ(j, "Device", a->engine.device, b->engine.device);
    other |= differ_n(j, "Threads", (uint64_t)a->engine.threads, (uint64_t)b->engine.threads);
    other |= differ_n(j, "Concurrency", a->concurrency, b->concurrency);
    other |= differ_n(j, "Optimisation level", (uint64_t)a->engine.opt_level,
                      (uint64_t)b->engine.opt_level);
    return other;
}

static bool same_but(int64_t axis, const profile_tensor *a, const profile_tensor *b)
{
    if (!str_eq(a->name, b->name) || a->shape.rank != b->shape.rank)
        return false;
    for (int d = 0; d < a->shape.rank; d++)
        if (d != axis && a->shape.dims[d] != b->shape.dims[d])
            return false;
    return true;
}

static bool other_batch(judging *j)
{
    const profile *a = j->q->now, *b = j->q->base, *told = a->batch.certainty ? a : b;
    uint64_t now = 0, base = 0;
    for (uint32_t i = 0; i < a->n_inputs && a->n_inputs == b->n_inputs; i++) {
        int64_t axis = profile_input_batch(told, i);
        if (!same_but(axis, &a->inputs[i], &b->inputs[i]))
            return false;
        int64_t x = axis < 0 ? 0 : a->inputs[i].shape.dims[axis];
        int64_t y = axis < 0 ? 0 : b->inputs[i].shape.dims[axis];
        if (now == base && x > 0 && y > 0) {
            now = (uint64_t)x;
            base = (uint64_t)y;
        }
    }
    return differ_n(j, "Input batch size", now, base);
}

/* "2026-11-15T19:06:00Z" in seconds; 0 when it is no such stamp. */
static int64_t seconds_of(str stamp)
{
    struct tm t = {0};
    char text[32];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(stamp));
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour,
               &t.tm_min, &t.tm_sec) != 6)
        return 0;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return (int64_t)timegm(&t);
}

/* A machine that ran a fixed loop at another speed runs everything at another speed. */
static void allow_for_speed(judging *j)
{
    double now = profile_smallest(j->q->now)->use.pulse_us;
    double base = profile_smallest(j->q->base)->use.pulse_us;
    if (now <= 0 || base <= 0)
        return;
    double slower = now > base ? now / base - 1 : base / now - 1;
    if (slower <= PULSE_SHARE)
        return;
    j->allowance += slower;
    judge_add_note(
        j, str_printf(j->a,
                      "A reference loop ran %.1f %% %s than for the baseline. The tolerance "
                      "is widened by that much.",
                      100 * slower, now > base ? "slower" : "faster"));
}

static void note_time(judging *j)
{
    int64_t now = seconds_of(j->q->now->context.timestamp);
    int64_t base = seconds_of(j->q->base->context.timestamp);
    int64_t apart = now > base ? now - base : base - now;
    if (apart > ANOTHER_HOUR_S)
        judge_add_note(j, STR("The baseline was measured more than an hour apart. The difference "
                              "includes changes in machine state."));
}

/* Another version of the engine is worth a note but does not prevent a verdict. */
void judge_contexts(judging *j)
{
    const profile *a = j->q->now, *b = j->q->base;
    j->comparable = true;
    differ(j, "Model", a->model, b->model);
    j->other_batch = other_batch(j);
    if (!profile_smallest(a) || !profile_smallest(b)) {
        not_comparable(j, "only one of the two was measured");
        return;
    }
    differ(j, "Engine version", a->measured->engine.version, b->measured->engine.version);
    if (other_machine(j))
        not_comparable(j, "the baseline was measured on another machine");
    if (other_setup(j))
        not_comparable(j, "the two were measured with different settings");
    if (a->measured->interrupted || b->measured->interrupted)
        not_comparable(j, "one of the two was interrupted");
    if (!j->comparable)
        return;
    j->allowance = JUDGE_SESSION_SHARE;
    allow_for_speed(j);
    note_time(j);
}

/* ---- other programs ---- */

static str busy_of(const profile *p)
{
    const profile_config *c = p ? profile_smallest(p) : NULL;
    return c ? c->use.busy : (str){0};
}

bool judge_busy(judging *j)
{
    str now = busy_of(j->q->now), base = busy_of(j->q->base);
    if (now.n)
        j->out->busy = str_copy(j->a, now);
    else if (base.n)
        j->out->busy = str_printf(j->a, "when the baseline was measured, " STR_FMT, STR_ARG(base));
    return now.n || base.n;
}
