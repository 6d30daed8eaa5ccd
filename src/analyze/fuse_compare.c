/* Compares groups with an engine's kernels for the same layers (analyze/kernels.h), by sets and by pairs. */
#include <stdlib.h>

#include "analyze/fuse.h"
#include "base/text.h"

enum { NAMES_SHOWN = 6 };

typedef struct beside {
    const flow *f;
    const fuse_partition *g;
    const kernel_map *map;
    arena *work;
    uint32_t *kernel_of; /* [layers] the first kernel that it is in; UINT32_MAX: none */
    uint32_t *n_kernels; /* [layers] that it is in: one that was lowered may be in several */
    profile *p;          /* of the caller */
    profile_fusion *out;
    VEC(fusion_difference) differences;
    VEC(fusion_reason) reasons;
} beside;

static bool index_kernels(beside *b)
{
    fusion_engine *e = &b->out->engine;
    b->kernel_of = ARENA_ARRAY(b->work, uint32_t, b->f->n + (size_t)1);
    b->n_kernels = ARENA_ARRAY(b->work, uint32_t, b->f->n + (size_t)1);
    if (!b->kernel_of || !b->n_kernels)
        return false;
    memset(b->kernel_of, 0xff, sizeof *b->kernel_of * b->f->n);
    for (uint32_t k = 0; k < b->map->n_kernels; k++) {
        const kernel_row *row = &b->map->kernels[k];
        e->own_kernels += row->n == 0;
        for (uint32_t i = 0; i < row->n; i++) {
            uint32_t layer = b->map->layers[row->first + i];
            if (layer >= b->f->n)
                continue;
            b->n_kernels[layer]++;
            if (b->kernel_of[layer] == UINT32_MAX)
                b->kernel_of[layer] = k;
        }
    }
    e->kernels = b->map->n_kernels;
    return true;
}

/* Whether a layer takes part: the engine kept it, and it is more than another name for its input. */
static bool counts(const beside *b, uint32_t layer)
{
    return b->kernel_of[layer] != UINT32_MAX && !flow_is_view(b->f, layer);
}

static void put_name(const beside *b, sbuf *out, uint32_t layer)
{
    text_safe(out, b->p->layers[layer].name);
}

static void add_difference(beside *b, const char *what, uint32_t kernel, str kind, sbuf *detail)
{
    arena *a = b->p->arena;
    (void)VEC_ADD(
        a, &b->differences,
        (fusion_difference){.what = what,
                            .kernel = str_copy(a, b->map->kernels[kernel].name),
                            .op = str_copy(a, b->map->kernels[kernel].op),
                            .kind = str_copy(a, kind),
                            .detail = str_copy(a, (str){detail->p, (uint32_t)detail->n})});
    sbuf_free(detail);
}

/* A group that the engine runs as several kernels: its layers, a bar between kernels. */
static void list_split(beside *b, uint32_t group)
{
    sbuf detail = {0};
    uint32_t last = UINT32_MAX, shown = 0, first = UINT32_MAX;
    for (uint32_t i = b->g->first[group]; i < b->g->first[group + 1]; i++) {
        uint32_t layer = b->g->members[i];
        if (!counts(b, layer) || shown++ >= NAMES_SHOWN)
            continue;
        first = first == UINT32_MAX ? b->kernel_of[layer] : first;
        if (last != UINT32_MAX)
            sbuf_puts(&detail, last == b->kernel_of[layer] ? ", " : " | ");
        put_name(b, &detail, layer);
        if (b->n_kernels[layer] > 1)
            sbuf_printf(&detail, " (%u kernels)", b->n_kernels[layer]);
        last = b->kernel_of[layer];
    }
    add_difference(b, "split", first, b->out->groups[group].kind, &detail);
}

static void compare_group(beside *b, uint32_t group, bool *whole)
{
    fusion_engine *e = &b->out->engine;
    uint32_t n = 0, first = UINT32_MAX;
    bool one = true;
    for (uint32_t i = b->g->first[group]; i < b->g->first[group + 1]; i++) {
        uint32_t layer = b->g->members[i];
        if (!counts(b, layer))
            continue;
        first = n++ ? first : b->kernel_of[layer];
        one = one && b->kernel_of[layer] == first && b->n_kernels[layer] == 1;
    }
    if (!n)
        return;
    e->groups++;
    e->nodes += n;
    if (one && whole[first]) {
        e->same_groups++;
        e->same_nodes += n;
    } else if (!one) {
        list_split(b, group);
    }
}

/* A kernel whose layers lie in several groups. */
static bool within_one_group(beside *b, uint32_t kernel)
{
    const kernel_row *row = &b->map->kernels[kernel];
    uint32_t group = UINT32_MAX, n = 0;
    sbuf detail = {0};
    bool one = true;
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t layer = b->map->layers[row->first + i];
        if (layer >= b->f->n || !counts(b, layer))
            continue;
        one = one && (group == UINT32_MAX || group == b->g->group_of[layer]);
        if (n < NAMES_SHOWN) {
            sbuf_puts(&detail, n == 0 ? "" : group == b->g->group_of[layer] ? ", " : " | ");
            put_name(b, &detail, layer);
        }
        group = b->g->group_of[layer];
        n++;
    }
    if (!one)
        add_difference(b, "joined", kernel, b->out->groups[group].kind, &detail);
    sbuf_free(&detail);
    return one;
}

static void add_reason(beside *b, const char *what, uint32_t before, uint32_t after)
{
    arena *a = b->p->arena;
    str from = b->p->layers[before].type, to = b->p->layers[after].type;
    for (uint32_t k = 0; k < b->reasons.n; k++) {
        fusion_reason *r = &b->reasons.items[k];
        if (r->what == what && str_eq(r->before, from) && str_eq(r->after, to)) {
            r->pairs++;
            return;
        }
    }
    (void)VEC_ADD(a, &b->reasons, (fusion_reason){what, from, to, 1});
}

static int more_pairs(const void *a, const void *b)
{
    const fusion_reason *x = a, *y = b;
    if (x->pairs != y->pairs)
        return x->pairs < y->pairs ? 1 : -1;
    int by_name = str_cmp(x->before, y->before);
    return by_name ? by_name : str_cmp(x->after, y->after);
}

static void compare_pairs(beside *b)
{
    static const char *const splits = "split", *const joins = "joined";
    fusion_engine *e = &b->out->engine;
    for (uint32_t layer = 0; layer < b->f->n; layer++)
        for (uint32_t d = 0; counts(b, layer) && d < flow_n(&b->f->deps, layer); d++) {
            uint32_t on = flow_at(&b->f->deps, layer)[d];
            if (!counts(b, on))
                continue;
            bool ours = b->g->group_of[layer] == b->g->group_of[on];
            bool theirs = b->kernel_of[layer] == b->kernel_of[on];
            e->pairs_both += ours && theirs;
            e->pairs_ours += ours && !theirs;
            e->pairs_engine += !ours && theirs;
            if (ours != theirs)
                add_reason(b, ours ? splits : joins, on, layer);
        }
    if (b->reasons.n)
        qsort(b->reasons.items, b->reasons.n, sizeof *b->reasons.items, more_pairs);
}

static assay_status compare(beside *b, assay_error *err)
{
    bool *whole = ARENA_ARRAY(b->work, bool, b->map->n_kernels + (size_t)1);
    TRY_MEMORY(whole && index_kernels(b), err);
    for (uint32_t k = 0; k < b->map->n_kernels; k++)
        whole[k] = within_one_group(b, k);
    for (uint32_t g = 0; g < b->g->n_groups; g++)
        compare_group(b, g, whole);
    compare_pairs(b);
    b->out->engine.present = true;
    b->out->engine.reasons = b->reasons.items;
    b->out->engine.n_reasons = b->reasons.n;
    b->out->engine.differences = b->differences.items;
    b->out->engine.n_differences = b->differences.n;
    return arena_failed(b->p->arena) ? err_no_memory(err) : ASSAY_OK;
}

assay_status fuse_compare(const flow *f, const fuse_partition *g, const kernel_map *kernels,
                          arena *work, profile *p, assay_error *err)
{
    beside b = {.f = f, .g = g, .map = kernels, .work = work, .p = p, .out = p->fusion};
    return compare(&b, err);
}
