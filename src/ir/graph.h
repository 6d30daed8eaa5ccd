/* The graph of every model: nodes and values in one id space across the main graph, its nested subgraphs and its
 * functions, so that analyses keep plain side arrays.
 *
 * - A value is made by a node, or is a graph input, or is a constant (initialiser). Names of outer
 *   scopes are resolved when the graph is built: a node of a subgraph refers to the outer value's
 *   id.
 * - Nodes of a graph stand in execution order (verify checks; the reader sorts when a file does
 *   not).
 * - Everything is in the model's arena and is borrowed from there. Pointers into nodes/values move when the model
 *   grows: keep ids.
 * - Analyses never write into the model; what they find goes into arrays of their own.
 */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include "base/error.h"

#include "base/notes.h"
#include "base/str.h"
#include "base/vec.h"
#include "ir/dtype.h"
#include <assert.h>

typedef uint32_t ir_id;
#define IR_NONE     UINT32_MAX
#define IR_MAX_RANK 64

/* ---- types as declared in a file (inferred ones are ops/op.h's op_info) -------------------- */

typedef struct ir_dim {
    int64_t value; /* -1 when not a number */
    str symbol;    /* "batch", or empty */
} ir_dim;

typedef enum ir_kind {
    IR_KIND_NONE, /* nothing is declared */
    IR_KIND_TENSOR,
    IR_KIND_SPARSE,
    IR_KIND_SEQUENCE,
    IR_KIND_OPTIONAL,
    IR_KIND_MAP,
    IR_KIND_OPAQUE,
} ir_kind;

typedef struct ir_type {
    ir_kind kind;
    ir_dtype dtype; /* of a tensor's elements, or a map's keys */
    int rank;       /* -1 when not declared */
    const ir_dim *dims;
    const struct ir_type *elem; /* of a sequence, optional or map (its values) */
} ir_type;

/* ---- constant tensors ----------------------------------------------------------------------- */

typedef enum ir_storage {
    IR_DATA_NONE,     /* no bytes: a built-in architecture, or an absent external file */
    IR_DATA_INLINE,   /* small: raw little-endian bytes in the arena */
    IR_DATA_SLICE,    /* offset and length in the model's own file */
    IR_DATA_EXTERNAL, /* offset and length in `location` beside the model */
    IR_DATA_MADE,     /* made when it is read, by `maker`: see ir/made.h */
} ir_storage;

struct ir_maker;

typedef struct ir_tensor {
    str name;
    ir_dtype dtype;
    int rank;
    const int64_t *dims;
    uint64_t n_elems;    /* product of dims */
    uint64_t size_bytes; /* at the stored dtype, packed; for strings what the file holds */
    ir_storage storage;
    uint8_t encoding; /* the format's own word for how a slice is written (0: raw) */
    bool sparse;      /* stored as values + indices; n_stored of n_elems are there */
    uint64_t n_stored;
    const uint8_t *bytes;            /* IR_DATA_INLINE */
    uint64_t offset, length;         /* IR_DATA_SLICE, IR_DATA_EXTERNAL; of strings also INLINE */
    str location;                    /* IR_DATA_EXTERNAL */
    const struct ir_tensor *indices; /* sparse: int64 [n_stored] or [n_stored, rank]; or NULL */
    str stored;              /* what a file of weights calls its type there ("Q4_K"), or empty */
    uint64_t stored_bytes;   /* what it takes there, when `stored` is not empty */
    const ir_packed *native; /* blocks in which the model is published, or NULL: its native type */
    const struct ir_maker *maker; /* IR_DATA_MADE; offset and length are within what it makes */
} ir_tensor;

/* ---- attributes ------------------------------------------------------------------------------ */

typedef enum ir_attr_kind { /* ONNX's AttributeProto.AttributeType numbers */
                            IR_ATTR_NONE = 0,
                            IR_ATTR_FLOAT = 1,
                            IR_ATTR_INT = 2,
                            IR_ATTR_STRING = 3,
                            IR_ATTR_TENSOR = 4,
                            IR_ATTR_GRAPH = 5,
                            IR_ATTR_FLOATS = 6,
                            IR_ATTR_INTS = 7,
                            IR_ATTR_STRINGS = 8,
                            IR_ATTR_TENSORS = 9,
                            IR_ATTR_GRAPHS = 10,
                            IR_ATTR_SPARSE = 11,
                            IR_ATTR_SPARSES = 12,
                            IR_ATTR_TYPE = 13,
                            IR_ATTR_TYPES = 14,
} ir_attr_kind;

typedef struct ir_attr {
    str name;
    ir_attr_kind kind;
    str ref;    /* inside a function: the caller's attribute that gives the value; else empty */
    uint32_t n; /* items of a list kind; 1 for the single kinds */
    union {
        double f;
        int64_t i;
        str s;
        const ir_tensor *tensor;
        ir_id graph;
        const ir_type *type;
        const double *floats;
        const int64_t *ints;
        const str *strings;
        const ir_tensor *const *tensors;
        const ir_id *graphs;
        const ir_type *const *types;
    } v;
} ir_attr;

/* ---- nodes, values, graphs ------------------------------------------------------------------ */

enum { /* how PyTorch code writes a node, when a builder knows; other tools' counts hang on it */
       IR_NODE_FUNCTION =
           1, /* a function, or a class of the network's own: no module of torch.nn */
       IR_NODE_ADAPTIVE = 2, /* an adaptive pooling */
};

typedef struct ir_node {
    str name;       /* unique enough for display; the reader makes one up when empty */
    str op, domain; /* domain "" is ai.onnx */
    str module;     /* dotted path of the module it belongs to when the builder knows; else empty */
    str overload;
    int version; /* of the opset import that holds for its domain; 0 when there is none */
    ir_id graph;
    ir_id call; /* node in the original graph whose function call brought it in, or IR_NONE */
    const ir_id *inputs;  /* IR_NONE where an optional input is absent */
    const ir_id *outputs; /* IR_NONE where an optional output is absent */
    const ir_attr *attrs;
    uint32_t n_inputs, n_outputs, n_attrs;
    uint32_t flags; /* IR_NODE_ */
} ir_node;

enum {
    IR_VALUE_INPUT = 1,        /* a graph input that the caller must feed */
    IR_VALUE_OUTPUT = 2,       /* a graph output */
    IR_VALUE_PARAM = 4,        /* marked as a parameter by a builder: no guessing */
    IR_VALUE_BUFFER = 8,       /* marked as a buffer by a builder */
    IR_VALUE_NOT_PARAM = 16,   /* marked as neither */
    IR_VALUE_OVERRIDABLE = 32, /* an initialiser that is also a graph input */
    IR_VALUE_TRANSPOSED = 64,  /* a weight whose last two dims a checkpoint has the other way */
    IR_VALUE_TRAINING = 128,   /* of a checkpoint, not of the model: the state of an optimizer */
    IR_VALUE_FROZEN = 256,     /* a parameter that the source does not train */
    IR_VALUE_UNREAD = 512,     /* a parameter or buffer, though no node reads it */
    IR_VALUE_ASSUMED = 1024,   /* the declared shape is an assumption of the reader */
};

/* How a source stores real numbers as whole ones: real = scale * (stored - zero). Both are [1], or have one item for
 * each index of `axis`. */
typedef struct ir_quant {
    const ir_tensor *scale, *zero; /* float32, int64; zero NULL: 0 */
    int axis;
} ir_quant;

typedef struct ir_value {
    str name;
    ir_type declared;          /* kind NONE when nothing is declared */
    const ir_quant *quant;     /* or NULL; DequantizeLinear has its own inputs instead */
    const ir_tensor *constant; /* initialiser, or the tensor of a Constant node */
    ir_id producer;            /* node, or IR_NONE */
    ir_id graph;
    uint32_t flags;
} ir_value;

typedef struct ir_graph {
    str name;
    ir_id parent;      /* graph whose node holds this one, or IR_NONE */
    VEC(ir_id) nodes;  /* in execution order */
    VEC(ir_id) inputs; /* without those that are initialisers */
    VEC(ir_id) outputs;
    VEC(ir_id) constants; /* initialisers */
} ir_graph;

typedef struct ir_opset {
    str domain;
    int64_t version;
} ir_opset;

/* A model-local function; its body is a graph whose inputs and outputs are the formal ones. */
typedef struct ir_function {
    str domain, name, overload;
    ir_id body;
    const str *attr_names; /* formal attributes without default */
    const ir_attr *attr_defaults;
    uint32_t n_attr_names, n_attr_defaults;
} ir_function;

typedef struct ir_model ir_model;
typedef struct ir_file {
    str name;
    uint64_t size_bytes;
} ir_file;

/* Reads a constant's bytes as raw little-endian (packed) into buf of t->size_bytes. Supplied by the
 * format that made the model; absent for built-in architectures. */
typedef struct ir_reader {
    void *ctx;
    assay_status (*read)(void *ctx, const ir_tensor *t, void *buf, assay_error *err);
    void (*close)(void *ctx); /* may be NULL */
} ir_reader;

/* What a file says about itself, for people: "input 0", "image; mean 127.5; deviation 127.5". */
typedef struct ir_property {
    str key, value;
} ir_property;

struct ir_model {
    arena *arena;
    notes notes;  /* what loading had to say */
    str name;     /* as the user called it */
    str format;   /* "onnx", "zoo", ... */
    str producer; /* "pytorch 2.1" or empty */
    ir_property *properties;
    uint32_t n_properties;
    int64_t ir_version;
    uint64_t file_size_bytes;         /* on disk with external data; 0 when there is no file */
    uint32_t n_constant_nodes;        /* Constants of the file that were read as initialisers */
    uint64_t parameters_not_in_graph; /* weights that never run in inference (zoo aux heads) */
    struct {
        uint64_t tensors, elements, bytes;
    } stored;       /* all tensors with data in a foreign file, also those that became attributes */
    bool foreign;   /* operators of another format: rewrite_to_onnx() makes them ONNX */
    bool inventory; /* weights whose architecture is not known: constants and no graph */
    struct ir_file *files; /* of an inventory */
    uint32_t n_files;
    bool
        weights_differ; /* a file of weights is not what the architecture asks for; see the notes */
    /* The number type that floats are published in, where the graph says float32 for all of them (built-in
     * architectures); IR_UNDEFINED: that of the graph. */
    ir_dtype native;
    bool input_assumed; /* the file does not state the sizes of its inputs, nor did the user */
    bool architecture_changed; /* the size of an input gave weights other shapes; see the notes */
    VEC(ir_node) nodes;
    VEC(ir_value) values;
    VEC(ir_graph) graphs; /* [0] is the main graph */
    VEC(ir_opset) opsets;
    VEC(ir_function) functions;
    ir_reader reader;
};

/* New empty model with its main graph; limit_bytes bounds its arena. */
assay_status ir_model_new(size_t limit_bytes, ir_model **out, assay_error *err);
void ir_model_free(ir_model *m); /* closes the reader; NULL is allowed */

static inline ir_node *ir_node_at(const ir_model *m, ir_id id)
{
    assert(id < m->nodes.n);
    return &m->nodes.items[id];
}
static inline ir_value *ir_value_at(const ir_model *m, ir_id id)
{
    assert(id < m->values.n);
    return &m->values.items[id];
}
static inline ir_graph *ir_graph_at(const ir_model *m, ir_id id)
{
    assert(id < m->graphs.n);
    return &m->graphs.items[id];
}

/* Whether an attribute of this kind holds n items rather than one. */
static inline bool ir_attr_is_list(ir_attr_kind k)
{
    return (k >= IR_ATTR_FLOATS && k <= IR_ATTR_GRAPHS) || k == IR_ATTR_SPARSES ||
           k == IR_ATTR_TYPES;
}

/* The subgraphs an attribute holds: one, several, or none when it is of another kind or refers to an
 * attribute of a function's caller. */
typedef struct ir_graphs {
    const ir_id *ids;
    uint32_t n;
} ir_graphs;
static inline ir_graphs ir_attr_graphs(const ir_attr *a)
{
    if (a->kind == IR_ATTR_GRAPH && !a->ref.n)
        return (ir_graphs){&a->v.graph, 1};
    return a->kind == IR_ATTR_GRAPHS && !a->ref.n ? (ir_graphs){a->v.graphs, a->n} : (ir_graphs){0};
}

/* NULL when the node has no such attribute. */
const ir_attr *ir_attr_find(const ir_node *n, const char *name);
/* `def` if the node has no such attribute, or it is of another kind or the caller's. */
int64_t ir_attr_int(const ir_node *n, const char *name, int64_t def);
double ir_attr_float(const ir_node *n, const char *name, double def);
str ir_attr_str(const ir_node *n, const char *name, const char *def);
/* Version imported for a domain ("" and "ai.onnx" are one); 0 when it is not imported. */
int ir_opset_version(const ir_model *m, str domain);

#endif
