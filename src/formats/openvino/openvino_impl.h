/* What the files of the OpenVINO reader share. */
#ifndef FORMATS_OPENVINO_IMPL_H
#define FORMATS_OPENVINO_IMPL_H

#include "formats/foreign_layer.h"
#include "formats/xml.h"

enum {
    OV_MAX_DEPTH = 16,   /* bodies within bodies */
    OV_MAX_PORTS = 4096, /* inputs or outputs of a layer */
    OV_LIST = 128,       /* numbers of a list that an operator takes */
    OV_MAX_XML = 256 << 20,
};
#define OV_DOMAIN "openvino"

typedef struct ov_port {
    uint64_t id;
    ir_dtype dtype;
    int rank; /* -1: not declared */
    int64_t *dims;
    const str *ranges; /* [rank] the text of sizes that are no number; or NULL */
} ov_port;

/* Weights of versions 2 to 7: "weights", "biases", "custom". */
typedef struct ov_blob {
    str name;
    ir_dtype dtype; /* IR_UNDEFINED: that of the layer */
    uint64_t offset, size;
} ov_blob;

typedef struct ov_mapping { /* a line of a port_map, or a back edge */
    bool output;
    int64_t external; /* port id; -1: none */
    int64_t layer;    /* id of a Parameter or Result of the body */
    bool sliced, is_condition, is_iteration;
    int64_t axis, start, end, stride, part;
    int64_t to; /* back edge: the layer of the Parameter */
    int body;   /* 0, or 1 for the else branch */
    bool back;
} ov_mapping;

struct ov_net;

typedef struct ov_layer {
    uint64_t id;
    str name, type, opset;
    ir_dtype precision; /* of versions 2 to 7 */
    VEC(xml_attr) data;
    VEC(ov_port) in, out;
    VEC(ov_blob) blobs;
    VEC(ov_mapping) maps;
    struct ov_net *body[2];
    struct ov_source {
        uint32_t layer, port;
    } * from;    /* [in.n] where each input comes from; layer UINT32_MAX: nothing */
    ir_id *made; /* [out.n] */
    uint32_t uses;
    bool done, open, counted;
} ov_layer;

typedef struct ov_edge {
    uint64_t from_layer, from_port, to_layer, to_port;
} ov_edge;

typedef struct ov_net {
    str name;
    VEC(ov_layer) layers;
    VEC(ov_edge) edges;
    struct ov_place {
        uint64_t id;
        uint32_t at;
    } * places; /* layers by id */
} ov_net;

typedef struct ov_reader {
    foreign f;
    xml *x;
    source *bin; /* NULL: absent */
    uint64_t n_layers;
    int64_t version;
    uint32_t depth;
    bool guessed; /* a constant was taken from the sizes of ports */
} ov_reader;

/* One layer on its way into the graph. */
typedef struct ov_op {
    foreign_layer l;
    ir_id *in; /* l.in */
    ov_reader *r;
    ov_net *net;
    ov_layer *layer;
    const struct ov_row *row;
} ov_op;

/* False: the layer cannot be expressed in rows, and nothing was added. */
typedef bool ov_map_fn(ov_op *o);
typedef struct ov_row {
    const char *type;
    ov_map_fn *map; /* NULL: `op` takes the inputs as they are */
    const char *op;
    uint8_t least_in;
} ov_row;
const ov_row *ov_row_of(str type, int64_t version); /* NULL: none */

/* ---- the file (openvino_xml.c) ---- */

assay_status ov_read_net(ov_reader *r, ov_net *net);
ir_dtype ov_dtype(str name);
ov_layer *ov_layer_of(ov_net *net, uint64_t id); /* NULL: none */
/* Whole numbers of a list "1, 2,3": how many, or -1. */
int ov_parse_ints(str text, int64_t *list, int max);

/* ---- the graph (openvino_build.c) ---- */

assay_status ov_build_net(ov_reader *r, ov_net *net);
/* The value that feeds input i, made as declared; IR_NONE: nothing does. */
ir_id ov_use(ov_reader *r, ov_net *net, ov_layer *layer, uint32_t i);

/* ---- what operators ask (openvino_ask.c) ---- */

str ov_attr(const ov_op *o, const char *name);
bool ov_has(const ov_op *o, const char *name);
bool ov_bool(const ov_op *o, const char *name, bool def);
int64_t ov_int(const ov_op *o, const char *name, int64_t def);
double ov_float(const ov_op *o, const char *name, double def);
int ov_ints(const ov_op *o, const char *name, int64_t *list); /* of OV_LIST; -1: absent */
bool ov_is(const ov_op *o, const char *name, const char *value, const char *def);
const ov_port *ov_in(const ov_op *o, uint32_t i);  /* NULL: no such port */
const ov_port *ov_out(const ov_op *o, uint32_t i); /* NULL: no such port */
bool ov_static(const ov_port *p);
ir_dtype ov_in_dtype(const ov_op *o, uint32_t i);
ov_layer *ov_constant(const ov_op *o, uint32_t i); /* the Const layer of input i; NULL: none */
/* The numbers of a constant input: how many; -1: it is none, or the .bin is absent, or they are more than OV_LIST. */
int ov_const_ints(const ov_op *o, uint32_t i, int64_t *list);
bool ov_const_number(const ov_op *o, uint32_t i, double *v);
/* A constant of versions 2 to 7; IR_NONE: the layer has none of that name. */
ir_id ov_blob_value(const ov_op *o, const char *name, int rank, const int64_t *dims);
uint64_t ov_blob_elements(const ov_op *o, const char *name);
/* A constant input with other sizes of the same number of elements; another value gets a Reshape. */
ir_id ov_reshaped(ov_op *o, uint32_t i, const int64_t *dims, int n);
/* The operator takes a constant that is not there: sizes of the ports gave it. */
void ov_guessed(ov_op *o);

extern ov_map_fn ov_conv, ov_group_conv, ov_deconv, ov_group_deconv, ov_deformable, ov_max_pool,
    ov_avg_pool, ov_adaptive_pool, ov_matmul, ov_attention, ov_softmax, ov_lrn, ov_mvn,
    ov_group_norm, ov_normalize, ov_batch_norm, ov_fake_quantize, ov_recurrent, ov_interpolate;
extern ov_map_fn ov_swish, ov_mish, ov_gelu, ov_clamp, ov_elu, ov_selu, ov_hard_sigmoid,
    ov_h_sigmoid, ov_prelu, ov_convert, ov_convert_like, ov_mod, ov_floor_mod,
    ov_squared_difference, ov_not_equal, ov_round, ov_divide, ov_select, ov_identity;
extern ov_map_fn ov_reshape, ov_squeeze, ov_unsqueeze, ov_transpose, ov_concat, ov_split,
    ov_variadic_split, ov_gather, ov_gather_elements, ov_gather_nd, ov_strided_slice, ov_slice,
    ov_pad, ov_tile, ov_broadcast, ov_shape_of, ov_range, ov_one_hot, ov_topk, ov_blocks,
    ov_shuffle, ov_scatter, ov_scatter_elements, ov_cumsum, ov_nonzero, ov_reduce, ov_reverse,
    ov_reverse_sequence, ov_einsum, ov_read_value, ov_assign;
extern ov_map_fn ov_own, ov_roi_align, ov_grid_sample, ov_unique, ov_promote, ov_stft;
extern ov_map_fn ov_loop, ov_iterator, ov_if;
extern ov_map_fn ov_old_conv, ov_old_deconv, ov_old_dense, ov_old_pool, ov_old_eltwise,
    ov_old_permute, ov_old_relu, ov_old_power, ov_old_scale, ov_old_norm, ov_old_reshape,
    ov_old_clamp, ov_old_activation, ov_old_prelu, ov_old_split, ov_old_normalize, ov_old_crop,
    ov_old_tile;
/* LRN over axes other than the channels alone. */
bool ov_window_lrn(ov_op *o, const int64_t *axes, int n, int64_t size, double bias);

#endif
