/* Prefill, decode, cache and memory of a language model; see the header. */
#include "study/language.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/map.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "study/language_impl.h"

enum { TOKENS_MAX = 1 << 23 };

bool language_is(const zoo_row *row)
{
    static const char no[] = "clip_text_model bert roberta xlm-roberta camembert electra albert "
                             "distilbert t5 mt5 umt5 bart mbart whisper mpnet";
    return strcmp(row->task, "language") == 0 && !str_in_list(str_of(row->family), no, ' ');
}

/* ---- the closed form ---- */

static void join_kind(language_result *o, const language_attention *kind)
{
    for (uint32_t i = 0; i < o->n_attention; i++) {
        language_attention *a = &o->attention[i];
        bool same = a->window == kind->window && a->decode_macs == kind->decode_macs &&
                    a->prefill_macs == kind->prefill_macs &&
                    a->cache_elements == kind->cache_elements && a->kv_heads == kind->kv_heads;
        if (same || i == LANGUAGE_ATTENTIONS - 1) {
            a->layers++;
            return;
        }
    }
    o->attention[o->n_attention++] = *kind;
}

static void take_form(language_result *o, const language_graph *near, const language_graph *far,
                      int64_t past)
{
    for (uint32_t i = 0; i < far->n_layers; i++) {
        const language_layer *f = &far->layers[i];
        int64_t keys = f->kept + 1;
        uint64_t pair = i < near->n_layers ? near->layers[i].macs / (LANGUAGE_NEAR * LANGUAGE_NEAR)
                                           : 0;
        const language_attention kind = {.layers = 1,
                                         .window = f->kept < past ? keys : 0,
                                         .prefill_macs = pair,
                                         .decode_macs = keys > 0 ? f->macs / (uint64_t)keys : 0,
                                         .cache_elements = f->cache_dims,
                                         .kv_heads = f->kv_heads};
        join_kind(o, &kind);
        o->cache_elements_per_token += f->cache_dims;
    }
    o->prefill_linear_macs = (near->macs - near->attention_macs) / LANGUAGE_NEAR;
    o->decode_linear_macs = far->macs - far->attention_macs;
    o->head_macs = near->head_macs / LANGUAGE_NEAR;
}

static uint64_t seen(const language_attention *a, int64_t keys)
{
    return (uint64_t)(a->window && keys > a->window ? a->window : keys);
}

static uint64_t prefill_attention(const language_result *o, int64_t s)
{
    uint64_t macs = 0;
    for (uint32_t i = 0; i < o->n_attention; i++) {
        const language_attention *a = &o->attention[i];
        uint64_t pairs = sat_mul((uint64_t)s, seen(a, s));
        macs = sat_add(macs, sat_mul(sat_mul(a->prefill_macs, pairs), a->layers));
    }
    return macs;
}

static uint64_t decode_attention(const language_result *o, int64_t past)
{
    uint64_t macs = 0;
    for (uint32_t i = 0; i < o->n_attention; i++) {
        const language_attention *a = &o->attention[i];
        macs = sat_add(macs, sat_mul(sat_mul(a->decode_macs, seen(a, past + 1)), a->layers));
    }
    return macs;
}

static uint64_t cached_elements(const language_result *o, int64_t context)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < o->n_attention; i++) {
        const language_attention *a = &o->attention[i];
        n = sat_add(n, sat_mul(sat_mul(a->cache_elements, seen(a, context)), a->layers));
    }
    return n;
}

/* ---- bytes ---- */

static uint64_t bytes_of(uint64_t elements, ir_dtype t)
{
    return ir_dtype_bytes(t, elements);
}

static double distinct(const language_result *o, double tokens)
{
    double e = (double)o->experts, k = (double)o->experts_active;
    return e > 0 ? e * (1.0 - pow(1.0 - k / e, tokens)) : 0.0;
}

/* So many of the weights: in their share of the file, or in the type that is requested. */
static uint64_t weights_of(const language_asking *q, uint64_t parameters)
{
    const language_result *o = q->out;
    if (q->native_bytes && parameters == o->parameters)
        return q->native_bytes;
    if (!q->s->stored_bytes || !o->parameters)
        return bytes_of(parameters, q->weights);
    if (parameters == o->parameters)
        return q->s->stored_bytes;
    return (uint64_t)((double)q->s->stored_bytes * ((double)parameters / (double)o->parameters));
}

static uint64_t weights_read(const language_asking *q, double tokens)
{
    const language_result *o = q->out;
    double part = o->experts ? distinct(o, tokens) / (double)o->experts : 0.0;
    if (q->native_bytes) {
        uint64_t all = q->native_bytes - q->native_expert_bytes;
        return all - bytes_of(o->embedding_parameters, q->weights) +
               (uint64_t)((double)q->native_expert_bytes * part);
    }
    uint64_t always = o->parameters - o->expert_parameters - o->embedding_parameters;
    uint64_t read = always + (uint64_t)((double)o->expert_parameters * part);
    return weights_of(q, read);
}

static void finish_phase(const language_asking *q, language_phase *p, uint64_t cache_elements,
                         uint64_t activation_bytes)
{
    uint64_t batch = (uint64_t)q->out->batch;
    double tokens = (double)p->tokens * (double)batch;
    p->macs = sat_add(p->linear_macs, p->attention_macs);
    p->weight_bytes = weights_read(q, tokens);
    p->cache_bytes = sat_mul(bytes_of(cache_elements, q->cache), batch);
    p->activation_bytes = sat_mul(activation_bytes, batch);
    p->bytes = sat_add(sat_add(p->weight_bytes, p->cache_bytes), p->activation_bytes);
    p->arithmetic_intensity = p->bytes ? (double)p->flops / (double)p->bytes : 0;
    p->experts_per_layer = distinct(q->out, tokens);
}

static assay_status prefill(const language_asking *q)
{
    language_result *o = q->out;
    uint64_t batch = (uint64_t)o->batch, s = (uint64_t)o->prompt_tokens;
    language_graph *g = arena_alloc(q->arena, sizeof *g);
    TRY_MEMORY(g, q->err);
    TRY(language_evaluate(q, o->prompt_tokens, 0, true, g));
    language_phase *p = &o->prefill;
    p->tokens = s;
    p->context = o->prompt_tokens;
    p->linear_macs = sat_mul(sat_mul(o->prefill_linear_macs, s), batch);
    p->attention_macs = sat_mul(prefill_attention(o, o->prompt_tokens), batch);
    uint64_t macs = sat_add(p->linear_macs, p->attention_macs);
    uint64_t other = g->flops > 2 * g->macs ? g->flops - 2 * g->macs : 0;
    p->flops = sat_add(sat_mul(macs, 2), sat_mul(other, batch));
    /* what a causal mask leaves, where it hides anything */
    p->causal_macs = sat_mul(g->causal_macs ? g->causal_macs : g->macs, batch);
    o->prefill_macs_last_logits = macs - sat_mul(sat_mul(o->head_macs, s - 1), batch);
    o->activation_peak_bytes = sat_mul(g->activation_peak_bytes, batch);
    finish_phase(q, p, cached_elements(o, o->prompt_tokens), g->activation_bytes);
    return ASSAY_OK;
}

/* The graph's reads and writes hold the cache too, which is counted at its own type. */
static uint64_t without_cache(const language_graph *g, ir_dtype t)
{
    uint64_t cached = 0;
    for (uint32_t i = 0; i < g->n_layers; i++)
        cached = sat_add(cached, sat_mul(g->layers[i].cache_dims, (uint64_t)g->layers[i].kept));
    uint64_t bytes = sat_mul(bytes_of(cached, t), 3); /* joined: read and written; then read */
    return g->activation_bytes > bytes ? g->activation_bytes - bytes : 0;
}

static assay_status evaluate_step(const language_asking *q, int64_t past, language_phase *p)
{
    language_result *o = q->out;
    uint64_t batch = (uint64_t)o->batch;
    language_graph *g = arena_alloc(q->arena, sizeof *g);
    TRY_MEMORY(g, q->err);
    TRY(language_evaluate(q, 1, past, false, g));
    p->tokens = 1;
    p->context = past + 1;
    p->linear_macs = sat_mul(o->decode_linear_macs, batch);
    p->attention_macs = sat_mul(decode_attention(o, past), batch);
    uint64_t other = g->flops > 2 * g->macs ? g->flops - 2 * g->macs : 0;
    p->flops = sat_add(sat_mul(sat_add(p->linear_macs, p->attention_macs), 2),
                       sat_mul(other, batch));
    p->causal_macs = sat_add(p->linear_macs, p->attention_macs);
    o->kernels = g->kernels;
    finish_phase(q, p, cached_elements(o, past + 1), without_cache(g, q->weights));
    return ASSAY_OK;
}

/* ---- all steps ---- */

static void add_steps(const language_asking *q)
{
    language_result *o = q->out;
    uint64_t n = (uint64_t)o->generate;
    for (int64_t t = 0; t < o->generate; t++) {
        uint64_t attention = sat_mul(decode_attention(o, o->prompt_tokens + t), (uint64_t)o->batch);
        o->decode_macs = sat_add(o->decode_macs, sat_add(o->first.linear_macs, attention));
    }
    o->average = o->first;
    o->average.context = o->prompt_tokens + (o->generate + 1) / 2;
    o->average.macs = n ? o->decode_macs / n : 0;
    o->average.attention_macs = o->average.macs - o->first.linear_macs;
    o->average.flops = (o->first.flops + o->last.flops) / 2;
    o->average.bytes = (o->first.bytes + o->last.bytes) / 2;
    o->average.cache_bytes = (o->first.cache_bytes + o->last.cache_bytes) / 2;
    o->average.arithmetic_intensity = o->average.bytes
                                          ? (double)o->average.flops / (double)o->average.bytes
                                          : 0;
    o->decode_flops = sat_mul(o->average.flops, n);
    o->decode_bytes = sat_mul(o->average.bytes, n);
}

/* ---- memory ---- */

static const struct {
    const char *name, *about;
    double bits;
} formats[] = {
    {"float32", "32 bits", 32},
    {"float16", "16 bits, or bfloat16", 16},
    {"float8", "8 bits: e4m3 or e5m2", 8},
    {"int8", "8 bits, one scale per row", 8},
    {"Q8_0", "GGUF: 34 bytes for 32 weights", 8.5},
    {"Q6_K", "GGUF: 210 bytes for 256 weights", 6.5625},
    {"Q5_K", "GGUF: 176 bytes for 256 weights", 5.5},
    {"Q4_K", "GGUF: 144 bytes for 256 weights", 4.5},
    {"Q4_0", "GGUF: 18 bytes for 32 weights", 4.5},
    {"int4-g128", "GPTQ, AWQ: 16 + 4 extra bits per 128", 4.15625},
    {"nf4", "4 bits, doubly quantised scales per 64", 4.127},
    {"mxfp4", "4 bits, an 8-bit scale per 32", 4.25},
    {"Q3_K", "GGUF: 110 bytes for 256 weights", 3.4375},
    {"Q2_K", "GGUF: 84 bytes for 256 weights", 2.625},
};

_Static_assert(sizeof formats / sizeof *formats <= LANGUAGE_FORMATS, "a result holds them all");

static void list_formats(language_result *o)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        o->formats[o->n_formats++] = (language_format){
            .name = formats[i].name,
            .about = formats[i].about,
            .bits = formats[i].bits,
            .bytes = (uint64_t)ceil((double)o->parameters * formats[i].bits / 8.0)};
}

/* The most tokens that so many bytes of cache hold for one sequence. */
static int64_t most_tokens(const language_result *o, ir_dtype cache, uint64_t bytes)
{
    int64_t low = 0, high = (int64_t)1 << 40;
    if (bytes_of(cached_elements(o, high), cache) <= bytes)
        return INT64_MIN; /* any number: every layer has a window */
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        if (bytes_of(cached_elements(o, middle), cache) <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void language_fit(const language_result *o, uint64_t all, int64_t *context, int64_t *batch)
{
    uint64_t memory = (uint64_t)((double)all * MAP_HEAD_ROOM);
    *context = *batch = INT64_MIN;
    if (!memory || o->weight_bytes >= memory)
        return;
    ir_dtype type = ir_dtype_by_name(str_of(o->cache_dtype));
    uint64_t left = memory - o->weight_bytes;
    uint64_t per_sequence = o->activation_peak_bytes / (uint64_t)o->batch;
    uint64_t cache = bytes_of(cached_elements(o, o->prompt_tokens + o->generate), type);
    if (o->activation_peak_bytes < left)
        *context = most_tokens(o, type, (left - o->activation_peak_bytes) / (uint64_t)o->batch);
    if (cache + per_sequence > 0)
        *batch = (int64_t)(left / (cache + per_sequence));
}

static void weigh(const language_asking *q)
{
    language_result *o = q->out;
    int64_t end = o->prompt_tokens + o->generate;
    uint64_t batch = (uint64_t)o->batch;
    o->weight_bytes = weights_of(q, o->parameters);
    o->cache_bytes_per_token = bytes_of(o->cache_elements_per_token, q->cache);
    o->cache_bytes = sat_mul(bytes_of(cached_elements(o, end), q->cache), batch);
    o->cache_bytes_without_windows = sat_mul(sat_mul(o->cache_bytes_per_token, (uint64_t)end),
                                             batch);
    o->serve_bytes = sat_add(sat_add(o->weight_bytes, o->cache_bytes), o->activation_peak_bytes);
    o->memory_limit = q->s->memory;
    if (o->memory_limit)
        o->verdict = map_verdict((double)o->serve_bytes / (double)o->memory_limit, false);
    language_fit(o, q->s->memory, &o->largest_context, &o->largest_batch);
    list_formats(o);
}

/* ---- forms ---- */

static void put_attention(sbuf *b, const language_result *o, bool prefill_form)
{
    for (uint32_t i = 0; i < o->n_attention; i++) {
        const language_attention *a = &o->attention[i];
        uint64_t by = sat_mul(prefill_form ? a->prefill_macs : a->decode_macs, a->layers);
        const char *keys = prefill_form ? "S" : "(N+1)";
        sbuf_printf(b, " + %" PRIu64, by);
        sbuf_puts(b, prefill_form ? "·S" : "");
        if (a->window)
            sbuf_printf(b, "·min(%s,%" PRId64 ")", keys, a->window);
        else
            sbuf_printf(b, "·%s", keys);
    }
}

static str form(arena *a, sbuf *b)
{
    str s = str_copy(a, (str){b->p, b->failed ? 0 : (uint32_t)b->n});
    sbuf_free(b);
    return s;
}

static void write_forms(const language_asking *q)
{
    language_result *o = q->out;
    sbuf b = {0};
    sbuf_printf(&b, "B·(%" PRIu64 "·S", o->prefill_linear_macs);
    put_attention(&b, o, true);
    sbuf_puts(&b, ")");
    o->prefill_form = form(q->arena, &b);
    b = (sbuf){0};
    sbuf_printf(&b, "B·(%" PRIu64, o->decode_linear_macs);
    put_attention(&b, o, false);
    sbuf_puts(&b, ")");
    o->decode_form = form(q->arena, &b);
    b = (sbuf){0};
    sbuf_puts(&b, "B·(");
    for (uint32_t i = 0; i < o->n_attention; i++) {
        const language_attention *a = &o->attention[i];
        sbuf_printf(&b, "%s%" PRIu64, i ? " + " : "",
                    bytes_of(sat_mul(a->cache_elements, a->layers), q->cache));
        if (a->window)
            sbuf_printf(&b, "·min(N,%" PRId64 ")", a->window);
        else
            sbuf_puts(&b, "·N");
    }
    sbuf_puts(&b, ")");
    o->cache_form = form(q->arena, &b);
}

/* Tokens from which attention costs more than the linear layers: the windows give all they have. */
static double crossing(const language_result *o, double share)
{
    double linear = (double)o->prefill_linear_macs, slope = 0, fixed = 0;
    for (uint32_t i = 0; i < o->n_attention; i++) {
        const language_attention *a = &o->attention[i];
        double each = (double)a->prefill_macs * (double)a->layers;
        if (a->window)
            fixed += each * (double)a->window;
        else
            slope += each * share;
    }
    return slope > 0 && linear > fixed ? (linear - fixed) / slope : 0;
}

/* ---- experts ---- */

static int64_t read_int(const language_settings *s, const char *const *keys, size_t n)
{
    for (size_t i = 0; s->args && i < n; i++) {
        const zoo_arg *arg = zoo_args_get(s->args, keys[i]);
        if (arg && arg->value.kind == JSON_INT)
            return arg->value.i;
    }
    int64_t v = 0;
    for (size_t i = 0; i < n; i++)
        zoo_default(s->row, keys[i], &v);
    return v;
}

static void take_experts(const language_asking *q, const language_graph *g)
{
    static const char *const all[] = {"n_routed_experts", "num_local_experts", "num_experts"};
    static const char *const active[] = {"num_experts_per_tok", "experts_per_token"};
    language_result *o = q->out;
    o->parameters = g->parameters;
    o->expert_parameters = g->expert_parameters;
    o->embedding_parameters = g->own_head ? g->embedding_parameters : 0;
    o->active_parameters = g->parameters;
    if (!g->expert_parameters)
        return;
    o->experts = read_int(q->s, all, 3);
    o->experts_active = read_int(q->s, active, 2);
    if (o->experts < 1 || o->experts_active < 1 || o->experts_active > o->experts) {
        o->experts = o->experts_active = 0;
        return;
    }
    o->active_parameters = g->parameters - g->expert_parameters +
                           g->expert_parameters / (uint64_t)o->experts *
                               (uint64_t)o->experts_active;
}

/* ---- as a server runs it ---- */

/* Heads follow from what a pair costs and what a token caches: latent attention has its own. */
static void describe_attention(serving_pass *p, const language_attention *a, double macs)
{
    double kv = a->kv_heads ? (double)a->kv_heads : 1;
    double size = (double)a->cache_elements / 2 / kv;
    if (p->n_attentions < SERVING_ATTENTIONS && size > 0 && macs > 0)
        p->attentions[p->n_attentions++] = (serving_attention){
            (double)a->layers, fmax(macs / (2 * size), kv), kv, size, (double)a->window};
}

static void describe_serving(const language_asking *q, const language_graph *near,
                             const language_graph *far)
{
    const language_result *o = q->out;
    serving_model *m = q->s->serving;
    *m = (serving_model){.prefill = near->products,
                         .step = far->products,
                         .layers = far->n_layers,
                         .vocabulary = near->vocabulary,
                         .hidden = near->hidden};
    for (uint32_t i = 0; i < o->n_attention; i++) {
        const language_attention *a = &o->attention[i];
        describe_attention(&m->prefill, a, (double)a->prefill_macs);
        describe_attention(&m->step, a, (double)a->decode_macs);
    }
    if (!o->experts || !(near->expert_layers > 0))
        return;
    m->expert_layers = near->expert_layers;
    m->experts = (double)o->experts;
    m->experts_used = (double)o->experts_active;
    m->inner = near->expert_macs / (m->expert_layers * m->experts_used * 3 * m->hidden);
}

/* ---- all of it ---- */

/* Learned positions end somewhere: then the longest past that is requested has to do. */
static assay_status look_far(const language_asking *q, int64_t *past, language_graph *g)
{
    assay_error quiet;
    language_asking mine = *q;
    err_clear(&quiet);
    mine.err = &quiet;
    *past = LANGUAGE_FAR;
    if (language_evaluate(&mine, 1, LANGUAGE_FAR, false, g) == ASSAY_OK)
        return ASSAY_OK;
    *past = q->out->prompt_tokens + q->out->generate - 1;
    return language_evaluate(q, 1, *past > 0 ? *past : 1, false, g);
}

static assay_status check_request(const language_asking *q)
{
    const language_result *o = q->out;
    if (o->prompt_tokens > TOKENS_MAX || o->generate > TOKENS_MAX)
        return err_fail(q->err, ASSAY_ERR_USAGE,
                        "prompt and generated tokens are limited to %d each", TOKENS_MAX);
    if (!language_is(q->s->row))
        return err_fail(q->err, ASSAY_ERR_UNSUPPORTED,
                        "'" STR_FMT
                        "' does not generate token by token. Use `assay graph` for its cost.",
                        STR_ARG(q->s->model));
    return ASSAY_OK;
}

static bool is_wide_float(ir_dtype t)
{
    return ir_is_float(t) && ir_dtype_get(t)->bits >= 16;
}

/* Bits of a weight of the linear layers or of the experts, on average. */
static double weight_bits(const language_graph *g, const language_asking *q, bool experts)
{
    uint64_t expert = g->expert_parameters, bytes = q->native_expert_bytes;
    if (q->s->stored_bytes)
        return 8.0 * (double)q->s->stored_bytes / (double)g->parameters;
    if (!q->native_bytes)
        return ir_dtype_get(q->weights)->bits;
    if (experts)
        return expert ? 8.0 * (double)bytes / (double)expert : 0;
    /* without what is never packed: embedding and logits */
    double left = (double)g->embedding_parameters * (g->own_head ? 2 : 1);
    double rest = (double)(g->parameters - expert) - left;
    double rest_bytes = (double)(q->native_bytes - bytes) -
                        left * ir_dtype_get(q->weights)->bits / 8.0;
    return rest > 0 ? 8.0 * rest_bytes / rest : 0;
}

/* The default number types are those of the model. */
static void choose_types(language_asking *q, const language_graph *g)
{
    ir_dtype stored = q->s->stored_type ? ir_dtype_by_name(str_of(q->s->stored_type))
                                        : IR_UNDEFINED;
    ir_dtype native = is_wide_float(stored) ? stored : g->native;
    ir_dtype held = q->s->stored_bytes ? stored : q->weights != IR_UNDEFINED ? q->weights : native;
    language_result *o = q->out;
    bool packed = g->native_type && q->weights == IR_UNDEFINED && !q->s->stored_bytes;
    q->native_bytes = packed ? g->native_bytes : 0;
    q->native_expert_bytes = packed ? g->native_expert_bytes : 0;
    if (q->weights == IR_UNDEFINED)
        q->weights = native;
    if (q->cache == IR_UNDEFINED)
        q->cache = is_wide_float(held) ? held : IR_FLOAT16;
    o->weight_dtype = packed               ? g->native_type
                      : q->s->stored_bytes ? q->s->stored_type
                                           : ir_dtype_get(q->weights)->name;
    o->compute_dtype = ir_dtype_get(q->weights)->name;
    o->linear_weight_bits = weight_bits(g, q, false);
    o->expert_weight_bits = weight_bits(g, q, true);
    o->cache_dtype = ir_dtype_get(q->cache)->name;
}

static assay_status run_language(language_asking *q)
{
    language_result *o = q->out;
    int64_t past;
    language_graph *near = arena_alloc(q->arena, sizeof *near);
    language_graph *far = arena_alloc(q->arena, sizeof *far);
    TRY_MEMORY(near && far, q->err);
    TRY(check_request(q));
    TRY(language_evaluate(q, LANGUAGE_NEAR, 0, false, near));
    choose_types(q, near);
    TRY(look_far(q, &past, far));
    take_experts(q, near);
    take_form(o, near, far, past);
    if (q->s->serving)
        describe_serving(q, near, far);
    TRY(prefill(q));
    TRY(evaluate_step(q, o->prompt_tokens, &o->first));
    TRY(evaluate_step(q, o->prompt_tokens + o->generate - 1, &o->last));
    add_steps(q);
    weigh(q);
    write_forms(q);
    o->crossing_tokens = crossing(o, 1.0);
    o->crossing_causal_tokens = crossing(o, 0.5);
    return language_settle(o, q->arena) ? ASSAY_OK : err_no_memory(q->err);
}

static assay_status run_with_prompt(const language_settings *s, int64_t prompt, arena *a,
                                    language_result *out, assay_error *err)
{
    language_asking q = {.s = s, .out = out, .arena = a, .err = err};
    q.weights = s->weights;
    q.cache = s->cache;
    *out = (language_result){.kind = "language",
                             .enabled = true,
                             .model = s->model,
                             .family = str_of(s->row->family),
                             .prompt_tokens = prompt,
                             .generate = s->generate ? s->generate : 128,
                             .batch = s->batch ? s->batch : 1};
    notes_init(&out->warnings, a);
    return run_language(&q);
}

int64_t language_most_running(const language_result *o, uint64_t memory)
{
    double room = (double)memory * MAP_HEAD_ROOM - (double)o->weight_bytes -
                  (double)o->activation_peak_bytes / (double)o->batch;
    double each = (double)o->cache_bytes / (double)o->batch;
    return room < each ? 0 : each > 0 ? (int64_t)fmin(room / each, 1e6) : 1000000;
}

/* A prompt that nobody chose is halved until the model has a position for every token. */
assay_status language_run(const language_settings *s, arena *a, language_result *out,
                          assay_error *err)
{
    enum { USUAL = 1024, LEAST = 64 };
    int64_t prompt = s->prompt_tokens ? s->prompt_tokens : USUAL;
    assay_status status = run_with_prompt(s, prompt, a, out, err);
    while (status == ASSAY_ERR_USAGE && !s->prompt_tokens && prompt > LEAST) {
        err_clear(err);
        prompt /= 2;
        status = run_with_prompt(s, prompt, a, out, err);
    }
    return status;
}
