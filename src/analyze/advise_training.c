/* Recommendations for a training step: gradient checkpointing and the optimiser's states.
 *
 * Checkpointing splits the layers into k runs with about equal bytes to keep. Only what crosses from one run to the
 * next is kept (what the memory plan has alive there); each run is computed again when the backward pass reaches it,
 * and its own activations are kept then. Peak = crossings + the largest run; recomputed: every run but the last. For
 * inference nothing is kept, so there is nothing to recompute.
 */
#include "analyze/advise.h"

#include "base/num.h"
#include "base/text.h"

enum { RUNS_MOST = 64 };

typedef struct split {
    uint32_t runs;
    uint64_t bytes;     /* at the peak */
    uint64_t recompute; /* FLOPs */
} split;

static split split_into(const profile *p, uint32_t runs)
{
    uint64_t all = p->training.saved_activation_bytes, part = 0, kept = 0, most = 0, flops = 0;
    split s = {.runs = 1};
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        part = sat_add(part, l->saved_bytes);
        flops = sat_add(flops, l->flops);
        if (part < all / runs || i + 1 == p->n_layers)
            continue;
        most = part > most ? part : most;
        kept = sat_add(kept, l->live_bytes);
        s.recompute = flops;
        part = 0;
        s.runs++;
    }
    most = part > most ? part : most;
    s.bytes = sat_add(kept, most);
    return s;
}

static split best_split(const profile *p)
{
    split best = {.runs = 1, .bytes = p->training.saved_activation_bytes};
    for (uint32_t k = 2; k <= RUNS_MOST && k <= p->n_layers; k++) {
        split s = split_into(p, k);
        if (s.bytes < best.bytes)
            best = s;
    }
    return best;
}

bool advise_checkpointing(advise *a)
{
    const profile_training *t = &a->p->training;
    if (!t->present || !t->saved_activation_bytes)
        return false;
    split s = best_split(a->p);
    double step = (double)t->forward_flops + (double)t->backward_flops;
    double saved = 1 - (double)s.bytes / (double)t->saved_activation_bytes;
    if (s.runs < 2 || saved < 0.2 || !(step > 0))
        return false;
    sbuf_printf(&a->title, "Use activation checkpointing with %u segments", s.runs);
    text_bytes(&a->why, t->saved_activation_bytes);
    sbuf_puts(&a->why, " are kept for the backward pass. Keeping them at ");
    sbuf_printf(&a->why,
                "%u point%s and recomputing the rest needs less. This applies to training only.",
                s.runs - 1, TEXT_S(s.runs - 1));
    sbuf_puts(&a->expected, "Activations ");
    advise_bytes(&a->expected, t->saved_activation_bytes, s.bytes);
    sbuf_puts(&a->expected, " for ");
    text_si_unit(&a->expected, (double)s.recompute, -1, "FLOPs");
    sbuf_puts(&a->expected, " more, ");
    advise_percent(&a->expected, (double)s.recompute / step);
    sbuf_puts(&a->expected, " of a step.");
    a->gain = saved * 0.6;
    return true;
}

static const profile_optimizer *optimizer(const profile_training *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_optimizers; i++)
        if (strcmp(t->optimizers[i].name, name) == 0)
            return &t->optimizers[i];
    return NULL;
}

bool advise_optimizer(advise *a)
{
    const profile_training *t = &a->p->training;
    const profile_optimizer *adam = optimizer(t, "adamw"), *mixed = optimizer(t, "adamw-mixed"),
                            *sgd = optimizer(t, "sgd-momentum");
    if (!t->present || !adam || !mixed || !sgd || !adam->total_bytes)
        return false;
    sbuf_puts(&a->title, "Train in mixed precision or with fewer optimizer states");
    sbuf_printf(&a->why, "AdamW in fp32 needs %llu bytes per parameter, ",
                (unsigned long long)adam->bytes_per_param);
    text_bytes(&a->why, adam->weights_bytes + adam->gradients_bytes + adam->states_bytes);
    sbuf_puts(&a->why, ", four times the model, without activations.");
    sbuf_puts(&a->expected, "Memory per step: ");
    text_bytes(&a->expected, adam->total_bytes);
    sbuf_puts(&a->expected, "; in mixed precision ");
    text_bytes(&a->expected, mixed->total_bytes);
    sbuf_puts(&a->expected, "; with SGD and momentum ");
    text_bytes(&a->expected, sgd->total_bytes);
    sbuf_puts(&a->expected, ".");
    a->gain = (1 - (double)mixed->total_bytes / (double)adam->total_bytes) * 0.6;
    return true;
}
