/* Views of layers: those with the most FLOPs, all layers, the module tree, and the time ledger of a run. */
#include "base/text.h"
#include "profile/layer_names.h"
#include "profile/time_groups.h"
#include "report/view_units.h"
#include "report/views_profile.h"

enum { GROUPS_SHOWN = 12, MODULE_DEPTH = 2 };

static const profile *profile_of(const view *v)
{
    return v->root.at;
}

static str patterns_of(const view *v)
{
    return str_of(v->o->layer_patterns);
}

/* ---- cells ---- */

static void put_type(const view *v, sbuf *b, const field_value *row)
{
    const profile_layer *l = row->at;
    (void)v;
    sbuf_str(b, l->type);
    if (l->times != 1)
        sbuf_printf(b, " ×%llu", (unsigned long long)l->times);
}

static void put_output(const view *v, sbuf *b, const field_value *row)
{
    const profile_layer *l = row->at;
    (void)v;
    if (l->n_outputs)
        profile_put_shape(b, &l->outputs[0].shape, "×");
}

static void put_bound(const view *v, sbuf *b, const field_value *row)
{
    const profile_layer *l = row->at;
    (void)v;
    sbuf_puts(b, l->certainty == PROFILE_UNKNOWN ? "unknown"
                 : !l->memory && !l->flops       ? "free"
                 : l->compute_bound              ? "compute"
                                                 : "memory");
}

static const view_column layer_columns[] = {
    VIEW_TEXT("layer", "{name:name}", .min = 22),
    VIEW_TEXT("type", NULL, .put = put_type, .keep = true, .min = 8, .tone = TONE_DIM),
    VIEW_TEXT("output", NULL, .put = put_output, .keep = true, .min = 12),
    VIEW_NUMBER("params", "{parameters:si}", .drop = 3),
    VIEW_NUMBER("MACs", "{macs:si}", .drop = 4),
    VIEW_NUMBER("FLOPs", "{flops:si}", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("share", "{flops/^total_flops:share1}", .drop = 5),
    VIEW_NUMBER("memory", "{memory:bytes}", .drop = 1),
    VIEW_NUMBER("F/B", "{arithmetic_intensity:intensity}", .keep = true),
    VIEW_TEXT("bound", NULL, .put = put_bound, .keep = true, .words = true),
};

/* ---- which of them ---- */

static uint32_t order_by_flops(const view *v, const field_value *layers, uint32_t *index)
{
    const profile_layer *l = layers->at;
    view_ranked *list = ARENA_ARRAY(v->a, view_ranked, layers->n);
    for (uint32_t i = 0; list && i < layers->n; i++)
        list[i] = (view_ranked){(double)l[i].flops, i};
    return list ? view_rank(list, layers->n, view_limit(v, VIEW_TOP_ONLY) + 1, index) : 0;
}

static uint32_t order_by_time(const view *v, const field_value *layers, uint32_t *index)
{
    const profile_layer *l = layers->at;
    view_ranked *list = ARENA_ARRAY(v->a, view_ranked, layers->n);
    uint32_t n = 0;
    for (uint32_t i = 0; list && i < layers->n; i++)
        if (l[i].time_ms > 0 && layer_is_one_of(&l[i], patterns_of(v)))
            list[n++] = (view_ranked){l[i].time_ms, i};
    return view_rank(list, n, n, index);
}

static uint32_t order_by_depth(const view *v, const field_value *modules, uint32_t *index)
{
    const profile_module *m = modules->at;
    uint32_t n = 0;
    for (uint32_t i = 0; i < modules->n; i++)
        if (m[i].depth <= v->o->depth)
            index[n++] = i;
    return n;
}

/* ---- layers and modules ---- */

static const view_table_row top_tables[] = {
    {VIEW_TABLE(NULL, "layers", layer_columns), .order = order_by_flops, .limit = VIEW_TOP_ONLY,
     .more = "--top N shows more, --verbose all"},
};
static const view_table_row layer_tables[] = {{.path = "layers", VIEW_COLUMNS(layer_columns)}};

static void put_module(const view *v, sbuf *b, const field_value *row)
{
    const profile_module *m = row->at;
    (void)v;
    sbuf_repeat(b, "  ", (unsigned)m->depth);
    sbuf_str(b, m->depth == 0 ? STR("whole model") : m->name);
}

static const view_column module_columns[] = {
    VIEW_TEXT("module", NULL, .put = put_module, .min = 16),
    VIEW_NUMBER("layers", "{layers:whole}", .keep = true),
    VIEW_NUMBER("params", "{parameters:si}", .keep = true),
    VIEW_NUMBER("MACs", "{macs:si}", .drop = 2),
    VIEW_NUMBER("FLOPs", "{flops:si}", .keep = true),
    VIEW_NUMBER("share", "{flops/^total_flops:share1}", .keep = true),
    VIEW_NUMBER("memory", "{memory:bytes}", .drop = 1),
};
static const view_table_row module_tables[] = {
    {.path = "modules", VIEW_COLUMNS(module_columns), .order = order_by_depth, .limit = UINT16_MAX},
};

static const view_section_row layers_rows[] = {
    {VIEW_SECTION("Top layers", "by FLOPs; F/B is FLOPs per byte", "all profile", "$top"),
     VIEW_TABLES(top_tables)},
    {VIEW_SECTION("All layers", "in the order they run", "all profile", "$verbose"),
     VIEW_TABLES(layer_tables)},
    {.title = "Modules", .in = "all", .when = "$depth", VIEW_TABLES(module_tables)},
};
const view_sections profile_layers_sections = VIEW_LIST(layers_rows);

/* ---- times by type, module and pattern ---- */

static uint32_t pick_groups(const field_value *groups, const char *by, int deepest, uint32_t *index)
{
    const profile_time_group *g = groups->at;
    uint32_t n = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        int depth = 1;
        for (uint32_t k = 0; k < g[i].name.n; k++)
            depth += g[i].name.p[k] == '.';
        if (strcmp(g[i].by, by) == 0 && (!deepest || depth <= deepest))
            index[n++] = i;
    }
    return n;
}

static uint32_t order_types(const view *v, const field_value *groups, uint32_t *index)
{
    (void)v;
    return pick_groups(groups, "type", 0, index);
}

static uint32_t order_modules(const view *v, const field_value *groups, uint32_t *index)
{
    return pick_groups(groups, "module", v->o->depth > 0 ? v->o->depth : MODULE_DEPTH, index);
}

static uint32_t order_patterns(const view *v, const field_value *groups, uint32_t *index)
{
    (void)v;
    return pick_groups(groups, "pattern", 0, index);
}

static void put_deviation(const view *v, sbuf *b, const field_value *row)
{
    const profile_time_group *g = row->at;
    if (g->time_std_ms >= 0)
        view_put(v, b, row, "± {time_std_ms:ms}");
}

static void put_group_bound(const view *v, sbuf *b, const field_value *row)
{
    const profile_time_group *g = row->at;
    (void)v;
    sbuf_puts(b, !g->layers ? "no layer" : g->compute_bound ? "compute" : "memory");
}

#define GROUP_COLUMNS(list, title_)                                                 \
    static const view_column list[] = {                                             \
        VIEW_TEXT(title_, "{name:name}", .min = 20),                                \
        {.title = "", .cell = "percent", .bar = true, .drop = 5},                   \
        VIEW_NUMBER("share", "{percent:percent}", .keep = true),                    \
        VIEW_NUMBER("layers", "{layers:whole}", .drop = 3),                         \
        VIEW_NUMBER("time", "{time_ms:ms}", .keep = true, .tone = TONE_STRONG),     \
        VIEW_TEXT("", NULL, .put = put_deviation, .keep = true, .tone = TONE_DIM),  \
        VIEW_NUMBER("FLOPs", "{flops:si}", .drop = 4),                              \
        VIEW_NUMBER("GFLOP/s", "{gflops_per_s:fixed1}", .keep = true),              \
        VIEW_NUMBER("GB/s", "{gbytes_per_s:fixed1}", .drop = 1),                    \
        VIEW_TEXT("bound", NULL, .put = put_group_bound, .words = true, .drop = 2), \
    }
GROUP_COLUMNS(type_columns, "type");
GROUP_COLUMNS(module_time_columns, "module");
GROUP_COLUMNS(pattern_columns, "pattern");

static const view_table_row group_tables[] = {
    {VIEW_TABLE("Time by type", "", type_columns), .order = order_types, .limit = GROUPS_SHOWN,
     .when = "!$patterns"},
    {VIEW_TABLE("Time by module", "", module_time_columns), .order = order_modules,
     .limit = GROUPS_SHOWN, .when = "!$patterns"},
    {VIEW_TABLE("Time by pattern", "", pattern_columns), .order = order_patterns,
     .limit = GROUPS_SHOWN, .when = "$patterns"},
};

/* What the file holds; sums alone of patterns that it does not, and of files without. */
static field_value time_groups_of(const view *v)
{
    const profile *p = profile_of(v);
    const profile_ledger *l = &p->measured->ledger;
    field_value list = fields_get(&v->root, "ledger.groups");
    time_groups g = {l->groups, l->n_groups};
    bool kept = g.n && (!patterns_of(v).n || time_groups_are_of(g, patterns_of(v)));
    if (!kept && !time_groups_make(p, NULL, 0, patterns_of(v), v->a, &g))
        g = (time_groups){0};
    return (field_value){
        .type = VALUE_LIST, .n = g.n, .at = g.items, .of = list.row->of, .row = list.row};
}

/* ---- the slowest layers ---- */

static const view_column time_columns[] = {
    VIEW_TEXT("layer", "{name:name}", .min = 24),
    VIEW_TEXT("type", "{type:text}", .keep = true, .min = 8, .tone = TONE_DIM),
    VIEW_NUMBER("time", "{time_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_TEXT("", "± {time_std_ms:ms}", .drop = 1, .tone = TONE_DIM),
    VIEW_NUMBER("share", "{time_ms/^ledger.run_ms:share1}", .keep = true),
    VIEW_NUMBER("FLOPs", "{flops:si}", .drop = 3),
    VIEW_NUMBER("GFLOP/s", "{gflops_per_s:fixed1}", .keep = true),
    VIEW_NUMBER("GB/s", "{gbytes_per_s:fixed1}", .drop = 2),
    VIEW_TEXT("bound", NULL, .put = put_bound, .words = true, .drop = 4),
    VIEW_NUMBER("of roof", "[{percent_of_roof:percent}]", .drop = 5),
};
static const view_table_row time_tables[] = {
    {VIEW_TABLE(NULL, "layers", time_columns), .order = order_by_time, .limit = VIEW_TOP,
     .more = ""},
};

static str time_remark(const view *v, double sum)
{
    double run = profile_of(v)->measured->ledger.run_ms;
    sbuf b = {0};
    if (!patterns_of(v).n)
        return STR("of one run; fused kernels shared out by cost");
    view_put_number(&b, sum, STR("ms"));
    sbuf_puts(&b, ", ");
    view_put_number(&b, run > 0 ? 100 * sum / run : 0, STR("percent"));
    sbuf_puts(&b, " of the run");
    str out = str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

static void add_slowest(view *v)
{
    const profile *p = profile_of(v);
    uint32_t n = 0, top = (uint32_t)(v->o->top > 0 ? v->o->top : 0);
    double sum = 0;
    for (uint32_t i = 0; i < p->n_layers; i++)
        if (p->layers[i].time_ms > 0 && layer_is_one_of(&p->layers[i], patterns_of(v))) {
            n++;
            sum += p->layers[i].time_ms;
        }
    uint32_t shown = v->o->verbose || top > n ? n : top;
    view_add_section(v, str_printf(v->a, "Slowest %u of %u timed layer%s", shown, n, TEXT_S(n)),
                     time_remark(v, sum));
    view_add_rows(v, time_tables, &v->root);
}

/* A table of nothing would leave the reader to guess. */
static bool add_missed(view *v)
{
    const profile *p = profile_of(v);
    sbuf b = {0};
    for (uint32_t i = 0; i < p->n_layers; i++)
        if (p->layers[i].time_ms > 0 && layer_is_one_of(&p->layers[i], patterns_of(v)))
            return false;
    layer_patterns_missed m = layer_patterns_check(p, patterns_of(v), &b);
    if (m.missed) {
        view_add_section(v, STR("Timed layers"), (str){0});
        view_add_line(v, TONE_FAIR, str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n}));
    }
    sbuf_free(&b);
    return m.missed > 0;
}

static void build_times(view *v)
{
    if (add_missed(v))
        return;
    field_value groups = time_groups_of(v);
    for (size_t i = 0; i < sizeof group_tables / sizeof *group_tables; i++)
        view_add_rows(v, &group_tables[i], &groups);
    add_slowest(v);
}

/* ---- the ledger ---- */

#define SHARE_OF_RUN(name_, path) \
    VIEW_FACT(name_, "{ledger." path ":ms}", "{ledger." path "/ledger.run_ms:share1}", NULL)
static const view_fact_row ledger_facts[] = {
    SHARE_OF_RUN("layers of the model", "layers_ms"),
    SHARE_OF_RUN("the engine's own kernels", "engine_ms"),
    SHARE_OF_RUN("dispatch between kernels", "dispatch_ms"),
    SHARE_OF_RUN("unexplained", "unexplained_ms"),
    SHARE_OF_RUN("run", "run_ms"),
};
static const view_line_row ledger_lines[] = {
    VIEW_LINE("{ledger.runs:whole run}, {ledger.kernels:whole kernel} of which "
              "{ledger.fused_kernels:whole} are fused of several layers; "
              "{ledger.layers_without_kernel:whole} layers have no kernel left. Subtracted for the "
              "profiler: {ledger.profiler_us_per_kernel:fixed2} µs in and "
              "{ledger.profiler_us_between:fixed2} µs between kernels.[ Median without the "
              "profiler: {+ledger.latency_ms:ms}.]",
              NULL, DIM),
    VIEW_LINE(
        "Memory: weights {planned_weight_bytes:bytes}; cache {planned_cache_bytes:bytes} "
        "planned[, {+cache_bytes:bytes} measured][; compute buffer "
        "{+planned_compute_bytes:bytes} planned][, {+compute_bytes:bytes} measured][; logits of "
        "every token {+planned_output_bytes:bytes} planned][; resident "
        "{+resident_bytes:bytes} at most].",
        NULL, DIM, .each = "generation", .limit = 1),
};

static const view_section_row times_rows[] = {
    {.in = "all layers", .when = "ledger", .build = build_times},
    {VIEW_SECTION("Ledger", "of one profiled run, without the profiler's own cost", "all layers",
                  "ledger"),
     VIEW_FACTS(ledger_facts), VIEW_LINES(ledger_lines)},
};
const view_sections profile_times_sections = VIEW_LIST(times_rows);
