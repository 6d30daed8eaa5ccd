/* One call of an ATen operator: its arguments, its outputs, and what becomes of it; see aten.h. */
#include <stdlib.h>
#include <string.h>

#include "formats/aten/aten.h"

/* ---- arguments ---- */

bool aten_given(const aten_call *c, int i)
{
    return c->arg[i].kind != ATEN_ABSENT && c->arg[i].kind != ATEN_NONE;
}

ir_id aten_tensor(const aten_call *c, int i)
{
    return c->arg[i].kind == ATEN_TENSOR ? c->arg[i].id : IR_NONE;
}

int64_t aten_int(aten_call *c, int i, int64_t def)
{
    int64_t v = def;
    c->t->fixed |= aten_whole(&c->arg[i], &v) && c->arg[i].kind == ATEN_SIZE;
    return v;
}

double aten_float(const aten_call *c, int i, double def)
{
    double v = def;
    aten_number(&c->arg[i], &v);
    return v;
}

bool aten_flag(const aten_call *c, int i, bool def)
{
    int64_t v = def;
    aten_whole(&c->arg[i], &v);
    return v != 0;
}

bool aten_is_text(const aten_call *c, int i, const char *text)
{
    return c->arg[i].kind == ATEN_TEXT && str_is(c->arg[i].s, text);
}

int aten_ints(aten_call *c, int i, int64_t *list)
{
    const aten_value *v = &c->arg[i];
    if (!aten_given(c, i))
        return -1;
    if (v->kind != ATEN_LIST) {
        list[0] = aten_int(c, i, 0);
        int64_t ignored;
        return aten_whole(v, &ignored) ? 1 : -2;
    }
    if (v->list->v.n > LAYER_LIST)
        return -2;
    for (uint32_t k = 0; k < v->list->v.n; k++) {
        if (!aten_whole(&v->list->v.items[k], &list[k]))
            return -2;
        c->t->fixed |= v->list->v.items[k].kind == ATEN_SIZE;
    }
    return (int)v->list->v.n;
}

int aten_rank(aten_call *c, int i)
{
    return c->arg[i].kind == ATEN_TENSOR ? aten_rank_of(c->t, c->arg[i].id) : 0;
}

ir_dtype aten_dtype(aten_call *c, int i)
{
    return c->arg[i].kind == ATEN_TENSOR ? aten_dtype_of(c->t, c->arg[i].id) : IR_UNDEFINED;
}

bool aten_axis(aten_call *c, int i, int64_t axis, int64_t *out)
{
    int rank = aten_rank(c, i);
    *out = axis < 0 ? axis + rank : axis;
    return rank >= 0 && *out >= 0 && (*out < rank || (rank == 0 && *out == 0));
}

int aten_tensors(aten_call *c, int i, ir_id *list, int max)
{
    const aten_value *v = &c->arg[i];
    if (v->kind != ATEN_LIST || v->list->v.n > (uint32_t)max)
        return -1;
    for (uint32_t k = 0; k < v->list->v.n; k++) {
        if (v->list->v.items[k].kind != ATEN_TENSOR)
            return -1;
        list[k] = v->list->v.items[k].id;
    }
    return (int)v->list->v.n;
}

ir_id aten_cast(aten_call *c, ir_id x, ir_dtype t)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), LAYER_END};
    if (x == IR_NONE || t == IR_UNDEFINED || aten_dtype_of(c->t, x) == t)
        return x;
    return aten_step(c, "Cast", &x, 1, attrs);
}

ir_id aten_like(aten_call *c, double v, ir_dtype t)
{
    return layer_number(&c->l, "number", t == IR_UNDEFINED ? IR_FLOAT32 : t, v);
}

ir_id aten_operand(aten_call *c, int i, ir_dtype t)
{
    const aten_value *v = &c->arg[i];
    double number;
    if (v->kind == ATEN_TENSOR)
        return aten_cast(c, v->id, t);
    if (v->kind == ATEN_SIZE)
        return aten_cast(c, aten_scalar(c->t, c->l.name, v), t);
    return aten_number(v, &number) ? aten_like(c, number, t) : IR_NONE;
}

/* ---- promotion of types ---- */

/* 0 bool, 1 whole, 2 float, 3 complex */
static int category(ir_dtype t)
{
    if (t == IR_BOOL)
        return 0;
    if (t == IR_COMPLEX64 || t == IR_COMPLEX128)
        return 3;
    return ir_is_float(t) ? 2 : 1;
}

static ir_dtype type_of_number(const aten_value *v)
{
    return v->kind == ATEN_FLOAT ? IR_FLOAT32 : v->kind == ATEN_BOOL ? IR_BOOL : IR_INT64;
}

static ir_dtype wider(ir_dtype a, ir_dtype b)
{
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if ((a == IR_FLOAT16 && b == IR_BFLOAT16) || (a == IR_BFLOAT16 && b == IR_FLOAT16))
        return IR_FLOAT32;
    return ir_dtype_get(a)->bits >= ir_dtype_get(b)->bits ? a : b;
}

/* Tensors decide; numbers and tensors without dimensions only by their category. */
static ir_dtype promoted(aten_call *c, int i, int k)
{
    bool ti = c->arg[i].kind == ATEN_TENSOR, tk = c->arg[k].kind == ATEN_TENSOR;
    ir_dtype a = ti ? aten_dtype(c, i) : type_of_number(&c->arg[i]);
    ir_dtype b = tk ? aten_dtype(c, k) : type_of_number(&c->arg[k]);
    if (a == IR_UNDEFINED || b == IR_UNDEFINED)
        return a == IR_UNDEFINED ? b : a;
    int weak_a = !ti                    ? 0
                 : aten_rank(c, i) == 0 ? 1
                                        : 2,
        weak_b = !tk                    ? 0
                 : aten_rank(c, k) == 0 ? 1
                                        : 2;
    if (weak_a == weak_b)
        return wider(a, b);
    ir_dtype strong = weak_a > weak_b ? a : b, weak = weak_a > weak_b ? b : a;
    return category(weak) > category(strong) ? weak : strong;
}

ir_dtype aten_promote(aten_call *c, int i, int k, ir_id out[2])
{
    ir_dtype t = promoted(c, i, k);
    out[0] = aten_operand(c, i, t);
    out[1] = aten_operand(c, k, t);
    return t;
}

/* ---- outputs and nodes ---- */

static ir_id make_named(aten_call *c, uint32_t i)
{
    str name = i ? str_printf(c->t->f->m->arena, STR_FMT ".%u", STR_ARG(c->l.name), i) : c->l.name;
    return name.p ? foreign_value(c->t->f, name, IR_UNDEFINED, -1, NULL) : IR_NONE;
}

static ir_id make_output(aten_call *c, uint32_t i)
{
    return c->make ? c->make(c, i) : make_named(c, i);
}

ir_id aten_out(aten_call *c)
{
    if (!c->l.n_out) {
        c->outs[0] = make_output(c, 0);
        c->l.out = c->outs;
        c->l.n_out = c->outs[0] == IR_NONE ? 0 : 1;
        c->result = aten_of_tensor(c->outs[0]);
    }
    return c->outs[0];
}

bool aten_outs(aten_call *c, uint32_t n)
{
    ir_id *outs = n <= 8 ? c->outs : ARENA_ARRAY(c->t->a, ir_id, n);
    aten_value list = aten_new_list(c->t, true);
    if (!outs || n > ATEN_MAX_OUT || list.kind != ATEN_LIST)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        outs[i] = make_output(c, i);
        if (outs[i] == IR_NONE || !aten_push(c->t, &list, aten_of_tensor(outs[i])))
            return false;
    }
    c->l.out = outs;
    c->l.n_out = n;
    c->result = list;
    return true;
}

bool aten_first_of(aten_call *c, uint32_t n)
{
    aten_value list = aten_new_list(c->t, true);
    bool made = list.kind == ATEN_LIST;
    for (uint32_t i = 0; made && i < n; i++)
        made = aten_push(c->t, &list, i ? aten_none() : c->result);
    c->result = list;
    return made;
}

bool aten_node(aten_call *c, const char *op, const ir_id *in, uint32_t n, const ir_attr_spec *attrs)
{
    return aten_out(c) != IR_NONE && layer_node_of(&c->l, NULL, op, in, n, attrs, 1) != IR_NONE;
}

bool aten_node2(aten_call *c, const char *op, ir_id a, ir_id b)
{
    ir_id in[] = {a, b};
    return a != IR_NONE && b != IR_NONE && aten_node(c, op, in, 2, NULL);
}

ir_id aten_step(aten_call *c, const char *op, const ir_id *in, uint32_t n,
                const ir_attr_spec *attrs)
{
    return layer_step(&c->l, op, in, n, attrs);
}

ir_id aten_step2(aten_call *c, const char *op, ir_id a, ir_id b)
{
    ir_id in[] = {a, b};
    return aten_step(c, op, in, 2, NULL);
}

bool aten_same(aten_call *c)
{
    c->result = c->arg[0];
    return c->arg[0].kind == ATEN_TENSOR;
}

bool aten_nothing(aten_call *c)
{
    c->result = aten_none();
    return true;
}

/* ---- the call ---- */

bool aten_name_arg(aten_call *c, str name, const aten_value *v)
{
    str rest = str_of(c->row ? c->row->args : ""), word;
    for (int i = 0; i < ATEN_ARGS && str_split(&rest, ' ', &word); i++)
        for (str one; str_split(&word, '|', &one);)
            if (str_eq(one, name)) {
                c->arg[i] = *v;
                return true;
            }
    return false;
}

/* Every tensor among the arguments. */
static uint32_t all_tensors(const aten_call *c, ir_id *list, uint32_t max)
{
    uint32_t n = 0;
    for (int i = 0; i < ATEN_ARGS; i++) {
        const aten_value *v = &c->arg[i];
        if (v->kind == ATEN_TENSOR && n < max)
            list[n++] = v->id;
        for (uint32_t k = 0; v->kind == ATEN_LIST && k < v->list->v.n; k++)
            if (v->list->v.items[k].kind == ATEN_TENSOR && n < max)
                list[n++] = v->list->v.items[k].id;
    }
    return n;
}

static bool run_unknown(aten_call *c)
{
    enum { MOST = 256 };
    ir_id in[MOST];
    c->t->unknown++;
    c->l.n_in = all_tensors(c, in, MOST);
    c->l.in = in;
    if (!c->l.n_out && (c->wanted > 1 ? !aten_outs(c, c->wanted) : aten_out(c) == IR_NONE))
        return false;
    const char *op = str_copy(c->t->f->m->arena, c->op).p;
    return op && layer_node(&c->l, ATEN_DOMAIN, op, in, c->l.n_in, NULL) != IR_NONE;
}

/* ---- operators in place ---- */

ir_id aten_latest(const aten *t, ir_id id)
{
    while (id < t->newest.n && t->newest.items[id] != IR_NONE)
        id = t->newest.items[id];
    return id;
}

static bool is_view(const ir_model *m, ir_id id)
{
    static const char *const views[] = {"Slice",   "Gather",    "Split",
                                        "Reshape", "Transpose", "Expand"};
    ir_id by = ir_value_at(m, id)->producer;
    for (size_t i = 0; by != IR_NONE && i < sizeof views / sizeof *views; i++)
        if (str_is(ir_node_at(m, by)->op, views[i]))
            return true;
    return false;
}

/* Who reads the old value from now on reads the new one. What a view is a view of does not change here. */
static bool replace(aten_call *c, ir_id old, ir_id now)
{
    aten *t = c->t;
    while (t->newest.n <= old)
        if (!VEC_ADD(t->a, &t->newest, IR_NONE))
            return false;
    t->newest.items[old] = now;
    if (is_view(t->f->m, old))
        notes_add(&t->f->m->notes, "in-place-view", c->l.name,
                  "Numbers of the exported model may differ. Counts are right.",
                  "'" STR_FMT "' writes into a part of a tensor; other uses of that tensor are as "
                  "before.",
                  STR_ARG(c->op));
    return true;
}

static bool is_in_place(str op)
{
    const char *dot = memchr(op.p, '.', op.n);
    uint32_t n = dot ? (uint32_t)(dot - op.p) : op.n;
    return n > 2 && op.p[n - 1] == '_' && op.p[n - 2] != '_';
}

bool aten_run(aten_call *c)
{
    const ir_model *m = c->t->f->m;
    ir_id first = aten_tensor(c, 0);
    bool mapped = false;
    if (m->nodes.n >= FOREIGN_MAX_NODES)
        return false;
    c->result = (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE};
    if (c->row)
        mapped = c->row->map        ? c->row->map(c)
                 : first != IR_NONE ? aten_node(c, c->row->op, &first, 1, NULL)
                                    : false;
    if (!mapped && !run_unknown(c))
        return false;
    bool changes = is_in_place(c->op) && first != IR_NONE && c->result.kind == ATEN_TENSOR &&
                   c->result.id != first;
    return !changes || replace(c, first, c->result.id);
}
