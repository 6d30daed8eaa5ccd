/* Attributes of a TorchScript module, which its pickle holds, as values of the code; see script.h. */
#include "formats/torch/script_impl.h"

aten_value script_of_object(const pickle_value *v)
{
    return (aten_value){.kind = ATEN_OTHER, .other = v, .id = IR_NONE};
}

static bool is_tensor(const pickle_value *v)
{
    return v->kind == PICKLE_OBJECT && v->of && v->of->kind == PICKLE_GLOBAL &&
           (str_contains(v->of->text, "._rebuild_tensor") ||
            str_contains(v->of->text, "._rebuild_parameter"));
}

static assay_status dict_of_pickle(script_run *r, const pickle_value *v, str path, aten_value *out)
{
    *out = script_new_dict(r);
    for (uint32_t i = 0; i + 1 < v->items.n; i += 2) {
        aten_value key, item;
        const pickle_value *k = v->items.items[i];
        str own =
            k->kind == PICKLE_TEXT
                ? str_printf(r->f.scratch, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(k->text))
                : str_printf(r->f.scratch, STR_FMT ".%lld", STR_ARG(path), (long long)k->whole);
        TRY(script_of_pickle(r, k, own, &key));
        TRY(script_of_pickle(r, v->items.items[i + 1], own, &item));
        TRY(script_dict_set(r, out, key, item));
    }
    return out->kind == ATEN_ABSENT ? err_no_memory(r->f.err) : ASSAY_OK;
}

static assay_status of_pickle_inner(script_run *r, const pickle_value *v, str path, aten_value *out)
{
    *out = aten_none();
    if (v->kind == PICKLE_BOOL)
        *out = aten_of_bool(v->whole != 0);
    else if (v->kind == PICKLE_INT)
        *out = aten_of_int(v->whole);
    else if (v->kind == PICKLE_FLOAT)
        *out = aten_of_float(v->number);
    else if (v->kind == PICKLE_TEXT)
        *out = aten_of_text(v->text);
    else if (is_tensor(v)) {
        ir_id id;
        TRY(script_constant_of(r, path, &id));
        *out = aten_of_tensor(id);
        return id == IR_NONE ? script_stop(r, "a tensor of unknown type") : ASSAY_OK;
    } else if (v->kind == PICKLE_TUPLE || v->kind == PICKLE_LIST) {
        *out = aten_new_list(&r->t, v->kind == PICKLE_TUPLE);
        for (uint32_t i = 0; i < v->items.n; i++) {
            aten_value item;
            str own = str_printf(r->f.scratch, STR_FMT ".%u", STR_ARG(path), i);
            TRY(script_of_pickle(r, v->items.items[i], own, &item));
            if (!aten_push(&r->t, out, item))
                return err_no_memory(r->f.err);
        }
    } else if (v->kind == PICKLE_DICT) {
        return dict_of_pickle(r, v, path, out);
    } else if (v->kind == PICKLE_OBJECT && v->args && !v->state && v->of && v->args->items.n &&
               str_starts(v->of->text, "torch.jit._pickle.")) {
        str own = str_printf(r->f.scratch, STR_FMT ".0",
                             STR_ARG(path)); /* build_tensorlist([a, b]) */
        return script_of_pickle(r, v->args->items.items[0], own, out);
    } else if (v->kind != PICKLE_NONE) {
        *out = script_of_object(v);
    }
    return ASSAY_OK;
}

/* A pickle may hold itself. */
assay_status script_of_pickle(script_run *r, const pickle_value *v, str path, aten_value *out)
{
    if (r->depth >= SCRIPT_DEPTH)
        return script_stop(r, "an attribute nested too deeply");
    if (++r->steps > SCRIPT_MAX_STEPS)
        return script_stop(r, "attributes with too many items");
    r->depth++;
    assay_status s = of_pickle_inner(r, v, path, out);
    r->depth--;
    return s;
}
