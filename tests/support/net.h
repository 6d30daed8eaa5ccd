/* Small models for tests, built through ir/build.h and inferred by analyze/infer.h. Every function
 * asserts that it worked, so that a test reads as the model it describes.
 *
 *     net n = net_open(17);
 *     ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3));
 *     ir_id y = net_op(&n, 0, "Relu", IDS(x), NO_ATTRS);
 *     net_infer(&n);
 *     net_is(&n, y, IR_FLOAT32, DIMS(2, 3));
 *     net_close(&n);
 */
#ifndef TESTS_SUPPORT_NET_H
#define TESTS_SUPPORT_NET_H

#include "analyze/infer.h"
#include "ir/build.h"

typedef struct net {
    ir_model *m;
    arena *scratch;
    infer_result *r;
    assay_error err;
    int version; /* of nodes added from now on */
} net;

#define COUNT_OF(...) (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define DIMS(...)                                 \
    (int)COUNT_OF(__VA_ARGS__), (const int64_t[]) \
    {                                             \
        __VA_ARGS__                               \
    }
#define SCALAR 0, NULL
#define IDS(...)                                                                      \
    (uint32_t)(sizeof((const ir_id[]){__VA_ARGS__}) / sizeof(ir_id)), (const ir_id[]) \
    {                                                                                 \
        __VA_ARGS__                                                                   \
    }
#define NO_IDS 0, NULL
#define ATTRS(...)                                                                          \
    (uint32_t)(sizeof((const ir_attr[]){__VA_ARGS__}) / sizeof(ir_attr)), (const ir_attr[]) \
    {                                                                                       \
        __VA_ARGS__                                                                         \
    }
#define NO_ATTRS 0, NULL

net net_open(int version);
void net_close(net *n);

ir_id net_graph(net *n, ir_id parent);
/* A graph input with a declared type; rank -1 (with NULL) leaves the shape open. */
ir_id net_input(net *n, ir_id graph, const char *name, ir_dtype t, int rank, const int64_t *dims);
/* A formal input of a subgraph: nothing declared. */
ir_id net_formal(net *n, ir_id graph, const char *name);
/* What the file declares of a value. */
void net_declare(net *n, ir_id value, ir_dtype t, int rank, const int64_t *dims);
/* A dimension of a declared shape that the file leaves open, by its name. */
void net_call(net *n, ir_id value, int axis, const char *symbol);
void net_outputs(net *n, ir_id graph, uint32_t count, const ir_id *ids);
/* Integer or bool constants with content; float ones without bytes. */
ir_id net_ints(net *n, ir_id graph, ir_dtype t, int rank, const int64_t *dims,
               const int64_t *content);
ir_id net_int(net *n, ir_id graph, int64_t content);
ir_id net_bool(net *n, ir_id graph, bool content);
ir_id net_weight(net *n, ir_id graph, int rank, const int64_t *dims);

/* A node of `outputs` outputs ("domain:Op" or "Op"); returns the first output, the others follow it
 * with consecutive ids. Attributes are copied. */
ir_id net_ops(net *n, ir_id graph, const char *op, uint32_t n_in, const ir_id *in, uint32_t n_attrs,
              const ir_attr *attrs, uint32_t outputs);
ir_id net_op(net *n, ir_id graph, const char *op, uint32_t n_in, const ir_id *in, uint32_t n_attrs,
             const ir_attr *attrs);

ir_attr at_int(const char *name, int64_t v);
ir_attr at_str(const char *name, const char *v);
ir_attr at_graph(const char *name, ir_id g);
ir_attr at_ints(const char *name, int count, const int64_t *v);

void net_infer(net *n); /* must work */
void net_infer_fails(net *n, const char *part_of_message);
/* The shape, exactly; -1 is an unknown dim, rank -1 an unknown rank. */
void net_is(const net *n, ir_id value, ir_dtype t, int rank, const int64_t *dims);
/* The one integer or bool that a value holds. */
void net_holds(const net *n, ir_id value, int64_t content);
bool net_assumed(const net *n, ir_id value);

#endif
