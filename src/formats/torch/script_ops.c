/* Operators of TorchScript on numbers, texts and lists, and questions about tensors that do not compute; see script.h. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "formats/torch/script_impl.h"

/* ---- truth and numbers ---- */

void script_branched(script_run *r, const aten_value *v)
{
    for (uint32_t i = 0; v->kind == ATEN_SIZE && v->id == IR_NONE && i < r->n_inputs; i++)
        if (v->of == r->inputs[i] && v->axis < 64) {
            r->closed[i] |= (uint64_t)1 << v->axis;
            return;
        }
    r->branched |= v->kind == ATEN_SIZE;
}

bool script_truth(script_run *r, const aten_value *v, bool *out)
{
    int64_t whole;
    if (v->kind == ATEN_TENSOR) {
        const op_info *x = aten_info(&r->t, v->id);
        if (!x->val || x->val->n != 1 || !op_val_full(x->val))
            return false;
        *out = ir_is_float(x->dtype) ? x->val->cells[0].f != 0 : x->val->cells[0].i != 0;
        return true;
    }
    if (v->kind == ATEN_NONE || v->kind == ATEN_LIST || v->kind == ATEN_FLOAT) {
        *out = v->kind == ATEN_LIST ? v->list->v.n > 0 : v->kind == ATEN_FLOAT && v->f != 0;
        return true;
    }
    bool known = aten_whole(v, &whole);
    *out = known && whole != 0;
    script_branched(r, v);
    return known;
}

/* What a conversion to int64 is defined for. */
static bool is_int_range(double v)
{
    return fabs(v) < 9e18;
}

aten_value script_to_size(script_run *r, const aten_value *v)
{
    aten_value out = {.kind = ATEN_SIZE, .id = v->id};
    if (v->kind != ATEN_TENSOR)
        return v->kind != ATEN_FLOAT ? *v
               : is_int_range(v->f)  ? aten_of_int((int64_t)v->f)
                                     : (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE};
    const op_info *x = aten_info(&r->t, v->id);
    bool known = x->val && x->val->n == 1 && op_val_full(x->val);
    if (ir_is_float(x->dtype))
        return known ? aten_of_float(x->val->cells[0].f) : aten_of_tensor(v->id);
    if (x->rank != 0)
        return aten_of_tensor(v->id);
    out.known = known;
    out.i = known ? x->val->cells[0].i : 0;
    return out;
}

/* ---- arithmetic ---- */

static bool compare(const char *op, double a, double b, bool *out)
{
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    for (size_t i = 0; i < 6; i++)
        if (strcmp(op, names[i]) == 0) {
            *out = results[i];
            return true;
        }
    return false;
}

static bool real_math(const char *op, double a, double b, double *out)
{
    static const char *const names[] = {"add", "sub", "mul", "div", "pow", "floordiv", "remainder"};
    const double results[] = {
        a + b, a - b, a * b, a / b, pow(a, b), floor(a / b), a - floor(a / b) * b};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op, names[i]) == 0) {
            *out = results[i];
            return true;
        }
    return false;
}

static bool real_function(const char *op, double a, double *out)
{
    static const char *const names[] = {"sqrt", "log", "exp", "abs", "neg", "sin", "cos"};
    const double results[] = {sqrt(a), log(a), exp(a), fabs(a), -a, sin(a), cos(a)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op, names[i]) == 0) {
            *out = results[i];
            return true;
        }
    return false;
}

static bool is_whole_kind(const aten_value *v)
{
    return v->kind == ATEN_INT || v->kind == ATEN_SIZE || v->kind == ATEN_BOOL;
}

/* Of two numbers; kind ATEN_ABSENT: another operator, or not known. */
static aten_value two_numbers(script_run *r, const char *op, const aten_value *a,
                              const aten_value *b)
{
    aten_value none = {.kind = ATEN_ABSENT, .id = IR_NONE};
    double x, y, v;
    bool yes;
    const char *whole = strcmp(op, "remainder") == 0 ? "mod" : op;
    bool known = aten_number(a, &x) && aten_number(b, &y);
    if (known && compare(op, x, y, &yes)) {
        script_branched(r, a);
        script_branched(r, b);
        return aten_of_bool(yes);
    }
    if (is_whole_kind(a) && is_whole_kind(b) && strcmp(op, "div") != 0 && strcmp(op, "pow") != 0)
        return aten_size_math(&r->t, whole, a, b);
    if (!known || !real_math(op, x, y, &v))
        return none;
    r->t.fixed |= a->kind == ATEN_SIZE || b->kind == ATEN_SIZE;
    return is_whole_kind(a) && is_whole_kind(b) && strcmp(op, "pow") == 0 && y >= 0 &&
                   is_int_range(v)
               ? aten_of_int((int64_t)v)
               : aten_of_float(v);
}

static aten_value one_number(script_run *r, const char *op, const aten_value *a)
{
    aten_value none = {.kind = ATEN_ABSENT, .id = IR_NONE}, zero = aten_of_int(0);
    double x, v;
    if (strcmp(op, "neg") == 0 && is_whole_kind(a))
        return aten_size_math(&r->t, "sub", &zero, a);
    if (!aten_number(a, &x))
        return none;
    r->t.fixed |= a->kind == ATEN_SIZE;
    bool floors = strcmp(op, "floor") == 0, ceils = strcmp(op, "ceil") == 0;
    if ((floors || ceils) && is_int_range(x))
        return aten_of_int((int64_t)(floors ? floor(x) : ceil(x)));
    if (strcmp(op, "round") == 0)
        return aten_of_float(nearbyint(x));
    return real_function(op, x, &v) ? (is_whole_kind(a) && strcmp(op, "abs") == 0 && is_int_range(v)
                                           ? aten_of_int((int64_t)v)
                                           : aten_of_float(v))
                                    : none;
}

/* ---- questions about tensors ---- */

static int64_t type_number(ir_dtype t)
{
    for (int64_t i = 0; i < 16; i++)
        if (aten_scalar_type(i) == t)
            return i;
    return 6;
}

static assay_status sizes_of(script_run *r, const script_args *a, aten_value *out)
{
    int rank = aten_rank_of(&r->t, a->v[0].id);
    int64_t axis = 0;
    if (rank < 0)
        return script_stop(r, "a tensor of unknown rank");
    if (a->n > 1 && aten_whole(&a->v[1], &axis)) {
        *out = aten_size_of(&r->t, a->v[0].id, axis);
        return out->kind == ATEN_ABSENT ? script_stop(r, "axis out of range") : ASSAY_OK;
    }
    *out = aten_new_list(&r->t, false);
    for (int i = 0; i < rank; i++)
        TRY_MEMORY(aten_push(&r->t, out, aten_size_of(&r->t, a->v[0].id, i)), r->f.err);
    return ASSAY_OK;
}

static assay_status about_tensor(script_run *r, str op, const script_args *a, aten_value *out,
                                 bool *done)
{
    ir_id x = a->v[0].id;
    *done = true;
    if (str_is(op, "size"))
        return sizes_of(r, a, out);
    int rank = aten_rank_of(&r->t, x);
    if (str_is(op, "dim") || str_is(op, "ndimension")) {
        *out = aten_of_int(rank);
        return rank < 0 ? script_stop(r, "a tensor of unknown rank") : ASSAY_OK;
    }
    if (str_is(op, "len"))
        *out = aten_size_of(&r->t, x, 0);
    else if (str_is(op, "numel")) {
        foreign_layer l = {.f = &r->f, .name = STR("size")};
        aten_value size = aten_of_tensor(layer_step(&l, "Size", &x, 1, NULL));
        *out = script_to_size(r, &size);
    } else if (str_is(op, "dtype") || str_is(op, "prim.dtype"))
        *out = aten_of_int(type_number(aten_dtype_of(&r->t, x)));
    else if (str_is(op, "is_floating_point"))
        *out = aten_of_bool(ir_is_float(aten_dtype_of(&r->t, x)));
    else if (str_ends(op,
                      "requires_grad")) /* parameters do: fast paths of inference are not taken */
        *out = aten_of_bool(ir_value_at(r->f.m, x)->constant != NULL);
    else if (str_is(op, "is_complex") || str_ends(op, "is_cuda") || str_ends(op, "is_quantized") ||
             str_ends(op, "is_sparse") || str_ends(op, "is_mkldnn") || str_ends(op, "is_nested"))
        *out = aten_of_bool(false);
    else if (str_ends(op, "device") || str_ends(op, "layout"))
        *out = (aten_value){
            .kind = ATEN_OTHER, .s = str_ends(op, "device") ? STR("cpu") : op, .id = IR_NONE};
    else if (str_is(op, "item") || str_ends(op, "Implicit") || str_is(op, "Int") ||
             str_is(op, "Bool") || str_is(op, "Float"))
        *out = script_to_size(r, &a->v[0]);
    else if (str_is(op, "prim.data") || str_is(op, "prim.NumToTensor"))
        *out = a->v[0];
    else
        *done = false;
    return ASSAY_OK;
}

/* ---- lists ---- */

/* A list may hold itself: what is nested deeper is not compared. */
static bool equal_at(const aten_value *a, const aten_value *b, int depth, bool *out)
{
    enum { EQUAL_DEPTH = 16 };
    double x, y;
    if (a->kind == ATEN_TEXT && b->kind == ATEN_TEXT) {
        *out = str_eq(a->s, b->s);
        return true;
    }
    if (aten_number(a, &x) && aten_number(b, &y)) {
        *out = x == y;
        return true;
    }
    if (a->kind != ATEN_LIST || b->kind != ATEN_LIST || depth == EQUAL_DEPTH)
        return false;
    *out = a->list->v.n == b->list->v.n;
    for (uint32_t i = 0; *out && i < a->list->v.n; i++)
        if (!equal_at(&a->list->v.items[i], &b->list->v.items[i], depth + 1, out))
            return false;
    return true;
}

bool script_equal(const aten_value *a, const aten_value *b, bool *out)
{
    return equal_at(a, b, 0, out);
}

static bool copy_items(script_run *r, const aten_value *to, const aten_value *from, int64_t lo,
                       int64_t hi, int64_t step)
{
    for (int64_t i = lo; i < hi; i += step)
        if (!aten_push(&r->t, to, from->list->v.items[i]))
            return false;
    return true;
}

static int64_t clipped(const aten_value *v, int64_t def, int64_t n)
{
    int64_t at = def;
    aten_whole(v, &at);
    at = at < 0 && at != def ? at + n : at;
    return at < 0 ? 0 : at > n ? n : at;
}

static bool list_of(script_run *r, str op, const script_args *a, aten_value *out)
{
    const aten_value *l = &a->v[0];
    int64_t n = l->list->v.n, step = 1;
    if (str_is(op, "append"))
        return *out = *l, aten_push(&r->t, l, a->v[1]);
    if (str_is(op, "extend") && a->v[1].kind == ATEN_LIST)
        return *out = aten_none(), copy_items(r, l, &a->v[1], 0, a->v[1].list->v.n, 1);
    if (str_is(op, "list") || str_is(op, "copy"))
        return *out = aten_new_list(&r->t, false), copy_items(r, out, l, 0, n, 1);
    if (str_is(op, "slice")) {
        if (a->n > 3)
            aten_whole(&a->v[3], &step);
        step = step > n ? n + 1 : step;
        *out = aten_new_list(&r->t, false);
        return step > 0 && copy_items(r, out, l, a->n > 1 ? clipped(&a->v[1], 0, n) : 0,
                                      a->n > 2 ? clipped(&a->v[2], INT64_MAX, n) : n, step);
    }
    if (str_is(op, "add") && a->v[1].kind == ATEN_LIST) {
        *out = aten_new_list(&r->t, false);
        return copy_items(r, out, l, 0, n, 1) &&
               copy_items(r, out, &a->v[1], 0, a->v[1].list->v.n, 1);
    }
    if (str_is(op, "mul") && a->v[1].kind == ATEN_INT && a->v[1].i <= ATEN_LIST_MAX) {
        bool made = true;
        *out = aten_new_list(&r->t, false);
        for (int64_t i = 0; made && i < a->v[1].i; i++)
            made = copy_items(r, out, l, 0, n, 1);
        return made;
    }
    return false;
}

static aten_value extreme(bool max, const aten_value *a, const aten_value *b)
{
    double x = 0, y = 0;
    if (!aten_number(a, &x) || !aten_number(b, &y))
        return (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE};
    return (x > y) == max ? *a : *b;
}

/* pop, reverse and clear change the list itself. */
static bool list_changed(str op, const script_args *a, aten_value *out)
{
    aten_list *l = a->v[0].list;
    uint32_t n = l->v.n;
    int64_t at = (int64_t)n - 1;
    *out = aten_none();
    if (str_is(op, "clear"))
        return l->v.n = 0, true;
    if (str_is(op, "reverse")) {
        for (uint32_t i = 0; i < n / 2; i++) {
            aten_value v = l->v.items[i];
            l->v.items[i] = l->v.items[n - 1 - i];
            l->v.items[n - 1 - i] = v;
        }
        return true;
    }
    if ((!str_is(op, "pop") && !str_is(op, "_delete")) || !n ||
        (a->n > 1 && !aten_whole(&a->v[1], &at)))
        return false;
    at += at < 0 ? n : 0;
    if (at < 0 || at >= n)
        return false;
    *out = l->v.items[at];
    for (uint32_t i = (uint32_t)at + 1; i < n; i++)
        l->v.items[i - 1] = l->v.items[i];
    l->v.n--;
    return true;
}

/* The largest, the smallest, the sum, any and all of a list of numbers. */
static bool list_value(script_run *r, str op, const script_args *a, aten_value *out)
{
    const aten_list *l = a->v[0].list;
    bool max = str_is(op, "prim.max"), min = str_is(op, "prim.min"), sum = str_is(op, "sum"),
         any = str_is(op, "any"), all = str_is(op, "all"), yes;
    if (a->n != 1 || (!max && !min && !sum && !any && !all) || ((max || min) && !l->v.n))
        return false;
    *out = max || min ? l->v.items[0] : sum ? aten_of_int(0) : aten_of_bool(all);
    for (uint32_t i = 0; i < l->v.n; i++) {
        const aten_value *v = &l->v.items[i];
        if (max || min)
            *out = extreme(max, out, v);
        else if (sum)
            *out = two_numbers(r, "add", out, v);
        else if (!script_truth(r, v, &yes))
            return false;
        else if (yes == any)
            return *out = aten_of_bool(any), true;
        if (out->kind == ATEN_ABSENT)
            return false;
    }
    return true;
}

static assay_status about_list(script_run *r, str op, const script_args *a, aten_value *out,
                               bool *done)
{
    const aten_value *l = &a->v[0];
    int64_t at = 0;
    bool yes = false;
    *done = true;
    if (str_is(op, "len")) {
        *out = aten_of_int(l->list->v.n);
        return ASSAY_OK;
    }
    if ((str_is(op, "__getitem__") || str_is(op, "_set_item")) && aten_whole(&a->v[1], &at)) {
        at += at < 0 ? (int64_t)l->list->v.n : 0;
        if (at < 0 || at >= (int64_t)l->list->v.n)
            return script_stop(r, "list index out of range");
        if (str_is(op, "_set_item"))
            l->list->v.items[at] = a->v[2];
        *out = l->list->v.items[at];
        return ASSAY_OK;
    }
    if (str_is(op, "__contains__")) {
        for (uint32_t i = 0; !yes && i < l->list->v.n; i++)
            script_equal(&l->list->v.items[i], &a->v[1], &yes);
        *out = aten_of_bool(yes);
        return ASSAY_OK;
    }
    *done = list_of(r, op, a, out) || list_changed(op, a, out) || list_value(r, op, a, out);
    return ASSAY_OK;
}

/* ---- all ---- */

/* Answers that do not depend on arguments. */
static bool fixed_answer(str op, aten_value *out)
{
    static const struct {
        const char *op;
        int answer; /* -1: None */
    } answers[] = {{"warn", -1},
                   {"is_grad_enabled", 1},
                   {"is_scripting", 1},
                   {"is_tracing", 0},
                   {"prim.Print", -1},
                   {"_assert", -1},
                   {"set_grad_enabled", -1},
                   {"is_autocast_enabled", 0},
                   {"manual_seed", -1},
                   {"_log_api_usage_once", -1},
                   {"prim.ListConstruct", -1},
                   {"profiler._record_function_exit", -1},
                   {"profiler._record_function_enter", -1}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (str_is(op, answers[i].op)) {
            *out = answers[i].answer < 0 ? aten_none() : aten_of_bool(answers[i].answer);
            return true;
        }
    bool text = str_is(op, "format") || str_is(op, "str");
    if (text) /* of messages: what it says is not needed */
        *out = aten_of_text(op);
    else if (str_is(op, "device"))
        *out = (aten_value){.kind = ATEN_OTHER, .s = STR("cpu"), .id = IR_NONE};
    return text || str_is(op, "device");
}

static bool of_identity(str op, const script_args *a, aten_value *out)
{
    bool is = str_is(op, "__is__"), isnt = str_is(op, "__isnot__");
    if ((!is && !isnt) || a->n < 2)
        return false;
    bool same = a->v[0].kind == ATEN_NONE && a->v[1].kind == ATEN_NONE;
    if (a->v[0].kind == ATEN_BOOL && a->v[1].kind == ATEN_BOOL)
        same = a->v[0].i == a->v[1].i;
    *out = aten_of_bool(same == is);
    return true;
}

static bool of_truths(script_run *r, str op, const script_args *a, aten_value *out)
{
    bool not = str_is(op, "__not__") || str_is(op, "logical_not"), x = false, y = false;
    bool and = str_is(op, "__and__"), or = str_is(op, "__or__"), xor = str_is(op, "__xor__");
    if ((!not &&!and&&! or &&!xor) || a->v[0].kind == ATEN_TENSOR || !script_truth(r, &a->v[0], &x))
        return false;
    if (not )
        return *out = aten_of_bool(!x), true;
    if (a->n < 2 || a->v[0].kind != ATEN_BOOL || !script_truth(r, &a->v[1], &y))
        return false;
    *out = aten_of_bool(and? x && y : or ? x || y : x != y);
    return true;
}

static bool of_numbers(script_run *r, str op, const script_args *a, aten_value *out)
{
    const char *name = str_copy(r->f.scratch, op).p;
    aten_value v = {.kind = ATEN_ABSENT};
    bool yes;
    if (!name)
        return false;
    if (a->n >= 2 && (str_is(op, "prim.max") || str_is(op, "prim.min")))
        v = extreme(str_is(op, "prim.max"), &a->v[0], &a->v[1]);
    else if (a->n == 2 && (str_is(op, "eq") || str_is(op, "ne")) &&
             script_equal(&a->v[0], &a->v[1], &yes))
        v = aten_of_bool(yes == str_is(op, "eq"));
    else if (a->n == 2)
        v = two_numbers(r, name, &a->v[0], &a->v[1]);
    else if (a->n == 1 && (str_is(op, "prim.NumToTensor") || str_ends(op, "Implicit")))
        v = a->v[0];
    else if (a->n == 1)
        v = one_number(r, name, &a->v[0]);
    *out = v;
    return v.kind != ATEN_ABSENT;
}

static int64_t place_of(str text, str part)
{
    for (uint32_t i = 0; i + part.n <= text.n; i++)
        if (memcmp(text.p + i, part.p, part.n) == 0)
            return i;
    return -1;
}

assay_status script_builtin(script_run *r, str op, const script_args *a, aten_value *out,
                            bool *done)
{
    *done = true;
    if (str_is(op, "prim.RaiseException"))
        return script_stop(r, "the code raises an exception for this input");
    if (fixed_answer(op, out) || (a->n >= 2 && of_identity(op, a, out)))
        return ASSAY_OK;
    if (str_is(op, "__range_length") && a->n == 3 && a->v[2].kind == ATEN_INT && a->v[2].i) {
        aten_value span = two_numbers(r, "sub", &a->v[1], &a->v[0]);
        int64_t step = a->v[2].i, n;
        if (step != 1) { /* one more where a part is left */
            if (!aten_whole(&span, &n) || n == INT64_MIN)
                return script_stop(r, "a range of unknown length");
            script_branched(r, &span);
            n = step > 0 ? n / step + (n % step > 0) : n / step + (n % step < 0);
            span = aten_of_int(n);
        }
        *out = span.kind == ATEN_INT && span.i < 0 ? aten_of_int(0) : span;
        return ASSAY_OK;
    }
    if (str_is(op, "__derive_index") && a->n == 3) {
        aten_value far = two_numbers(r, "mul", &a->v[0], &a->v[2]);
        *out = two_numbers(r, "add", &a->v[1], &far);
        return ASSAY_OK;
    }
    if (str_is(op, "find") && a->n >= 2 && a->v[0].kind == ATEN_TEXT && a->v[1].kind == ATEN_TEXT)
        return *out = aten_of_int(place_of(a->v[0].s, a->v[1].s)), ASSAY_OK;
    if (str_is(op, "len") && a->n == 1 && a->v[0].kind == ATEN_TEXT)
        return *out = aten_of_int(a->v[0].s.n), ASSAY_OK;
    if (str_is(op, "dict") && !a->n)
        return *out = script_new_dict(r), ASSAY_OK;
    if (a->n && a->v[0].kind == ATEN_DICT)
        return script_dict(r, op, a, out, done);
    if (a->n && a->v[0].kind == ATEN_TENSOR)
        return about_tensor(r, op, a, out, done);
    if (a->n && a->v[0].kind == ATEN_LIST) {
        TRY(about_list(r, op, a, out, done));
        if (*done)
            return ASSAY_OK;
    }
    for (uint32_t i = 0; i < a->n; i++)
        if (a->v[i].kind == ATEN_TENSOR) {
            *done = false;
            return ASSAY_OK;
        }
    *done = a->n && (of_truths(r, op, a, out) || of_numbers(r, op, a, out));
    return ASSAY_OK;
}
