/* Analyses a model with other sizes. */
#include "jobs/sizes.h"

#include <stdio.h>

#include "jobs/batch.h"

void job_size_names(assay_model *m, const assay_options *o, const profile *base, sbuf *out)
{
    const batch_rule *rule;
    assay_error unasked;
    err_clear(&unasked);
    if (job_batch_rule(m, o, &rule, &unasked) == ASSAY_OK)
        size_names(rule, base, out);
}

assay_status job_size_find(assay_model *m, const assay_options *o, const profile *base, str name,
                           size_binding *out, assay_error *err)
{
    const batch_rule *rule;
    *out = (size_binding){0};
    if (!m->row && m->ir && size_of_symbol(m->ir, base, name, out))
        return ASSAY_OK;
    TRY(job_batch_rule(m, o, &rule, err));
    return size_find(rule, base, name, m->row != NULL, out, err);
}

/* ---- a run with other sizes ---- */

static bool touches(const size_setting *set, uint32_t n, uint32_t input)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; set[i].of->kind == SIZE_INPUT && k < set[i].of->n_places; k++)
            if (set[i].of->places[k].input == input)
                return true;
    return false;
}

/* Shapes by name of the inputs that change, and of all when the user gave some. */
static void set_shapes(assay_options *o, const assay_options *given, const profile *base,
                       const size_setting *set, uint32_t n, arena *a)
{
    infer_shape *list = ARENA_ARRAY(a, infer_shape, base->n_inputs + 1u);
    uint32_t count = 0;
    for (uint32_t i = 0; list && i < base->n_inputs; i++) {
        const profile_tensor *t = &base->inputs[i];
        if (t->shape.rank < 1 || (!given->model.shapes.n && !touches(set, n, i)))
            continue;
        int64_t *dims = arena_copy(a, t->shape.dims, (size_t)t->shape.rank * sizeof *dims);
        for (uint32_t s = 0; dims && s < n; s++)
            for (uint32_t k = 0; set[s].of->kind == SIZE_INPUT && k < set[s].of->n_places; k++)
                if (set[s].of->places[k].input == i)
                    dims[set[s].of->places[k].axis] = set[s].value;
        list[count++] = (infer_shape){.input = t->name, .rank = t->shape.rank, .dims = dims};
    }
    o->model.shapes.items = list;
    o->model.shapes.n = count;
}

static assay_status set_parameter(assay_options *o, const size_setting *s, arena *a,
                                  assay_error *err)
{
    char text[64];
    json_value v;
    int64_t one = 1;
    for (int i = 0; i < s->of->decimals; i++)
        one *= 10;
    if (s->of->decimals)
        snprintf(text, sizeof text, "%lld.%0*lld", (long long)(s->value / one), s->of->decimals,
                 (long long)(s->value % one));
    else
        snprintf(text, sizeof text, "%lld", (long long)s->value);
    TRY(zoo_value_parse(a, str_of(text), &v, err));
    return zoo_args_put(&o->model.set, s->of->key, v, false) ? ASSAY_OK : err_no_memory(err);
}

/* The symbols that change, then those that were given and do not. */
static assay_status set_symbols(assay_options *o, const assay_options *given,
                                const size_setting *set, uint32_t n, arena *a, assay_error *err)
{
    memset(&o->model.dims, 0, sizeof o->model.dims);
    for (uint32_t i = 0; i < n + given->model.dims.n; i++) {
        infer_dim d = i < n ? (infer_dim){.symbol = set[i].of->key, .value = set[i].value}
                            : given->model.dims.items[i - n];
        bool known = i < n && set[i].of->kind != SIZE_SYMBOL;
        for (uint32_t k = 0; k < o->model.dims.n; k++)
            known = known || str_eq(o->model.dims.items[k].symbol, d.symbol);
        infer_dim *slot = known ? NULL : VEC_PUSH(a, &o->model.dims);
        if (!known && !slot)
            return err_no_memory(err);
        if (slot)
            *slot = d;
    }
    return ASSAY_OK;
}

static assay_status apply(assay_options *o, const assay_options *given, const profile *base,
                          const size_setting *set, uint32_t n, arena *a, assay_error *err)
{
    zoo_args_init(&o->model.set, a);
    TRY_MEMORY(zoo_args_copy(&o->model.set, &given->model.set), err);
    TRY(set_symbols(o, given, set, n, a, err));
    for (uint32_t i = 0; i < n; i++) {
        if (set[i].of->kind == SIZE_BATCH)
            o->model.batch = set[i].value;
        if (set[i].of->kind == SIZE_PARAMETER)
            TRY(set_parameter(o, &set[i], a, err));
    }
    set_shapes(o, given, base, set, n, a);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

assay_status job_size_run(assay_model *m, const assay_options *o, const profile *base,
                          const size_setting *set, uint32_t n, assay_result **out, assay_error *err)
{
    assay_options with = *o;
    arena *a = arena_new((size_t)1 << 20);
    *out = NULL;
    TRY_MEMORY(a, err);
    memset(&with.scaling.ranges, 0, sizeof with.scaling.ranges);
    with.model.strict = with.view.verbose = false;
    assay_status s = apply(&with, o, base, set, n, a, err);
    if (s == ASSAY_OK)
        s = job_analyze(m, &with, out, err);
    arena_free(a);
    return s;
}
