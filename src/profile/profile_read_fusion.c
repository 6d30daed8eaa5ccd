/* Groups and patterns, read back. */
#include "profile/profile_read_impl.h"

/* A list of names: scanned here, because the tables have lists of objects and of numbers. */
static bool read_names(reader *r, const str **names, uint32_t *n)
{
    str *items = NULL;
    uint32_t cap = 0;
    *n = 0;
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        str *slot = read_push(r, (void **)&items, n, &cap, sizeof *items);
        if (!slot || !read_text(r, slot))
            return false;
    }
    *names = items;
    return !r->s.failed;
}

static bool read_group_nodes(reader *r, void *base)
{
    fusion_group *g = base;
    return read_names(r, &g->nodes, &g->n_nodes);
}

static bool read_pattern_nodes(reader *r, void *base)
{
    profile_pattern *p = base;
    return read_names(r, &p->nodes, &p->n_nodes);
}

static bool read_depends(reader *r, void *base)
{
    fusion_group *g = base;
    uint32_t *items = NULL, cap = 0;
    uint64_t v;
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        uint32_t *slot = read_push(r, (void **)&items, &g->n_depends_on, &cap, sizeof *items);
        if (!slot || !scan_u64(&r->s, &v))
            return false;
        if (v >= UINT32_MAX)
            return read_fail(r, "This is no number of a group.");
        *slot = (uint32_t)v;
    }
    g->depends_on = items;
    return !r->s.failed;
}

#define ROW_U32(T, k, m)                                 \
    {                                                    \
        .key = k, .kind = READ_U32, .at = offsetof(T, m) \
    }

static const read_row group_rows[] = {
    ROW_STR(fusion_group, "kind", kind),
    ROW_CALL("nodes", read_group_nodes),
    ROW_U64(fusion_group, "flops", flops),
    ROW_U64(fusion_group, "macs", macs),
    ROW_U64(fusion_group, "memory", memory),
    ROW_U64(fusion_group, "boundary_bytes", boundary_bytes),
    ROW_F64(fusion_group, "arithmetic_intensity", arithmetic_intensity, NULL_ZERO),
    ROW_F64(fusion_group, "intensity_before", intensity_before, NULL_ZERO),
    ROW_U64(fusion_group, "launches", launches),
    ROW_U32(fusion_group, "level", level),
    ROW_BOOL(fusion_group, "critical", critical),
    ROW_CALL("depends_on", read_depends),
};
const read_table read_group_table = {READ_TABLE(group_rows), .size = sizeof(fusion_group)};

static const read_row kind_rows[] = {
    ROW_STR(fusion_kind, "kind", kind),     ROW_U32(fusion_kind, "groups", groups),
    ROW_U32(fusion_kind, "nodes", nodes),   ROW_U64(fusion_kind, "flops", flops),
    ROW_U64(fusion_kind, "memory", memory), ROW_U64(fusion_kind, "boundary_bytes", boundary_bytes),
};
static const read_table kind_table = {READ_TABLE(kind_rows), .size = sizeof(fusion_kind)};

static bool finish_reason(reader *r, void *base)
{
    (void)r;
    fusion_reason *d = base;
    d->what = d->what ? d->what : "";
    return true;
}

static const read_row reason_rows[] = {
    ROW_WORD(fusion_reason, "what", what),
    ROW_STR(fusion_reason, "before", before),
    ROW_STR(fusion_reason, "after", after),
    ROW_U32(fusion_reason, "pairs", pairs),
};
static const read_table reason_table = {READ_TABLE(reason_rows), .size = sizeof(fusion_reason),
                                        .finish = finish_reason};

static bool finish_difference(reader *r, void *base)
{
    (void)r;
    fusion_difference *d = base;
    d->what = d->what ? d->what : "";
    return true;
}

static const read_row difference_rows[] = {
    ROW_WORD(fusion_difference, "what", what),    ROW_STR(fusion_difference, "kernel", kernel),
    ROW_STR(fusion_difference, "op", op),         ROW_STR(fusion_difference, "kind", kind),
    ROW_STR(fusion_difference, "detail", detail),
};
static const read_table difference_table = {
    READ_TABLE(difference_rows), .size = sizeof(fusion_difference), .finish = finish_difference};

static const read_row engine_rows[] = {
    ROW_STR(fusion_engine, "name", name),
    ROW_U32(fusion_engine, "kernels", kernels),
    ROW_U32(fusion_engine, "own_kernels", own_kernels),
    ROW_U32(fusion_engine, "nodes", nodes),
    ROW_U32(fusion_engine, "same_nodes", same_nodes),
    ROW_U32(fusion_engine, "groups", groups),
    ROW_U32(fusion_engine, "same_groups", same_groups),
    ROW_U32(fusion_engine, "joined_by_both", pairs_both),
    ROW_U32(fusion_engine, "joined_here_only", pairs_ours),
    ROW_U32(fusion_engine, "joined_there_only", pairs_engine),
    ROW_LIST(fusion_engine, "reasons", reasons, n_reasons, reason_table),
    ROW_LIST(fusion_engine, "differences", differences, n_differences, difference_table),
};
static const read_table engine_table = {READ_TABLE(engine_rows),
                                        .present = 1 + offsetof(fusion_engine, present)};

static const read_row fusion_rows[] = {
    ROW_WORD(doc, "strategy", fusion.strategy),
    ROW_U64(doc, "launches_before", fusion.launches_before),
    ROW_U64(doc, "launches_after", fusion.launches_after),
    ROW_U64(doc, "bytes_before", fusion.bytes_before),
    ROW_U64(doc, "bytes_after", fusion.bytes_after),
    ROW_F64(doc, "intensity_before", fusion.intensity_before, NULL_ZERO),
    ROW_F64(doc, "intensity_after", fusion.intensity_after, NULL_ZERO),
    ROW_U32(doc, "levels", fusion.levels),
    ROW_U32(doc, "widest_level", fusion.widest_level),
    ROW_U32(doc, "widest_groups", fusion.widest_groups),
    ROW_U32(doc, "critical_groups", fusion.critical_groups),
    ROW_U64(doc, "critical_flops", fusion.critical_flops),
    ROW_U64(doc, "critical_bytes", fusion.critical_bytes),
    ROW_F64(doc, "concurrency", fusion.concurrency, NULL_ZERO),
    ROW_LIST(doc, "kinds", fusion.kinds, fusion.n_kinds, kind_table),
    ROW_OBJECT(doc, "engine", fusion.engine, engine_table),
};
const read_table read_fusion_table = {READ_TABLE(fusion_rows),
                                      .present = 1 + offsetof(doc, has_fusion)};

static bool finish_pattern(reader *r, void *base)
{
    (void)r;
    profile_pattern *p = base;
    p->name = p->name ? p->name : "";
    p->form = p->form ? p->form : "";
    return true;
}

static const read_row pattern_rows[] = {
    ROW_WORD(profile_pattern, "name", name),     ROW_WORD(profile_pattern, "form", form),
    ROW_STR(profile_pattern, "output", output),  ROW_CALL("nodes", read_pattern_nodes),
    ROW_BOOL(profile_pattern, "native", native), ROW_U64(profile_pattern, "flops", flops),
    ROW_U64(profile_pattern, "macs", macs),
};
static const read_table pattern_table = {READ_TABLE(pattern_rows), .size = sizeof(profile_pattern),
                                         .finish = finish_pattern};

bool read_patterns(reader *r, void *base)
{
    doc *d = base;
    void *items;
    if (!read_list(r, &pattern_table, &items, &d->p.n_patterns))
        return false;
    d->p.patterns = items;
    d->p.has_patterns = true;
    return true;
}

bool read_finish_fusion(reader *r, doc *d)
{
    if (!d->has_fusion)
        return true;
    for (uint32_t i = 0; i < d->fusion.n_groups; i++)
        for (uint32_t k = 0; k < d->fusion.groups[i].n_depends_on; k++)
            if (d->fusion.groups[i].depends_on[k] >= d->fusion.n_groups)
                return read_fail(r, "A group depends on one that \"groups\" does not have.");
    d->p.fusion = ARENA_NEW(r->arena, profile_fusion);
    if (!d->p.fusion)
        return read_no_memory(r);
    *d->p.fusion = d->fusion;
    if (!d->p.fusion->strategy)
        d->p.fusion->strategy = "";
    return true;
}
