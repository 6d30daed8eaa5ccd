/* Building networks: tensors that know their shape, layers under the names PyTorch gives to modules.
 *
 * A builder is a function of an nn: it reads its parameters, makes an input, calls layers, marks the
 * outputs. Failure is sticky in the nn (nn_fail, out of memory, a bad parameter): later calls return
 * harmless tensors, so a builder is written without checks, and zoo_build() reports the first sentence.
 *
 * Scopes: nn_push("layer1.%d", i) ... nn_pop(); a layer called "conv1" inside is the node
 * "layer1.0.conv1" of module "layer1.0.conv1" with the weight "layer1.0.conv1.weight". Names made twice
 * get _1, _2. Layers without weights that PyTorch writes as functions (add, flatten) carry the module
 * of their scope.
 *
 * The graph is written in opset NN_OPSET with composite operators (Attention, Gelu, Swish, GroupNormali-
 * zation, RMSNormalization, ...); rewrite/lower.c brings it down for older opsets.
 */
#ifndef ZOO_NN_H
#define ZOO_NN_H

#include "ir/kit.h"
#include "zoo/args.h"

#define NN_OPSET     24
#define NN_RANK      IR_KIT_RANK
#define NN_NODES_MAX 2000000

typedef struct nn nn;

typedef ir_t nn_t; /* a tensor: its value and its full shape */

/* A shape without a value, for saying what an output will be. */
nn_t nn_shape(ir_dtype t, int rank, const int64_t *dims);
#define NN_F32(...)   nn_shape(IR_FLOAT32, NN_COUNT(__VA_ARGS__), (const int64_t[]){__VA_ARGS__})
#define NN_I64(...)   nn_shape(IR_INT64, NN_COUNT(__VA_ARGS__), (const int64_t[]){__VA_ARGS__})
#define NN_COUNT(...) ((int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))
int64_t nn_elems(nn_t x);

/* ---- parameters of the architecture ----
 * Values come from users: one that a loop runs to, or that is divided by, is read with nn_int_in. */
int64_t nn_int(nn *b, const char *key, int64_t def);
/* Fails with a sentence that names the key when outside [min, max]. */
int64_t nn_int_in(nn *b, const char *key, int64_t def, int64_t min, int64_t max);
double nn_real(nn *b, const char *key, double def);
double nn_real_in(nn *b, const char *key, double def, double min, double max);
bool nn_bool(nn *b, const char *key, bool def);
str nn_word(nn *b, const char *key, const char *def);
/* Whether it is the first of two words, which it is by default; any other word is an error. */
bool nn_either(nn *b, const char *key, const char *first, const char *second);
/* A list of integers (a single number counts as a list of one); count, at most max. */
int nn_ints(nn *b, const char *key, const int64_t *def, int n_def, int64_t *out, int max);
bool nn_has(nn *b, const char *key);              /* given by somebody and not null */
const json_value *nn_raw(nn *b, const char *key); /* NULL when absent */

/* ---- failure ---- */
void nn_fail(nn *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for what is valid and not known: ASSAY_ERR_UNSUPPORTED. */
void nn_refuse(nn *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool nn_ok(const nn *b);
ir_model *nn_model(nn *b);
arena *nn_arena(nn *b); /* that of the model, for data that must be valid as long as it */

/* ---- inputs, outputs, scopes ---- */
/* The user's --input-shape or --batch for this input wins over dims. */
nn_t nn_input(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims);
/* "input" of [1, in_chans, image_size, image_size], both being parameters: 3 and `size`. */
nn_t nn_image(nn *b, int64_t size);
void nn_output(nn *b, nn_t x, const char *name);
void nn_push(nn *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void nn_pop(nn *b);
nn_t nn_leave(nn *b, nn_t x); /* nn_pop, and x is what the scope made */
/* What an expression makes inside a separate scope, which the arguments after it name. */
#define NN_UNDER(b, made, ...) (nn_push((b), __VA_ARGS__), nn_leave((b), (made)))
/* Parameters that a checkpoint holds but inference never runs (training-only heads). */
void nn_not_in_graph(nn *b, uint64_t parameters);

/* ---- constants ----
 * A parameter or buffer whose full name exists already is that one: a module that is called several
 * times (a detection head on every level) is written as calls in the same scope. Other shapes under
 * the same name are a failure. */
nn_t nn_param(nn *b, const char *name, int rank, const int64_t *dims);      /* float32 parameter */
nn_t nn_buffer(nn *b, const char *name, int rank, const int64_t *dims);     /* float32 buffer */
nn_t nn_ints_const(nn *b, const char *name, int n, const int64_t *values);  /* rank 1 int64 */
nn_t nn_float_const(nn *b, const char *name, double value);                 /* scalar float32 */
nn_t nn_floats_const(nn *b, const char *name, int n, const double *values); /* rank 1 float32 */
/* Neither parameter nor known content: masks, index tables, anchors (filled with zeros on export). */
nn_t nn_table(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims);
/* The same with content given: `bytes` is copied. */
nn_t nn_table_of(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims,
                 const void *bytes);

/* ---- any operator ---- */
typedef ir_attr_spec nn_attr;
#define NN_INT   IR_SPEC_INT
#define NN_FLOAT IR_SPEC_FLOAT
#define NN_TEXT  IR_SPEC_TEXT
#define NN_LIST  IR_SPEC_INTS

typedef struct nn_call {
    const char *op;
    const char *domain; /* NULL: ai.onnx */
    const char *name;   /* of the layer inside the scope */
    bool module;        /* it is a separate module (has weights or is one in PyTorch) */
    const nn_t *in;     /* id IR_NONE: absent optional input (see NN_ABSENT) */
    int n_in;
    nn_t *out; /* shapes going in, values coming out */
    int n_out;
    const nn_attr *attrs;
    int n_attrs;
    const char *of; /* the layer inside the scope whose part this node is; NULL: see `module` */
} nn_call;
void nn_emit(nn *b, const nn_call *call);
#define NN_ABSENT ((nn_t){.id = IR_NONE})
/* Flags (IR_NODE_) of the node that made x; returns x. */
nn_t nn_mark(nn *b, nn_t x, uint32_t flags);
/* The common case: one output. */
nn_t nn_one(nn *b, const char *op, const char *name, int n_in, const nn_t *in, nn_t out,
            int n_attrs, const nn_attr *attrs);
/* The same of a separate module. */
nn_t nn_module(nn *b, const char *op, const char *name, int n_in, const nn_t *in, nn_t out,
               int n_attrs, const nn_attr *attrs);

/* ---- layers (zoo/nn_layers.c) ---- */
typedef struct nn_conv {
    int64_t out;                      /* channels */
    int64_t k, stride, pad, dilation; /* the same in every dimension; 0: 1, 1, 0, 1 */
    int64_t kernel[3], strides[3], pads[3],
        dilations[3]; /* per dimension; override when kernel[0] */
    int64_t groups;   /* 0: 1 */
    bool no_bias;
} nn_conv;
nn_t nn_convolve(nn *b, const char *name, nn_t x, const nn_conv *c); /* 1d, 2d, 3d by x's rank */
#define NN_CONV(b, name, x, ...) nn_convolve((b), (name), (x), &(nn_conv){__VA_ARGS__})
/* Transposed convolution, 2d: weight [in, out/groups, k, k]. */
nn_t nn_deconv(nn *b, const char *name, nn_t x, int64_t out, int64_t k, int64_t stride, int64_t pad,
               bool bias);
nn_t nn_linear(nn *b, const char *name, nn_t x, int64_t out, bool bias); /* over the last dim */
nn_t nn_batchnorm(nn *b, const char *name, nn_t x);                      /* eps 1e-5 */
nn_t nn_batchnorm_eps(nn *b, const char *name, nn_t x, double eps);
nn_t nn_layernorm(nn *b, const char *name, nn_t x, double eps); /* over the last dim, affine */
nn_t nn_groupnorm(nn *b, const char *name, nn_t x, int64_t groups, double eps);
nn_t nn_rmsnorm(nn *b, const char *name, nn_t x, double eps);
nn_t nn_embedding(nn *b, const char *name, nn_t ids, int64_t n, int64_t dim);

/* activations and other one-input modules: op is the ONNX name (Relu, Gelu, Swish, Sigmoid, ...) */
nn_t nn_act(nn *b, const char *op, const char *name, nn_t x);
nn_t nn_relu6(nn *b, const char *name, nn_t x); /* Clip to [0, 6] */
nn_t nn_leaky(nn *b, const char *name, nn_t x, double slope);
nn_t nn_gelu(nn *b, const char *name, nn_t x, bool tanh_form);
nn_t nn_softmax(nn *b, const char *name, nn_t x, int axis);

/* pooling, 1d/2d/3d by rank */
typedef struct nn_pool {
    int64_t k, stride, pad;
    int64_t kernel[3], strides[3], pads[3];
    bool ceil, exclude_pad;
} nn_pool;
nn_t nn_maxpool(nn *b, const char *name, nn_t x, const nn_pool *p);
nn_t nn_avgpool(nn *b, const char *name, nn_t x, const nn_pool *p);
nn_t nn_global_avgpool(nn *b, const char *name, nn_t x); /* AdaptiveAvgPool(1) */
/* AdaptiveAvgPool to oh x ow: an AveragePool where it divides, else one slice per window. */
nn_t nn_adaptive_avgpool(nn *b, const char *name, nn_t x, int64_t oh, int64_t ow);
nn_t nn_mean(nn *b, const char *name, nn_t x, int n_axes, const int64_t *axes, bool keepdims);

/* arithmetic with broadcasting */
nn_t nn_add(nn *b, const char *name, nn_t x, nn_t y);
nn_t nn_mul(nn *b, const char *name, nn_t x, nn_t y);
nn_t nn_binary(nn *b, const char *op, const char *name, nn_t x, nn_t y);
nn_t nn_matmul(nn *b, const char *name, nn_t x, nn_t y);
nn_t nn_scale(nn *b, const char *name, nn_t x, double by); /* times a scalar constant */

/* shapes */
nn_t nn_reshape(nn *b, const char *name, nn_t x, int rank,
                const int64_t *dims); /* one dim may be -1 */
nn_t nn_transpose(nn *b, const char *name, nn_t x, const int64_t *perm);
nn_t nn_flatten(nn *b, const char *name, nn_t x, int axis);
nn_t nn_concat(nn *b, const char *name, int n, const nn_t *x, int axis);
void nn_split(nn *b, const char *name, nn_t x, int axis, int n, nn_t *out); /* equal parts */
nn_t nn_slice(nn *b, const char *name, nn_t x, int axis, int64_t from, int64_t to);
nn_t nn_slice_step(nn *b, const char *name, nn_t x, int axis, int64_t from, int64_t to,
                   int64_t step);
/* pads: before of every dim, then after of every dim */
nn_t nn_pad(nn *b, const char *name, nn_t x, const int64_t *pads, const char *mode);
nn_t nn_expand(nn *b, const char *name, nn_t x, int rank, const int64_t *dims);
nn_t nn_unsqueeze(nn *b, const char *name, nn_t x, int axis);
nn_t nn_squeeze(nn *b, const char *name, nn_t x, int axis);
nn_t nn_gather(nn *b, const char *name, nn_t x, nn_t index, int axis);
nn_t nn_resize(nn *b, const char *name, nn_t x, int64_t h, int64_t w, const char *mode,
               bool align_corners); /* last two dims; "nearest", "linear", "cubic" */
nn_t nn_pixel_shuffle(nn *b, const char *name, nn_t x, int64_t r); /* DepthToSpace, CRD */

/* Scaled dot-product attention on [B, H, S, D] tensors: the composite Attention operator. `mask` (added
 * to the scores) may be NN_ABSENT; scale 0 means 1/sqrt(D). Grouped-query when k has fewer heads. */
nn_t nn_attention(nn *b, const char *name, nn_t q, nn_t k, nn_t v, nn_t mask, double scale,
                  bool causal);

#endif
