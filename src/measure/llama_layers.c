/* Times of layers from the operators that llama.cpp timed (engine/llama_operators.c), with the ledger of
 * measure/layer_times.h.
 *
 * llama.cpp builds a graph of its own. Its operators are assigned to layers by
 *   1. the tensor of weights that they read, which the file's names lead to a layer ("blk.0.attn_q.weight");
 *   2. a norm without weights: the layer of the product that follows it;
 *   3. their kind and the number of the block in their name ("kq_soft_max-0"): the first operator of a kind is the first
 *      layer of the kinds that it stands for, and so on (the table below).
 * Everything else is the engine's own: writing the KV cache, copies, masks. Views compute nothing and have no time.
 *
 * What timing costs is the difference between the fastest timed and the fastest plain run, in equal parts for each
 * operator: each starts the threads anew.
 */
#include <stdlib.h>
#include <string.h>

#include "measure/layer_times.h"
#include "measure/llama_layers.h"
#include "measure/stats.h"

enum { BLOCK_NONE = -1 };

/* Kinds of layers that an operator without weights stands for: of each in turn, or of all at once. */
typedef struct kind_row {
    const char *op, *kinds; /* space separated */
    bool all;
    const char *module; /* part of the module's name; NULL: any */
} kind_row;

static const kind_row kind_rows[] = {
    {"FLASH_ATTN_EXT", "Attention", true, NULL},
    {"FLASH_ATTN_EXT", "MatMul Softmax Mul Add Concat Slice", true, "att"},
    {"SOFT_MAX", "Attention", true, NULL},
    {"SOFT_MAX", "Softmax", false, NULL},
    {"MUL_MAT", "Attention", true, NULL},
    {"MUL_MAT", "MatMul", false, "att"},
    {"ROPE", "RotaryEmbedding", false, NULL},
    {"SWIGLU", "Swish Mul", true, "mlp"},
    {"SWIGLU", "Swish Mul", true, "moe"},
    {"SWIGLU_OAI", "Swish Mul Clip", true, "mlp"},
    {"GEGLU", "Gelu Mul", true, "mlp"},
    {"SILU", "Swish", false, NULL},
    {"GELU", "Gelu", false, NULL},
    {"RELU", "Relu", false, NULL},
    {"SQR", "Mul Pow", false, "mlp"},
    {"ADD", "Add", false, NULL},
    {"MUL", "Mul", false, NULL},
    {"DIV", "Div", false, NULL},
    {"SUM_ROWS", "ReduceSum", false, NULL},
    {"ARGSORT", "TopK", false, NULL},
    {"TOP_K", "TopK", false, NULL},
};
enum { KIND_ROWS = sizeof kind_rows / sizeof *kind_rows };

/* Kinds that an operator with weights is, by preference. */
static const struct {
    const char *op, *kinds;
} weighted_rows[] = {
    {"MUL_MAT", "MatMul Gemm Conv"}, {"MUL_MAT_ID", "MatMul Gemm Gather"},
    {"GET_ROWS", "Gather"},          {"ADD", "Add"},
    {"ADD_ID", "Add Gather"},        {"MUL", "RMSNormalization LayerNormalization Mul"},
};

typedef struct operator_map {
    const llama_layers_request *q;
    const generate_answer *a;
    const profile *p;
    int *block;      /* [layers] */
    uint32_t *taken; /* [blocks + 1][KIND_ROWS] operators of that row so far */
    int n_blocks;
    layer_span *spans; /* [nodes] */
    VEC(uint32_t) layers;
} operator_map;

/* ---- names ---- */

/* "model.layers.12.mlp" is of block 12. */
static int block_of_layer(str name)
{
    for (uint32_t i = 0; i + 1 < name.n; i++)
        if (name.p[i] == '.' && name.p[i + 1] >= '0' && name.p[i + 1] <= '9')
            return atoi(name.p + i + 1);
    return BLOCK_NONE;
}

/* "kq_soft_max-12 (view)" as well. */
static int block_of_node(str name)
{
    for (uint32_t i = name.n; i-- > 0;)
        if (i + 1 < name.n && name.p[i] == '-' && name.p[i + 1] >= '0' && name.p[i + 1] <= '9')
            return atoi(name.p + i + 1);
    return BLOCK_NONE;
}

static str without_ending(str name)
{
    static const char *const endings[] = {".weight", ".bias", "_bias"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(name, endings[i]))
            return (str){name.p, name.n - (uint32_t)strlen(endings[i])};
    return name;
}

/* The layer's name is that one, or goes on after it: "q_proj/add". */
static bool is_named(str layer, str name)
{
    return name.n && layer.n >= name.n && memcmp(layer.p, name.p, name.n) == 0 &&
           (layer.n == name.n || layer.p[name.n] == '/' || layer.p[name.n] == '.');
}

/* ---- operators with weights ---- */

static bool add_layer(operator_map *m, layer_span *span, uint32_t layer)
{
    if (!span->n)
        span->first = m->layers.n;
    span->n++;
    return VEC_ADD(m->q->work, &m->layers, layer);
}

static const char *weighted_kinds(str op)
{
    for (size_t i = 0; i < sizeof weighted_rows / sizeof *weighted_rows; i++)
        if (str_is(op, weighted_rows[i].op))
            return weighted_rows[i].kinds;
    return "";
}

/* A product with the embedding is the output of a model whose two are one. */
static bool add_output(operator_map *m, layer_span *span)
{
    for (uint32_t i = m->p->n_layers; i-- > 0;)
        if (str_in_list(m->p->layers[i].op, "MatMul Gemm", ' '))
            return add_layer(m, span, i);
    return true;
}

static bool map_weighted(operator_map *m, uint32_t node)
{
    const trace_node *t = &m->a->operators.nodes[node];
    str name = without_ending(m->q->checkpoint(m->q->ctx, m->a->weights[node]));
    const char *kinds = weighted_kinds(t->op);
    layer_span *span = &m->spans[node];
    bool ok = true;
    uint32_t any = m->p->n_layers;
    for (uint32_t i = 0; ok && i < m->p->n_layers; i++) {
        const profile_layer *l = &m->p->layers[i];
        if (!is_named(l->name, name))
            continue;
        any = any < m->p->n_layers ? any : i;
        if (str_in_list(l->op, kinds, ' '))
            ok = add_layer(m, span, i);
    }
    if (ok && !span->n && str_is(t->op, "MUL_MAT") && str_starts(m->a->weights[node], "token_embd"))
        return add_output(m, span);
    if (ok && !span->n && any < m->p->n_layers && !str_is(t->op, "MUL_MAT"))
        return add_layer(m, span, any);
    return ok;
}

/* ---- others ---- */

static bool fits(const operator_map *m, const kind_row *row, int block, uint32_t layer)
{
    const profile_layer *l = &m->p->layers[layer];
    return m->block[layer] == block && !l->parameters && str_in_list(l->op, row->kinds, ' ') &&
           (!row->module || str_contains(l->module, row->module));
}

static uint32_t count_fits(const operator_map *m, const kind_row *row, int block)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->p->n_layers; i++)
        n += fits(m, row, block, i);
    return n;
}

static bool map_by_row(operator_map *m, uint32_t node, size_t r, int block)
{
    const kind_row *row = &kind_rows[r];
    uint32_t *taken = &m->taken[(size_t)(block + 1) * KIND_ROWS + r], nth = (*taken)++, seen = 0;
    for (uint32_t i = 0; i < m->p->n_layers; i++)
        if (fits(m, row, block, i) && (row->all || seen++ == nth))
            if (!add_layer(m, &m->spans[node], i))
                return false;
    return true;
}

static bool map_plain(operator_map *m, uint32_t node, int block)
{
    str op = m->a->operators.nodes[node].op;
    if (block >= m->n_blocks)
        return true;
    for (size_t r = 0; r < KIND_ROWS; r++)
        if (str_is(op, kind_rows[r].op) && count_fits(m, &kind_rows[r], block))
            return map_by_row(m, node, r, block);
    return true;
}

static bool is_norm(str op)
{
    return str_is(op, "RMS_NORM") || str_is(op, "NORM");
}

/* The product with the weights of a norm comes next. */
static bool map_norms(operator_map *m)
{
    for (uint32_t i = 0; i + 1 < m->a->operators.n_nodes; i++)
        if (is_norm(m->a->operators.nodes[i].op) && !m->spans[i].n && m->a->weights[i + 1].n)
            m->spans[i] = m->spans[i + 1];
    return true;
}

static bool map_nodes(operator_map *m)
{
    int block = BLOCK_NONE;
    for (uint32_t i = 0; i < m->a->operators.n_nodes; i++) {
        const trace_node *t = &m->a->operators.nodes[i];
        int own = block_of_node(t->name);
        if (i && str_eq(t->name, m->a->operators.nodes[0].name)) /* the graph again: more tokens */
            memset(m->taken, 0, ((size_t)m->n_blocks + 1) * KIND_ROWS * sizeof *m->taken);
        /* Nodes without a block's number in their name ("node_25") are near those of their block. */
        block = own != BLOCK_NONE || str_starts(t->name, "result") ? own : block;
        bool ok = m->a->weights[i].n ? map_weighted(m, i)
                  : is_norm(t->op)   ? true
                                     : map_plain(m, i, block);
        if (!ok)
            return false;
    }
    return map_norms(m);
}

static bool map_make(operator_map *m)
{
    arena *work = m->q->work;
    m->block = ARENA_ARRAY(work, int, (size_t)m->p->n_layers + 1);
    for (uint32_t i = 0; m->block && i < m->p->n_layers; i++) {
        m->block[i] = block_of_layer(m->p->layers[i].name);
        m->n_blocks = m->block[i] >= m->n_blocks ? m->block[i] + 1 : m->n_blocks;
    }
    m->taken = ARENA_ARRAY(work, uint32_t, ((size_t)m->n_blocks + 1) * KIND_ROWS);
    m->spans = ARENA_ARRAY(work, layer_span, (size_t)m->a->operators.n_nodes + 1);
    return m->block && m->taken && m->spans && map_nodes(m);
}

/* ---- the ledger ---- */

static double median_of(const double *values, uint32_t n, arena *work)
{
    double *sorted = arena_copy(work, values, (size_t)n * sizeof *values);
    if (!sorted || !n)
        return 0;
    stats_sort(sorted, n);
    return stats_quantile(sorted, n, 0.5);
}

/* The fastest run of each kind: other programs only make runs slower. */
static double fastest_timed_us(const trace *t)
{
    double best = t->n_runs > 1 ? (double)t->runs[1].dur_us : 0;
    for (uint32_t i = 2; i < t->n_runs; i++)
        best = (double)t->runs[i].dur_us < best ? (double)t->runs[i].dur_us : best;
    return best;
}

static double fastest_plain_us(const generate_series *s)
{
    double best = s->n ? s->ms[0] : 0;
    for (uint32_t i = 1; i < s->n; i++)
        best = s->ms[i] < best ? s->ms[i] : best;
    return 1000 * best;
}

static profiler_bias bias_of(const generate_answer *a)
{
    uint32_t last = a->operators.n_runs ? a->operators.n_runs - 1 : 0;
    double kernels = a->operators.n_runs ? (double)a->operators.runs[last].n : 0;
    double more = fastest_timed_us(&a->operators) - fastest_plain_us(&a->prefill);
    return (profiler_bias){.inside_us = kernels > 0 && more > 0 ? more / kernels : 0};
}

static void count_kernels(const operator_map *m, profile_ledger *l)
{
    bool *hit = ARENA_ARRAY(m->q->work, bool, (size_t)m->p->n_layers + 1);
    l->kernels = m->a->operators.n_nodes;
    l->unmapped_layers = m->p->n_layers;
    for (uint32_t i = 0; i < m->a->operators.n_nodes; i++)
        l->fused_kernels += m->spans[i].n > 1;
    for (uint32_t i = 0; hit && i < m->layers.n; i++) {
        l->unmapped_layers -= !hit[m->layers.items[i]];
        hit[m->layers.items[i]] = true;
    }
}

assay_status llama_layers_fill(const llama_layers_request *of, profile *p, assay_error *err)
{
    const generate_answer *a = of->answer;
    operator_map m = {.q = of, .a = a, .p = p};
    double plain = median_of(a->prefill.ms, a->prefill.n, of->work);
    if (!map_make(&m))
        return err_no_memory(err);
    const layer_times_request q = {.trace = &a->operators,
                                   .warmup_runs = 1,
                                   .bias = bias_of(a),
                                   .of = p,
                                   .spans = m.spans,
                                   .layers = m.layers.items,
                                   .patterns = of->patterns,
                                   .latency_ms = plain};
    TRY(layer_times_fill(&q, of->work, p, err));
    count_kernels(&m, &p->measured->ledger);
    return ASSAY_OK;
}
