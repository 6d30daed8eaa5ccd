/* TensorIterator, Loop and If of OpenVINO as Loop and If of ONNX.
 *
 * A port_map binds outer ports to Parameters and Results of the body; a back edge carries a Result to a Parameter of the
 * next iteration. What is neither sliced nor carried is read from the outer graph. A sliced input is one index of its
 * axis per iteration; a joined output is a scan output, turned and reshaped behind the loop.
 */
#include "formats/openvino/openvino_impl.h"

typedef struct ov_loop_state {
    ov_op *o;
    ov_net *body;
    ir_id graph, outer; /* of the body; around it */
    ir_id iteration, condition;
    const ov_mapping *conditional; /* the Result that says whether it goes on; or NULL */
    VEC(ir_id) in;
    VEC(uint32_t) carried; /* mappings of inputs that a back edge feeds */
    VEC(uint32_t) scanned; /* mappings of outputs that are made by joining */
} ov_loop_state;

static assay_status out_of_memory(ov_op *o)
{
    return err_no_memory(o->r->f.err);
}

static ir_id outer_value(const ov_op *o, int64_t port)
{
    for (uint32_t i = 0; i < o->layer->in.n && port >= 0; i++)
        if (o->layer->in.items[i].id == (uint64_t)port)
            return o->l.in[i];
    return IR_NONE;
}

static const ov_port *outer_port(const ov_op *o, int64_t port)
{
    for (uint32_t i = 0; i < o->layer->in.n && port >= 0; i++)
        if (o->layer->in.items[i].id == (uint64_t)port)
            return &o->layer->in.items[i];
    return NULL;
}

/* The Result whose value a Parameter has in the next iteration; NULL: it is not carried. */
static ov_layer *carrier(const ov_op *o, ov_net *body, int64_t parameter)
{
    for (uint32_t i = 0; i < o->layer->maps.n; i++) {
        const ov_mapping *m = &o->layer->maps.items[i];
        if (m->back && m->to == parameter && m->layer >= 0)
            return ov_layer_of(body, (uint64_t)m->layer);
    }
    return NULL;
}

/* ---- trip counts ---- */

static int64_t sliced_trips(const ov_op *o, const ov_mapping *m)
{
    const ov_port *p = outer_port(o, m->external);
    int64_t axis = p && m->axis < 0 ? m->axis + p->rank : m->axis;
    if (!p || axis < 0 || axis >= p->rank || p->dims[axis] < 0 || m->part < 1)
        return -1;
    return p->dims[axis] / m->part;
}

/* The size of the axis that is sliced, as a value. */
static ir_id computed_trips(ov_op *o, const ov_mapping *m)
{
    ir_id x = outer_value(o, m->external);
    ir_id shape = layer_step(&o->l, "Shape", &x, 1, NULL);
    ir_id in[] = {shape, layer_number(&o->l, "axis", IR_INT64, (double)m->axis)};
    return layer_step(&o->l, "Gather", in, 2, NULL);
}

static ir_id iterator_trips(ov_op *o)
{
    for (uint32_t i = 0; i < o->layer->maps.n; i++) {
        const ov_mapping *m = &o->layer->maps.items[i];
        if (m->output || m->back || !m->sliced)
            continue;
        int64_t n = sliced_trips(o, m);
        return n >= 0 ? layer_number(&o->l, "trips", IR_INT64, (double)n) : computed_trips(o, m);
    }
    return IR_NONE;
}

static int64_t joined_trips(const ov_op *o)
{
    for (uint32_t i = 0; i < o->layer->maps.n; i++) {
        const ov_mapping *m = &o->layer->maps.items[i];
        for (uint32_t k = 0; m->output && m->sliced && k < o->layer->out.n; k++) {
            const ov_port *p = &o->layer->out.items[k];
            if ((int64_t)p->id == m->external && m->axis >= 0 && m->axis < p->rank)
                return p->dims[m->axis];
        }
    }
    return -1;
}

/* -1 is for ever. Without the .bin, a joined output tells. */
static ir_id loop_trips(ov_op *o)
{
    int64_t list[OV_LIST];
    if (ov_const_ints(o, 0, list) == 1)
        return list[0] < 0 ? IR_NONE : layer_number(&o->l, "trips", IR_INT64, (double)list[0]);
    if (!ov_constant(o, 0))
        return layer_input(&o->l, 0);
    ov_guessed(o);
    int64_t n = joined_trips(o);
    return n < 0 ? IR_NONE : layer_number(&o->l, "trips", IR_INT64, (double)n);
}

/* ---- the inputs of the body ---- */

/* iteration * stride + start, as a list of one. */
static ir_id slice_index(ov_loop_state *s, const ov_mapping *m)
{
    static const int64_t one = 1;
    const foreign_layer *l = &s->o->l;
    ir_id at = s->iteration;
    if (m->stride != 1) {
        ir_id in[] = {at, layer_number(l, "stride", IR_INT64, (double)m->stride)};
        at = layer_step(l, "Mul", in, 2, NULL);
    }
    if (m->start != 0) {
        ir_id in[] = {at, layer_number(l, "start", IR_INT64, (double)m->start)};
        at = layer_step(l, "Add", in, 2, NULL);
    }
    return layer_step_reshape(l, at, &one, 1);
}

static ir_id sliced_input(ov_loop_state *s, const ov_mapping *m)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", m->axis), LAYER_END};
    ir_id in[] = {outer_value(s->o, m->external), slice_index(s, m)};
    return in[0] == IR_NONE ? IR_NONE : layer_step(&s->o->l, "Gather", in, 2, attrs);
}

static ir_id iteration_input(ov_loop_state *s, const ov_layer *p)
{
    static const int64_t one = 1;
    const foreign_layer *l = &s->o->l;
    ir_id at = s->iteration;
    ir_attr_spec to[] = {IR_SPEC_INT("to", p->out.items[0].dtype), LAYER_END};
    if (p->out.items[0].dtype != IR_INT64 && p->out.items[0].dtype != IR_UNDEFINED)
        at = layer_step(l, "Cast", &at, 1, to);
    return p->out.items[0].rank == 1 ? layer_step_reshape(l, at, &one, 1) : at;
}

static bool carried_input(ov_loop_state *s, uint32_t at, ov_layer *p)
{
    const ov_port *port = &p->out.items[0];
    foreign *f = s->o->l.f;
    p->made[0] = foreign_value(f, p->name, port->dtype, port->rank, port->dims);
    ir_id first = outer_value(s->o, s->o->layer->maps.items[at].external);
    return p->made[0] != IR_NONE && first != IR_NONE && ir_add_input(f->m, s->graph, p->made[0]) &&
           VEC_ADD(f->scratch, &s->in, first) && VEC_ADD(f->scratch, &s->carried, at);
}

/* A Result that is the Parameter itself: the value never changes. */
static bool is_carried(const ov_loop_state *s, int64_t parameter)
{
    const ov_layer *c = carrier(s->o, s->body, parameter);
    if (!c)
        return false;
    bool fed = c->in.n && c->from[0].layer != UINT32_MAX;
    return !fed || s->body->layers.items[c->from[0].layer].id != (uint64_t)parameter;
}

static bool bind_input(ov_loop_state *s, uint32_t at)
{
    const ov_mapping *m = &s->o->layer->maps.items[at];
    ov_layer *p = m->layer < 0 ? NULL : ov_layer_of(s->body, (uint64_t)m->layer);
    if (!p || p->out.n != 1)
        return false;
    if (m->is_iteration)
        p->made[0] = iteration_input(s, p);
    else if (m->sliced && m->part != 1)
        return false;
    else if (m->sliced)
        p->made[0] = sliced_input(s, m);
    else if (is_carried(s, m->layer))
        return carried_input(s, at, p);
    else
        p->made[0] = outer_value(s->o, m->external);
    return p->made[0] != IR_NONE;
}

/* ---- its outputs ---- */

static ir_id result_value(ov_loop_state *s, int64_t layer)
{
    ov_layer *l = layer < 0 ? NULL : ov_layer_of(s->body, (uint64_t)layer);
    return l ? ov_use(s->o->r, s->body, l, 0) : IR_NONE;
}

/* A condition that is a constant of the body goes on as it came in: the trip count ends the loop. */
static bool condition_result(ov_loop_state *s)
{
    ov_layer *l = s->conditional && s->conditional->layer >= 0
                      ? ov_layer_of(s->body, (uint64_t)s->conditional->layer)
                      : NULL;
    ir_id id = s->condition;
    if (l && l->in.n && l->from[0].layer != UINT32_MAX) {
        const ov_layer *from = &s->body->layers.items[l->from[0].layer];
        if (!str_is(from->type, "Const") && !str_is(from->type, "Parameter"))
            id = ov_use(s->o->r, s->body, l, 0);
    }
    return layer_result(s->o->l.f, s->graph, id);
}

static bool body_results(ov_loop_state *s)
{
    const ov_layer *layer = s->o->layer;
    if (!condition_result(s))
        return false;
    for (uint32_t i = 0; i < s->carried.n; i++) {
        ov_layer *c = carrier(s->o, s->body, layer->maps.items[s->carried.items[i]].layer);
        if (!layer_result(s->o->l.f, s->graph, ov_use(s->o->r, s->body, c, 0)))
            return false;
    }
    for (uint32_t i = 0; i < s->scanned.n; i++)
        if (!layer_result(s->o->l.f, s->graph,
                          result_value(s, layer->maps.items[s->scanned.items[i]].layer)))
            return false;
    return true;
}

static uint32_t output_index(const ov_op *o, int64_t port)
{
    for (uint32_t i = 0; i < o->layer->out.n; i++)
        if (port >= 0 && o->layer->out.items[i].id == (uint64_t)port)
            return i;
    return UINT32_MAX;
}

/* Which carried value ends as this output; UINT32_MAX: none, it is the last of a scan. */
static uint32_t carried_index(const ov_loop_state *s, const ov_mapping *m)
{
    for (uint32_t i = 0; i < s->carried.n; i++) {
        const ov_mapping *in = &s->o->layer->maps.items[s->carried.items[i]];
        const ov_layer *c = carrier(s->o, s->body, in->layer);
        if (c && m->layer >= 0 && c->id == (uint64_t)m->layer)
            return i;
    }
    return UINT32_MAX;
}

/* [trips, part...] joined along the axis: the trips move before it, and both become one. */
static bool join_scan(ov_op *o, ir_id scan, const ov_mapping *m, uint32_t out)
{
    const ov_port *y = &o->layer->out.items[out];
    int64_t perm[IR_MAX_RANK + 1], dims[IR_MAX_RANK];
    int rank = y->rank, open = 0;
    int64_t axis = m->axis < 0 ? m->axis + rank : m->axis;
    if (rank < 1 || rank >= IR_MAX_RANK || axis < 0 || axis >= rank)
        return false;
    for (int d = 0; d < rank; d++) {
        dims[d] = y->dims[d];
        open += dims[d] < 0;
    }
    if (m->stride < 0) {
        int64_t back[] = {-1, INT32_MIN, 0, -1};
        ir_id in[] = {
            scan, layer_ints(&o->l, "starts", &back[0], 1), layer_ints(&o->l, "ends", &back[1], 1),
            layer_ints(&o->l, "axes", &back[2], 1), layer_ints(&o->l, "steps", &back[3], 1)};
        scan = layer_step(&o->l, "Slice", in, 5, NULL);
    }
    for (int d = 0; d <= rank; d++)
        perm[d] = d < axis ? d + 1 : d == axis ? 0 : d;
    if (axis > 0)
        scan = layer_step_transpose(&o->l, scan, perm, rank + 1);
    ir_id in[] = {scan, layer_ints(&o->l, "shape", dims, rank)};
    return open <= 1 && layer_into(&o->l, "Reshape", in, 2, NULL, o->l.out[out]) != IR_NONE;
}

static bool last_of_scan(ov_op *o, ir_id scan, uint32_t out)
{
    ir_id in[] = {scan, layer_number(&o->l, "last", IR_INT64, -1)};
    return layer_into(&o->l, "Gather", in, 2, NULL, o->l.out[out]) != IR_NONE;
}

/* Values that nothing outside reads get a name of their own. */
static ir_id *loop_outputs(ov_loop_state *s, uint32_t *n)
{
    ov_op *o = s->o;
    *n = s->carried.n + s->scanned.n;
    ir_id *out = ARENA_ARRAY(o->l.f->scratch, ir_id, (size_t)*n + 1);
    for (uint32_t i = 0; out && i < *n; i++)
        out[i] = foreign_inner(o->l.f, o->l.name, i < s->carried.n ? "state" : "scan");
    for (uint32_t i = 0; out && i < o->layer->maps.n; i++) {
        const ov_mapping *m = &o->layer->maps.items[i];
        uint32_t to = output_index(o, m->external), from = carried_index(s, m);
        if (m->output && !m->sliced && to != UINT32_MAX && from != UINT32_MAX)
            out[from] = o->l.out[to]; /* of several, the last; the others are copies */
    }
    return out;
}

static bool copy_states(ov_loop_state *s, const ir_id *out)
{
    ov_op *o = s->o;
    for (uint32_t i = 0; i < o->layer->maps.n; i++) {
        const ov_mapping *m = &o->layer->maps.items[i];
        uint32_t to = output_index(o, m->external), from = carried_index(s, m);
        bool plain = m->output && !m->sliced && to != UINT32_MAX && from != UINT32_MAX;
        if (plain && out[from] != o->l.out[to] &&
            layer_into(&o->l, "Identity", &out[from], 1, NULL, o->l.out[to]) == IR_NONE)
            return false;
    }
    return true;
}

static bool finish_outputs(ov_loop_state *s, const ir_id *out)
{
    ov_op *o = s->o;
    if (!copy_states(s, out))
        return false;
    for (uint32_t i = 0; i < s->scanned.n; i++) {
        const ov_mapping *m = &o->layer->maps.items[s->scanned.items[i]];
        uint32_t to = output_index(o, m->external);
        ir_id scan = out[s->carried.n + i];
        if (!(m->sliced ? join_scan(o, scan, m, to) : last_of_scan(o, scan, to)))
            return false;
    }
    return true;
}

/* ---- the loop ---- */

static bool sort_mappings(ov_loop_state *s)
{
    ov_layer *l = s->o->layer;
    arena *a = s->o->l.f->scratch;
    for (uint32_t i = 0; i < l->maps.n; i++) {
        const ov_mapping *m = &l->maps.items[i];
        if (m->back)
            continue;
        if (m->output && m->is_condition)
            s->conditional = m;
        if (!m->output && !bind_input(s, i))
            return false;
    }
    for (uint32_t i = 0; i < l->maps.n; i++) {
        const ov_mapping *m = &l->maps.items[i];
        if (m->back || !m->output || output_index(s->o, m->external) == UINT32_MAX)
            continue;
        if ((m->sliced || carried_index(s, m) == UINT32_MAX) && !VEC_ADD(a, &s->scanned, i))
            return false;
    }
    return true;
}

static bool read_loop_body(ov_loop_state *s)
{
    foreign *f = s->o->l.f;
    s->iteration = layer_formal(f, s->graph, STR("iteration"), IR_INT64, IR_NONE);
    s->condition = layer_formal(f, s->graph, STR("condition"), IR_BOOL, IR_NONE);
    if (s->iteration == IR_NONE || s->condition == IR_NONE || !sort_mappings(s))
        return false;
    s->o->r->depth++;
    assay_status status = ov_build_net(s->o->r, s->body);
    s->o->r->depth--;
    return status == ASSAY_OK && body_results(s);
}

static bool add_loop(ov_op *o, ir_id trips, ir_id condition)
{
    foreign *f = o->l.f;
    ov_loop_state *s = ARENA_NEW(f->scratch, ov_loop_state);
    uint32_t n_out = 0;
    if (!o->layer->body[0] || !s)
        return false;
    *s = (ov_loop_state){.o = o, .body = o->layer->body[0], .outer = f->graph};
    s->graph = ir_add_graph(f->m, o->l.name, s->outer);
    if (s->graph == IR_NONE || !VEC_ADD(f->scratch, &s->in, trips) ||
        !VEC_ADD(f->scratch, &s->in, condition))
        return out_of_memory(o) == ASSAY_OK;
    f->graph = s->graph;
    bool read = read_loop_body(s);
    f->graph = s->outer;
    ir_id *out = read ? loop_outputs(s, &n_out) : NULL;
    if (!out) {
        if (o->r->f.err->code == ASSAY_OK)
            err_fail(o->r->f.err, ASSAY_ERR_UNSUPPORTED,
                     "layer '" STR_FMT "': this form of " STR_FMT " is not supported",
                     STR_ARG(o->l.name), STR_ARG(o->layer->type));
        return false;
    }
    ir_id node = foreign_add(f, &(foreign_node){.op = "Loop",
                                                .name = o->l.name,
                                                .in = s->in.items,
                                                .n_in = s->in.n,
                                                .out = out,
                                                .n_out = n_out});
    return node != IR_NONE && foreign_attach_graph(f, node, "body", s->graph) &&
           finish_outputs(s, out);
}

bool ov_iterator(ov_op *o)
{
    return add_loop(o, iterator_trips(o), IR_NONE);
}

bool ov_loop(ov_op *o)
{
    bool constant = ov_constant(o, 1) != NULL; /* of use only when it is true */
    return add_loop(o, loop_trips(o), constant ? IR_NONE : layer_input(&o->l, 1));
}

/* ---- If ---- */

static ir_id read_branch(ov_op *o, int which)
{
    foreign *f = o->l.f;
    ir_id outer = f->graph, graph = ir_add_graph(f->m, o->l.name, outer);
    ov_net *body = o->layer->body[which];
    if (graph == IR_NONE || !body)
        return IR_NONE;
    for (uint32_t i = 0; i < o->layer->maps.n; i++) {
        const ov_mapping *m = &o->layer->maps.items[i];
        ov_layer *p = m->layer < 0 ? NULL : ov_layer_of(body, (uint64_t)m->layer);
        if (m->body == which && !m->output && !m->back && p && p->out.n == 1)
            p->made[0] = outer_value(o, m->external);
    }
    f->graph = graph;
    o->r->depth++;
    bool ok = ov_build_net(o->r, body) == ASSAY_OK;
    o->r->depth--;
    for (uint32_t k = 0; ok && k < o->layer->out.n; k++) {
        ir_id id = IR_NONE;
        for (uint32_t i = 0; i < o->layer->maps.n; i++) {
            const ov_mapping *m = &o->layer->maps.items[i];
            ov_layer *p = m->layer < 0 ? NULL : ov_layer_of(body, (uint64_t)m->layer);
            bool here = m->external == (int64_t)k ||
                        m->external == (int64_t)o->layer->out.items[k].id;
            if (m->body == which && m->output && p && here)
                id = ov_use(o->r, body, p, 0);
        }
        ok = layer_result(f, graph, id);
    }
    f->graph = outer;
    return ok ? graph : IR_NONE;
}

bool ov_if(ov_op *o)
{
    ir_id yes = read_branch(o, 0), no = yes == IR_NONE ? IR_NONE : read_branch(o, 1);
    if (no == IR_NONE) {
        if (o->r->f.err->code == ASSAY_OK)
            err_fail(o->r->f.err, ASSAY_ERR_MALFORMED,
                     "layer '" STR_FMT "': a branch lacks a body or an output", STR_ARG(o->l.name));
        return false;
    }
    ir_id node = layer_node(&o->l, NULL, "If", o->l.in, 1, NULL);
    return node != IR_NONE && foreign_attach_graph(o->l.f, node, "then_branch", yes) &&
           foreign_attach_graph(o->l.f, node, "else_branch", no);
}
