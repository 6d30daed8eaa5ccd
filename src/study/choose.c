/* Choosing a model: the catalogue's models of a task on devices, within a budget, by published accuracy. Each is mapped
 * as `map` does, at batch 1 unless the options say otherwise, and taken at the fastest floating-point precision that
 * fits the device: published figures are not those of int8 or fp8.
 * The front of a device are the models that nothing on it beats in both accuracy and expected latency.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/mapping.h"
#include "profile/metrics.h"
#include "study/choose.h"
#include "zoo/accuracy.h"

typedef struct chooser {
    const choose_request *q;
    zoo_accuracies published;
    assay_choices *out;
    size_t known; /* models of the task */
} chooser;

#define CHOICES_BYTES ((size_t)64 << 20)

void choices_free(assay_choices *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    free(c);
}

/* ---- the budget ---- */

static double value_of(const verdict_limit *l, const profile *p, const mapping_row *r)
{
    metric_value v = {.v = NAN};
    if (strcmp(l->metric->name, "memory") == 0)
        return (double)r->memory_bytes;
    if (l->metric->unit == METRIC_MS)
        return r->latency_ms;
    if (l->metric->unit == METRIC_RATE)
        return r->throughput;
    return l->metric->get(p, &v) ? v.v : NAN;
}

/* What is not known does not fit. */
static bool within_budget(const chooser *x, const profile *p, const mapping_row *r)
{
    for (uint32_t i = 0; i < x->q->n_budget; i++) {
        const verdict_limit *l = &x->q->budget[i];
        double v = value_of(l, p, r);
        if (isnan(v) || (l->at_least ? v < l->limit : v > l->limit))
            return false;
    }
    return r->fits;
}

/* ---- one model ---- */

static const char *kept(chooser *x, str s)
{
    return str_copy(x->out->arena, s).p;
}

static bool add_choice(chooser *x, const zoo_row *row, const zoo_accuracy *a, const profile *p,
                       uint32_t hardware)
{
    const mapping_row *r = mapping_row_on(p->mapping, hardware,
                                          p->mapping->hardware[hardware].cheapest, false);
    const mapping_hardware *h = &p->mapping->hardware[hardware];
    if (!r)
        return true;
    assay_choice c = {.model = row->name,
                      .device = kept(x, h->id),
                      .precision = r->precision,
                      .runtime = h->runtime ? h->runtime : "",
                      .metric = kept(x, a->metric),
                      .weights = kept(x, a->weights),
                      .source = kept(x, a->source),
                      .accuracy = a->value,
                      .latency_ms = r->latency_ms,
                      .latency_low_ms = r->latency_low_ms,
                      .latency_high_ms = r->latency_high_ms,
                      .memory_bytes = r->memory_bytes,
                      .parameters = p->total_parameters,
                      .imprecise = r->imprecise,
                      .fits = within_budget(x, p, r)};
    return c.source && VEC_ADD(x->out->arena, &x->out->rows, c);
}

static assay_status try_model(chooser *x, const zoo_row *row, assay_error *err)
{
    const zoo_accuracy *a = zoo_accuracy_of(&x->published, row->name);
    profile *p = NULL;
    if (strcmp(row->task, x->q->task) != 0 || !a)
        return ASSAY_OK;
    x->known++;
    assay_status s = x->q->map(x->q->ctx, row, &p, err);
    for (uint32_t h = 0; s == ASSAY_OK && h < p->mapping->n_hardware; h++)
        if (!add_choice(x, row, a, p, h))
            s = err_no_memory(err);
    profile_free(p);
    return s;
}

/* ---- order ---- */

static int by_accuracy(const void *a, const void *b)
{
    const assay_choice *p = a, *q = b;
    int device = strcmp(p->device, q->device);
    if (device)
        return device;
    if (p->fits != q->fits)
        return p->fits ? -1 : 1;
    if (p->accuracy != q->accuracy)
        return p->accuracy > q->accuracy ? -1 : 1;
    return p->latency_ms < q->latency_ms ? -1 : p->latency_ms > q->latency_ms;
}

/* Rows of a device are ordered by accuracy: one is on the front when it is faster than all before it. */
static void mark_front(assay_choices *c)
{
    double fastest = INFINITY;
    for (uint32_t i = 0; i < c->rows.n; i++) {
        assay_choice *r = &c->rows.items[i];
        if (i == 0 || strcmp(r->device, c->rows.items[i - 1].device) != 0)
            fastest = INFINITY;
        if (!r->fits || r->imprecise || r->latency_ms >= fastest)
            continue;
        r->pareto = true;
        fastest = r->latency_ms;
    }
}

static assay_status choose_all(chooser *x, assay_error *err)
{
    TRY(zoo_accuracies_read(x->out->arena, &x->published, err));
    for (uint32_t i = 0; i < zoo_count(); i++)
        TRY(try_model(x, zoo_at(i), err));
    if (!x->known)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "no model of the task '%.60s' has a published accuracy here. Use "
                        "classification, detection or segmentation.",
                        x->q->task);
    if (x->out->rows.n)
        qsort(x->out->rows.items, x->out->rows.n, sizeof *x->out->rows.items, by_accuracy);
    mark_front(x->out);
    return ASSAY_OK;
}

assay_status choose_models(const choose_request *q, assay_choices **out, assay_error *err)
{
    chooser x = {.q = q, .out = memory_zeroed(1, sizeof *x.out)};
    bool made = x.out && (x.out->arena = arena_new(CHOICES_BYTES));
    assay_status s = made ? choose_all(&x, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        *out = x.out;
    else
        choices_free(x.out);
    return s;
}
