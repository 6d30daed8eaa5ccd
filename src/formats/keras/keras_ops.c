/* Functions as layers: x + 1 in a functional model.
 *
 *     TFOpLambda          Keras 2: "function": "math.add" or "__operators__.add"; arguments are those of the call
 *     TensorFlowOpLayer   TensorFlow 2.0 to 2.3: a node of a graph, "node_def": {"op": "AddV2"}, with constants by place
 *     Operation           Keras 3: the class is the function ("Add", "GetItem"), settings are those of its constructor
 *
 * Names are compared without packages, underscores and case: "reduce_mean", "Mean" and "ReduceMean" are one. Arguments are
 * tensors, numbers or lists; a function whose arguments are of another form is named and not explained.
 */
#include "formats/keras/keras_impl.h"

enum { KEY = 64 };

/* ---- arguments ---- */

static bool is_tensor(const json_value *v)
{
    return v->kind == JSON_OBJECT && str_is(keras_word(v, "class_name", ""), "__keras_tensor__");
}

static uint32_t count_tensors(const json_value *v, unsigned depth)
{
    uint32_t n, sum = 0;
    if (is_tensor(v) || depth > 8)
        return depth <= 8;
    const json_value *items = keras_items(v, &n);
    for (uint32_t i = 0; items && i < n; i++)
        sum += count_tensors(&items[i], depth + 1);
    return sum;
}

/* The argument at that place, or of that name, as the file has it; NULL: none. *tensor: its place in c->in. */
static const json_value *argument(const keras_call *c, int place, const char *keys,
                                  uint32_t *tensor)
{
    uint32_t n;
    bool three = c->positional && c->positional->kind == JSON_LIST &&
                 c->l->row->map == keras_operation;
    const json_value *items = three ? keras_items(c->positional, &n) : NULL;
    *tensor = UINT32_MAX;
    if (items && place >= 0 && (uint32_t)place < n) {
        uint32_t before = 0;
        for (int i = 0; i < place; i++)
            before += count_tensors(&items[i], 0);
        if (is_tensor(&items[place]) && before < c->n_in)
            *tensor = before;
        return &items[place];
    }
    str rest = str_of(keys), key;
    while (str_split(&rest, '|', &key))
        for (uint32_t i = 0; c->keys && i < c->n_in; i++)
            if (str_eq(c->keys[i], key))
                *tensor = i;
    const json_value *v = c->args ? keras_get(c->args, keys) : NULL;
    return v ? v : keras_get(c->config, keys);
}

/* ["_CONSTANT_VALUE", -1, 2.0, {...}] is a first argument that is a number. */
static const json_value *first_number(const keras_call *c)
{
    const json_value *v = c->positional;
    while (v && v->kind == JSON_LIST && v->n && v->items[0].kind == JSON_LIST)
        v = &v->items[0];
    bool constant = v && v->kind == JSON_LIST && v->n > 2 && v->items[0].kind == JSON_TEXT &&
                    str_is(v->items[0].s, "_CONSTANT_VALUE") && json_is_number(&v->items[2]);
    return constant ? &v->items[2] : NULL;
}

static ir_dtype type_of_number(const keras_call *c)
{
    return c->n_in ? c->in[0].dtype : IR_FLOAT32;
}

/* Place 0 is x, 1 is y: a tensor or a number. false: something else. */
static bool operand(keras_call *c, int place, const char *keys, ir_t *out)
{
    uint32_t at;
    bool old = c->l->row->map == keras_op_lambda;
    const json_value *v = argument(c, place, keys, &at), *number = NULL;
    if (old && place == 0) {
        number = first_number(c);
        if (!number && c->n_in && (!c->keys || !c->keys[0].n))
            at = 0;
    } else if (old && at == UINT32_MAX && place == 1 && c->n_in > 1 &&
               (!c->keys || !c->keys[1].n)) {
        at = 1;
    } else if (at == UINT32_MAX && v && json_is_number(v)) {
        number = v;
    }
    if (at != UINT32_MAX) {
        *out = c->in[at];
        return true;
    }
    if (!number)
        return false;
    *out = keras_scalar(c, place ? "y" : "x", type_of_number(c), number->f);
    return out->id != IR_NONE;
}

/* Whole numbers of an argument: -1: absent, or not such. */
static int whole_list(const keras_call *c, int place, const char *keys, int64_t *list, int max)
{
    uint32_t at;
    const json_value *v = argument(c, place, keys, &at);
    return v && at == UINT32_MAX ? keras_list(v, list, max) : -1;
}

static bool flag(const keras_call *c, const char *keys)
{
    uint32_t at;
    const json_value *v = argument(c, -1, keys, &at);
    return v && v->kind == JSON_BOOL && v->i;
}

/* ---- functions ---- */

typedef struct function {
    const char *names; /* without underscores, small letters */
    bool (*map)(keras_call *c, const char *op);
    const char *op;
} function;

static bool op_binary(keras_call *c, const char *op)
{
    ir_t a, b;
    if (!operand(c, 0, "x|x1", &a) || !operand(c, 1, "y|x2", &b))
        return false;
    return keras_give(c, keras_binary(c, NULL, op, a, b));
}

static bool op_compare(keras_call *c, const char *op)
{
    if (!op_binary(c, op))
        return false;
    c->out[0].dtype = IR_BOOL;
    return true;
}

static bool op_unary(keras_call *c, const char *op)
{
    return c->n_in && keras_give(c, keras_unary(c, NULL, op, c->in[0]));
}

static bool op_square(keras_call *c, const char *op)
{
    return c->n_in && keras_give(c, keras_binary(c, NULL, op, c->in[0], c->in[0]));
}

static bool op_rsqrt(keras_call *c, const char *op)
{
    return c->n_in &&
           keras_give(c, keras_unary(c, NULL, op, keras_unary(c, "Sqrt", "Sqrt", c->in[0])));
}

/* An activation by its name in Keras. */
static bool op_activation(keras_call *c, const char *op)
{
    return c->n_in && keras_give(c, keras_activate_as(c, NULL, op, c->in[0]));
}

static bool op_softmax(keras_call *c, const char *op)
{
    int64_t axis = -1;
    if (!c->n_in)
        return false;
    whole_list(c, 1, "axis", &axis, 1);
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), KERAS_END};
    return keras_give(c, keras_step(c, NULL, op, &c->in[0].id, 1, attrs, c->in[0]));
}

static bool op_reduce(keras_call *c, const char *op)
{
    int64_t axes[IR_KIT_RANK];
    if (!c->n_in || c->in[0].rank < 0)
        return false;
    int n = whole_list(c, 1, "axis", axes, IR_KIT_RANK);
    for (int d = 0; n < 0 && d < c->in[0].rank; d++)
        axes[d] = d;
    n = n < 0 ? c->in[0].rank : n;
    return keras_give(c, keras_reduce(c, NULL, op, c->in[0], axes, n, flag(c, "keepdims")));
}

static bool op_reshape(keras_call *c, const char *op)
{
    int64_t dims[IR_KIT_RANK];
    int n = whole_list(c, 1, "shape|newshape", dims, IR_KIT_RANK);
    (void)op;
    if (!c->n_in || n < 0 || c->in[0].rank < 0)
        return false;
    /* The batch is written as -1 or null; 0 copies it. */
    int open = 0;
    for (int d = 0; d < n; d++)
        open += dims[d] < 0;
    if (n && dims[0] < 0 && open > 1)
        dims[0] = 0;
    return keras_give(c, keras_reshape(c, NULL, c->in[0], dims, n));
}

static bool op_transpose(keras_call *c, const char *op)
{
    int64_t perm[IR_KIT_RANK];
    int n = whole_list(c, 1, "perm|axes", perm, IR_KIT_RANK);
    (void)op;
    if (!c->n_in || c->in[0].rank < 0 || (n >= 0 && n != c->in[0].rank))
        return false;
    for (int d = 0; d < c->in[0].rank; d++) {
        perm[d] = n < 0 ? c->in[0].rank - 1 - d : perm[d] < 0 ? perm[d] + n : perm[d];
        if (perm[d] < 0 || perm[d] >= c->in[0].rank)
            return false;
    }
    return keras_give(c, keras_transpose(c, NULL, c->in[0], perm));
}

static bool op_expand(keras_call *c, const char *op)
{
    int64_t axis;
    (void)op;
    if (!c->n_in || whole_list(c, 1, "axis", &axis, 1) != 1)
        return false;
    return keras_give(c, keras_expand_dims(c, NULL, c->in[0], axis));
}

static bool op_squeeze(keras_call *c, const char *op)
{
    int64_t axis;
    (void)op;
    if (!c->n_in || whole_list(c, 1, "axis", &axis, 1) != 1)
        return false;
    return keras_give(c, keras_squeeze(c, NULL, c->in[0], axis));
}

static bool op_concat(keras_call *c, const char *op)
{
    int64_t axis = -1;
    (void)op;
    whole_list(c, 1, "axis", &axis, 1);
    if (!c->n_in || axis < -IR_KIT_RANK || axis > IR_KIT_RANK)
        return false;
    return c->n_in == 1 ? op_unary(c, "Identity")
                        : keras_give(c, keras_concat(c, NULL, c->in, c->n_in, (int)axis));
}

static bool op_stack(keras_call *c, const char *op)
{
    int64_t axis = 0;
    ir_t *list = ARENA_ARRAY(c->r->a, ir_t, (size_t)c->n_in + 1);
    (void)op;
    whole_list(c, 1, "axis", &axis, 1);
    if (!c->n_in || !list || axis < -IR_KIT_RANK || axis > IR_KIT_RANK || c->in[0].rank < 0)
        return false;
    int at = (int)(axis < 0 ? axis + c->in[0].rank + 1 : axis);
    for (uint32_t i = 0; i < c->n_in; i++)
        list[i] = keras_expand_dims(c, "part", c->in[i], at);
    return keras_give(c, keras_concat(c, NULL, list, c->n_in, at));
}

static bool op_cast(keras_call *c, const char *op)
{
    uint32_t at;
    const json_value *v = argument(c, 1, "dtype", &at);
    (void)op;
    ir_dtype t = v && v->kind == JSON_TEXT ? ir_dtype_by_name(v->s) : IR_UNDEFINED;
    if (!c->n_in || t == IR_UNDEFINED)
        return false;
    return c->in[0].dtype == t ? op_unary(c, "Identity")
                               : keras_give(c, keras_cast(c, c->in[0], t));
}

static bool op_matmul(keras_call *c, const char *op)
{
    ir_t a, b;
    if (!operand(c, 0, "a|x1", &a) || !operand(c, 1, "b|x2", &b) || a.rank < 2 || b.rank < 2)
        return false;
    bool ta = flag(c, "transpose_a"), tb = flag(c, "transpose_b");
    ir_t *const turned[] = {ta ? &a : NULL, tb ? &b : NULL};
    for (int i = 0; i < 2; i++) {
        int64_t perm[IR_KIT_RANK];
        if (!turned[i])
            continue;
        int rank = turned[i]->rank;
        for (int d = 0; d < rank; d++)
            perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
        *turned[i] = keras_transpose(c, "turned", *turned[i], perm);
    }
    ir_t y = a.rank >= b.rank ? a : b;
    y.d[y.rank - 2] = a.d[a.rank - 2];
    y.d[y.rank - 1] = b.d[b.rank - 1];
    return keras_give(c, keras_step(c, NULL, op, KERAS_IDS(a.id, b.id), NULL, y));
}

static bool op_clip(keras_call *c, const char *op)
{
    uint32_t at;
    const json_value *low = argument(c, 1, "clip_value_min|x_min|min_value", &at),
                     *high = argument(c, 2, "clip_value_max|x_max|max_value", &at);
    if (!c->n_in || !low || !high || !json_is_number(low) || !json_is_number(high))
        return false;
    ir_dtype t = c->in[0].dtype;
    ir_id in[] = {c->in[0].id, foreign_number(c->f, c->name, "low", t, low->f),
                  foreign_number(c->f, c->name, "high", t, high->f)};
    return keras_give(c, keras_step(c, NULL, op, in, 3, NULL, c->in[0]));
}

static bool op_norm(keras_call *c, const char *op)
{
    int64_t axis = -1;
    if (!c->n_in || c->in[0].rank < 1)
        return false;
    whole_list(c, 1, "axis", &axis, 1);
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("p", 2), KERAS_END};
    return keras_give(c, keras_step(c, NULL, op, &c->in[0].id, 1, attrs, c->in[0]));
}

/* Equal parts, or sizes. */
static bool op_split(keras_call *c, const char *op)
{
    int64_t sizes[KERAS_LIST], axis = 0;
    int n = whole_list(c, 1, "num_or_size_splits|indices_or_sections", sizes, KERAS_LIST);
    whole_list(c, 2, "axis", &axis, 1);
    if (!c->n_in || c->in[0].rank < 1 || n != 1 || sizes[0] < 1 || sizes[0] > KERAS_LIST)
        return false;
    ir_t x = c->in[0], y = x;
    int at = (int)(axis < 0 ? axis + x.rank : axis);
    uint32_t parts = (uint32_t)sizes[0];
    ir_id *out = ARENA_ARRAY(c->r->a, ir_id, parts);
    if (!out || axis < -x.rank || at < 0 || at >= x.rank || x.d[at] < 0 || x.d[at] % parts)
        return false;
    y.d[at] = x.d[at] / parts;
    for (uint32_t i = 0; i < parts; i++) {
        y.id = out[i] = foreign_inner(c->f, c->name, "part");
        c->out[i] = y;
    }
    c->n_out = parts;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", at)};
    return foreign_add(c->f, &(foreign_node){.op = op,
                                             .name = c->name,
                                             .in = &x.id,
                                             .n_in = 1,
                                             .out = out,
                                             .n_out = parts,
                                             .attrs = attrs,
                                             .n_attrs = 1}) != IR_NONE;
}

static bool op_slice(keras_call *c, const char *op)
{
    (void)op;
    return keras_slicing(c);
}

static const function functions[] = {
    {"add|addv2|biasadd", op_binary, "Add"},
    {"sub|subtract", op_binary, "Sub"},
    {"mul|multiply", op_binary, "Mul"},
    {"truediv|divide|div|realdiv", op_binary, "Div"},
    {"pow|power", op_binary, "Pow"},
    {"maximum", op_binary, "Max"},
    {"minimum", op_binary, "Min"},
    {"greater", op_compare, "Greater"},
    {"greaterequal", op_compare, "GreaterOrEqual"},
    {"less", op_compare, "Less"},
    {"lessequal", op_compare, "LessOrEqual"},
    {"equal", op_compare, "Equal"},
    {"logicaland", op_compare, "And"},
    {"logicalor", op_compare, "Or"},
    {"sqrt", op_unary, "Sqrt"},
    {"exp", op_unary, "Exp"},
    {"log", op_unary, "Log"},
    {"abs|absolute", op_unary, "Abs"},
    {"neg|negative", op_unary, "Neg"},
    {"sign", op_unary, "Sign"},
    {"floor", op_unary, "Floor"},
    {"ceil", op_unary, "Ceil"},
    {"round", op_unary, "Round"},
    {"sin", op_unary, "Sin"},
    {"cos", op_unary, "Cos"},
    {"erf", op_unary, "Erf"},
    {"reciprocal", op_unary, "Reciprocal"},
    {"logicalnot", op_unary, "Not"},
    {"identity|stopgradient|converttotensor|copy", op_unary, "Identity"},
    {"square", op_square, "Mul"},
    {"rsqrt", op_rsqrt, "Reciprocal"},
    {"relu", op_activation, "relu"},
    {"relu6", op_activation, "relu6"},
    {"sigmoid", op_activation, "sigmoid"},
    {"tanh", op_activation, "tanh"},
    {"silu|swish", op_activation, "silu"},
    {"softplus", op_activation, "softplus"},
    {"softsign", op_activation, "softsign"},
    {"elu", op_activation, "elu"},
    {"selu", op_activation, "selu"},
    {"gelu", op_activation, "gelu"},
    {"leakyrelu", op_activation, "leaky_relu"},
    {"hardsigmoid", op_activation, "hard_sigmoid"},
    {"hardswish|hardsilu", op_activation, "hard_silu"},
    {"softmax", op_softmax, "Softmax"},
    {"logsoftmax", op_softmax, "LogSoftmax"},
    {"reducemean|mean", op_reduce, "ReduceMean"},
    {"reducesum|sum", op_reduce, "ReduceSum"},
    {"reducemax|max|amax", op_reduce, "ReduceMax"},
    {"reducemin|min|amin", op_reduce, "ReduceMin"},
    {"reduceprod|prod", op_reduce, "ReduceProd"},
    {"reshape", op_reshape, NULL},
    {"transpose", op_transpose, NULL},
    {"expanddims", op_expand, NULL},
    {"squeeze", op_squeeze, NULL},
    {"concat|concatenate", op_concat, NULL},
    {"stack", op_stack, NULL},
    {"cast", op_cast, NULL},
    {"matmul", op_matmul, "MatMul"},
    {"clipbyvalue|clip", op_clip, "Clip"},
    {"l2normalize|normalize", op_norm, "LpNormalization"},
    {"split", op_split, "Split"},
    {"getitem", op_slice, NULL},
};

/* "math.reduce_mean" is "reducemean". */
static str short_name(str name, char key[KEY])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < name.n; i++) {
        char ch = name.p[i];
        if (ch == '.')
            n = 0;
        else if (ch != '_' && n + 1 < KEY)
            key[n++] = ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
    }
    return (str){key, n};
}

static bool call_function(keras_call *c, str name)
{
    char key[KEY];
    str plain = short_name(name, key);
    for (size_t i = 0; plain.n && i < sizeof functions / sizeof *functions; i++)
        if (str_in_list(plain, functions[i].names, '|'))
            return functions[i].map(c, functions[i].op);
    return false;
}

bool keras_op_lambda(keras_call *c)
{
    return call_function(c, keras_word(c->config, "function", ""));
}

bool keras_operation(keras_call *c)
{
    return call_function(c, c->l->cls);
}

/* Constants by place: {"1": 2.0}; a node is explained where it has one or two operands. */
bool keras_tf_layer(keras_call *c)
{
    static const struct {
        const char *names;
        bool two;
    } rows[] = {{"relu|relu6|sigmoid|tanh|softplus|softsign|elu|selu|exp|log|sqrt|abs|neg|square|"
                 "rsqrt|identity|softmax|sign|floor|ceil|round",
                 false},
                {"add|addv2|sub|mul|realdiv|maximum|minimum|pow|biasadd", true}};
    const json_value *node = keras_get(c->config, "node_def"),
                     *constants = keras_get(c->config, "constants");
    str op = node && node->kind == JSON_OBJECT ? keras_word(node, "op", "") : (str){0};
    char key[KEY];
    str plain = short_name(op, key);
    bool one = str_in_list(plain, rows[0].names, '|'), two = str_in_list(plain, rows[1].names, '|');
    if (one && c->n_in == 1)
        return call_function(c, op);
    if (!two || !c->n_in)
        return false;
    const json_value *first = constants ? keras_get(constants, "0") : NULL,
                     *second = constants ? keras_get(constants, "1") : NULL;
    ir_t in[2] = {c->in[0], c->in[c->n_in - 1]};
    if (first && json_is_number(first))
        in[0] = keras_scalar(c, "x", c->in[0].dtype, first->f);
    else if (second && json_is_number(second))
        in[1] = keras_scalar(c, "y", c->in[0].dtype, second->f);
    else if (c->n_in != 2)
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].map == op_binary && str_in_list(plain, functions[i].names, '|'))
            return keras_give(c, keras_binary(c, NULL, functions[i].op, in[0], in[1]));
    return false;
}

/* ---- x[:, 0, ...] ---- */

typedef struct index_plan {
    int64_t range[IR_KIT_RANK][3];
    int axis[IR_KIT_RANK], n;
    int drop[IR_KIT_RANK], n_drop; /* axes of x that an index takes away */
} index_plan;

static int64_t bound_of(const json_value *v, const char *key, int64_t def)
{
    return keras_int(v, key, def);
}

/* {"start", "stop", "step"}, a number, or {"class_name": "__ellipsis__"}. */
static bool plan_item(const json_value *v, int *axis, int rank, uint32_t left, index_plan *p)
{
    const json_value *inner = keras_get(v, "config");
    if (v->kind == JSON_OBJECT && str_is(keras_word(v, "class_name", ""), "__ellipsis__")) {
        *axis = rank - (int)left;
        return *axis >= 0;
    }
    bool number = v->kind == JSON_INT && v->i > -KERAS_MAX_SIZE && v->i < KERAS_MAX_SIZE;
    if (*axis >= rank || (!number && v->kind != JSON_OBJECT))
        return false;
    int at = (*axis)++;
    int64_t *range = p->range[p->n];
    if (v->kind == JSON_INT) {
        range[0] = v->i;
        range[1] = v->i == -1 ? INT64_MAX : v->i + 1;
        range[2] = 1;
        p->drop[p->n_drop++] = at;
    } else {
        v = inner && inner->kind == JSON_OBJECT ? inner : v;
        range[2] = bound_of(v, "step", 1);
        range[0] = bound_of(v, "start", range[2] < 0 ? INT64_MAX : 0);
        range[1] = bound_of(v, "stop", range[2] < 0 ? INT64_MIN : INT64_MAX);
        if (range[0] == 0 && range[1] == INT64_MAX && range[2] == 1)
            return true;
    }
    p->axis[p->n++] = at;
    return true;
}

bool keras_slicing(keras_call *c)
{
    uint32_t n, at;
    index_plan *p = ARENA_NEW(c->r->a, index_plan);
    const json_value *spec = argument(c, 1, "slice_spec|key", &at);
    const json_value *items = keras_items(spec, &n);
    int axis = 0;
    if (!p || !c->n_in || c->in[0].rank < 1 || at != UINT32_MAX || !spec)
        return false;
    if (!items) {
        items = spec;
        n = 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!plan_item(&items[i], &axis, c->in[0].rank, n - i - 1, p))
            return false;
    ir_t x = c->in[0];
    for (int i = 0; i < p->n; i++)
        x = keras_slice(c, i ? "Slice" : NULL, x, p->axis[i], p->range[i]);
    for (int i = p->n_drop; i-- > 0;)
        x = keras_squeeze(c, "Squeeze", x, p->drop[i]);
    return x.id == c->in[0].id ? keras_identity(c) : keras_give(c, x);
}
