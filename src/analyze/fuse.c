/* The partition. See fuse.h for why groups can have no cycle. */
#include "analyze/fuse.h"

enum { VIEWS_MAX = 8, CANDIDATES_MAX = 16 };

/* A unit is what joins groups as a whole: a layer, or the layers of a pattern. */
typedef struct unit {
    uint32_t parent; /* towards the unit that stands for the group */
    uint32_t sink;   /* of the group, when this unit stands for it */
    uint32_t size;   /* layers of the unit itself */
    fuse_role lead;  /* of the group */
    fuse_role role;
} unit;

typedef struct partitioner {
    const flow *f;
    fuse_strategy strategy;
    unit *units;       /* [layers]; a unit has the number of its last layer */
    uint32_t *unit_of; /* [layers] */
    const pattern_match **match_of;
} partitioner;

typedef struct candidate {
    uint32_t group;
    uint32_t views[VIEWS_MAX];
    int n_views;
} candidate;

/* ---- units ---- */

static fuse_role role_of_pattern(const pattern_match *m)
{
    static const fuse_role roles[] = {[PATTERN_ACT] = ROLE_ACT,
                                      [PATTERN_NORM] = ROLE_NORM,
                                      [PATTERN_ATTENTION] = ROLE_ATTENTION,
                                      [PATTERN_POINT] = ROLE_POINT,
                                      [PATTERN_BLOCK] = ROLE_BLOCK};
    bool rows = m->is == PATTERN_NORM && (op_family_find(str_of(m->name))->is & OPS_ROW_NORM);
    return rows ? ROLE_ROW_NORM : roles[m->is];
}

static bool claimable(const partitioner *x, const pattern_match *m)
{
    for (uint32_t k = 0; k < m->n; k++)
        if (x->match_of[m->layers[k]])
            return false;
    return true;
}

static void claim(partitioner *x, const pattern_match *m)
{
    uint32_t last = m->layers[m->n - 1];
    if (m->native || !claimable(x, m))
        return;
    for (uint32_t k = 0; k < m->n; k++) {
        x->match_of[m->layers[k]] = m;
        x->unit_of[m->layers[k]] = last;
    }
    x->units[last].size = m->n;
    x->units[last].role = x->units[last].lead = role_of_pattern(m);
}

static void claim_patterns(partitioner *x, const pattern_list *patterns)
{
    if (x->strategy == FUSE_NONE)
        return;
    for (uint32_t k = 0; x->strategy == FUSE_AGGRESSIVE && k < patterns->n; k++)
        if (patterns->items[k].is == PATTERN_BLOCK)
            claim(x, &patterns->items[k]);
    for (uint32_t k = 0; k < patterns->n; k++)
        if (patterns->items[k].is != PATTERN_BLOCK)
            claim(x, &patterns->items[k]);
}

static void make_units(partitioner *x)
{
    for (uint32_t layer = 0; layer < x->f->n; layer++) {
        fuse_role role = fuse_role_of(x->f, layer);
        x->units[layer] = (unit){
            .parent = layer, .sink = layer, .size = 1, .lead = role, .role = role};
        x->unit_of[layer] = layer;
    }
}

static uint32_t group_at(partitioner *x, uint32_t layer)
{
    uint32_t u = x->unit_of[layer];
    while (x->units[u].parent != u)
        u = x->units[u].parent = x->units[x->units[u].parent].parent;
    return u;
}

/* ---- who may join ---- */

/* All who read the layer belong to `reader`. */
static bool only_for(const partitioner *x, uint32_t layer, uint32_t reader)
{
    uint32_t n = flow_n(&x->f->uses, layer);
    if (n == 0 || x->f->kept[layer] || n > x->units[reader].size)
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (x->unit_of[flow_at(&x->f->uses, layer)[k]] != reader)
            return false;
    return true;
}

static bool same_graph(const flow *f, uint32_t a, uint32_t b)
{
    return flow_node(f, a)->graph == flow_node(f, b)->graph;
}

/* The group whose exit is read by `reader` alone, perhaps through views: from the layer that it reads. */
static bool find_candidate(partitioner *x, uint32_t layer, uint32_t reader, candidate *c)
{
    c->n_views = 0;
    for (;;) {
        if (!same_graph(x->f, layer, reader) || !only_for(x, layer, reader))
            return false;
        if (x->units[x->unit_of[layer]].role != ROLE_VIEW || c->n_views == VIEWS_MAX ||
            !flow_node(x->f, layer)->n_inputs)
            break;
        uint32_t before = flow_maker(x->f, flow_node(x->f, layer)->inputs[0]);
        if (before == FLOW_NONE)
            break;
        c->views[c->n_views++] = layer;
        reader = x->unit_of[layer];
        layer = before;
    }
    c->group = group_at(x, layer);
    return x->units[c->group].sink == layer && x->units[c->group].lead != ROLE_VIEW;
}

static int64_t elems_out(const flow *f, uint32_t layer)
{
    const ir_node *n = flow_node(f, layer);
    return n->n_outputs && n->outputs[0] != IR_NONE ? op_numel(&f->r->info[n->outputs[0]]) : -1;
}

/* The rule by which a unit joins the group; NULL: none. */
static const fuse_rule *rule_for(const partitioner *x, fuse_role lead, fuse_role next, bool before)
{
    for (uint32_t k = 0; k < fuse_rules_n; k++) {
        const fuse_rule *r = &fuse_rules[k];
        if (r->from <= x->strategy && r->before == before && (r->group & 1u << lead) &&
            (r->next & 1u << next))
            return r;
    }
    return NULL;
}

static bool follows(const partitioner *x, const candidate *c, uint32_t u)
{
    const unit *g = &x->units[c->group];
    int64_t n = elems_out(x->f, u);
    return rule_for(x, g->lead, x->units[u].role, false) && n >= 0 && elems_out(x->f, g->sink) == n;
}

static bool elementwise_lead(fuse_role r)
{
    return (r >= ROLE_AFFINE && r <= ROLE_POINT) || r == ROLE_DEQUANT;
}

static void join(partitioner *x, const candidate *c, uint32_t into)
{
    x->units[c->group].parent = into;
    for (int k = 0; k < c->n_views; k++)
        x->units[x->unit_of[c->views[k]]].parent = into;
}

static uint32_t find_candidates(partitioner *x, uint32_t u, candidate *list)
{
    const pattern_match *m = x->match_of[u];
    uint32_t n = 0, layers = m ? m->n : 1;
    for (uint32_t k = 0; k < layers; k++) {
        uint32_t layer = m ? m->layers[k] : u;
        for (uint32_t d = 0; d < flow_n(&x->f->deps, layer) && n < CANDIDATES_MAX; d++) {
            uint32_t on = flow_at(&x->f->deps, layer)[d];
            bool known = x->unit_of[on] == u || !find_candidate(x, on, u, &list[n]);
            for (uint32_t i = 0; !known && i < n; i++)
                known = list[i].group == list[n].group;
            n += !known;
        }
    }
    return n;
}

/* A contraction before elementwise operators; else the first operand, which engines take too. */
static bool better(const partitioner *x, const candidate *a, const candidate *b)
{
    return !elementwise_lead(x->units[a->group].lead) && elementwise_lead(x->units[b->group].lead);
}

/* The one layer outside of a unit that it reads from; FLOW_NONE: none, or several. */
static uint32_t only_source(const partitioner *x, uint32_t u)
{
    const pattern_match *m = x->match_of[u];
    uint32_t found = FLOW_NONE, layers = m ? m->n : 1;
    for (uint32_t k = 0; k < layers; k++) {
        uint32_t layer = m ? m->layers[k] : u;
        for (uint32_t d = 0; d < flow_n(&x->f->deps, layer); d++) {
            uint32_t on = flow_at(&x->f->deps, layer)[d];
            if (x->unit_of[on] == u || on == found)
                continue;
            if (found != FLOW_NONE)
                return FLOW_NONE;
            found = on;
        }
    }
    return found;
}

/* Whether all who read the layer and are not of the unit run behind it. */
static bool runs_first(const partitioner *x, uint32_t u, uint32_t layer)
{
    for (uint32_t k = 0; k < flow_n(&x->f->uses, layer); k++) {
        uint32_t reader = flow_at(&x->f->uses, layer)[k];
        if (x->unit_of[reader] != u && reader < u)
            return false;
    }
    return true;
}

/* A group that others read from too: see fuse.h for why this is the last that joins it. */
static void join_fork(partitioner *x, uint32_t u)
{
    uint32_t source = only_source(x, u);
    if (source == FLOW_NONE || x->f->kept[source] || !same_graph(x->f, source, u) ||
        !runs_first(x, u, source))
        return;
    candidate c = {.group = group_at(x, source)};
    const fuse_rule *r = rule_for(x, x->units[c.group].lead, x->units[u].role, true);
    if (!r || !r->forks || x->units[c.group].sink != source)
        return;
    x->units[u].lead = ROLE_CLOSED;
    join(x, &c, u);
}

/* A unit joins the best of the groups before it that may lead it; groups that are computed on the way, and
 * elementwise ones beside it, come along. */
static void place_layer(partitioner *x, uint32_t u)
{
    candidate list[CANDIDATES_MAX];
    fuse_role role = x->units[u].role;
    uint32_t n = find_candidates(x, u, list), best = n;
    for (uint32_t k = 0; k < n; k++)
        if (follows(x, &list[k], u) && (best == n || better(x, &list[k], &list[best])))
            best = k;
    if (best < n) {
        x->units[u].lead = x->units[list[best].group].lead;
        join(x, &list[best], u);
    }
    for (uint32_t k = 0; k < n; k++) {
        fuse_role lead = x->units[list[k].group].lead;
        if (k != best &&
            (rule_for(x, lead, role, true) || (elementwise_lead(lead) && follows(x, &list[k], u))))
            join(x, &list[k], u);
    }
    if (n == 0)
        join_fork(x, u);
}

/* ---- the result ---- */

static assay_status number_groups(partitioner *x, fuse_partition *out, assay_error *err)
{
    arena *a = x->f->r->arena;
    uint32_t n = x->f->n, *id = ARENA_ARRAY(a, uint32_t, n + (size_t)1);
    out->group_of = ARENA_ARRAY(a, uint32_t, n + (size_t)1);
    out->first = ARENA_ARRAY(a, uint32_t, n + (size_t)2);
    out->members = ARENA_ARRAY(a, uint32_t, n + (size_t)1);
    out->role_of = ARENA_ARRAY(a, fuse_role, n + (size_t)1);
    out->match_of = x->match_of;
    TRY_MEMORY(!arena_failed(a), err);
    for (uint32_t layer = 0; layer < n; layer++)
        if (x->units[group_at(x, layer)].sink == layer)
            id[group_at(x, layer)] = out->n_groups++;
    for (uint32_t layer = 0; layer < n; layer++) {
        out->group_of[layer] = id[group_at(x, layer)];
        out->role_of[layer] = x->units[x->unit_of[layer]].role;
        out->first[out->group_of[layer] + 1]++;
    }
    for (uint32_t g = 0; g < out->n_groups; g++)
        out->first[g + 1] += out->first[g];
    memset(id, 0, sizeof *id * n);
    for (uint32_t layer = 0; layer < n; layer++) {
        uint32_t g = out->group_of[layer];
        out->members[out->first[g] + id[g]++] = layer;
    }
    return ASSAY_OK;
}

assay_status fuse_run(const flow *f, const pattern_list *patterns, fuse_strategy strategy,
                      fuse_partition *out, assay_error *err)
{
    arena *a = f->r->arena;
    partitioner x = {.f = f,
                     .strategy = strategy,
                     .units = ARENA_ARRAY(a, unit, f->n + (size_t)1),
                     .unit_of = ARENA_ARRAY(a, uint32_t, f->n + (size_t)1),
                     .match_of = ARENA_ARRAY(a, const pattern_match *, f->n + (size_t)1)};
    *out = (fuse_partition){0};
    TRY_MEMORY(!arena_failed(a), err);
    make_units(&x);
    claim_patterns(&x, patterns);
    for (uint32_t layer = 0; layer < f->n && strategy != FUSE_NONE; layer++)
        if (x.unit_of[layer] == layer)
            place_layer(&x, layer);
    return number_groups(&x, out, err);
}

/* ---- boundary ---- */

typedef struct border {
    const flow *f;
    const fuse_partition *g;
    bool *
        leaves; /* [n_values] a buffer that is read outside of the group that makes it, or by nobody */
    uint32_t *stamp;  /* [n_values] last group that took it from outside */
    uint64_t *amount; /* [n_values] how much of it */
    const op_info **in;
    op_info *out;
    op_cost cost;
} border;

static uint32_t group_of_root(const border *b, ir_id root)
{
    uint32_t maker = flow_maker(b->f, root);
    return maker == FLOW_NONE ? FLOW_NONE : b->g->group_of[maker];
}

static void find_leaving(border *b)
{
    const flow *f = b->f;
    const ir_model *m = f->r->model;
    bool *inside = ARENA_ARRAY(f->r->arena, bool, m->values.n + (size_t)1);
    for (uint32_t layer = 0; inside && layer < f->n; layer++) {
        const ir_node *n = flow_node(f, layer);
        for (uint32_t i = 0; i < n->n_inputs; i++) {
            ir_id root = n->inputs[i] == IR_NONE ? IR_NONE : f->root[n->inputs[i]];
            if (root == IR_NONE)
                continue;
            bool here = group_of_root(b, root) == b->g->group_of[layer];
            inside[root] |= here;
            b->leaves[root] |= !here;
        }
    }
    for (ir_id v = 0; inside && v < m->values.n; v++) {
        b->leaves[f->root[v]] |= f->value_kept[v];
        if (f->root[v] == v && !inside[v])
            b->leaves[v] = true;
    }
}

static uint64_t layer_border(border *b, uint32_t group, uint32_t layer)
{
    const flow *f = b->f;
    const ir_node *n = flow_node(f, layer);
    uint64_t sum = 0;
    op_ctx c;
    infer_context(f->r, f->of->nodes[layer], b->in, b->out, &c);
    count_node(f->r, &c, f->precision, &b->cost);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        ir_id root = n->inputs[i] == IR_NONE ? IR_NONE : f->root[n->inputs[i]];
        if (root == IR_NONE || group_of_root(b, root) == group)
            continue;
        uint64_t before = b->stamp[root] == group + 1 ? b->amount[root] : 0;
        b->stamp[root] = group + 1;
        b->amount[root] = b->cost.read[i] > before ? b->cost.read[i] : before;
        sum = sat_add(sum, b->amount[root] - before);
    }
    for (uint32_t o = 0; o < n->n_outputs; o++)
        if (n->outputs[o] == IR_NONE || b->leaves[n->outputs[o]])
            sum = sat_add(sum, b->cost.written[o]);
    return sat_mul(sum, f->p->layers[layer].times);
}

static bool border_room(border *b)
{
    const flow *f = b->f;
    arena *a = f->r->arena;
    size_t values = f->r->model->values.n + (size_t)1;
    uint32_t n_in = 1, n_out = 1;
    for (uint32_t layer = 0; layer < f->n; layer++) {
        const ir_node *n = flow_node(f, layer);
        n_in = n->n_inputs > n_in ? n->n_inputs : n_in;
        n_out = n->n_outputs > n_out ? n->n_outputs : n_out;
    }
    b->leaves = ARENA_ARRAY(a, bool, values);
    b->stamp = ARENA_ARRAY(a, uint32_t, values);
    b->amount = ARENA_ARRAY(a, uint64_t, values);
    b->in = ARENA_ARRAY(a, const op_info *, n_in);
    b->out = ARENA_ARRAY(a, op_info, n_out);
    b->cost.read = ARENA_ARRAY(a, uint64_t, n_in);
    b->cost.written = ARENA_ARRAY(a, uint64_t, n_out);
    return !arena_failed(a);
}

assay_status fuse_boundary(const flow *f, const fuse_partition *g, uint64_t *bytes,
                           assay_error *err)
{
    border b = {.f = f, .g = g};
    TRY_MEMORY(border_room(&b), err);
    find_leaving(&b);
    for (uint32_t group = 0; group < g->n_groups; group++)
        for (uint32_t k = g->first[group]; k < g->first[group + 1]; k++)
            bytes[group] = sat_add(bytes[group], layer_border(&b, group, g->members[k]));
    return arena_failed(f->r->arena) ? err_no_memory(err) : ASSAY_OK;
}
