/* "assay.changes/1", "assay.drift/1" and "assay.cheapest/1": their field tables (docs/history.md). */
#include "profile/conclusion.h"
#include "profile/fleet.h"

#define TIME_AT(T, key_, member, label_, about_) \
    FIELD_AS(T, key_, member, CODEC, NONE, label_, about_, .codec = &history_time_codec, OR_OMIT)

/* ---- what changed ---- */

static const char *const side_words[] = {"better", "worse", NULL};

static const field change_rows[] = {
    FIELD(fleet_change, model, STR, NONE, "Model", "The model."),
    FIELD(fleet_change, machine, STR, NONE, "Machine", "The machine.", OR_NULL),
    FIELD(fleet_change, setup, STR, NONE, "Setup", "What the records have in common.", OR_NULL),
    FIELD(fleet_change, version, STR, NONE, "Version", "Version of assay from then on.", OR_NULL),
    FIELD(fleet_change, version_before, STR, NONE, NULL, "Version before.", OR_NULL),
    FIELD_AS(fleet_change, "id", is.id, I64, NONE, "From record", "First record of the new level."),
    TIME_AT(fleet_change, "created", is.created_s, "When", "When it was produced, UTC."),
    FIELD_AS(fleet_change, "before", is.before, F64, NONE, "Before", "Median of the level before."),
    FIELD_AS(fleet_change, "after", is.after, F64, NONE, "After", "Median of the new level."),
    FIELD_AS(fleet_change, "ratio", is.ratio, F64, RATIO, "Change",
             "after divided by before; null when before is 0.", OR_NULL),
    FIELD_AS(fleet_change, "p", is.p, F64, NONE, "Chance",
             "Probability of such a change by chance; 0: the metric is exact."),
    FIELD_AS(fleet_change, "verdict", is.worse, EITHER, NONE, "Verdict", "better or worse.",
             .words = side_words),
};
static const fields change_fields = FIELDS(fleet_change, change_rows);

static const field group_rows[] = {
    FIELD(fleet_group, key, STR, NONE, "Of", "The model, machine or version."),
    FIELD(fleet_group, worse, U32, COUNT, "Worse", "Changes for the worse."),
    FIELD(fleet_group, better, U32, COUNT, "Better", "Changes for the better."),
    FIELD(fleet_group, worst, F64, RATIO, "Worst", "Ratio of the worst change.", OR_NULL),
};
static const fields group_fields = FIELDS(fleet_group, group_rows);

static const field changes_rows[] = {
    FIELD_CONCLUSION(fleet_changes),
    FIELD(fleet_changes, metric, WORD, NONE, "Metric", "Name of the metric."),
    FIELD(fleet_changes, title, WORD, NONE, NULL, "Display name of the metric."),
    FIELD(fleet_changes, unit, ENUM, NONE, NULL, "Unit of the values.", .words = metric_unit_words),
    FIELD(fleet_changes, more_is_better, BOOL, NONE, NULL, "Whether higher values are better."),
    FIELD(fleet_changes, worse_only, BOOL, NONE, NULL, "Whether only changes for the worse count."),
    FIELD(fleet_changes, by, WORD, NONE, NULL,
          "model, machine or version: what the groups are by."),
    TIME_AT(fleet_changes, "since", since_s, "Since", "Changes before are left out, UTC."),
    FIELD(fleet_changes, records, U32, COUNT, "Records", "Records that were examined."),
    FIELD(fleet_changes, series, U32, COUNT, "Series", "Models on machines in one setup."),
    FIELD(fleet_changes, older, U64, COUNT, "Older", "Records beyond the limit.", OMIT_ZERO),
    FIELD_VALUES(fleet_changes, STRS, "new_models", new_models, n_new_models, NONE,
                 "Models without an earlier record."),
    FIELD_VALUES(fleet_changes, STRS, "new_machines", new_machines, n_new_machines, NONE,
                 "Machines without an earlier record."),
    FIELD_VALUES(fleet_changes, STRS, "new_versions", new_versions, n_new_versions, NONE,
                 "Versions of assay without an earlier record."),
    FIELD_ITEMS(fleet_changes, LIST, "groups", groups, n_groups, group_fields,
                "Changes by model, machine or version.", ONE_LINE),
    FIELD_ITEMS(fleet_changes, LIST, "changes", changes, n_changes, change_fields,
                "Changes of level, the worst first.", ONE_LINE),
};
static const fields changes_fields = FIELDS(fleet_changes, changes_rows);

static void changes_conclude(const void *data, sbuf *out)
{
    const fleet_changes *c = data;
    sbuf_printf(out, "%s got worse ", c->title ? c->title : "The metric");
    conclude_count(out, c->n_worse, "time");
    if (!c->worse_only) {
        sbuf_puts(out, " and better ");
        conclude_count(out, c->n_changes - c->n_worse, "time");
    }
    sbuf_printf(out, " in %u series.", c->series);
    if (!c->n_worse)
        return;
    sbuf_puts(out, " The worst is ");
    conclude_name(out, c->changes[0].model);
    sbuf_puts(out, " on ");
    conclude_name(out, c->changes[0].machine);
    sbuf_puts(out, ": ");
    conclude_ratio(out, c->changes[0].is.ratio);
    sbuf_puts(out, " the level before.");
}

const result_kind changes_kind = {.schema = "assay.changes",
                                  .version = 1,
                                  .name = "changes",
                                  .what = "changes of a fleet",
                                  .of = &changes_fields,
                                  .conclude = changes_conclude,
                                  .conclusion_at = offsetof(fleet_changes, conclusion)};

/* ---- drift ---- */

static const char *const course_words[] = {[COURSE_STEADY] = "steady",
                                           [COURSE_LOWER] = "lower",
                                           [COURSE_HIGHER] = "higher",
                                           [COURSE_UNKNOWN] = "one record",
                                           NULL};

static const field drift_rows[] = {
    FIELD(fleet_drift, machine, STR, NONE, "Machine", "The machine."),
    FIELD(fleet_drift, ceiling, STR, NONE, "Ceiling", "What was measured."),
    FIELD(fleet_drift, unit, STR, NONE, NULL, "Its unit."),
    FIELD(fleet_drift, records, U32, COUNT, "Records", "Records of the machine with it."),
    FIELD(fleet_drift, first, F64, NONE, "First", "Value of the oldest record."),
    FIELD(fleet_drift, median, F64, NONE, "Median", "Median of all but the newest.", OR_NULL),
    FIELD(fleet_drift, newest, F64, NONE, "Newest", "Value of the newest record."),
    FIELD(fleet_drift, ratio, F64, RATIO, "Change", "newest divided by median.", OR_NULL),
    TIME_AT(fleet_drift, "first_created", first_s, NULL, "When the oldest was measured, UTC."),
    TIME_AT(fleet_drift, "newest_created", newest_s, "When", "When the newest was measured, UTC."),
    FIELD_AS(fleet_drift, "verdict", course, ENUM, NONE, "Verdict",
             "lower or higher: beyond the tolerance.", .words = course_words),
};
static const fields drift_fields = FIELDS(fleet_drift, drift_rows);

static const field drifts_rows[] = {
    FIELD_CONCLUSION(fleet_drifts),
    FIELD(fleet_drifts, tolerance, F64, NONE, NULL, "Share that counts as steady."),
    FIELD(fleet_drifts, n_machines, U32, COUNT, "Machines", "Machines with records."),
    FIELD_ITEMS(fleet_drifts, LIST, "ceilings", ceilings, n, drift_fields,
                "Ceilings of each machine.", ONE_LINE),
};
static const fields drifts_fields = FIELDS(fleet_drifts, drifts_rows);

static void drift_conclude(const void *data, sbuf *out)
{
    const fleet_drifts *d = data;
    const fleet_drift *worst = NULL;
    uint32_t lower = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        lower += d->ceilings[i].course == COURSE_LOWER;
        if (d->ceilings[i].course == COURSE_LOWER &&
            (!worst || d->ceilings[i].ratio < worst->ratio))
            worst = &d->ceilings[i];
    }
    conclude_count(out, lower, "ceiling");
    sbuf_puts(out, " of ");
    conclude_count(out, d->n_machines, "machine");
    sbuf_puts(out, " fell.");
    if (!worst)
        return;
    sbuf_puts(out, " The largest fall is ");
    sbuf_str(out, worst->ceiling);
    sbuf_puts(out, " of ");
    conclude_name(out, worst->machine);
    sbuf_puts(out, ": ");
    conclude_ratio(out, worst->ratio);
    sbuf_puts(out, " the median before.");
}

const result_kind drift_kind = {.schema = "assay.drift",
                                .version = 1,
                                .name = "drift",
                                .what = "the drift of machines",
                                .of = &drifts_fields,
                                .conclude = drift_conclude,
                                .conclusion_at = offsetof(fleet_drifts, conclusion)};

/* ---- the cheapest ---- */

static const field class_rows[] = {
    FIELD_AS(fleet_class, "class", name, STR, NONE, "Class",
             "Class of nodes of the sweep, else processor and device."),
    FIELD(fleet_class, records, U32, COUNT, "Records", "Records of the model."),
    FIELD(fleet_class, meets, BOOL, NONE, "Meets", "Whether a record meets the limit."),
    FIELD(fleet_class, record, I64, NONE, "Record",
          "The record with the highest throughput of those that meet it, else the fastest."),
    FIELD(fleet_class, config, STR, NONE, "Setup", "Setup of that record.", OR_NULL),
    FIELD(fleet_class, latency_ms, F64, MS, "Latency", "Its latency, by the statistic."),
    FIELD(fleet_class, throughput, F64, PER_SECOND, "Throughput", "Its samples per second.",
          OR_NULL),
    FIELD(fleet_class, price_per_hour, F64, USD, "Per hour", "Price of a machine; null: unknown.",
          OR_NULL),
    FIELD(fleet_class, price_basis, STR, NONE, "Price",
          "Where the price comes from: given, or the list price of a date with its source.",
          OR_OMIT),
    FIELD(fleet_class, cost_per_million, F64, USD, "Per million",
          "Price of a million samples at that throughput.", OR_NULL),
    FIELD(fleet_class, cheapest, BOOL, NONE, "Cheapest",
          "Whether it meets the limit at the lowest cost."),
};
static const fields class_fields = FIELDS(fleet_class, class_rows);

static const field cheapest_rows[] = {
    FIELD(fleet_cheapest, model, STR, NONE, "Model", "The model."),
    FIELD_CONCLUSION(fleet_cheapest),
    FIELD(fleet_cheapest, statistic, WORD, NONE, NULL, "Statistic of the limit: latency, p50, ..."),
    FIELD(fleet_cheapest, limit_ms, F64, MS, "Limit", "Highest latency accepted; null: any.",
          OR_NULL),
    FIELD_ITEMS(fleet_cheapest, LIST, "classes", classes, n, class_fields,
                "Classes of machines, the cheapest first.", ONE_LINE),
};
static const fields cheapest_fields = FIELDS(fleet_cheapest, cheapest_rows);

static void cheapest_conclude(const void *data, sbuf *out)
{
    const fleet_cheapest *c = data;
    const fleet_class *first = c->n ? &c->classes[0] : NULL;
    if (!first || !first->meets) {
        sbuf_puts(out, "No class of machines meets the limit.");
        return;
    }
    if (!first->cheapest) {
        sbuf_puts(out,
                  "No class that meets the limit has a price. Give it with --price CLASS=USD.");
        return;
    }
    conclude_name(out, first->name);
    sbuf_puts(out, " is the cheapest for ");
    conclude_name(out, c->model);
    sbuf_printf(out, ": $%.4f per million samples at ", first->cost_per_million);
    conclude_rate(out, first->throughput);
    sbuf_puts(out, " per second.");
    if (first->price_basis.n && !str_is(first->price_basis, "given"))
        sbuf_printf(out, " Its price is the " STR_FMT ".", STR_ARG(first->price_basis));
}

const result_kind cheapest_kind = {.schema = "assay.cheapest",
                                   .version = 1,
                                   .name = "cheapest",
                                   .what = "the cost of classes of machines",
                                   .of = &cheapest_fields,
                                   .conclude = cheapest_conclude,
                                   .conclusion_at = offsetof(fleet_cheapest, conclusion)};
