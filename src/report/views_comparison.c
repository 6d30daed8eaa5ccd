/* The view of comparisons: totals side by side, times, operator types, and for two models the layers that differ. */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "profile/comparison.h"
#include "report/view_units.h"
#include "report/views.h"

enum { TYPES_SHOWN = 12, COLUMNS_SHOWN = 8, PEAK_SHOWN = 5 };

#define TOTAL(title_, member)                                       \
    {                                                               \
        .title = (title_), .cell = "[{" member "}]", .right = true, \
        .rest = "[ ({+ratios." member ":ratio})]"                   \
    }

static const view_column total_columns[] = {
    TOTAL("Parameters", "parameters"),
    TOTAL("Model size", "weight_bytes"),
    TOTAL("Operators", "operators"),
    TOTAL("MACs", "macs"),
    TOTAL("FLOPs", "flops"),
    TOTAL("FLOPs per parameter", "flops_per_param"),
    TOTAL("Memory traffic", "memory"),
    TOTAL("FLOPs per byte", "arithmetic_intensity"),
    TOTAL("Activation peak", "activations_peak_bytes"),
    TOTAL("Peak memory", "peak_bytes"),
    TOTAL("Median latency", "p50_ms"),
    TOTAL("Throughput /s", "samples_per_second"),
    TOTAL("Memory used", "memory_used_bytes"),
};
static const view_table_row total_tables[] = {
    {.path = "models", VIEW_COLUMNS(total_columns), .across = "{label:text}"},
};

/* More than four models do not fit beside each other: they are rows. */
#define FEW  "5>models.@count"
#define MANY "models.@count>4"

static const view_column model_columns[] = {
    VIEW_TEXT("Model", "{label:text}", .min = 12),
    VIEW_NUMBER("Parameters", "{parameters:si}"),
    VIEW_NUMBER("FLOPs", "{flops:si}"),
    VIEW_NUMBER("", "[{+ratios.flops:ratio}]", .tone = TONE_DIM),
    VIEW_NUMBER("MACs", "{macs:si}"),
    VIEW_NUMBER("Model size", "{weight_bytes:bytes}"),
    VIEW_NUMBER("Peak memory", "{peak_bytes:bytes}"),
    VIEW_NUMBER("Median", "[{p50_ms:ms}]"),
    VIEW_NUMBER("Samples/s", "[{samples_per_second:rate}]"),
    VIEW_NUMBER("Memory used", "[{memory_used_bytes:bytes}]"),
    VIEW_NUMBER("Traffic", "{memory:bytes}"),
    VIEW_NUMBER("FLOPs/byte", "{arithmetic_intensity:intensity}"),
    VIEW_NUMBER("Activations", "{activations_peak_bytes:bytes}"),
    VIEW_NUMBER("Operators", "{operators:whole}"),
    VIEW_NUMBER("FLOPs/param", "{flops_per_param:fixed1}"),
};
static const view_table_row model_tables[] = {
    {.path = "models", VIEW_COLUMNS(model_columns), .wraps = true},
};

/* ---- devices ---- */

/* The first place of each device. */
static uint32_t distinct_devices(const field_value *places, uint32_t *first)
{
    const comparison_place *p = places->at;
    uint32_t n = 0;
    for (uint32_t i = 0; i < places->n; i++) {
        uint32_t k = 0;
        while (k < n && !str_eq(p[first[k]].device, p[i].device))
            k++;
        if (k == n)
            first[n++] = i;
    }
    return n;
}

/* "[0.42, 0.81] ms, limit 0.38 ms": of what a saved result has. */
static str interval_cell(const view *v, const field_value *place)
{
    sbuf b = {0};
    str out = STR("–");
    field_value low = fields_get(place, "latency_low_ms");
    field_value high = fields_get(place, "latency_high_ms");
    double from = fields_number(&low), to = fields_number(&high);
    if (isfinite(from) && from > 0 && isfinite(to))
        view_put_interval(&b, from, to);
    if (b.n)
        view_put(v, &b, place, "[, limit {+limit_ms:ms}]");
    if (b.n && !b.failed)
        out = str_copy(v->a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

/* `pattern` NULL: the interval. */
static str place_cell(const view *v, const field_value *places, str device, str label,
                      const char *pattern)
{
    const comparison_place *p = places->at;
    for (uint32_t i = 0; i < places->n; i++)
        if (str_eq(p[i].device, device) && str_eq(p[i].label, label)) {
            field_value place = fields_item(places, i);
            if (!p[i].fits)
                return STR("does not fit");
            return pattern ? view_text(v, &place, pattern) : interval_cell(v, &place);
        }
    return STR("–");
}

/* A row for each device, a column for each model. */
static void add_places(view *v, const char *pattern)
{
    field_value places = fields_get(&v->root, "placements");
    field_value models = fields_get(&v->root, "models");
    uint32_t *first = ARENA_ARRAY(v->a, uint32_t, places.n + 1u);
    uint32_t n = first ? distinct_devices(&places, first) : 0;
    view_table *t = n ? view_add_table(v, models.n + 1, n) : NULL;
    if (!t)
        return;
    t->wraps = true;
    t->n_listed = n;
    t->heads[0] = (view_head){.title = STR("Device")};
    for (uint32_t r = 0; r < n; r++)
        t->cells[(size_t)r * t->n_columns] = ((const comparison_place *)places.at)[first[r]].device;
    for (uint32_t m = 0; m < models.n; m++) {
        field_value model = fields_item(&models, m);
        str label = ((const comparison_model *)models.at)[m].label;
        t->heads[m + 1] = (view_head){.title = view_text(v, &model, "{label:text}"), .right = true};
        for (uint32_t r = 0; r < n; r++) {
            str *cells = t->cells + (size_t)r * t->n_columns;
            cells[m + 1] = place_cell(v, &places, cells[0], label, pattern);
        }
    }
}

static void add_latencies(view *v)
{
    add_places(v, "{latency_ms:ms} {precision:text}[{?+tie:, tie}][{?+imprecise:, imprecise}]");
}

static void add_intervals(view *v)
{
    add_places(v, NULL);
}

static void add_rates(view *v)
{
    add_places(v, "{best_throughput:rate} at {best_batch:whole}");
}

static const view_line_row place_lines[] = {
    VIEW_LINE("Times are expectations of the default runtime of each device. "
              "`assay map MODEL` shows precisions, batches and layers of one model.",
              NULL, DIM),
};

/* ---- a budget ---- */

/* A file may name more or fewer uses than limits. */
static void fill_rank(const view *v, const field_value *rank, uint32_t limits, str *cells)
{
    field_value uses = fields_get(rank, "uses");
    cells[0] = view_text(v, rank, "{label:text}");
    cells[1] = view_text(v, rank, "{verdict:text}");
    cells[2] = view_text(v, rank, "[{share:share} of {tightest:text}]");
    for (uint32_t i = 0; i < uses.n && i < limits; i++) {
        field_value use = fields_item(&uses, i);
        cells[3 + i] = view_text(v, &use, "{value:unit}|–");
    }
}

/* A column for each limit, the limits in the first row. */
static void fill_limits(const view *v, const field_value *limits, view_table *t)
{
    t->heads[0] = (view_head){.title = STR("Model"), .min = 12};
    t->heads[1] = (view_head){.title = STR("Verdict"), .words = true};
    t->heads[2] = (view_head){.title = STR("Uses"), .right = true};
    t->cells[0] = STR("limit");
    for (uint32_t i = 0; i < limits->n; i++) {
        field_value limit = fields_item(limits, i);
        t->heads[3 + i] = (view_head){.title = view_text(v, &limit, "{metric:text}"),
                                      .right = true};
        t->cells[3 + i] = view_text(v, &limit, "{operator:text} {limit:unit}");
    }
}

static void add_budget(view *v)
{
    field_value limits = fields_get(&v->root, "budget.limits");
    field_value ranking = fields_get(&v->root, "budget.ranking");
    view_table *t = ranking.n ? view_add_table(v, 3 + limits.n, 1 + ranking.n) : NULL;
    if (!t)
        return;
    t->wraps = true;
    fill_limits(v, &limits, t);
    for (uint32_t r = 0; r < ranking.n; r++) {
        field_value rank = fields_item(&ranking, r);
        fill_rank(v, &rank, limits.n, t->cells + (size_t)(r + 1) * t->n_columns);
    }
}

static const view_line_row budget_lines[] = {
    {.text = "No model is known to fit.", .when = "budget.fits=0", .tone = TONE_FAIR},
    {.each = "budget.ranking", .when = "+why", .text = "{label:text}: {why:text}."},
    VIEW_LINE("Memory is planned where it was not measured: weights and activations.",
              "budget.planned=true", DIM),
};

/* ---- times ---- */

static const view_column timing_columns[] = {
    VIEW_TEXT("Verdict", "{verdict:text}"),
    VIEW_TEXT("Model", "{label:text}", .min = 12),
    VIEW_NUMBER("Time", "[{ratio:fixed3}×]", .drop = 1),
    VIEW_NUMBER("99 % interval", "[{ratio_ci99_low:fixed3} to {ratio_ci99_high:fixed3}]",
                .drop = 2),
    VIEW_NUMBER("Runs", "{runs:whole}", .drop = 3),
};
static const view_table_row timing_tables[] = {
    {.path = "measured", VIEW_COLUMNS(timing_columns), .mark = "verdict"},
};
static const view_line_row timing_lines[] = {
    {.each = "measured", .when = "+why", .text = "{label:text}: {why:text}"},
    {.each = "measured", .when = "+opinion", .text = "{label:text}: {opinion:text}"},
};

/* ---- types ---- */

/* "8.17 G    53×", or the FLOPs alone; "–" where the model has none of the type. */
static str type_cell(const view *v, const field_value *type, uint32_t model, bool counted)
{
    field_value flops = fields_get(type, "flops"), count = fields_get(type, "count");
    field_value f = fields_item(&flops, model), n = fields_item(&count, model);
    sbuf b = {0};
    if (!fields_is_set(&n))
        return STR("–");
    text_si(&b, fields_number(&f), -1);
    if (counted)
        sbuf_printf(&b, "  %4" PRIu64 "×", n.u);
    str cell = b.failed ? (str){0} : str_copy(v->a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return cell;
}

static void fill_types(const view *v, view_table *t, const field_value *types,
                       const field_value *models)
{
    t->heads[0] = (view_head){.title = STR("Type")};
    for (uint32_t m = 0; m < models->n; m++) {
        field_value model = fields_item(models, m);
        t->heads[m + 1] = (view_head){.title = view_text(v, &model, "{label:text}"), .right = true};
    }
    for (uint32_t r = 0; r < t->n_rows; r++) {
        field_value type = fields_item(types, r);
        str *cells = t->cells + (size_t)r * t->n_columns;
        cells[0] = fields_get(&type, "type").text;
        for (uint32_t m = 0; m < models->n; m++)
            cells[m + 1] = type_cell(v, &type, m, true);
    }
}

static void add_types(view *v)
{
    field_value types = fields_get(&v->root, "types"), models = fields_get(&v->root, "models");
    uint32_t shown = v->o->verbose || types.n < TYPES_SHOWN ? types.n : TYPES_SHOWN;
    view_table *t = shown && models.n ? view_add_table(v, models.n + 1, shown) : NULL;
    if (!t)
        return;
    t->n_listed = types.n;
    t->wraps = true;
    fill_types(v, t, &types, &models);
}

/* Of many models: a row for each, a column for each type. */
static void add_types_by_model(view *v)
{
    field_value types = fields_get(&v->root, "types"), models = fields_get(&v->root, "models");
    uint32_t shown = v->o->verbose || types.n < COLUMNS_SHOWN ? types.n : COLUMNS_SHOWN;
    view_table *t = shown && models.n ? view_add_table(v, shown + 1, models.n) : NULL;
    if (!t)
        return;
    t->n_listed = models.n;
    t->wraps = true;
    t->heads[0] = (view_head){.title = STR("Model")};
    for (uint32_t m = 0; m < models.n; m++) {
        field_value model = fields_item(&models, m);
        t->cells[(size_t)m * t->n_columns] = view_text(v, &model, "{label:text}");
    }
    for (uint32_t i = 0; i < shown; i++) {
        field_value type = fields_item(&types, i);
        t->heads[i + 1] = (view_head){.title = view_text(v, &type, "{type:text}"), .right = true};
        for (uint32_t m = 0; m < models.n; m++)
            t->cells[(size_t)m * t->n_columns + i + 1] = type_cell(v, &type, m, false);
    }
}

static const view_line_row type_lines[] = {
    VIEW_LINE("{types.@count:whole type} of operators; --verbose shows all.",
              "types.@count>8,!$verbose", DIM),
};

/* ---- layers of two ---- */

static const view_column change_columns[] = {
    VIEW_TEXT("Change", "{change:text}", .tone = TONE_DIM),
    VIEW_TEXT("Layer", "{name:name}", .min = 16, .drop = 1),
    VIEW_TEXT("Type", "{type:text}", .drop = 8, .tone = TONE_DIM),
    VIEW_TEXT("Output", "[{shapes:text}]", .drop = 9, .tone = TONE_DIM),
    VIEW_NUMBER("MACs", "{difference.macs:+si}", .drop = 2),
    VIEW_NUMBER("Params", "{difference.parameters:+si}", .drop = 3),
    VIEW_NUMBER("Bytes moved", "{difference.memory:+bytes}", .drop = 4),
};
static const view_table_row change_tables[] = {
    {VIEW_TABLE(NULL, "layers", change_columns), .limit = VIEW_TOP,
     .more = "--top N or --verbose shows them."},
};
static const view_line_row change_lines[] = {
    VIEW_LINE("{name:name}: {changes:text}", "+changes", DIM, .each = "layers", .limit = VIEW_TOP),
    {.when = "same_layers,!layers", .text = "None: the two models are equal.", .tone = TONE_GOOD},
};

static const view_column peak_columns[] = {
    VIEW_TEXT("Live at the peak, made by", "{name:name}", .min = 16),
    VIEW_NUMBER("First", "{before.peak_bytes}"),
    VIEW_NUMBER("Second", "{after.peak_bytes}"),
    VIEW_NUMBER("Difference", "{difference.peak_bytes:+bytes}", .drop = 1),
};
static const view_table_row peak_tables[] = {
    {.path = "peak", VIEW_COLUMNS(peak_columns), .limit = PEAK_SHOWN},
};

static const view_column time_columns[] = {
    VIEW_TEXT("Layer", "{name:name}", .min = 16),
    VIEW_TEXT("Type", "{type:text}", .drop = 9, .tone = TONE_DIM),
    VIEW_NUMBER("First", "{before.time_ms:ms}"),
    VIEW_NUMBER("Second", "{after.time_ms:ms}"),
    VIEW_NUMBER("Difference", "{difference.time_ms:+ms}", .drop = 1),
};
static const view_table_row time_tables[] = {
    {VIEW_TABLE(NULL, "times", time_columns), .limit = VIEW_TOP,
     .more = "--top N or --verbose shows them."},
};

/* ---- the whole ---- */

static void name_models(view *v)
{
    field_value list = fields_get(&v->root, "models");
    sbuf b = {0};
    for (uint32_t i = 0; i < list.n; i++) {
        field_value model = fields_item(&list, i);
        sbuf_puts(&b, i ? " · " : "");
        view_put(v, &b, &model, "{label:text}");
    }
    if (b.n && !b.failed)
        v->title = str_copy(v->a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

/* Values that are not exact must not look like exact ones. */
static void begin_comparison(view *v)
{
    field_value list = fields_get(&v->root, "models");
    name_models(v);
    if (view_holds(v, &v->root, "+machine_busy"))
        view_add_banner(v, TONE_FAIR,
                        view_text(v, &v->root, "Machine too busy: {machine_busy:text}."));
    for (uint32_t i = 0; i < list.n; i++) {
        field_value model = fields_item(&list, i);
        if (view_holds(v, &model, "+assumed/+unknown"))
            view_add_banner(v, TONE_FAIR,
                            view_text(v, &model,
                                      "{label:text}: of {operators:whole operator} {assumed:whole} "
                                      "assumed, {unknown:whole} unknown and not counted."));
    }
}

#define PEAK(n) "models." #n ".activations_peak_bytes"

static const view_section_row comparison_sections[] = {
    {VIEW_SECTION("Budget", "models that fit first, highest use first", NULL, "budget"),
     .first = true, .build = add_budget, VIEW_LINES(budget_lines)},
    {VIEW_SECTION("Latency by device", "of the smallest batch, at the fastest precision that fits",
                  NULL, "placements"),
     .first = true, .build = add_latencies},
    {VIEW_SECTION("Intervals by device",
                  "80 % of models are within; no kernel is faster than the limit", NULL,
                  "placements"),
     .build = add_intervals},
    {VIEW_SECTION("Samples/s by device", "the most of the listed batches, and at which", NULL,
                  "placements"),
     .build = add_rates, VIEW_LINES(place_lines)},
    {VIEW_SECTION("Totals", "ratios are to the first", NULL, FEW), .first = true,
     VIEW_TABLES(total_tables)},
    {VIEW_SECTION("Totals", "the ratio is of FLOPs, to the first", NULL, MANY), .first = true,
     VIEW_TABLES(model_tables)},
    {VIEW_SECTION("Measured", "turn by turn in one process; time over that of the first", NULL,
                  "measured,measured.@last.interleaved=true"),
     .first = true, VIEW_TABLES(timing_tables), VIEW_LINES(timing_lines)},
    {VIEW_SECTION("Measured", "by the runs that were saved; time over that of the first", NULL,
                  "measured,measured.@last.interleaved=false"),
     .first = true, VIEW_TABLES(timing_tables), VIEW_LINES(timing_lines)},
    {VIEW_SECTION("FLOPs by operator type", "and how many operators", NULL, FEW ",!placements"),
     .build = add_types},
    {VIEW_SECTION("FLOPs by operator type", NULL, NULL, MANY ",!placements"),
     .build = add_types_by_model, VIEW_LINES(type_lines)},
    {VIEW_SECTION("Layers behind the difference",
                  "{same_layers:whole} are the same, {renamed_layers:whole} more but for the name",
                  NULL, "same_layers,!placements"),
     VIEW_TABLES(change_tables), VIEW_LINES(change_lines)},
    {VIEW_SECTION("Activation peak by layer", NULL, NULL,
                  PEAK(0) ">" PEAK(1) "/" PEAK(1) ">" PEAK(0) ",!placements"),
     VIEW_TABLES(peak_tables)},
    {VIEW_SECTION("Time by layer", "measured; single layers are not checked", NULL, NULL),
     VIEW_TABLES(time_tables)},
};

static const view_column csv_models[] = {
    VIEW_TEXT("model", "label"),
    VIEW_TEXT("parameters", "parameters", .drop = 1),
    VIEW_TEXT("weight_bytes", "weight_bytes", .drop = 1),
    VIEW_TEXT("operators", "operators", .drop = 1),
    VIEW_TEXT("macs", "macs", .drop = 1),
    VIEW_TEXT("flops", "flops", .drop = 1),
    VIEW_TEXT("flops_per_param", "flops_per_param", .drop = 1),
    VIEW_TEXT("memory", "memory", .drop = 1),
    VIEW_TEXT("arithmetic_intensity", "arithmetic_intensity", .drop = 1),
    VIEW_TEXT("activations_peak_bytes", "activations_peak_bytes", .drop = 1),
    VIEW_TEXT("peak_bytes", "peak_bytes", .drop = 1),
    VIEW_TEXT("p50_ms", "p50_ms", .drop = 1),
    VIEW_TEXT("samples_per_second", "samples_per_second", .drop = 1),
    VIEW_TEXT("memory_used_bytes", "memory_used_bytes", .drop = 1),
};
static const view_column csv_layers[] = {
    VIEW_TEXT("change", "change"),
    VIEW_TEXT("before", "before.name"),
    VIEW_TEXT("after", "after.name"),
    VIEW_TEXT("type", "type"),
    VIEW_TEXT("macs", "difference.macs"),
    VIEW_TEXT("flops", "difference.flops"),
    VIEW_TEXT("parameters", "difference.parameters"),
    VIEW_TEXT("memory", "difference.memory"),
    VIEW_TEXT("peak_bytes", "difference.peak_bytes"),
    VIEW_TEXT("attributes", "changes"),
};
static const view_csv_row comparison_csv[] = {
    {.name = "placements", .path = "placements"},
    {.name = "models", .path = "models", VIEW_COLUMNS(csv_models)},
    {.name = "layers", .path = "layers", VIEW_COLUMNS(csv_layers)},
};

const view_kind comparison_view = {
    .of = &comparison_kind,
    .title = "Comparison",
    VIEW_SECTIONS(comparison_sections),
    VIEW_CSV(comparison_csv),
    .begin = begin_comparison,
};
