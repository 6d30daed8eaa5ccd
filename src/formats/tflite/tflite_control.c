/* Operators of TFLite that run subgraphs: WHILE becomes Loop, IF becomes If, CALL and composites are inlined.
 *
 * A WHILE has a subgraph for its condition. Where that compares a counter (a constant at first, to which the body adds a
 * constant) with a limit that the body does not change, the number of trips is known: it becomes the limit M of the Loop.
 * Several such comparisons joined by AND give the least. Otherwise the condition is computed before the loop and at the
 * end of its body, as in ONNX, and the analysis says what it assumes. */
#include "base/num.h"
#include "formats/tflite/tflite_impl.h"

enum { CODE_ADD = 0, CODE_LESS = 58, CODE_AND = 86 };

/* ---- operators as the file has them ---- */

typedef struct raw_op {
    uint32_t code;
    const tfl_builtin *row; /* of a custom operator; NULL: none */
    flat_vector in, out;
} raw_op;

static raw_op raw_at(tfl_reader *r, const tfl_subgraph *s, uint32_t i)
{
    flat_table t = flat_table_at(r->flat, s->operators, i);
    uint64_t code = flat_u32(r->flat, t, 0, 0);
    bool known = code < r->n_codes;
    return (raw_op){.code = known ? r->codes[code].builtin : UINT32_MAX,
                    .row = known && r->codes[code].builtin == TFL_CUSTOM
                               ? tfl_custom_of(r->codes[code].custom)
                               : NULL,
                    .in = flat_list(r->flat, t, 1, 4),
                    .out = flat_list(r->flat, t, 2, 4)};
}

/* The operator that makes a tensor. */
static bool find_maker(tfl_reader *r, const tfl_subgraph *s, int64_t tensor, raw_op *op)
{
    for (uint32_t i = 0; i < s->operators.n && !r->flat->failed; i++) {
        *op = raw_at(r, s, i);
        for (uint32_t k = 0; k < op->out.n; k++)
            if (flat_i32_at(r->flat, op->out, k) == tensor)
                return true;
    }
    return false;
}

/* The place of a tensor among the inputs of its subgraph; -1: it is none. */
static int64_t place_of(tfl_reader *r, flat_vector list, int64_t tensor)
{
    for (uint32_t i = 0; i < list.n; i++)
        if (flat_i32_at(r->flat, list, i) == tensor)
            return i;
    return -1;
}

static const tfl_tensor *tensor_at(const tfl_subgraph *s, int64_t i)
{
    return i >= 0 && i < s->n_tensors ? &s->tensors[i] : NULL;
}

static bool constant_of(tfl_reader *r, const tfl_subgraph *s, int64_t i, int64_t *v)
{
    const tfl_tensor *t = tensor_at(s, i);
    return t && tfl_first_int(r, t, v);
}

/* ---- trips ---- */

/* An item in each trip: at the place of the trip, or always at the same place, so that the last one stays. */
enum { COLLECTS_NONE, COLLECTS_ALL, COLLECTS_LAST };

typedef struct while_loop {
    tfl_op *o;
    tfl_subgraph *cond, *body;
    uint8_t *collects; /* [n_in] how the body fills a TensorList */
    int64_t trips;     /* the least that is known as a number; -1: none is */
    ir_id limit;       /* a limit that the graph computes; IR_NONE: there is none */
} while_loop;

/* What the body adds to variable `place` in a trip; 0: something else. */
static int64_t step_of(while_loop *w, int64_t place)
{
    tfl_reader *r = w->o->r;
    raw_op op;
    int64_t by = 0;
    if (place >= w->body->outputs.n || place >= w->body->inputs.n)
        return 0;
    int64_t in = flat_i32_at(r->flat, w->body->inputs, (uint32_t)place);
    int64_t out = flat_i32_at(r->flat, w->body->outputs, (uint32_t)place);
    if (!find_maker(r, w->body, out, &op) || op.code != CODE_ADD || op.in.n != 2)
        return 0;
    int64_t a = flat_i32_at(r->flat, op.in, 0), b = flat_i32_at(r->flat, op.in, 1);
    int64_t other = a == in ? b : b == in ? a : -1;
    return constant_of(r, w->body, other, &by) && by > 0 ? by : 0;
}

static bool is_unchanged(while_loop *w, int64_t place)
{
    tfl_reader *r = w->o->r;
    return place < w->body->outputs.n && place < w->body->inputs.n &&
           flat_i32_at(r->flat, w->body->inputs, (uint32_t)place) ==
               flat_i32_at(r->flat, w->body->outputs, (uint32_t)place);
}

/* counter < limit, both tensors of the condition's subgraph. */
static bool take_comparison(while_loop *w, int64_t counter, int64_t limit)
{
    tfl_reader *r = w->o->r;
    int64_t at = place_of(r, w->cond->inputs, counter), by, start, end, n;
    int64_t limit_at = place_of(r, w->cond->inputs, limit);
    if (at < 0 || at >= w->o->n_in || (by = step_of(w, at)) == 0 ||
        !constant_of(r, w->o->scope->sub, w->o->in_at[at], &start))
        return false;
    bool carried = limit_at >= 0 && limit_at < w->o->n_in && is_unchanged(w, limit_at);
    bool known = carried ? constant_of(r, w->o->scope->sub, w->o->in_at[limit_at], &end)
                         : limit_at < 0 && constant_of(r, w->cond, limit, &end);
    if (known && num_sub(end, start, &n)) {
        n = n <= 0 ? 0 : n / by + (n % by != 0);
        w->trips = w->trips < 0 || n < w->trips ? n : w->trips;
        return true;
    }
    if (!carried || start != 0 || by != 1 || w->limit != IR_NONE)
        return false;
    w->limit = w->o->in[limit_at];
    return true;
}

/* Whether all that ends the loop is counted. */
static bool take_condition(while_loop *w, int64_t tensor, int depth)
{
    tfl_reader *r = w->o->r;
    raw_op op;
    if (depth > 4 || !find_maker(r, w->cond, tensor, &op) || op.in.n != 2)
        return false;
    int64_t a = flat_i32_at(r->flat, op.in, 0), b = flat_i32_at(r->flat, op.in, 1);
    if (op.code == CODE_LESS)
        return take_comparison(w, a, b);
    return op.code == CODE_AND && take_condition(w, a, depth + 1) &&
           take_condition(w, b, depth + 1);
}

static ir_id trip_limit(while_loop *w)
{
    ir_attr_spec wide[] = {IR_SPEC_INT("to", IR_INT64), TFL_END};
    ir_id known = w->trips < 0
                      ? IR_NONE
                      : foreign_number(w->o->f, w->o->name, "trips", IR_INT64, (double)w->trips);
    if (w->limit == IR_NONE)
        return known;
    ir_id found = tfl_step(w->o, "Cast", &w->limit, 1, wide), both[] = {found, known};
    return known == IR_NONE ? found : tfl_step(w->o, "Min", both, 2, NULL);
}

/* ---- subgraphs ---- */

/* Makes a value, or the item of a list that a loop collects, an output of this graph, and only once. */
static assay_status scope_output(tfl_reader *r, ir_id id, ir_id graph)
{
    const tfl_list *l = tfl_list_of(r, id);
    if (l && l->kind == TFL_LIST_COLLECTED)
        id = l->value;
    if (id == IR_NONE)
        return r->flat->failed ? flat_status(r->flat) : err_no_memory(r->f.err);
    ir_id own = foreign_inner_like(&r->f, ir_value_at(r->f.m, id)->name, "output", id);
    if (own == IR_NONE)
        return err_no_memory(r->f.err);
    foreign_unary(&r->f, "Identity", ir_value_at(r->f.m, own)->name, id, own);
    return ir_add_output(r->f.m, graph, own) ? ASSAY_OK : err_no_memory(r->f.err);
}

/* The outputs of a scope whose operators were read: those that have a mark or not; marks NULL: all. */
static assay_status scope_outputs(tfl_reader *r, tfl_scope *s, ir_id graph, const uint8_t *marks,
                                  bool marked)
{
    for (uint32_t i = 0; i < s->sub->outputs.n; i++)
        if (!marks || (marks[i] != 0) == marked)
            TRY(scope_output(r, tfl_use(r, s, flat_i32_at(r->flat, s->sub->outputs, i)), graph));
    return flat_status(r->flat);
}

/* Gives the inputs of a subgraph the values `in`. */
static void bind_inputs(tfl_reader *r, tfl_scope *s, const ir_id *in, uint32_t n)
{
    for (uint32_t i = 0; i < s->sub->inputs.n && i < n; i++) {
        int64_t at = flat_i32_at(r->flat, s->sub->inputs, i);
        if (at >= 0 && at < s->sub->n_tensors)
            s->values[at] = in[i];
    }
}

/* Reads a subgraph of the given inputs into f.graph. */
static assay_status inline_subgraph(tfl_op *o, uint64_t at, const ir_id *in, uint32_t n,
                                    tfl_scope *s)
{
    assay_status status;
    if (!tfl_scope_open(o->r, at, o->scope, s, &status))
        return status;
    bind_inputs(o->r, s, in, n);
    o->r->depth++;
    status = tfl_read_operators(o->r, s);
    o->r->depth--;
    return status;
}

/* ---- WHILE ---- */

static ir_id formal(tfl_reader *r, const char *name, ir_dtype t, ir_id graph)
{
    ir_id id = foreign_value(&r->f, str_of(name), t, 0, NULL);
    return id != IR_NONE && ir_add_input(r->f.m, graph, id) ? id : IR_NONE;
}

/* cond_out of the body: what came in, or the condition of the new values. */
static assay_status add_condition(while_loop *w, const ir_id *in, uint32_t n, ir_id *cond)
{
    tfl_scope s;
    uint64_t at = (uint64_t)(w->cond - w->o->r->subgraphs);
    TRY(inline_subgraph(w->o, at, in, n, &s));
    *cond = s.sub->outputs.n ? tfl_use(w->o->r, &s, flat_i32_at(w->o->r->flat, s.sub->outputs, 0))
                             : IR_NONE;
    return *cond == IR_NONE ? err_no_memory(w->o->f->err) : ASSAY_OK;
}

static assay_status body_inputs(while_loop *w, tfl_scope *s, ir_id graph)
{
    tfl_reader *r = w->o->r;
    for (uint32_t i = 0; i < s->sub->inputs.n; i++) {
        int64_t at = flat_i32_at(r->flat, s->sub->inputs, i);
        ir_id id = at >= 0 && at < s->sub->n_tensors ? tfl_define(r, s, at, false) : IR_NONE;
        bool ok = id != IR_NONE && (w->collects[i] ? tfl_set_list(r, id, TFL_LIST_EMPTY, IR_NONE)
                                                   : ir_add_input(r->f.m, graph, id));
        if (!ok)
            return r->flat->failed ? flat_status(r->flat) : err_no_memory(r->f.err);
    }
    return ASSAY_OK;
}

static assay_status body_condition(while_loop *w, tfl_scope *s, ir_id in, bool counted, ir_id graph)
{
    tfl_reader *r = w->o->r;
    ir_id out = in, *next = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)s->sub->outputs.n + 1);
    TRY_MEMORY(next, r->f.err);
    for (uint32_t i = 0; i < s->sub->outputs.n; i++)
        next[i] = tfl_use(r, s, flat_i32_at(r->flat, s->sub->outputs, i));
    if (!counted)
        TRY(add_condition(w, next, s->sub->outputs.n, &out));
    ir_id own = foreign_inner(&r->f, w->o->name, "condition");
    foreign_unary(&r->f, "Identity", w->o->name, out, own);
    return own != IR_NONE && ir_add_output(r->f.m, graph, own) ? ASSAY_OK : err_no_memory(r->f.err);
}

static assay_status read_body(while_loop *w, bool counted, ir_id graph)
{
    tfl_reader *r = w->o->r;
    tfl_scope s;
    assay_status status;
    if (!tfl_scope_open(r, (uint64_t)(w->body - r->subgraphs), w->o->scope, &s, &status))
        return status;
    formal(r, "iteration", IR_INT64, graph);
    ir_id cond = formal(r, "condition", IR_BOOL, graph);
    TRY(body_inputs(w, &s, graph));
    r->depth++;
    status = tfl_read_operators(r, &s);
    r->depth--;
    TRY(status);
    TRY(body_condition(w, &s, cond, counted, graph));
    TRY(scope_outputs(r, &s, graph, w->collects, false));
    return scope_outputs(r, &s, graph, w->collects, true);
}

/* The SetItem by which the body fills variable `at`, an empty list; false: it does something else with it. */
static bool find_set_item(while_loop *w, uint32_t at, raw_op *op)
{
    tfl_reader *r = w->o->r;
    const tfl_list *l = tfl_list_of(r, w->o->in[at]);
    return l && l->kind == TFL_LIST_EMPTY &&
           find_maker(r, w->body, flat_i32_at(r->flat, w->body->outputs, at), op) && op->row &&
           op->row->map == tfl_list_set && op->in.n == 3 &&
           flat_i32_at(r->flat, op->in, 0) == flat_i32_at(r->flat, w->body->inputs, at);
}

static uint8_t collects_of(while_loop *w, uint32_t at)
{
    tfl_reader *r = w->o->r;
    raw_op op;
    int64_t n;
    if (!find_set_item(w, at, &op))
        return COLLECTS_NONE;
    int64_t index = flat_i32_at(r->flat, op.in, 1), place = place_of(r, w->body->inputs, index);
    if (constant_of(r, w->body, index, &n) || (place >= 0 && is_unchanged(w, place)))
        return COLLECTS_LAST;
    return place >= 0 && step_of(w, place) == 1 ? COLLECTS_ALL : COLLECTS_NONE;
}

static assay_status open_loop(while_loop *w, bool *fits)
{
    tfl_op *o = w->o;
    uint64_t cond = flat_u32(o->r->flat, o->options, 0, UINT32_MAX);
    uint64_t body = flat_u32(o->r->flat, o->options, 1, UINT32_MAX);
    *fits = cond < o->r->n_subgraphs && body < o->r->n_subgraphs;
    if (!*fits)
        return flat_status(o->r->flat);
    w->cond = &o->r->subgraphs[cond];
    w->body = &o->r->subgraphs[body];
    TRY(tfl_read_tensors(o->r, w->cond));
    TRY(tfl_read_tensors(o->r, w->body));
    *fits = w->body->inputs.n == o->n_in && w->body->outputs.n == o->n_in && o->n_out == o->n_in &&
            w->cond->outputs.n == 1 && o->n_in > 0;
    w->collects = ARENA_ARRAY(o->f->scratch, uint8_t, (size_t)o->n_in + 1);
    TRY_MEMORY(w->collects, o->f->err);
    for (uint32_t i = 0; i < o->n_in && *fits; i++) {
        *fits = o->in[i] != IR_NONE;
        w->collects[i] = *fits ? collects_of(w, i) : COLLECTS_NONE;
    }
    return flat_status(o->r->flat);
}

/* What the Loop collects is the whole list, or its last item is all that the list holds. */
static bool set_collected(while_loop *w)
{
    static const int64_t last = -1;
    tfl_op *o = w->o;
    for (uint32_t i = 0; i < o->n_in; i++) {
        const tfl_list *l = tfl_list_of(o->r, o->out[i]);
        if (w->collects[i] != COLLECTS_LAST || !l)
            continue;
        ir_id in[] = {l->value, foreign_ints(o->f, o->name, "last", &last, 1)};
        if (!tfl_set_list(o->r, o->out[i], TFL_LIST_WHOLE, tfl_step(o, "Gather", in, 2, NULL)))
            return false;
    }
    return true;
}

/* The Loop with its carried values, and behind them the lists that it collects. */
static ir_id add_loop(while_loop *w, ir_id limit, ir_id condition)
{
    tfl_op *o = w->o;
    uint32_t n = 2, n_out = 0;
    ir_id *in = ARENA_ARRAY(o->f->scratch, ir_id, (size_t)o->n_in + 2);
    ir_id *out = ARENA_ARRAY(o->f->scratch, ir_id, (size_t)o->n_out + 1);
    if (!in || !out)
        return IR_NONE;
    in[0] = limit;
    in[1] = condition;
    for (uint32_t i = 0; i < o->n_in; i++)
        if (!w->collects[i]) {
            in[n++] = o->in[i];
            out[n_out++] = o->out[i];
        }
    for (uint32_t i = 0; i < o->n_in; i++)
        if (w->collects[i]) {
            out[n_out] = foreign_inner(o->f, o->name, "list");
            if (!tfl_set_list(o->r, o->out[i], TFL_LIST_WHOLE, out[n_out++]))
                return IR_NONE;
        }
    return foreign_add(
        o->f, &(foreign_node){
                  .op = "Loop", .name = o->name, .in = in, .n_in = n, .out = out, .n_out = n_out});
}

assay_status tfl_while(tfl_op *o, bool *mapped)
{
    while_loop w = {.o = o, .trips = -1, .limit = IR_NONE};
    bool fits;
    TRY(open_loop(&w, &fits));
    if (!fits)
        return ASSAY_OK;
    bool counted = take_condition(&w, flat_i32_at(o->r->flat, w.cond->outputs, 0), 0);
    ir_id limit = counted ? trip_limit(&w) : IR_NONE, condition = IR_NONE, outer = o->f->graph;
    if (!counted)
        TRY(add_condition(&w, o->in, o->n_in, &condition));
    ir_id body = o->f->graph = ir_add_graph(o->f->m, w.body->name, outer);
    assay_status status = body == IR_NONE ? err_no_memory(o->f->err) : read_body(&w, counted, body);
    o->f->graph = outer;
    TRY(status);
    ir_id node = add_loop(&w, limit, condition);
    *mapped = node != IR_NONE && foreign_attach_graph(o->f, node, "body", body) &&
              set_collected(&w);
    return *mapped ? ASSAY_OK : err_no_memory(o->f->err);
}

/* ---- IF, CALL ---- */

static assay_status read_branch(tfl_op *o, unsigned option, ir_id *graph)
{
    ir_id outer = o->f->graph;
    uint64_t at = flat_u32(o->r->flat, o->options, option, 0);
    tfl_scope s;
    *graph = o->f->graph = ir_add_graph(o->f->m, o->name, outer);
    assay_status status = *graph == IR_NONE ? err_no_memory(o->f->err)
                                            : inline_subgraph(o, at, o->in + 1, o->n_in - 1, &s);
    if (status == ASSAY_OK)
        status = scope_outputs(o->r, &s, *graph, NULL, false);
    o->f->graph = outer;
    return status;
}

assay_status tfl_if(tfl_op *o, bool *mapped)
{
    ir_id then_graph, else_graph;
    TRY(read_branch(o, 0, &then_graph));
    TRY(read_branch(o, 1, &else_graph));
    if (ir_graph_at(o->f->m, then_graph)->outputs.n != o->n_out ||
        ir_graph_at(o->f->m, else_graph)->outputs.n != o->n_out) {
        flat_fail(o->r->flat, o->options.at, "branches have different numbers of outputs");
        return flat_status(o->r->flat);
    }
    ir_id node = tfl_node(o, NULL, "If", o->in, 1, NULL);
    *mapped = node != IR_NONE && foreign_attach_graph(o->f, node, "then_branch", then_graph) &&
              foreign_attach_graph(o->f, node, "else_branch", else_graph);
    return *mapped ? ASSAY_OK : err_no_memory(o->f->err);
}

static assay_status call_subgraph(tfl_op *o, uint64_t at, bool *mapped)
{
    tfl_scope s;
    if (at >= o->r->n_subgraphs || o->r->subgraphs[at].outputs.n != o->n_out)
        return ASSAY_OK;
    TRY(inline_subgraph(o, at, o->in, o->n_in, &s));
    for (uint32_t i = 0; i < o->n_out; i++) {
        ir_id id = tfl_use(o->r, &s, flat_i32_at(o->r->flat, s.sub->outputs, i));
        if (id != IR_NONE && o->out[i] != IR_NONE)
            foreign_unary(o->f, "Identity", o->name, id, o->out[i]);
    }
    *mapped = true;
    return flat_status(o->r->flat);
}

assay_status tfl_call(tfl_op *o, bool *mapped)
{
    return call_subgraph(o, flat_u32(o->r->flat, o->options, 0, UINT32_MAX), mapped);
}

assay_status tfl_composite(tfl_op *o, bool *mapped)
{
    return call_subgraph(o, flat_u32(o->r->flat, o->options2, 1, UINT32_MAX), mapped);
}

/* It prepares variables when the model is loaded, and is no part of a run. */
assay_status tfl_call_once(tfl_op *o, bool *mapped)
{
    notes_add(&o->f->m->notes, "call-once", STR(""), NULL,
              "Subgraph %llu runs once when the model is loaded. It is not counted.",
              (unsigned long long)flat_u32(o->r->flat, o->options, 0, 0));
    *mapped = true;
    return ASSAY_OK;
}
