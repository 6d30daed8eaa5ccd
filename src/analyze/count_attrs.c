/* What a layer was told: the attributes of its node that are not at their default, and constant inputs of a few
 * numbers that are no weights (profile/attribute.h). Bodies of control flow are layers of their own, and a kernel's
 * size is the weight's shape; neither is repeated here.
 *
 * Defaults are those of the ONNX operators (Operators.md, opset 21). One that is missing here does no harm but
 * that a file which spells it out differs from one that does not.
 */
#include <stdlib.h>

#include "analyze/count.h"

typedef struct default_row {
    str name, op; /* op empty: of every operator that has the attribute */
    bool is_text;
    double number; /* of every item */
    str text;
} default_row;

#define LITERAL(s)         \
    {                      \
        (s), sizeof(s) - 1 \
    }
#define NUMBER(n, o, v)                                     \
    {                                                       \
        .name = LITERAL(n), .op = LITERAL(o), .number = (v) \
    }
#define WORD(n, o, t)                                                             \
    {                                                                             \
        .name = LITERAL(n), .op = LITERAL(o), .is_text = true, .text = LITERAL(t) \
    }

static const default_row defaults[] = {
    NUMBER("dilations", "", 1),
    NUMBER("strides", "", 1),
    NUMBER("pads", "", 0),
    NUMBER("group", "", 1),
    NUMBER("output_padding", "", 0),
    NUMBER("ceil_mode", "", 0),
    NUMBER("storage_order", "", 0),
    NUMBER("count_include_pad", "", 0),
    NUMBER("epsilon", "", 1e-5),
    NUMBER("momentum", "BatchNormalization", 0.9),
    NUMBER("training_mode", "", 0),
    NUMBER("transA", "", 0),
    NUMBER("transB", "", 0),
    NUMBER("alpha", "Gemm", 1),
    NUMBER("beta", "Gemm", 1),
    NUMBER("alpha", "LeakyRelu", 0.01),
    NUMBER("alpha", "Elu", 1),
    NUMBER("alpha", "HardSigmoid", 0.2),
    NUMBER("beta", "HardSigmoid", 0.5),
    NUMBER("keepdims", "", 1),
    NUMBER("noop_with_empty_axes", "", 0),
    NUMBER("allowzero", "", 0),
    NUMBER("axis", "Flatten", 1),
    NUMBER("axis", "Gather", 0),
    NUMBER("axis", "LayerNormalization", -1),
    NUMBER("stash_type", "", 1),
    NUMBER("largest", "", 1),
    NUMBER("sorted", "", 1),
    NUMBER("is_causal", "", 0),
    WORD("auto_pad", "", "NOTSET"),
    WORD("mode", "Pad", "constant"),
    WORD("approximate", "Gelu", "none"),
    WORD("direction", "", "forward"),
};

static bool all_are(const profile_attribute *a, const default_row *d)
{
    if (a->hash || d->is_text != (a->kind == ATTRIBUTE_TEXTS))
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (d->is_text                  ? !str_eq(a->v.texts[i], d->text)
            : a->kind == ATTRIBUTE_INTS ? (double)a->v.ints[i] != d->number
                                        : (float)a->v.floats[i] != (float)d->number)
            return false;
    return true;
}

static bool is_default(const ir_node *n, const profile_attribute *a)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        const default_row *d = &defaults[i];
        if (str_eq(d->name, a->name) && (!d->op.n || str_eq(d->op, n->op)))
            return all_are(a, d);
    }
    return false;
}

/* ---- taking one over ---- */

static uint64_t hash_bytes(const void *p, size_t n)
{
    uint64_t h = str_hash((str){p, (uint32_t)(n < UINT32_MAX ? n : UINT32_MAX)});
    return h ? h : 1;
}

static uint64_t hash_texts(const str *texts, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = h * 31 + str_hash(texts[i]);
    return h ? h : 1;
}

static const str *copy_texts(arena *a, const str *texts, uint32_t n)
{
    str *out = ARENA_ARRAY(a, str, n ? n : 1);
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = str_copy(a, texts[i]);
    return out;
}

static void take_numbers(arena *a, const void *items, size_t size, profile_attribute *out)
{
    if (out->n > ATTRIBUTE_ITEMS)
        out->hash = hash_bytes(items, out->n * size);
    else
        out->v.ints = out->n ? arena_copy(a, items, out->n * size) : NULL;
}

/* False: it is of a kind that is not shown. */
static bool take(arena *a, const ir_attr *from, profile_attribute *out)
{
    *out = (profile_attribute){
        .name = from->name, .n = from->n, .list = ir_attr_is_list(from->kind)};
    switch (from->kind) {
    case IR_ATTR_INT:
        out->n = 1;
        take_numbers(a, &from->v.i, sizeof from->v.i, out);
        return true;
    case IR_ATTR_INTS:
        take_numbers(a, from->v.ints, sizeof *from->v.ints, out);
        return true;
    case IR_ATTR_FLOAT:
        out->n = 1;
        out->kind = ATTRIBUTE_FLOATS;
        take_numbers(a, &from->v.f, sizeof from->v.f, out);
        return true;
    case IR_ATTR_FLOATS:
        out->kind = ATTRIBUTE_FLOATS;
        take_numbers(a, from->v.floats, sizeof *from->v.floats, out);
        return true;
    case IR_ATTR_STRING:
        out->n = 1;
        out->kind = ATTRIBUTE_TEXTS;
        out->v.texts = copy_texts(a, &from->v.s, 1);
        return true;
    case IR_ATTR_STRINGS:
        out->kind = ATTRIBUTE_TEXTS;
        if (from->n > ATTRIBUTE_ITEMS)
            out->hash = hash_texts(from->v.strings, from->n);
        else
            out->v.texts = copy_texts(a, from->v.strings, from->n);
        return true;
    default:
        return false;
    }
}

static bool is_repeated_elsewhere(const ir_node *n, const ir_attr *a)
{
    return str_is(a->name, "kernel_shape") && str_contains(n->op, "Conv");
}

/* ---- constant inputs ---- */

enum { CONSTANT_ITEMS = 16 };

static bool take_constant(arena *a, const op_ctx *c, uint32_t index, profile_attribute *out)
{
    const op_info *x = c->in[index];
    int64_t n = x->kind == IR_KIND_TENSOR ? op_numel(x) : -1;
    const op_val *val = n >= 1 && n <= CONSTANT_ITEMS ? op_value(c, index) : NULL;
    if (!op_val_full(val) || val->n != n)
        return false;
    *out = (profile_attribute){
        .name = str_printf(a, "input[%u]", index), .n = (uint32_t)n, .list = x->rank > 0};
    int64_t *ints = ARENA_ARRAY(a, int64_t, (size_t)n);
    double *floats = ir_is_float(x->dtype) ? ARENA_ARRAY(a, double, (size_t)n) : NULL;
    for (int64_t i = 0; ints && i < n; i++)
        if (floats)
            floats[i] = val->cells[i].f;
        else
            ints[i] = val->cells[i].i;
    out->kind = floats ? ATTRIBUTE_FLOATS : ATTRIBUTE_INTS;
    if (floats)
        out->v.floats = floats;
    else
        out->v.ints = ints;
    return ints != NULL;
}

static bool is_constant(const infer_result *r, const weights *w, ir_id id)
{
    return id != IR_NONE && ir_value_at(r->model, id)->constant && w->cls[id] != WEIGHT_PARAM &&
           w->cls[id] != WEIGHT_BUFFER;
}

static int by_name(const void *x, const void *y)
{
    const profile_attribute *a = x, *b = y;
    return str_cmp(a->name, b->name);
}

bool count_attributes(const infer_result *r, const weights *w, const op_ctx *c, arena *a,
                      profile_layer *l)
{
    const ir_node *n = c->node;
    profile_attribute *list = ARENA_ARRAY(a, profile_attribute, (size_t)n->n_attrs + c->n_in + 1);
    uint32_t count = 0;
    if (!list)
        return false;
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        profile_attribute *to = &list[count];
        if (is_repeated_elsewhere(n, &n->attrs[i]) || !take(a, &n->attrs[i], to) ||
            is_default(n, to))
            continue;
        to->name = str_copy(a, to->name);
        count++;
    }
    for (uint32_t i = 0; i < c->n_in; i++)
        if (is_constant(r, w, c->in_ids[i]) && c->in[i])
            count += take_constant(a, c, i, &list[count]);
    if (count > 1)
        qsort(list, count, sizeof *list, by_name);
    l->attributes = (attribute_list){list, count};
    l->attributes_told = true;
    return !arena_failed(a);
}
