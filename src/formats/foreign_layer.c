/* Layers of foreign files as nodes; see foreign_layer.h. */
#include "formats/foreign_layer.h"

#include <assert.h>
#include <math.h>

ir_id layer_node_of(const foreign_layer *l, const char *domain, const char *op, const ir_id *in,
                    uint32_t n_in, const ir_attr_spec *attrs, uint32_t n_out)
{
    return foreign_add(l->f, &(foreign_node){.op = op,
                                             .domain = domain,
                                             .name = l->name,
                                             .in = in,
                                             .n_in = n_in,
                                             .out = l->out,
                                             .n_out = n_out < l->n_out ? n_out : l->n_out,
                                             .attrs = attrs,
                                             .n_attrs = ir_attr_specs(attrs)});
}

ir_id layer_node(const foreign_layer *l, const char *domain, const char *op, const ir_id *in,
                 uint32_t n_in, const ir_attr_spec *attrs)
{
    return layer_node_of(l, domain, op, in, n_in, attrs, l->n_out);
}

ir_id layer_step_in(const foreign_layer *l, const char *domain, const char *op, const ir_id *in,
                    uint32_t n_in, const ir_attr_spec *attrs)
{
    ir_id out = foreign_inner(l->f, l->name, op);
    if (out == IR_NONE)
        return IR_NONE;
    foreign_add(l->f, &(foreign_node){.op = op,
                                      .domain = domain,
                                      .name = ir_value_at(l->f->m, out)->name,
                                      .in = in,
                                      .n_in = n_in,
                                      .out = &out,
                                      .n_out = 1,
                                      .attrs = attrs,
                                      .n_attrs = ir_attr_specs(attrs)});
    return out;
}

ir_id layer_step(const foreign_layer *l, const char *op, const ir_id *in, uint32_t n_in,
                 const ir_attr_spec *attrs)
{
    return layer_step_in(l, NULL, op, in, n_in, attrs);
}

ir_id layer_into(const foreign_layer *l, const char *op, const ir_id *in, uint32_t n_in,
                 const ir_attr_spec *attrs, ir_id out)
{
    return foreign_add(l->f, &(foreign_node){.op = op,
                                             .name = l->name,
                                             .in = in,
                                             .n_in = n_in,
                                             .out = &out,
                                             .n_out = 1,
                                             .attrs = attrs,
                                             .n_attrs = ir_attr_specs(attrs)});
}

ir_id layer_ints(const foreign_layer *l, const char *what, const int64_t *list, int n)
{
    return foreign_ints(l->f, l->name, what, list, n < 0 ? 0 : (uint32_t)n);
}

ir_id layer_number(const foreign_layer *l, const char *what, ir_dtype t, double v)
{
    return foreign_number(l->f, l->name, what, t, v);
}

ir_id layer_input(const foreign_layer *l, uint32_t i)
{
    return i < l->n_in ? l->in[i] : IR_NONE;
}

ir_id layer_float_weight(const foreign_layer *l, ir_id weight)
{
    const ir_attr_spec to[] = {IR_SPEC_INT("to", IR_FLOAT32), LAYER_END};
    const ir_tensor *t = weight == IR_NONE ? NULL : ir_value_at(l->f->m, weight)->constant;
    return t && t->dtype == IR_FLOAT16 ? layer_step(l, "Cast", &weight, 1, to) : weight;
}

/* ---- forms that several formats have ---- */

bool layer_unary(const foreign_layer *l, const char *op, const ir_attr_spec *attrs)
{
    return layer_node_of(l, NULL, op, l->in, 1, attrs, 1) != IR_NONE;
}

bool layer_cast(const foreign_layer *l, ir_id x, ir_dtype t)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), LAYER_END};
    return t != IR_UNDEFINED && layer_node_of(l, NULL, "Cast", &x, 1, attrs, 1) != IR_NONE;
}

bool layer_swish(const foreign_layer *l, ir_id x)
{
    ir_id in[] = {x, layer_step(l, "Sigmoid", &x, 1, NULL)};
    return layer_node_of(l, NULL, "Mul", in, 2, NULL, 1) != IR_NONE;
}

bool layer_mish(const foreign_layer *l, ir_id x)
{
    ir_id soft = layer_step(l, "Softplus", &x, 1, NULL);
    ir_id in[] = {x, layer_step(l, "Tanh", &soft, 1, NULL)};
    return layer_node_of(l, NULL, "Mul", in, 2, NULL, 1) != IR_NONE;
}

bool layer_clip(const foreign_layer *l, ir_id x, ir_dtype t, double low, double high)
{
    ir_id in[] = {x, isnan(low) ? IR_NONE : layer_number(l, "low", t, low),
                  isnan(high) ? IR_NONE : layer_number(l, "high", t, high)};
    uint32_t n = !isnan(high) ? 3 : !isnan(low) ? 2 : 1;
    return layer_node_of(l, NULL, "Clip", in, n, NULL, 1) != IR_NONE;
}

bool layer_reshape(const foreign_layer *l, ir_id x, const int64_t *dims, int n)
{
    ir_id in[] = {x, layer_ints(l, "shape", dims, n)};
    return layer_node_of(l, NULL, "Reshape", in, 2, NULL, 1) != IR_NONE;
}

ir_id layer_step_reshape(const foreign_layer *l, ir_id x, const int64_t *dims, int n)
{
    ir_id in[] = {x, layer_ints(l, "shape", dims, n)};
    return layer_step(l, "Reshape", in, 2, NULL);
}

bool layer_transpose(const foreign_layer *l, ir_id x, const int64_t *perm, int n)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", n, perm), LAYER_END};
    return layer_node_of(l, NULL, "Transpose", &x, 1, attrs, 1) != IR_NONE;
}

ir_id layer_step_transpose(const foreign_layer *l, ir_id x, const int64_t *perm, int n)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", n, perm), LAYER_END};
    return layer_step(l, "Transpose", &x, 1, attrs);
}

bool layer_floor_div(const foreign_layer *l, ir_id a, ir_id b, ir_dtype t)
{
    ir_id in[] = {a, b};
    if (ir_is_float(t)) {
        ir_id q = layer_step(l, "Div", in, 2, NULL);
        return layer_node_of(l, NULL, "Floor", &q, 1, NULL, 1) != IR_NONE;
    }
    if (ir_dtype_get(t)->cls ==
        IR_CLASS_INT) { /* Mod has the sign of b: what is left is divisible */
        ir_id rest[] = {a, layer_step(l, "Mod", in, 2, NULL)};
        in[0] = layer_step(l, "Sub", rest, 2, NULL);
    }
    return layer_node_of(l, NULL, "Div", in, 2, NULL, 1) != IR_NONE;
}

bool layer_reduce(const foreign_layer *l, const char *op, ir_id x, const int64_t *axes, int n,
                  bool keep)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", keep), IR_SPEC_INTS("axes", n, axes),
                                  LAYER_END};
    const ir_attr_spec kept[] = {IR_SPEC_INT("keepdims", keep), LAYER_END};
    ir_id in[] = {x, IR_NONE};
    if (n == 0)
        return layer_node_of(l, NULL, "Identity", in, 1, NULL, 1) != IR_NONE;
    if (!str_is(str_of(op), "ReduceSum"))
        return layer_node_of(l, NULL, op, in, 1, attrs, 1) != IR_NONE;
    in[1] = layer_ints(l, "axes", axes, n);
    return layer_node_of(l, NULL, op, in, 2, kept, 1) != IR_NONE;
}

void layer_slice_axis(layer_slicing *s, int64_t axis, int64_t start, int64_t end, int64_t step)
{
    s->axis[s->n] = axis;
    s->start[s->n] = start;
    s->end[s->n] = end;
    s->step[s->n++] = step;
}

bool layer_mask_bit(uint64_t mask, int place)
{
    return place < 64 && (mask >> place & 1);
}

static void slice_place(layer_slicing *s, const layer_masks *k, const layer_bounds *b, int i,
                        int64_t axis)
{
    int64_t begin = b->begin[i], end = b->end[i], step = b->step[i];
    bool from_first = layer_mask_bit(k->begin, i), to_last = layer_mask_bit(k->end, i);
    if (layer_mask_bit(k->shrink, i)) {
        layer_slice_axis(s, axis, begin, begin == -1 || begin >= INT32_MAX ? INT32_MAX : begin + 1,
                         1);
        s->squeeze[s->n_squeeze++] = axis;
        return;
    }
    if (from_first)
        begin = step < 0 ? INT32_MAX : 0;
    if (to_last)
        end = step < 0 ? INT32_MIN : INT32_MAX;
    if (!(from_first && to_last && step == 1))
        layer_slice_axis(s, axis, begin, end, step);
}

/* Axes that an ellipsis stands for. */
static int64_t ellipsis_axes(const layer_masks *k, int rank, int n)
{
    int used = 0;
    for (int i = 0; i < n; i++)
        used += !layer_mask_bit(k->ellipsis, i) && !layer_mask_bit(k->insert, i);
    return rank > used ? rank - used : 0;
}

void layer_slice_strided(layer_slicing *s, const layer_masks *k, const layer_bounds *b, int rank)
{
    int64_t axis = 0, made = 0; /* of x, of the result */
    assert(b->n <= 64);
    for (int i = 0; i < b->n; i++) {
        if (layer_mask_bit(k->ellipsis, i)) {
            int64_t more = ellipsis_axes(k, rank, b->n);
            axis = rank >= 0 ? axis + more : -(int64_t)(b->n - i - 1);
            made += more;
        } else if (layer_mask_bit(k->insert, i)) {
            s->insert[s->n_insert++] = made++;
        } else {
            slice_place(s, k, b, i, axis++);
            made += !layer_mask_bit(k->shrink, i);
        }
    }
}

/* One step of a slice: an inner value, or the layer's own output for the last. */
static ir_id slice_step(const foreign_layer *l, const char *op, const ir_id *in, uint32_t n,
                        int *left)
{
    if (--*left > 0)
        return layer_step(l, op, in, n, NULL);
    return layer_node_of(l, NULL, op, in, n, NULL, 1) == IR_NONE ? IR_NONE : l->out[0];
}

bool layer_slice(const foreign_layer *l, ir_id x, const layer_slicing *s)
{
    int left = (s->n > 0) + (s->n_squeeze > 0) + (s->n_insert > 0);
    if (left == 0)
        return layer_node_of(l, NULL, "Identity", &x, 1, NULL, 1) != IR_NONE;
    if (s->n > 0) {
        ir_id in[] = {x, layer_ints(l, "starts", s->start, s->n),
                      layer_ints(l, "ends", s->end, s->n), layer_ints(l, "axes", s->axis, s->n),
                      layer_ints(l, "steps", s->step, s->n)};
        x = slice_step(l, "Slice", in, 5, &left);
    }
    if (s->n_squeeze > 0) {
        ir_id in[] = {x, layer_ints(l, "squeezed", s->squeeze, s->n_squeeze)};
        x = slice_step(l, "Squeeze", in, 2, &left);
    }
    if (s->n_insert > 0) {
        ir_id in[] = {x, layer_ints(l, "inserted", s->insert, s->n_insert)};
        x = slice_step(l, "Unsqueeze", in, 2, &left);
    }
    return x != IR_NONE;
}

/* Items of an axis backwards: from start down to the one behind end. */
static ir_id mirrored(const foreign_layer *l, ir_id x, int64_t axis, int64_t start, int64_t end)
{
    const int64_t back = -1;
    ir_id in[] = {x, layer_ints(l, "starts", &start, 1), layer_ints(l, "ends", &end, 1),
                  layer_ints(l, "axes", &axis, 1), layer_ints(l, "steps", &back, 1)};
    return layer_step(l, "Slice", in, 5, NULL);
}

bool layer_pad_symmetric(const foreign_layer *l, ir_id x, const int64_t *pads, int n)
{
    int last = n - 1;
    for (int i = 0; i < 2 * n; i++)
        if (pads[i] < 0)
            return false;
    while (last >= 0 && pads[last] == 0 && pads[n + last] == 0)
        last--;
    for (int d = 0; d <= last; d++) {
        ir_id parts[3];
        uint32_t k = 0;
        if (pads[d])
            parts[k++] = mirrored(l, x, d, pads[d] - 1, INT32_MIN);
        parts[k++] = x;
        if (pads[n + d])
            parts[k++] = mirrored(l, x, d, -1, -1 - pads[n + d]);
        const ir_attr_spec axis[] = {IR_SPEC_INT("axis", d), LAYER_END};
        if (d == last)
            return made(layer_node_of(l, NULL, "Concat", parts, k, axis, 1));
        x = k > 1 ? layer_step(l, "Concat", parts, k, axis) : x;
    }
    return made(layer_node_of(l, NULL, "Identity", &x, 1, NULL, 1));
}

bool layer_gather_batched(const foreign_layer *l, ir_id x, ir_id indices, int64_t batch)
{
    const int64_t last = -1;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("batch_dims", batch), LAYER_END};
    ir_id wide[] = {indices, layer_ints(l, "axes", &last, 1)};
    ir_id in[] = {x, layer_step(l, "Unsqueeze", wide, 2, NULL)};
    return made(layer_node_of(l, NULL, "GatherND", in, 2, attrs, 1));
}

int layer_window_attrs(const layer_window *w, ir_attr_spec *attrs)
{
    int k = 0;
    if (w->has_kernel)
        attrs[k++] = IR_SPEC_INTS("kernel_shape", w->n, w->kernel);
    if (w->has_strides)
        attrs[k++] = IR_SPEC_INTS("strides", w->n, w->strides);
    if (w->has_dilations)
        attrs[k++] = IR_SPEC_INTS("dilations", w->n, w->dilations);
    if (w->auto_pad)
        attrs[k++] = IR_SPEC_TEXT("auto_pad", w->auto_pad);
    else
        attrs[k++] = IR_SPEC_INTS("pads", 2 * w->n, w->pads);
    return k;
}

bool layer_find_perm(int n, const int64_t *a, const int64_t *b, int64_t *perm)
{
    bool taken[IR_MAX_RANK] = {false};
    for (int i = 0; i < n; i++) {
        int found = -1;
        for (int k = 0; k < n && found < 0; k++)
            if (!taken[k] && a[k] == b[i])
                found = k;
        if (found < 0)
            return false;
        taken[found] = true;
        perm[i] = found;
    }
    return true;
}

ir_id layer_formal(foreign *f, ir_id graph, str name, ir_dtype t, ir_id declared)
{
    ir_id id = declared == IR_NONE ? foreign_value(f, name, t, 0, NULL)
                                   : foreign_value(f, name, IR_UNDEFINED, -1, NULL);
    if (id == IR_NONE)
        return id;
    if (declared != IR_NONE)
        ir_value_at(f->m, id)->declared = ir_value_at(f->m, declared)->declared;
    return ir_add_input(f->m, graph, id) ? id : IR_NONE;
}

bool layer_result(foreign *f, ir_id graph, ir_id id)
{
    ir_id own = id == IR_NONE ? IR_NONE
                              : foreign_inner_like(f, ir_value_at(f->m, id)->name, "output", id);
    if (own == IR_NONE)
        return false;
    foreign_unary(f, "Identity", ir_value_at(f->m, own)->name, id, own);
    return ir_add_output(f->m, graph, own);
}

void layer_unknown(const foreign_layer *l, const char *op)
{
    layer_node(l, l->f->format, op, l->in, l->n_in, NULL);
}
