/* One layer of a foreign file on its way into the graph: helpers for the functions that map it to rows.
 *
 *   layer_node   makes the outputs of the layer
 *   layer_step   makes an inner value, "<layer>/<Operator>"; the last step is a layer_node()
 *
 * Lists of attributes end with LAYER_END. All of them return IR_NONE where memory ran out, which is sticky (foreign.h).
 */
#ifndef FORMATS_FOREIGN_LAYER_H
#define FORMATS_FOREIGN_LAYER_H

#include "formats/foreign.h"

typedef struct foreign_layer {
    foreign *f;
    str name;
    const ir_id *in, *out; /* IR_NONE: absent */
    uint32_t n_in, n_out;
} foreign_layer;

#define LAYER_END ((ir_attr_spec){0})

ir_id layer_node(const foreign_layer *l, const char *domain, const char *op, const ir_id *in,
                 uint32_t n_in, const ir_attr_spec *attrs);
/* The same of only the first n outputs. */
/* Whether memory sufficed for a node or value. */
static inline bool made(ir_id id)
{
    return id != IR_NONE;
}

ir_id layer_node_of(const foreign_layer *l, const char *domain, const char *op, const ir_id *in,
                    uint32_t n_in, const ir_attr_spec *attrs, uint32_t n_out);
ir_id layer_step(const foreign_layer *l, const char *op, const ir_id *in, uint32_t n_in,
                 const ir_attr_spec *attrs);
ir_id layer_step_in(const foreign_layer *l, const char *domain, const char *op, const ir_id *in,
                    uint32_t n_in, const ir_attr_spec *attrs);
/* A node whose only output is this value. */
ir_id layer_into(const foreign_layer *l, const char *op, const ir_id *in, uint32_t n_in,
                 const ir_attr_spec *attrs, ir_id out);
ir_id layer_ints(const foreign_layer *l, const char *what, const int64_t *list, int n);
ir_id layer_number(const foreign_layer *l, const char *what, ir_dtype t, double v);
ir_id layer_input(const foreign_layer *l, uint32_t i); /* IR_NONE: absent */

/* Half weights of a network that computes in float32, behind a Cast; others as they are. */
ir_id layer_float_weight(const foreign_layer *l, ir_id weight);

/* ---- forms that several formats have ---- */

bool layer_unary(const foreign_layer *l, const char *op, const ir_attr_spec *attrs);
bool layer_cast(const foreign_layer *l, ir_id x, ir_dtype t);
/* x * sigmoid(x) of the whole layer. */
bool layer_swish(const foreign_layer *l, ir_id x);
bool layer_mish(const foreign_layer *l, ir_id x);
/* Bounds; NAN: none on that side. */
bool layer_clip(const foreign_layer *l, ir_id x, ir_dtype t, double low, double high);
/* a / b rounded down; Div of ONNX rounds whole numbers towards zero. */
bool layer_floor_div(const foreign_layer *l, ir_id a, ir_id b, ir_dtype t);
bool layer_reshape(const foreign_layer *l, ir_id x, const int64_t *dims, int n);
bool layer_transpose(const foreign_layer *l, ir_id x, const int64_t *perm, int n);
ir_id layer_step_transpose(const foreign_layer *l, ir_id x, const int64_t *perm, int n);
ir_id layer_step_reshape(const foreign_layer *l, ir_id x, const int64_t *dims, int n);
/* op is of opset 17: axes are an attribute, but for ReduceSum. */
bool layer_reduce(const foreign_layer *l, const char *op, ir_id x, const int64_t *axes, int n,
                  bool keep);
/* What a slice takes of the axes of x; then axes that are taken away, then new ones (axes of the result). */
enum { LAYER_LIST = 128 };
typedef struct layer_slicing {
    int n, n_squeeze, n_insert;
    int64_t start[LAYER_LIST], end[LAYER_LIST], step[LAYER_LIST], axis[LAYER_LIST];
    int64_t squeeze[LAYER_LIST], insert[LAYER_LIST];
} layer_slicing;
void layer_slice_axis(layer_slicing *s, int64_t axis, int64_t start, int64_t end, int64_t step);
bool layer_slice(const foreign_layer *l, ir_id x, const layer_slicing *s);
/* Padding that mirrors x with its edges: pads are those before each of n axes, then those behind. */
bool layer_pad_symmetric(const foreign_layer *l, ir_id x, const int64_t *pads, int n);
/* Gather along the axis behind `batch` axes that x and the indices (int64) share. */
bool layer_gather_batched(const foreign_layer *l, ir_id x, ir_id indices, int64_t batch);
/* StridedSlice of TensorFlow and TFLite: lists with a place per axis, and masks with a bit per place. */
typedef struct layer_masks {
    uint64_t begin, end, ellipsis, insert, shrink;
} layer_masks;
typedef struct layer_bounds {
    const int64_t *begin, *end, *step;
    int n; /* at most 64 */
} layer_bounds;
bool layer_mask_bit(uint64_t mask, int place);
/* Fills *s. rank: of x, or -1; then axes behind an ellipsis are counted from the end. */
void layer_slice_strided(layer_slicing *s, const layer_masks *k, const layer_bounds *b, int rank);
/* Windows of convolutions and pooling as attributes of ONNX. A list of length 0 is left out; pads: begins, then ends. */
typedef struct layer_window {
    int n;                /* spatial axes */
    const char *auto_pad; /* NULL: pads */
    int64_t kernel[LAYER_LIST], strides[LAYER_LIST], dilations[LAYER_LIST], pads[2 * LAYER_LIST];
    bool has_kernel, has_strides, has_dilations;
} layer_window;
enum { LAYER_WINDOW_ATTRS = 4 };
/* Writes at most LAYER_WINDOW_ATTRS attributes; how many. They point into w. */
int layer_window_attrs(const layer_window *w, ir_attr_spec *attrs);
/* A permutation that turns sizes a into sizes b; false: there is none. */
bool layer_find_perm(int n, const int64_t *a, const int64_t *b, int64_t *perm);

/* ---- bodies of loops and branches ---- */

/* A new input of a body; declared: the value whose type it has, or IR_NONE for a scalar of type t. */
ir_id layer_formal(foreign *f, ir_id graph, str name, ir_dtype t, ir_id declared);
/* Makes a value an output of a body, under a value of its own. */
bool layer_result(foreign *f, ir_id graph, ir_id id);

/* A layer without a row: its own name in the domain of the format, with all of its inputs and outputs. */
void layer_unknown(const foreign_layer *l, const char *op);

#endif
