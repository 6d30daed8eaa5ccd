/* What the files of rewrite_to_onnx() share. */
#ifndef REWRITE_TO_ONNX_IMPL_H
#define REWRITE_TO_ONNX_IMPL_H

#include "rewrite/kit.h"
#include "rewrite/to_onnx.h"

typedef struct exporting {
    kit k;
    ir_id graph;
    ir_id node; /* the one that is rewritten */
    ir_id *
        real; /* [n_real] what a quantised value is as float32 in this graph; IR_NONE: not made yet */
    uint32_t n_real;
} exporting;

/* Ends a list of attributes. */
#define STEP_END ((ir_attr_spec){0})

/* A node of one output, "<node>/<part>": its value. attrs may be NULL. */
ir_id step(exporting *x, const char *part, const char *op, const ir_id *in, uint32_t n_in,
           const ir_attr_spec *attrs);
/* The same of two inputs, without attributes. */
ir_id step_two(exporting *x, const char *part, const char *op, ir_id a, ir_id b);
/* int64 [n]. */
ir_id step_ints(exporting *x, const char *part, const int64_t *list, uint32_t n);
ir_id step_transpose(exporting *x, const char *part, ir_id in, const int64_t *perm, int n);

/* The same for a value that is there already; and a new value "<node>/<part>". */
void step_into(exporting *x, const char *part, const char *op, ir_id in, const ir_attr_spec *attrs,
               ir_id out);
ir_id step_value(exporting *x, const char *part);

/* The same as a node of any output; its id. */
ir_id add_part(exporting *x, const char *part, const char *op, const ir_id *in, uint32_t n_in,
               const ir_attr_spec *attrs, ir_id out);
ir_id step_cast(exporting *x, const char *part, ir_id in, ir_dtype t);

/* Whether a value is stored as whole numbers of 4 to 16 bits. Wider types are not: indices may have parameters by
 * accident; a bias is real_bias()'s. */
bool is_quantised(const exporting *x, ir_id value);
/* Its element type, and its parameters as constants; zero points of the file are int64, here they have the type t. */
ir_dtype stored_type(const exporting *x, ir_id value);
ir_id scale_of(exporting *x, const ir_value *v);
ir_id zero_of(exporting *x, const ir_value *v, ir_dtype t);
/* Makes the quantised value `out` of real numbers. */
void store_quantised(exporting *x, ir_id from, ir_id out);
/* The value as real numbers: itself, unless it is quantised. */
ir_id real_of(exporting *x, ir_id value);
/* The same of a bias [n], which has 32 or 64 bits; IR_NONE: there is none. */
ir_id real_bias(exporting *x, ir_id value);
/* The last node of the rewritten one: it has its name and makes its first output, quantised where that is. */
assay_status finish(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                    const ir_attr_spec *attrs);

/* The same where the node makes the stored numbers. */
assay_status finish_stored(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                           const ir_attr_spec *attrs);

/* The same for a type of more than 16 bits: real / scale, rounded. */
assay_status finish_wide(exporting *x, ir_id real, ir_dtype t);

/* ASSAY_ERR_UNSUPPORTED with the node's name. */
assay_status no_form(exporting *x, const char *why);
/* Dims of a value by the inference, all known; NULL: they are not, or there are more than IR_KIT_RANK. */
const int64_t *known_dims(const exporting *x, ir_id value, int *rank);
/* The whole numbers of a constant: how many; -1: not a constant, or more than max. */
int constant_ints(exporting *x, ir_id value, int64_t *list, int max);

/* ---- whole numbers (to_onnx_integer.c) ---- */
/* Whether a product of x, kernel and bias is computed on the stored numbers, which have 8 bits. */
bool is_integer_product(exporting *x, const ir_node *n);
/* The result of QLinearConv on stored numbers with channels first. */
ir_id step_integer_conv(exporting *x, const ir_node *n, ir_id data, ir_id kernel,
                        const ir_attr_spec *attrs);
/* Writes a node that computes element by element on stored numbers; false: it is not one. */
bool export_integer(exporting *x, const ir_node *n, assay_status *status);
/* floor(v + 1/2). */
ir_id step_half_up(exporting *x, ir_id v);
/* A mean of whole numbers over at most `count`, rounded, ties away from zero. */
ir_id step_away_from_zero(exporting *x, ir_id mean, int64_t count);

/* All scales of a value, in scratch; NULL: they cannot be read. */
const float *read_scales(exporting *x, const ir_value *v);
/* The zero point that all indices share; false: there are several. */
bool read_zero(exporting *x, const ir_value *v, int64_t *zero);
bool has_eight_bits(const exporting *x, ir_id value);
bool has_one_scale(const exporting *x, ir_id value);
/* A scalar; a stored number of 8 bits. */
ir_id step_scalar(exporting *x, const char *part, ir_dtype t, const void *bytes);
ir_id step_stored(exporting *x, const char *part, ir_dtype t, int64_t v);
ir_id step_float(exporting *x, const char *part, float v);
/* The last node: real numbers in steps of the output, counted from its zero point, become its stored numbers. */
assay_status finish_steps(exporting *x, ir_id steps);

/* The real data of a product: those whose weights have 8 bits are rounded as the kernels of LiteRT do it, over the axes
 * from..rank-1 (to_onnx_dynamic.c); others are unchanged. */
ir_id step_dynamic(exporting *x, const ir_node *n, ir_id data, int from, int rank);

bool is_dynamic_product(exporting *x, const ir_node *n);

/* LSTM, GRU and RNN with the batch first. */
bool is_batch_first_rnn(const ir_node *n);
assay_status export_batch_first_rnn(exporting *x, ir_node n);
/* A node of "assay.nhwc". */
assay_status export_nhwc(exporting *x, const ir_node *n);
assay_status export_linear(exporting *x, const ir_node *n);   /* to_onnx_linear.c */
assay_status export_openvino(exporting *x, const ir_node *n); /* to_onnx_openvino.c */

#endif
