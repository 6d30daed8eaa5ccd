/* Follows the code of a TorchScript module with values of the graph in place of tensors; see script.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/torch/script_impl.h"

typedef struct frame {
    map names;
    VEC(aten_value) values;
    aten_value result;
    bool returned;
} frame;

assay_status script_stop(script_run *r, const char *fmt, ...)
{
    char why[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                    "TorchScript code of '" STR_FMT "', line %u: %s", STR_ARG(r->line_of), r->line,
                    why);
}

static assay_status no_memory(script_run *r)
{
    return err_no_memory(r->f.err);
}

static assay_status eval(script_run *r, frame *fr, const script_expr *e, aten_value *out);

/* ---- names and objects ---- */

static assay_status bind_local(script_run *r, frame *fr, str name, aten_value v)
{
    return VEC_ADD(r->f.scratch, &fr->values, v) && map_put(&fr->names, name, fr->values.n - 1)
               ? ASSAY_OK
               : no_memory(r);
}

static aten_value of_name(str qualified)
{
    return (aten_value){.kind = ATEN_OTHER, .s = qualified, .id = IR_NONE};
}

static assay_status class_of(script_run *r, const pickle_value *object, const script_class **out)
{
    script_file *f = NULL;
    str name = object->of && object->of->kind == PICKLE_GLOBAL ? object->of->text : (str){0};
    if (!name.n)
        return script_stop(r, "object without a class");
    TRY(script_file_of(r->s, name, &f));
    *out = f ? script_class_of(f, name) : NULL;
    return *out ? ASSAY_OK : script_stop(r, "no code of class '" STR_FMT "'", STR_ARG(name));
}

static assay_status attribute_of(script_run *r, const pickle_value *object, str name,
                                 aten_value *out)
{
    const char *key = str_copy(r->f.scratch, name).p;
    const script_class *c;
    frame own = {.returned = false};
    if (!key)
        return no_memory(r);
    if (str_is(name, "training"))
        return *out = aten_of_bool(false), ASSAY_OK; /* always for inference */
    for (uint32_t i = r->stores.n; i-- > 0;)
        if (r->stores.items[i].object == object && str_eq(r->stores.items[i].name, name))
            return *out = r->stores.items[i].value, ASSAY_OK;
    const pickle_value *v = object->state ? pickle_get(object->state, key) : NULL;
    str path = object->text.n ? str_printf(r->f.scratch, STR_FMT "." STR_FMT, STR_ARG(object->text),
                                           STR_ARG(name))
                              : name;
    if (v)
        return script_of_pickle(r, v, path, out);
    TRY(class_of(r, object, &c));
    for (uint32_t i = 0; i < c->constants.n; i++)
        if (str_eq(c->constants.items[i].name, name) && map_init(&own.names, r->f.scratch, 0))
            return eval(r, &own, c->constants.items[i].value, out);
    return script_stop(r, "no attribute '%s'", key);
}

/* ---- calls of functions ---- */

static assay_status run_block(script_run *r, frame *fr, script_stmt *const *body, uint32_t n);

static assay_status bind_param(script_run *r, frame *fr, const script_param *p,
                               const aten_value *given)
{
    aten_value v;
    if (given)
        return bind_local(r, fr, p->name, *given);
    if (!p->value)
        return script_stop(r, "argument '" STR_FMT "' is missing", STR_ARG(p->name));
    TRY(eval(r, fr, p->value, &v));
    return bind_local(r, fr, p->name, v);
}

static assay_status run_function(script_run *r, const script_function *f, const script_args *a,
                                 aten_value *out)
{
    frame fr = {.result = aten_none()};
    str line_of = r->line_of;
    uint32_t line = r->line;
    if (!map_init(&fr.names, r->f.scratch, f->params.n))
        return no_memory(r);
    if (r->depth >= SCRIPT_DEPTH)
        return script_stop(r, "calls are nested too deeply");
    for (uint32_t i = 0; i < f->params.n; i++) {
        const aten_value *given = NULL;
        uint32_t at = 0;
        for (uint32_t k = 0; k < a->n; k++) {
            if (a->names[k].n ? str_eq(a->names[k], f->params.items[i].name) : at++ == i)
                given = &a->v[k];
        }
        TRY(bind_param(r, &fr, &f->params.items[i], given));
    }
    r->depth++;
    r->line_of = f->file->module;
    TRY(run_block(r, &fr, f->body.items, f->body.n));
    r->depth--;
    r->line_of = line_of;
    r->line = line;
    *out = fr.result;
    return ASSAY_OK;
}

static assay_status run_method(script_run *r, const pickle_value *object, str name, script_args *a,
                               aten_value *out)
{
    const script_class *c;
    TRY(class_of(r, object, &c));
    const char *key = str_copy(r->f.scratch, name).p;
    const script_function *f = key ? script_method(c, key) : NULL;
    str before = r->path;
    if (!f)
        return script_stop(r, "no method '" STR_FMT "' of '" STR_FMT "'", STR_ARG(name),
                           STR_ARG(c->name));
    if (a->n == 64)
        return script_stop(r, "more than 63 arguments");
    memmove(a->v + 1, a->v, a->n * sizeof *a->v);
    memmove(a->names + 1, a->names, a->n * sizeof *a->names);
    a->v[0] = script_of_object(object);
    a->names[0] = (str){0};
    a->n++;
    r->path = object->text;
    TRY(run_function(r, f, a, out));
    r->path = before;
    return ASSAY_OK;
}

/* A function of the archive, or a NamedTuple, which is a tuple. */
static assay_status run_named(script_run *r, str qualified, const script_args *a, aten_value *out)
{
    script_file *f = NULL;
    TRY(script_file_of(r->s, qualified, &f));
    for (uint32_t i = 0; f && i < f->functions.n; i++) {
        str name = f->functions.items[i]->name;
        const char *end = str_copy(r->f.scratch, name).p;
        if (!end)
            return no_memory(r);
        if (qualified.n > name.n && str_ends(qualified, end) &&
            qualified.p[qualified.n - name.n - 1] == '.')
            return run_function(r, f->functions.items[i], a, out);
    }
    const script_class *c = f ? script_class_of(f, qualified) : NULL;
    if (!c || !str_is(c->base, "NamedTuple"))
        return script_stop(r, "unknown name '" STR_FMT "'", STR_ARG(qualified));
    return script_named_tuple(r, c, a, out);
}

/* ---- calls ---- */

static assay_status read_args(script_run *r, frame *fr, const script_expr *e, uint32_t from,
                              script_args *a)
{
    for (uint32_t i = from; i < e->items.n; i++) {
        if (a->n == 64)
            return script_stop(r, "more than 64 arguments");
        TRY(eval(r, fr, e->items.items[i], &a->v[a->n]));
        script_renew(r, &a->v[a->n]);
        a->names[a->n++] = e->names.items[i];
    }
    return ASSAY_OK;
}

/* annotate(T, x), unchecked_cast(T, x), getattr(x, "0"), int(x), ... *done: it was one of these. */
static assay_status run_special(script_run *r, frame *fr, const script_expr *e, aten_value *out,
                                bool *done)
{
    str name = e->of->s;
    uint32_t n = e->items.n;
    *done = true;
    if ((str_is(name, "annotate") || str_is(name, "unchecked_cast")) && n == 2) {
        TRY(eval(r, fr, e->items.items[1], out));
        if (out->kind == ATEN_TENSOR && e->items.items[0]->kind == EXPR_NAME &&
            str_is(e->items.items[0]->s, "int"))
            *out = script_to_size(r, out);
        return ASSAY_OK;
    }
    if (str_is(name, "uninitialized"))
        return *out = aten_none(), ASSAY_OK;
    if (str_is(name, "str") && n == 1) { /* of messages and devices */
        TRY(eval(r, fr, e->items.items[0], out));
        return *out = aten_of_text(out->kind == ATEN_OTHER ? out->s : name), ASSAY_OK;
    }
    if (str_is(name, "isinstance") && n == 2) {
        TRY(eval(r, fr, e->items.items[0], out));
        return *out = aten_of_bool(script_is_instance(out, e->items.items[1])), ASSAY_OK;
    }
    if (str_is(name, "getattr") && n == 2 && e->items.items[1]->kind == EXPR_TEXT) {
        TRY(eval(r, fr, e->items.items[0], out));
        if (out->kind == ATEN_LIST && out->other)
            return script_field(r, &(aten_value){.list = out->list, .other = out->other},
                                e->items.items[1]->s, out);
        return out->kind == ATEN_OTHER && out->other
                   ? attribute_of(r, out->other, e->items.items[1]->s, out)
                   : script_stop(r, "attribute of a value that is not an object");
    }
    bool whole = str_is(name, "int"), real = str_is(name, "float"), truth = str_is(name, "bool"),
         yes;
    if ((!whole && !real && !truth) || n != 1)
        return *done = false, ASSAY_OK;
    TRY(eval(r, fr, e->items.items[0], out));
    script_renew(r, out);
    if (truth && script_truth(r, out, &yes))
        *out = aten_of_bool(yes);
    double number;
    if (out->kind == ATEN_TENSOR || whole)
        *out = script_to_size(r, out);
    else if (real && aten_number(out, &number)) {
        r->t.fixed |= out->kind == ATEN_SIZE;
        *out = aten_of_float(number);
    }
    return ASSAY_OK;
}

static assay_status eval_call(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    script_args *a = ARENA_NEW(r->f.scratch, script_args);
    aten_value callee;
    bool done = false;
    if (!a)
        return no_memory(r);
    if (e->of->kind == EXPR_NAME && map_get(&fr->names, e->of->s) == MAP_NONE) {
        TRY(run_special(r, fr, e, out, &done));
        if (done)
            return ASSAY_OK;
    }
    if (e->of->kind == EXPR_ATTR) {
        TRY(eval(r, fr, e->of->of, &callee));
        if (callee.kind == ATEN_OTHER && callee.other) {
            TRY(read_args(r, fr, e, 0, a));
            return run_method(r, callee.other, e->of->s, a, out);
        }
    }
    TRY(eval(r, fr, e->of, &callee));
    TRY(read_args(r, fr, e, 0, a));
    if (callee.kind != ATEN_OTHER || callee.other)
        return script_stop(r, "call of a value that is not a function");
    return str_starts(callee.s, "__torch__") ? run_named(r, callee.s, a, out)
                                             : script_run_torch(r, callee.s, a, out);
}

/* ---- expressions ---- */

static assay_status eval_name(script_run *r, frame *fr, str name, aten_value *out)
{
    static const char *const spaces[] = {"torch", "ops", "__torch__", "CONSTANTS"};
    uint32_t at = map_get(&fr->names, name);
    if (at != MAP_NONE) {
        *out = fr->values.items[at];
        script_renew(r, out);
        return ASSAY_OK;
    }
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_is(name, spaces[i]))
            return *out = of_name(name), ASSAY_OK;
    if (str_is(name, "inf") || str_is(name, "nan"))
        return *out = aten_of_float(str_is(name, "inf") ? (double)INFINITY : (double)NAN), ASSAY_OK;
    return script_stop(r, "unknown name '" STR_FMT "'", STR_ARG(name));
}

static assay_status eval_attribute(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    uint64_t k;
    TRY(eval(r, fr, e->of, out));
    if (out->kind == ATEN_OTHER && out->other)
        return attribute_of(r, out->other, e->s, out);
    if (out->kind == ATEN_LIST && out->other)
        return script_field(r, &(aten_value){.list = out->list, .other = out->other}, e->s, out);
    if (out->kind != ATEN_OTHER)
        return script_stop(r, "attribute of a value that is not an object");
    if (str_is(out->s, "CONSTANTS") && e->s.n > 1 &&
        str_to_u64((str){e->s.p + 1, e->s.n - 1}, &k) && r->s->constants &&
        k < r->s->constants->items.n)
        return script_of_pickle(r, r->s->constants->items.items[k],
                                str_printf(r->f.scratch, "constants.%u", (unsigned)k), out);
    str q = str_printf(r->f.scratch, STR_FMT "." STR_FMT, STR_ARG(out->s), STR_ARG(e->s));
    *out = of_name(q);
    return q.p ? ASSAY_OK : no_memory(r);
}

static assay_status eval_index(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    script_args a = {.n = 2};
    bool done = false;
    if (e->items.n != 1)
        return script_stop(r, "an unknown index");
    TRY(eval(r, fr, e->of, &a.v[0]));
    TRY(eval(r, fr, e->items.items[0], &a.v[1]));
    if (a.v[0].kind != ATEN_LIST && a.v[0].kind != ATEN_DICT)
        return script_stop(r, "index into a value that is not a list or dictionary");
    TRY(script_builtin(r, STR("__getitem__"), &a, out, &done));
    return done ? ASSAY_OK : script_stop(r, "a data-dependent index");
}

static assay_status eval_list(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    *out = aten_new_list(&r->t, e->kind == EXPR_TUPLE);
    for (uint32_t i = 0; i < e->items.n; i++) {
        aten_value v;
        TRY(eval(r, fr, e->items.items[i], &v));
        if (!aten_push(&r->t, out, v))
            return no_memory(r);
    }
    return out->kind == ATEN_ABSENT ? no_memory(r) : ASSAY_OK;
}

static assay_status eval_neg(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    TRY(eval(r, fr, e->of, out));
    if (out->kind == ATEN_INT && out->i != INT64_MIN)
        out->i = -out->i;
    else if (out->kind == ATEN_FLOAT)
        out->f = -out->f;
    else
        return script_stop(r, "minus before a value that is not a number");
    return ASSAY_OK;
}

static bool only_raises(script_stmt *const *body, uint32_t n)
{
    const script_stmt *s = n ? body[n - 1] : NULL;
    return s && s->form == FORM_EXPR && s->value->kind == EXPR_CALL &&
           s->value->of->kind == EXPR_ATTR && str_is(s->value->of->s, "RaiseException");
}

/* Whether the condition holds. One that is not known is an assertion where a branch only raises: it does not. While the
 * inputs are probed, the first branch is as good as the other. */
static assay_status decide(script_run *r, const aten_value *v, const script_stmt *s, bool *yes)
{
    if (script_truth(r, v, yes))
        return ASSAY_OK;
    bool raises = s && only_raises(s->body.items, s->body.n);
    *yes = !raises;
    return r->probing || raises || (s && only_raises(s->other.items, s->other.n))
               ? ASSAY_OK
               : script_stop(r, "a data-dependent condition");
}

static assay_status eval_choice(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    bool yes;
    TRY(eval(r, fr, e->of, out));
    TRY(decide(r, out, NULL, &yes));
    return eval(r, fr, e->items.items[yes ? 0 : 1], out);
}

static assay_status eval_dict(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    *out = script_new_dict(r);
    for (uint32_t i = 0; i + 1 < e->items.n; i += 2) {
        aten_value key, v;
        TRY(eval(r, fr, e->items.items[i], &key));
        TRY(eval(r, fr, e->items.items[i + 1], &v));
        TRY(script_dict_set(r, out, key, v));
    }
    return out->kind == ATEN_ABSENT ? no_memory(r) : ASSAY_OK;
}

static assay_status eval_inner(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    switch (e->kind) {
    case EXPR_NAME:
        return eval_name(r, fr, e->s, out);
    case EXPR_INT:
        return *out = aten_of_int(e->i), ASSAY_OK;
    case EXPR_FLOAT:
        return *out = aten_of_float(e->f), ASSAY_OK;
    case EXPR_TEXT:
        return *out = aten_of_text(e->s), ASSAY_OK;
    case EXPR_NONE:
        return *out = aten_none(), ASSAY_OK;
    case EXPR_BOOL:
        return *out = aten_of_bool(e->i != 0), ASSAY_OK;
    case EXPR_LIST:
    case EXPR_TUPLE:
        return eval_list(r, fr, e, out);
    case EXPR_DICT:
        return eval_dict(r, fr, e, out);
    case EXPR_ATTR:
        return eval_attribute(r, fr, e, out);
    case EXPR_CALL:
        return eval_call(r, fr, e, out);
    case EXPR_INDEX:
        return eval_index(r, fr, e, out);
    case EXPR_NEG:
        return eval_neg(r, fr, e, out);
    case EXPR_CHOICE:
        return eval_choice(r, fr, e, out);
    }
    return script_stop(r, "unsupported expression");
}

static assay_status eval(script_run *r, frame *fr, const script_expr *e, aten_value *out)
{
    if (r->depth >= SCRIPT_DEPTH)
        return script_stop(r, "nested too deeply");
    r->depth++;
    *out = (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE};
    assay_status s = eval_inner(r, fr, e, out);
    r->depth--;
    return s;
}

/* ---- statements ---- */

static assay_status assign(script_run *r, frame *fr, const script_expr *target, aten_value v)
{
    aten_value of;
    if (target->kind == EXPR_NAME)
        return bind_local(r, fr, target->s, v);
    if (target->kind != EXPR_ATTR)
        return script_stop(r, "unsupported assignment");
    TRY(eval(r, fr, target->of, &of));
    if (of.kind != ATEN_OTHER || !of.other)
        return script_stop(r, "attribute of a value that is not an object");
    script_store store = {of.other, target->s, v};
    return VEC_ADD(r->f.scratch, &r->stores, store) ? ASSAY_OK : no_memory(r);
}

static assay_status run_assign(script_run *r, frame *fr, const script_stmt *s)
{
    aten_value v;
    TRY(eval(r, fr, s->value, &v));
    if (!s->tuple)
        return assign(r, fr, s->targets.items[0], v);
    if (v.kind != ATEN_LIST || v.list->v.n != s->targets.n)
        return script_stop(r, "tuple length mismatch");
    for (uint32_t i = 0; i < s->targets.n; i++)
        TRY(assign(r, fr, s->targets.items[i], v.list->v.items[i]));
    return ASSAY_OK;
}

static assay_status run_while(script_run *r, frame *fr, const script_stmt *s)
{
    for (;;) {
        aten_value v;
        bool yes;
        TRY(eval(r, fr, s->value, &v));
        if (!script_truth(r, &v, &yes))
            return script_stop(r, "a loop ends by a condition that depends on data");
        if (!yes || fr->returned)
            return ASSAY_OK;
        TRY(run_block(r, fr, s->body.items, s->body.n));
    }
}

/* for i in range(n), or over a list */
static assay_status run_for(script_run *r, frame *fr, const script_stmt *s)
{
    const script_expr *e = s->value;
    aten_value v;
    int64_t n = 0;
    bool counts = e->kind == EXPR_CALL && e->of->kind == EXPR_NAME && str_is(e->of->s, "range") &&
                  e->items.n == 1;
    TRY(eval(r, fr, counts ? e->items.items[0] : e, &v));
    if (counts ? !aten_whole(&v, &n) : v.kind != ATEN_LIST)
        return script_stop(r, "a loop over an unknown value");
    if (counts)
        script_branched(r, &v);
    n = counts ? n : v.list->v.n;
    for (int64_t i = 0; i < n && !fr->returned; i++) {
        TRY(assign(r, fr, s->targets.items[0], counts ? aten_of_int(i) : v.list->v.items[i]));
        TRY(run_block(r, fr, s->body.items, s->body.n));
    }
    return ASSAY_OK;
}

static assay_status run_if(script_run *r, frame *fr, const script_stmt *s)
{
    aten_value v;
    bool yes;
    TRY(eval(r, fr, s->value, &v));
    TRY(decide(r, &v, s, &yes));
    return yes ? run_block(r, fr, s->body.items, s->body.n)
               : run_block(r, fr, s->other.items, s->other.n);
}

static assay_status run_stmt(script_run *r, frame *fr, const script_stmt *s)
{
    aten_value v;
    switch (s->form) {
    case FORM_ASSIGN:
        return run_assign(r, fr, s);
    case FORM_EXPR:
        return eval(r, fr, s->value, &v);
    case FORM_RETURN:
        fr->returned = true;
        return s->value ? eval(r, fr, s->value, &fr->result) : ASSAY_OK;
    case FORM_IF:
        return run_if(r, fr, s);
    case FORM_WHILE:
        return run_while(r, fr, s);
    case FORM_FOR:
        return run_for(r, fr, s);
    case FORM_PASS:
        break;
    }
    return ASSAY_OK;
}

static assay_status run_block(script_run *r, frame *fr, script_stmt *const *body, uint32_t n)
{
    for (uint32_t i = 0; i < n && !fr->returned; i++) {
        r->line = body[i]->line;
        if (++r->steps > SCRIPT_MAX_STEPS)
            return script_stop(r, "more than 2,097,152 statements");
        TRY(run_stmt(r, fr, body[i]));
    }
    return ASSAY_OK;
}

assay_status script_forward(script_run *r, const aten_value *args, uint32_t n, aten_value *out)
{
    script_args *a = ARENA_NEW(r->f.scratch, script_args);
    if (!a)
        return no_memory(r);
    a->n = n;
    memcpy(a->v, args, n * sizeof *args);
    return run_method(r, r->s->module, STR("forward"), a, out);
}
