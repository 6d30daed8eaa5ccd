/* What the files of the StableHLO reader share. */
#ifndef FORMATS_HLO_IMPL_H
#define FORMATS_HLO_IMPL_H

#include "formats/foreign_layer.h"

enum {
    HLO_MAX_TEXT = 256 << 20,
    HLO_MAX_DEPTH = 32,   /* calls and regions within each other */
    HLO_MAX_PORTS = 4096, /* operands or results of an operator */
    HLO_MAX_REGIONS = 64,
    HLO_LIST = 64, /* whole numbers of an attribute */
};
#define HLO_DOMAIN "stablehlo"

typedef struct hlo_type {
    ir_dtype dtype;            /* IR_UNDEFINED: no tensor */
    int rank;                  /* -1: unranked */
    int64_t dims[IR_MAX_RANK]; /* -1: '?' */
    str quant;                 /* what is in the brackets of !quant.uniform; or empty */
} hlo_type;

typedef struct hlo_scope {
    map names; /* to items of values */
    struct hlo_scope *outer;
} hlo_scope;

typedef struct hlo_value {
    ir_id id;
    hlo_type type;
} hlo_value;

struct hlo_row;

/* One operator of the text. Parts of the text are borrowed. */
typedef struct hlo_op {
    foreign_layer l;
    ir_id *in; /* l.in */
    struct hlo_reader *r;
    hlo_scope *s;
    const struct hlo_row *row;
    str name;             /* "stablehlo.add" */
    str body;             /* behind the name, to its end */
    VEC(str) results;     /* "%0", without the number of them */
    VEC(uint32_t) counts; /* 1, or the number of "%0:2" */
    VEC(str) operands;    /* "%0", "%0#1" */
    VEC(hlo_type) in_types, out_types;
    str regions[HLO_MAX_REGIONS]; /* between their braces */
    uint32_t n_regions, n_results;
    const hlo_value *values; /* [operands] */
} hlo_op;

typedef struct hlo_function {
    str name, args, body; /* args and body: between their brackets */
    bool is_private;
    uint32_t calls; /* how often it is named elsewhere */
} hlo_function;

typedef struct hlo_reader {
    foreign f;
    const char *text, *end;
    VEC(hlo_function) functions;
    map by_name;
    map constants; /* by their place */
    VEC(hlo_value) values;
    uint32_t depth;
    uint64_t n_ops;
    uint64_t looked; /* bytes that were searched for resources */
    bool absent;     /* a constant has no content */
} hlo_reader;

/* False: the operator cannot be expressed in rows, and nothing was added. */
typedef bool hlo_map_fn(hlo_op *o);
typedef struct hlo_row {
    const char *name; /* without the dialect */
    hlo_map_fn *map;  /* NULL: `onnx` takes the operands as they are */
    const char *onnx;
    const char *logic; /* the same of booleans, where it is another */
    uint8_t least_in;
} hlo_row;
const hlo_row *hlo_row_of(str name); /* of a whole name; NULL: none */

/* ---- text (hlo_text.c) ---- */

assay_status hlo_fail(hlo_reader *r, const char *at, const char *what);
const char *hlo_skip(const char *p, const char *end); /* blanks */
/* Behind the bracket that closes the one at p; NULL: there is none. */
const char *hlo_close(const char *p, const char *end);
str hlo_word(const char *p, const char *end); /* letters, digits, '_', '.', '$', '-' */
/* The value of an attribute "key = value", wherever it is outside of regions; p NULL: absent. */
str hlo_attr(const hlo_op *o, const char *key);
/* Whole numbers of a list, an array<> or a dense<>: how many; -1: absent or too many. */
int hlo_ints_of(str value, int64_t *list);
int hlo_ints(const hlo_op *o, const char *key, const char *generic, int64_t *list);
int64_t hlo_int(const hlo_op *o, const char *key, const char *generic, int64_t def);
bool hlo_parse_type(str text, hlo_type *t);
/* The next of a list of types, or the only one; false: there is none. */
bool hlo_next_type(const char **p, const char *end, hlo_type *t);
/* Reads the operator at *p and moves behind it. *found false: the region ends there. */
assay_status hlo_read_op(hlo_reader *r, const char **p, const char *end, hlo_op *o, bool *found);
str hlo_short(str name); /* behind the dialect */

/* ---- values and operators (hlo_read.c) ---- */

hlo_value *hlo_find(hlo_reader *r, const hlo_scope *s, str name); /* NULL: none */
bool hlo_define(hlo_reader *r, hlo_scope *s, str name, ir_id id, const hlo_type *t);
ir_id hlo_declare(hlo_reader *r, str name, const hlo_type *t);
hlo_scope *hlo_scope_new(hlo_reader *r, hlo_scope *outer);
/* The operators of a region; the operands of its return are out[n_out]. */
typedef struct hlo_results {
    VEC(hlo_value) list;
} hlo_results;
assay_status hlo_read_region(hlo_reader *r, hlo_scope *s, str region, hlo_results *out);
/* Names of the arguments of a region: "^bb0(%a: type, %b: type):"; how many, and the rest of the region. */
int hlo_region_args(str *region, str *names, int max);
bool hlo_call(hlo_op *o, str function, bool *called);
/* Results stand for these values. */
bool hlo_stand(hlo_op *o, uint32_t i, const hlo_value *v);
/* One whole number that a value has as a constant. */
bool hlo_scalar(const hlo_reader *r, const hlo_value *v, int64_t *out);

/* ---- quantised types (hlo_quant.c) ---- */

/* Gives a value the scales of its type, if it has any. */
void hlo_set_quant(hlo_reader *r, ir_id id, const hlo_type *t);

/* ---- constants (hlo_const.c) ---- */

bool hlo_constant(hlo_op *o);

static inline const hlo_type *hlo_in(const hlo_op *o, uint32_t i)
{
    static const hlo_type none = {.rank = -1};
    return i < o->operands.n ? &o->values[i].type : &none;
}
static inline const hlo_type *hlo_out(const hlo_op *o, uint32_t i)
{
    static const hlo_type none = {.rank = -1};
    return i < o->out_types.n ? &o->out_types.items[i] : &none;
}

/* A convolution whose data has zeros between its elements (hlo_sort.c). data and kernel: axes in the order batch or outputs,
 * features, spatial. */
typedef struct hlo_transposition {
    int n; /* spatial axes */
    const int64_t *data, *kernel, *inner, *strides, *dilations, *pads;
    bool reversed; /* the kernel is turned around already */
} hlo_transposition;
/* The result as batch, features, spatial; IR_NONE: it is none. */
ir_id hlo_transposed(hlo_op *o, const hlo_transposition *t);

extern hlo_map_fn hlo_compare, hlo_clamp, hlo_convert, hlo_rsqrt, hlo_expm1, hlo_log1p,
    hlo_remainder, hlo_is_finite, hlo_iota, hlo_shift, hlo_cbrt, hlo_round_away, hlo_einsum,
    hlo_size;
extern hlo_map_fn hlo_reshape, hlo_broadcast, hlo_transpose, hlo_concat, hlo_slice, hlo_pad,
    hlo_reverse, hlo_gather, hlo_scatter, hlo_dynamic_slice, hlo_dynamic_update, hlo_barrier,
    hlo_broadcast_old;
extern hlo_map_fn hlo_dot, hlo_dot_general, hlo_convolution, hlo_reduce, hlo_reduce_window,
    hlo_batch_norm;
extern hlo_map_fn hlo_sort, hlo_quantize, hlo_dequantize;
extern hlo_map_fn hlo_while, hlo_if, hlo_case, hlo_func_call, hlo_composite, hlo_custom_call;

#endif
