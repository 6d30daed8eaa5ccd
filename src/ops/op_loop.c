/* Loop: body(iteration, condition, carried...) -> condition, carried..., scan outputs...
 *
 * How many trips: the limit M when the body's condition always holds (inside the body the incoming
 * condition is true by definition, so Identity(cond) proves it); one when it never does. A
 * condition that depends on data is counted up to M, an assumption. Where M is not known, or the
 * condition may end the loop before it, the rows that the file declares for a scan output are taken
 * as the trips; without them and without a usable M, one trip is counted: assumptions too. Exporters
 * write "no limit" as INT64_MAX, so a limit of LIMIT_MAX or more is none.
 *
 * Carried shapes: the body is inferred with the initial shapes. When what comes out is not what
 * went in, the growth per trip is tried as linear: the body is inferred again with the sizes of
 * the last trip, and if the growth is the same there, the outputs are exact and the body is
 * counted at its largest. Otherwise what changes is made unknown until a pass is stable: never
 * silently wrong. Contents are followed only through a loop of a single trip; when the single trip
 * is an assumption, inside the body only.
 */
#include <assert.h>
#include <stdio.h>

#include "ops/op_util_info.h"

#define LIMIT_MAX INT32_MAX
/* Passes over a body multiply with every level: graphs nested deeper than the first settle no shapes, and
 * than the second infer a body once only. */
#define DEEPEST_SETTLED  2
#define DEEPEST_REPEATED 8

enum { ITERATION, CONDITION, FIRST_CARRIED };

typedef struct loop {
    ir_id body;
    uint32_t n_carried, n_in, n_out; /* n_in and n_out of the body */
    op_info *in, *out;
    int64_t limit; /* -1: none, or not known */
    bool limit_given;
    int64_t trips;
    bool blurred;  /* nothing but the types of the carried values could be followed */
    char why[400]; /* what was assumed; empty when nothing was */
} loop;

static void assume(loop *l, const char *reason)
{
    size_t used = strlen(l->why);
    snprintf(l->why + used, sizeof l->why - used, "%s%s", used ? "; " : "", reason);
}

static assay_status open_loop(op_ctx *c, loop *l)
{
    *l = (loop){.body = op_attr_graph(c, "body"), .limit = -1};
    if (l->body == IR_NONE)
        return op_fail(c, "no 'body' graph");
    const ir_graph *g = ir_graph_at(c->model, l->body);
    l->n_in = g->inputs.n;
    l->n_out = g->outputs.n;
    l->n_carried = c->n_in > 2 ? c->n_in - 2 : 0;
    if (l->n_in != l->n_carried + 2 || l->n_out != c->n_out + 1 || c->n_out < l->n_carried)
        return op_fail(c,
                       "its body has %u inputs and %u outputs; %u inputs and %u outputs of the "
                       "node require %u and %u",
                       l->n_in, l->n_out, c->n_in, c->n_out, l->n_carried + 2, c->n_out + 1);
    l->in = ARENA_ARRAY(c->arena, op_info, l->n_in);
    l->out = ARENA_ARRAY(c->arena, op_info, l->n_out);
    return l->in && l->out ? ASSAY_OK : err_no_memory(c->err);
}

static void read_limit(const op_ctx *c, loop *l)
{
    int64_t m;
    l->limit_given = op_has(c, 0);
    if (op_int_at(c, 0, 0, &m) && m < LIMIT_MAX)
        l->limit = m < 0 ? 0 : m;
}

/* What is known of the contents that a trip starts with. */
typedef enum contents {
    ANY_TRIP,      /* nothing: the trip stands for all */
    ASSUMED_FIRST, /* sizes and counters; floats would fold arithmetic that later trips must do */
    ONLY_TRIP,     /* everything */
} contents;

/* The counter or the condition of a trip: a scalar, or of one element where the body declares that. */
static op_info control_value(op_ctx *c, const loop *l, uint32_t formal, ir_dtype t, int64_t content)
{
    static const int64_t one = 1;
    ir_id id = ir_graph_at(c->model, l->body)->inputs.items[formal];
    op_info x = op_info_scalar(c, t, content);
    if (ir_value_at(c->model, id)->declared.rank > 0) {
        x.rank = 1;
        x.dims = &one;
    }
    return x;
}

/* The formal inputs of a trip with the initial values. */
static void feed(op_ctx *c, loop *l, contents known)
{
    assert(l->in);
    l->in[ITERATION] = control_value(c, l, ITERATION, IR_INT64, 0);
    l->in[CONDITION] = control_value(c, l, CONDITION, IR_BOOL, 1);
    if (known == ANY_TRIP)
        l->in[ITERATION].val = NULL;
    for (uint32_t k = 0; k < l->n_carried; k++) {
        op_info x = op_info_input(c, 2 + k);
        bool keep = known == ONLY_TRIP || (known == ASSUMED_FIRST && !ir_is_float(x.dtype));
        l->in[FIRST_CARRIED + k] = keep ? x : op_info_bare(&x);
    }
}

static assay_status run_trips(op_ctx *c, loop *l, assay_error *err)
{
    return op_info_run(c, l->body, l->in, l->n_in, l->out, l->n_out, err);
}

/* ---- trips ---- */

/* Rows of a scan output by the file's own declaration, which are the trips; -1 when it declares none. */
static int64_t declared_trips(const op_ctx *c, const loop *l)
{
    for (uint32_t o = l->n_carried; o < c->n_out; o++) {
        const ir_type *t = c->env->declared(c->env, c->node->outputs[o]);
        if (t && t->kind == IR_KIND_TENSOR && t->rank > 0 && t->dims[0].value > 0 &&
            t->dims[0].value < LIMIT_MAX)
            return t->dims[0].value;
    }
    return -1;
}

/* Where nothing in the graph tells the trips, or only their limit. */
static void guess_trips(const op_ctx *c, loop *l)
{
    int64_t declared = declared_trips(c, l);
    bool limited = l->limit >= 0;
    if (declared > 0 && (!limited || declared <= l->limit)) {
        l->trips = declared;
        assume(l, "the trip count is unknown; the declared rows of an output were used");
    } else {
        l->trips = limited ? l->limit : 1;
        assume(l, limited ? "the condition depends on data; all trips up to the limit were counted"
                          : "the trip count is unknown; one trip was counted");
    }
}

static void count_trips(op_ctx *c, loop *l)
{
    bool first = true, again = false;
    op_info cond = op_info_input(c, 1);
    bool first_known = !op_has(c, 1) || op_info_truth(&cond, &first);
    bool again_known = op_info_truth(&l->out[0], &again);
    if (!first_known)
        assume(l, "the initial condition is unknown; true was assumed");
    if (again_known && !again) {
        l->trips = 1;
        if (l->limit < 0 && l->limit_given)
            assume(l, "the trip limit is unknown; at least one trip was assumed");
    } else if (l->limit < 0 || (!again_known && l->limit > 1)) {
        guess_trips(c, l);
    } else {
        l->trips = l->limit;
    }
}

/* ---- carried shapes ---- */

/* x + times * (y - x) for one size; false when it shrinks, is unknown on one side, or overflows. */
static bool extend(int64_t x, int64_t y, int64_t times, int64_t *out)
{
    int64_t step;
    *out = x;
    if (x == y)
        return true;
    if (x < 0 || y < x)
        return false;
    return num_sub(y, x, &step) && num_mul(step, times, &step) && num_add(x, step, out);
}

/* What a carried value x, that one trip makes into y, is before the trip number `times`. */
static assay_status extend_info(op_ctx *c, const op_info *x, const op_info *y, int64_t times,
                                op_info *out, bool *linear)
{
    *linear = x->kind == y->kind && x->dtype == y->dtype && x->rank == y->rank;
    if (!*linear)
        return ASSAY_OK;
    op_info merged;
    TRY(op_info_merge(c, x, y, &merged));
    merged.val = NULL;
    *linear = extend(x->length, y->length, times, &merged.length);
    int64_t *dims = ARENA_ARRAY(c->arena, int64_t, x->rank > 0 ? (size_t)x->rank : 1);
    TRY_MEMORY(dims, c->err);
    for (int d = 0; d < x->rank; d++)
        *linear &= extend(x->dims[d], y->dims[d], times, &dims[d]);
    merged.dims = dims;
    *out = merged;
    return ASSAY_OK;
}

/* Whether y -> z is the same step as x -> w was: then w - x + y is z. */
static bool same_step(const op_info *x, const op_info *w, const op_info *y, const op_info *z)
{
    if (y->kind != z->kind || y->rank != z->rank || z->length - y->length != w->length - x->length)
        return false;
    for (int d = 0; d < y->rank; d++)
        if ((y->dims[d] < 0) != (z->dims[d] < 0) ||
            z->dims[d] - y->dims[d] != w->dims[d] - x->dims[d])
            return false;
    return true;
}

/* Whether the elements that a sequence gains are what those it had are. */
static assay_status same_elements(op_ctx *c, const op_info *in, const op_info *out, bool *same)
{
    op_info as_long = *out;
    as_long.length = in->length;
    as_long.rank = in->rank;
    as_long.dims = in->dims;
    return op_info_covers(c, in, &as_long, same);
}

static assay_status stable(op_ctx *c, const loop *l, bool *yes)
{
    *yes = true;
    for (uint32_t k = 0; *yes && k < l->n_carried; k++)
        TRY(op_info_covers(c, &l->in[FIRST_CARRIED + k], &l->out[1 + k], yes));
    return ASSAY_OK;
}

/* Tries the growth as linear; when *done, l holds the inputs and outputs of the last trip. */
static assay_status try_linear(op_ctx *c, loop *l, bool *done)
{
    *done = false;
    loop last = *l;
    last.in = ARENA_ARRAY(c->arena, op_info, l->n_in);
    last.out = ARENA_ARRAY(c->arena, op_info, l->n_out);
    TRY_MEMORY(last.in && last.out, c->err);
    memcpy(last.in, l->in, FIRST_CARRIED * sizeof *l->in);
    for (uint32_t k = 0; k < l->n_carried; k++) {
        bool linear;
        TRY(extend_info(c, &l->in[FIRST_CARRIED + k], &l->out[1 + k], l->trips - 1,
                        &last.in[FIRST_CARRIED + k], &linear));
        if (!linear)
            return ASSAY_OK;
    }
    assay_error ignored;
    err_clear(&ignored);
    if (run_trips(c, &last, &ignored) != ASSAY_OK)
        return ASSAY_OK;
    *done = true;
    for (uint32_t k = 0; *done && k < l->n_carried; k++) {
        const op_info *in = &last.in[FIRST_CARRIED + k], *out = &last.out[1 + k];
        TRY(same_elements(c, in, out, done));
        *done &= same_step(&l->in[FIRST_CARRIED + k], &l->out[1 + k], in, out);
    }
    if (*done)
        *l = last;
    return ASSAY_OK;
}

static op_info type_only(const op_info *x)
{
    return x->kind == IR_KIND_TENSOR ? op_info_tensor(x->dtype) : op_info_none();
}

/* Makes unknown what differs between input and output of a carried value: its sizes at first, and
 * all but its type when that was not enough. */
static assay_status widen(op_ctx *c, loop *l, bool all)
{
    for (uint32_t k = 0; k < l->n_carried; k++) {
        op_info *in = &l->in[FIRST_CARRIED + k];
        bool covered;
        TRY(op_info_covers(c, in, &l->out[1 + k], &covered));
        if (covered)
            continue;
        TRY(op_info_merge(c, in, &l->out[1 + k], in));
        in->val = NULL;
        if (all)
            *in = type_only(in);
    }
    return ASSAY_OK;
}

static uint32_t depth_of(const op_ctx *c)
{
    uint32_t depth = 0;
    for (ir_id g = c->node->graph; g != IR_NONE && depth <= DEEPEST_REPEATED; depth++)
        g = ir_graph_at(c->model, g)->parent;
    return depth ? depth - 1 : 0;
}

static assay_status settle(op_ctx *c, loop *l)
{
    bool done;
    TRY(stable(c, l, &done));
    if (done)
        return ASSAY_OK;
    if (depth_of(c) >= DEEPEST_SETTLED) {
        assume(l, "a carried shape changes between trips; the shapes of the first trip were used");
        l->blurred = true;
        return ASSAY_OK;
    }
    TRY(try_linear(c, l, &done));
    if (done) {
        assume(l, "a carried value grows with every trip; the shapes of the last trip were used");
        return ASSAY_OK;
    }
    assume(l, "a carried shape changes between trips; it was treated as unknown");
    for (int pass = 0; !done && pass < 2; pass++) {
        TRY(widen(c, l, pass > 0));
        TRY(run_trips(c, l, c->err));
        TRY(stable(c, l, &done));
    }
    l->blurred = !done;
    return ASSAY_OK;
}

/* ---- outputs ---- */

static assay_status put_scan_output(op_ctx *c, const loop *l, uint32_t o)
{
    op_info stacked;
    TRY(op_info_add_axis(c, &l->out[1 + o], 0, l->trips, &stacked));
    op_info_put(c, o, &stacked);
    return ASSAY_OK;
}

static void put_carried(op_ctx *c, const loop *l, uint32_t o)
{
    op_info x = l->trips == 1 && !*l->why ? l->out[1 + o] : op_info_bare(&l->out[1 + o]);
    if (l->blurred)
        x = type_only(&x);
    op_info_put(c, o, &x);
}

static assay_status put_outputs(op_ctx *c, const loop *l)
{
    for (uint32_t o = 0; o < l->n_carried; o++)
        put_carried(c, l, o);
    for (uint32_t o = l->n_carried; o < c->n_out; o++)
        TRY(put_scan_output(c, l, o));
    c->env->times(c->env, l->body, (uint64_t)l->trips);
    if (*l->why)
        op_assume(c, "%s", l->why);
    return ASSAY_OK;
}

/* No trip at all: the initial values pass through and every scan output is empty. */
static assay_status skip_loop(op_ctx *c, loop *l)
{
    assay_error ignored;
    err_clear(&ignored);
    feed(c, l, ANY_TRIP);
    assay_status status = run_trips(c, l, &ignored);
    if (status != ASSAY_OK && status != ASSAY_ERR_UNSUPPORTED) {
        if (c->err)
            *c->err = ignored;
        return status;
    }
    c->env->times(c->env, l->body, 0);
    l->trips = 0;
    for (uint32_t o = 0; o < c->n_out; o++) {
        op_info x = o < l->n_carried ? op_info_input(c, 2 + o) : op_info_tensor(IR_UNDEFINED);
        if (o >= l->n_carried && status == ASSAY_OK)
            TRY(put_scan_output(c, l, o));
        else
            op_info_put(c, o, &x);
    }
    return ASSAY_OK;
}

static assay_status infer_loop(op_ctx *c)
{
    loop l;
    TRY(open_loop(c, &l));
    read_limit(c, &l);
    bool start = true;
    op_info cond = op_info_input(c, 1);
    if (l.limit == 0 || (op_info_truth(&cond, &start) && !start))
        return skip_loop(c, &l);
    feed(c, &l, l.limit == 1 ? ONLY_TRIP : ANY_TRIP);
    TRY(run_trips(c, &l, c->err));
    count_trips(c, &l);
    if (l.trips == 1 && l.limit != 1 && depth_of(c) < DEEPEST_REPEATED) {
        feed(c, &l, *l.why ? ASSUMED_FIRST : ONLY_TRIP);
        TRY(run_trips(c, &l, c->err));
    } else if (l.trips > 1) {
        TRY(settle(c, &l));
    }
    return put_outputs(c, &l);
}

static const op_row rows[] = {
    {OP_ROW(
         "", "Loop", "loop", "1,11,13,16,19,21,23,24,25",
         "the body's cost * trips (the limit M, else the declared rows of a scan output, else 1)",
         infer_loop, op_cost_free),
     OP_SLOTS(2, 255, 1, 255), .aux = 3, .flags = OPF_CONTROL | OPF_NO_SHAPES},
};

const op_rows op_loop_rows = OP_ROWS(rows);
