/* What networks over tokens and clips share: video inputs, lists with limits, heads, rolls. */
#ifndef ZOO_NN_TOKENS_H
#define ZOO_NN_TOKENS_H

#include "zoo/nn.h"

/* "input" of [1, in_chans, frames, image_size, image_size]: 3, `frames` and `size` unless given. */
nn_t nn_clip(nn *b, int64_t frames, int64_t size);
/* nn_ints with every item inside [min, max]; 0 after a failure. */
int nn_ints_in(nn *b, const char *key, const int64_t *def, int n_def, int64_t *out, int max_items,
               int64_t min, int64_t max);
/* A list of exactly n, or one number for all of them. */
void nn_ints_each(nn *b, const char *key, const int64_t *def, int64_t *out, int n, int64_t min,
                  int64_t max);

/* int(dim * ratio), at least 1: the hidden width of an MLP. */
int64_t nn_times(int64_t dim, double ratio);
/* An operator of one input that keeps the shape and is no module in PyTorch. */
nn_t nn_plain(nn *b, const char *op, const char *name, nn_t x);
/* Swaps the last two dims. */
nn_t nn_swap(nn *b, const char *name, nn_t x);
/* torch.roll(x, -by, axis): two slices joined the other way round. */
nn_t nn_roll(nn *b, const char *name, nn_t x, int axis, int64_t by);
/* [B, S, 3*H*D] of a joint projection to the q, k and v of [B, H, S, D]. */
void nn_heads(nn *b, nn_t qkv, int64_t heads, nn_t out[3]);
/* [B, S, H*D] to [B, H, S, D]. */
nn_t nn_split_heads(nn *b, const char *name, nn_t x, int64_t heads);
/* [B, H, S, D] to [B, S, H*D]. */
nn_t nn_unheads(nn *b, nn_t x);
/* The layers `first`, GELU, `second` of an MLP under these names. */
typedef struct nn_mlp_names {
    const char *first, *act, *second;
} nn_mlp_names;
nn_t nn_mlp(nn *b, const nn_mlp_names *n, nn_t x, int64_t hidden, int64_t out);

#endif
