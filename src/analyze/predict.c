/* A calibration applied to layers: see predict.h. */
#include "analyze/predict.h"

static const calibration_family *find_family(const calibration *c, str name)
{
    for (uint32_t i = 0; i < c->n_families; i++)
        if (str_is(name, c->families[i].name))
            return &c->families[i];
    return NULL;
}

/* Sorted by pair (predict_fit.c). */
static const calibration_fold *find_fold(const calibration *c, uint32_t pair)
{
    uint32_t low = 0, high = c->n_folds;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (c->folds[mid].pair < pair)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->n_folds && c->folds[low].pair == pair ? &c->folds[low] : NULL;
}

/* By the narrowest of what was seen. */
static bool is_folded(const calibration *c, const predict_layer *l)
{
    const calibration_fold *f = NULL;
    for (int level = 0; level < 3 && !f && l->pairs[level]; level++)
        f = find_fold(c, l->pairs[level]);
    return f && f->folded * 2 > f->seen;
}

static double family_seconds(const calibration_family *f, const predict_layer *l)
{
    double t = 0;
    for (uint32_t k = 0; f && k < f->n_terms && k < l->n_terms; k++)
        t += f->c[k] * l->x[k];
    return t;
}

double predict_layers(const predict_layer *l, uint32_t n, const calibration *c, double *seconds,
                      uint32_t *kernels, double *known)
{
    double sum = 0, own = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        seconds[i] = 0;
        if (l[i].constant || is_folded(c, &l[i]))
            continue;
        const calibration_family *f = find_family(c, l[i].family);
        double t = family_seconds(f ? f : find_family(c, str_of(l[i].like)), &l[i]);
        seconds[i] = t * c->scale + c->kernel_s;
        seconds[i] = seconds[i] > 0 ? seconds[i] : 0;
        sum += t;
        own += f ? t : 0;
        count++;
    }
    if (kernels)
        *kernels = count;
    if (known)
        *known = sum > 0 ? own / sum : 1;
    double all = sum * c->scale + count * c->kernel_s;
    return all > 0 ? all : 0;
}

bool predict_run(const profile *p, const calibration *c, arena *a, predict_time *out)
{
    const predict_layer *l = predict_facts(p, a);
    out->layers = ARENA_ARRAY(a, double, (size_t)p->n_layers + 1);
    if (!l || !out->layers)
        return false;
    out->seconds = predict_layers(l, p->n_layers, c, out->layers, &out->kernels, &out->known);
    return true;
}
