/* The graph of a torch.export program: inputs by the signature, nodes as calls of ATen operators, outputs; see pt2.h. */
#include <string.h>

#include "formats/torch/pt2_impl.h"

static assay_status fail_graph(pt2_reader *r, str what, const char *why)
{
    return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "torch.export program: '" STR_FMT "' %s",
                    STR_ARG(what), why);
}

/* ---- JSON ---- */

const json_value *pt2_union(const json_value *v, str *key)
{
    for (uint32_t i = 0; v && v->kind == JSON_OBJECT && i < v->n; i++)
        if (v->items[i].kind != JSON_NULL) {
            *key = v->items[i].key;
            return &v->items[i];
        }
    return NULL;
}

static str text_in(const json_value *v, const char *key)
{
    const json_value *found = v ? json_get(v, key) : NULL;
    return found && found->kind == JSON_TEXT ? found->s : (str){0};
}

/* The schema counts from 1, and has some types elsewhere than c10::ScalarType. */
static int64_t c10_type(int64_t number)
{
    return number == 13 ? 15 : number >= 1 && number <= 12 ? number - 1 : -1;
}

static ir_dtype type_of(int64_t number)
{
    static const ir_dtype late[] = {IR_UINT16, IR_FLOAT8E4M3FN, IR_FLOAT8E5M2, IR_FLOAT8E4M3FNUZ,
                                    IR_FLOAT8E5M2FNUZ};
    return number >= 28 && number <= 32 ? late[number - 28] : aten_scalar_type(c10_type(number));
}

static bool is_symbol(str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (!((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z') && s.p[i] != '_' &&
            !(i && s.p[i] >= '0' && s.p[i] <= '9'))
            return false;
    return s.n > 0;
}

bool pt2_read_meta(const json_value *v, pt2_meta *m)
{
    const json_value *dtype = v ? json_get(v, "dtype") : NULL;
    const json_value *sizes = v ? json_get(v, "sizes") : NULL;
    if (!dtype || dtype->kind != JSON_INT || !sizes || sizes->kind != JSON_LIST ||
        sizes->n > IR_MAX_RANK)
        return false;
    m->dtype = type_of(dtype->i);
    m->rank = (int)sizes->n;
    for (int d = 0; d < m->rank; d++) {
        str key = {0};
        const json_value *size = pt2_union(&sizes->items[d], &key);
        bool fixed = size && size->kind == JSON_INT && size->i >= 0;
        m->dims[d] = fixed ? size->i : -1;
        m->symbols[d] = fixed ? (str){0} : text_in(size, "expr_str");
    }
    return m->dtype != IR_UNDEFINED;
}

/* ---- values by name ---- */

static assay_status bind_name(pt2_reader *r, str name, aten_value v)
{
    return VEC_ADD(r->f.scratch, &r->values, v) && map_put(&r->names, name, r->values.n - 1)
               ? ASSAY_OK
               : err_no_memory(r->f.err);
}

static aten_value value_of(const pt2_reader *r, str name)
{
    uint32_t at = map_get(&r->names, name);
    aten_value v = at == MAP_NONE ? (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE}
                                  : r->values.items[at];
    if (v.kind == ATEN_TENSOR)
        v.id = aten_latest(&r->t, v.id);
    return v;
}

/* A value of the graph with what the file says of it. */
static ir_id declare(pt2_reader *r, const json_value *graph, str name, bool symbols)
{
    const json_value *all = json_get(graph, "tensor_values");
    pt2_meta m;
    if (!all || !pt2_read_meta(json_member(all, name), &m))
        return foreign_value(&r->f, str_copy(r->f.m->arena, name), IR_UNDEFINED, -1, NULL);
    ir_id id = foreign_value(&r->f, str_copy(r->f.m->arena, name), m.dtype, m.rank, m.dims);
    ir_value *v = id == IR_NONE ? NULL : ir_value_at(r->f.m, id);
    ir_dim *dims = v && symbols && m.rank > 0 && v->declared.dims
                       ? arena_copy(r->f.m->arena, v->declared.dims, (size_t)m.rank * sizeof *dims)
                       : NULL;
    for (int d = 0; dims && d < m.rank; d++)
        if (m.dims[d] < 0 && is_symbol(m.symbols[d]))
            dims[d].symbol = str_copy(r->f.m->arena, m.symbols[d]);
    if (dims)
        v->declared.dims = dims;
    return id;
}

/* ---- arguments ---- */

static aten_value named_value(const pt2_reader *r, const json_value *v)
{
    return value_of(r, text_in(v, "name"));
}

static aten_value plain_value(const pt2_reader *r, const json_value *v)
{
    str name = text_in(v, "as_name");
    if (name.n)
        return value_of(r, name);
    switch (v->kind) {
    case JSON_INT:
        return aten_of_int(v->i);
    case JSON_REAL:
        return aten_of_float(v->f);
    case JSON_BOOL:
        return aten_of_bool(v->i != 0);
    case JSON_TEXT:
        return aten_of_text(v->s);
    case JSON_OBJECT: {
        str key = {0};
        const json_value *inner = pt2_union(v, &key);
        if (str_is(key, "name"))
            return named_value(r, v);
        if (!inner || str_is(key, "as_none"))
            return aten_none();
        return str_is(key, "as_tensor") ? named_value(r, inner) : plain_value(r, inner);
    }
    default:
        return aten_none();
    }
}

static aten_value list_value(pt2_reader *r, const json_value *v)
{
    aten_value list = aten_new_list(&r->t, false);
    for (uint32_t i = 0; i < v->n; i++)
        if (!aten_push(&r->t, &list, plain_value(r, &v->items[i])))
            return (aten_value){.kind = ATEN_ABSENT, .id = IR_NONE};
    return list;
}

static aten_value argument_of(pt2_reader *r, const json_value *arg)
{
    str key = {0};
    const json_value *v = pt2_union(arg, &key);
    if (!v || str_is(key, "as_none"))
        return aten_none();
    if (str_is(key, "as_scalar_type"))
        return v->kind == JSON_INT ? aten_of_int(c10_type(v->i)) : aten_none();
    if (str_is(key, "as_float") && json_is_number(v))
        return aten_of_float(v->f);
    if (str_is(key, "as_device") || str_is(key, "as_layout") || str_is(key, "as_memory_format") ||
        str_is(key, "as_graph") || str_is(key, "as_custom_obj"))
        return (aten_value){.kind = ATEN_OTHER, .other = v, .id = IR_NONE};
    if (v->kind == JSON_LIST)
        return list_value(r, v);
    return str_is(key, "as_tensor") ? named_value(r, v) : plain_value(r, v);
}

/* ---- outputs of nodes ---- */

typedef struct node_call {
    pt2_reader *r;
    const json_value *graph, *outputs;
    uint32_t n;
    str names[64];
    const json_value *list; /* of a result that is a list of tensors; or NULL */
} node_call;

static str output_name(const node_call *n, uint32_t i)
{
    if (n->list)
        return i < n->list->n ? text_in(&n->list->items[i], "name") : (str){0};
    return i < n->n ? n->names[i] : (str){0};
}

static void list_outputs(node_call *n)
{
    for (uint32_t i = 0; n->outputs && i < n->outputs->n && n->n < 64; i++) {
        str key = {0};
        const json_value *v = pt2_union(&n->outputs->items[i], &key);
        if (str_is(key, "as_tensors") && n->outputs->n == 1)
            n->list = v;
        else if (v && v->kind == JSON_OBJECT)
            n->names[n->n++] = text_in(v, "name").n ? text_in(v, "name") : text_in(v, "as_name");
        else
            n->n++;
    }
}

static ir_id make_output(aten_call *c, uint32_t i)
{
    const node_call *n = c->ctx;
    str name = output_name(n, i);
    return name.n ? declare(n->r, n->graph, name, false)
                  : foreign_inner(&n->r->f, c->l.name, "unused");
}

static assay_status bind_results(const node_call *n, const aten_value *result)
{
    uint32_t have = n->list ? n->list->n : n->n;
    bool many = result->kind == ATEN_LIST;
    for (uint32_t i = 0; i < have; i++) {
        str name = output_name(n, i);
        aten_value none = {.kind = ATEN_ABSENT, .id = IR_NONE};
        aten_value v = many && i < result->list->v.n ? result->list->v.items[i]
                       : !many && i == 0             ? *result
                                                     : none;
        if (name.n && v.kind != ATEN_ABSENT)
            TRY(bind_name(n->r, name, v));
    }
    return ASSAY_OK;
}

/* ---- sizes ---- */

/* "_operator.mul", "torch.ops.aten.sym_size.int" and others that make whole numbers. False: it is none of them. */
static bool size_call(pt2_reader *r, str target, const aten_value *args, uint32_t n,
                      aten_value *out)
{
    static const char *const math[][2] = {{"_operator.add", "add"},
                                          {"_operator.sub", "sub"},
                                          {"_operator.mul", "mul"},
                                          {"_operator.mod", "mod"},
                                          {"_operator.floordiv", "floordiv"}};
    if (str_starts(target, "torch.ops.aten.sym_size") && n >= 2 && args[0].kind == ATEN_TENSOR) {
        *out = aten_size_of(&r->t, args[0].id, args[1].i);
        return out->kind != ATEN_ABSENT;
    }
    for (size_t i = 0; n == 2 && i < sizeof math / sizeof *math; i++)
        if (str_is(target, math[i][0])) {
            *out = aten_size_math(&r->t, math[i][1], &args[0], &args[1]);
            return out->kind != ATEN_ABSENT;
        }
    if (str_starts(target, "torch.sym_") || str_starts(target, "_operator.") ||
        str_starts(target, "math.")) {
        *out = aten_none();
        return true;
    }
    return false;
}

/* ---- nodes ---- */

static assay_status build_nodes(pt2_reader *r, const json_value *graph);

/* "L__self__,,Net;L__self___conv1,conv1,torch.nn.modules.conv.Conv2d": the path of the last. */
static str module_of(pt2_reader *r, const json_value *node)
{
    str stack = text_in(json_get(node, "metadata"), "nn_module_stack"), last = stack;
    for (str rest = stack, one; str_split(&rest, ';', &one);)
        last = one;
    const char *from = last.n ? memchr(last.p, ',', last.n) : NULL;
    if (!from)
        return (str){0};
    str path = {from + 1, last.n - (uint32_t)(from + 1 - last.p)};
    const char *to = memchr(path.p, ',', path.n);
    path.n = to ? (uint32_t)(to - path.p) : path.n;
    static const char *const roots[] = {"L['self'].", "L__self__."};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (str_starts(path, roots[i])) {
            path.p += strlen(roots[i]);
            path.n -= (uint32_t)strlen(roots[i]);
        }
    return path.n ? str_copy(r->f.m->arena, path) : path;
}

/* A subgraph of an operator that only sets a mode: its inputs are the arguments behind it. */
static assay_status inline_graph(pt2_reader *r, const json_value *inner, const aten_value *args,
                                 uint32_t n, aten_value *out)
{
    const json_value *graph = json_get(inner, "graph"), *inputs = json_get(graph, "inputs");
    const json_value *outputs = json_get(graph, "outputs");
    if (!inputs || !outputs || r->depth >= PT2_DEPTH)
        return fail_graph(r, text_in(inner, "name"), "is not a graph, or is nested too deeply");
    for (uint32_t i = 0; i < inputs->n && i < n; i++) {
        str key = {0};
        TRY(bind_name(r, text_in(pt2_union(&inputs->items[i], &key), "name"), args[i]));
    }
    r->depth++;
    TRY(build_nodes(r, graph));
    r->depth--;
    *out = aten_new_list(&r->t, true);
    for (uint32_t i = 0; i < outputs->n; i++)
        TRY_MEMORY(aten_push(&r->t, out, argument_of(r, &outputs->items[i])), r->f.err);
    return ASSAY_OK;
}

static bool sets_mode(str target)
{
    return str_contains(target, "wrap_with_set_grad_enabled") ||
           str_contains(target, "wrap_with_autocast") || str_ends(target, "higher_order.wrap");
}

typedef struct node_args {
    uint32_t n;
    aten_value list[ATEN_ARGS];
    str names[ATEN_ARGS];
} node_args;

static void read_args(pt2_reader *r, const json_value *node, node_args *a)
{
    const json_value *inputs = json_get(node, "inputs");
    for (uint32_t i = 0; inputs && inputs->kind == JSON_LIST && i < inputs->n && a->n < ATEN_ARGS;
         i++) {
        a->list[a->n] = argument_of(r, json_get(&inputs->items[i], "arg"));
        a->names[a->n++] = text_in(&inputs->items[i], "name");
    }
}

static str operator_of(str target)
{
    static const char *const spaces[] = {"torch.ops.aten.", "torch.ops."};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_starts(target, spaces[i])) {
            uint32_t n = (uint32_t)strlen(spaces[i]);
            return (str){target.p + n, target.n - n};
        }
    return target;
}

static void set_module(pt2_reader *r, uint32_t first, str module)
{
    for (uint32_t i = first; module.n && i < r->f.m->nodes.n; i++)
        ir_node_at(r->f.m, i)->module = module;
}

static assay_status run_call(pt2_reader *r, const json_value *node, node_call *n,
                             const node_args *a, str target)
{
    aten_call c = {.t = &r->t, .op = operator_of(target), .make = make_output, .ctx = n};
    bool aten_space = str_starts(target, "torch.ops.aten.");
    c.wanted = n->list ? n->list->n : n->n;
    c.row = aten_space ? aten_row_of(c.op) : NULL;
    str name = output_name(n, 0).n ? output_name(n, 0) : c.op;
    c.l = (foreign_layer){.f = &r->f, .name = str_copy(r->f.m->arena, name)};
    for (uint32_t i = 0; i < a->n; i++)
        if ((!c.row || !aten_name_arg(&c, a->names[i], &a->list[i])) && !c.row)
            c.arg[i] = a->list[i];
    uint32_t first = r->f.m->nodes.n;
    if (!c.l.name.p || !aten_run(&c))
        return arena_failed(r->f.m->arena) || arena_failed(r->f.scratch)
                   ? err_no_memory(r->f.err)
                   : fail_graph(r, target, "makes more than 1,048,576 nodes or 4,096 outputs");
    set_module(r, first, module_of(r, node));
    return bind_results(n, &c.result);
}

static assay_status build_node(pt2_reader *r, const json_value *graph, const json_value *node)
{
    str target = text_in(node, "target");
    node_call n = {.r = r, .graph = graph, .outputs = json_get(node, "outputs")};
    node_args a = {0};
    aten_value result;
    if (!target.n)
        return fail_graph(r, target, "is a node without a target");
    list_outputs(&n);
    read_args(r, node, &a);
    if (str_is(target, "_operator.getitem") && a.n == 2 && a.list[0].kind == ATEN_LIST &&
        a.list[1].i >= 0 && (uint64_t)a.list[1].i < a.list[0].list->v.n)
        return bind_results(&n, &a.list[0].list->v.items[a.list[1].i]);
    for (uint32_t i = 0; sets_mode(target) && i < a.n; i++)
        if (a.list[i].kind == ATEN_OTHER && json_get(a.list[i].other, "graph")) {
            TRY(inline_graph(r, a.list[i].other, a.list + i + 1, a.n - i - 1, &result));
            return bind_results(&n, &result);
        }
    if (size_call(r, target, a.list, a.n, &result))
        return bind_results(&n, &result);
    return run_call(r, node, &n, &a, target);
}

static assay_status build_nodes(pt2_reader *r, const json_value *graph)
{
    const json_value *nodes = json_get(graph, "nodes");
    for (uint32_t i = 0; nodes && nodes->kind == JSON_LIST && i < nodes->n; i++)
        TRY(build_node(r, graph, &nodes->items[i]));
    return ASSAY_OK;
}

/* ---- inputs ---- */

/* A tensor that the archive has no data of has the type of its value. */
static assay_status absent_weight(pt2_reader *r, const json_value *graph, str arg, str name,
                                  weight_item *out)
{
    pt2_meta m;
    if (!pt2_read_meta(json_member(json_get(graph, "tensor_values"), arg), &m))
        return fail_graph(r, name, "has neither data nor a shape");
    *out = (weight_item){.name = name,
                         .stored = str_of(ir_dtype_get(m.dtype)->name),
                         .rank = m.rank,
                         .dims = arena_copy(r->f.scratch, m.dims, sizeof m.dims)};
    notes_add(&r->f.m->notes, "weights-absent", name, NULL,
              "The archive has no data of this tensor.");
    return out->dims ? ASSAY_OK : err_no_memory(r->f.err);
}

static assay_status bind_weight(pt2_reader *r, const json_value *graph, str arg, str name,
                                uint32_t flags)
{
    ir_id id;
    weight_item absent;
    const weight_item *x = weight_set_get(r->set, name);
    if (x)
        r->read[x - r->set->items.items] = 1;
    else
        TRY(absent_weight(r, graph, arg, name, &absent));
    TRY(torch_constant(&r->f, r->files, x ? x : &absent, flags, &id));
    return bind_name(r, arg, aten_of_tensor(id));
}

static assay_status bind_input(pt2_reader *r, const json_value *graph, const json_value *arg)
{
    str key = {0};
    const json_value *v = pt2_union(arg, &key);
    str name = text_in(v, "name").n ? text_in(v, "name") : text_in(v, "as_name");
    if (!name.n)
        return ASSAY_OK; /* a number that was fixed */
    bool size = str_is(key, "as_sym_int");
    ir_id id = size ? foreign_value(&r->f, str_copy(r->f.m->arena, name), IR_INT64, 0, NULL)
                    : declare(r, graph, name, true);
    if (id == IR_NONE || !ir_add_input(r->f.m, 0, id))
        return err_no_memory(r->f.err);
    aten_value of_size = {.kind = ATEN_SIZE, .id = id};
    return bind_name(r, name, size ? of_size : aten_of_tensor(id));
}

static const struct {
    const char *kind, *name, *old; /* old: the dictionary of schema 1 */
    uint32_t flags;
} weight_kinds[] = {
    {"parameter", "parameter_name", "inputs_to_parameters", IR_VALUE_PARAM | IR_VALUE_UNREAD},
    {"buffer", "buffer_name", "inputs_to_buffers", IR_VALUE_BUFFER | IR_VALUE_UNREAD},
    {"tensor_constant", "tensor_constant_name", "inputs_to_lifted_tensor_constants",
     IR_VALUE_NOT_PARAM},
};
enum { WEIGHT_KINDS = sizeof weight_kinds / sizeof *weight_kinds };

static assay_status bind_spec(pt2_reader *r, const json_value *graph, const json_value *spec)
{
    str kind = {0};
    const json_value *v = pt2_union(spec, &kind);
    for (int i = 0; i < WEIGHT_KINDS; i++)
        if (str_is(kind, weight_kinds[i].kind))
            return bind_weight(r, graph, text_in(json_get(v, "arg"), "name"),
                               text_in(v, weight_kinds[i].name), weight_kinds[i].flags);
    if (str_is(kind, "user_input"))
        return bind_input(r, graph, json_get(v, "arg"));
    return ASSAY_OK;
}

/* Schema 1 (torch 2.1) has a dictionary for each kind. */
static assay_status bind_old(pt2_reader *r, const json_value *graph, const json_value *signature)
{
    const json_value *inputs = json_get(graph, "inputs");
    for (uint32_t i = 0; inputs && inputs->kind == JSON_LIST && i < inputs->n; i++) {
        str key = {0}, name = text_in(pt2_union(&inputs->items[i], &key), "name"), of = {0};
        int kind = 0;
        for (; kind < WEIGHT_KINDS && !of.n; kind++) {
            const json_value *v = json_member(json_get(signature, weight_kinds[kind].old), name);
            of = v && v->kind == JSON_TEXT ? v->s : (str){0};
        }
        TRY(of.n ? bind_weight(r, graph, name, of, weight_kinds[kind - 1].flags)
                 : bind_input(r, graph, &inputs->items[i]));
    }
    return ASSAY_OK;
}

static assay_status bind_inputs(pt2_reader *r, const json_value *graph, const json_value *signature)
{
    const json_value *specs = json_get(signature, "input_specs");
    if (!specs || specs->kind != JSON_LIST)
        return bind_old(r, graph, signature);
    for (uint32_t i = 0; i < specs->n; i++)
        TRY(bind_spec(r, graph, &specs->items[i]));
    return ASSAY_OK;
}

/* ---- outputs ---- */

static assay_status add_output(pt2_reader *r, const json_value *arg)
{
    aten_value v = argument_of(r, arg);
    if (v.kind == ATEN_SIZE)
        v = aten_of_tensor(aten_scalar(&r->t, STR("output"), &v));
    if (v.kind != ATEN_TENSOR)
        return ASSAY_OK;
    return foreign_output(&r->f, v.id) ? ASSAY_OK : err_no_memory(r->f.err);
}

/* Mutations of buffers and inputs are no outputs. */
static assay_status add_outputs(pt2_reader *r, const json_value *graph, const json_value *signature)
{
    const json_value *specs = json_get(signature, "output_specs"),
                     *all = json_get(graph, "outputs");
    const json_value *own = json_get(signature, "user_outputs");
    for (uint32_t i = 0; specs && specs->kind == JSON_LIST && i < specs->n; i++) {
        str kind = {0};
        const json_value *v = pt2_union(&specs->items[i], &kind);
        if (str_is(kind, "user_output") || str_is(kind, "loss_output"))
            TRY(add_output(r, json_get(v, "arg")));
    }
    for (uint32_t i = 0; !specs && all && all->kind == JSON_LIST && i < all->n; i++) {
        str key = {0}, name = text_in(pt2_union(&all->items[i], &key), "name");
        bool user = !own;
        for (uint32_t k = 0; own && k < own->n; k++)
            user |= own->items[k].kind == JSON_TEXT && str_eq(own->items[k].s, name);
        if (user)
            TRY(add_output(r, &all->items[i]));
    }
    return ASSAY_OK;
}

/* Parameters and buffers that the graph does not take are the model's all the same. */
static assay_status add_unread(pt2_reader *r)
{
    for (uint32_t i = 0; i < r->set->items.n; i++) {
        const weight_item *x = &r->set->items.items[i];
        ir_id id;
        uint32_t flags = x->role == WEIGHT_ROLE_PARAMETER ? IR_VALUE_PARAM
                         : x->role == WEIGHT_ROLE_BUFFER  ? IR_VALUE_BUFFER
                                                          : 0;
        if (!r->read[i] && flags)
            TRY(torch_constant(&r->f, r->files, x, flags | IR_VALUE_UNREAD, &id));
    }
    return ASSAY_OK;
}

static void note_version(pt2_reader *r)
{
    str torch = text_in(&r->program, "torch_version");
    if (torch.n)
        r->f.m->producer = torch.p[0] == '<'
                               ? STR("torch 2.4 or earlier")
                               : str_printf(r->f.m->arena, "torch " STR_FMT, STR_ARG(torch));
    const json_value *v = json_get(&r->program, "schema_version"), *major = json_get(v, "major");
    r->f.m->ir_version = v && v->kind == JSON_INT           ? v->i
                         : major && major->kind == JSON_INT ? major->i
                                                            : 0;
}

assay_status pt2_build(pt2_reader *r)
{
    const json_value *module = json_get(&r->program, "graph_module");
    const json_value *graph = json_get(module, "graph"), *signature = json_get(module, "signature");
    if (!graph || !signature)
        return err_fail(
            r->f.err, ASSAY_ERR_UNSUPPORTED,
            "torch.export program: no graph_module with graph and signature; its schema "
            "is not known. Export the model again with torch 2.1 to 2.9.");
    TRY(bind_inputs(r, graph, signature));
    TRY(build_nodes(r, graph));
    TRY(add_outputs(r, graph, signature));
    TRY(add_unread(r));
    note_version(r);
    return ASSAY_OK;
}
