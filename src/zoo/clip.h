/* The encoder that CLIP and SigLIP share: layers that normalise before attention and MLP. */
#ifndef ZOO_CLIP_H
#define ZOO_CLIP_H

#include "zoo/hf_text.h"

typedef struct clip_tower {
    int64_t width, inner, layers, heads;
    double eps;
    str act;
} clip_tower;

/* hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, ... */
clip_tower clip_tower_read(hf c);
/* encoder.layers.0, .1, ... over x [B, S, width]. */
nn_t clip_encoder(nn *b, nn_t x, const clip_tower *m, bool causal);
/* fc1, activation, fc2 in the scope "mlp". */
nn_t clip_mlp(nn *b, nn_t x, const clip_tower *m);

/* The rows of x [B, W] at length 1. */
nn_t clip_unit(nn *b, const char *name, nn_t x);

/* SigLIP's vision model over the input pixel_values, in the scope "vision_model": [B, patches, width]; *pooled is
 * what its head makes of it (vision_use_head), id IR_NONE without one (siglip.c). */
nn_t siglip_vision(nn *b, hf c, nn_t *pooled);
/* What the library's configuration has as defaults, "vision_config." before each key. */
#define SIGLIP_VISION(in)                                                            \
    in "hidden_size=768 " in "intermediate_size=3072 " in "num_hidden_layers=12 " in \
       "num_attention_heads=12 " in "image_size=224 " in "patch_size=16 " in         \
       "hidden_act=gelu_pytorch_tanh " in "layer_norm_eps=1e-6 "

#endif
