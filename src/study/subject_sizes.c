/* Evaluates a model with other sizes; see subject.h. */
#include <stdio.h>
#include <string.h>

#include "study/subject.h"

void subject_size_names(const study_subject *s, const profile *base, sbuf *out)
{
    const batch_rule *rule;
    assay_error unasked;
    err_clear(&unasked);
    if (subject_batch_rule(s, &rule, &unasked) == ASSAY_OK)
        size_names(rule, base, out);
}

assay_status subject_size_find(const study_subject *s, const profile *base, str name,
                               size_binding *out, assay_error *err)
{
    const batch_rule *rule;
    *out = (size_binding){0};
    if (!s->row && *s->ir && size_of_symbol(*s->ir, base, name, out))
        return ASSAY_OK;
    TRY(subject_batch_rule(s, &rule, err));
    return size_find(rule, base, name, s->row != NULL, out, err);
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
static void set_shapes(model_options *o, const model_options *given, const profile *base,
                       const size_setting *set, uint32_t n, arena *a)
{
    infer_shape *list = ARENA_ARRAY(a, infer_shape, base->n_inputs + 1u);
    uint32_t count = 0;
    for (uint32_t i = 0; list && i < base->n_inputs; i++) {
        const profile_tensor *t = &base->inputs[i];
        if (t->shape.rank < 1 || (!given->shapes.n && !touches(set, n, i)))
            continue;
        int64_t *dims = arena_copy(a, t->shape.dims, (size_t)t->shape.rank * sizeof *dims);
        for (uint32_t s = 0; dims && s < n; s++)
            for (uint32_t k = 0; set[s].of->kind == SIZE_INPUT && k < set[s].of->n_places; k++)
                if (set[s].of->places[k].input == i)
                    dims[set[s].of->places[k].axis] = set[s].value;
        list[count++] = (infer_shape){.input = t->name, .rank = t->shape.rank, .dims = dims};
    }
    o->shapes.items = list;
    o->shapes.n = count;
}

static assay_status set_parameter(model_options *o, const size_setting *s, arena *a,
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
    return zoo_args_put(&o->set, s->of->key, v, false) ? ASSAY_OK : err_no_memory(err);
}

/* The symbols that change, then those that were given and do not. */
static assay_status set_symbols(model_options *o, const model_options *given,
                                const size_setting *set, uint32_t n, arena *a, assay_error *err)
{
    memset(&o->dims, 0, sizeof o->dims);
    for (uint32_t i = 0; i < n + given->dims.n; i++) {
        infer_dim d = i < n ? (infer_dim){.symbol = set[i].of->key, .value = set[i].value}
                            : given->dims.items[i - n];
        bool known = i < n && set[i].of->kind != SIZE_SYMBOL;
        for (uint32_t k = 0; k < o->dims.n; k++)
            known = known || str_eq(o->dims.items[k].symbol, d.symbol);
        infer_dim *slot = known ? NULL : VEC_PUSH(a, &o->dims);
        if (!known && !slot)
            return err_no_memory(err);
        if (slot)
            *slot = d;
    }
    return ASSAY_OK;
}

static assay_status apply(model_options *o, const model_options *given, const profile *base,
                          const size_setting *set, uint32_t n, arena *a, assay_error *err)
{
    zoo_args_init(&o->set, a);
    TRY_MEMORY(zoo_args_copy(&o->set, &given->set), err);
    TRY(set_symbols(o, given, set, n, a, err));
    for (uint32_t i = 0; i < n; i++) {
        if (set[i].of->kind == SIZE_BATCH)
            o->batch = set[i].value;
        if (set[i].of->kind == SIZE_PARAMETER)
            TRY(set_parameter(o, &set[i], a, err));
    }
    set_shapes(o, given, base, set, n, a);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

assay_status subject_size_run(const study_subject *s, const profile *base, const size_setting *set,
                              uint32_t n, profile **out, assay_error *err)
{
    model_options with = *s->options;
    arena *a = arena_new((size_t)1 << 20);
    *out = NULL;
    TRY_MEMORY(a, err);
    assay_status status = apply(&with, s->options, base, set, n, a, err);
    if (status == ASSAY_OK)
        status = s->analyze(s->ctx, &with, out, err);
    arena_free(a);
    return status;
}
