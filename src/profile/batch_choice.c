/* See batch_choice.h. */
#include <math.h>

#include "profile/batch_choice.h"

#include "base/sbuf.h"
#include "base/text.h"
#include "profile/metrics.h"

static const double tie = 1 + BATCH_TIE_PERCENT / 100.0;

static bool takes_part(const profile_config *c, const char *precision)
{
    return !c->error.n && c->latency.runs && c->samples_per_second > 0 &&
           (!precision || str_is(c->precision, precision));
}

static bool fits(const profile_config *c, uint64_t room_bytes)
{
    return !room_bytes || (double)profile_used_bytes(c) <= 0.8 * (double)room_bytes;
}

static bool faster(const profile_config *c, const profile_config *than)
{
    return !than || c->samples_per_second > than->samples_per_second;
}

batch_pick profile_pick_batch(const profile_measured *m, const char *precision, uint64_t room_bytes)
{
    batch_pick p = {0};
    for (uint32_t i = 0; m && i < m->n_configs; i++) {
        const profile_config *c = &m->configs[i];
        if (!takes_part(c, precision))
            continue;
        if (fits(c, room_bytes))
            p.fastest = faster(c, p.fastest) ? c : p.fastest;
        else
            p.too_large = faster(c, p.too_large) ? c : p.too_large;
    }
    for (uint32_t i = 0; p.fastest && i < m->n_configs; i++) {
        const profile_config *c = &m->configs[i];
        if (takes_part(c, precision) && fits(c, room_bytes) &&
            c->samples_per_second * tie >= p.fastest->samples_per_second &&
            (!p.chosen || c->latency.mean < p.chosen->latency.mean))
            p.chosen = c;
    }
    if (p.fastest && p.too_large && !faster(p.too_large, p.fastest))
        p.too_large = NULL;
    return p;
}

/* ---- the sentence ---- */

static bool precisions_differ(const profile_measured *m)
{
    for (uint32_t i = 1; i < m->n_configs; i++)
        if (!str_eq(m->configs[i].precision, m->configs[0].precision))
            return true;
    return false;
}

static void put_name(sbuf *b, const profile_measured *m, const profile_config *c)
{
    sbuf_printf(b, "atch %llu", (unsigned long long)c->batch);
    if (precisions_differ(m))
        sbuf_printf(b, " of " STR_FMT, STR_ARG(c->precision));
}

/* Four digits, to distinguish values that the rule treats as equal. */
static void put_rate(sbuf *b, const profile_measured *m, const profile_config *c)
{
    double v = profile_rate(m, c);
    v = isnan(v) ? c->samples_per_second : v;
    sbuf_printf(b, "%.*f %s/s", v < 10 ? 3 : v < 100 ? 2 : 1, v, m->unit ? m->unit : "samples");
}

static void put_tie(sbuf *b, const profile_measured *m, const batch_pick *p)
{
    uint64_t used = profile_used_bytes(p->chosen), all = profile_used_bytes(p->fastest);
    sbuf_printf(b, ", within %d %% of b", BATCH_TIE_PERCENT);
    put_name(b, m, p->fastest);
    sbuf_puts(b, " with ");
    put_rate(b, m, p->fastest);
    sbuf_printf(b, ", at %.0f %% of its latency",
                100 * p->chosen->latency.mean / p->fastest->latency.mean);
    if (used && used < all)
        sbuf_printf(b, " and %.0f %% of its memory", 100 * (double)used / (double)all);
}

static void put_too_large(sbuf *b, const profile_measured *m, const batch_pick *p, uint64_t room)
{
    sbuf_puts(b, " B");
    put_name(b, m, p->too_large);
    sbuf_puts(b, " has ");
    put_rate(b, m, p->too_large);
    sbuf_puts(b, ", but takes ");
    text_bytes(b, profile_used_bytes(p->too_large));
    sbuf_puts(b, ", more than four fifths of the ");
    text_bytes(b, room);
    sbuf_puts(b, " there is.");
}

static void put_sentence(sbuf *b, const profile_measured *m, const batch_pick *p, uint64_t room)
{
    sbuf_puts(b, "B");
    put_name(b, m, p->chosen);
    sbuf_puts(b, ": ");
    put_rate(b, m, p->chosen);
    if (p->chosen == p->fastest)
        sbuf_puts(b,
                  p->too_large ? ", the highest measured of what fits" : ", the highest measured");
    else
        put_tie(b, m, p);
    sbuf_puts(b, ".");
    if (p->too_large)
        put_too_large(b, m, p, room);
}

void profile_choose_batch(profile_measured *m, uint64_t room_bytes, arena *a)
{
    batch_pick p = profile_pick_batch(m, NULL, room_bytes);
    sbuf b = {0};
    m->choice = (profile_batch_choice){.room_bytes = room_bytes};
    if (!p.chosen)
        return;
    put_sentence(&b, m, &p, room_bytes);
    m->choice = (profile_batch_choice){.batch = p.chosen->batch,
                                       .precision = p.chosen->precision,
                                       .samples_per_second = p.chosen->samples_per_second,
                                       .fastest_batch = p.fastest->batch,
                                       .fastest_precision = p.fastest->precision,
                                       .fastest_samples_per_second = p.fastest->samples_per_second,
                                       .room_bytes = room_bytes,
                                       .why = str_copy(a, str_of(sbuf_cstr(&b)))};
    sbuf_free(&b);
}

/* Older documents contain only the batch. */
const profile_config *profile_chosen(const profile_measured *m)
{
    const profile_batch_choice *k = &m->choice;
    const profile_config *best = NULL;
    for (uint32_t i = 0; k->batch && i < m->n_configs; i++) {
        const profile_config *c = &m->configs[i];
        if (c->batch == k->batch && c->latency.runs && !c->error.n &&
            (!k->precision.n || str_eq(c->precision, k->precision)) && faster(c, best))
            best = c;
    }
    return best;
}
