/* Parts of denoisers; see the header. */
#include "zoo/diffusion.h"

#include <math.h>

#include "zoo/nn_impl.h"

static const char *const ignored[] = {
    "_class_name",
    "_diffusers_version",
    "_name_or_path",
    "act_fn",
    "attention_dropout",
    "center_input_sample",
    "dropout",
    "force_upcast",
    "latents_mean",
    "latents_std",
    "mid_block_scale_factor",
    "scaling_factor",
    "shift_factor",
    "upcast_attention",
    "num_train_timesteps",
    "attention_type",
    "_commit_hash",
    "double_self_attention",
    "num_vector_embeds",
    "model_type",
    "architectures",
};

void dx_ignore(nn *b)
{
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        zoo_arg *arg = zoo_args_get(&b->args, ignored[i]);
        if (arg)
            arg->used = true;
    }
}

static void sides(nn *b, const char *key, int64_t def, int64_t out[2])
{
    int n = nn_ints_in(b, key, &def, 1, out, 2, 1, DX_SIDE);
    if (n == 1)
        out[1] = out[0];
    else if (n != 2)
        out[0] = out[1] = 1;
}

void dx_made_for(nn *b, int64_t def, int64_t out[2])
{
    sides(b, "sample_size", def, out);
}

void dx_sides(nn *b, int64_t def, int64_t out[2])
{
    dx_made_for(b, def, out);
    if (nn_has(b, "latent_size"))
        sides(b, "latent_size", def, out);
}

nn_t dx_scalar_input(nn *b, const char *name, int64_t batch)
{
    return nn_input(b, name, IR_FLOAT32, 1, &batch);
}

static const char *sub(nn *b, const char *name, const char *what)
{
    const char *s = arena_printf(b->scratch, "%s/%s", name, what);
    return s ? s : what;
}

/* ---- conditions ---- */

nn_t dx_waves(nn *b, const char *name, nn_t t, int64_t dim, bool flip, double shift)
{
    int64_t half = dim / 2;
    double *f = nn_ok(b) && half > 0 ? ARENA_ARRAY(b->scratch, double, (size_t)half) : NULL;
    for (int64_t i = 0; f && i < half; i++)
        f[i] = exp(-log(10000.0) * (double)i / ((double)half - shift));
    t = nn_unsqueeze(b, sub(b, name, "unsqueeze"), t, t.rank);
    if (!f)
        return nn_harmless(t);
    nn_t freq = nn_floats_const(b, sub(b, name, "frequencies"), (int)half, f);
    nn_t angles = nn_mul(b, sub(b, name, "angles"), t, freq);
    nn_t s = nn_plain(b, "Sin", sub(b, name, "sin"), angles);
    nn_t c = nn_plain(b, "Cos", sub(b, name, "cos"), angles);
    return nn_concat(b, name, 2, (const nn_t[]){flip ? c : s, flip ? s : c}, angles.rank - 1);
}

nn_t dx_mlp(nn *b, const char *name, nn_t x, int64_t hidden, int64_t out, const char *act)
{
    nn_push(b, "%s", name);
    x = nn_linear(b, "linear_1", x, hidden, true);
    x = strcmp(act, "silu") == 0 ? nn_act(b, "Swish", "act", x) : nn_gelu(b, "act_1", x, true);
    return nn_leave(b, nn_linear(b, "linear_2", x, out, true));
}

nn_t dx_norm(dx *d, const char *name, nn_t x, double eps)
{
    nn *b = d->b;
    int64_t n = x.rank > 0 ? x.d[x.rank - 1] : 1;
    if (nn_ok(b) && (d->ones.id == IR_NONE || d->ones.d[0] != n)) {
        float *ones = ARENA_ARRAY(b->scratch, float, (size_t)n);
        for (int64_t i = 0; ones && i < n; i++)
            ones[i] = 1.0f;
        d->ones = nn_table_of(b, "norm.ones", IR_FLOAT32, 1, &n, ones);
    }
    const nn_attr attrs[] = {NN_INT("axis", -1), NN_FLOAT("epsilon", eps)};
    return nn_one(b, "LayerNormalization", name, 2, (const nn_t[]){x, d->ones}, x, 2, attrs);
}

void dx_chunks(nn *b, const char *name, nn_t x, int n, nn_t *out)
{
    nn_t parts[DX_PARTS];
    nn_split(b, name, nn_unsqueeze(b, sub(b, name, "unsqueeze"), x, 1), 2, n, parts);
    for (int i = 0; i < n; i++)
        out[i] = parts[i];
}

nn_t dx_modulate(nn *b, const char *name, nn_t x, nn_t scale, nn_t shift)
{
    nn_t one = nn_float_const(b, sub(b, name, "one"), 1.0);
    nn_t by = nn_binary(b, "Add", sub(b, name, "plus_one"), scale, one);
    return nn_add(b, sub(b, name, "shift"), nn_mul(b, name, x, by), shift);
}

nn_t dx_gated(nn *b, const char *name, nn_t x, nn_t gate, nn_t y)
{
    return nn_add(b, name, x, nn_mul(b, sub(b, name, "gate"), gate, y));
}

/* ---- attention ---- */

nn_t dx_attend_heads(nn *b, nn_t q, nn_t k, nn_t v)
{
    return nn_unheads(b, nn_attention(b, "attention", q, k, v, NN_ABSENT, 0.0, false));
}

nn_t dx_attend(nn *b, nn_t q, nn_t k, nn_t v, int64_t heads)
{
    q = nn_split_heads(b, "q", q, heads);
    k = nn_split_heads(b, "k", k, heads);
    v = nn_split_heads(b, "v", v, heads);
    return dx_attend_heads(b, q, k, v);
}

nn_t dx_attention(nn *b, const char *name, nn_t x, nn_t context, int64_t heads, bool bias)
{
    int64_t width = x.d[x.rank - 1];
    nn_push(b, "%s", name);
    nn_t q = nn_linear(b, "to_q", x, width, bias);
    nn_t k = nn_linear(b, "to_k", context, width, bias);
    nn_t v = nn_linear(b, "to_v", context, width, bias);
    return nn_leave(b, nn_linear(b, "to_out.0", dx_attend(b, q, k, v, heads), width, true));
}

nn_t dx_feed_forward(nn *b, const char *name, nn_t x, str act)
{
    int64_t width = x.d[x.rank - 1], inner = 4 * width;
    nn_push(b, "%s", name);
    if (str_is(act, "geglu")) {
        nn_t parts[2];
        nn_split(b, "net.0/split", nn_linear(b, "net.0.proj", x, 2 * inner, true), x.rank - 1, 2,
                 parts);
        nn_t gate = nn_gelu(b, "net.0/gelu", parts[1], false);
        x = nn_mul(b, "net.0/mul", parts[0], gate);
    } else if (str_is(act, "gelu") || str_is(act, "gelu-approximate")) {
        x = nn_linear(b, "net.0.proj", x, inner, true);
        x = nn_gelu(b, "net.0/gelu", x, act.n > 4);
    } else {
        nn_fail(b,
                "unsupported feed-forward activation '" STR_FMT
                "'. Use geglu, gelu or gelu-approximate.",
                STR_ARG(act));
    }
    return nn_leave(b, nn_linear(b, "net.2", x, width, true));
}

/* ---- patches ---- */

nn_t dx_patches(nn *b, const char *name, nn_t x, int64_t patch, int64_t dim)
{
    if (nn_ok(b) && (x.d[2] % patch || x.d[3] % patch))
        nn_fail(b, "%lldx%lld latents are not divisible into patches of %lld", (long long)x.d[2],
                (long long)x.d[3], (long long)patch);
    x = NN_CONV(b, name, x, .out = dim, .k = patch, .stride = patch);
    return nn_swap(b, sub(b, name, "transpose"), nn_flatten(b, sub(b, name, "flatten"), x, 2));
}

nn_t dx_unpatch(nn *b, nn_t x, int64_t h, int64_t w, int64_t patch)
{
    int64_t channels = x.d[2] / (patch * patch);
    const int64_t apart[] = {x.d[0], h, w, patch, patch, channels};
    const int64_t whole[] = {x.d[0], channels, h * patch, w * patch};
    x = nn_reshape(b, "unpatchify/split", x, 6, apart);
    x = nn_transpose(b, "unpatchify/transpose", x, (const int64_t[]){0, 5, 1, 3, 2, 4});
    return nn_reshape(b, "unpatchify", x, 4, whole);
}

/* ---- places ---- */

nn_t dx_lines(nn *b, const char *name, int axis, int64_t n, int64_t width, const float *values)
{
    int64_t dims[4] = {1, 1, 1, width};
    dims[axis] = n;
    return nn_table_of(b, name, IR_FLOAT32, 4, dims, values);
}

nn_t dx_spread(nn *b, const char *name, nn_t x, int64_t h, int64_t w)
{
    return nn_expand(b, name, x, 4, (const int64_t[]){1, h, w, x.d[3]});
}

/* Sines of all frequencies, then their cosines. */
static float *place_table(nn *b, int64_t n, int64_t width, double step)
{
    int64_t half = width / 2;
    float *t = nn_ok(b) ? arena_alloc_array(b->scratch, (size_t)n * (size_t)width, sizeof *t)
                        : NULL;
    for (int64_t i = 0; t && i < n; i++)
        for (int64_t k = 0; k < half; k++) {
            double at = (double)i * step / pow(10000.0, (double)k / (double)half);
            t[i * width + k] = (float)sin(at);
            t[i * width + half + k] = (float)cos(at);
        }
    return t;
}

/* The library's table has the column in its first half. */
nn_t dx_places(nn *b, int64_t h, int64_t w, int64_t dim, double base, double scale)
{
    int64_t half = dim / 2;
    if (nn_ok(b) && (dim % 4 || h < 1 || w < 1 || h > DX_SIDE || w > DX_SIDE))
        nn_fail(b, "%lldx%lld positions do not fit %lld features", (long long)h, (long long)w,
                (long long)dim);
    nn_t x = dx_lines(b, "pos_embed.columns", 2, w, half,
                      place_table(b, w, half, base / (double)w / scale));
    nn_t y = dx_lines(b, "pos_embed.lines", 1, h, half,
                      place_table(b, h, half, base / (double)h / scale));
    const nn_t parts[] = {dx_spread(b, "pos_embed/columns", x, h, w),
                          dx_spread(b, "pos_embed/lines", y, h, w)};
    x = nn_concat(b, "pos_embed/cat", 2, parts, 3);
    return nn_reshape(b, "pos_embed/reshape", x, 3, (const int64_t[]){1, h * w, dim});
}

void dx_adaptive(nn *b, const char *name, nn_t time, int64_t width, int n, nn_t *out)
{
    nn_push(b, "%s", name);
    dx_chunks(b, "chunk", nn_linear(b, "linear", time, n * width, true), n, out);
    nn_pop(b);
}
