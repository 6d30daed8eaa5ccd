/* Variables of TensorFlow: VariableV2 of TensorFlow 1, VarHandleOp with ReadVariableOp. They become constants of the main
 * graph, whose content is in the checkpoint.
 *
 * Which key of the checkpoint belongs to a variable is what the graph restores it from: Assign(variable, RestoreV2:i), where
 * RestoreV2 lists its keys in a constant. Variables that nothing restores have their own name as key. */
#include "formats/tensorflow/tf_impl.h"

#include "base/num.h"

enum { A_S = 2, A_TYPE = 6, A_SHAPE, A_TENSOR };
enum { MAX_RESTORED = 1 << 16 };

static const tf_entry *entry_of(tf_reader *r, const tf_node *n)
{
    uint32_t at = map_get(&r->keys, n->name);
    const tf_entry *e = at == MAP_NONE ? NULL : tf_checkpoint_find(r, r->key_list.items[at]);
    if (e)
        return e;
    cursor shared = wire_sub(tf_node_attr(r, n, "shared_name"), A_S);
    str name = shared.src && cursor_left(&shared)
                   ? cursor_str(&shared, cursor_left(&shared), r->f.scratch, FOREIGN_MAX_NAME)
                   : (str){0};
    e = tf_checkpoint_find(r, name);
    return e ? e : tf_checkpoint_find(r, n->name);
}

bool tf_variable_shape(tf_reader *r, const tf_node *n, ir_dtype *t, int *rank, int64_t *dims)
{
    const tf_entry *e = entry_of(r, n);
    cursor shape = tf_node_attr(r, n, "shape");
    bool known = shape.src && tf_shape_of(wire_sub(shape, A_SHAPE), rank, dims);
    *t = tf_dtype_of(wire_find_u64(tf_node_attr(r, n, "dtype"), A_TYPE, 0));
    for (int d = 0; known && d < *rank; d++)
        known = dims[d] >= 0;
    if (known || !e)
        return known;
    *rank = e->rank;
    for (int d = 0; d < e->rank; d++)
        dims[d] = e->dims[d];
    *t = *t == IR_UNDEFINED ? e->dtype : *t;
    return true;
}

static void set_content(tf_reader *r, const tf_node *n, ir_tensor *as)
{
    const tf_entry *e = entry_of(r, n);
    const source *s = e && e->shard < r->ck.n_shards ? r->ck.shards[e->shard] : NULL;
    if (!s || e->size != as->size_bytes || e->offset > source_size(s) ||
        e->size > source_size(s) - e->offset || e->dtype != as->dtype) {
        r->absent = true;
        return;
    }
    as->storage = IR_DATA_SLICE;
    as->offset = sat_add(r->ck.starts[e->shard], e->offset);
    as->length = e->size;
}

/* Numbers that are not trained are told by the names that TensorFlow and Keras give them. */
static uint32_t role_of(const tf_node *n, ir_dtype t)
{
    if (str_contains(n->name, "moving_mean") || str_contains(n->name, "moving_variance"))
        return IR_VALUE_BUFFER;
    return ir_is_float(t) ? IR_VALUE_PARAM : 0;
}

static ir_id make_variable(tf_reader *r, tf_node *n)
{
    ir_dtype t;
    int rank;
    int64_t dims[IR_MAX_RANK] = {0};
    if (!tf_variable_shape(r, n, &t, &rank, dims) || t == IR_UNDEFINED)
        return IR_NONE;
    ir_tensor *as = ir_make_tensor_borrowed(r->f.m, STR(""), t, rank, dims);
    str own = as ? ir_kit_name(&r->f.kit, n->name) : (str){0};
    if (!own.p)
        return IR_NONE;
    as->name = own;
    if (t != IR_STRING)
        set_content(r, n, as);
    foreign_count(&r->f, as->n_elems, ir_dtype_bytes(t, as->n_elems));
    n->constant = ir_kit_const_of(r->f.m, 0, own, as, role_of(n, t));
    return n->constant;
}

ir_id tf_variable_of(tf_reader *r, tf_ref ref)
{
    ref = tf_resolve(r, ref);
    if (!ref.s)
        return IR_NONE;
    tf_node *n = &ref.s->g->nodes.items[ref.node];
    bool is = str_is(n->op, "VarHandleOp") || (n->row && n->row->pass == TF_VARIABLE);
    if (!is)
        return IR_NONE;
    return n->constant != IR_NONE ? n->constant : make_variable(r, n);
}

/* ---- keys ---- */

static bool is_assignment(const tf_node *n)
{
    return (str_is(n->op, "AssignVariableOp") || str_is(n->op, "Assign")) && n->n_in >= 2;
}

/* The keys that a RestoreV2 lists; those of the last one are kept. */
static bool list_keys(tf_reader *r, tf_ref names)
{
    wire_field f;
    VEC(str) list = {0};
    if (!names.s)
        return false;
    if (names.s == r->names.s && names.node == r->names.node)
        return true;
    cursor proto = wire_sub(tf_node_attr(r, &names.s->g->nodes.items[names.node], "value"),
                            A_TENSOR);
    while (proto.src && wire_next(&proto, &f))
        if (f.number == 8 && f.type == WIRE_LEN &&
            !VEC_ADD(r->f.scratch, &list,
                     cursor_str(&f.body, cursor_left(&f.body), r->f.scratch, FOREIGN_MAX_NAME)))
            return false;
    r->names = names;
    r->restored = list.items;
    r->n_restored = list.n;
    return true;
}

/* Assign(variable, value) of a scope, where the value is restored. */
static void take_assignment(tf_reader *r, tf_scope *s, uint32_t at)
{
    tf_ref variable = tf_resolve(r, tf_input(s, at, 0)), value = tf_resolve(r, tf_input(s, at, 1));
    if (!variable.s || !value.s || variable.s->g != &r->main)
        return;
    const tf_node *restore = &value.s->g->nodes.items[value.node];
    if (!str_is(restore->op, "RestoreV2") || restore->n_in < 2 ||
        !list_keys(r, tf_resolve(r, tf_input(value.s, value.node, 1))) ||
        value.out >= r->n_restored)
        return;
    if (map_put(&r->keys, r->main.nodes.items[variable.node].name, r->key_list.n))
        VEC_ADD(r->f.scratch, &r->key_list, r->restored[value.out]);
}

static void take_graph(tf_reader *r, tf_scope *s)
{
    for (uint32_t i = 0; i < s->g->nodes.n && r->key_list.n < MAX_RESTORED; i++)
        if (is_assignment(&s->g->nodes.items[i]))
            take_assignment(r, s, i);
}

/* TensorFlow 2 restores in a function that the main graph calls with its variables. */
static bool calls_restore(const tf_graph *g)
{
    bool restores = false, assigns = false;
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        restores = restores || str_is(g->nodes.items[i].op, "RestoreV2");
        assigns = assigns || is_assignment(&g->nodes.items[i]);
    }
    return restores && assigns;
}

void tf_find_keys(tf_reader *r, tf_scope *main)
{
    if (!r->ck.found)
        return;
    take_graph(r, main);
    for (uint32_t i = 0; i < r->main.nodes.n && r->f.err->code == ASSAY_OK; i++) {
        const tf_node *n = &r->main.nodes.items[i];
        if (!n->row || n->row->pass != TF_CALL)
            continue;
        tf_graph *g = tf_function(r, tf_function_name(r, n, "f"));
        tf_scope *s = g && calls_restore(g) ? tf_call_scope(r, (tf_ref){main, i, 0}, g->name, 0)
                                            : NULL;
        if (s)
            take_graph(r, s);
    }
}
