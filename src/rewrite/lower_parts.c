/* The parts of a lowering: nodes, constants and shapes written into the model. */
#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "rewrite/lower_impl.h"

#define NAME_FMT    "'%.*s'"
#define NAME_ARG(s) (int)((s).n < 100 ? (s).n : 100), ((s).p ? (s).p : "")

/* ---- failure ---- */

static assay_status no_room(lowering *x)
{
    if (x->status == ASSAY_OK)
        x->status = err_no_memory(x->err);
    return x->status;
}

static assay_status fail_raising(lowering *x, const char *why)
{
    return err_fail_node(x->err, ASSAY_ERR_UNSUPPORTED, x->node.name.p,
                         "node " NAME_FMT " (" STR_FMT ") cannot be raised from opset %d to %d: %s",
                         NAME_ARG(x->node.name), STR_ARG(x->node.op), x->from, x->target, why);
}

assay_status low_fail(lowering *x, const char *why)
{
    if (x->status == ASSAY_OK && x->from < x->target)
        x->status = fail_raising(x, why);
    if (x->status == ASSAY_OK)
        x->status = err_fail_node(
            x->err, ASSAY_ERR_UNSUPPORTED, x->node.name.p,
            "node " NAME_FMT " (" STR_FMT
            ") cannot be written at opset %d: %s. Use a newer --opset; the node uses opset %d.",
            NAME_ARG(x->node.name), STR_ARG(x->node.op), x->target, why, x->node.version);
    return x->status;
}

/* ---- the node ---- */

bool low_has(const lowering *x, uint32_t i)
{
    return i < x->node.n_inputs && x->node.inputs[i] != IR_NONE;
}

static ir_t declared(const ir_model *m, ir_id id)
{
    ir_t v = {.id = id, .rank = -1};
    const ir_value *value = ir_value_at(m, id);
    const ir_tensor *c = value->constant;
    const ir_type *t = &value->declared;
    if (c) {
        v.dtype = c->dtype;
        v.rank = c->rank <= IR_KIT_RANK ? c->rank : -1;
        for (int i = 0; i < v.rank; i++)
            v.d[i] = c->dims[i];
    } else if (t->kind == IR_KIND_TENSOR) {
        v.dtype = t->dtype;
        v.rank = t->rank <= IR_KIT_RANK ? t->rank : -1;
        for (int i = 0; i < v.rank; i++)
            v.d[i] = t->dims[i].value;
    }
    for (int i = 0; i < v.rank; i++)
        if (v.d[i] < 0)
            v.rank = -1;
    return v;
}

ir_t low_value(const lowering *x, uint32_t i)
{
    return low_has(x, i) ? declared(x->m, x->node.inputs[i]) : (ir_t){.id = IR_NONE, .rank = -1};
}

ir_t low_input(lowering *x, uint32_t i)
{
    ir_t v = low_value(x, i);
    if (v.id == IR_NONE)
        low_fail(x, "an input is missing");
    else if (v.rank < 0)
        low_fail(x, "the shape of an input is unknown");
    return v;
}

ir_t low_output(const lowering *x, uint32_t o)
{
    bool there = o < x->node.n_outputs && x->node.outputs[o] != IR_NONE;
    return there ? declared(x->m, x->node.outputs[o]) : (ir_t){.id = IR_NONE, .rank = -1};
}

bool low_more_outputs(const lowering *x)
{
    for (uint32_t i = 1; i < x->node.n_outputs; i++)
        if (x->node.outputs[i] != IR_NONE)
            return true;
    return false;
}

int64_t low_int(const lowering *x, const char *name, int64_t def)
{
    return ir_attr_int(&x->node, name, def);
}

double low_float(const lowering *x, const char *name, double def)
{
    return ir_attr_float(&x->node, name, def);
}

str low_word(const lowering *x, const char *name, const char *def)
{
    return ir_attr_str(&x->node, name, def);
}

int low_ints(const lowering *x, uint32_t i, int64_t *out, int max)
{
    const ir_tensor *t = low_has(x, i) ? ir_value_at(x->m, x->node.inputs[i])->constant : NULL;
    if (!low_has(x, i))
        return -1;
    if (!t || t->dtype != IR_INT64 || t->storage != IR_DATA_INLINE || t->sparse ||
        t->n_elems > (uint64_t)max)
        return -2;
    memcpy(out, t->bytes, (size_t)t->n_elems * sizeof *out);
    return (int)t->n_elems;
}

static const op_info *inferred(const lowering *x, ir_id id)
{
    const op_info *i = id < x->facts.n ? &x->facts.info[id] : NULL;
    return i && i->kind == IR_KIND_TENSOR ? i : NULL;
}

int low_rank(const lowering *x, uint32_t i)
{
    const ir_value *v = low_has(x, i) ? ir_value_at(x->m, x->node.inputs[i]) : NULL;
    const op_info *info = v ? inferred(x, x->node.inputs[i]) : NULL;
    if (v && v->constant)
        return v->constant->rank;
    if (info && info->rank >= 0)
        return info->rank;
    return v && v->declared.kind == IR_KIND_TENSOR ? v->declared.rank : -1;
}

ir_dtype low_dtype(const lowering *x, uint32_t i)
{
    const ir_value *v = low_has(x, i) ? ir_value_at(x->m, x->node.inputs[i]) : NULL;
    const op_info *info = v ? inferred(x, x->node.inputs[i]) : NULL;
    if (v && v->constant)
        return v->constant->dtype;
    if (info && info->dtype != IR_UNDEFINED)
        return info->dtype;
    return v && v->declared.kind == IR_KIND_TENSOR ? v->declared.dtype : IR_UNDEFINED;
}

int low_floats(const lowering *x, uint32_t i, double *out, int max)
{
    const ir_tensor *t = low_has(x, i) ? ir_value_at(x->m, x->node.inputs[i])->constant : NULL;
    const op_info *info = low_has(x, i) ? inferred(x, x->node.inputs[i]) : NULL;
    if (t && t->dtype == IR_FLOAT32 && t->storage == IR_DATA_INLINE && !t->sparse &&
        t->n_elems <= (uint64_t)max) {
        for (uint64_t k = 0; k < t->n_elems; k++) {
            float f;
            memcpy(&f, t->bytes + 4 * k, sizeof f);
            out[k] = (double)f;
        }
        return (int)t->n_elems;
    }
    if (!info || info->dtype != IR_FLOAT32 || !info->val || info->val->known || info->val->n > max)
        return -1;
    for (int64_t k = 0; k < info->val->n; k++)
        out[k] = info->val->cells[k].f;
    return (int)info->val->n;
}

/* ---- names ---- */

static str unique(lowering *x, str name)
{
    str free_name = ir_kit_name(&x->kit, name);
    if (!free_name.p)
        no_room(x);
    return free_name;
}

static str part_name(lowering *x, const char *part, const char *end)
{
    return str_printf(x->m->arena, STR_FMT "/%s%s", STR_ARG(x->node.name), part, end);
}

/* ---- constants ---- */

static ir_t add_const(lowering *x, const char *part, ir_t shape, const void *bytes)
{
    shape.id = IR_NONE;
    if (x->status != ASSAY_OK)
        return shape;
    str name = unique(x, part_name(x, part, ""));
    shape.id = ir_kit_const(x->m, x->node.graph, name, &shape, bytes, IR_VALUE_NOT_PARAM);
    if (shape.id == IR_NONE)
        no_room(x);
    return shape;
}

ir_t low_ints_const(lowering *x, const char *part, int n, const int64_t *values)
{
    return add_const(x, part, (ir_t){.dtype = IR_INT64, .rank = 1, .d = {n}}, values);
}

ir_t low_floats_const(lowering *x, const char *part, int n, const double *values)
{
    float floats[IR_KIT_RANK] = {0};
    for (int i = 0; i < n && i < IR_KIT_RANK; i++)
        floats[i] = (float)values[i];
    return add_const(x, part, (ir_t){.dtype = IR_FLOAT32, .rank = 1, .d = {n}}, floats);
}

static uint64_t float_bits(ir_dtype t, double v)
{
    float f = (float)v;
    uint64_t wide;
    uint32_t bits;
    memcpy(&wide, &v, sizeof wide);
    memcpy(&bits, &f, sizeof bits);
    if (t == IR_FLOAT64)
        return wide;
    if (t == IR_FLOAT32)
        return bits;
    if (t == IR_BFLOAT16)
        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 0xff;
    if (exponent < 103) /* below half of the smallest */
        return sign;
    if (exponent > 142)
        return sign | (exponent == 255 && (bits & 0x7fffff) ? 0x7e00u : 0x7c00u);
    double unit = ldexp(1.0, exponent < 113 ? -24 : (int)exponent - 137);
    uint32_t steps = (uint32_t)nearbyint(fabs((double)f) / unit);
    return sign | (exponent < 113 ? steps : ((exponent - 113) << 10) + steps);
}

ir_t low_float_const(lowering *x, const char *part, ir_dtype t, int64_t n, double value)
{
    ir_t shape = {.dtype = t, .rank = n < 0 ? 0 : 1, .d = {n < 0 ? 1 : n}};
    unsigned width = ir_dtype_get(t)->bits / 8u;
    int64_t count = n < 0 ? 1 : n;
    if (t != IR_FLOAT32 && t != IR_FLOAT64 && t != IR_FLOAT16 && t != IR_BFLOAT16) {
        low_fail(x, "its element type is not float16, bfloat16, float32 or float64");
        return shape;
    }
    uint8_t *bytes = count <= 1 << 24 ? arena_alloc(x->scratch, (size_t)(count ? count : 1) * width)
                                      : NULL;
    if (!bytes) {
        no_room(x);
        return shape;
    }
    uint64_t bits = float_bits(t, value);
    for (int64_t i = 0; i < count; i++)
        for (unsigned k = 0; k < width; k++)
            bytes[(size_t)i * width + k] = (uint8_t)(bits >> (8 * k));
    return add_const(x, part, shape, bytes);
}

/* ---- nodes ---- */

static ir_id taken_output(const lowering *x)
{
    return x->into < x->node.n_outputs ? x->node.outputs[x->into] : IR_NONE;
}

void low_into(lowering *x, uint32_t o)
{
    x->into = o;
    x->replaced = true;
    if (o < x->node.n_outputs && x->node.outputs[o] != IR_NONE)
        ir_value_at(x->m, x->node.outputs[o])->producer = IR_NONE;
}

ir_t low_node(lowering *x, const char *op, const char *part, int n_in, const ir_t *in, ir_t shape,
              int n_attrs, const ir_attr_spec *attrs)
{
    ir_id ids[8], out = taken_output(x);
    x->into = UINT32_MAX;
    shape.id = IR_NONE;
    if (x->status != ASSAY_OK || n_in > 8)
        return x->status == ASSAY_OK ? (no_room(x), shape) : shape;
    for (int i = 0; i < n_in; i++)
        ids[i] = in[i].id;
    if (out == IR_NONE)
        out = ir_kit_value(&x->kit, x->node.graph, unique(x, part_name(x, part, "_out")), &shape);
    ir_kit_node n = {.proto = {.graph = x->node.graph,
                               .name = part_name(x, part, ""),
                               .module = x->node.module,
                               .version = x->target,
                               .call = x->node.call == IR_NONE ? x->id : x->node.call,
                               .inputs = ids,
                               .outputs = &out,
                               .n_inputs = (uint32_t)n_in,
                               .n_outputs = 1},
                     .op = op,
                     .attrs = attrs,
                     .n_attrs = (uint32_t)n_attrs};
    if (out == IR_NONE || ir_kit_add(x->m, &n) == IR_NONE)
        no_room(x);
    shape.id = out;
    return shape;
}

ir_t low_unary(lowering *x, const char *op, const char *part, ir_t in)
{
    return low_node(x, op, part, 1, &in, in, 0, NULL);
}

static ir_t broadcast(ir_t a, ir_t b)
{
    ir_t out = a;
    if (a.rank < 0 || b.rank < 0) {
        out.rank = -1;
        return out;
    }
    out.rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 1; i <= out.rank; i++) {
        int64_t p = i <= a.rank ? a.d[a.rank - i] : 1, q = i <= b.rank ? b.d[b.rank - i] : 1;
        out.d[out.rank - i] = p == 1 ? q : p;
    }
    return out;
}

ir_t low_binary(lowering *x, const char *op, const char *part, ir_t a, ir_t b)
{
    return low_node(x, op, part, 2, (const ir_t[]){a, b}, broadcast(a, b), 0, NULL);
}

ir_t low_scalar(lowering *x, const char *op, const char *part, ir_t a, double b)
{
    char name[64];
    snprintf(name, sizeof name, "%s.by", part);
    ir_t by = low_float_const(x, name, a.dtype, -1, b);
    return low_node(x, op, part, 2, (const ir_t[]){a, by}, a, 0, NULL);
}

ir_t low_reshape(lowering *x, const char *part, ir_t in, int rank, const int64_t *dims)
{
    char name[64];
    ir_t out = {.dtype = in.dtype, .rank = rank};
    snprintf(name, sizeof name, "%s.shape", part);
    memcpy(out.d, dims, (size_t)rank * sizeof *dims);
    ir_t to = low_ints_const(x, name, rank, dims);
    return low_node(x, "Reshape", part, 2, (const ir_t[]){in, to}, out, 0, NULL);
}

ir_t low_transpose(lowering *x, const char *part, ir_t in, const int64_t *perm)
{
    ir_t out = in;
    for (int i = 0; i < in.rank; i++)
        out.d[i] = in.d[perm[i]];
    return low_node(x, "Transpose", part, 1, &in, out, 1, &IR_SPEC_INTS("perm", in.rank, perm));
}

ir_t low_unsqueeze(lowering *x, const char *part, ir_t in, int axis)
{
    int64_t dims[IR_KIT_RANK + 1];
    if (in.rank < 0 || in.rank >= IR_KIT_RANK) {
        low_fail(x, "a tensor has too many dimensions");
        return in;
    }
    for (int i = 0; i <= in.rank; i++)
        dims[i] = i < axis ? in.d[i] : i == axis ? 1 : in.d[i - 1];
    return low_reshape(x, part, in, in.rank + 1, dims);
}

ir_t low_concat(lowering *x, const char *part, int n, const ir_t *in, int axis)
{
    ir_t out = in[0];
    for (int i = 1; i < n; i++)
        out.d[axis] += in[i].d[axis];
    return low_node(x, "Concat", part, n, in, out, 1, &IR_SPEC_INT("axis", axis));
}

ir_t low_slice(lowering *x, const char *part, ir_t in, int axis, int64_t from, int64_t to,
               int64_t step)
{
    const struct {
        const char *what;
        int64_t value;
    } lists[] = {{"starts", from}, {"ends", to}, {"axes", axis}, {"steps", step}};
    char name[64];
    ir_t ins[5] = {in}, out = in;
    out.d[axis] = num_ceil_div(to - from, step);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s.%s", part, lists[i].what);
        ins[1 + i] = low_ints_const(x, name, 1, &lists[i].value);
    }
    return low_node(x, "Slice", part, 5, ins, out, 0, NULL);
}

ir_t low_matmul(lowering *x, const char *part, ir_t a, ir_t b)
{
    ir_t out = a;
    out.d[a.rank - 1] = b.d[b.rank - 1];
    return low_node(x, "MatMul", part, 2, (const ir_t[]){a, b}, out, 0, NULL);
}

/* Axes are an input from opset 18 on. */
ir_t low_mean_from(lowering *x, const char *part, ir_t in, int axis)
{
    int64_t axes[IR_KIT_RANK];
    char name[64];
    int n = 0;
    ir_t out = in;
    for (int i = axis; i < in.rank; i++) {
        axes[n++] = i;
        out.d[i] = 1;
    }
    if (x->target < 18) {
        const ir_attr_spec attrs[] = {IR_SPEC_INTS("axes", n, axes), IR_SPEC_INT("keepdims", 1)};
        return low_node(x, "ReduceMean", part, 1, &in, out, 2, attrs);
    }
    snprintf(name, sizeof name, "%s.axes", part);
    ir_t over = low_ints_const(x, name, n, axes);
    return low_node(x, "ReduceMean", part, 2, (const ir_t[]){in, over}, out, 1,
                    &IR_SPEC_INT("keepdims", 1));
}

/* ---- the node where it stands ---- */

static assay_status refit_attrs(lowering *x, const char *without, const ir_attr *with)
{
    ir_attr *list = ARENA_ARRAY(x->m->arena, ir_attr, (size_t)x->node.n_attrs + 1);
    uint32_t n = 0;
    if (!list)
        return no_room(x);
    for (uint32_t i = 0; i < x->node.n_attrs; i++)
        if (!str_is(x->node.attrs[i].name, without))
            list[n++] = x->node.attrs[i];
    if (with)
        list[n++] = *with;
    x->node.attrs = list;
    x->node.n_attrs = n;
    return ASSAY_OK;
}

assay_status low_drop_attr(lowering *x, const char *name)
{
    return ir_attr_find(&x->node, name) ? refit_attrs(x, name, NULL) : ASSAY_OK;
}

assay_status low_set_attr(lowering *x, const ir_attr_spec *a)
{
    ir_attr made = ir_kit_attr(x->m, a);
    return arena_failed(x->m->arena) ? no_room(x) : refit_attrs(x, a->name, &made);
}

assay_status low_keep_inputs(lowering *x, uint32_t n)
{
    if (n < x->node.n_inputs)
        x->node.n_inputs = n;
    return ASSAY_OK;
}

assay_status low_set_input(lowering *x, uint32_t i, ir_t v)
{
    return ir_kit_set_input(x->m, &x->node, i, v.id) ? ASSAY_OK : no_room(x);
}

assay_status low_keep(lowering *x)
{
    if (x->status != ASSAY_OK)
        return x->status;
    x->node.version = x->target;
    *ir_node_at(x->m, x->id) = x->node;
    return ir_kit_put_node(x->m, x->node.graph, x->id) ? ASSAY_OK : no_room(x);
}
