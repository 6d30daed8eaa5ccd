/* Views of memory: the plan of an inference, its events, live tensors at selected layers, and training. */
#include <stdlib.h>

#include "report/views_profile.h"

/* ---- the plan ---- */

static const view_spark_row plan_sparks[] = {{"", "memory_plan.timeline", "live_bytes"}};
#define PLAN_TEXT                                                                                 \
    "Peak {memory_plan.activations_peak_bytes:bytes}[ while {memory_plan.peak_node:name} runs]. " \
    "The lower bound is {memory_plan.lower_bound_bytes:bytes}[; the planned block is "            \
    "{+memory_plan.planned_bytes:bytes}]"
static const view_line_row plan_lines[] = {
    VIEW_LINE(PLAN_TEXT " (fragmentation: {memory_plan.fragmentation:share1} of it is unused at "
                        "the peak). Weights add {memory_plan.weights_bytes:bytes}[ in "
                        "{config.precision:text}].",
              "+memory_plan.fragmentation", PLAIN),
    VIEW_LINE(PLAN_TEXT ". Weights add {memory_plan.weights_bytes:bytes}[ in "
                        "{config.precision:text}].",
              "memory_plan.fragmentation=0", PLAIN),
};
static const view_column witness_columns[] = {
    VIEW_TEXT("live at the peak", "{value:name}", .min = 14),
    VIEW_TEXT("made by", "[{producer:name}]", .min = 10, .drop = 1, .tone = TONE_DIM),
    VIEW_NUMBER("size", "{bytes:bytes}", .keep = true),
    VIEW_NUMBER("share", "{bytes/^memory_plan.activations_peak_bytes:share1}", .drop = 2),
};
static const view_table_row witness_tables[] = {
    {.path = "memory_plan.witnesses", VIEW_COLUMNS(witness_columns), .limit = 6},
};

static const view_section_row memory_rows[] = {
    {VIEW_SECTION("Memory plan", "live activations during each layer", "all memory",
                  "+memory_plan.timeline"),
     .first = true, VIEW_SPARKS(plan_sparks), VIEW_LINES(plan_lines)},
    {.in = "all memory", .when = "+memory_plan.timeline", VIEW_TABLES(witness_tables)},
};
const view_sections profile_memory_sections = VIEW_LIST(memory_rows);

/* ---- events ---- */

static bool is_kind(const profile_event *e, const char *kind)
{
    return e->kind && strcmp(e->kind, kind) == 0;
}

static int in_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Where not all are shown: the largest of what is allocated and freed, in their order; then the others. */
static uint32_t order_events(const view *v, const field_value *events, uint32_t *index)
{
    const profile_event *e = events->at;
    uint32_t most = v->o->verbose ? events->n : (uint32_t)(v->o->top > 0 ? v->o->top : 0);
    bool all = events->n <= most;
    view_ranked *list = ARENA_ARRAY(v->a, view_ranked, events->n);
    for (uint32_t i = 0; list && i < events->n; i++) {
        bool moves = is_kind(&e[i], "allocate") || is_kind(&e[i], "free");
        list[i] = (view_ranked){all || !moves ? 0 : (double)e[i].bytes, i};
    }
    if (!list)
        return 0;
    view_rank(list, events->n, events->n, index);
    qsort(index, all ? events->n : most, sizeof *index, in_order);
    return events->n;
}

static const view_column event_columns[] = {
    VIEW_NUMBER("step", "{step:text}", .keep = true, .tone = TONE_DIM),
    VIEW_TEXT("what", "{kind:text}", .keep = true),
    VIEW_TEXT("value", "{value:name}[ in {+of:name}]", .keep = true, .min = 18),
    VIEW_TEXT("while", "[{node:name}]", .min = 14, .drop = 1, .tone = TONE_DIM),
    VIEW_NUMBER("size", "{bytes:bytes}", .keep = true),
    VIEW_NUMBER("at", "{offset:bytes}", .drop = 2, .tone = TONE_DIM),
    VIEW_NUMBER("alive", "{live_bytes:bytes}", .keep = true),
};
static const view_table_row event_tables[] = {
    {VIEW_TABLE(NULL, "memory_plan.events", event_columns), .order = order_events,
     .limit = VIEW_TOP, .more = "--top N shows more, --verbose, JSON and CSV all"},
};

static uint32_t count_kind(const profile_memory_plan *m, const char *kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_events; i++)
        n += is_kind(&m->events[i], kind);
    return n;
}

static void build_counts(view *v)
{
    const profile_memory_plan *m = &((const profile *)v->root.at)->memory_plan;
    view_add_line(v, TONE_PLAIN,
                  str_printf(v->a, "Allocated %u, freed %u, written over an input %u, views %u.",
                             count_kind(m, "allocate"), count_kind(m, "free"),
                             count_kind(m, "reuse"), count_kind(m, "alias")));
}

/* ---- snapshots ---- */

static void put_alive(const view *v, sbuf *b, const field_value *row)
{
    const profile_snapshot *s = row->at;
    (void)v;
    sbuf_printf(b, "%llu", (unsigned long long)(s->n_values + s->left_out));
}

static const view_column snapshot_columns[] = {
    VIEW_NUMBER("step", "{step:text}", .keep = true, .tone = TONE_DIM),
    VIEW_TEXT("moment", "{kind:text}", .keep = true),
    VIEW_TEXT("while", "[{node:name}]", .min = 14, .drop = 1, .tone = TONE_DIM),
    VIEW_NUMBER("alive", "{live_bytes:bytes}", .keep = true),
    VIEW_NUMBER("of peak", "{live_bytes/^memory_plan.activations_peak_bytes:share1}", .drop = 3),
    VIEW_NUMBER("values", NULL, .put = put_alive, .keep = true),
    VIEW_TEXT("largest", "[{values.0.value:name}]", .keep = true, .min = 16),
    VIEW_NUMBER("size", "[{values.0.bytes:bytes}]", .drop = 2),
};
static const view_table_row snapshot_tables[] = {
    {.path = "memory_plan.snapshots", VIEW_COLUMNS(snapshot_columns), .limit = UINT16_MAX},
};

static void put_value_share(const view *v, sbuf *b, const field_value *row)
{
    const profile_witness *w = row->at;
    const profile_snapshot *s = v->here.at;
    double share = s->live_bytes ? 100.0 * (double)w->bytes / (double)s->live_bytes : 0;
    report_fixed(b, share, 1);
    sbuf_puts(b, " %");
}

static const view_column alive_columns[] = {
    VIEW_TEXT("value", "{value:name}", .min = 14),
    VIEW_TEXT("made by", "[{producer:name}]", .min = 10, .drop = 1, .tone = TONE_DIM),
    VIEW_NUMBER("size", "{bytes:bytes}", .keep = true),
    VIEW_NUMBER("share", NULL, .put = put_value_share, .drop = 2),
};
static const view_table_row alive_tables[] = {
    {.path = "values", VIEW_COLUMNS(alive_columns), .limit = 10},
};
static const view_line_row alive_lines[] = {
    VIEW_LINE("{+values_left_out:whole} smaller ones are not listed.", "+values_left_out", DIM),
};

static const view_section_row events_rows[] = {
    {VIEW_SECTION("Allocations", "in order, with live bytes after each", "all memory",
                  "+memory_plan.events"),
     .build = build_counts, VIEW_TABLES(event_tables)},
    {VIEW_SECTION("Snapshots", "live tensors during a layer", "all memory", NULL),
     VIEW_TABLES(snapshot_tables)},
    {VIEW_SECTION("{node:name}", "live during the layer", "all memory",
                  "kind=asked/$verbose,+values"),
     .each = "memory_plan.snapshots", VIEW_TABLES(alive_tables), VIEW_LINES(alive_lines)},
};
const view_sections profile_events_sections = VIEW_LIST(events_rows);

/* ---- training ---- */

static const view_line_row training_lines[] = {
    VIEW_LINE("Forward {training.forward_flops:flops}, backward {training.backward_flops:flops} "
              "({training.backward_flops/training.forward_flops:fixed2} times the forward pass); "
              "{training.saved_activation_bytes:bytes} of activations are kept for it.",
              NULL, PLAIN),
};
static const view_column optimizer_columns[] = {
    VIEW_TEXT("optimiser", "{name:text}"),
    VIEW_NUMBER("B/param", "{bytes_per_param:text}", .drop = 1),
    VIEW_NUMBER("weights", "{weights_bytes:bytes}", .keep = true),
    VIEW_NUMBER("gradients", "{gradients_bytes:bytes}", .keep = true),
    VIEW_NUMBER("states", "{states_bytes:bytes}", .keep = true),
    VIEW_NUMBER("with activations", "{total_bytes:bytes}", .keep = true, .tone = TONE_STRONG),
};
static const view_table_row optimizer_tables[] = {
    {.path = "training.optimizers", VIEW_COLUMNS(optimizer_columns)},
};
static const view_section_row training_rows[] = {
    {VIEW_SECTION("Training", "one step at this batch size", "all profile", "training"),
     .first = true, VIEW_TABLES(optimizer_tables), VIEW_LINES(training_lines)},
};
const view_sections profile_training_sections = VIEW_LIST(training_rows);
