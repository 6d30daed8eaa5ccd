/* Text transformers: embeddings, tied heads, activations, MLPs. */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"

static const char *part(nn *b, const char *layer, const char *what)
{
    const char *name = arena_printf(b->scratch, "%s.%s", layer, what);
    return name ? name : what;
}

nn_t hf_embed(nn *b, const char *name, nn_t ids, int64_t n, int64_t dim, nn_t *weight)
{
    nn_t w = nn_param(b, part(b, name, "weight"), 2, (const int64_t[]){n, dim});
    if (weight)
        *weight = w;
    return nn_embedding(b, name, ids, n, dim);
}

/* Gemm takes the weight as the embedding holds it; a MatMul would need it turned. */
nn_t hf_tied(nn *b, const char *name, nn_t x, nn_t weight, nn_t bias)
{
    int64_t n = x.rank == 3 ? x.d[0] * x.d[1] : x.d[0], wide = weight.d[0];
    nn_t rows = x.rank == 3
                    ? nn_reshape(b, part(b, name, "rows"), x, 2, (const int64_t[]){n, weight.d[1]})
                    : x;
    nn_t out = NN_F32(n, wide);
    const nn_t in[] = {rows, weight, bias};
    nn_emit(b, &(nn_call){.op = "Gemm",
                          .name = name,
                          .module = true,
                          .in = in,
                          .n_in = bias.id == IR_NONE ? 2 : 3,
                          .out = &out,
                          .n_out = 1,
                          .attrs = &NN_INT("transB", 1),
                          .n_attrs = 1});
    if (x.rank != 3)
        return out;
    return nn_reshape(b, part(b, name, "reshape"), out, 3, (const int64_t[]){x.d[0], x.d[1], wide});
}

nn_t hf_conv1d(nn *b, const char *name, nn_t x, int64_t out_features)
{
    const int64_t dims[] = {x.d[x.rank - 1], out_features};
    nn_t in[] = {x, nn_param(b, part(b, name, "weight"), 2, dims)}, out = x;
    out.d[x.rank - 1] = out_features;
    nn_emit(b, &(nn_call){.op = "MatMul",
                          .name = name,
                          .module = true,
                          .in = in,
                          .n_in = 2,
                          .out = &out,
                          .n_out = 1});
    in[0] = out;
    in[1] = nn_param(b, part(b, name, "bias"), 1, &out_features);
    const char *add = arena_printf(b->scratch, "%s/add", name);
    nn_emit(
        b, &(nn_call){
               .op = "Add", .name = add, .of = name, .in = in, .n_in = 2, .out = &out, .n_out = 1});
    return out;
}

/* ---- activations ---- */

static const struct {
    const char *word, *op;
    bool tanh_form;
    double alpha;
} acts[] = {
    {"gelu", "Gelu", false, 0},
    {"gelu_python", "Gelu", false, 0},
    {"gelu_new", "Gelu", true, 0},
    {"gelu_fast", "Gelu", true, 0},
    {"gelu_pytorch_tanh", "Gelu", true, 0},
    {"gelu_accurate", "Gelu", true, 0},
    {"quick_gelu", "Swish", false, 1.702},
    {"silu", "Swish", false, 0},
    {"swish", "Swish", false, 0},
    {"relu", "Relu", false, 0},
    {"tanh", "Tanh", false, 0},
    {"sigmoid", "Sigmoid", false, 0},
};

nn_t hf_act(nn *b, const char *name, nn_t x, str word)
{
    if (str_is(word, "relu2")) {
        x = nn_act(b, "Relu", name, x);
        return nn_mul(b, arena_printf(b->scratch, "%s/square", name), x, x);
    }
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (!str_is(word, acts[i].word))
            continue;
        if (acts[i].tanh_form)
            return nn_gelu(b, name, x, true);
        if (acts[i].alpha != 0.0)
            return nn_one(b, acts[i].op, name, 1, &x, x, 1, &NN_FLOAT("alpha", acts[i].alpha));
        return nn_act(b, acts[i].op, name, x);
    }
    nn_refuse(b, "unknown activation '" STR_FMT "'", STR_ARG(word));
    return x;
}

/* ---- shapes ---- */

void hf_fused_heads(nn *b, nn_t x, int64_t heads, int64_t kv, nn_t out[3])
{
    static const char *const names[] = {"q", "k", "v"};
    int64_t group = kv > 0 ? heads / kv : 1, all = kv * (group + 2), dim = all ? x.d[2] / all : 1;
    if (nn_ok(b) && (kv < 1 || heads % kv || all < 1 || x.d[2] % all))
        nn_fail(b, "%lld features are not divisible into %lld heads and %lld key and value heads",
                (long long)x.d[2], (long long)heads, (long long)kv);
    nn_t y = nn_reshape(b, "qkv/reshape", x, 5,
                        (const int64_t[]){x.d[0], x.d[1], kv, group + 2, dim});
    for (int i = 0; i < 3; i++) {
        int64_t from = i ? group + i - 1 : 0, n = i ? kv : heads;
        nn_t part_of = nn_slice(b, names[i], y, 3, from, i ? from + 1 : group);
        part_of = nn_reshape(b, arena_printf(b->scratch, "%s/reshape", names[i]), part_of, 4,
                             (const int64_t[]){x.d[0], x.d[1], n, dim});
        out[i] = nn_transpose(b, arena_printf(b->scratch, "%s/transpose", names[i]), part_of,
                              (const int64_t[]){0, 2, 1, 3});
    }
}

void hf_parts(nn *b, const char *name, nn_t x, int n, const int64_t *sizes, nn_t *out)
{
    int axis = x.rank - 1;
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = x;
        out[i].d[axis] = sizes[i];
        sum += sizes[i];
    }
    if (nn_ok(b) && sum != x.d[axis])
        nn_fail(b, "layer '%s' is not divisible into its parts", nn_full_name(b, name).p);
    const nn_t in[] = {x, nn_ints_const(b, part(b, name, "sizes"), n, sizes)};
    nn_emit(b, &(nn_call){.op = "Split",
                          .name = name,
                          .in = in,
                          .n_in = 2,
                          .out = out,
                          .n_out = n,
                          .attrs = &NN_INT("axis", axis),
                          .n_attrs = 1});
}

/* ---- norms and MLPs ---- */

nn_t hf_rms_plus_one(nn *b, const char *name, nn_t x, double eps)
{
    nn_t weight = nn_param(b, part(b, name, "weight"), 1, &x.d[x.rank - 1]), out = x;
    nn_t one = nn_float_const(b, part(b, name, "one"), 1.0);
    nn_t factor = nn_add(b, part(b, name, "factor"), weight, one);
    const nn_attr attrs[] = {NN_INT("axis", -1), NN_FLOAT("epsilon", eps)};
    return nn_module(b, "RMSNormalization", name, 2, (const nn_t[]){x, factor}, out, 2, attrs);
}

nn_t hf_gated_mlp(nn *b, nn_t x, int64_t inner, bool bias, str act)
{
    int64_t width = x.d[x.rank - 1];
    nn_t gate = hf_act(b, "act_fn", nn_linear(b, "gate_proj", x, inner, bias), act);
    nn_t up = nn_linear(b, "up_proj", x, inner, bias);
    return nn_linear(b, "down_proj", nn_mul(b, "mul", gate, up), width, bias);
}

void hf_answers(nn *b, nn_t x)
{
    nn_t parts[2];
    nn_split(b, "split", nn_linear(b, "qa_outputs", x, 2, true), 2, 2, parts);
    nn_output(b, nn_squeeze(b, "start", parts[0], 2), "start_logits");
    nn_output(b, nn_squeeze(b, "end", parts[1], 2), "end_logits");
}
