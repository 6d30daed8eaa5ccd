/* For the lower_*.c files: writing the parts of one node.
 *
 * A lowering reads the node in x->node and emits parts in execution order; the part that makes an output
 * of the node is given that output's id by low_into(). Failure is sticky in the lowering: later calls
 * return IR_NONE.
 */
#ifndef REWRITE_LOWER_IMPL_H
#define REWRITE_LOWER_IMPL_H

#include "ir/kit.h"
#include "rewrite/lower.h"

typedef struct lowering {
    ir_model *m;
    arena *scratch;
    assay_error *err;
    int from, target;
    value_facts facts;    /* of the values as they were; may be none */
    const uint32_t *uses; /* [values as they were] how often each is read */
    ir_node node;         /* being lowered: a copy */
    ir_id id;             /* its id */
    uint32_t into;        /* output that the next part makes; UINT32_MAX: none */
    bool replaced;        /* parts stand for the node: it leaves the graph */
    ir_kit kit;           /* names of values: all of the model */
    assay_status status;
} lowering;

typedef assay_status lower_fn(lowering *x);

/* ---- the node ---- */
bool low_has(const lowering *x, uint32_t i);
/* Input i with its declared shape; fails when it is not fully known. */
ir_t low_input(lowering *x, uint32_t i);
/* The same without a shape, for elementwise parts: rank is -1. */
ir_t low_value(const lowering *x, uint32_t i);
ir_t low_output(const lowering *x, uint32_t o);
/* Whether anything but output 0 is requested. */
bool low_more_outputs(const lowering *x);
int64_t low_int(const lowering *x, const char *name, int64_t def);
double low_float(const lowering *x, const char *name, double def);
str low_word(const lowering *x, const char *name, const char *def);
/* By what is declared or was inferred: -1, IR_UNDEFINED when not known. Sizes that were inferred may rest
 * on assumptions about symbolic dimensions, ranks and types do not. */
int low_rank(const lowering *x, uint32_t i);
ir_dtype low_dtype(const lowering *x, uint32_t i);
/* The content of a float input that is constant or was inferred, at most max; -1 when not known. */
int low_floats(const lowering *x, uint32_t i, double *out, int max);
/* The content of a constant int64 input, at most max; -1 when absent, -2 when not known. */
int low_ints(const lowering *x, uint32_t i, int64_t *out, int max);
/* "Node 'x' (Op) cannot be written at opset N: <why>." Or that it cannot be raised. */
assay_status low_fail(lowering *x, const char *why);

/* ---- parts ---- */
/* One operator; `shape` says what comes out (rank -1: not known), its id is ignored. */
ir_t low_node(lowering *x, const char *op, const char *part, int n_in, const ir_t *in, ir_t shape,
              int n_attrs, const ir_attr_spec *attrs);
/* The next low_node() makes output o of the node instead of a new value. */
void low_into(lowering *x, uint32_t o);
ir_t low_unary(lowering *x, const char *op, const char *part, ir_t in);
/* Broadcasts: the shape is the larger one's. */
ir_t low_binary(lowering *x, const char *op, const char *part, ir_t a, ir_t b);
/* With a scalar of a's type. */
ir_t low_scalar(lowering *x, const char *op, const char *part, ir_t a, double b);
ir_t low_ints_const(lowering *x, const char *part, int n, const int64_t *values);
/* n: at most IR_KIT_RANK. */
ir_t low_floats_const(lowering *x, const char *part, int n, const double *values);
ir_t low_float_const(lowering *x, const char *part, ir_dtype t, int64_t n, double value);
ir_t low_reshape(lowering *x, const char *part, ir_t in, int rank, const int64_t *dims);
ir_t low_transpose(lowering *x, const char *part, ir_t in, const int64_t *perm);
ir_t low_unsqueeze(lowering *x, const char *part, ir_t in, int axis);
ir_t low_concat(lowering *x, const char *part, int n, const ir_t *in, int axis);
ir_t low_slice(lowering *x, const char *part, ir_t in, int axis, int64_t from, int64_t to,
               int64_t step);
ir_t low_matmul(lowering *x, const char *part, ir_t a, ir_t b);
/* Mean over the axes from `axis` on, which stay as 1. */
ir_t low_mean_from(lowering *x, const char *part, ir_t in, int axis);

/* ---- changing the node where it stands ---- */
/* Removes an attribute; adds one (replacing). */
assay_status low_drop_attr(lowering *x, const char *name);
assay_status low_set_attr(lowering *x, const ir_attr_spec *a);
/* Cuts the inputs to the first n. */
assay_status low_keep_inputs(lowering *x, uint32_t n);
assay_status low_set_input(lowering *x, uint32_t i, ir_t v);
/* The node as changed goes into the graph. */
assay_status low_keep(lowering *x);

/* ---- lowerings ---- */
lower_fn lower_attention, lower_attention_24, lower_rotary;     /* lower_attention.c */
lower_fn lower_layer_norm, lower_rms_norm, lower_group_norm;    /* lower_norm.c */
lower_fn lower_gelu, lower_swish, lower_mish, lower_hard_swish; /* lower_activation.c */
lower_fn lower_greater_or_equal, lower_less_or_equal;           /* lower_activation.c */
lower_fn lower_axes, lower_split_18, lower_split_13, lower_pad_axes, lower_resize_13, lower_softmax,
    lower_grid_sample, lower_roi_align, lower_constant; /* lower_form.c */

#endif
