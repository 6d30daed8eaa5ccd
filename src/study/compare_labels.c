/* Labels of the profiles of a comparison: their models and, if those are equal, a property that differs. One property
 * is used if it distinguishes all of them; otherwise properties are appended to the names that they distinguish. */
#include <string.h>

#include "base/text.h"
#include "profile/metrics.h"
#include "profile/profile_text.h"
#include "study/compare.h"

enum { LABEL_BYTES = 160 };

typedef struct labelling {
    const profile *const *profiles;
    uint32_t n;
} labelling;

typedef void facet_fn(const profile *p, sbuf *out);

static void put_precision(const profile *p, sbuf *out)
{
    sbuf_str(out, p->precision);
}

static void put_batch(const profile *p, sbuf *out)
{
    const profile_config *c = profile_smallest(p);
    if (c)
        sbuf_printf(out, "batch %llu", (unsigned long long)c->batch);
}

static void put_run_precision(const profile *p, sbuf *out)
{
    const profile_config *c = profile_smallest(p);
    if (c)
        sbuf_str(out, c->precision);
}

static void put_shape(const profile *p, sbuf *out)
{
    if (p->n_inputs)
        profile_put_shape(out, &p->inputs[0].shape, "×");
}

static void put_file(const profile *p, sbuf *out)
{
    sbuf_str(out, p->file);
}

static void put_time(const profile *p, sbuf *out)
{
    sbuf_str(out, p->context.timestamp);
}

static facet_fn *const facets[] = {put_batch, put_run_precision, put_shape, put_file, put_time};
enum { N_FACETS = sizeof facets / sizeof *facets };

static bool same_text(const sbuf *a, const sbuf *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

/* Precisions of different models are shown as soon as they differ. */
static void add_facet(const labelling *c, facet_fn *put, bool always, sbuf *labels)
{
    sbuf text[COMPARISON_MAX] = {0};
    bool apart[COMPARISON_MAX] = {false};
    for (uint32_t i = 0; i < c->n; i++)
        put(c->profiles[i], &text[i]);
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < c->n; k++)
            apart[i] |= (always || same_text(&labels[i], &labels[k])) &&
                        !same_text(&text[i], &text[k]);
    for (uint32_t i = 0; i < c->n; i++) {
        if (apart[i] && text[i].n) {
            sbuf_putc(&labels[i], ' ');
            sbuf_put(&labels[i], text[i].p, text[i].n);
        }
        sbuf_free(&text[i]);
    }
}

static bool all_differ(const labelling *c, const sbuf *labels)
{
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (same_text(&labels[i], &labels[k]))
                return false;
    return true;
}

static void free_labels(const labelling *c, sbuf *labels)
{
    for (uint32_t i = 0; i < c->n; i++)
        sbuf_free(&labels[i]);
}

static bool suffices(const labelling *c, facet_fn *put, const sbuf *labels)
{
    sbuf tried[COMPARISON_MAX] = {0};
    for (uint32_t i = 0; i < c->n; i++)
        sbuf_put(&tried[i], labels[i].p, labels[i].n);
    add_facet(c, put, false, tried);
    bool all = all_differ(c, tried);
    free_labels(c, tried);
    return all;
}

static void add_facets(const labelling *c, sbuf *labels)
{
    for (int f = 0; f < N_FACETS; f++)
        if (suffices(c, facets[f], labels)) {
            add_facet(c, facets[f], false, labels);
            return;
        }
    for (int f = 0; f < N_FACETS; f++)
        add_facet(c, facets[f], false, labels);
}

/* Labels that are still equal are numbered. */
static void add_number(const labelling *c, sbuf *labels)
{
    bool alike[COMPARISON_MAX] = {false};
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < c->n; k++)
            alike[i] |= i != k && same_text(&labels[i], &labels[k]);
    for (uint32_t i = 0; i < c->n; i++)
        if (alike[i])
            sbuf_printf(&labels[i], " #%u", i + 1);
}

static str safe_label(const sbuf *label, arena *a)
{
    char text[LABEL_BYTES];
    text_safe_into(text, sizeof text, (str){label->p ? label->p : "", (uint32_t)label->n});
    return str_copy(a, str_of(text));
}

void compare_labels(const profile *const *profiles, uint32_t n, arena *a, str *out)
{
    const labelling c = {profiles, n};
    sbuf labels[COMPARISON_MAX] = {0};
    for (uint32_t k = 0; k < n; k++)
        sbuf_str(&labels[k], profiles[k]->model);
    add_facet(&c, put_precision, true, labels);
    if (!all_differ(&c, labels))
        add_facets(&c, labels);
    add_number(&c, labels);
    for (uint32_t k = 0; k < n; k++)
        out[k] = safe_label(&labels[k], a);
    free_labels(&c, labels);
}
