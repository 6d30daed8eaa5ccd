/* FLUX.1 (diffusers' FluxTransformer2DModel): tokens of 2x2 latents; num_layers blocks of two streams that
 * attend jointly, then num_single_layers blocks of one stream whose attention and MLP run side by side.
 * Queries and keys are normalised and turned by the place: axes_dims_rope features for the kind (always 0),
 * the line and the column; the prompt stands at 0.
 *
 * The config says nothing of the image; sample_size is that of the latents (128 for 1024 pixels).
 */
#include "zoo/diffusion.h"

#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

typedef struct flux {
    dx d;
    int64_t head, width, heads, layers, single_layers;
    int64_t lines, columns, axes[3];
    nn_t time; /* [B, width], after SiLU */
    hf_rope rope;
} flux;

/* ---- places ---- */

/* Cosines or sines of `dim`/2 frequencies at 0 .. n-1. */
static nn_t turned(nn *b, const char *name, int axis, int64_t n, int64_t dim, bool sine)
{
    int64_t half = dim / 2;
    float *t = nn_ok(b) ? arena_alloc_array(b->scratch, (size_t)n * (size_t)half, sizeof *t) : NULL;
    for (int64_t i = 0; t && i < n; i++)
        for (int64_t k = 0; k < half; k++) {
            double at = (double)i / pow(10000.0, 2.0 * (double)k / (double)dim);
            t[i * half + k] = (float)(sine ? sin(at) : cos(at));
        }
    return dx_lines(b, name, axis, n, half, t);
}

/* [1, text + lines*columns, head/2]: the prompt, then the image line by line. */
static nn_t rotation(nn *b, const flux *m, int64_t text, bool sine)
{
    int64_t h = m->lines, w = m->columns, half = m->head / 2;
    nn_push(b, "pos_embed.%s", sine ? "sin" : "cos");
    nn_t parts[] = {turned(b, "kind", 2, 1, m->axes[0], sine),
                    turned(b, "line", 1, h, m->axes[1], sine),
                    turned(b, "column", 2, w, m->axes[2], sine)};
    for (int i = 0; i < 3; i++)
        parts[i] = dx_spread(b, "spread", parts[i], h, w);
    nn_t x = nn_reshape(b, "image", nn_concat(b, "cat", 3, parts, 3), 3,
                        (const int64_t[]){1, h * w, half});
    nn_t zero = nn_expand(b, "text",
                          nn_table_of(b, "zero", IR_FLOAT32, 3, (const int64_t[]){1, 1, 1},
                                      &(float){sine ? 0.0f : 1.0f}),
                          3, (const int64_t[]){1, text, half});
    x = nn_concat(b, "all", 2, (const nn_t[]){zero, x}, 1);
    if (m->time.d[0] != 1)
        x = nn_expand(b, "batch", x, 3, (const int64_t[]){m->time.d[0], x.d[1], half});
    return nn_leave(b, x);
}

/* ---- blocks ---- */

static nn_t head(nn *b, const flux *m, const char *linear, const char *norm, nn_t x)
{
    x = nn_split_heads(b, linear, nn_linear(b, linear, x, m->width, true), m->heads);
    return norm ? nn_rmsnorm(b, norm, x, 1e-6) : x;
}

static nn_t attend(nn *b, const flux *m, nn_t q, nn_t k, nn_t v)
{
    q = hf_rope_turn(b, "q/rotary", q, &m->rope);
    k = hf_rope_turn(b, "k/rotary", k, &m->rope);
    return dx_attend_heads(b, q, k, v);
}

static nn_t join(nn *b, const char *name, nn_t x, nn_t y, int axis)
{
    return nn_concat(b, name, 2, (const nn_t[]){x, y}, axis);
}

/* The prompt's tokens stand first. */
static nn_t joint_attention(nn *b, const flux *m, nn_t x, nn_t *context)
{
    int64_t text = context->d[1], all = text + x.d[1];
    nn_push(b, "attn");
    nn_t q = head(b, m, "to_q", "norm_q", x);
    q = join(b, "q/cat", head(b, m, "add_q_proj", "norm_added_q", *context), q, 2);
    nn_t k = head(b, m, "to_k", "norm_k", x);
    k = join(b, "k/cat", head(b, m, "add_k_proj", "norm_added_k", *context), k, 2);
    nn_t v = head(b, m, "to_v", NULL, x);
    v = join(b, "v/cat", head(b, m, "add_v_proj", NULL, *context), v, 2);
    nn_t y = attend(b, m, q, k, v);
    x = nn_linear(b, "to_out.0", nn_slice(b, "image", y, 1, text, all), m->width, true);
    *context = nn_linear(b, "to_add_out", nn_slice(b, "text", y, 1, 0, text), m->width, true);
    return nn_leave(b, x);
}

static nn_t stream(nn *b, flux *m, bool text, nn_t x, nn_t attended, const nn_t c[6])
{
    x = dx_gated(b, text ? "context/add_1" : "add_1", x, c[2], attended);
    nn_t y = dx_norm(&m->d, text ? "norm2_context" : "norm2", x, 1e-6);
    y = dx_modulate(b, text ? "context/modulate_2" : "modulate_2", y, c[4], c[3]);
    y = dx_feed_forward(b, text ? "ff_context" : "ff", y, STR("gelu-approximate"));
    return dx_gated(b, text ? "context/add_2" : "add_2", x, c[5], y);
}

static nn_t double_block(nn *b, flux *m, nn_t x, nn_t *context)
{
    nn_t c[6], t[6];
    dx_adaptive(b, "norm1", m->time, m->width, 6, c);
    dx_adaptive(b, "norm1_context", m->time, m->width, 6, t);
    nn_t y = dx_modulate(b, "modulate_1", dx_norm(&m->d, "norm1.norm", x, 1e-6), c[1], c[0]);
    nn_t z = dx_norm(&m->d, "norm1_context.norm", *context, 1e-6);
    z = dx_modulate(b, "context/modulate_1", z, t[1], t[0]);
    y = joint_attention(b, m, y, &z);
    x = stream(b, m, false, x, y, c);
    *context = stream(b, m, true, *context, z, t);
    return x;
}

static nn_t single_block(nn *b, flux *m, nn_t x)
{
    nn_t c[3]; /* shift, scale, gate */
    dx_adaptive(b, "norm", m->time, m->width, 3, c);
    nn_t y = dx_modulate(b, "modulate", dx_norm(&m->d, "norm.norm", x, 1e-6), c[1], c[0]);
    nn_t wide = nn_linear(b, "proj_mlp", y, 4 * m->width, true);
    wide = nn_gelu(b, "act_mlp", wide, true);
    nn_push(b, "attn");
    nn_t q = head(b, m, "to_q", "norm_q", y), k = head(b, m, "to_k", "norm_k", y);
    nn_t v = head(b, m, "to_v", NULL, y);
    y = attend(b, m, q, k, v);
    nn_pop(b);
    y = nn_linear(b, "proj_out", join(b, "cat", y, wide, 2), m->width, true);
    return dx_gated(b, "add", x, c[2], y);
}

/* ---- ends ---- */

static nn_t wave_part(nn *b, const char *input, const char *name, const flux *m, int64_t batch)
{
    nn_t t = nn_scale(b, arena_printf(b->scratch, "%s/scale", name),
                      dx_scalar_input(b, input, batch), 1000.0);
    t = dx_waves(b, arena_printf(b->scratch, "%s/waves", name), t, 256, true, 0.0);
    return dx_mlp(b, name, t, m->width, m->width, "silu");
}

static nn_t time_text(nn *b, const flux *m, int64_t batch)
{
    int64_t pooled = nn_int_in(b, "pooled_projection_dim", 768, 1, 1 << 20);
    nn_t p = nn_input(b, "pooled_projections", IR_FLOAT32, 2, (const int64_t[]){batch, pooled});
    nn_push(b, "time_text_embed");
    nn_t t = wave_part(b, "timestep", "timestep_embedder", m, batch);
    if (nn_bool(b, "guidance_embeds", false))
        t = nn_add(b, "add_guidance", t, wave_part(b, "guidance", "guidance_embedder", m, batch));
    p = dx_mlp(b, "text_embedder", p, m->width, m->width, "silu");
    return nn_leave(b, nn_plain(b, "Swish", "silu", nn_add(b, "add", t, p)));
}

static void read_flux(nn *b, flux *m)
{
    static const int64_t axes[] = {16, 56, 56};
    int64_t sides[2], patch = nn_int_in(b, "patch_size", 1, 1, 64);
    *m = (flux){.d = DX(b)};
    dx_ignore(b);
    dx_sides(b, 128, sides);
    m->heads = nn_int_in(b, "num_attention_heads", 24, 1, 1 << 12);
    m->head = nn_int_in(b, "attention_head_dim", 128, 2, 1 << 12);
    m->width = m->heads * m->head;
    m->layers = nn_int_in(b, "num_layers", 19, 0, 10000);
    m->single_layers = nn_int_in(b, "num_single_layers", 38, 0, 10000);
    m->lines = sides[0] / 2;
    m->columns = sides[1] / 2;
    int n = nn_ints_in(b, "axes_dims_rope", axes, 3, m->axes, 3, 2, 1 << 12);
    if (nn_ok(b) && (n != 3 || m->axes[0] + m->axes[1] + m->axes[2] != m->head || m->axes[0] % 2 ||
                     m->axes[1] % 2 || m->axes[2] % 2))
        nn_fail(b, "axes_dims_rope must be three even numbers that add up to attention_head_dim");
    if (nn_ok(b) && (patch != 1 || m->lines < 1 || m->columns < 1))
        nn_fail(b, "patch_size must be 1 and sample_size at least 2");
}

static nn_t blocks(nn *b, flux *m, nn_t x, nn_t context)
{
    int64_t text = context.d[1];
    for (int i = 0; i < (int)m->layers && nn_ok(b); i++)
        x = NN_UNDER(b, double_block(b, m, x, &context), "transformer_blocks.%d", i);
    x = join(b, "cat", context, x, 1);
    for (int i = 0; i < (int)m->single_layers && nn_ok(b); i++)
        x = NN_UNDER(b, single_block(b, m, x), "single_transformer_blocks.%d", i);
    return nn_slice(b, "image", x, 1, text, x.d[1]);
}

static void build(nn *b)
{
    flux m;
    nn_t c[2]; /* scale, shift */
    read_flux(b, &m);
    int64_t in = nn_int_in(b, "in_channels", 64, 1, 1 << 16);
    int64_t out = nn_int_in(b, "out_channels", in, 1, 1 << 16);
    int64_t from = nn_int_in(b, "joint_attention_dim", 4096, 1, 1 << 20);
    int64_t tokens = nn_int_in(b, "seq_len", 512, 1, 1 << 20);
    nn_t x = nn_input(b, "hidden_states", IR_FLOAT32, 3,
                      (const int64_t[]){1, m.lines * m.columns, in});
    if (nn_ok(b) && x.d[1] != m.lines * m.columns)
        nn_fail(b, "hidden_states must have one token per 2x2 latents of sample_size %lld",
                (long long)(m.lines * m.columns));
    nn_t context = nn_input(b, "encoder_hidden_states", IR_FLOAT32, 3,
                            (const int64_t[]){x.d[0], tokens, from});
    m.time = time_text(b, &m, x.d[0]);
    m.rope = (hf_rope){.cos = rotation(b, &m, context.d[1], false),
                       .sin = rotation(b, &m, context.d[1], true),
                       .dim = m.head,
                       .head = m.head,
                       .interleaved = true};
    context = nn_linear(b, "context_embedder", context, m.width, true);
    x = blocks(b, &m, nn_linear(b, "x_embedder", x, m.width, true), context);
    dx_adaptive(b, "norm_out", m.time, m.width, 2, c);
    x = dx_modulate(b, "norm_out/modulate", dx_norm(&m.d, "norm_out.norm", x, 1e-6), c[0], c[1]);
    nn_output(b, nn_linear(b, "proj_out", x, out, true), "output");
}

#define ROW(name_, alias, set) \
    ZOO_ROW(name_, alias, "FluxTransformer2DModel", "diffusion", build, set)

static const zoo_row rows[] = {
    ROW("flux-dev", "flux.1-dev flux", "guidance_embeds=true seq_len=512" ZOO_BF16),
    ROW("flux-schnell", "flux.1-schnell", "guidance_embeds=false seq_len=256" ZOO_BF16),
};
const zoo_rows zoo_flux_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {ROW("FluxTransformer2DModel", NULL, "guidance_embeds=false")};
const zoo_rows zoo_flux_families = ZOO_ROWS(families);
