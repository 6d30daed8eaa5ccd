/* ONNX messages for tests, on wire_writer.h. Lists of names are NULL-terminated arrays; every
 * function returns a message that the caller puts into another with ww_sub().
 */
#ifndef SUPPORT_ONNX_WRITER_H
#define SUPPORT_ONNX_WRITER_H

#include "support/wire_writer.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_NAMES   ((const char *const[]){NULL})

static inline ww ow_opset(const char *domain, int64_t version)
{
    ww w = {0};
    if (domain[0])
        ww_str(&w, 1, domain);
    ww_int(&w, 2, version);
    return w;
}

/* A tensor type with dims; rank -1 declares none. */
static inline ww ow_tensor_type(int dtype, int rank, const int64_t *dims)
{
    ww tensor = {0}, type = {0};
    ww_int(&tensor, 1, dtype);
    if (rank >= 0) {
        ww shape = {0};
        for (int i = 0; i < rank; i++) {
            ww dim = {0};
            ww_int(&dim, 1, dims[i]);
            ww_sub(&shape, 1, dim);
        }
        ww_sub(&tensor, 2, shape);
    }
    ww_sub(&type, 1, tensor);
    return type;
}

static inline ww ow_info_of(const char *name, ww type)
{
    ww w = {0};
    ww_str(&w, 1, name);
    ww_sub(&w, 2, type);
    return w;
}

static inline ww ow_info(const char *name, int dtype, int rank, const int64_t *dims)
{
    return ow_info_of(name, ow_tensor_type(dtype, rank, dims));
}

static inline ww ow_value(const char *name)
{
    ww w = {0};
    ww_str(&w, 1, name);
    return w;
}

static inline ww ow_node(const char *op, const char *name, const char *const *in,
                         const char *const *out)
{
    ww w = {0};
    for (; *in; in++)
        ww_str(&w, 1, *in);
    for (; *out; out++)
        ww_str(&w, 2, *out);
    if (name[0])
        ww_str(&w, 3, name);
    ww_str(&w, 4, op);
    return w;
}

/* The head of a tensor; the caller adds data. */
static inline ww ow_tensor(const char *name, int dtype, int rank, const int64_t *dims)
{
    ww w = {0};
    for (int i = 0; i < rank; i++)
        ww_int(&w, 1, dims[i]);
    ww_int(&w, 2, dtype);
    if (name[0])
        ww_str(&w, 8, name);
    return w;
}

static inline ww ow_raw(const char *name, int dtype, int rank, const int64_t *dims, const void *p,
                        size_t n)
{
    ww w = ow_tensor(name, dtype, rank, dims);
    ww_data(&w, 9, p, n);
    return w;
}

static inline ww ow_attr(const char *name, int kind)
{
    ww w = {0};
    ww_str(&w, 1, name);
    ww_int(&w, 20, kind);
    return w;
}

static inline ww ow_attr_int(const char *name, int64_t v)
{
    ww w = ow_attr(name, 2);
    ww_int(&w, 3, v);
    return w;
}

static inline ww ow_attr_ref(const char *name, int kind, const char *ref)
{
    ww w = ow_attr(name, kind);
    ww_str(&w, 21, ref);
    return w;
}

/* With one attribute message added to the node. */
static inline ww ow_with(ww node, ww attr)
{
    ww_sub(&node, 5, attr);
    return node;
}

static inline ww ow_attr_graph(const char *name, ww graph)
{
    ww w = ow_attr(name, 5);
    ww_sub(&w, 6, graph);
    return w;
}

static inline ww ow_external(const char *key, const char *value)
{
    ww w = {0};
    ww_str(&w, 1, key);
    ww_str(&w, 2, value);
    return w;
}

/* IR version 8, producer "test 1", opset 17, around a graph. */
static inline ww ow_model(ww graph)
{
    ww w = {0};
    ww_int(&w, 1, 8);
    ww_str(&w, 2, "test");
    ww_str(&w, 3, "1");
    ww_sub(&w, 7, graph);
    ww_sub(&w, 8, ow_opset("", 17));
    return w;
}

static inline ww ow_function(const char *domain, const char *name, const char *const *in,
                             const char *const *out)
{
    ww w = {0};
    ww_str(&w, 1, name);
    for (; *in; in++)
        ww_str(&w, 4, *in);
    for (; *out; out++)
        ww_str(&w, 5, *out);
    ww_str(&w, 10, domain);
    ww_sub(&w, 9, ow_opset("", 15));
    ww_sub(&w, 9, ow_opset(domain, 1));
    return w;
}

#endif
