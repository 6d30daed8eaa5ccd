/* Attributes of layers: those of the node that are not at their default, and small constant inputs that are not
 * weights (profile/attribute.h). Bodies of control flow are layers of their own, and a kernel's size is the weight's
 * shape; neither is repeated here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/count.h"
#include "ops/defaults.h"
#include "ops/family.h"

static bool all_are(const profile_attribute *a, const op_default *d)
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
    const op_default *d = op_default_find(n->domain, n->op, a->name);
    return d && all_are(a, d);
}

/* ---- taking one over ---- */

/* Kept in files: by values, so that every machine and version finds the same (FNV-1a, of whole numbers and of
 * letters). Never 0, which says that nothing was hashed. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_one(uint64_t h, uint64_t v)
{
    return (h ^ v) * UINT64_C(0x100000001b3);
}

static uint64_t hash_numbers(const void *items, uint32_t n)
{
    uint64_t h = HASH_START, v;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&v, (const char *)items + (size_t)i * sizeof v, sizeof v);
        h = hash_one(h, v);
    }
    return h ? h : 1;
}

static uint64_t hash_texts(const str *texts, uint32_t n)
{
    uint64_t h = HASH_START;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < texts[i].n; k++)
            h = hash_one(h, (unsigned char)texts[i].p[k]);
        h = hash_one(h, 256); /* where one ends */
    }
    return h ? h : 1;
}

static const str *copy_texts(arena *a, const str *texts, uint32_t n)
{
    str *out = ARENA_ARRAY(a, str, n ? n : 1);
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = str_copy(a, texts[i]);
    return out;
}

static const char *not_finite(double v)
{
    return isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

/* JSON has no infinity and no NaN: such lists become texts, also those of their items that are numbers. */
static void words_if_not_finite(arena *a, profile_attribute *x)
{
    bool finite = true;
    for (uint32_t i = 0; x->kind == ATTRIBUTE_FLOATS && !x->hash && i < x->n; i++)
        finite = finite && isfinite(x->v.floats[i]);
    str *texts = finite ? NULL : ARENA_ARRAY(a, str, x->n);
    for (uint32_t i = 0; texts && i < x->n; i++)
        texts[i] = isfinite(x->v.floats[i]) ? str_printf(a, "%.9g", x->v.floats[i])
                                            : str_of(not_finite(x->v.floats[i]));
    if (texts) {
        x->kind = ATTRIBUTE_TEXTS;
        x->v.texts = texts;
    }
}

/* 64 bits each. */
static void take_numbers(arena *a, const void *items, profile_attribute *out)
{
    if (out->n > ATTRIBUTE_ITEMS)
        out->hash = hash_numbers(items, out->n);
    else
        out->v.ints = out->n ? arena_copy(a, items, out->n * sizeof(int64_t)) : NULL;
}

/* False: it is of a kind that is not shown. */
static bool copy_attr(arena *a, const ir_attr *from, profile_attribute *out)
{
    *out = (profile_attribute){
        .name = from->name, .n = from->n, .list = ir_attr_is_list(from->kind)};
    switch (from->kind) {
    case IR_ATTR_INT:
        out->n = 1;
        take_numbers(a, &from->v.i, out);
        return true;
    case IR_ATTR_INTS:
        take_numbers(a, from->v.ints, out);
        return true;
    case IR_ATTR_FLOAT:
        out->n = 1;
        out->kind = ATTRIBUTE_FLOATS;
        take_numbers(a, &from->v.f, out);
        return true;
    case IR_ATTR_FLOATS:
        out->kind = ATTRIBUTE_FLOATS;
        take_numbers(a, from->v.floats, out);
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

/* A convolution's kernel is its weight's shape. */
static bool is_repeated_elsewhere(const profile_layer *l, const ir_attr *a)
{
    return str_is(a->name, "kernel_shape") && op_family_find(l->type)->role == OPR_CONV;
}

/* ---- constant inputs ---- */

enum { CONSTANT_ITEMS = 16 };

static str name_of_input(arena *a, uint32_t index)
{
    static const str usual[] = {STR("input[0]"), STR("input[1]"), STR("input[2]"), STR("input[3]"),
                                STR("input[4]"), STR("input[5]"), STR("input[6]"), STR("input[7]")};
    return index < sizeof usual / sizeof *usual ? usual[index] : str_printf(a, "input[%u]", index);
}

static bool take_constant(arena *a, const op_ctx *c, uint32_t index, profile_attribute *out)
{
    const op_info *x = c->in[index];
    int64_t n = x->kind == IR_KIND_TENSOR ? op_numel(x) : -1;
    const op_val *val = n >= 1 && n <= CONSTANT_ITEMS ? op_value(c, index) : NULL;
    if (!val || !op_val_full(val) || val->n != n)
        return false;
    *out = (profile_attribute){
        .name = name_of_input(a, index), .n = (uint32_t)n, .list = x->rank > 0};
    out->kind = ir_is_float(x->dtype) ? ATTRIBUTE_FLOATS : ATTRIBUTE_INTS;
    take_numbers(a, val->cells, out);
    return out->v.ints != NULL;
}

static bool is_constant(const infer_result *r, const weights *w, ir_id id)
{
    return id != IR_NONE && ir_value_at(r->model, id)->constant && w->cls[id] != WEIGHT_PARAM &&
           w->cls[id] != WEIGHT_BUFFER;
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
        if (is_repeated_elsewhere(l, &n->attrs[i]) || !copy_attr(a, &n->attrs[i], to))
            continue;
        if (arena_failed(a))
            return false;
        if (is_default(n, to))
            continue;
        to->name = str_copy(a, to->name);
        count++;
    }
    for (uint32_t i = 0; i < c->n_in; i++)
        if (is_constant(r, w, c->in_ids[i]) && c->in[i])
            count += take_constant(a, c, i, &list[count]);
    for (uint32_t i = 0; i < count; i++)
        words_if_not_finite(a, &list[i]);
    attribute_sort(list, count);
    l->attributes = (attribute_list){list, count};
    l->attributes_told = true;
    return !arena_failed(a);
}
