/* Control flow of TensorFlow 2: While and If run functions. See tf_loop.c. */
#include "formats/tensorflow/tf_impl.h"

static void note_partial(tf_op *o)
{
    notes_add(&o->r->f.m->notes, "control-flow", o->l.name, NULL,
              "What this " STR_FMT " runs cannot be expressed in operators that are counted.",
              STR_ARG(o->n->op));
}

bool tf_while(tf_op *o)
{
    tf_reader *r = o->r;
    tf_loop l = {.o = o, .trips = -1};
    l.cond = tf_function(r, tf_function_name(r, o->n, "cond"));
    l.body = tf_function(r, tf_function_name(r, o->n, "body"));
    l.n = o->n->n_in;
    l.vars = ARENA_ARRAY(r->f.scratch, tf_var, (size_t)l.n + 1);
    if (!l.cond || !l.body || !l.vars || l.cond->n_args != l.n || l.body->n_args != l.n ||
        l.body->n_ret != l.n || l.cond->n_ret < 1 || l.cond->ret[0].node == TF_NONE)
        return false;
    l.condition = l.cond->ret[0];
    for (uint32_t i = 0; i < l.n; i++) {
        if (l.body->ret[i].node == TF_NONE)
            return false;
        bool read = i < o->l.n_out;
        l.vars[i] = (tf_var){.init = tf_in_ref(o, i),
                             .cond_node = i,
                             .body_node = i,
                             .body_next = TF_NONE,
                             .next = l.body->ret[i],
                             .out = IR_NONE,
                             .list = read ? &o->s->slots[o->at].lists[i] : NULL};
        if (read)
            l.vars[i].out = foreign_value(&r->f, tf_name(r, o->s, o->n->name, i), IR_UNDEFINED, -1,
                                          NULL);
    }
    bool made = tf_build_loop(&l);
    for (uint32_t i = 0; made && i < l.n && i < o->l.n_out; i++) {
        tf_list *list = l.vars[i].same ? tf_list_of(r, l.vars[i].init) : NULL;
        if (list)
            tf_set_list(o, i, list->kind, list->value);
        tf_stand(o, i, l.vars[i].same ? tf_use(r, l.vars[i].init) : l.vars[i].out);
    }
    if (!made)
        note_partial(o);
    return made;
}

/* ---- If ---- */

static bool read_branch(tf_op *o, const char *key, ir_id *graph)
{
    tf_reader *r = o->r;
    ir_id outer = r->f.graph;
    tf_graph *g = tf_function(r, tf_function_name(r, o->n, key));
    tf_scope *s = g && g->n_args + 1 == o->n->n_in && o->s->loops < TF_MAX_LOOPS
                      ? tf_scope_new(r, g, o->s,
                                     str_printf(r->f.scratch, STR_FMT "/", STR_ARG(o->l.name)))
                      : NULL;
    bool made = s && g->n_ret >= o->l.n_out;
    if (!made)
        return false;
    *graph = s->graph = r->f.graph = ir_add_graph(r->f.m, o->l.name, outer);
    s->loops++;
    for (uint32_t i = 0; i < g->n_args; i++)
        s->slots[i].to = tf_in_ref(o, i + 1);
    for (uint32_t i = 0; made && i < o->l.n_out; i++) {
        tf_ref ref = {s, g->ret[i].node, g->ret[i].out};
        made = g->ret[i].node != TF_NONE && *graph != IR_NONE && tf_build(r, &ref, 1) == ASSAY_OK &&
               layer_result(&r->f, *graph, tf_use(r, ref));
    }
    r->f.graph = outer;
    return made;
}

bool tf_if(tf_op *o)
{
    ir_id then_graph, else_graph;
    if (!read_branch(o, "then_branch", &then_graph) ||
        !read_branch(o, "else_branch", &else_graph)) {
        note_partial(o);
        return false;
    }
    ir_id node = layer_node(&o->l, NULL, "If", o->in, 1, NULL);
    return node != IR_NONE && foreign_attach_graph(&o->r->f, node, "then_branch", then_graph) &&
           foreign_attach_graph(&o->r->f, node, "else_branch", else_graph);
}
