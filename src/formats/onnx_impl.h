/* Shared by the onnx_*.c files: the state of the reader.
 *
 * A scope is one graph (main, nested, or a function's body) while it is read. Names are interned as symbols of their
 * scope when they are used or defined, in any order. At the end of the graph message, symbols without a definition
 * are looked up in the outer scopes, which are complete by then because nested graphs wait in a queue. The file is
 * therefore read once, no C recursion follows the nesting of graphs, and a node may refer to a name that is defined
 * later.
 */
#ifndef FORMATS_ONNX_IMPL_H
#define FORMATS_ONNX_IMPL_H

#include "base/limits.h"
#include "base/map.h"
#include "formats/onnx_read.h"
#include "formats/onnx_store.h"
#include "formats/wire.h"
#include "ir/build.h"

#define ONNX_MAX_NAME_BYTES   LIMIT_NAME_BYTES
#define ONNX_MAX_STRING_BYTES ((uint64_t)1 << 28)
#define ONNX_MAX_GRAPH_DEPTH  LIMIT_GRAPH_DEPTH
#define ONNX_MAX_TYPE_DEPTH   16
#define ONNX_MAX_OPSETS       256
#define ONNX_RECENT           64
#define ONNX_RECENT_BITS      6
#define ONNX_SEEN_ATTRS       256 /* a power of two */
#define ONNX_SEEN_BYTES       96

/* Names from files in sentences: quoted and cut. */
#define NAME_FMT    "'%.*s'"
#define NAME_ARG(s) (int)((s).n < 100 ? (s).n : 100), ((s).p ? (s).p : "")

typedef struct onnx_symbol {
    str name;
    ir_id value;   /* IR_NONE until defined here or found outside */
    uint32_t node; /* index in the scope of the node that makes it, or ONNX_NO_NODE */
    uint32_t user; /* index of the first node that uses it, or ONNX_NO_NODE */
    uint32_t roles;
    const ir_type *declared; /* NULL when nothing is */
} onnx_symbol;

#define ONNX_NO_NODE UINT32_MAX

enum {
    ONNX_BY_INPUT = 1,     /* defined as a graph input */
    ONNX_BY_INIT = 2,      /* defined as an initialiser */
    ONNX_BY_NODE = 4,      /* defined as a node's output */
    ONNX_USED = 8,         /* a node or the graph's outputs refer to it */
    ONNX_BY_CONSTANT = 16, /* defined as the output of a Constant that was read as an initialiser */
    ONNX_DEFINED = ONNX_BY_INPUT | ONNX_BY_INIT | ONNX_BY_NODE | ONNX_BY_CONSTANT,
};

/* A Constant of the main graph is an initialiser in all but form. As one it takes no node and costs no pass over the
 * nodes anything: two of five nodes of some exports are Constants. It joins the constants of the graph after the
 * initialisers. */
typedef struct onnx_constant {
    ir_id value;
    const ir_tensor *tensor;
} onnx_constant;

/* A graph attribute that waits for its outer scope to be complete. */
typedef struct onnx_child {
    ir_id graph;
    cursor body;
    uint32_t node; /* index of the owner in the scope, or ONNX_NO_NODE for a function's default */
    str attr;
} onnx_child;

typedef struct onnx_scope {
    struct onnx_reader *r;
    struct onnx_scope *parent; /* NULL for the main graph and for functions */
    ir_id graph;
    uint32_t owner_index; /* of the node in the parent that holds it, or ONNX_NO_NODE */
    ir_id first_node;     /* ids follow file order */
    unsigned depth;
    bool unsorted;
    str attr;          /* the owner's attribute that holds it */
    const map *opsets; /* domain to version */
    map index;         /* name to symbol */
    uint32_t
        recent[1 << ONNX_RECENT_BITS]; /* symbols: most inputs of a node were made just before */
    VEC(onnx_symbol) symbols;
    VEC(ir_id *)
    refs; /* of each node, its inputs and then its outputs: numbers of symbols, which become the
                        * ids of values when the graph is complete */
    VEC(uint32_t) numbers;        /* of each node, its place in the file's list */
    uint32_t n_read;              /* nodes of that list so far, with those that became constants */
    VEC(onnx_constant) constants; /* of those */
    VEC(uint32_t) inputs;
    VEC(uint32_t) outputs;
    VEC(onnx_child) children;
} onnx_scope;

/* Lists that grow while one node or attribute is read and are emptied for the next: fresh ones for
 * each would touch more memory than the whole graph takes. */
typedef VEC(uint32_t) onnx_ids;

typedef struct onnx_lists {
    onnx_ids inputs, outputs;
    VEC(ir_attr) attrs;
    VEC(double) floats;
    VEC(int64_t) ints;
    VEC(str) strings;
    VEC(ir_tensor *) tensors; /* also the single and the sparse ones */
    VEC(const ir_type *) types;
    VEC(cursor) graphs;
} onnx_lists;

/* An attribute as the file writes it, and what was read of it. Exporters write the same ones over and over
 * (perm, axis, small constants): a repetition takes the tensor or list of the first. */
typedef struct onnx_seen_attr {
    str bytes;
    ir_attr attr;
} onnx_seen_attr;

typedef struct onnx_reader {
    ir_model *m;
    arena *scratch;   /* freed when reading ends */
    assay_error *err; /* never NULL */
    onnx_store *store;
    map atoms; /* strings that repeat: operators, domains, attribute names, dimension names */
    str recent
        [ONNX_RECENT]; /* of them, by length and first letter: most are found here without a hash */
    map opsets;
    onnx_seen_attr *seen; /* [ONNX_SEEN_ATTRS] by hash; a newer one takes the place of an older */
    onnx_lists lists;
    VEC(onnx_scope *) scopes; /* in the order they were met; nested ones follow their owners */
    bool external_required;
    uint64_t n_absent; /* tensors that declare elements and hold none */
    str first_absent;
} onnx_reader;

/* ---- strings (onnx_read.c) ---- */

/* A name where it lies in the window: valid until the next read. Failure is in the field's
 * cursor. */
static inline str onnx_name(onnx_reader *r, wire_field *f)
{
    uint64_t n = cursor_left(&f->body);
    if (n > SOURCE_VIEW_MAX)
        return cursor_str(&f->body, n, r->scratch, ONNX_MAX_NAME_BYTES);
    const uint8_t *p = cursor_view(&f->body, n);
    return p ? (str){(const char *)p, (uint32_t)n} : (str){NULL, 0};
}
/* A string that repeats in the file, kept once in the model's arena. */
str onnx_atom(onnx_reader *r, wire_field *f);
/* A string copied into the model's arena. */
str onnx_string(onnx_reader *r, wire_field *f);
/* The same for domains: "ai.onnx" is "". */
str onnx_domain(onnx_reader *r, wire_field *f);
/* Handlers of fields that are kept as they are: a member of the message's struct, whose `r` is the reader; `read` is one
 * of the above. */
#define ONNX_TEXT(handler, type, member, read)             \
    static assay_status handler(void *self, wire_field *f) \
    {                                                      \
        type *in = self;                                   \
        in->member = read(in->r, f);                       \
        return ASSAY_OK;                                   \
    }
#define ONNX_NUMBER(handler, type, member)                 \
    static assay_status handler(void *self, wire_field *f) \
    {                                                      \
        ((type *)self)->member = (int64_t)f->value;        \
        return ASSAY_OK;                                   \
    }
/* Reads an OperatorSetIdProto into a map of domain to version, and into *out unless NULL. */
assay_status onnx_read_opset(onnx_reader *r, wire_field *f, map *into, ir_opset *out);
/* ASSAY_OK unless an arena has reached its limit. */
static inline assay_status onnx_memory(onnx_reader *r)
{
    bool out = arena_failed(r->scratch) || arena_failed(r->m->arena);
    return out ? err_no_memory(r->err) : ASSAY_OK;
}

/* ---- graphs and functions (onnx_graph.c) ---- */

assay_status onnx_read_graph(onnx_reader *r, cursor body, ir_id graph);
assay_status onnx_read_function(onnx_reader *r, cursor body);
/* Reads the graphs that wait in scopes that are complete, then puts every graph in order. */
assay_status onnx_read_nested(onnx_reader *r);

/* ---- nodes (onnx_node.c) ---- */

assay_status onnx_read_node(onnx_scope *s, wire_field *f);

/* ---- names (onnx_scope.c) ---- */

onnx_scope *onnx_scope_new(onnx_reader *r, ir_id graph, onnx_scope *parent);
/* Room for this many nodes and the names they make. */
assay_status onnx_scope_reserve(onnx_scope *s, uint32_t n_nodes);
/* The node with this index in the scope. */
ir_node *onnx_node_at(const onnx_scope *s, uint32_t index);
/* Interns a name: the number of its symbol, or IR_NONE if out of memory. */
uint32_t onnx_symbol_of(onnx_scope *s, str name);
/* Defines it in one role; a name may only be an input and an initialiser at once. */
assay_status onnx_define(onnx_scope *s, onnx_symbol *sym, uint32_t role);
/* Resolves names, adds nodes, inputs and outputs to the model. */
assay_status onnx_scope_finish(onnx_scope *s);

/* ---- pieces ---- */

assay_status onnx_read_attr(onnx_scope *s, wire_field *f, uint32_t node_index, ir_attr *out);
assay_status onnx_read_tensor(onnx_reader *r, cursor *body, ir_tensor **out);
assay_status onnx_read_sparse(onnx_reader *r, cursor *body, ir_tensor **out);
assay_status onnx_read_type(onnx_reader *r, cursor *body, ir_type *out);

#endif
