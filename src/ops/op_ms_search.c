/* com.microsoft text generation as one node: BeamSearch, WhisperBeamSearch, GreedySearch, Sampling.
 * The models they run are graphs in attributes:
 *
 *   encoder       once, on the node's first input
 *   init_decoder  once, on the whole prompt (decoder-only models)
 *   decoder       once per token that is generated
 *
 * Tokens generated: max_length less the prompt (decoder-only) or less the start token. A step is
 * counted at its longest, with the cache of max_length - 1 tokens, and no early stop: assumptions,
 * booked. Sizes of the graphs' inputs that are only named are filled in from the names and ranks
 * that ONNX Runtime asks for.
 */
#include "ops/op_util_info.h"
#include "ops/op_util_ms.h"

typedef struct search {
    int64_t batch, beams, returned;
    int64_t prompt;  /* tokens of the input */
    int64_t source;  /* tokens that the encoder gives */
    int64_t longest; /* max_length; -1 unknown */
    int64_t vocabulary;
} search;

/* One way to run a graph. */
typedef struct feed {
    int64_t rows;   /* batch, times beams in the decoder */
    int64_t tokens; /* fed at once */
    int64_t past;   /* in the cache */
    int64_t source;
    bool encoder;
} feed;

static int64_t number_at(const op_ctx *c, uint32_t i, int64_t otherwise)
{
    int64_t v;
    return op_int_at(c, i, 0, &v) && v > 0 ? v : otherwise;
}

static bool is_beam(const op_ctx *c)
{
    return str_contains(c->node->op, "BeamSearch");
}

static void read_search(const op_ctx *c, search *s)
{
    bool beam = is_beam(c);
    s->batch = op_dim(c, 0, 0);
    s->prompt = s->source = op_dim(c, 0, 1);
    s->longest = number_at(c, 1, -1);
    s->beams = beam ? number_at(c, 3, -1) : 1;
    s->returned = beam ? number_at(c, 4, -1) : 1;
    s->vocabulary = op_attr_int(c, "vocab_size", -1);
    if (s->vocabulary <= 0)
        s->vocabulary = -1;
}

/* ---- sizes of a graph's formal inputs ---- */

static int64_t row_length(str name, const feed *f)
{
    if (f->encoder)
        return str_starts(name, "decoder_") ? 1 : f->source;
    if (str_starts(name, "encoder_"))
        return f->source;
    return str_contains(name, "mask") ? ms_dim_add(f->past, f->tokens) : f->tokens;
}

static int64_t size_for(str name, int rank, int axis, const feed *f)
{
    switch (rank) {
    case 1:
        return 1;
    case 2:
        return axis == 0 ? f->rows : row_length(name, f);
    case 3:
        return axis == 0 ? f->rows : axis == 1 ? f->source : -1;
    case 4:
        return axis == 0                     ? f->rows
               : axis != 2                   ? -1
               : str_contains(name, "cross") ? f->source
                                             : f->past;
    case 5:
        return axis == 1 ? f->rows : axis == 3 ? f->past : -1;
    default:
        return -1;
    }
}

static assay_status fill_input(op_ctx *c, ir_id value, const feed *f, op_info *x)
{
    const ir_value *v = ir_value_at(c->model, value);
    TRY(op_info_of_type(c, &v->declared, x));
    if (x->kind != IR_KIND_TENSOR || x->rank <= 0)
        return ASSAY_OK;
    int64_t *dims = arena_copy(c->arena, x->dims, (size_t)x->rank * sizeof *dims);
    TRY_MEMORY(dims, c->err);
    for (int d = 0; d < x->rank; d++)
        if (dims[d] < 0)
            dims[d] = size_for(v->name, x->rank, d, f);
    x->dims = dims;
    return ASSAY_OK;
}

/* Infers a graph and says how often it runs; *out holds its outputs. */
static assay_status run_graph(op_ctx *c, ir_id graph, const feed *f, uint64_t times, op_info **out)
{
    const ir_graph *g = ir_graph_at(c->model, graph);
    uint32_t n_in = g->inputs.n, n_out = g->outputs.n;
    op_info *in = ARENA_ARRAY(c->arena, op_info, (size_t)n_in + 1);
    *out = ARENA_ARRAY(c->arena, op_info, (size_t)n_out + 1);
    TRY_MEMORY(in && *out, c->err);
    for (uint32_t i = 0; i < n_in; i++)
        TRY(fill_input(c, g->inputs.items[i], f, &in[i]));
    if (f->encoder && n_in > 0 && op_has(c, 0))
        in[0] = op_info_input(c, 0);
    TRY(c->env->graph(c->env, c, graph, in, n_in, *out, n_out, c->err));
    c->env->times(c->env, graph, times);
    return ASSAY_OK;
}

/* ---- the three graphs ---- */

/* What the decoder attends to: the length of the encoder's hidden states or cross keys. */
static void encoded_length(const op_ctx *c, ir_id graph, const op_info *out, search *s)
{
    const ir_graph *g = ir_graph_at(c->model, graph);
    for (uint32_t o = 0; o < g->outputs.n; o++) {
        str name = ir_value_at(c->model, g->outputs.items[o])->name;
        if (out[o].rank == 3 && str_contains(name, "hidden") && out[o].dims[1] >= 0)
            s->source = out[o].dims[1];
        else if (out[o].rank == 4 && str_contains(name, "cross") && out[o].dims[2] >= 0)
            s->source = out[o].dims[2];
    }
}

static assay_status run_encoder(op_ctx *c, ir_id graph, search *s)
{
    op_info *out;
    feed f = {.rows = s->batch, .source = s->source, .encoder = true};
    TRY(run_graph(c, graph, &f, 1, &out));
    encoded_length(c, graph, out, s);
    return ASSAY_OK;
}

static uint64_t steps_of(const search *s, bool encoded, bool started)
{
    int64_t fed = encoded ? 1 : s->prompt;
    if (s->longest < 0 || fed < 0)
        return 1;
    int64_t steps = s->longest > fed ? s->longest - fed : 0;
    return started && steps > 0 ? (uint64_t)steps - 1 : (uint64_t)steps;
}

static assay_status run_decoders(op_ctx *c, bool encoded, search *s)
{
    ir_id first = op_attr_graph(c, "init_decoder"), decoder = op_attr_graph(c, "decoder");
    int64_t rows = ms_dim_mul(s->batch, s->beams);
    op_info *out;
    if (decoder == IR_NONE)
        return op_fail(c, "no 'decoder' graph");
    if (first != IR_NONE) {
        feed prompt = {.rows = rows, .tokens = s->prompt, .past = 0, .source = s->source};
        TRY(run_graph(c, first, &prompt, 1, &out));
    }
    feed step = {.rows = rows,
                 .tokens = 1,
                 .past = s->longest > 0 ? s->longest - 1 : -1,
                 .source = s->source};
    TRY(run_graph(c, decoder, &step, steps_of(s, encoded, first != IR_NONE), &out));
    if (s->vocabulary < 0 && ir_graph_at(c->model, decoder)->outputs.n > 0 && out[0].rank > 0)
        s->vocabulary = out[0].dims[out[0].rank - 1];
    return ASSAY_OK;
}

/* ---- outputs ---- */

static assay_status beam_outputs(op_ctx *c, const search *s)
{
    ir_dtype t = op_has(c, 5) ? op_dtype(c, 5) : IR_FLOAT32;
    int64_t steps = s->longest >= 0 && s->prompt >= 0 && s->longest >= s->prompt
                        ? s->longest - s->prompt
                        : -1;
    if (op_rank(c, 0) == 3)
        steps = -1;
    TRY(op_set(c, 0, IR_INT32, 3, (int64_t[]){s->batch, s->returned, s->longest}));
    TRY(op_set(c, 1, t, 2, (int64_t[]){s->batch, s->returned}));
    TRY(op_set(c, 2, t, 4, (int64_t[]){steps, s->batch, s->beams, s->vocabulary}));
    TRY(op_set_unknown(c, 3, IR_FLOAT32));
    return op_set(c, 4, t, 1, &s->batch);
}

static assay_status sequence_outputs(op_ctx *c, const search *s)
{
    TRY(op_set(c, 0, IR_INT32, 2, (int64_t[]){s->batch, s->longest}));
    return op_set(c, 1, IR_FLOAT32, 2, (int64_t[]){s->batch, s->vocabulary});
}

static assay_status search_infer(op_ctx *c)
{
    search s;
    read_search(c, &s);
    ir_id encoder = op_attr_graph(c, "encoder");
    if (encoder != IR_NONE)
        TRY(run_encoder(c, encoder, &s));
    TRY(run_decoders(c, encoder != IR_NONE, &s));
    TRY(is_beam(c) ? beam_outputs(c, &s) : sequence_outputs(c, &s));
    if (s.longest < 0)
        op_assume(c, "max_length is unknown; one decoder step was counted");
    else
        op_assume(c, "max_length tokens were counted, each with the longest cache");
    return ASSAY_OK;
}

#define SEARCH(op, few, many, outs)                                                              \
    {                                                                                            \
        OP_ROW(MS_DOMAIN, op, "generation", "1",                                                 \
               "the encoder's and first decoder's cost + the decoder's cost * tokens generated", \
               search_infer, op_cost_free),                                                      \
            OP_SLOTS(few, many, 1, outs), .aux = 0xffff, .flags = OPF_CONTROL | OPF_NO_SHAPES    \
    }

static const op_row rows[] = {
    SEARCH("BeamSearch", 5, 12, 3),
    SEARCH("WhisperBeamSearch", 5, 15, 5),
    SEARCH("GreedySearch", 2, 7, 1),
    SEARCH("Sampling", 2, 9, 2),
};
const op_rows op_ms_search_rows = OP_ROWS(rows);
