/* Dictionaries, named tuples and questions of type in TorchScript; see script.h.
 *
 * A dictionary is a list of keys and values in turn (ATEN_DICT). A named tuple is a tuple that knows its class, whose
 * annotations are the names of its fields.
 */
#include "formats/torch/script_impl.h"

/* ---- dictionaries ---- */

static assay_status no_memory(script_run *r)
{
    return err_no_memory(r->f.err);
}

aten_value script_new_dict(script_run *r)
{
    aten_value v = aten_new_list(&r->t, false);
    v.kind = v.kind == ATEN_LIST ? ATEN_DICT : v.kind;
    return v;
}

static bool push(script_run *r, const aten_value *to, aten_value v)
{
    aten_value list = *to;
    list.kind = ATEN_LIST;
    return aten_push(&r->t, &list, v);
}

static aten_value *entry_of(const aten_value *dict, const aten_value *key)
{
    for (uint32_t i = 0; i + 1 < dict->list->v.n; i += 2) {
        bool same = false;
        if (script_equal(&dict->list->v.items[i], key, &same) && same)
            return &dict->list->v.items[i + 1];
    }
    return NULL;
}

assay_status script_dict_set(script_run *r, const aten_value *dict, aten_value key, aten_value v)
{
    if (dict->kind != ATEN_DICT)
        return no_memory(r);
    aten_value *old = entry_of(dict, &key);
    if (old)
        *old = v;
    else if (!push(r, dict, key) || !push(r, dict, v))
        return no_memory(r);
    return ASSAY_OK;
}

static assay_status list_entries(script_run *r, const aten_value *dict, bool keys, bool values,
                                 aten_value *out)
{
    *out = aten_new_list(&r->t, false);
    for (uint32_t i = 0; i + 1 < dict->list->v.n; i += 2) {
        aten_value item = dict->list->v.items[keys ? i : i + 1];
        if (keys && values) {
            item = aten_new_list(&r->t, true);
            if (!aten_push(&r->t, &item, dict->list->v.items[i]) ||
                !aten_push(&r->t, &item, dict->list->v.items[i + 1]))
                return no_memory(r);
        }
        if (!aten_push(&r->t, out, item))
            return no_memory(r);
    }
    return ASSAY_OK;
}

static assay_status update(script_run *r, const aten_value *dict, const aten_value *from)
{
    for (uint32_t i = 0; from->kind == ATEN_DICT && i + 1 < from->list->v.n; i += 2)
        TRY(script_dict_set(r, dict, from->list->v.items[i], from->list->v.items[i + 1]));
    return ASSAY_OK;
}

/* d[key], d.get(key), d.pop(key): *done is false for a key that is not known. */
static assay_status take_entry(script_run *r, str op, const script_args *a, aten_value *out)
{
    aten_value *found = entry_of(&a->v[0], &a->v[1]);
    if (!found && str_is(op, "get")) {
        *out = a->n > 2 ? a->v[2] : aten_none();
        return ASSAY_OK;
    }
    if (!found)
        return script_stop(r, "key not in dictionary");
    *out = *found;
    if (str_is(op, "pop") || str_is(op, "_delete")) {
        aten_list *l = a->v[0].list;
        for (uint32_t i = (uint32_t)(found - l->v.items) + 1; i < l->v.n; i++)
            l->v.items[i - 2] = l->v.items[i];
        l->v.n -= 2;
    }
    return ASSAY_OK;
}

assay_status script_dict(script_run *r, str op, const script_args *a, aten_value *out, bool *done)
{
    const aten_value *d = &a->v[0];
    *done = true;
    *out = aten_none();
    if (str_is(op, "len"))
        return *out = aten_of_int(d->list->v.n / 2), ASSAY_OK;
    if (str_is(op, "keys") || str_is(op, "list"))
        return list_entries(r, d, true, false, out);
    if (str_is(op, "values"))
        return list_entries(r, d, false, true, out);
    if (str_is(op, "items"))
        return list_entries(r, d, true, true, out);
    if (str_is(op, "copy") || str_is(op, "dict"))
        return *out = script_new_dict(r),
               out->kind == ATEN_ABSENT ? no_memory(r) : update(r, out, d);
    if (str_is(op, "update") && a->n > 1)
        return update(r, d, &a->v[1]);
    if (str_is(op, "_set_item") && a->n > 2)
        return script_dict_set(r, d, a->v[1], a->v[2]);
    if (str_is(op, "__contains__") && a->n > 1)
        return *out = aten_of_bool(entry_of(d, &a->v[1]) != NULL), ASSAY_OK;
    if (a->n > 1 && (str_is(op, "__getitem__") || str_is(op, "get") || str_is(op, "pop") ||
                     str_is(op, "_delete")))
        return take_entry(r, op, a, out);
    return *done = false, ASSAY_OK;
}

/* ---- named tuples ---- */

assay_status script_field(script_run *r, const aten_value *tuple, str name, aten_value *out)
{
    const script_class *c = tuple->other;
    for (uint32_t i = 0; c && i < c->fields.n && i < tuple->list->v.n; i++)
        if (str_eq(c->fields.items[i], name))
            return *out = tuple->list->v.items[i], ASSAY_OK;
    return script_stop(r, "named tuple has no field '" STR_FMT "'", STR_ARG(name));
}

/* Arguments by position or name, in the order of the fields. */
assay_status script_named_tuple(script_run *r, const script_class *c, const script_args *a,
                                aten_value *out)
{
    *out = aten_new_list(&r->t, true);
    out->other = c;
    for (uint32_t i = 0; i < a->n; i++) {
        const aten_value *v = &a->v[i];
        for (uint32_t k = 0; a->names[i].n && i < c->fields.n && k < a->n; k++)
            if (str_eq(a->names[k], c->fields.items[i]))
                v = &a->v[k];
        if (!aten_push(&r->t, out, *v))
            return no_memory(r);
    }
    return ASSAY_OK;
}

/* ---- types ---- */

static const struct {
    const char *name;
    aten_kind kinds[2];
} type_rows[] = {
    {"Tensor", {ATEN_TENSOR, ATEN_TENSOR}}, {"int", {ATEN_INT, ATEN_SIZE}},
    {"float", {ATEN_FLOAT, ATEN_FLOAT}},    {"bool", {ATEN_BOOL, ATEN_BOOL}},
    {"str", {ATEN_TEXT, ATEN_TEXT}},        {"NoneType", {ATEN_NONE, ATEN_NONE}},
    {"Dict", {ATEN_DICT, ATEN_DICT}},
};

static bool is_kind(const aten_value *v, str name)
{
    if (str_is(name, "List") || str_is(name, "list"))
        return v->kind == ATEN_LIST && !v->list->tuple;
    if (str_is(name, "Tuple") || str_is(name, "tuple"))
        return v->kind == ATEN_LIST && v->list->tuple;
    for (size_t i = 0; i < sizeof type_rows / sizeof *type_rows; i++)
        if (str_is(name, type_rows[i].name))
            return v->kind == type_rows[i].kinds[0] || v->kind == type_rows[i].kinds[1];
    return false;
}

bool script_is_instance(const aten_value *v, const script_expr *type)
{
    bool any = type->kind == EXPR_LIST || type->kind == EXPR_TUPLE;
    const script_expr *of = type->kind == EXPR_INDEX ? type->of : type;
    bool optional = of->kind == EXPR_NAME && (str_is(of->s, "Optional") || str_is(of->s, "Union"));
    if (type->kind == EXPR_NONE || (optional && v->kind == ATEN_NONE && str_is(of->s, "Optional")))
        return v->kind == ATEN_NONE;
    if (!any && !optional)
        return of->kind == EXPR_NAME && is_kind(v, of->s);
    for (uint32_t i = 0; i < type->items.n; i++)
        if (script_is_instance(v, type->items.items[i]))
            return true;
    return false;
}
