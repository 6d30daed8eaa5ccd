/* Quantised types of StableHLO: how their whole numbers stand for real ones.
 *
 *   !quant.uniform<i8:f32, 5.0e-01:3>                 one scale and zero point
 *   !quant.uniform<i8<-127:127>:f32:1, {0.5, 0.25:2}> one of each index of axis 1
 *
 * Values keep these parameters, and the export computes on real numbers as it does for other formats. */
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"

enum { MOST = 1 << 16 }; /* scales of a type */

typedef struct quant_type {
    int axis; /* -1: none */
    str list; /* "0.5, 0.25:2" */
} quant_type;

/* Behind the storage type, which may have bounds, and the type that it stands for. */
static bool split_type(str text, quant_type *q)
{
    const char *p = text.p, *end = p + text.n;
    const char *angle = memchr(p, '<', text.n), *comma = memchr(p, ',', text.n);
    if (angle && comma && angle < comma)
        p = hlo_close(angle, end);
    comma = p && p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
    const char *colon = comma ? memchr(p, ':', (size_t)(comma - p)) : NULL;
    const char *axis = colon ? memchr(colon + 1, ':', (size_t)(comma - colon - 1)) : NULL;
    int64_t at = -1;
    if (!colon || (axis && !str_to_i64((str){axis + 1, (uint32_t)(comma - axis - 1)}, &at)))
        return false;
    q->axis = (int)at;
    q->list = str_trim((str){comma + 1, (uint32_t)(end - comma - 1)});
    if (q->list.n > 2 && q->list.p[0] == '{')
        q->list = (str){q->list.p + 1, q->list.n - 2};
    return at < IR_MAX_RANK;
}

/* Scales and zero points; how many, 0: they cannot be read. */
static uint32_t read_scales(hlo_reader *r, str list, float **scale, int64_t **zero)
{
    uint32_t n = 0, most = 1;
    for (uint32_t i = 0; i < list.n; i++)
        most += list.p[i] == ',';
    *scale = most <= MOST ? ARENA_ARRAY(r->f.m->arena, float, most) : NULL;
    *zero = *scale ? ARENA_ARRAY(r->f.m->arena, int64_t, most) : NULL;
    for (str item; *zero && str_split(&list, ',', &item); n++) {
        str rest = str_trim(item);
        double v;
        if (n >= most || !str_take_f64(&rest, &v))
            return 0;
        (*scale)[n] = (float)v;
        (*zero)[n] = 0;
        if (rest.n > 1 && rest.p[0] == ':' &&
            !str_to_i64((str){rest.p + 1, rest.n - 1}, &(*zero)[n]))
            return 0;
    }
    return n;
}

static const ir_tensor *inline_list(hlo_reader *r, ir_dtype t, uint32_t n, const void *bytes)
{
    int64_t dims = n;
    ir_tensor *x = ir_make_tensor_borrowed(r->f.m, STR(""), t, 1, &dims);
    if (x) {
        x->storage = IR_DATA_INLINE;
        x->bytes = bytes;
    }
    return x;
}

/* NULL: the type has none, or they cannot be read. */
static const ir_quant *quant_of(hlo_reader *r, const hlo_type *t)
{
    quant_type q;
    float *scale;
    int64_t *zero;
    if (!t->quant.n || !split_type(t->quant, &q))
        return NULL;
    uint32_t n = read_scales(r, q.list, &scale, &zero);
    ir_quant *to = n ? ARENA_NEW(r->f.m->arena, ir_quant) : NULL;
    if (!to)
        return NULL;
    *to = (ir_quant){.scale = inline_list(r, IR_FLOAT32, n, scale),
                     .zero = inline_list(r, IR_INT64, n, zero),
                     .axis = q.axis < 0 ? 0 : q.axis};
    return to->scale && to->zero ? to : NULL;
}

void hlo_set_quant(hlo_reader *r, ir_id id, const hlo_type *t)
{
    if (id != IR_NONE && t->quant.n)
        ir_value_at(r->f.m, id)->quant = quant_of(r, t);
}

/* Scale and zero point of a type with one of each, as inputs. */
static bool one_of_each(hlo_op *o, const hlo_type *t, ir_id *in)
{
    const ir_quant *q = quant_of(o->r, t);
    if (!q || q->scale->n_elems != 1)
        return false;
    float scale;
    int64_t zero;
    memcpy(&scale, q->scale->bytes, sizeof scale);
    memcpy(&zero, q->zero->bytes, sizeof zero);
    in[0] = layer_number(&o->l, "scale", IR_FLOAT32, (double)scale);
    in[1] = layer_number(&o->l, "zero", t->dtype, (double)zero);
    return in[0] != IR_NONE && in[1] != IR_NONE;
}

bool hlo_quantize(hlo_op *o)
{
    ir_id in[3] = {o->in[0]};
    const ir_attr_spec to[] = {IR_SPEC_INT("to", hlo_out(o, 0)->dtype), LAYER_END};
    if (hlo_in(o, 0)->quant.n)
        return made(layer_node_of(&o->l, FOREIGN_NHWC, "Requantize", in, 1, to, 1));
    return hlo_in(o, 0)->dtype == IR_FLOAT32 && one_of_each(o, hlo_out(o, 0), in + 1) &&
           made(layer_node_of(&o->l, NULL, "QuantizeLinear", in, 3, NULL, 1));
}

bool hlo_dequantize(hlo_op *o)
{
    ir_id in[3] = {o->in[0]};
    return hlo_out(o, 0)->dtype == IR_FLOAT32 && one_of_each(o, hlo_in(o, 0), in + 1) &&
           made(layer_node_of(&o->l, NULL, "DequantizeLinear", in, 3, NULL, 1));
}
