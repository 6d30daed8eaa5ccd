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

static aten_value of_object(const pickle_value *v)
{
    return (aten_value){.kind = ATEN_OTHER, .other = v, .id = IR_NONE};
}

/* Tensors that were changed in place are what they became. */
static void renew(const script_run *r, aten_value *v)
{
    if (v->kind == ATEN_TENSOR)
        v->id = aten_latest(&r->t, v->id);
    for (uint32_t i = 0; (v->kind == ATEN_LIST || v->kind == ATEN_DICT) && i < v->list->v.n; i++)
        if (v->list->v.items[i].kind == ATEN_TENSOR)
            v->list->v.items[i].id = aten_latest(&r->t, v->list->v.items[i].id);
}

static bool is_tensor(const pickle_value *v)
{
    return v->kind == PICKLE_OBJECT && v->of && v->of->kind == PICKLE_GLOBAL &&
           (str_contains(v->of->text, "._rebuild_tensor") ||
            str_contains(v->of->text, "._rebuild_parameter"));
}

static assay_status of_pickle(script_run *r, const pickle_value *v, str path, aten_value *out);

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
        TRY(of_pickle(r, k, own, &key));
        TRY(of_pickle(r, v->items.items[i + 1], own, &item));
        TRY(script_dict_set(r, out, key, item));
    }
    return out->kind == ATEN_ABSENT ? no_memory(r) : ASSAY_OK;
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
            TRY(of_pickle(r, v->items.items[i], own, &item));
            if (!aten_push(&r->t, out, item))
                return no_memory(r);
        }
    } else if (v->kind == PICKLE_DICT) {
        return dict_of_pickle(r, v, path, out);
    } else if (v->kind == PICKLE_OBJECT && v->args && !v->state && v->of && v->args->items.n &&
               str_starts(v->of->text, "torch.jit._pickle.")) {
        str own = str_printf(r->f.scratch, STR_FMT ".0",
                             STR_ARG(path)); /* build_tensorlist([a, b]) */
        return of_pickle(r, v->args->items.items[0], own, out);
    } else if (v->kind != PICKLE_NONE) {
        *out = of_object(v);
    }
    return ASSAY_OK;
}

/* A pickle may hold itself. */
static assay_status of_pickle(script_run *r, const pickle_value *v, str path, aten_value *out)
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
        return of_pickle(r, v, path, out);
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
    a->v[0] = of_object(object);
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

/* ---- what inputs must be ---- */

/* The input that a value comes from by first operands; *added: axes of size 1 that were put in on the way. */
static int input_behind(const script_run *r, ir_id id, int *added)
{
    *added = 0;
    for (int steps = 0; id != IR_NONE && steps < 64; steps++) {
        for (uint32_t i = 0; i < r->n_inputs; i++)
            if (r->inputs[i] == id)
                return (int)i;
        ir_id by = ir_value_at(r->f.m, id)->producer;
        const ir_node *n = by == IR_NONE ? NULL : ir_node_at(r->f.m, by);
        *added += n && (str_is(n->op, "Unsqueeze") || str_is(n->op, "unsqueeze"));
        id = n && n->n_inputs ? n->inputs[0] : IR_NONE;
    }
    return -1;
}

static const ir_tensor *weight_of(const script_run *r, const aten_value *v)
{
    const aten_value *one = v->kind == ATEN_LIST && v->list->v.n ? &v->list->v.items[0] : v;
    return one->kind == ATEN_TENSOR ? ir_value_at(r->f.m, one->id)->constant : NULL;
}

static const struct {
    const char *op;
    int x, weight, rank, axis,
        of;      /* rank 0: that of the weight; of: the size of the weight that the axis has */
    int groups;  /* argument that multiplies it, or -1 */
    bool normal; /* of any rank: that of the value, if it is known */
} need_rows[] = {
    {"_convolution", 0, 1, 0, 1, 1, 8, false}, {"conv1d", 0, 1, 0, 1, 1, 6, false},
    {"conv2d", 0, 1, 0, 1, 1, 6, false},       {"conv3d", 0, 1, 0, 1, 1, 6, false},
    {"linear", 0, 1, 2, -1, 1, -1, false},     {"matmul", 0, 1, 2, -1, 0, -1, false},
    {"addmm", 1, 2, 2, -1, 0, -1, false},      {"lstm", 0, 2, 3, 2, 1, -1, false},
    {"gru", 0, 2, 3, 2, 1, -1, false},         {"batch_norm", 0, 1, 4, 1, 0, -1, true},
    {"layer_norm", 0, 2, 3, -1, 0, -1, true},  {"conv_transpose2d", 0, 1, 0, 1, 0, 6, false},
};

static void note_need(script_run *r, str op, const script_args *a)
{
    int added;
    if (str_is(op, "embedding") && a->n > 1 && a->v[1].kind == ATEN_TENSOR) {
        int in = input_behind(r, a->v[1].id, &added);
        if (in >= 0 && !r->s->needs[in].rank)
            r->s->needs[in] = (script_need){.rank = 2, .tokens = true, .axis = 1, .size = 16};
        return;
    }
    for (size_t i = 0; i < sizeof need_rows / sizeof *need_rows; i++) {
        uint32_t x = (uint32_t)need_rows[i].x, w = (uint32_t)need_rows[i].weight;
        if (!str_is(op, need_rows[i].op) || a->n <= w || a->v[x].kind != ATEN_TENSOR)
            continue;
        const ir_tensor *weight = weight_of(r, &a->v[w]);
        int in = input_behind(r, a->v[x].id, &added), rank = need_rows[i].rank;
        if (in < 0 || !weight || weight->rank <= need_rows[i].of || r->s->needs[in].rank)
            continue;
        int64_t size = weight->dims[need_rows[i].of], groups = 1;
        if (need_rows[i].groups >= 0 && a->n > (uint32_t)need_rows[i].groups)
            aten_whole(&a->v[need_rows[i].groups], &groups);
        int known = need_rows[i].normal ? aten_rank_of(&r->t, a->v[x].id) : -1;
        rank = known >= 2 ? known : rank;
        script_need need = {.rank = rank ? rank : weight->rank,
                            .axis = need_rows[i].axis,
                            .size = size * groups,
                            .any = need_rows[i].normal && known < 2};
        if (added && need.axis == 1 && need.size == 1 && need.rank > 2)
            need = (script_need){.rank = need.rank - 1, .axis = 0, .size = 1, .closed = true};
        r->s->needs[in] = need;
    }
}

/* ---- calls of operators ---- */

static assay_status run_operator(script_run *r, str op, const script_args *a, aten_value *out)
{
    aten_call c = {.t = &r->t, .op = op, .row = aten_row_of(op)};
    uint32_t at = 0, first = r->f.m->nodes.n;
    str base = r->path.n
                   ? str_printf(r->f.m->arena, STR_FMT "." STR_FMT, STR_ARG(r->path), STR_ARG(op))
                   : str_copy(r->f.m->arena, op);
    if (!base.p)
        return no_memory(r);
    c.l = (foreign_layer){.f = &r->f, .name = base};
    if (r->probing)
        note_need(r, op, a);
    for (uint32_t i = 0; i < a->n; i++) {
        aten_value v = a->v[i];
        renew(r, &v);
        if (a->names[i].n)
            aten_name_arg(&c, a->names[i], &v);
        else if (at < ATEN_ARGS)
            c.arg[at++] = v;
    }
    if (!aten_run(&c))
        return arena_failed(r->f.m->arena) || arena_failed(r->f.scratch)
                   ? no_memory(r)
                   : script_stop(r, "more than 1,048,576 nodes");
    str module = r->path.n ? str_copy(r->f.m->arena, r->path) : r->path;
    for (uint32_t i = first; module.n && i < r->f.m->nodes.n; i++)
        ir_node_at(r->f.m, i)->module = module;
    *out = c.result;
    return c.result.kind == ATEN_ABSENT
               ? script_stop(r, "'" STR_FMT "' returns no value", STR_ARG(op))
               : ASSAY_OK;
}

/* "torch.add", "ops.aten.add", "ops.prim.dtype", "ops.torchvision.nms" */
static assay_status run_torch(script_run *r, str qualified, const script_args *a, aten_value *out)
{
    static const char *const spaces[] = {"torch.nn.functional.", "torch.", "ops.aten.", "ops."};
    str op = qualified;
    bool done = false;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_starts(op, spaces[i])) {
            op = (str){op.p + strlen(spaces[i]), op.n - (uint32_t)strlen(spaces[i])};
            break;
        }
    TRY(script_builtin(r, op, a, out, &done));
    return done ? ASSAY_OK : run_operator(r, op, a, out);
}

static assay_status read_args(script_run *r, frame *fr, const script_expr *e, uint32_t from,
                              script_args *a)
{
    for (uint32_t i = from; i < e->items.n; i++) {
        if (a->n == 64)
            return script_stop(r, "more than 64 arguments");
        TRY(eval(r, fr, e->items.items[i], &a->v[a->n]));
        renew(r, &a->v[a->n]);
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
    renew(r, out);
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
                                             : run_torch(r, callee.s, a, out);
}

/* ---- expressions ---- */

static assay_status eval_name(script_run *r, frame *fr, str name, aten_value *out)
{
    static const char *const spaces[] = {"torch", "ops", "__torch__", "CONSTANTS"};
    uint32_t at = map_get(&fr->names, name);
    if (at != MAP_NONE) {
        *out = fr->values.items[at];
        renew(r, out);
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
        return of_pickle(r, r->s->constants->items.items[k],
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
