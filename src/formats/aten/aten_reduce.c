/* ATen operators that reduce, order or accumulate along axes. */
#include <math.h>
#include <string.h>

#include "formats/aten/aten.h"

/* The axes of argument i; all of them where none are given. False: not known. */
static bool axes_of(aten_call *c, int i, int64_t *axes, int *n)
{
    int rank = aten_rank(c, 0);
    *n = aten_ints(c, i, axes);
    if (rank < 0 || *n == -2 || rank > LAYER_LIST)
        return false;
    if (*n <= 0) {
        for (*n = 0; *n < rank; ++*n)
            axes[*n] = *n;
        return true;
    }
    for (int k = 0; k < *n; k++)
        if (!aten_axis(c, 0, axes[k], &axes[k]))
            return false;
    return true;
}

static bool reduce_into(aten_call *c, const char *op, ir_id x, const int64_t *axes, int n,
                        bool keep)
{
    return aten_out(c) != IR_NONE && layer_reduce(&c->l, op, x, axes, n, keep);
}

static ir_id reduce_step(aten_call *c, const char *op, ir_id x, const int64_t *axes, int n,
                         bool keep)
{
    foreign_layer l = c->l;
    ir_id out = foreign_inner(c->t->f, c->l.name, op);
    l.out = &out;
    l.n_out = 1;
    return out != IR_NONE && layer_reduce(&l, op, x, axes, n, keep) ? out : IR_NONE;
}

/* sum(x, dim, keepdim, dtype), mean, amax, amin, prod, logsumexp. Without axes: all; sum(x, dtype=...). */
bool aten_reduce(aten_call *c)
{
    int64_t axes[LAYER_LIST];
    int n;
    ir_id x = aten_tensor(c, 0);
    ir_dtype t = aten_dtype(c, 0);
    if (x == IR_NONE || !axes_of(c, 1, axes, &n))
        return false;
    if (c->arg[3].kind == ATEN_INT)
        x = aten_cast(c, x, aten_scalar_type(c->arg[3].i));
    else if (t == IR_BOOL || ((t == IR_INT32 || t == IR_UINT8 || t == IR_INT8) &&
                              strcmp(c->row->op, "ReduceSum") == 0))
        x = aten_cast(c, x, IR_INT64);
    return reduce_into(c, c->row->op, x, axes, n, aten_flag(c, 2, false));
}

/* any, all: of truth values as whole numbers. */
bool aten_any(aten_call *c)
{
    int64_t axes[LAYER_LIST];
    int n;
    ir_id x = aten_operand(c, 0, IR_BOOL);
    if (x == IR_NONE || !axes_of(c, 1, axes, &n))
        return false;
    ir_id r = reduce_step(c, c->row->op, aten_cast(c, x, IR_INT32), axes, n,
                          aten_flag(c, 2, false));
    const ir_attr_spec to[] = {IR_SPEC_INT("to", IR_BOOL), LAYER_END};
    return r != IR_NONE && aten_node(c, "Cast", &r, 1, to);
}

static bool topk_into(aten_call *c, ir_id k, int64_t axis, bool largest)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("largest", largest),
                                  LAYER_END};
    ir_id in[] = {aten_tensor(c, 0), k};
    return k != IR_NONE && aten_outs(c, 2) &&
           layer_node_of(&c->l, NULL, "TopK", in, 2, attrs, 2) != IR_NONE;
}

/* max(x), max(x, other), max(x, dim, keepdim) -> (values, indices). row->op: "max" or "min". */
bool aten_extreme(aten_call *c)
{
    bool max = strcmp(c->row->op, "max") == 0, keep = aten_flag(c, 2, false);
    ir_id x = aten_tensor(c, 0);
    int64_t axes[LAYER_LIST], axis;
    int n;
    if (c->arg[1].kind == ATEN_TENSOR) {
        ir_id in[2];
        aten_promote(c, 0, 1, in);
        return aten_node2(c, max ? "Max" : "Min", in[0], in[1]);
    }
    if (x == IR_NONE)
        return false;
    if (!aten_given(c, 1))
        return axes_of(c, 1, axes, &n) &&
               reduce_into(c, max ? "ReduceMax" : "ReduceMin", x, axes, n, false);
    if (!aten_axis(c, 0, aten_int(c, 1, 0), &axis) || !aten_outs(c, 2))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("keepdims", keep),
                                  LAYER_END};
    const ir_attr_spec red[] = {IR_SPEC_INTS("axes", 1, &axis), IR_SPEC_INT("keepdims", keep),
                                LAYER_END};
    return layer_into(&c->l, max ? "ReduceMax" : "ReduceMin", &x, 1, red, c->l.out[0]) != IR_NONE &&
           layer_into(&c->l, max ? "ArgMax" : "ArgMin", &x, 1, attrs, c->l.out[1]) != IR_NONE;
}

/* argmax(x, dim, keepdim); without dim of the flattened tensor. */
bool aten_arg_extreme(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    int64_t axis = 0;
    if (x == IR_NONE || (aten_given(c, 1) && !aten_axis(c, 0, aten_int(c, 1, 0), &axis)))
        return false;
    if (!aten_given(c, 1))
        x = layer_step_reshape(&c->l, x, (const int64_t[]){-1}, 1);
    const ir_attr_spec attrs[] = {
        IR_SPEC_INT("axis", axis),
        IR_SPEC_INT("keepdims", aten_given(c, 1) && aten_flag(c, 2, false)), LAYER_END};
    return aten_node(c, c->row->op, &x, 1, attrs);
}

/* The number of elements along axes, as a float; IR_NONE: sizes are open. */
static double elements(aten_call *c, const int64_t *axes, int n)
{
    const op_info *x = aten_info(c->t, aten_tensor(c, 0));
    double all = 1;
    for (int i = 0; i < n; i++)
        all *= x->dims[axes[i]] < 0 ? (double)NAN : (double)x->dims[axes[i]];
    return all;
}

static bool variance_axes(aten_call *c, int64_t *axes, int *n, double *less)
{
    bool plain = c->arg[1].kind == ATEN_BOOL; /* var(x, unbiased) */
    *less = plain                         ? (double)aten_flag(c, 1, true)
            : c->arg[2].kind == ATEN_BOOL ? (double)aten_flag(c, 2, true)
                                          : aten_float(c, 2, 1);
    if (c->arg[4].kind == ATEN_INT || c->arg[4].kind == ATEN_FLOAT)
        *less = aten_float(c, 4, 1); /* correction */
    return axes_of(c, plain ? 5 : 1, axes, n);
}

/* var, std, var_mean: (x, dim, unbiased, keepdim; correction). */
bool aten_variance(aten_call *c)
{
    int64_t axes[LAYER_LIST];
    int n;
    double less;
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || !variance_axes(c, axes, &n, &less))
        return false;
    double all = elements(c, axes, n);
    bool keep = aten_flag(c, 3, false), both = strstr(c->row->op, "mean") != NULL;
    if (less != 0 && (isnan(all) || all <= less))
        return false;
    c->t->fixed |= less != 0;
    ir_id mean = reduce_step(c, "ReduceMean", x, axes, n, true),
          away = aten_step2(c, "Sub", x, mean);
    ir_id square = aten_step2(c, "Mul", away, away);
    ir_id var = reduce_step(c, "ReduceMean", square, axes, n, keep);
    if (less != 0)
        var = aten_step2(c, "Mul", var, aten_like(c, all / (all - less), aten_dtype(c, 0)));
    if (strncmp(c->row->op, "std", 3) == 0)
        var = aten_step(c, "Sqrt", &var, 1, NULL);
    if (!both)
        return var != IR_NONE && aten_node(c, "Identity", &var, 1, NULL);
    return aten_outs(c, 2) &&
           layer_into(&c->l, "Identity", &var, 1, NULL, c->l.out[0]) != IR_NONE &&
           layer_reduce(
               &(foreign_layer){.f = c->l.f, .name = c->l.name, .out = &c->l.out[1], .n_out = 1},
               "ReduceMean", x, axes, n, keep);
}

/* norm(x, p, dim, keepdim), linalg_vector_norm(x, ord, dim, keepdim), frobenius_norm(x, dim, keepdim). */
bool aten_norm(aten_call *c)
{
    int64_t axes[LAYER_LIST];
    int n;
    bool plain = strcmp(c->row->op, "frobenius") == 0;
    double p = plain ? 2 : aten_float(c, 1, 2);
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || !axes_of(c, plain ? 1 : 2, axes, &n) || (p != 1 && p != 2 && !isinf(p)))
        return false;
    if (isinf(p))
        x = aten_step(c, "Abs", &x, 1, NULL);
    return reduce_into(c,
                       p == 1   ? "ReduceL1"
                       : p == 2 ? "ReduceL2"
                       : p > 0  ? "ReduceMax"
                                : "ReduceMin",
                       x, axes, n, aten_flag(c, plain ? 2 : 3, false));
}

bool aten_cumsum(aten_call *c)
{
    int64_t axis;
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    if (aten_dtype(c, 0) == IR_BOOL || aten_dtype(c, 0) == IR_INT32)
        x = aten_cast(c, x, IR_INT64);
    return aten_node2(c, "CumSum", x, aten_like(c, (double)axis, IR_INT64));
}

/* topk(x, k, dim, largest, sorted) */
bool aten_topk(aten_call *c)
{
    int64_t axis;
    const aten_value *k = &c->arg[1];
    aten_value list = aten_new_list(c->t, false);
    if (aten_tensor(c, 0) == IR_NONE || !aten_axis(c, 0, aten_int(c, 2, -1), &axis) ||
        !aten_push(c->t, &list, *k))
        return false;
    return topk_into(c, aten_list_tensor(c->t, c->l.name, &list), axis, aten_flag(c, 3, true));
}

/* sort(x, dim, descending), argsort: all of the axis. */
bool aten_sort(aten_call *c)
{
    int64_t axis;
    aten_value list = aten_new_list(c->t, false);
    bool only = strcmp(c->row->op, "argsort") == 0;
    if (aten_tensor(c, 0) == IR_NONE || !aten_axis(c, 0, aten_int(c, 1, -1), &axis) || only ||
        !aten_push(c->t, &list, aten_size_of(c->t, aten_tensor(c, 0), axis)))
        return false;
    return topk_into(c, aten_list_tensor(c->t, c->l.name, &list), axis, aten_flag(c, 2, false));
}
