/* Stable Diffusion 3 and 3.5 (diffusers' SD3Transformer2DModel): image and prompt as two streams with
 * weights of their own that attend to each other jointly.
 *
 *   pos_embed (a stored table of pos_embed_max_size^2 places, cut to the middle), time_text_embed,
 *   context_embedder; transformer_blocks.N: norm1 and norm1_context make shifts, scales and gates of the
 *   condition, attn joins both, ff and ff_context; the last block drops the prompt. Blocks of
 *   dual_attention_layers (3.5-medium) have a second attention of the image alone.
 */
#include "zoo/diffusion.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

enum { DUAL = 256 };

typedef struct mmdit {
    dx d;
    int64_t patch, width, heads, layers, context_width, out;
    int64_t dual[DUAL];
    int n_dual;
    bool qk_norm;
    nn_t time; /* [B, width], after SiLU */
} mmdit;

static nn_t head(nn *b, const mmdit *m, const char *linear, const char *norm, nn_t x)
{
    x = nn_split_heads(b, linear, nn_linear(b, linear, x, m->width, true), m->heads);
    return norm && m->qk_norm ? nn_rmsnorm(b, norm, x, 1e-6) : x;
}

static nn_t join(nn *b, const char *name, nn_t x, nn_t y)
{
    return nn_concat(b, name, 2, (const nn_t[]){x, y}, 2);
}

/* The image's tokens stand first. */
static nn_t joint_attention(nn *b, const mmdit *m, nn_t x, nn_t *context, bool last)
{
    int64_t tokens = x.d[1], all = tokens + context->d[1];
    nn_push(b, "attn");
    nn_t q = head(b, m, "add_q_proj", "norm_added_q", *context);
    q = join(b, "q/cat", head(b, m, "to_q", "norm_q", x), q);
    nn_t k = head(b, m, "add_k_proj", "norm_added_k", *context);
    k = join(b, "k/cat", head(b, m, "to_k", "norm_k", x), k);
    nn_t v = head(b, m, "add_v_proj", NULL, *context);
    v = join(b, "v/cat", head(b, m, "to_v", NULL, x), v);
    nn_t y = dx_attend_heads(b, q, k, v);
    x = nn_linear(b, "to_out.0", nn_slice(b, "image", y, 1, 0, tokens), m->width, true);
    if (!last)
        *context = nn_linear(b, "to_add_out", nn_slice(b, "text", y, 1, tokens, all),
                             m->context_width, true);
    return nn_leave(b, x);
}

static nn_t image_attention(nn *b, const mmdit *m, nn_t x)
{
    nn_push(b, "attn2");
    nn_t q = head(b, m, "to_q", "norm_q", x), k = head(b, m, "to_k", "norm_k", x);
    nn_t v = head(b, m, "to_v", NULL, x);
    return nn_leave(b, nn_linear(b, "to_out.0", dx_attend_heads(b, q, k, v), m->width, true));
}

static bool is_dual(const mmdit *m, int layer)
{
    for (int i = 0; i < m->n_dual; i++)
        if (m->dual[i] == layer)
            return true;
    return false;
}

/* shift, scale and gate of attention, of the feed-forward part, and of the second attention. */
static nn_t stream(nn *b, mmdit *m, const char *of, nn_t x, nn_t attended, const nn_t c[6])
{
    const char *norm = *of ? "norm2_context" : "norm2", *ff = *of ? "ff_context" : "ff";
    x = dx_gated(b, *of ? "context/add_1" : "add_1", x, c[2], attended);
    nn_t y = dx_norm(&m->d, norm, x, 1e-6);
    y = dx_modulate(b, *of ? "context/modulate_2" : "modulate_2", y, c[4], c[3]);
    y = dx_feed_forward(b, ff, y, STR("gelu-approximate"));
    return dx_gated(b, *of ? "context/add_2" : "add_2", x, c[5], y);
}

static nn_t block(nn *b, mmdit *m, int layer, nn_t x, nn_t *context)
{
    nn_t c[9], t[6], attended_text;
    bool last = layer + 1 == (int)m->layers, dual = is_dual(m, layer);
    dx_adaptive(b, "norm1", m->time, m->width, dual ? 9 : 6, c);
    dx_adaptive(b, "norm1_context", m->time, m->width, last ? 2 : 6, t);
    nn_t normed = dx_norm(&m->d, "norm1.norm", x, 1e-6);
    nn_t y = dx_modulate(b, "modulate_1", normed, c[1], c[0]);
    attended_text = dx_norm(&m->d, "norm1_context.norm", *context, 1e-6);
    attended_text = dx_modulate(b, "context/modulate_1", attended_text, t[last ? 0 : 1],
                                t[last ? 1 : 0]);
    y = joint_attention(b, m, y, &attended_text, last);
    if (dual) {
        nn_t second = dx_modulate(b, "modulate_3", normed, c[7], c[6]);
        x = dx_gated(b, "add_1", x, c[2], y);
        x = dx_gated(b, "add_3", x, c[8], image_attention(b, m, second));
        y = dx_modulate(b, "modulate_2", dx_norm(&m->d, "norm2", x, 1e-6), c[4], c[3]);
        x = dx_gated(b, "add_2", x, c[5], dx_feed_forward(b, "ff", y, STR("gelu-approximate")));
    } else {
        x = stream(b, m, "", x, y, c);
    }
    if (!last)
        *context = stream(b, m, "context", *context, attended_text, t);
    return x;
}

/* ---- ends ---- */

static nn_t cut_places(nn *b, const mmdit *m, int64_t h, int64_t w)
{
    int64_t max = nn_int_in(b, "pos_embed_max_size", 96, 1, 4096);
    if (nn_ok(b) && (h > max || w > max))
        nn_fail(b, "%lldx%lld patches exceed pos_embed_max_size %lld", (long long)h, (long long)w,
                (long long)max);
    int64_t top = (max - h) / 2, left = (max - w) / 2;
    nn_t x = nn_buffer(b, "pos_embed.pos_embed", 3, (const int64_t[]){1, max * max, m->width});
    x = nn_reshape(b, "pos_embed/grid", x, 4, (const int64_t[]){1, max, max, m->width});
    x = nn_slice(b, "pos_embed/lines", x, 1, top, top + h);
    x = nn_slice(b, "pos_embed/columns", x, 2, left, left + w);
    return nn_reshape(b, "pos_embed/flat", x, 3, (const int64_t[]){1, h * w, m->width});
}

static nn_t time_text(nn *b, const mmdit *m, int64_t batch)
{
    int64_t pooled = nn_int_in(b, "pooled_projection_dim", 2048, 1, 1 << 20);
    nn_t p = nn_input(b, "pooled_projections", IR_FLOAT32, 2, (const int64_t[]){batch, pooled});
    nn_push(b, "time_text_embed");
    nn_t t = dx_waves(b, "time_proj", dx_scalar_input(b, "timestep", batch), 256, true, 0.0);
    t = dx_mlp(b, "timestep_embedder", t, m->width, m->width, "silu");
    p = dx_mlp(b, "text_embedder", p, m->width, m->width, "silu");
    return nn_leave(b, nn_plain(b, "Swish", "silu", nn_add(b, "add", t, p)));
}

static void read_mmdit(nn *b, mmdit *m)
{
    *m = (mmdit){.d = DX(b)};
    dx_ignore(b);
    m->patch = nn_int_in(b, "patch_size", 2, 1, 64);
    m->heads = nn_int_in(b, "num_attention_heads", 18, 1, 1 << 12);
    m->width = m->heads * nn_int_in(b, "attention_head_dim", 64, 1, 1 << 12);
    m->layers = nn_int_in(b, "num_layers", 18, 1, 10000);
    m->context_width = nn_int_in(b, "caption_projection_dim", 1152, 1, 1 << 20);
    m->out = nn_int_in(b, "out_channels", 16, 1, 1 << 16);
    m->n_dual = nn_has(b, "dual_attention_layers")
                    ? nn_ints(b, "dual_attention_layers", NULL, 0, m->dual, DUAL)
                    : 0;
    str norm = nn_has(b, "qk_norm") ? nn_word(b, "qk_norm", "") : STR("");
    m->qk_norm = norm.n > 0;
    if (norm.n && !str_is(norm, "rms_norm"))
        nn_fail(b, "unsupported qk_norm '" STR_FMT "'. Use rms_norm.", STR_ARG(norm));
    if (nn_ok(b) && m->context_width != m->width)
        nn_fail(b, "caption_projection_dim must be heads times head size, %lld",
                (long long)m->width);
}

static nn_t finish(nn *b, mmdit *m, nn_t x)
{
    nn_t c[2]; /* scale, shift */
    dx_adaptive(b, "norm_out", m->time, m->width, 2, c);
    x = dx_modulate(b, "norm_out/modulate", dx_norm(&m->d, "norm_out.norm", x, 1e-6), c[0], c[1]);
    return nn_linear(b, "proj_out", x, m->patch * m->patch * m->out, true);
}

static void build(nn *b)
{
    mmdit m;
    int64_t sides[2];
    read_mmdit(b, &m);
    dx_sides(b, 128, sides);
    int64_t in = nn_int_in(b, "in_channels", 16, 1, 1 << 16);
    int64_t from = nn_int_in(b, "joint_attention_dim", 4096, 1, 1 << 20);
    int64_t tokens = nn_int_in(b, "seq_len", 154, 1, 1 << 20);
    nn_t x = nn_input(b, "hidden_states", IR_FLOAT32, 4,
                      (const int64_t[]){1, in, sides[0], sides[1]});
    int64_t h = x.d[2] / m.patch, w = x.d[3] / m.patch, batch = x.d[0];
    nn_t context = nn_input(b, "encoder_hidden_states", IR_FLOAT32, 3,
                            (const int64_t[]){batch, tokens, from});
    m.time = time_text(b, &m, batch);
    context = nn_linear(b, "context_embedder", context, m.context_width, true);
    x = dx_patches(b, "pos_embed.proj", x, m.patch, m.width);
    x = nn_add(b, "pos_embed/add", x, cut_places(b, &m, h, w));
    for (int i = 0; i < (int)m.layers && nn_ok(b); i++)
        x = NN_UNDER(b, block(b, &m, i, x, &context), "transformer_blocks.%d", i);
    nn_output(b, dx_unpatch(b, finish(b, &m, x), h, w, m.patch), "output");
}

#define SD3                                                                       \
    "sample_size=128 num_layers=24 num_attention_heads=24 attention_head_dim=64 " \
    "caption_projection_dim=1536 pos_embed_max_size=192 "
#define ROW(name_, alias, set) \
    ZOO_ROW(name_, alias, "SD3Transformer2DModel", "diffusion", build, set)

static const zoo_row rows[] = {
    ROW("sd3-medium", "sd3 stable-diffusion-3-medium", SD3 ZOO_F16),
    ROW("sd3.5-medium", "stable-diffusion-3.5-medium",
        SD3 "pos_embed_max_size=384 qk_norm=rms_norm seq_len=333 "
            "dual_attention_layers=0,1,2,3,4,5,6,7,8,9,10,11,12" ZOO_BF16),
    ROW("sd3.5-large", "stable-diffusion-3.5-large",
        SD3 "num_layers=38 num_attention_heads=38 caption_projection_dim=2432 qk_norm=rms_norm "
            "seq_len=333" ZOO_BF16),
};
const zoo_rows zoo_mmdit_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {ROW("SD3Transformer2DModel", NULL, "sample_size=128")};
const zoo_rows zoo_mmdit_families = ZOO_ROWS(families);
