/* Views of fusion: savings by kind, the groups that save most, and differences from the engine. Patterns: number and
 * form of each. */
#include "base/num.h"
#include "report/view_units.h"
#include "report/views_profile.h"

/* ---- the whole ---- */

#define CHANGE(name_, path, unit)                                                             \
    VIEW_FACT(name_, "{fusion." path "_before:" unit "} → {fusion." path "_after:" unit "}",  \
              "[{+fusion." path "_saved:" unit "} saved, {fusion." path "_saved/fusion." path \
              "_before:share1}]",                                                             \
              NULL)
static const view_fact_row fusion_facts[] = {
    VIEW_FACT("Groups", "{groups.@count:whole}", "of {layers.@count:whole layer}", NULL),
    CHANGE("Launches", "launches", "whole"),
    CHANGE("Bytes moved", "bytes", "bytes"),
    VIEW_FACT("Intensity", "{fusion.intensity_before:fixed2} → {fusion.intensity_after:fixed2}",
              "FLOPs per byte", NULL),
    VIEW_FACT("Levels", "{fusion.levels:whole}",
              "at most {fusion.widest_groups:whole} side by side, at level "
              "{fusion.widest_level:whole}",
              NULL),
    VIEW_FACT("Critical path", "{fusion.critical_groups:whole group}",
              "{fusion.critical_flops:flops}[; concurrency {fusion.concurrency:fixed2}]", NULL),
};

static const view_column kind_columns[] = {
    VIEW_TEXT("kind", "{kind:text}", .min = 16),
    VIEW_NUMBER("groups", "{groups:whole}", .keep = true),
    VIEW_NUMBER("layers", "{nodes:whole}", .keep = true),
    VIEW_NUMBER("FLOPs", "{flops:si}", .drop = 2),
    VIEW_NUMBER("alone", "{memory:bytes}", .drop = 1, .tone = TONE_DIM),
    VIEW_NUMBER("fused", "{boundary_bytes:bytes}", .keep = true),
    VIEW_NUMBER("saved", "{saved_bytes:bytes}", .keep = true, .tone = TONE_STRONG),
};
static const view_table_row kind_tables[] = {
    {.path = "fusion.kinds", VIEW_COLUMNS(kind_columns), .limit = 16},
};

/* ---- groups ---- */

/* All in their order when everything is requested, else those that save most. */
static uint32_t order_groups(const view *v, const field_value *groups, uint32_t *index)
{
    const fusion_group *g = groups->at;
    view_ranked *list = ARENA_ARRAY(v->a, view_ranked, groups->n);
    for (uint32_t i = 0; list && i < groups->n; i++)
        list[i] = (view_ranked){v->o->verbose ? 0 : (double)g[i].saved_bytes, i};
    return list ? view_rank(list, groups->n, groups->n, index) : 0;
}

static void put_id(const view *v, sbuf *b, const field_value *row)
{
    const fusion_group *g = row->at;
    (void)v;
    sbuf_printf(b, "%u%s", g->id, g->critical ? "*" : " ");
}

static void put_nodes(const view *v, sbuf *b, const field_value *row)
{
    const fusion_group *g = row->at;
    (void)v;
    profile_put_name(b, g->n_nodes ? g->nodes[0] : (str){0});
    if (g->n_nodes > 1) {
        sbuf_puts(b, g->n_nodes > 2 ? " … " : ", ");
        profile_put_name(b, g->nodes[g->n_nodes - 1]);
    }
}

static const view_column group_columns[] = {
    VIEW_NUMBER("id", NULL, .put = put_id, .tone = TONE_DIM),
    VIEW_TEXT("kind", "{kind:text}", .keep = true, .min = 12),
    VIEW_NUMBER("level", "{level:whole}", .drop = 3, .tone = TONE_DIM),
    VIEW_NUMBER("FLOPs", "{flops:si}", .drop = 2),
    VIEW_NUMBER("fused", "{boundary_bytes:bytes}", .drop = 1),
    VIEW_NUMBER("saved", "{saved_bytes:bytes}", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("F/B", "{intensity_before:fixed1}", .drop = 4, .tone = TONE_DIM),
    VIEW_NUMBER("F/B fused", "{arithmetic_intensity:fixed1}", .drop = 4),
    VIEW_TEXT("layers", NULL, .put = put_nodes, .keep = true, .min = 16),
};
static const view_table_row group_tables[] = {
    {VIEW_TABLE(NULL, "groups", group_columns), .order = order_groups, .limit = VIEW_TOP,
     .more = "--top N shows more, --verbose all"},
};

/* ---- the engine ---- */

static const view_line_row engine_lines[] = {
    VIEW_LINE("{fusion.engine.same_groups:whole} of {fusion.engine.groups:whole group} are kernels "
              "of the engine's ({fusion.engine.same_groups/fusion.engine.groups:share1}), with "
              "{fusion.engine.same_nodes:whole} of {fusion.engine.nodes:whole layer} "
              "({fusion.engine.same_nodes/fusion.engine.nodes:share1}); "
              "{fusion.engine.kernels:whole kernel} run, {fusion.engine.own_kernels:whole} of them "
              "its own copies and layout changes. Of pairs of layers, "
              "{fusion.engine.joined_by_both:whole} are joined by both, "
              "{fusion.engine.joined_here_only:whole} here only, "
              "{fusion.engine.joined_there_only:whole} there only.",
              NULL, PLAIN),
};
static const view_column reason_columns[] = {
    VIEW_TEXT("engine", "{what:text}", .tone = TONE_FAIR),
    VIEW_TEXT("between", "{before:text}", .keep = true, .min = 12),
    VIEW_TEXT("and", "{after:text}", .keep = true, .min = 12),
    VIEW_NUMBER("times", "{pairs:whole}", .keep = true),
};
static const view_column difference_columns[] = {
    VIEW_TEXT("engine", "{what:text}", .tone = TONE_FAIR),
    VIEW_TEXT("kernel", "{op:text}", .keep = true, .min = 12),
    VIEW_TEXT("group", "{kind:text}", .keep = true, .min = 8),
    VIEW_TEXT("layers", "{detail:text}", .keep = true, .min = 20),
};
static const view_table_row engine_tables[] = {
    {.path = "fusion.engine.reasons", VIEW_COLUMNS(reason_columns), .limit = 8},
    {.path = "fusion.engine.differences", VIEW_COLUMNS(difference_columns), .limit = 6},
};

/* ---- patterns ---- */

static bool same_pattern(const profile_pattern *x, const profile_pattern *y)
{
    return strcmp(x->name, y->name) == 0 && strcmp(x->form, y->form) == 0 && x->native == y->native;
}

/* The first of each name and form. */
static uint32_t order_patterns(const view *v, const field_value *patterns, uint32_t *index)
{
    const profile_pattern *x = patterns->at;
    uint32_t n = 0;
    (void)v;
    for (uint32_t i = 0; i < patterns->n; i++) {
        uint32_t k = 0;
        while (k < n && !same_pattern(&x[index[k]], &x[i]))
            k++;
        if (k == n)
            index[n++] = i;
    }
    return n;
}

typedef struct pattern_sums {
    uint64_t count, nodes, flops;
} pattern_sums;

static pattern_sums sum_patterns(const view *v, const profile_pattern *of)
{
    const profile *p = v->root.at;
    pattern_sums s = {0};
    for (uint32_t i = 0; i < p->n_patterns; i++) {
        if (!same_pattern(&p->patterns[i], of))
            continue;
        s.count++;
        s.nodes += p->patterns[i].n_nodes;
        s.flops = sat_add(s.flops, p->patterns[i].flops);
    }
    return s;
}

static void put_form(const view *v, sbuf *b, const field_value *row)
{
    const profile_pattern *x = row->at;
    (void)v;
    sbuf_puts(b, x->native ? "one operator" : x->form);
}

static void put_count(const view *v, sbuf *b, const field_value *row)
{
    view_put_number(b, (double)sum_patterns(v, row->at).count, STR("whole"));
}

static void put_pattern_layers(const view *v, sbuf *b, const field_value *row)
{
    view_put_number(b, (double)sum_patterns(v, row->at).nodes, STR("whole"));
}

static void put_pattern_flops(const view *v, sbuf *b, const field_value *row)
{
    view_put_number(b, (double)sum_patterns(v, row->at).flops, STR("si"));
}

static const view_column pattern_columns[] = {
    VIEW_TEXT("pattern", "{name:text}"),
    VIEW_TEXT("form", NULL, .put = put_form, .keep = true, .min = 8, .tone = TONE_DIM),
    VIEW_NUMBER("count", NULL, .put = put_count, .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("layers", NULL, .put = put_pattern_layers, .keep = true),
    VIEW_NUMBER("FLOPs", NULL, .put = put_pattern_flops, .keep = true),
    VIEW_TEXT("first", "{output:name}", .keep = true, .min = 16, .tone = TONE_DIM),
};
static const view_table_row pattern_tables[] = {
    {.path = "patterns", VIEW_COLUMNS(pattern_columns), .order = order_patterns},
};

static void build_patterns(view *v)
{
    const profile *p = v->root.at;
    if (p->has_patterns && !p->n_patterns)
        view_add_line(v, TONE_PLAIN, STR("None that is known."));
}

static const view_section_row fusion_rows[] = {
    {VIEW_SECTION("Fusion", "{fusion.strategy:text}", "all fuse", "fusion"), .first = true,
     VIEW_FACTS(fusion_facts)},
    {VIEW_SECTION("Kinds", "bytes moved by layers alone and by groups", "all fuse", "fusion"),
     VIEW_TABLES(kind_tables)},
    {VIEW_SECTION("Groups", "that save most; * is on the critical path", "all fuse",
                  "fusion,!$verbose"),
     VIEW_TABLES(group_tables)},
    {VIEW_SECTION("Groups", "in the order they run; * is on the critical path", "all fuse",
                  "fusion,$verbose"),
     VIEW_TABLES(group_tables)},
    {VIEW_SECTION("Compared with the engine", "{fusion.engine.name:text}", "all fuse",
                  "fusion.engine"),
     .first = true, VIEW_LINES(engine_lines)},
    {.in = "all fuse", .when = "fusion.engine", VIEW_TABLES(engine_tables)},
    {VIEW_SECTION("Patterns", "what the file writes as several operators", "all fuse", NULL),
     .first = true, .build = build_patterns, VIEW_TABLES(pattern_tables)},
};
const view_sections profile_fusion_sections = VIEW_LIST(fusion_rows);
