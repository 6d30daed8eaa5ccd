/* What denoisers share (diffusers' embeddings.py, normalization.py, attention.py): times as waves, small
 * MLPs, normalisation without weights that a condition scales and shifts, attention between [B, S, F]
 * tensors, feed-forward parts, patches and the way back.
 *
 * Builders read the keys of diffusers' config.json; sample_size is in latents, a number or "height,width".
 * latent_size is what is built when that differs from what the network was made for.
 */
#ifndef ZOO_DIFFUSION_H
#define ZOO_DIFFUSION_H

#include "zoo/hf.h"
#include "zoo/nn_tokens.h"

enum { DX_PARTS = 9, DX_SIDE = 1 << 15 };

typedef struct dx {
    nn *b;
    nn_t ones; /* scale of the norms without weights; id IR_NONE until one is needed */
} dx;
#define DX(b_) ((dx){.b = (b_), .ones = NN_ABSENT})

/* Marks the keys of a diffusers config that change nothing as known. */
void dx_ignore(nn *b);
/* latent_size, else sample_size, as height and width. */
void dx_sides(nn *b, int64_t def, int64_t out[2]);
/* sample_size alone. */
void dx_made_for(nn *b, int64_t def, int64_t out[2]);
/* "timestep" and its kin: float32 [B]. */
nn_t dx_scalar_input(nn *b, const char *name, int64_t batch);
/* Timesteps: [B] to [B, dim], cosines first when `flip`. */
nn_t dx_waves(nn *b, const char *name, nn_t t, int64_t dim, bool flip, double shift);
/* linear_1, an activation ("silu", "gelu_tanh"), linear_2. */
nn_t dx_mlp(nn *b, const char *name, nn_t x, int64_t hidden, int64_t out, const char *act);
/* LayerNorm without weights. */
nn_t dx_norm(dx *d, const char *name, nn_t x, double eps);
/* [B, n*F] to n tensors of [B, 1, F]. */
void dx_chunks(nn *b, const char *name, nn_t x, int n, nn_t *out);
/* An adaptive norm's linear layer of `time` [B, width], as n parts of [B, 1, width]. */
void dx_adaptive(nn *b, const char *name, nn_t time, int64_t width, int n, nn_t *out);
/* x * (1 + scale) + shift. */
nn_t dx_modulate(nn *b, const char *name, nn_t x, nn_t scale, nn_t shift);
/* x + gate * y. */
nn_t dx_gated(nn *b, const char *name, nn_t x, nn_t gate, nn_t y);
/* Attention of q [B, S, F] to k and v [B, T, F]: [B, S, F]. */
nn_t dx_attend(nn *b, nn_t q, nn_t k, nn_t v, int64_t heads);
/* The same of heads: [B, H, S, D]. */
nn_t dx_attend_heads(nn *b, nn_t q, nn_t k, nn_t v);
/* to_q, to_k, to_v, to_out.0 of the scope, with or without biases of the first three. */
nn_t dx_attention(nn *b, const char *name, nn_t x, nn_t context, int64_t heads, bool bias);
/* net.0.proj, the activation ("geglu", "gelu", "gelu-approximate"), net.2. */
nn_t dx_feed_forward(nn *b, const char *name, nn_t x, str act);

/* [B, C, H, W] to tokens [B, h*w, dim] by a convolution of that name. */
nn_t dx_patches(nn *b, const char *name, nn_t x, int64_t patch, int64_t dim);
/* Tokens [B, h*w, patch*patch*C] to [B, C, H, W]. */
nn_t dx_unpatch(nn *b, nn_t x, int64_t h, int64_t w, int64_t patch);
/* Sines and cosines of the place, [1, h*w, dim]: a row per column and one per line, joined when run. */
nn_t dx_places(nn *b, int64_t h, int64_t w, int64_t dim, double base, double scale);
/* A float table of rank 4 with `n` rows along `axis` and `width` columns. */
nn_t dx_lines(nn *b, const char *name, int axis, int64_t n, int64_t width, const float *values);
/* Both of them to [1, h, w, width]. */
nn_t dx_spread(nn *b, const char *name, nn_t x, int64_t h, int64_t w);

#endif
