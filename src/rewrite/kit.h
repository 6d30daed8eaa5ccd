/* What the precision rewrites share beside ir/kit.h: facts about values, and parts called after what they
 * stand for.
 *
 * Out of memory shows as IR_NONE and is sticky in the arenas: kit_end() reports it once.
 */
#ifndef REWRITE_KIT_H
#define REWRITE_KIT_H

#include "ir/kit.h"
#include "rewrite/precision.h"

typedef struct kit {
    ir_model *m;
    value_facts facts;
    arena *scratch;
    assay_error *err;
    ir_kit kit;          /* names of all values */
    const ir_id *graphs; /* those that the main graph reaches, parents first */
    uint32_t n_graphs;
} kit;

/* Wraps the model's reader. kit_end() must follow in any case; it returns s, or that memory ran out. */
assay_status kit_begin(kit *k, ir_model *m, value_facts facts, assay_error *err);
assay_status kit_end(kit *k, assay_status s);

/* ---- facts ---- */
/* Of a tensor's elements; IR_UNDEFINED when it is no tensor or unknown. */
ir_dtype kit_dtype(const kit *k, ir_id value);
const op_info *kit_info(const kit *k, ir_id value); /* NULL if there is none */
/* A dense float32 constant, or NULL. */
const ir_tensor *kit_weight(const kit *k, ir_id value);
static inline ir_id kit_in(const ir_node *n, uint32_t i)
{
    return i < n->n_inputs ? n->inputs[i] : IR_NONE;
}
static inline bool kit_is(const ir_node *n, const char *op)
{
    return str_empty(n->domain) && str_is(n->op, op);
}
/* Opset that holds for the node. */
int kit_version(const kit *k, const ir_node *n);
/* [values] how often each is read: by nodes of all graphs and as output of one. In scratch. */
uint32_t *kit_uses(kit *k);

/* ---- making ---- */
/* "<base><suffix>" that no value has yet. */
str kit_name(kit *k, str base, const char *suffix);
/* A value called after `of`, with the declared shape of `of` and another element type. */
ir_id kit_value_like(kit *k, ir_id of, const char *suffix, ir_dtype t);
ir_id kit_value(kit *k, ir_id graph, str base, const char *suffix, ir_dtype t);
/* Constants; flags of the value are those of `of`, or IR_VALUE_NOT_PARAM when it is IR_NONE. */
ir_id kit_const(kit *k, ir_id graph, str name, const ir_tensor *t, ir_id of);
ir_id kit_bytes(kit *k, ir_id graph, str base, const char *suffix, const ir_t *shape,
                const void *bytes);

/* Adds a node at the end of the graph: "<like's name>/<part>", its module and its place in the original
 * graph; like may be IR_NONE, then the node is called `part`. */
typedef struct kit_part {
    ir_id graph, like;
    const char *op, *part;
    uint32_t n_in, n_out, n_attrs;
    const ir_id *in, *out;
    const ir_attr_spec *attrs;
} kit_part;
ir_id kit_node(kit *k, const kit_part *p);
/* A Cast; named after the value it makes. */
ir_id kit_cast(kit *k, ir_id graph, ir_id like, ir_id from, ir_id to, ir_dtype t);

/* Takes all nodes out of a graph and returns them, in scratch; NULL when there are none. */
const ir_id *kit_take_nodes(kit *k, ir_id graph, uint32_t *n);
/* Puts a node back at the end. */
void kit_put_node(kit *k, ir_id graph, ir_id node);

/* Copies of a node's inputs and outputs, to be changed; NULL where there are none. */
bool kit_copy_ports(kit *k, const ir_node *n, ir_id **in, ir_id **out);

/* Leaves out of all graphs the constants that nothing reads and that something read before. */
void kit_drop_unused(kit *k, const uint32_t *uses_before, uint32_t n_before);

#endif
