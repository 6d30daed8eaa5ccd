/* Views of a model on devices. For a few devices: every precision and batch with its verdict. For many: one line
 * each, at the fastest precision. Then the Pareto table and, for a few devices, the layers that take the most time. */
#include "base/text.h"
#include "report/view_units.h"
#include "report/views_profile.h"

enum {
    TOP_OF_SEVERAL = 3, /* layers of each of several devices, when nobody says how many */
    SKIPPED_SHOWN = 12
};

static const profile_mapping *mapping_of(const view *v)
{
    return ((const profile *)v->root.at)->mapping;
}

static uint32_t hardware_index(const view *v)
{
    return (uint32_t)((const mapping_hardware *)v->here.at - mapping_of(v)->hardware);
}

/* ---- few devices: everything ---- */

static uint32_t order_device(const view *v, const field_value *rows, uint32_t *index)
{
    const mapping_row *r = rows->at;
    uint32_t n = 0, device = hardware_index(v);
    for (uint32_t i = 0; i < rows->n; i++)
        if (r[i].hardware == device)
            index[n++] = i;
    return n;
}

static void put_largest(sbuf *b, int64_t batch)
{
    if (batch > 0)
        sbuf_printf(b, "%lld", (long long)batch);
    else if (batch == 0)
        sbuf_puts(b, "none");
}

static void put_largest_batch(const view *v, sbuf *b, const field_value *row)
{
    (void)v;
    put_largest(b, ((const mapping_precision *)row->at)->largest_batch);
}

static void put_training_batch(const view *v, sbuf *b, const field_value *row)
{
    (void)v;
    put_largest(b, ((const mapping_precision *)row->at)->largest_training_batch);
}

static void put_interval(const view *v, sbuf *b, const field_value *row)
{
    const mapping_row *r = row->at;
    (void)v;
    view_put_interval(b, r->latency_low_ms, r->latency_high_ms);
    if (r->latency_high_ms > 0 && r->imprecise)
        sbuf_puts(b, " imprecise");
}

#define TIE_COLUMN VIEW_TEXT("", "[{?+tie:tie}]", .keep = true, .tone = TONE_DIM)
#define GAIN_COLUMNS                                                                      \
    VIEW_NUMBER("10 % more FLOPS", "{gain_from_10_percent_flops:less}", .drop = 3,        \
                .tone = TONE_DIM),                                                        \
        VIEW_NUMBER("10 % more GB/s", "{gain_from_10_percent_bandwidth:less}", .drop = 2, \
                    .tone = TONE_DIM)
static const view_column place_columns[] = {
    VIEW_TEXT("Precision", "{precision:text}"),
    VIEW_NUMBER("Batch", "{batch:text}", .keep = true),
    VIEW_NUMBER("Limit", "{+limit_ms:ms}", .keep = true, .tone = TONE_DIM),
    VIEW_NUMBER("Expected", "{latency_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("80 % within", NULL, .put = put_interval, .keep = true, .tone = TONE_DIM),
    TIE_COLUMN,
    VIEW_NUMBER("Samples/s", "{throughput:rate}", .keep = true),
    VIEW_NUMBER("Memory", "{memory_bytes:bytes}", .keep = true),
    VIEW_NUMBER("of it", "{percent_of_memory:percent}", .drop = 3, .tone = TONE_DIM),
    VIEW_TEXT("Verdict", "{verdict:text}", .keep = true, .words = true),
    VIEW_TEXT("Training", "[{training_verdict:text}]", .keep = true, .words = true),
    VIEW_TEXT("Bound", "{bound:text}", .drop = 1),
    VIEW_NUMBER("J/sample", "{+energy_j_per_sample:joule}|?", .drop = 4, .tone = TONE_DIM),
    VIEW_NUMBER("USD/million", "[{cost_per_million}]", .drop = 7, .tone = TONE_DIM),
    VIEW_NUMBER("Train step", "[{training_step_ms:ms}]", .drop = 6, .tone = TONE_DIM),
    VIEW_NUMBER("Train mem", "[{training_memory_bytes:bytes}]", .drop = 5, .tone = TONE_DIM),
};
static const view_column precision_columns[] = {
    VIEW_TEXT("Precision", "{precision:text}"),
    VIEW_NUMBER("Ridge, FLOPs per byte", "{ridge:fixed2}", .keep = true),
    VIEW_NUMBER("Largest batch", NULL, .put = put_largest_batch, .keep = true),
    VIEW_NUMBER("for training", NULL, .put = put_training_batch, .keep = true),
};
static const view_table_row place_tables[] = {
    {.path = "^devices", VIEW_COLUMNS(place_columns), .order = order_device, .limit = UINT16_MAX},
    {.path = "precisions", VIEW_COLUMNS(precision_columns)},
};
static const view_line_row place_lines[] = {
    VIEW_LINE(
        "Coefficients of {runtime:text}: {software:text}, {basis_rows:whole measured row}, median "
        "error {basis_error:share} on what was left out.",
        "runtime", DIM),
    VIEW_LINE("The largest batch leaves 20 % of the memory free. Widest precision that fits: "
              "{widest_precision_that_fits:text}. Fastest that fits: "
              "{cheapest_precision_that_fits:text}.|No precision fits with 20 % of the memory "
              "free.",
              NULL, PLAIN),
};

/* ---- many devices: a line each ---- */

static uint32_t order_first(const view *v, const field_value *rows, uint32_t *index)
{
    const profile_mapping *m = mapping_of(v);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_hardware && n < rows->n; i++) {
        const mapping_row *first = mapping_row_on(m, i, m->hardware[i].cheapest, false);
        if (first)
            index[n++] = (uint32_t)(first - m->rows);
    }
    return n;
}

/* The most of all batches, and at which: "47.8 k at 16". */
static void put_best(const view *v, sbuf *b, const field_value *row)
{
    const profile_mapping *m = mapping_of(v);
    const mapping_row *first = row->at;
    const mapping_row *best = mapping_row_on(m, first->hardware,
                                             m->hardware[first->hardware].cheapest, true);
    view_put_number(b, best->throughput, STR("rate"));
    sbuf_printf(b, " at %lld", (long long)best->batch);
}

static void put_device_largest(const view *v, sbuf *b, const field_value *row)
{
    const mapping_row *first = row->at;
    const mapping_hardware *h = &mapping_of(v)->hardware[first->hardware];
    int64_t largest = 0;
    for (uint32_t i = 0; i < h->n_precisions; i++)
        if (h->cheapest && strcmp(h->precisions[i].name, h->cheapest) == 0)
            largest = h->precisions[i].largest_batch;
    text_thousands(b, largest > 0 ? (uint64_t)largest : 0);
}

static void put_certainty(const view *v, sbuf *b, const field_value *row)
{
    sbuf_str(b, mapping_of(v)->hardware[((const mapping_row *)row->at)->hardware].certainty);
}

static const view_column device_columns[] = {
    VIEW_TEXT("Device", "{name:text}", .min = 10),
    VIEW_TEXT("Precision", "{precision:text}", .keep = true),
    VIEW_NUMBER("Expected", "{latency_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("80 % within", NULL, .put = put_interval, .drop = 4, .tone = TONE_DIM),
    TIE_COLUMN,
    VIEW_NUMBER("Limit", "{+limit_ms:ms}", .drop = 6, .tone = TONE_DIM),
    VIEW_NUMBER("Samples/s", "{throughput:rate}", .drop = 7),
    VIEW_NUMBER("Best samples/s", NULL, .put = put_best, .keep = true),
    VIEW_NUMBER("Max batch", NULL, .put = put_device_largest, .drop = 1),
    VIEW_TEXT("Verdict", "{verdict:text}", .keep = true, .words = true),
    VIEW_TEXT("Bound", "{bound:text}", .keep = true),
    GAIN_COLUMNS,
    VIEW_TEXT("Figures", NULL, .put = put_certainty, .drop = 5, .tone = TONE_DIM),
};
static const view_table_row device_tables[] = {
    {.path = "devices", VIEW_COLUMNS(device_columns), .order = order_first, .limit = UINT16_MAX},
};
static const view_line_row device_lines[] = {
    VIEW_LINE("Latency, verdict and bound are of the smallest batch. The best samples/s is of the "
              "listed batches.",
              NULL, DIM),
};

/* ---- pairs that do not exist ---- */

static void build_skipped(view *v)
{
    const profile_mapping *m = mapping_of(v);
    sbuf b = {0};
    if (!m->n_skipped)
        return;
    sbuf_puts(&b, "Missing:");
    for (uint32_t i = 0; i < m->n_skipped && i < SKIPPED_SHOWN; i++)
        sbuf_printf(&b, "%s " STR_FMT " at %s", i ? "," : "", STR_ARG(m->skipped[i].device),
                    m->skipped[i].precision);
    if (m->n_skipped > SKIPPED_SHOWN)
        sbuf_printf(&b, ", %u more", m->n_skipped - SKIPPED_SHOWN);
    sbuf_putc(&b, '.');
    view_add_line(v, TONE_DIM, str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n}));
    sbuf_free(&b);
}

/* ---- layers ---- */

/* Of several devices a few each: --top 0 leaves them out, a larger one shows more. */
static uint32_t order_layers(const view *v, const field_value *layers, uint32_t *index)
{
    const mapping_layer *l = layers->at;
    const profile_mapping *m = mapping_of(v);
    uint32_t top = (uint32_t)(v->o->top > 0 ? v->o->top : 0), n = 0;
    uint32_t most = m->n_all_layers <= m->n_layers || top != REPORT_TOP ? top : TOP_OF_SEVERAL;
    view_ranked *list = ARENA_ARRAY(v->a, view_ranked, layers->n);
    for (uint32_t i = 0; list && i < layers->n; i++)
        if (str_eq(l[i].device, ((const mapping_hardware *)v->here.at)->id))
            list[n++] = (view_ranked){l[i].time_ms, i};
    view_rank(list, n, n, index);
    return n < most ? n : most;
}

/* Of the run of the first row of its device. */
static void put_layer_share(const view *v, sbuf *b, const field_value *row)
{
    const mapping_row *first = mapping_row_on(mapping_of(v), hardware_index(v), NULL, false);
    double run = first ? first->latency_ms : 0;
    view_put_number(b, run > 0 ? 100 * ((const mapping_layer *)row->at)->time_ms / run : 0,
                    STR("percent"));
}

static const view_column layer_columns[] = {
    VIEW_TEXT("Layer", "{name:name}", .min = 16),
    VIEW_TEXT("Type", "{type:text}", .drop = 1),
    VIEW_NUMBER("Time", "{time_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("Share", NULL, .put = put_layer_share, .keep = true),
    VIEW_TEXT("Bound", "{bound:text}", .keep = true),
    VIEW_NUMBER("Of peak", "{percent_of_peak:percent}", .keep = true, .tone = TONE_DIM),
};
static const view_table_row layer_table = {
    .path = "map.layers", VIEW_COLUMNS(layer_columns), .order = order_layers, .limit = UINT16_MAX};

static void build_layers(view *v)
{
    const mapping_row *first = mapping_row_on(mapping_of(v), hardware_index(v), NULL, false);
    const mapping_hardware *h = v->here.at;
    field_value layers = fields_get(&v->root, "map.layers");
    uint32_t *index = first && layers.n ? ARENA_ARRAY(v->a, uint32_t, layers.n) : NULL;
    if (!index || !order_layers(v, &layers, index))
        return;
    view_add_section(v, STR("Layers"),
                     str_printf(v->a, STR_FMT ", %s, batch %lld, by predicted time", STR_ARG(h->id),
                                first->precision, (long long)first->batch));
    view_add_rows(v, &layer_table, &v->root);
}

/* ---- the Pareto table ---- */

static uint32_t order_front(const view *v, const field_value *rows, uint32_t *index)
{
    const profile_mapping *m = mapping_of(v);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_pareto && n < rows->n; i++)
        index[n++] = m->pareto[i];
    return n;
}

static void put_power(const view *v, sbuf *b, const field_value *row)
{
    double watt = mapping_of(v)->hardware[((const mapping_row *)row->at)->hardware].power_w;
    if (watt > 0)
        view_put_number(b, watt, STR("watt"));
    else
        sbuf_puts(b, "?");
}

/* The cost keeps its column when it is the goal; else it goes early on a narrow screen. */
static void put_cost_if(const view *v, sbuf *b, const field_value *row, bool wanted)
{
    double cost = ((const mapping_row *)row->at)->cost_per_million;
    const char *goal = mapping_of(v)->goal;
    if (cost >= 0 && wanted == (goal && strcmp(goal, "cost") == 0))
        view_put_number(b, cost, STR("usd"));
}

static void put_goal_cost(const view *v, sbuf *b, const field_value *row)
{
    put_cost_if(v, b, row, true);
}

static void put_cost(const view *v, sbuf *b, const field_value *row)
{
    put_cost_if(v, b, row, false);
}

static const view_column front_columns[] = {
    VIEW_TEXT("Device", "{name:text}", .min = 10),
    VIEW_TEXT("Precision", "{precision:text}", .keep = true),
    VIEW_NUMBER("Batch", "{batch:text}", .keep = true),
    VIEW_NUMBER("Expected", "{latency_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("80 % within", NULL, .put = put_interval, .drop = 6, .tone = TONE_DIM),
    TIE_COLUMN,
    VIEW_NUMBER("Samples/s", "{throughput:rate}", .keep = true),
    VIEW_NUMBER("Memory", "{memory_bytes:bytes}", .drop = 5),
    VIEW_NUMBER("Power", NULL, .put = put_power, .keep = true),
    VIEW_NUMBER("J/sample", "{+energy_j_per_sample:joule}|?", .drop = 6, .tone = TONE_DIM),
    VIEW_NUMBER("USD/million", NULL, .put = put_goal_cost, .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("USD/million", NULL, .put = put_cost, .drop = 2, .tone = TONE_DIM),
    VIEW_TEXT("Bound", "{bound:text}", .drop = 1),
    GAIN_COLUMNS,
};
static const view_table_row front_tables[] = {
    {.path = "devices", VIEW_COLUMNS(front_columns), .order = order_front, .limit = 24},
};
static const view_line_row front_lines[] = {
    VIEW_LINE("Nothing that fits reaches the limit.", "!map.pareto.rows.0,+map.pareto.limit", DIM),
    VIEW_LINE("Nothing that fits can be compared.",
              "!map.pareto.rows.0,!map.pareto.limit/map.pareto.limit=0", DIM),
    VIEW_LINE("{map.pareto.left_out_power_unknown:whole} that fit are left out: the device's power "
              "{?map.pareto.goal=cost:or price }is not published.",
              "+map.pareto.left_out_power_unknown", DIM),
    VIEW_LINE("Costs are USD per million samples; prices: {map.price_basis:text}.",
              "+map.price_basis", DIM),
};

/* ---- what the times stand on ---- */

static const view_line_row trust_lines[] = {
    VIEW_LINE(
        "Times of `{map.calibration.device:text}` at fp32 are predicted from kernels measured "
        "with {map.calibration.engine:text}; on models left out of the calibration the median "
        "error is {map.calibration.median_error:share} ({map.calibration.runs:whole run}), "
        "and four of five lie in the interval shown. {map.calibration.known_percent:percent0} "
        "of the time is in operators that were measured.",
        "map.calibration", PLAIN),
    VIEW_LINE(
        "Expected: median of the runtime named beside the device, with the interval that holds "
        "four of five models. Limit: the roofline, which no kernel undercuts. docs/hardware.md "
        "gives formulas, sources and errors. `tie`: the interval overlaps that of the "
        "fastest device at the same batch, or in the Pareto table that of the row above. Rows marked imprecise are left out of the ranking.",
        "!map.calibration/map.hardware.1", DIM),
};

static const view_section_row map_rows[] = {
    {VIEW_SECTION("{name:text}",
                  "{memory_bytes:bytes}, {bandwidth_bytes_per_s:B/s}; figures {certainty:text}"
                  "[; {price_per_hour:fixed2} USD per hour, {price_basis:text}]"
                  "[; runtime {runtime:text}, {basis:text}]",
                  "all map profile", "$verbose/!^map.hardware.1/!^devices.12"),
     .each = "map.hardware", .first = true, VIEW_TABLES(place_tables), VIEW_LINES(place_lines)},
    {VIEW_SECTION("Devices", "at their fastest precision that fits; -v shows every batch",
                  "all map profile", "!$verbose,map.hardware.1,devices.12"),
     .first = true, VIEW_TABLES(device_tables), VIEW_LINES(device_lines)},
    {.in = "all map profile", .when = "+map.skipped", .build = build_skipped},
    {.in = "all map profile", .each = "map.hardware", .build = build_layers},
    {VIEW_SECTION("Pareto",
                  "nothing is better in both {map.pareto.goal:text} and {map.pareto.against:text}",
                  "all map profile", "map"),
     .first = true, VIEW_TABLES(front_tables), VIEW_LINES(front_lines)},
    {.in = "all map profile", .when = "map", VIEW_LINES(trust_lines)},
};
const view_sections profile_map_sections = VIEW_LIST(map_rows);
