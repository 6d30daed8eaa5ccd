/* Totals of groups: FLOPs and bytes before and after, launches, levels, the critical path, and concurrency. */
#include <assert.h>
#include <stdlib.h>

#include "analyze/fuse.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sbuf.h"

typedef struct figures {
    const flow *f;
    const fuse_partition *g;
    profile *p;
    fusion_group *groups;
    uint32_t *best_before; /* [n_groups] on the costliest path to it; FLOW_NONE: begins it */
    uint64_t *path_flops, *path_bytes;
} figures;

/* ---- kinds ---- */

static str family(const char *type)
{
    const char *hash = strchr(type, '#');
    return (str){type, (uint32_t)(hash ? (size_t)(hash - type) : strlen(type))};
}

static str label_of(const figures *x, uint32_t layer)
{
    const pattern_match *m = x->g->match_of[layer];
    const char *name = fuse_role_name(x->g->role_of[layer]);
    if (name)
        return str_of(name);
    if (m)
        return str_of(m->name);
    return flow_row(x->f, layer) ? family(flow_type(x->f, layer)) : STR("unknown");
}

static bool is_elementwise(fuse_role r)
{
    return r >= ROLE_AFFINE && r <= ROLE_POINT;
}

static bool holds(str kinds, str label)
{
    assert(label.n && (kinds.p || !kinds.n));
    for (uint32_t i = 0; i + label.n <= kinds.n; i++)
        if ((i == 0 || kinds.p[i - 1] == '-') && memcmp(kinds.p + i, label.p, label.n) == 0 &&
            (i + label.n == kinds.n || kinds.p[i + label.n] == '-'))
            return true;
    return false;
}

/* One layer: its own type. A pattern: its name. Elementwise only: that. Else the roles in their order, each
 * once: "conv-bn-add-act". */
static str kind_of(const figures *x, uint32_t group)
{
    const uint32_t *layers = x->g->members + x->g->first[group];
    uint32_t n = x->g->first[group + 1] - x->g->first[group];
    const pattern_match *m = x->g->match_of[layers[n - 1]];
    sbuf b = {0};
    bool all = true;
    if (m && m->n == n)
        return str_of(m->name);
    if (n == 1)
        return flow_row(x->f, layers[0]) ? str_copy(x->p->arena, family(flow_type(x->f, layers[0])))
                                         : STR("unknown");
    for (uint32_t k = 0; k < n; k++) {
        fuse_role role = x->g->role_of[layers[k]];
        str label = label_of(x, layers[k]);
        all = all && (is_elementwise(role) || role == ROLE_VIEW);
        if (role == ROLE_VIEW || holds((str){b.p, (uint32_t)b.n}, label))
            continue;
        sbuf_puts(&b, b.n ? "-" : "");
        sbuf_str(&b, label);
    }
    str kind = all ? STR("elementwise") : str_copy(x->p->arena, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return kind;
}

/* ---- groups ---- */

static bool works(const profile_layer *l)
{
    return l->memory || count_flops(&l->ops) || l->ops.int_ops;
}

static uint64_t own_flops(const figures *x, uint32_t group)
{
    uint64_t sum = 0;
    for (uint32_t k = x->g->first[group]; k < x->g->first[group + 1]; k++)
        sum = sat_add(sum, count_flops(&x->p->layers[x->g->members[k]].ops));
    return sum;
}

static void add_up(figures *x, uint32_t group)
{
    fusion_group *to = &x->groups[group];
    str *names = ARENA_ARRAY(x->p->arena, str, x->g->first[group + 1] - x->g->first[group]);
    to->nodes = names;
    to->kind = kind_of(x, group);
    for (uint32_t k = x->g->first[group]; names && k < x->g->first[group + 1]; k++) {
        const profile_layer *l = &x->p->layers[x->g->members[k]];
        names[to->n_nodes++] = l->name;
        to->flops = sat_add(to->flops, l->flops);
        to->macs = sat_add(to->macs, l->macs);
        to->memory = sat_add(to->memory, l->memory);
        if (works(l) && l->times > to->launches)
            to->launches = l->times;
    }
    uint64_t flops = own_flops(x, group);
    to->arithmetic_intensity = num_ratio(flops, to->boundary_bytes);
    to->intensity_before = num_ratio(flops, to->memory);
}

/* Which groups it waits for, each once. */
static void find_depends(figures *x, uint32_t group, uint32_t *stamp)
{
    VEC(uint32_t) list = {0};
    fusion_group *to = &x->groups[group];
    for (uint32_t k = x->g->first[group]; k < x->g->first[group + 1]; k++) {
        uint32_t layer = x->g->members[k];
        for (uint32_t d = 0; d < flow_n(&x->f->deps, layer); d++) {
            uint32_t on = x->g->group_of[flow_at(&x->f->deps, layer)[d]];
            if (on == group || stamp[on] == group + 1)
                continue;
            stamp[on] = group + 1;
            (void)VEC_ADD(x->p->arena, &list, on);
            if (x->groups[on].level >= to->level)
                to->level = x->groups[on].level + 1;
        }
    }
    to->depends_on = list.items;
    to->n_depends_on = list.n;
}

/* ---- the critical path ---- */

/* The costliest path that ends here: by FLOPs, then by bytes. */
static void extend_path(figures *x, uint32_t group)
{
    const fusion_group *g = &x->groups[group];
    uint32_t best = FLOW_NONE;
    for (uint32_t k = 0; k < g->n_depends_on; k++) {
        uint32_t on = g->depends_on[k];
        if (best == FLOW_NONE || x->path_flops[on] > x->path_flops[best] ||
            (x->path_flops[on] == x->path_flops[best] && x->path_bytes[on] > x->path_bytes[best]))
            best = on;
    }
    x->best_before[group] = best;
    x->path_flops[group] = sat_add(own_flops(x, group),
                                   best == FLOW_NONE ? 0 : x->path_flops[best]);
    x->path_bytes[group] = sat_add(g->boundary_bytes, best == FLOW_NONE ? 0 : x->path_bytes[best]);
}

static void mark_path(figures *x, profile_fusion *out)
{
    uint32_t last = FLOW_NONE;
    for (uint32_t g = 0; g < x->g->n_groups; g++)
        if (last == FLOW_NONE || x->path_flops[g] > x->path_flops[last] ||
            (x->path_flops[g] == x->path_flops[last] && x->path_bytes[g] > x->path_bytes[last]))
            last = g;
    if (last == FLOW_NONE)
        return;
    out->critical_flops = x->path_flops[last];
    out->critical_bytes = x->path_bytes[last];
    for (; last != FLOW_NONE; last = x->best_before[last]) {
        x->groups[last].critical = true;
        out->critical_groups++;
    }
    out->concurrency = num_ratio(count_flops(&x->p->ops), out->critical_flops);
}

static assay_status find_widest(const figures *x, profile_fusion *out, assay_error *err)
{
    uint32_t *count = ARENA_ARRAY(x->f->r->arena, uint32_t, x->g->n_groups + (size_t)1);
    TRY_MEMORY(count, err);
    for (uint32_t g = 0; g < x->g->n_groups; g++) {
        uint32_t level = x->groups[g].level;
        count[level] += x->groups[g].launches > 0;
        out->levels = level + 1 > out->levels ? level + 1 : out->levels;
        if (count[level] > out->widest_groups) {
            out->widest_groups = count[level];
            out->widest_level = level;
        }
    }
    return ASSAY_OK;
}

/* ---- kinds together ---- */

static int more_saved(const void *a, const void *b)
{
    const fusion_kind *x = a, *y = b;
    uint64_t p = x->memory > x->boundary_bytes ? x->memory - x->boundary_bytes : 0;
    uint64_t q = y->memory > y->boundary_bytes ? y->memory - y->boundary_bytes : 0;
    if (p != q)
        return p < q ? 1 : -1;
    return x->groups != y->groups ? (x->groups < y->groups ? 1 : -1) : str_cmp(x->kind, y->kind);
}

static assay_status gather_kinds(const figures *x, profile_fusion *out, assay_error *err)
{
    VEC(fusion_kind) list = {0};
    map at;
    TRY_MEMORY(map_init(&at, x->f->r->arena, 16), err);
    for (uint32_t g = 0; g < x->g->n_groups; g++) {
        const fusion_group *from = &x->groups[g];
        uint32_t k = map_get(&at, from->kind);
        if (k == MAP_NONE) {
            k = list.n;
            fusion_kind *fresh = VEC_PUSH(x->p->arena, &list);
            TRY_MEMORY(fresh && map_put(&at, from->kind, k), err);
            fresh->kind = from->kind;
        }
        assert(k < list.n && list.items);
        fusion_kind *to = &list.items[k];
        to->groups++;
        to->nodes += from->n_nodes;
        to->flops = sat_add(to->flops, from->flops);
        to->memory = sat_add(to->memory, from->memory);
        to->boundary_bytes = sat_add(to->boundary_bytes, from->boundary_bytes);
    }
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, more_saved);
    out->kinds = list.items;
    out->n_kinds = list.n;
    return ASSAY_OK;
}

static void sum_up(const figures *x, profile_fusion *out)
{
    for (uint32_t k = 0; k < x->p->n_layers; k++)
        if (works(&x->p->layers[k]))
            out->launches_before = sat_add(out->launches_before, x->p->layers[k].times);
    for (uint32_t g = 0; g < x->g->n_groups; g++) {
        out->launches_after = sat_add(out->launches_after, x->groups[g].launches);
        out->bytes_after = sat_add(out->bytes_after, x->groups[g].boundary_bytes);
    }
    out->bytes_before = x->p->total_memory;
    out->intensity_before = num_ratio(count_flops(&x->p->ops), out->bytes_before);
    out->intensity_after = num_ratio(count_flops(&x->p->ops), out->bytes_after);
}

static assay_status fill_groups(figures *x, assay_error *err)
{
    arena *a = x->f->r->arena;
    size_t n = x->g->n_groups + (size_t)1;
    uint32_t *stamp = ARENA_ARRAY(a, uint32_t, n);
    uint64_t *bytes = ARENA_ARRAY(a, uint64_t, n);
    x->best_before = ARENA_ARRAY(a, uint32_t, n);
    x->path_flops = ARENA_ARRAY(a, uint64_t, n);
    x->path_bytes = ARENA_ARRAY(a, uint64_t, n);
    x->groups = ARENA_ARRAY(x->p->arena, fusion_group, n);
    if (arena_failed(a) || !x->groups)
        return err_no_memory(err);
    TRY(fuse_boundary(x->f, x->g, bytes, err));
    for (uint32_t g = 0; g < x->g->n_groups; g++) {
        x->groups[g].boundary_bytes = bytes[g];
        add_up(x, g);
        find_depends(x, g, stamp);
        extend_path(x, g);
    }
    return ASSAY_OK;
}

assay_status fuse_figures(const flow *f, const fuse_partition *g, fuse_strategy strategy,
                          profile *p, profile_fusion **out, assay_error *err)
{
    figures x = {.f = f, .g = g, .p = p};
    profile_fusion *to = ARENA_NEW(p->arena, profile_fusion);
    TRY_MEMORY(to, err);
    TRY(fill_groups(&x, err));
    to->strategy = fuse_strategy_name(strategy);
    to->groups = x.groups;
    to->n_groups = g->n_groups;
    sum_up(&x, to);
    mark_path(&x, to);
    TRY(find_widest(&x, to, err));
    TRY(gather_kinds(&x, to, err));
    *out = to;
    return arena_failed(p->arena) || arena_failed(f->r->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* ---- for advice ---- */

static uint64_t unpooled_bytes(const flow *f)
{
    uint64_t sum = 0;
    for (uint32_t layer = 0; layer < f->n; layer++) {
        const ir_node *n = flow_node(f, layer);
        for (uint32_t o = 0; o < n->n_outputs; o++)
            if (n->outputs[o] != IR_NONE && f->root[n->outputs[o]] == n->outputs[o])
                sum = sat_add(sum, count_tensor_bytes(&f->r->info[n->outputs[o]], f->precision));
    }
    return sum;
}

/* The totals have their own arena, because the groups are not kept. */
static assay_status take_potential(const flow *f, const pattern_list *patterns, fuse_strategy s,
                                   profile *scratch, profile_potential *out, assay_error *err)
{
    fuse_partition g;
    profile_fusion *x = NULL;
    TRY(fuse_run(f, patterns, s, &g, err));
    TRY(fuse_figures(f, &g, s, scratch, &x, err));
    assert(x);
    out->groups[s] = x->n_groups;
    out->launches[s] = x->launches_after;
    out->bytes[s] = x->bytes_after;
    if (s == FUSE_CONVENTIONAL) {
        out->concurrency = x->concurrency;
        out->widest = x->widest_groups;
    }
    return ASSAY_OK;
}

assay_status fuse_potential(const flow *f, const pattern_list *patterns, profile_potential *out,
                            assay_error *err)
{
    profile scratch = *f->p;
    assay_status s = ASSAY_OK;
    scratch.arena = arena_new((size_t)256 << 20);
    TRY_MEMORY(scratch.arena, err);
    for (int k = FUSE_CONVENTIONAL; s == ASSAY_OK && k < FUSE_STRATEGIES; k++)
        s = take_potential(f, patterns, (fuse_strategy)k, &scratch, out, err);
    arena_free(scratch.arena);
    out->groups[0] = f->n;
    out->bytes[0] = f->p->total_memory;
    for (uint32_t k = 0; k < f->n; k++)
        if (works(&f->p->layers[k]))
            out->launches[0] = sat_add(out->launches[0], f->p->layers[k].times);
    out->unpooled_bytes = unpooled_bytes(f);
    out->present = s == ASSAY_OK;
    return s;
}
