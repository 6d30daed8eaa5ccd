/* Creates and frees a profile. profile_fields.c has its fields. */
#include "profile/profile.h"

#include <math.h>

const char *profile_certainty_name(profile_certainty c)
{
    static const char *const names[] = {"exact", "assumed", "unknown", "user-defined"};
    return names[c];
}

profile *profile_new(size_t limit_bytes)
{
    arena *a = arena_new(limit_bytes);
    profile *p = a ? ARENA_NEW(a, profile) : NULL;
    if (!p) {
        arena_free(a);
        return NULL;
    }
    p->arena = a;
    notes_init(&p->warnings, a);
    return p;
}

void profile_free(profile *p)
{
    if (p)
        arena_free(p->arena);
}

str profile_precision(const profile *p)
{
    const profile_architecture *a = &p->architecture;
    const profile_bytes_by_dtype *most = NULL;
    for (uint32_t i = 0; i < a->n_dtypes; i++)
        if (!most || a->dtypes[i].bytes > most->bytes)
            most = &a->dtypes[i];
    return !str_empty(p->precision) ? p->precision : most ? most->name : (str){0};
}

const char *profile_cache_words(const char *kv_cache)
{
    if (!kv_cache)
        return "";
    return strcmp(kv_cache, "included") == 0   ? "KV cache included"
           : strcmp(kv_cache, "excluded") == 0 ? "no KV cache"
                                               : "KV cache in part of the sizes";
}

double profile_percent_of_roof(const profile *p, const profile_layer *l)
{
    const profile_ceilings *c = p->measured ? &p->measured->ceilings : NULL;
    if (!c || !c->present || !(c->ops_per_s > 0) || !c->n_levels || !(l->time_ms > 0))
        return NAN;
    double memory = c->levels[c->n_levels - 1].bytes_per_s;
    /* The layer's own operations, whatever the lens calls FLOPs. */
    double ops = l->memory && isfinite(l->arithmetic_intensity)
                     ? l->arithmetic_intensity * (double)l->memory
                     : (double)l->flops;
    double compute_s = ops / c->ops_per_s;
    double memory_s = memory > 0 ? (double)l->memory / memory : 0;
    return 100 * (compute_s > memory_s ? compute_s : memory_s) / (l->time_ms / 1e3);
}
