/* What the operators of OpenVINO ask of their layer: attributes, ports and small constants. */
#include <string.h>

#include "formats/openvino/openvino_impl.h"

/* ---- attributes ---- */

str ov_attr(const ov_op *o, const char *name)
{
    for (uint32_t i = 0; i < o->layer->data.n; i++)
        if (str_is(o->layer->data.items[i].name, name))
            return o->layer->data.items[i].value;
    return (str){0};
}

bool ov_has(const ov_op *o, const char *name)
{
    return ov_attr(o, name).p != NULL;
}

bool ov_bool(const ov_op *o, const char *name, bool def)
{
    str v = ov_attr(o, name);
    return v.n ? str_is(v, "true") || str_is(v, "1") || str_is(v, "True") : def;
}

int64_t ov_int(const ov_op *o, const char *name, int64_t def)
{
    int64_t v;
    return str_to_i64(str_trim(ov_attr(o, name)), &v) ? v : def;
}

double ov_float(const ov_op *o, const char *name, double def)
{
    double v;
    return str_to_f64(str_trim(ov_attr(o, name)), &v) ? v : def;
}

int ov_ints(const ov_op *o, const char *name, int64_t *list)
{
    str v = ov_attr(o, name);
    return v.p ? ov_parse_ints(v, list, OV_LIST) : -1;
}

bool ov_is(const ov_op *o, const char *name, const char *value, const char *def)
{
    str v = ov_attr(o, name);
    v = v.p ? v : str_of(def);
    return v.n == strlen(value) && str_contains_any_case(v, value); /* files have both cases */
}

/* ---- ports ---- */

const ov_port *ov_in(const ov_op *o, uint32_t i)
{
    return i < o->layer->in.n ? &o->layer->in.items[i] : NULL;
}

const ov_port *ov_out(const ov_op *o, uint32_t i)
{
    return i < o->layer->out.n ? &o->layer->out.items[i] : NULL;
}

bool ov_static(const ov_port *p)
{
    if (!p || p->rank < 0)
        return false;
    for (int d = 0; d < p->rank; d++)
        if (p->dims[d] < 0)
            return false;
    return true;
}

/* Input ports have no type of their own in all versions: that of where they come from. */
ir_dtype ov_in_dtype(const ov_op *o, uint32_t i)
{
    const ov_layer *l = o->layer;
    if (i >= l->in.n || l->from[i].layer == UINT32_MAX)
        return IR_UNDEFINED;
    return o->net->layers.items[l->from[i].layer].out.items[l->from[i].port].dtype;
}

/* ---- constants ---- */

ov_layer *ov_constant(const ov_op *o, uint32_t i)
{
    const ov_layer *l = o->layer;
    if (i >= l->in.n || l->from[i].layer == UINT32_MAX)
        return NULL;
    ov_layer *from = &o->net->layers.items[l->from[i].layer];
    return str_is(from->type, "Const") ? from : NULL;
}

static const ir_tensor *constant_tensor(const ov_op *o, uint32_t i)
{
    ir_id id = ov_constant(o, i) ? ov_use(o->r, o->net, o->layer, i) : IR_NONE;
    const ir_tensor *t = id == IR_NONE ? NULL : ir_value_at(o->r->f.m, id)->constant;
    return t && t->storage == IR_DATA_SLICE && t->n_elems <= OV_LIST ? t : NULL;
}

static bool read_tensor(const ov_op *o, const ir_tensor *t, uint8_t *bytes, size_t room)
{
    return t->size_bytes <= room &&
           source_read(o->r->bin, t->offset, bytes, t->size_bytes, o->r->f.err) == ASSAY_OK;
}

int ov_const_ints(const ov_op *o, uint32_t i, int64_t *list)
{
    uint8_t bytes[8 * OV_LIST];
    const ir_tensor *t = constant_tensor(o, i);
    bool whole = t && (ir_is_integer(t->dtype) || t->dtype == IR_BOOL);
    unsigned size = whole ? ir_dtype_get(t->dtype)->bits / 8u : 0;
    if (!size || !read_tensor(o, t, bytes, sizeof bytes))
        return -1;
    bool is_signed = ir_dtype_get(t->dtype)->cls == IR_CLASS_INT;
    for (uint64_t k = 0; k < t->n_elems; k++) {
        uint64_t v = 0;
        memcpy(&v, bytes + k * size, size);
        unsigned shift = 64 - 8 * size;
        list[k] = is_signed ? (int64_t)(v << shift) >> shift : (int64_t)v;
    }
    return (int)t->n_elems;
}

bool ov_const_number(const ov_op *o, uint32_t i, double *v)
{
    uint8_t bytes[8 * OV_LIST];
    int64_t list[OV_LIST];
    const ir_tensor *t = constant_tensor(o, i);
    if (!t || t->n_elems != 1)
        return false;
    if (ir_is_integer(t->dtype)) {
        bool whole = ov_const_ints(o, i, list) == 1;
        *v = whole ? (double)list[0] : 0;
        return whole;
    }
    if (!ir_is_float(t->dtype) || ir_dtype_get(t->dtype)->bits < 16 ||
        !read_tensor(o, t, bytes, sizeof bytes))
        return false;
    *v = ir_load_float(t->dtype, bytes);
    return true;
}

void ov_guessed(ov_op *o)
{
    o->r->guessed = true;
}
