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
/* int64 [n]. */
ir_id step_ints(exporting *x, const char *part, const int64_t *list, uint32_t n);
ir_id step_transpose(exporting *x, const char *part, ir_id in, const int64_t *perm, int n);

/* The same for a value that is there already; and a new value "<node>/<part>". */
void step_into(exporting *x, const char *part, const char *op, ir_id in, const ir_attr_spec *attrs,
               ir_id out);
ir_id step_value(exporting *x, const char *part);

/* The value as real numbers: itself, unless it is quantised. */
ir_id real_of(exporting *x, ir_id value);
/* The same of a bias [n], which has 32 or 64 bits. */
ir_id real_bias(exporting *x, ir_id value);
/* The last node of the rewritten one: it has its name and makes its first output, quantised where that is. */
assay_status finish(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                    const ir_attr_spec *attrs);

/* The same for a type of more than 16 bits: real / scale, rounded. */
assay_status finish_wide(exporting *x, ir_id real, ir_dtype t);

/* ASSAY_ERR_UNSUPPORTED with the node's name. */
assay_status no_form(exporting *x, const char *why);
/* Dims of a value by the inference, all known; NULL: they are not, or there are more than IR_KIT_RANK. */
const int64_t *known_dims(const exporting *x, ir_id value, int *rank);
/* The whole numbers of a constant: how many; -1: not a constant, or more than max. */
int constant_ints(exporting *x, ir_id value, int64_t *list, int max);

/* LSTM, GRU and RNN with the batch first. */
bool is_batch_first_rnn(const ir_node *n);
assay_status export_batch_first_rnn(exporting *x, ir_node n);
/* A node of "assay.nhwc". */
assay_status export_nhwc(exporting *x, const ir_node *n);

#endif
