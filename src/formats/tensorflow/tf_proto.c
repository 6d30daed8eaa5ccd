/* The graphs of a TensorFlow file: nodes, functions, and which output each input names.
 *
 *   NodeDef: 1 name, 2 op, 3 input ("name", "name:1"; in functions "name:argument:1"; "^name" is a control input),
 *            5 attr (1 key, 2 AttrValue)
 *   FunctionDef: 1 signature (1 name, 2 input_arg (1 name), 3 output_arg (1 name)), 3 node_def,
 *                4 ret (1 output_arg, 2 input as above) */

#include "formats/tensorflow/tf_impl.h"

enum { N_NAME = 1, N_OP, N_INPUT, N_ATTR = 5 };
enum { F_SIGNATURE = 1, F_NODE = 3, F_RET = 4 };

static assay_status too_many(tf_reader *r, const char *what)
{
    return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED, "too many %s", what);
}

static str read_name(tf_reader *r, wire_field *f)
{
    if (f->type != WIRE_LEN)
        return (str){0};
    return cursor_str(&f->body, cursor_left(&f->body), r->f.m->arena, FOREIGN_MAX_NAME);
}

/* ---- nodes ---- */

typedef struct node_parts {
    VEC(tf_attr) attrs;
    uint32_t n_texts;
} node_parts;

static assay_status read_attr(tf_reader *r, cursor entry, node_parts *p)
{
    wire_field f;
    tf_attr a = {.key = {0}};
    while (wire_next(&entry, &f)) {
        if (f.number == 1)
            a.key = read_name(r, &f);
        else if (f.number == 2 && f.type == WIRE_LEN) {
            a.at = f.body.pos;
            a.end = f.body.end;
        }
    }
    if (a.key.p && a.end && !VEC_ADD(r->f.scratch, &p->attrs, a))
        return err_no_memory(r->f.err);
    return p->attrs.n > TF_MAX_ITEMS ? too_many(r, "attributes of a node") : wire_status(&entry);
}

/* The texts of the inputs are kept in graph->texts: n->n_in of them, for now. */
static assay_status read_node(tf_reader *r, tf_graph *g, cursor def)
{
    tf_node n = {.constant = IR_NONE};
    node_parts p = {.n_texts = 0};
    wire_field f;
    while (wire_next(&def, &f)) {
        if (f.number == N_NAME)
            n.name = read_name(r, &f);
        else if (f.number == N_OP)
            n.op = read_name(r, &f);
        else if (f.number == N_INPUT && !VEC_ADD(r->f.scratch, &g->texts, read_name(r, &f)))
            return err_no_memory(r->f.err);
        else if (f.number == N_ATTR && f.type == WIRE_LEN)
            TRY(read_attr(r, f.body, &p));
        n.n_in += f.number == N_INPUT;
        TRY(wire_status(&f.body));
    }
    TRY(wire_status(&def));
    if (n.name.n == 0 || n.op.n == 0)
        return err_fail_at(r->f.err, ASSAY_ERR_MALFORMED, def.pos,
                           "not a TensorFlow graph: a node has no name or no operator");
    if (++r->n_nodes > TF_MAX_NODES || n.n_in > TF_MAX_ITEMS)
        return too_many(r, "nodes or inputs");
    n.attrs = p.attrs.items;
    n.n_attrs = p.attrs.n;
    n.row = tf_row_of(n.op);
    r->has_variables = r->has_variables || str_is(n.op, "VarHandleOp") ||
                       (n.row && n.row->pass == TF_VARIABLE);
    TRY_MEMORY(map_put(&g->by_name, n.name, g->nodes.n) && VEC_ADD(r->f.scratch, &g->nodes, n),
               r->f.err);
    return ASSAY_OK;
}

/* ---- links ---- */

uint32_t tf_node_at(const tf_graph *g, str name)
{
    uint32_t at = map_get(&g->by_name, name);
    return at == MAP_NONE ? TF_NONE : at;
}

/* The number of an output argument of an operator. */
static uint32_t argument_number(const tf_node *n, str argument)
{
    str rest = str_of(n->row && n->row->outs ? n->row->outs : ""), item;
    for (uint32_t i = 0; str_split(&rest, ',', &item); i++)
        if (str_eq(item, argument))
            return i;
    return 0;
}

tf_in tf_parse_input(const tf_graph *g, str text)
{
    str rest = text, name = str_cut(&rest, ':');
    tf_in in = {tf_node_at(g, name), 0};
    uint64_t number = 0;
    if (in.node == TF_NONE || rest.n == 0)
        return in;
    if (!str_to_u64(rest, &number)) { /* "argument:0" */
        str argument = str_cut(&rest, ':');
        if (rest.n && !str_to_u64(rest, &number))
            in.node = TF_NONE;
        if (in.node != TF_NONE)
            number += argument_number(&g->nodes.items[in.node], argument);
    }
    in.out = number < TF_MAX_ITEMS ? (uint32_t)number : 0;
    if (number >= TF_MAX_ITEMS)
        in.node = TF_NONE;
    return in;
}

static void note_use(tf_graph *g, tf_in in)
{
    if (in.node == TF_NONE)
        return;
    tf_node *n = &g->nodes.items[in.node];
    n->n_uses++;
    n->n_out = n->n_out > in.out ? n->n_out : in.out + 1;
}

static assay_status link_node(tf_reader *r, tf_graph *g, tf_node *n, const str *texts)
{
    uint32_t n_texts = n->n_in;
    n->in = ARENA_ARRAY(r->f.scratch, tf_in, (size_t)n_texts + 1);
    n->after = ARENA_ARRAY(r->f.scratch, uint32_t, (size_t)n_texts + 1);
    TRY_MEMORY(n->in && n->after, r->f.err);
    n->n_in = 0;
    for (uint32_t i = 0; i < n_texts; i++) {
        if (texts[i].n && texts[i].p[0] == '^') {
            n->after[n->n_after++] = tf_node_at(g, (str){texts[i].p + 1, texts[i].n - 1});
            continue;
        }
        tf_in in = tf_parse_input(g, texts[i]);
        if (in.node == TF_NONE)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                            "node '" STR_FMT "' reads '" STR_FMT "', which is missing",
                            STR_ARG(n->name), STR_ARG(texts[i]));
        n->in[n->n_in++] = in;
        note_use(g, in);
    }
    return ASSAY_OK;
}

static assay_status link_graph(tf_reader *r, tf_graph *g)
{
    uint32_t first = 0;
    for (uint32_t i = g->n_args; i < g->nodes.n; i++) {
        uint32_t n = g->nodes.items[i].n_in;
        TRY(link_node(r, g, &g->nodes.items[i], n ? &g->texts.items[first] : NULL));
        first += n;
    }
    return ASSAY_OK;
}

/* ---- functions ---- */

static assay_status add_argument(tf_reader *r, tf_graph *g, cursor arg)
{
    wire_field f;
    tf_node n = {.op = STR("_Arg"), .constant = IR_NONE};
    if (wire_find(arg, 1, &f))
        n.name = read_name(r, &f);
    if (++r->n_nodes > TF_MAX_NODES)
        return too_many(r, "nodes");
    TRY_MEMORY(map_put(&g->by_name, n.name, g->nodes.n) && VEC_ADD(r->f.scratch, &g->nodes, n),
               r->f.err);
    g->n_args++;
    return ASSAY_OK;
}

typedef struct ret_list {
    VEC(str) names;
} ret_list;

static assay_status read_signature(tf_reader *r, tf_graph *g, cursor signature, ret_list *ret)
{
    wire_field f, name;
    while (wire_next(&signature, &f)) {
        if (f.number == 2 && f.type == WIRE_LEN)
            TRY(add_argument(r, g, f.body));
        else if (f.number == 3 && f.type == WIRE_LEN &&
                 !VEC_ADD(r->f.scratch, &ret->names,
                          wire_find(f.body, 1, &name) ? read_name(r, &name) : (str){0}))
            return err_no_memory(r->f.err);
    }
    return ret->names.n > TF_MAX_ITEMS ? too_many(r, "outputs of a function")
                                       : wire_status(&signature);
}

/* An entry of ret: which output it gives, and what that is. */
static assay_status read_ret(tf_reader *r, tf_graph *g, cursor entry, tf_in *list)
{
    wire_field key, value;
    if (!wire_find(entry, 1, &key) || !wire_find(entry, 2, &value))
        return wire_status(&entry);
    str name = read_name(r, &key), text = read_name(r, &value);
    for (uint32_t i = 0; i < g->n_ret; i++)
        if (str_eq(g->ret_names[i], name))
            list[i] = tf_parse_input(g, text);
    return ASSAY_OK;
}

static assay_status read_rets(tf_reader *r, tf_graph *g, const ret_list *ret)
{
    tf_in *list = ARENA_ARRAY(r->f.scratch, tf_in, (size_t)ret->names.n + 1);
    cursor def = g->def;
    wire_field f;
    g->ret = list;
    g->ret_names = ret->names.items;
    g->n_ret = ret->names.n;
    TRY_MEMORY(list, r->f.err);
    for (uint32_t i = 0; i < g->n_ret; i++)
        list[i].node = TF_NONE;
    while (wire_next(&def, &f))
        if (f.number == F_RET && f.type == WIRE_LEN)
            TRY(read_ret(r, g, f.body, list));
    for (uint32_t i = 0; i < g->n_ret; i++)
        note_use(g, list[i]);
    return wire_status(&def);
}

static assay_status read_function(tf_reader *r, tf_graph *g)
{
    cursor def = g->def;
    wire_field f;
    ret_list ret = {.names = {0}};
    g->read = g->is_function = true;
    TRY_MEMORY(map_init(&g->by_name, r->f.scratch, 64), r->f.err);
    TRY(read_signature(r, g, wire_sub(def, F_SIGNATURE), &ret));
    while (wire_next(&def, &f))
        if (f.number == F_NODE && f.type == WIRE_LEN)
            TRY(read_node(r, g, f.body));
    TRY(wire_status(&def));
    TRY(link_graph(r, g));
    return read_rets(r, g, &ret);
}

tf_graph *tf_function(tf_reader *r, str name)
{
    uint32_t at = name.n ? map_get(&r->by_function, name) : MAP_NONE;
    if (at == MAP_NONE)
        return NULL;
    tf_graph *g = &r->functions.items[at];
    if (!g->read && read_function(r, g) != ASSAY_OK)
        return NULL;
    return g;
}

/* Functions are found by name and read when they are called. */
static assay_status list_functions(tf_reader *r, cursor library)
{
    wire_field f, name;
    while (wire_next(&library, &f)) {
        if (f.number != 1 || f.type != WIRE_LEN)
            continue;
        tf_graph g = {.def = f.body};
        if (wire_find(wire_sub(f.body, F_SIGNATURE), 1, &name))
            g.name = read_name(r, &name);
        if (r->functions.n > TF_MAX_NODES)
            return too_many(r, "functions");
        if (!map_put(&r->by_function, g.name, r->functions.n) ||
            !VEC_ADD(r->f.scratch, &r->functions, g))
            return err_no_memory(r->f.err);
    }
    return wire_status(&library);
}

assay_status tf_read_graph(tf_reader *r, cursor def)
{
    wire_field f;
    if (!map_init(&r->main.by_name, r->f.scratch, 256) ||
        !map_init(&r->by_function, r->f.scratch, 64))
        return err_no_memory(r->f.err);
    r->main.read = true;
    while (wire_next(&def, &f)) { /* 3 an older version, 5 places in source files */
        if (f.number > 5 || (f.number == 3) != (f.type == WIRE_VARINT))
            return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                            "unsupported format: protobuf message that is not a TensorFlow graph "
                            "(field %u). Name a frozen graph or a SavedModel.",
                            (unsigned)f.number);
        if (f.number == 1 && f.type == WIRE_LEN)
            TRY(read_node(r, &r->main, f.body));
        else if (f.number == 2 && f.type == WIRE_LEN)
            TRY(list_functions(r, f.body));
        else if (f.number == 4 && f.type == WIRE_LEN)
            r->version = wire_find_u64(f.body, 1, 0);
    }
    TRY(wire_status(&def));
    return link_graph(r, &r->main);
}
