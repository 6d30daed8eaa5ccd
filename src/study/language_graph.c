/* One graph of a language model: a prefill or a step, counted. Its products are listed as a server runs them: those of
 * one input (queries, keys and values; gate and up) are one. */
#include <math.h>

#include "analyze/axis_roles.h"
#include "analyze/count.h"
#include "analyze/memory.h"
#include "base/num.h"
#include "study/language_impl.h"

/* ---- one graph ---- */

/* The operator Attention, or its products where a builder writes them out. */
static uint64_t attention_macs(const profile_layer *l)
{
    if (l->ops.mac_qk || l->ops.mac_av)
        return l->ops.mac_qk + l->ops.mac_av;
    bool product = l->weight_bytes == 0 &&
                   (str_ends(l->name, ".scores") || str_ends(l->name, ".context"));
    return product ? l->macs : 0;
}

static bool is_expert(str name)
{
    return str_contains(name, ".experts.") || str_contains(name, ".experts/");
}

/* In the graph each token gathers the weights of its experts; a server does not copy them. */
static void take_peak(const profile *p, language_graph *g)
{
    for (uint32_t i = 0; i < p->n_layers; i++)
        if (!is_expert(p->layers[i].name) && p->layers[i].live_bytes > g->activation_peak_bytes)
            g->activation_peak_bytes = p->layers[i].live_bytes;
}

/* ---- products ---- */

typedef struct product_run { /* products of one input so far */
    str input;
    double columns, depth;
} product_run;

static void end_products(product_run *at, language_graph *g)
{
    if (at->columns > 0) {
        serving_add_product(&g->products, at->columns, at->depth, 1);
        g->vocabulary = at->columns;
        g->hidden = at->depth;
    }
    *at = (product_run){0};
}

static void take_product(const profile_layer *l, double tokens, product_run *at, language_graph *g)
{
    const profile_shape *out = l->n_outputs ? &l->outputs[0].shape : NULL;
    double columns = out && out->rank > 0 ? (double)out->dims[out->rank - 1] : 0;
    double depth = columns > 0 ? (double)l->macs / tokens / columns : 0;
    str input = l->n_inputs ? l->inputs[0].name : (str){0};
    if (depth < 1)
        return;
    if (!str_eq(input, at->input) || fabs(depth - at->depth) > 0.5)
        end_products(at, g);
    at->columns += columns;
    at->depth = depth;
    at->input = input;
}

/* Layers before ".experts" differ in their names: each is a mixture. */
static void take_expert(const profile_layer *l, double tokens, str *layer, language_graph *g)
{
    uint32_t n = 0;
    while (n < l->name.n && !is_expert((str){l->name.p, n}))
        n++;
    if (!str_eq(*layer, (str){l->name.p, n}))
        g->expert_layers++;
    *layer = (str){l->name.p, n};
    g->expert_macs += (double)l->macs / tokens;
}

/* The last product makes the logits, which not every token of a prompt needs. */
static void leave_logits_out(language_graph *g)
{
    serving_pass *p = &g->products;
    for (uint32_t i = 0; i < p->n_products; i++) {
        serving_product *x = &p->products[i];
        if (fabs(x->columns - g->vocabulary) + fabs(x->depth - g->hidden) > 0.5)
            continue;
        x->count--;
        if (x->count < 0.5)
            *x = p->products[--p->n_products];
        return;
    }
}

static void take_products(const profile *p, double tokens, language_graph *g)
{
    product_run at = {0};
    str layer = {0};
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        if (l->macs && is_expert(l->name))
            take_expert(l, tokens, &layer, g);
        else if (l->macs && l->weight_bytes && !attention_macs(l))
            take_product(l, tokens, &at, g);
    }
    end_products(&at, g);
    leave_logits_out(g);
}

static void take_layers(const profile *p, language_graph *g)
{
    str module = {0};
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        uint64_t macs = attention_macs(l);
        if (!is_expert(l->name) && !str_contains(l->name, ".kv_b/"))
            g->activation_bytes = sat_add(g->activation_bytes,
                                          sat_add(l->read_bytes, l->written_bytes));
        g->kernels += l->read_bytes + l->weight_bytes + l->written_bytes > 0;
        if (l->macs)
            g->head_macs = l->macs; /* the last product of a decoder makes the logits */
        if (!macs)
            continue;
        g->attention_macs = sat_add(g->attention_macs, macs);
        if ((!g->n_layers || !str_eq(module, l->module)) && g->n_layers < LANGUAGE_LAYERS)
            g->n_layers++;
        module = l->module;
        g->layers[g->n_layers - 1].macs += macs;
    }
}

/* past_key_values.N.key and .value, in order. */
static void take_caches(const profile *p, language_graph *g)
{
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const profile_tensor *t = &p->inputs[i];
        int64_t tokens = axis_cached_tokens(
            &(axis_input){t->name, t->dtype, t->shape.rank, t->shape.dims});
        if (tokens < 0)
            continue;
        uint32_t at = g->n_caches / 2;
        if (at >= LANGUAGE_LAYERS)
            return;
        g->layers[at].kept = tokens;
        g->layers[at].cache_dims += (uint64_t)(t->shape.dims[1] * t->shape.dims[3]);
        g->layers[at].kv_heads = (uint64_t)t->shape.dims[1];
        g->n_caches++;
    }
}

/* In blocks or in the native float type. The first packed type names all of them. */
static uint64_t published_bytes(const ir_tensor *t, language_graph *g)
{
    if (!t->native)
        return ir_dtype_bytes(g->native, t->n_elems);
    g->native_type = t->native->name;
    return ir_packed_bytes(t->native, t->n_elems);
}

static void take_weights(const ir_model *m, language_graph *g)
{
    for (ir_id i = 0; i < m->values.n; i++) {
        const ir_value *v = &m->values.items[i];
        if (!v->constant || (v->flags & (IR_VALUE_NOT_PARAM | IR_VALUE_BUFFER)))
            continue;
        uint64_t n = v->constant->n_elems, bytes = published_bytes(v->constant, g);
        g->native_bytes = sat_add(g->native_bytes, bytes);
        g->native_expert_bytes += is_expert(v->name) ? bytes : 0;
        g->own_head = g->own_head || str_starts(v->name, "lm_head.") ||
                      str_starts(v->name, "embed_out.");
        if (is_expert(v->name))
            g->expert_parameters = sat_add(g->expert_parameters, n);
        else if (str_contains(v->name, "embed_tokens") || str_contains(v->name, "wte.") ||
                 str_contains(v->name, "embed_in") || str_contains(v->name, "word_embeddings"))
            g->embedding_parameters = sat_add(g->embedding_parameters, n);
    }
}

/* Prompts are text only; `assay graph` shows the cost of an image. */
static bool leave_images(zoo_args *args)
{
    if (!zoo_args_put_int(args, "images", 0))
        return false;
    zoo_args_get(args, "images")->silent = true;
    return true;
}

typedef struct counting {
    const ir_model *m;
    arena *work;
    profile *p;
    int64_t tokens;
    bool with_memory;
} counting;

static assay_status count_graph(const language_asking *q, const counting *c, language_graph *g)
{
    const ir_model *m = c->m;
    profile *p = c->p;
    const count_options as = {.precision = q->weights};
    infer_result *r = NULL;
    counted of;
    TRY(infer_run(m, NULL, c->work, &r, q->err));
    TRY(count_run(r, &as, p, &of, q->err));
    if (c->with_memory)
        TRY(memory_run(r, &of, q->weights, NULL, p, q->err));
    g->native = m->native == IR_UNDEFINED ? IR_FLOAT32 : m->native;
    g->macs = p->total_macs;
    g->flops = p->total_flops;
    g->causal_macs = p->architecture.causal_macs;
    g->parameters = p->total_parameters;
    take_peak(p, g);
    take_layers(p, g);
    take_products(p, (double)c->tokens, g);
    take_caches(p, g);
    take_weights(m, g);
    return ASSAY_OK;
}

/* A prefill of `tokens` (past 0), or one step after `past`. */
assay_status language_evaluate(const language_asking *q, int64_t tokens, int64_t past,
                               bool with_memory, language_graph *g)
{
    ir_model *m = NULL;
    arena *work = arena_new(q->s->memory_limit);
    profile *p = profile_new(q->s->memory_limit);
    assay_status s = work && p ? ASSAY_OK : err_no_memory(q->err);
    zoo_args args;
    memset(g, 0, sizeof *g);
    if (s == ASSAY_OK) {
        zoo_args_init(&args, work);
        bool ok = zoo_args_add(&args, q->s->args) && zoo_args_put_int(&args, "seq_len", tokens) &&
                  zoo_args_put_int(&args, "past", past) && leave_images(&args);
        s = ok ? ASSAY_OK : err_no_memory(q->err);
    }
    const zoo_request request = {
        .row = q->s->row, .set = &args, .memory_limit = q->s->memory_limit};
    if (s == ASSAY_OK)
        s = zoo_build(&request, &m, q->err);
    if (s == ASSAY_OK)
        s = count_graph(q, &(counting){m, work, p, tokens, with_memory}, g);
    ir_model_free(m);
    profile_free(p);
    arena_free(work);
    return s;
}
