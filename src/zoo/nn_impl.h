/* Shared by the files of the builder; not for architectures. */
#ifndef ZOO_NN_IMPL_H
#define ZOO_NN_IMPL_H

#include "base/map.h"
#include "zoo/nn.h"
#include "zoo/zoo.h"

enum { NN_SCOPES = 32, NN_PATH = 512 };

struct nn {
    ir_model *model;
    arena *scratch; /* is valid as long as the building */
    const zoo_request *request;
    zoo_args args;           /* the row's, overridden by the user's */
    VEC(const char *) asked; /* keys that the builder knows */
    assay_error *err;
    bool failed, refused; /* refused: it is valid and not known */
    bool quantized;       /* convolutions and linear layers in 8 bits */
    char path[NN_PATH];   /* of the scope */
    uint32_t path_n;
    uint32_t ends[NN_SCOPES];
    int depth;
    str module;          /* the path, in the model's arena; p is NULL until it is needed */
    ir_kit kit;          /* names of nodes and values */
    map params;          /* full name: value */
    map dequantized;     /* name of a value: its 8-bit copy, as float */
    uint32_t n_inputs;   /* asked for so far */
    uint8_t *input_used; /* [request->n_inputs] */
};

/* The full name of `name` in the scope: in the model's arena; empty when the nn has failed. */
str nn_full_name(nn *b, const char *name);
/* The same, made unique by _1, _2, ... */
str nn_unique_name(nn *b, str full);
/* nn_param of another element type. */
nn_t nn_param_of(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims);
/* Fails when a size is negative or the element count overflows; `name` is the layer. */
bool nn_check_shape(nn *b, const char *name, const nn_t *x);
/* The shape with every size at least 1 and no value: what failing layers return. */
nn_t nn_harmless(nn_t x);
/* "[1,3,224,224]" in scratch, for sentences. */
const char *nn_dims_text(nn *b, nn_t x);

/* 8 bits (nn_quant.c): a value seen through QuantizeLinear and DequantizeLinear; a weight stored as
 * int8 with a scale per index of `axis`. Plain floats when the nn is not quantised. */
nn_t nn_activation8(nn *b, const char *of, nn_t x);
nn_t nn_weight8(nn *b, const char *of, const char *name, int rank, const int64_t *dims, int axis);

/* Tells the caller of zoo_build() which value a parameter has, once (nn_args.c). */
void nn_tell_asked(nn *b, const char *key, json_value v);

/* When all layers are built: the number types in which the model is published (nn_native.c). */
void nn_take_native(nn *b);

#endif
