/* Control flow of TensorFlow 1.
 *
 * A loop: for each variable, Enter -> Merge -> Switch; Switch:0 -> Exit, Switch:1 -> the body -> NextIteration -> Merge.
 * Merge also feeds the condition, LoopCond, which all of these Switches read. Constants come in through an Enter of their
 * own. The nodes of the loop are in the same graph as all others: its scope has values of its own for them, and Enter leads
 * to the scope around it.
 *
 * A branch: Switch(data, condition):1 is alive if the condition is true, Switch:0 if not, and Merge takes what is alive. A
 * constant condition leaves one branch; another one becomes an If, whose branches hold what depends on the Switches. */

#include "formats/tensorflow/tf_impl.h"

static const tf_node *node_of(tf_ref ref)
{
    return &ref.s->g->nodes.items[ref.node];
}

static bool has_op(const tf_graph *g, uint32_t node, const char *op)
{
    return node != TF_NONE && str_is(g->nodes.items[node].op, op);
}

/* ---- loops ---- */

/* The Merge of a Switch of a loop: it has an Enter and a NextIteration; TF_NONE: another Switch. */
static uint32_t merge_of(const tf_graph *g, uint32_t at, uint32_t *enter, uint32_t *next)
{
    const tf_node *n = &g->nodes.items[at];
    uint32_t merge = n->n_in == 2 ? n->in[0].node : TF_NONE;
    if (!has_op(g, at, "Switch") || !has_op(g, merge, "Merge") || g->nodes.items[merge].n_in != 2)
        return TF_NONE;
    *enter = g->nodes.items[merge].in[0].node;
    *next = g->nodes.items[merge].in[1].node;
    bool is = (has_op(g, *enter, "Enter") || has_op(g, *enter, "RefEnter")) &&
              has_op(g, *next, "NextIteration") && g->nodes.items[*enter].n_in == 1 &&
              g->nodes.items[*next].n_in == 1;
    return is ? merge : TF_NONE;
}

/* All variables of the loop of an Exit, whose Switches have the same condition; false: no such loop. */
static bool find_loop(tf_reader *r, tf_ref exit, tf_loop *l)
{
    tf_graph *g = exit.s->g;
    const tf_node *n = node_of(exit);
    uint32_t at = n->n_in == 1 ? n->in[0].node : TF_NONE, enter, next;
    VEC(tf_var) vars = {0};
    if (!has_op(g, at, "Switch") || merge_of(g, at, &enter, &next) == TF_NONE)
        return false;
    l->condition = g->nodes.items[at].in[1];
    r->n_looks += g->nodes.n;
    for (uint32_t i = 0; i < g->nodes.n && r->n_looks < TF_MAX_LOOKS; i++) {
        const tf_node *s = &g->nodes.items[i];
        if (s->n_in != 2 || s->in[1].node != l->condition.node)
            continue;
        uint32_t merge = merge_of(g, i, &enter, &next);
        if (merge == TF_NONE)
            continue;
        const tf_in *in = &g->nodes.items[enter].in[0];
        tf_var v = {.init = {exit.s, in->node, in->out},
                    .cond_node = merge,
                    .body_node = merge,
                    .body_next = i,
                    .next = g->nodes.items[next].in[0],
                    .out = IR_NONE};
        if (!VEC_ADD(r->f.scratch, &vars, v))
            return false;
    }
    l->cond = l->body = g;
    l->frame = true;
    l->trips = -1;
    l->vars = vars.items;
    l->n = vars.n;
    return l->n > 0;
}

assay_status tf_push_exit(tf_reader *r, tf_ref ref)
{
    tf_loop l = {.o = NULL};
    if (find_loop(r, ref, &l))
        for (uint32_t i = 0; i < l.n; i++)
            TRY(tf_push(r, l.vars[i].init));
    return ASSAY_OK;
}

/* The Exit of a variable: a reader of Switch:0; TF_NONE: nobody reads it. */
static uint32_t exit_of(const tf_graph *g, const tf_var *v)
{
    for (uint32_t i = 0; i < g->nodes.n; i++)
        if (has_op(g, i, "Exit") && g->nodes.items[i].n_in == 1 &&
            g->nodes.items[i].in[0].node == v->body_next)
            return i;
    return TF_NONE;
}

/* Values of all Exits of the loop, which is built once. */
static bool open_exits(tf_op *o, tf_loop *l)
{
    tf_reader *r = o->r;
    for (uint32_t i = 0; i < l->n; i++) {
        tf_var *v = &l->vars[i];
        r->n_looks += o->s->g->nodes.n;
        uint32_t at = r->n_looks < TF_MAX_LOOKS ? exit_of(o->s->g, v) : TF_NONE;
        if (at == TF_NONE)
            continue;
        tf_slot *slot = &o->s->slots[at];
        if (at != o->at && slot->state == TF_NEW && !tf_bind(r, o->s, at, IR_NONE, 1))
            return false;
        str name = tf_name(r, o->s, o->s->g->nodes.items[at].name, 0);
        v->out = foreign_value(&r->f, name, IR_UNDEFINED, -1, NULL);
        v->list = slot->lists ? &slot->lists[0] : NULL;
        if (slot->out)
            slot->out[0] = v->out;
    }
    return true;
}

/* Variables that the body leaves as they are come out as they went in. */
static void close_exits(tf_op *o, tf_loop *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        tf_var *v = &l->vars[i];
        uint32_t at = v->same ? exit_of(o->s->g, v) : TF_NONE;
        if (at != TF_NONE && o->s->slots[at].out)
            o->s->slots[at].out[0] = tf_use(o->r, v->init);
    }
}

static void forget_exits(tf_op *o, const tf_loop *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t at = l->vars[i].out != IR_NONE ? exit_of(o->s->g, &l->vars[i]) : TF_NONE;
        if (at != TF_NONE && at != o->at)
            o->s->slots[at].state = TF_NEW;
    }
}

bool tf_exit(tf_op *o)
{
    tf_loop l = {.o = o};
    bool made = find_loop(o->r, (tf_ref){o->s, o->at, 0}, &l);
    l.o = o;
    made = made && open_exits(o, &l) && tf_build_loop(&l);
    if (made)
        close_exits(o, &l);
    else
        forget_exits(o, &l);
    if (!made)
        notes_add(&o->r->f.m->notes, "control-flow", o->l.name, NULL,
                  "The loop that ends here cannot be expressed in operators that are counted.");
    return made;
}

/* ---- branches with a constant condition ---- */

enum { UNDECIDED, ALIVE, DEAD };

typedef struct search {
    tf_reader *r;
    tf_scope *s;
    uint8_t *seen;
    VEC(uint32_t) stack;
    int depth;
} search;

static bool look_further(search *k, uint32_t node)
{
    if (node == TF_NONE || k->seen[node])
        return true;
    k->seen[node] = 1;
    return VEC_ADD(k->r->f.scratch, &k->stack, node);
}

bool tf_in_frame(tf_reader *r, tf_scope *s, uint32_t node)
{
    search k = {.r = r, .s = s};
    k.seen = arena_alloc(r->f.scratch, s->g->nodes.n);
    if (!k.seen)
        return false;
    look_further(&k, node);
    while (k.stack.n > 0 && ++r->n_looks < TF_MAX_LOOKS) {
        uint32_t at = k.stack.items[--k.stack.n];
        const tf_node *n = &s->g->nodes.items[at];
        if (n->row && n->row->pass == TF_ENTER)
            return true;
        for (uint32_t i = 0; i < n->n_in && !(n->row && n->row->map == tf_exit); i++)
            look_further(&k, n->in[i].node);
    }
    return false;
}

static tf_ref alive_input(tf_reader *r, tf_ref merge, int depth, bool *decided);

/* The other branch of a Switch whose condition is constant. */
static bool is_dead_switch(search *k, tf_in in, bool *constant)
{
    const tf_node *n = &k->s->g->nodes.items[in.node];
    int64_t v;
    *constant = n->n_in == 2 && tf_fold_ref(k->r, (tf_ref){k->s, n->in[1].node, n->in[1].out}, &v);
    return *constant && in.out < 2 && (in.out == 1) != (v != 0);
}

/* An edge to an input: whether it comes from a dead branch. */
static bool is_dead_edge(search *k, tf_in in, bool *decided)
{
    const tf_graph *g = k->s->g;
    bool constant, inner = false;
    if (k->s->slots[in.node].state == TF_DONE)
        return false;
    if (has_op(g, in.node, "Switch")) {
        bool dead = is_dead_switch(k, in, &constant);
        *decided = *decided || constant;
        if (dead)
            return true;
        return !look_further(k, in.node);
    }
    if (has_op(g, in.node, "Merge")) {
        if (k->depth > 12)
            return false;
        tf_ref alive = alive_input(k->r, (tf_ref){k->s, in.node, 0}, k->depth + 1, &inner);
        if (inner && !alive.s)
            return true;
        return alive.s && alive.s == k->s && alive.node != TF_NONE && !look_further(k, alive.node);
    }
    if (has_op(g, in.node, "Exit") || has_op(g, in.node, "Enter"))
        return false;
    return !look_further(k, in.node);
}

static int state_of(tf_reader *r, tf_scope *s, tf_in from, int depth)
{
    search k = {.r = r, .s = s, .depth = depth};
    bool decided = false;
    k.seen = arena_alloc(r->f.scratch, s->g->nodes.n);
    if (!k.seen)
        return UNDECIDED;
    if (is_dead_edge(&k, from, &decided))
        return DEAD;
    while (k.stack.n > 0 && ++r->n_looks < TF_MAX_LOOKS) {
        const tf_node *n = &s->g->nodes.items[k.stack.items[--k.stack.n]];
        uint32_t data = str_is(n->op, "Switch") ? 1 : n->n_in; /* the condition is no branch */
        for (uint32_t i = 0; i < data && i < n->n_in; i++)
            if (is_dead_edge(&k, n->in[i], &decided))
                return DEAD;
        for (uint32_t i = 0; i < n->n_after; i++)
            if (n->after[i] != TF_NONE && is_dead_edge(&k, (tf_in){n->after[i], 0}, &decided))
                return DEAD;
    }
    return decided ? ALIVE : UNDECIDED;
}

/* decided and s NULL: all inputs are dead. */
static tf_ref alive_input(tf_reader *r, tf_ref merge, int depth, bool *decided)
{
    const tf_node *n = node_of(merge);
    uint32_t dead = 0, other = TF_NONE;
    *decided = false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (has_op(merge.s->g, n->in[i].node, "NextIteration"))
            return (tf_ref){.s = NULL};
        if (state_of(r, merge.s, n->in[i], depth) == DEAD)
            dead++;
        else
            other = i;
    }
    *decided = dead == n->n_in;
    return dead > 0 && dead + 1 == n->n_in ? tf_input(merge.s, merge.node, other)
                                           : (tf_ref){.s = NULL};
}

/* Kept in the slot, because it is asked for at each use. */
tf_ref tf_alive(tf_reader *r, tf_ref merge)
{
    bool decided;
    tf_ref alive = alive_input(r, merge, 0, &decided);
    if (alive.s)
        merge.s->slots[merge.node].to = alive;
    return alive;
}

/* ---- branches with a computed condition ---- */

/* The condition of the nearest Switch that a node needs; which branch in *out. */
static bool nearest_switch(tf_reader *r, tf_scope *s, tf_in from, tf_in *found)
{
    search k = {.r = r, .s = s};
    k.seen = arena_alloc(r->f.scratch, s->g->nodes.n);
    if (!k.seen)
        return false;
    *found = from;
    if (has_op(s->g, from.node, "Switch"))
        return true;
    look_further(&k, from.node);
    while (k.stack.n > 0 && ++r->n_looks < TF_MAX_LOOKS) {
        const tf_node *n = &s->g->nodes.items[k.stack.items[--k.stack.n]];
        for (uint32_t i = 0; i < n->n_in + n->n_after; i++) {
            tf_in in = i < n->n_in ? n->in[i] : (tf_in){n->after[i - n->n_in], 0};
            *found = in;
            if (has_op(s->g, in.node, "Switch"))
                return true;
            if (in.node != TF_NONE && !has_op(s->g, in.node, "Merge"))
                look_further(&k, in.node);
        }
    }
    return false;
}

static bool same_ref(tf_ref a, tf_ref b)
{
    return a.s == b.s && a.node == b.node && a.out == b.out;
}

/* A walk with a stack of its own: 1 depends, 2 does not, 3 is open. */
bool tf_depends(tf_reader *r, tf_scope *s, uint32_t node)
{
    VEC(uint32_t) stack = {0};
    const tf_graph *g = s->g;
    VEC_ADD(r->f.scratch, &stack, node);
    while (stack.n > 0 && !s->depends[node] && ++r->n_looks < TF_MAX_LOOKS) {
        uint32_t at = stack.items[stack.n - 1];
        const tf_node *n = &g->nodes.items[at];
        uint8_t state = 2;
        bool waits = false;
        tf_ref pred = tf_resolve(r, tf_input(s->outer, at, 1));
        if (has_op(g, at, "Switch") && same_ref(pred, s->condition))
            state = 1;
        for (uint32_t i = 0; i < n->n_in + n->n_after && state == 2; i++) {
            uint32_t in = i < n->n_in ? n->in[i].node : n->after[i - n->n_in];
            if (in == TF_NONE || has_op(g, in, "NextIteration"))
                continue;
            if (s->depends[in] == 1)
                state = 1;
            else if (s->depends[in] == 0) {
                s->depends[in] = 3;
                waits = VEC_ADD(r->f.scratch, &stack, in);
            }
        }
        if (state == 1 || !waits) {
            s->depends[at] = state;
            stack.n--;
        }
    }
    return s->depends[node] != 2;
}

static bool read_branch(tf_op *o, uint32_t in, tf_ref condition, ir_id *graph)
{
    tf_reader *r = o->r;
    ir_id outer = r->f.graph;
    tf_scope *s = o->s->loops < TF_MAX_LOOPS ? tf_scope_new(r, o->s->g, o->s, o->s->prefix) : NULL;
    if (!s)
        return false;
    s->depends = arena_alloc(r->f.scratch, s->g->nodes.n);
    s->condition = condition;
    s->loops++;
    *graph = s->graph = r->f.graph = ir_add_graph(r->f.m, o->l.name, outer);
    tf_ref ref = {s, o->n->in[in].node, o->n->in[in].out};
    bool made = s->depends && *graph != IR_NONE && tf_build(r, &ref, 1) == ASSAY_OK &&
                layer_result(&r->f, *graph, tf_use(r, ref));
    r->f.graph = outer;
    return made;
}

bool tf_merge(tf_op *o)
{
    tf_reader *r = o->r;
    tf_in from[2];
    ir_id graphs[2];
    if (o->n->n_in != 2 || !nearest_switch(r, o->s, o->n->in[0], &from[0]) ||
        !nearest_switch(r, o->s, o->n->in[1], &from[1]) || from[0].out + from[1].out != 1)
        return false;
    tf_ref condition = tf_resolve(r, tf_input(o->s, from[0].node, 1));
    if (!condition.s || !same_ref(condition, tf_resolve(r, tf_input(o->s, from[1].node, 1))) ||
        tf_build(r, &condition, 1) != ASSAY_OK)
        return false;
    uint32_t then_in = from[0].out == 1 ? 0 : 1;
    ir_id cond = tf_use(r, condition);
    if (cond == IR_NONE || !read_branch(o, then_in, condition, &graphs[0]) ||
        !read_branch(o, 1 - then_in, condition, &graphs[1]))
        return false;
    ir_id node = layer_node_of(&o->l, NULL, "If", &cond, 1, NULL, 1);
    return node != IR_NONE && foreign_attach_graph(&r->f, node, "then_branch", graphs[0]) &&
           foreign_attach_graph(&r->f, node, "else_branch", graphs[1]);
}
