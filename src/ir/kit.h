/* The kit for building graphs, shared by the zoo, the rewrites and the readers of formats: values that know
 * their shape, names that nothing has yet, constants with content, nodes with attributes.
 *
 * It uses ir/build.h and has the same error handling: out of memory returns IR_NONE (a name has p == NULL) and is
 * sticky in the arena, so callers may check once at the end.
 */
#ifndef IR_KIT_H
#define IR_KIT_H

#include "base/map.h"
#include "ir/build.h"

#define IR_KIT_RANK 8

/* A value with its shape. */
typedef struct ir_t {
    ir_id id;
    ir_dtype dtype;
    int rank; /* -1: unknown */
    int64_t d[IR_KIT_RANK];
} ir_t;

typedef struct ir_kit {
    ir_model *m;
    map names; /* in use: how often each was requested */
} ir_kit;

/* A kit that knows the names of all values of m, with room for `more` names. They are kept in `scratch`. */
bool ir_kit_begin(ir_kit *k, ir_model *m, arena *scratch, uint32_t more);

/* ---- names ---- */

/* `name`, or "<name>_1", "<name>_2", ... if it is in use; in use from now on. */
str ir_kit_name(ir_kit *k, str name);
/* "<base><suffix><n>" in the model's arena; without the number if n is 0. */
str ir_kit_numbered(const ir_kit *k, str base, const char *suffix, uint32_t n);

/* ---- values: names are borrowed and must be valid as long as the model ---- */

/* Declares the type unless it is IR_UNDEFINED. */
ir_id ir_kit_value(const ir_kit *k, ir_id graph, str name, const ir_t *shape);
/* A constant of that tensor, which is borrowed; flags are IR_VALUE_*. */
ir_id ir_kit_const_of(ir_model *m, ir_id graph, str name, const ir_tensor *t, uint32_t flags);
/* The same of a new tensor. bytes are copied; NULL: the content is unknown. */
ir_id ir_kit_const(ir_model *m, ir_id graph, str name, const ir_t *shape, const void *bytes,
                   uint32_t flags);

/* ---- nodes ---- */

typedef struct ir_attr_spec {
    const char *name;
    ir_attr_kind kind; /* INT, FLOAT, STRING, INTS, FLOATS */
    int64_t i;
    double f; /* rounded to float32, as a file would hold it */
    const char *s;
    const int64_t *ints;
    const double *floats;
    int n; /* of a list */
} ir_attr_spec;
#define IR_SPEC_INT(name_, v_)   ((ir_attr_spec){.name = (name_), .kind = IR_ATTR_INT, .i = (v_)})
#define IR_SPEC_FLOAT(name_, v_) ((ir_attr_spec){.name = (name_), .kind = IR_ATTR_FLOAT, .f = (v_)})
#define IR_SPEC_TEXT(name_, v_)  ((ir_attr_spec){.name = (name_), .kind = IR_ATTR_STRING, .s = (v_)})
#define IR_SPEC_INTS(name_, n_, v_) \
    ((ir_attr_spec){.name = (name_), .kind = IR_ATTR_INTS, .n = (n_), .ints = (v_)})

/* Of a list that ends with an item without a name; NULL is an empty one. */
static inline uint32_t ir_attr_specs(const ir_attr_spec *list)
{
    uint32_t n = 0;
    while (list && list[n].name)
        n++;
    return n;
}
/* Everything is copied into the model's arena. */
ir_attr ir_kit_attr(ir_model *m, const ir_attr_spec *spec);

/* A node at the end of proto->graph: proto says all but operator, domain and attributes. */
typedef struct ir_kit_node {
    ir_node proto;
    const char *op, *domain; /* domain NULL: ai.onnx */
    const ir_attr_spec *attrs;
    uint32_t n_attrs;
} ir_kit_node;
ir_id ir_kit_add(ir_model *m, const ir_kit_node *n);

/* ---- changing what is there ---- */

/* Input `slot` of a node becomes `value`; inputs before it that were not there are absent. */
bool ir_kit_set_input(ir_model *m, ir_node *node, uint32_t slot, ir_id value);
/* Takes all nodes out of a graph and returns them, in scratch; NULL if there are none. */
const ir_id *ir_kit_take_nodes(ir_model *m, ir_id graph, arena *scratch, uint32_t *n);
/* Puts a node back at the end of a graph. */
bool ir_kit_put_node(ir_model *m, ir_id graph, ir_id node);

/* [values] how often each is read: by nodes of these graphs and as output of one. In scratch. */
uint32_t *ir_kit_uses(const ir_model *m, const ir_id *graphs, uint32_t n_graphs, arena *scratch);
/* Leaves out of a graph the constants that `keep` refuses. */
void ir_kit_keep_constants(ir_model *m, ir_id graph, bool (*keep)(const void *ctx, ir_id value),
                           const void *ctx);

#endif
