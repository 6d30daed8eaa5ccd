/* Loops, branches and calls of StableHLO.
 *
 * A while has two regions: its condition and its body. Where the condition compares a counter (a constant at first, to which
 * the body adds a constant) with a constant, the number of trips is the limit M of a Loop; otherwise the condition is computed
 * before the loop and at the end of its body, and the analysis says what it assumes. Variables that the body returns as they
 * are, are read from outside. */
#include "base/num.h"
#include "formats/stablehlo/hlo_impl.h"

typedef struct loop {
    hlo_op *o;
    uint32_t n;
    str *cond_args, *body_args;
    str cond, body;  /* behind their arguments */
    hlo_value *init; /* [n] */
    str *next;       /* [n] operands of the return of the body */
    bool *same;
    int64_t trips;
} loop;

/* ---- operators of a region, looked at ---- */

/* The operator that makes a value, among those of a region; false: it is made elsewhere. */
static bool find_maker(hlo_reader *r, str region, str name, hlo_op *o)
{
    const char *p = region.p;
    bool found = true;
    while (hlo_read_op(r, &p, region.p + region.n, o, &found) == ASSAY_OK && found)
        for (uint32_t i = 0; i < o->results.n; i++)
            if (str_eq(o->results.items[i], name))
                return true;
    return false;
}

static bool find_return(hlo_reader *r, str region, hlo_op *o)
{
    const char *p = region.p;
    bool found = true;
    while (hlo_read_op(r, &p, region.p + region.n, o, &found) == ASSAY_OK && found)
        if (str_ends(o->name, "return"))
            return true;
    return false;
}

static int64_t place_of(const str *names, uint32_t n, str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return i;
    return -1;
}

/* A whole number: a constant of the region or of a scope around it, or a variable that the loop leaves as it is. */
static bool number_of(loop *l, str region, const str *args, str name, int64_t *v)
{
    hlo_reader *r = l->o->r;
    int64_t at = place_of(args, l->n, name), list[HLO_LIST];
    hlo_op *maker = ARENA_NEW(r->f.scratch, hlo_op);
    if (at >= 0)
        return l->same[at] && hlo_scalar(r, &l->init[at], v);
    if (maker && find_maker(r, region, name, maker)) {
        const char *end = maker->body.p + maker->body.n, *p = hlo_skip(maker->body.p, end);
        str value = hlo_attr(maker, "value");
        value = value.p ? value : (str){p, (uint32_t)(end - p)};
        if (!str_ends(maker->name, ".constant") || hlo_ints_of(value, list) != 1)
            return false;
        *v = list[0];
        return true;
    }
    return hlo_scalar(r, hlo_find(r, l->o->s, name), v);
}

/* What the body adds to variable i in a trip; 0: something else. */
static int64_t step_of(loop *l, uint32_t i)
{
    hlo_op *add = ARENA_NEW(l->o->r->f.scratch, hlo_op);
    int64_t by = 0;
    if (!add || !find_maker(l->o->r, l->body, l->next[i], add) || !str_ends(add->name, ".add") ||
        add->operands.n != 2)
        return 0;
    for (uint32_t k = 0; k < 2; k++)
        if (str_eq(add->operands.items[k], l->body_args[i]) &&
            number_of(l, l->body, l->body_args, add->operands.items[1 - k], &by) && by > 0)
            return by;
    return 0;
}

/* Whether the condition is: counter < limit. */
static bool count_trips(loop *l)
{
    hlo_reader *r = l->o->r;
    hlo_op *back = ARENA_NEW(r->f.scratch, hlo_op), *test = ARENA_NEW(r->f.scratch, hlo_op);
    int64_t start, end, n, by;
    if (!back || !test || !find_return(r, l->cond, back) || back->operands.n != 1 ||
        !find_maker(r, l->cond, back->operands.items[0], test) ||
        !str_ends(test->name, ".compare") || test->operands.n != 2)
        return false;
    bool less = str_contains(test->body, "LT"), most = str_contains(test->body, "LE");
    int64_t at = place_of(l->cond_args, l->n, test->operands.items[0]);
    if (at < 0 || (!less && !most) || (by = step_of(l, (uint32_t)at)) == 0 ||
        !hlo_scalar(r, &l->init[at], &start) ||
        !number_of(l, l->cond, l->cond_args, test->operands.items[1], &end) ||
        !num_sub(end, start, &n) || (!less && !num_add(n, 1, &n)))
        return false;
    l->trips = n <= 0 ? 0 : n / by + (n % by != 0);
    return true;
}

/* ---- building ---- */

/* The condition of these values, in f.graph; IR_NONE: it has none. */
static ir_id condition_of(loop *l, const hlo_value *values)
{
    hlo_reader *r = l->o->r;
    hlo_scope *s = hlo_scope_new(r, l->o->s);
    hlo_results out = {.list = {0}};
    for (uint32_t i = 0; s && i < l->n; i++)
        if (!hlo_define(r, s, l->cond_args[i], values[i].id, &values[i].type))
            return IR_NONE;
    if (!s || hlo_read_region(r, s, l->cond, &out) != ASSAY_OK || out.list.n != 1)
        return IR_NONE;
    return out.list.items[0].id;
}

static bool read_body(loop *l, bool counted, ir_id graph)
{
    hlo_reader *r = l->o->r;
    hlo_scope *s = hlo_scope_new(r, l->o->s);
    hlo_results out = {.list = {0}};
    layer_formal(&r->f, graph, STR("iteration"), IR_INT64, IR_NONE);
    ir_id cond = layer_formal(&r->f, graph, STR("condition"), IR_BOOL, IR_NONE);
    for (uint32_t i = 0; s && i < l->n; i++) {
        const hlo_value *v = &l->init[i];
        ir_id id = v->id;
        if (!l->same[i]) {
            id = hlo_declare(r, l->body_args[i], &v->type);
            if (id == IR_NONE || !ir_add_input(r->f.m, graph, id))
                return false;
        }
        if (!hlo_define(r, s, l->body_args[i], id, &v->type))
            return false;
    }
    if (!s || cond == IR_NONE || hlo_read_region(r, s, l->body, &out) != ASSAY_OK ||
        out.list.n != l->n)
        return false;
    cond = counted ? cond : condition_of(l, out.list.items);
    if (cond == IR_NONE || !layer_result(&r->f, graph, cond))
        return false;
    for (uint32_t i = 0; i < l->n; i++)
        if (!l->same[i] && !layer_result(&r->f, graph, out.list.items[i].id))
            return false;
    return true;
}

static bool add_loop(loop *l, ir_id limit, ir_id cond, ir_id body)
{
    foreign *f = &l->o->r->f;
    ir_id *in = ARENA_ARRAY(f->scratch, ir_id, (size_t)l->n + 2);
    ir_id *out = ARENA_ARRAY(f->scratch, ir_id, (size_t)l->n + 1);
    uint32_t n = 0;
    if (!in || !out)
        return false;
    in[0] = limit;
    in[1] = cond;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->same[i] && !foreign_add(f, &(foreign_node){.op = "Identity",
                                                          .name = l->o->l.name,
                                                          .in = &l->init[i].id,
                                                          .n_in = 1,
                                                          .out = &l->o->l.out[i],
                                                          .n_out = 1}))
            return false;
        if (l->same[i])
            continue;
        in[2 + n] = l->init[i].id;
        out[n++] = l->o->l.out[i];
    }
    ir_id node = foreign_add(
        f,
        &(foreign_node){
            .op = "Loop", .name = l->o->l.name, .in = in, .n_in = n + 2, .out = out, .n_out = n});
    return node != IR_NONE && foreign_attach_graph(f, node, "body", body);
}

/* while(%a = %x, %b = %y): names and values in turn. The generic form has the names in its regions. */
static bool open_loop(loop *l)
{
    hlo_op *o = l->o;
    arena *a = o->l.f->scratch;
    const char *p = hlo_skip(o->body.p, o->body.p + o->body.n);
    bool pretty = o->n_regions == 2 && o->operands.n == 2 * o->n_results && p[0] == '(';
    l->n = o->n_results;
    l->cond_args = ARENA_ARRAY(a, str, (size_t)l->n + 1);
    l->body_args = ARENA_ARRAY(a, str, (size_t)l->n + 1);
    l->init = ARENA_ARRAY(a, hlo_value, (size_t)l->n + 1);
    l->next = ARENA_ARRAY(a, str, (size_t)l->n + 1);
    l->same = ARENA_ARRAY(a, bool, (size_t)l->n + 1);
    if (!l->same || !l->next || !l->init || !l->body_args || !l->cond_args || o->n_regions != 2 ||
        (!pretty && o->operands.n != l->n) || l->n == 0)
        return false;
    l->cond = o->regions[0];
    l->body = o->regions[1];
    for (uint32_t i = 0; i < l->n; i++) {
        l->cond_args[i] = l->body_args[i] = pretty ? o->operands.items[2 * i] : (str){0};
        l->init[i] = o->values[pretty ? 2 * i + 1 : i];
        if (l->init[i].id == IR_NONE)
            return false;
    }
    return pretty || (hlo_region_args(&l->cond, l->cond_args, (int)l->n) == (int)l->n &&
                      hlo_region_args(&l->body, l->body_args, (int)l->n) == (int)l->n);
}

static bool look_at_body(loop *l)
{
    hlo_op *back = ARENA_NEW(l->o->r->f.scratch, hlo_op);
    if (!back || !find_return(l->o->r, l->body, back) || back->operands.n != l->n)
        return false;
    for (uint32_t i = 0; i < l->n; i++) {
        l->next[i] = back->operands.items[i];
        l->same[i] = str_eq(l->next[i], l->body_args[i]);
    }
    return true;
}

bool hlo_while(hlo_op *o)
{
    loop l = {.o = o, .trips = -1};
    hlo_reader *r = o->r;
    ir_id outer = r->f.graph, limit = IR_NONE, cond = IR_NONE;
    if (r->depth >= HLO_MAX_DEPTH || !open_loop(&l) || !look_at_body(&l))
        return false;
    bool counted = count_trips(&l);
    r->depth++;
    if (counted)
        limit = layer_number(&o->l, "trips", IR_INT64, (double)l.trips);
    else
        cond = condition_of(&l, l.init);
    ir_id body = counted || cond != IR_NONE ? ir_add_graph(r->f.m, o->l.name, outer) : IR_NONE;
    r->f.graph = body;
    bool done = body != IR_NONE && read_body(&l, counted, body);
    r->f.graph = outer;
    r->depth--;
    return done && add_loop(&l, limit, cond, body);
}

/* ---- branches ---- */

static bool read_branch(hlo_op *o, str region, ir_id *graph)
{
    hlo_reader *r = o->r;
    ir_id outer = r->f.graph;
    hlo_scope *s = hlo_scope_new(r, o->s);
    hlo_results out = {.list = {0}};
    str none[1];
    if (!s || r->depth >= HLO_MAX_DEPTH)
        return false;
    hlo_region_args(&region, none, 0);
    *graph = r->f.graph = ir_add_graph(r->f.m, o->l.name, outer);
    r->depth++;
    bool done = *graph != IR_NONE && hlo_read_region(r, s, region, &out) == ASSAY_OK &&
                out.list.n == o->n_results;
    r->depth--;
    for (uint32_t i = 0; done && i < out.list.n; i++)
        done = layer_result(&r->f, *graph, out.list.items[i].id);
    r->f.graph = outer;
    return done;
}

static bool add_if(hlo_op *o, ir_id cond, str then_region, str else_region)
{
    ir_id graphs[2];
    if (!read_branch(o, then_region, &graphs[0]) || !read_branch(o, else_region, &graphs[1]))
        return false;
    ir_id node = layer_node(&o->l, NULL, "If", &cond, 1, NULL);
    return node != IR_NONE && foreign_attach_graph(&o->r->f, node, "then_branch", graphs[0]) &&
           foreign_attach_graph(&o->r->f, node, "else_branch", graphs[1]);
}

bool hlo_if(hlo_op *o)
{
    return o->n_regions == 2 && add_if(o, o->in[0], o->regions[0], o->regions[1]);
}

/* Branch 0 and all others, which is the last one. */
bool hlo_case(hlo_op *o)
{
    if (o->n_regions != 2)
        return false;
    ir_id in[] = {o->in[0], layer_number(&o->l, "first", hlo_in(o, 0)->dtype, 0)};
    return add_if(o, layer_step(&o->l, "Equal", in, 2, NULL), o->regions[0], o->regions[1]);
}

/* ---- calls ---- */

static str symbol_of(str text)
{
    const char *at = text.n ? memchr(text.p, '@', text.n) : NULL;
    return at ? hlo_word(at + 1, text.p + text.n) : (str){0};
}

bool hlo_func_call(hlo_op *o)
{
    bool called = false;
    return hlo_call(o, symbol_of(o->body), &called) && called;
}

bool hlo_composite(hlo_op *o)
{
    bool called = false;
    return hlo_call(o, symbol_of(hlo_attr(o, "decomposition")), &called) && called;
}

/* Parts of a tensor on several devices have other sizes than the whole. */
static bool keeps_types(const hlo_op *o)
{
    for (uint32_t i = 0; i < o->out_types.n; i++) {
        const hlo_type *a = hlo_in(o, i), *b = hlo_out(o, i);
        for (int d = 0; d < a->rank && a->rank == b->rank; d++)
            if (a->dims[d] != b->dims[d])
                return false;
        if (a->rank != b->rank)
            return false;
    }
    return true;
}

/* Marks of the partitioner are no work; others have a name that says more than "custom_call". */
bool hlo_custom_call(hlo_op *o)
{
    str target = symbol_of(o->body);
    str named = hlo_attr(o, "call_target_name");
    if (named.n > 2)
        target = (str){named.p + 1, named.n - 2};
    if (str_starts(target, "check.") && o->n_results == 0)
        return true;
    if ((str_is(target, "Sharding") || str_starts(target, "SPMD") ||
         str_contains(target, "xla.sdy")) &&
        keeps_types(o))
        return hlo_barrier(o);
    if (target.n)
        o->name = target;
    return false;
}
