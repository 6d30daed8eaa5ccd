/* See llama_plan.h. The graphs are those of release 0.5 (src/llama-graph.cpp, src/models/). */
#include "engine/llama_plan.h"

#include "base/num.h"
#include "engine/llama_alloc.h"

/* Properties of a family that its tensors do not show. */
typedef struct llama_family {
    const char *name;
    uint32_t period;   /* of layers without a sliding window */
    bool no_rotation;  /* positions are added, or biases of the scores */
    bool parallel;     /* attention and feed-forward read the same */
    bool seen_first;   /* and what attention gives is added before what they read */
    bool rows_at_last; /* all tokens pass the last layer */
    bool bare_norms;   /* norms without weights */
    bool sum_first;    /* the last sum of a layer is added to, not its feed-forward */
} llama_family;

static const llama_family families[] = {
    {.name = "llama"},
    {.name = "mistral3"},
    {.name = "qwen2"},
    {.name = "qwen2moe"},
    {.name = "qwen3"},
    {.name = "qwen3moe"},
    {.name = "gemma"},
    {.name = "gemma2", .period = 2},
    {.name = "gemma3", .period = 6},
    {.name = "phi3", .sum_first = true},
    {.name = "olmo", .bare_norms = true},
    {.name = "olmo2", .period = 4},
    {.name = "olmoe"},
    {.name = "gpt-oss", .period = 2, .rows_at_last = true},
    {.name = "deepseek2"},
    {.name = "gpt2", .no_rotation = true},
    {.name = "gptneox"},
    {.name = "bloom", .no_rotation = true},
    {.name = "falcon", .parallel = true, .seen_first = true},
    {.name = "smollm3"},
    {.name = "starcoder2"},
    {.name = "stablelm"},
    {.name = "command-r", .parallel = true},
    {.name = "cohere2", .period = 4, .parallel = true},
    {.name = "granite"},
    {.name = "nemotron"},
    {.name = "arcee"},
    {.name = "ernie4_5"},
    {.name = "glm4"},
};

/* Types of a cache: ggml's number, bytes of a block of numbers. */
static const struct cache_type {
    int type;
    uint32_t numbers, bytes;
    bool quantised;
} cache_types[] = {
    {0, 1, 4, false}, {1, 1, 2, false}, {30, 1, 2, false}, {8, 32, 34, true}, {2, 32, 18, true}};

typedef struct planner {
    const llama_shape *m;
    const llama_sizes *s;
    const llama_family *family;
    const struct cache_type *cache;
    llama_graph graph;
    uint64_t tokens, cells; /* of a micro-batch; of one sequence */
    /* inputs */
    uint32_t rows, positions;
    struct places {
        uint32_t mask, k, v;
    } all, window; /* of layers that see every token, or a window of them */
} planner;

static const llama_family *find_family(str name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_is(name, families[i].name))
            return &families[i];
    return NULL;
}

static const struct cache_type *find_cache(int type)
{
    for (size_t i = 0; i < sizeof cache_types / sizeof *cache_types; i++)
        if (cache_types[i].type == type)
            return &cache_types[i];
    return NULL;
}

static bool has_window(const planner *p, uint32_t layer)
{
    uint64_t period = p->m->period ? p->m->period : p->family->period;
    return p->m->window && period && layer % period < period - 1;
}

static uint64_t round_up(uint64_t n, uint64_t step)
{
    return sat_mul(n / step + (n % step != 0), step);
}

/* ---- nodes ---- */

/* float32 features of every token */
static uint64_t features(const planner *p, uint64_t width)
{
    return sat_mul(sat_mul(width, p->tokens), 4);
}

static uint32_t product(planner *p, uint64_t width, uint32_t a)
{
    return llama_graph_add(&p->graph, features(p, width), a, 0, 0);
}

static uint32_t in_place(planner *p, uint64_t width, uint32_t a, uint32_t b)
{
    return llama_graph_in_place(&p->graph, features(p, width), a, b);
}

/* RMSNorm may work in place, LayerNorm not; the products with its weights may. */
static uint32_t norm(planner *p, uint64_t width, uint32_t x)
{
    return p->m->layer_norm ? product(p, width, x) : in_place(p, width, x, 0);
}

static uint32_t norm_if(planner *p, uint64_t there, uint64_t width, uint32_t x)
{
    return there ? norm(p, width, x) : x;
}

/* ---- attention ---- */

typedef struct attention {
    uint32_t q, k, v;
    uint64_t width_q, width_k, width_v, width_out; /* of all heads; out: of what attention gives */
} attention;

/* In place of x unless that is a view, such as a matrix as heads: ggml takes over no blocks of views. */
static uint32_t rotate(planner *p, uint64_t width, uint32_t x, bool view)
{
    if (p->family->no_rotation)
        return x;
    return !view ? in_place(p, width, x, p->positions)
                 : llama_graph_add(&p->graph, features(p, width), x, p->positions, 0);
}

/* A quantised cache holds rotated heads; queries and results are rotated too. */
static uint32_t hadamard(planner *p, uint64_t head, uint64_t width, uint32_t x)
{
    return p->cache->quantised && head % 64 == 0 ? product(p, width, x) : x;
}

/* One matrix for all three: the parts are views of its product. */
static void project_fused(planner *p, const llama_layer *l, uint32_t x, attention *a)
{
    uint32_t all = product(p, l->qkv, x);
    a->q = hadamard(p, p->m->head_k, a->width_q, rotate(p, a->width_q, all, true));
    a->v = hadamard(p, p->m->head_v, a->width_v, all);
    a->k = hadamard(p, p->m->head_k, a->width_k, rotate(p, a->width_k, all, true));
}

/* A norm of each head sees a view, and the rotation its result; one of all heads comes before the view. */
static uint32_t project_heads(planner *p, uint64_t width, uint64_t norm_width, uint32_t x)
{
    uint32_t out = product(p, width, x);
    bool each = norm_width && norm_width != width;
    if (norm_width)
        out = each ? product(p, width, out) : norm(p, width, out);
    return hadamard(p, p->m->head_k, width, rotate(p, width, out, !each));
}

static void project(planner *p, const llama_layer *l, uint32_t x, attention *a)
{
    bool keys_first = p->m->window && p->family->period;
    a->q = project_heads(p, a->width_q, l->q_norm, x);
    if (keys_first)
        a->k = project_heads(p, a->width_k, l->k_norm, x);
    a->v = hadamard(p, p->m->head_v, a->width_v, product(p, a->width_v, x));
    if (!keys_first)
        a->k = project_heads(p, a->width_k, l->k_norm, x);
}

/* DeepSeek: queries are brought to the space of the latents, which are the keys and values of all heads. */
static void project_latent(planner *p, const llama_layer *l, uint32_t x, attention *a)
{
    const llama_shape *m = p->m;
    uint64_t rotated = sat_mul(m->rope, m->heads);
    uint32_t q = l->q_b ? product(p, l->q_b, norm(p, l->q_a, product(p, l->q_a, x)))
                        : product(p, l->q, x);
    uint32_t absorbed = product(p, sat_mul(m->latent, m->heads), q);
    uint32_t turned = rotate(p, rotated, q, true);
    a->q = llama_graph_add(&p->graph, features(p, a->width_q), absorbed, turned, 0);
    uint32_t both = product(p, l->kv_a, x);
    a->v = llama_graph_add(&p->graph, features(p, m->latent), both, 0, 0);
    turned = rotate(p, m->rope, both, true);
    a->k = llama_graph_add(&p->graph, features(p, a->width_k), a->v, turned, 0);
}

/* Without absorption: keys and values of all heads are computed from the latents. */
static void project_expanded(planner *p, const llama_layer *l, uint32_t x, attention *a)
{
    const llama_shape *m = p->m;
    uint32_t q = l->q_b ? product(p, l->q_b, norm(p, l->q_a, product(p, l->q_a, x)))
                        : product(p, l->q, x);
    a->q = rotate(p, a->width_q, q, true);
    uint32_t both = product(p, l->kv_a, x);
    uint32_t kv = product(p, l->kv_b, product(p, m->latent, both));
    a->v = product(p, a->width_v, kv);
    uint32_t turned = rotate(p, m->rope, both, true);
    uint32_t repeated = product(p, sat_mul(m->rope, m->heads), turned);
    a->k = llama_graph_add(&p->graph, features(p, a->width_k), kv, repeated, 0);
}

static attention widths_of(const planner *p, const llama_layer *l)
{
    const llama_shape *m = p->m;
    attention a = {.width_q = sat_mul(m->head_k, m->heads),
                   .width_k = sat_mul(m->head_k, m->heads_kv),
                   .width_v = sat_mul(m->head_v, m->heads_kv),
                   .width_out = sat_mul(m->head_v, m->heads)};
    if (l->k_b)
        a = (attention){.width_q = sat_mul(m->latent + m->rope, m->heads),
                        .width_k = m->latent + m->rope,
                        .width_v = m->latent,
                        .width_out = sat_mul(m->latent, m->heads)};
    return a;
}

/* Scores of all heads, their softmax, the weighted sum, and its heads side by side. */
static uint32_t attend_by_scores(planner *p, const attention *a, uint32_t mask)
{
    uint64_t scores = sat_mul(sat_mul(p->cells, p->m->heads), sat_mul(p->tokens, 4));
    uint32_t kq = llama_graph_add(&p->graph, scores, a->q, 0, 0);
    kq = llama_graph_in_place(&p->graph, scores, kq, mask);
    return product(p, a->width_out, product(p, a->width_out, kq));
}

/* Keys and values of float32 are converted for it. */
static uint32_t attend_at_once(planner *p, const attention *a, uint32_t mask)
{
    uint64_t all = sat_mul(p->cells, 2 * p->s->sequences), k = 0, v = 0;
    if (p->cache->type == 0) {
        k = llama_graph_add(&p->graph, sat_mul(all, a->width_k), 0, 0, 0);
        v = llama_graph_add(&p->graph, sat_mul(all, a->width_v), 0, 0, 0);
    }
    uint32_t out = llama_graph_add(&p->graph, features(p, a->width_out), a->q, (uint32_t)k, mask);
    if (v)
        out = llama_graph_in_place(&p->graph, features(p, a->width_out), out, (uint32_t)v);
    return out;
}

static uint32_t attend(planner *p, const llama_layer *l, uint32_t layer, uint32_t x)
{
    const llama_shape *m = p->m;
    attention a = widths_of(p, l);
    const struct places *in = has_window(p, layer) ? &p->window : &p->all;
    (l->k_b    ? project_latent
     : l->kv_b ? project_expanded
     : l->qkv  ? project_fused
               : project)(p, l, x, &a);
    llama_graph_add(&p->graph, 0, a.k, in->k, 0);
    llama_graph_add(&p->graph, 0, a.v, in->v, 0);
    uint32_t out = (p->s->flash ? attend_at_once : attend_by_scores)(p, &a, in->mask);
    if (!l->k_b)
        return out;
    out = product(p, sat_mul(m->head_v_latent, m->heads), out);
    return product(p, sat_mul(m->head_v_latent, m->heads), out);
}

/* The last matrix of attention. */
static uint32_t leave_attention(planner *p, const llama_layer *l, uint32_t seen)
{
    const llama_shape *m = p->m;
    if (!l->k_b)
        seen = hadamard(p, m->head_v, sat_mul(m->head_v, m->heads), seen);
    return product(p, m->hidden, seen);
}

/* ---- feed-forward ---- */

/* Gate and up of `width`, multiplied into a third; or one of both; or an activation in place. */
static uint32_t gated(planner *p, uint64_t up, uint64_t gate, uint64_t down_in, uint32_t x)
{
    uint32_t first = product(p, gate ? gate : up, x);
    if (gate)
        return llama_graph_add(&p->graph, features(p, up), first, product(p, up, x), 0);
    return up == 2 * down_in ? product(p, down_in, first) : in_place(p, up, first, 0);
}

/* Sum of the chosen experts: views of one tensor, added one after the other. */
static uint32_t sum_experts(planner *p, uint32_t experts)
{
    uint32_t sum = product(p, p->m->hidden, experts);
    return p->m->experts_used > 1 ? in_place(p, p->m->hidden, sum, experts) : sum;
}

static uint32_t mix_experts(planner *p, const llama_layer *l, uint32_t x)
{
    uint64_t used = p->m->experts_used, width = sat_mul(l->up_experts, used);
    uint32_t scores = product(p, l->router, x);
    uint32_t odds = in_place(p, l->router, scores, 0);
    uint32_t order = product(p, l->router, odds);
    uint32_t weights = llama_graph_add(&p->graph, features(p, used), odds, order, 0);
    weights = product(p, used, weights);
    uint32_t up = llama_graph_add(&p->graph, features(p, width), x, order, 0), inner = up;
    if (l->gate_experts) {
        uint32_t gate = llama_graph_add(&p->graph, features(p, width), x, order, 0);
        inner = llama_graph_add(&p->graph, features(p, width), gate, up, 0);
    }
    uint64_t all = sat_mul(p->m->hidden, used);
    uint32_t out = llama_graph_add(&p->graph, features(p, all), inner, order, 0);
    uint32_t sum = sum_experts(p, in_place(p, all, out, weights));
    if (!l->up_shared)
        return sum;
    uint32_t shared = product(p, p->m->hidden,
                              gated(p, l->up_shared, l->up_shared, l->up_shared, x));
    return in_place(p, p->m->hidden, sum, shared);
}

static uint32_t feed_forward(planner *p, const llama_layer *l, uint32_t x)
{
    if (l->router)
        return mix_experts(p, l, x);
    return product(p, p->m->hidden, gated(p, l->up, l->gate, l->down_in, x));
}

/* ---- the whole ---- */

/* Rows of the tokens whose logits are wanted, of two tensors. */
static uint32_t pick_rows(planner *p, uint32_t x)
{
    return llama_graph_add(&p->graph, features(p, p->m->hidden), x, p->rows, 0);
}

static uint32_t rows_if(planner *p, bool last, uint32_t x)
{
    return last ? pick_rows(p, x) : x;
}

/* x + feed-forward(x) + attention(x): what is not read before is computed when it is added. */
static uint32_t add_parallel(planner *p, const llama_layer *l, bool last, uint32_t x,
                             uint32_t normed, uint32_t seen)
{
    uint64_t hidden = p->m->hidden;
    uint32_t own = l->ffn_norm ? rows_if(p, last, x) : LLAMA_NO_TENSOR;
    uint32_t sum = feed_forward(p, l, own ? norm(p, hidden, own) : rows_if(p, last, normed));
    for (int i = 0; i < 2; i++)
        if ((i == 0) == p->family->seen_first)
            sum = in_place(p, hidden, sum, rows_if(p, last, leave_attention(p, l, seen)));
        else
            sum = in_place(p, hidden, sum, own ? own : rows_if(p, last, x));
    return sum;
}

/* y = x + attention(x), y + feed-forward(y). A norm after attention, with none around feed-forward, is that before it;
 * without any of these the feed-forward reads what attention read. */
static uint32_t add_serial(planner *p, const llama_layer *l, bool last, uint32_t x, uint32_t normed,
                           uint32_t seen)
{
    uint64_t hidden = p->m->hidden;
    bool moved = !l->ffn_norm && !l->ffn_post_norm && l->attn_post_norm;
    bool norms = l->ffn_norm || moved || p->family->bare_norms;
    uint32_t out = leave_attention(p, l, seen);
    out = rows_if(p, last, out);
    out = norm_if(p, moved ? 0 : l->attn_post_norm, hidden, out);
    uint32_t sum = in_place(p, hidden, out, rows_if(p, last, x));
    uint32_t fed = norms ? norm(p, hidden, sum) : l->ffn_post_norm ? sum : normed;
    uint32_t more = norm_if(p, l->ffn_post_norm, hidden, feed_forward(p, l, fed));
    return p->family->sum_first ? in_place(p, hidden, sum, more) : in_place(p, hidden, more, sum);
}

static uint32_t add_layer(planner *p, uint32_t i, uint32_t x)
{
    const llama_layer *l = &p->m->layers[i];
    bool last = i + 1 == p->m->n_layers && !p->family->rows_at_last;
    uint32_t normed = norm_if(p, l->attn_norm || p->family->bare_norms, p->m->hidden, x);
    uint32_t seen = attend(p, l, i, normed);
    return (p->m->parallel || p->family->parallel ? add_parallel : add_serial)(p, l, last, x,
                                                                               normed, seen);
}

/* Where keys and values go, and who sees whom. Without flash attention the cache of values is transposed: each number
 * has a place. */
static struct places add_places(planner *p)
{
    uint64_t width = p->s->flash ? 1 : sat_mul(p->m->head_v, p->m->heads_kv);
    uint64_t mask = sat_mul(p->tokens, p->s->flash ? 2 : 4);
    struct places out;
    out.k = llama_graph_input(&p->graph, sat_mul(p->tokens, 8));
    out.v = llama_graph_input(&p->graph, sat_mul(sat_mul(p->tokens, 8), width));
    out.mask = llama_graph_input(&p->graph, sat_mul(p->cells, mask));
    return out;
}

static void add_inputs(planner *p)
{
    uint32_t tokens = llama_graph_input(&p->graph, sat_mul(p->tokens, 4));
    llama_graph_input(&p->graph, features(p, p->m->hidden)); /* for prompts that are no tokens */
    p->positions = llama_graph_input(&p->graph, sat_mul(p->tokens, 4));
    for (uint32_t i = 0; i < p->m->n_layers;
         i++) { /* what no layer reads is no part of the graph */
        struct places *in = has_window(p, i) ? &p->window : &p->all;
        if (in->k == LLAMA_NO_TENSOR)
            *in = add_places(p);
    }
    p->rows = llama_graph_input(&p->graph, sat_mul(p->tokens, 4));
    llama_graph_add(&p->graph, 0, tokens, 0, 0);
}

static uint64_t plan_compute(planner *p)
{
    const uint64_t hidden = p->m->hidden;
    add_inputs(p);
    uint32_t x = product(p, hidden, 0);
    if (p->m->positions)
        x = in_place(p, hidden, x, product(p, hidden, p->positions));
    x = norm_if(p, p->m->embedding_norm, hidden, x);
    for (uint32_t i = 0; i < p->m->n_layers; i++)
        x = add_layer(p, i, x);
    x = norm(p, hidden, p->family->rows_at_last ? pick_rows(p, x) : x);
    uint32_t logits = product(p, p->m->vocab, x);
    if (!p->graph.failed)
        p->graph.tensors.items[logits].output = true;
    return llama_graph_buffer(&p->graph);
}

static uint64_t row_bytes(const planner *p, uint64_t width)
{
    return sat_mul(width / p->cache->numbers, p->cache->bytes);
}

/* Keys and values of every layer; attention by latents has no values of its own. */
static uint64_t plan_cache(const planner *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->m->n_layers; i++) {
        attention a = widths_of(p, &p->m->layers[i]);
        uint64_t row = row_bytes(p, a.width_k);
        row = p->m->layers[i].k_b ? row : sat_add(row, row_bytes(p, a.width_v));
        sum = sat_add(sum, sat_mul(sat_mul(p->cells, p->s->sequences), row));
    }
    return sum;
}

static void set_sizes(planner *p)
{
    const llama_sizes *s = p->s;
    uint64_t batch = s->micro_batch ? s->micro_batch : LLAMA_MICRO_BATCH;
    uint64_t context = round_up(s->context, LLAMA_CONTEXT_STEP);
    p->cells = round_up(context / s->sequences, LLAMA_CONTEXT_STEP);
    batch = batch < s->context ? batch : s->context;
    p->tokens = round_up(batch, s->sequences);
}

assay_status llama_plan_memory(const llama_shape *m, const llama_sizes *s, arena *work,
                               llama_memory_plan *out, assay_error *err)
{
    planner p = {
        .m = m, .s = s, .family = find_family(m->architecture), .cache = find_cache(s->cache_type)};
    *out = (llama_memory_plan){0};
    if (!p.family || !p.cache || !m->n_layers || !m->heads || !s->sequences || !s->context)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "the memory of architecture '" STR_FMT "' in llama.cpp is not known",
                        STR_ARG(m->architecture));
    set_sizes(&p);
    llama_graph_init(&p.graph, work);
    uint64_t rows = s->outputs > s->sequences ? s->outputs : s->sequences;
    *out = (llama_memory_plan){.cache = plan_cache(&p),
                               .compute = plan_compute(&p),
                               .output = sat_mul(sat_mul(m->vocab, rows), 4)};
    return out->compute ? ASSAY_OK : err_no_memory(err);
}
