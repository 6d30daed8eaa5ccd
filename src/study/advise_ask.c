/* Recommendations for a model: the model is analysed with one change at a time, and analyze/advise.c evaluates the
 * results. A change that the model does not accept is skipped. */
#include "study/advise_ask.h"

#include "base/limits.h"
#include "base/text.h"
#include "device/devices.h"
#include "device/host.h"
#include "study/smaller.h"

/* Above this many layers the advice that needs another evaluation is left out: graph answers at once, and map
 * within 50 ms, having evaluated the model three times already. */
enum {
    LAYERS_MOST = 2000,
    MAPPED_MOST = 300,
    SIDE_LEAST = 64,
    LENGTH_LEAST = 16,
    LARGER_BATCH = 8
};

typedef struct asking {
    const study_subject *s;
    const profile *p;
    advise_facts *f;
    arena *arena;
    assay_error refused; /* why a change was not accepted; unused */
} asking;

static void take_case(asking *x, advise_change which, profile *p, str change, double times)
{
    x->f->cases[which] = (advise_case){.present = !arena_failed(x->arena),
                                       .change = change,
                                       .flops = p->total_flops,
                                       .memory = p->total_memory,
                                       .parameters = p->total_parameters,
                                       .weights_bytes = p->memory_plan.weights_bytes,
                                       .activations_bytes = p->memory_plan.activations_peak_bytes,
                                       .peak_bytes = p->memory_plan.peak_bytes,
                                       .intensity = p->arithmetic_intensity,
                                       .times = times};
    profile_free(p);
}

/* ---- sizes ---- */

static bool try_size(asking *x, advise_change which, const size_binding *b, const char *name,
                     int64_t to)
{
    const size_setting set = {b, to};
    profile *of = NULL;
    if (subject_size_run(x->s, x->p, &set, 1, &of, &x->refused) != ASSAY_OK)
        return false;
    take_case(x, which, of,
              str_printf(x->arena, "%s %lld → %lld", name, (long long)b->own, (long long)to),
              (double)to / (double)b->own);
    return true;
}

static void ask_image(asking *x)
{
    size_binding b = {0};
    if (subject_size_find(x->s, x->p, STR("side"), &b, &x->refused) != ASSAY_OK ||
        b.own < SIDE_LEAST)
        return;
    if (!try_size(x, ADVISE_IMAGE, &b, "side", b.own / 2))
        try_size(x, ADVISE_IMAGE, &b, "side", b.own / 64 * 32);
}

static void ask_sequence(asking *x)
{
    size_binding b = {0};
    if (subject_size_find(x->s, x->p, STR("seq"), &b, &x->refused) != ASSAY_OK)
        return;
    if (b.own >= LENGTH_LEAST)
        try_size(x, ADVISE_SEQUENCE, &b, "tokens", b.own / 2);
}

static void ask_batch(asking *x)
{
    size_binding b = {0};
    if (subject_size_find(x->s, x->p, STR("batch"), &b, &x->refused) != ASSAY_OK)
        return;
    if (b.own > 0 && b.own < 4096)
        try_size(x, ADVISE_BATCH, &b, "batch", b.own * LARGER_BATCH);
    x->f->cases[ADVISE_BATCH].samples = (double)b.own;
}

static void ask_precision(asking *x, advise_change which, ir_dtype t)
{
    model_options o = *x->s->options;
    profile *of = NULL;
    if (o.precision != IR_UNDEFINED || x->f->done[which])
        return;
    o.precision = t;
    if (x->s->analyze(x->s->ctx, &o, &of, &x->refused) == ASSAY_OK)
        take_case(x, which, of, (str){0}, 1);
}

/* ---- parameters of an architecture ---- */

/* What the architecture has: the user's own word, the configuration's, the catalogue's. */
static const json_value *value_of(const asking *x, const zoo_args *defaults, const char *key)
{
    const zoo_args *lists[] = {&x->s->options->set, x->s->config, defaults};
    for (int k = 0; k < 3; k++) {
        const zoo_arg *a = lists[k]->list.n ? zoo_args_get(lists[k], key) : NULL;
        if (a)
            return &a->value;
    }
    return NULL;
}

static bool try_value(asking *x, advise_change which, const char *key, const json_value *from,
                      json_value to)
{
    model_options o = *x->s->options;
    profile *of = NULL;
    zoo_args_init(&o.set, x->arena);
    if (!zoo_args_copy(&o.set, &x->s->options->set) ||
        !zoo_args_put(&o.set, str_of(key), to, false) ||
        x->s->analyze(x->s->ctx, &o, &of, &x->refused) != ASSAY_OK)
        return false;
    bool smaller = of->total_flops < x->p->total_flops;
    if (smaller)
        take_case(x, which, of, smaller_text(x->arena, key, from, &to), 1);
    else
        profile_free(of);
    return smaller;
}

static void ask_parameters(asking *x, advise_change which, smaller_kind kind,
                           const zoo_args *defaults)
{
    const char *key;
    for (uint32_t k = 0; (key = smaller_key(kind, k)); k++) {
        const json_value *v = value_of(x, defaults, key);
        json_value to;
        for (uint32_t t = 0; v && t < SMALLER_TRIES; t++)
            if (smaller_value(kind, v, t, x->arena, &to) && try_value(x, which, key, v, to))
                return;
    }
}

static void ask_architecture(asking *x)
{
    zoo_args defaults;
    if (!x->s->row)
        return;
    zoo_args_init(&defaults, x->arena);
    if (x->s->row->defaults &&
        zoo_args_parse(&defaults, str_of(x->s->row->defaults), true, &x->refused) != ASSAY_OK)
        return;
    ask_parameters(x, ADVISE_NARROWER, SMALLER_WIDTH, &defaults);
    ask_parameters(x, ADVISE_SHALLOWER, SMALLER_DEPTH, &defaults);
}

/* ---- the whole ---- */

static void ask_all(asking *x)
{
    if (x->p->n_layers > (x->p->mapping ? MAPPED_MOST : LAYERS_MOST))
        return;
    ask_image(x);
    ask_sequence(x);
    if (!x->f->cases[ADVISE_BATCH].present)
        ask_batch(x);
    for (int k = 0; k < ADVISE_CHANGES; k++)
        x->f->cases[k].present = x->f->cases[k].present && !x->f->done[k];
    if (!x->f->cases[ADVISE_HALF].present)
        ask_precision(x, ADVISE_HALF, IR_FLOAT16);
    if (!x->f->cases[ADVISE_BYTE].present)
        ask_precision(x, ADVISE_BYTE, IR_INT8);
    ask_architecture(x);
}

assay_status advise_ask(const study_subject *s, str hardware, const advise_facts *known, profile *p,
                        assay_error *err)
{
    advise_facts f = known ? *known : (advise_facts){0};
    host_info host;
    asking x = {.s = s, .p = p, .f = &f, .arena = arena_new(LIMIT_ANALYSIS_BYTES)};
    TRY_MEMORY(x.arena, err);
    host_describe(&host);
    f.cores = host.cores;
    f.device_memory = device_named_memory(hardware, x.arena, &f.device);
    ask_all(&x);
    assay_status status = arena_failed(x.arena) ? err_no_memory(err) : advise_run(&f, p, err);
    arena_free(x.arena);
    return status;
}
