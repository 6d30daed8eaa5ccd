/* "assay.records/1", "assay.models/1" and "assay.trend/1": their field tables
 * (docs/history.md). */
#include "base/clock.h"
#include "profile/conclusion.h"
#include "profile/history.h"

const char *const history_metrics[HISTORY_FIGURES] = {
    [HISTORY_P50] = "p50",          [HISTORY_P95] = "p95",
    [HISTORY_MEAN] = "latency",     [HISTORY_THROUGHPUT] = "throughput",
    [HISTORY_MEMORY] = "memory",    [HISTORY_MACS] = "macs",
    [HISTORY_PARAMETERS] = "params"};

history_trend trend_of(const metric_row *m)
{
    return (history_trend){.metric = m->name,
                           .title = m->title,
                           .unit = m->unit,
                           .more_is_better = m->more_is_better,
                           .median = NAN,
                           .mean = NAN,
                           .min = NAN,
                           .max = NAN,
                           .newest = NAN};
}

/* ---- times ---- */

static bool time_known(const void *at)
{
    return *(const int64_t *)at != INT64_MIN;
}

static void time_write(json_writer *w, const void *at)
{
    char text[32];
    clock_format(*(const int64_t *)at, text);
    json_cstr(w, text);
}

static bool time_read(field_reader *r, void *at)
{
    str s;
    if (!scan_str(&r->s, &s))
        return false;
    return clock_parse(s, at) || fields_fail(r, "expected a time such as 2026-11-15T19:06:00Z");
}

static void time_print(sbuf *b, const void *at)
{
    char text[32];
    clock_format(*(const int64_t *)at, text);
    sbuf_puts(b, text);
}

const field_codec history_time_codec = {
    .schema = "{\"type\": \"string\", \"format\": \"date-time\"}",
    .typescript = "string",
    .known = time_known,
    .write = time_write,
    .read = time_read,
    .print = time_print};

#define TIME(T, about_) \
    FIELD_AS(T, "created", created_s, CODEC, NONE, "When", about_, .codec = &history_time_codec)

/* ---- records ---- */

#define FIGURE(key_, index_, unit_, label_, about_) \
    FIELD_AS(history_record, key_, figures[index_], NUMBER, unit_, label_, about_, OR_NULL)

static const field record_rows[] = {
    FIELD(history_record, id, I64, NONE, "Record", "Number of the record in its history."),
    FIELD(history_record, kind, STR, NONE, "Kind", "profile, pipeline, machine or watch.", OR_NULL),
    FIELD(history_record, model, STR, NONE, "Model", "The model as the user named it.", OR_NULL),
    TIME(history_record, "When the result was produced, UTC."),
    FIELD(history_record, command, STR, NONE, "Command", "Command line.", OR_NULL),
    FIELD(history_record, host, STR, NONE, "Host",
          "Host name of the machine that produced the result.", OR_NULL),
    FIELD(history_record, precision, STR, NONE, "Type", "Precision of the runs.", OR_NULL),
    FIELD(history_record, device, STR, NONE, "Device", "Device that the engine ran on.", OR_NULL),
    FIELD(history_record, batch, U64, COUNT, "Batch", "Batch size of the values.", NULL_ZERO),
    FIGURE("p50_ms", HISTORY_P50, MS, "P50", "Median latency."),
    FIGURE("p95_ms", HISTORY_P95, MS, "P95", "95th percentile of the latency."),
    FIGURE("mean_ms", HISTORY_MEAN, MS, "Mean", "Mean latency."),
    FIGURE("throughput", HISTORY_THROUGHPUT, PER_SECOND, "Throughput",
           "Samples, images, tokens or requests per second."),
    FIGURE("memory_bytes", HISTORY_MEMORY, BYTES, "Memory",
           "Peak of resident memory above that before the session."),
    FIGURE("macs", HISTORY_MACS, MACS, "MACs", "Multiply-accumulates of the model."),
    FIGURE("parameters", HISTORY_PARAMETERS, AMOUNT, "Parameters", "Parameters of the model."),
    FIELD_VALUES(history_record, STRS, "tags", tags, n_tags, NONE, "Tags of the record."),
    FIELD(history_record, machine, STR, NONE, "Machine", "Name of the machine that stored it.",
          OR_OMIT),
    FIELD(history_record, tool_version, STR, NONE, "Version", "Version of assay that produced it.",
          OR_OMIT),
    FIELD(history_record, model_sha256, STR, NONE, NULL, "SHA-256 of the model file.", OR_OMIT),
    FIELD(history_record, sweep, STR, NONE, "Sweep", "Sweep that the record belongs to.", OR_OMIT),
    FIELD(history_record, task, I64, NONE, "Task", "Number of the task in the sweep.", OR_OMIT),
};
static const fields record_fields = FIELDS(history_record, record_rows);

static const field list_rows[] = {
    FIELD(history_list, total, U64, COUNT, "Records", "Matching records, listed or not."),
    FIELD_ITEMS(history_list, LIST, "records", records, n, record_fields, "Records, newest first.",
                ONE_LINE),
};
static const fields list_fields = FIELDS(history_list, list_rows);
const result_kind records_kind = {.schema = "assay.records",
                                  .version = 1,
                                  .name = "records",
                                  .what = "a list of records",
                                  .of = &list_fields};

static const field model_rows[] = {
    FIELD(history_model, model, STR, NONE, "Model", "The model as the user named it.", OR_NULL),
    FIELD(history_model, records, U64, COUNT, "Records", "Records of the model."),
    FIELD_STRUCT(history_model, "newest", newest, record_fields, "Its newest record.", ONE_LINE),
};
static const fields model_fields = FIELDS(history_model, model_rows);

static const field models_rows[] = {
    FIELD_ITEMS(history_models, LIST, "models", models, n, model_fields, "Models, by name."),
};
static const fields models_fields = FIELDS(history_models, models_rows);
const result_kind models_kind = {.schema = "assay.models",
                                 .version = 1,
                                 .name = "models",
                                 .what = "a list of models",
                                 .of = &models_fields};

/* ---- trends ---- */

static const char *const change_words[] = {"better", "worse", NULL};

static const field point_rows[] = {
    FIELD(history_point, id, I64, NONE, "Record", "Number of the record in its history."),
    TIME(history_point, "When the result was produced, UTC."),
    FIELD_AS(history_point, "value", v, NUMBER, NONE, "Value", "The metric's value."),
    FIELD(history_point, change, WORD, NONE, NULL,
          "better or worse where a new level begins; absent elsewhere.", .words = change_words,
          OR_OMIT),
};
static const fields point_fields = FIELDS(history_point, point_rows);

static const field change_rows[] = {
    FIELD_AS(history_change, "index", at, U32, COUNT, NULL,
             "Index of the first point of the new level."),
    FIELD(history_change, id, I64, NONE, "From record", "Number of that record."),
    TIME(history_change, "When the result of that record was produced, UTC."),
    FIELD(history_change, before, F64, NONE, "Before", "Median of the level before it."),
    FIELD(history_change, after, F64, NONE, "After", "Median of the level from it on."),
    FIELD(history_change, ratio, F64, RATIO, "Change",
          "after divided by before; null when before is 0.", OR_NULL, .flags = FIELD_SIGNED),
    FIELD(history_change, p, F64, NONE, "Chance",
          "Probability of such a change by chance; 0: the metric is exact."),
    FIELD_AS(history_change, "verdict", worse, EITHER, NONE, NULL, "better or worse.",
             .words = change_words),
};
static const fields change_fields = FIELDS(history_change, change_rows);

static const char *const alert_words[] = {
    [ALERT_QUIET] = "quiet", [ALERT_FIRED] = "fired", [ALERT_INCONCLUSIVE] = "inconclusive", NULL};

static const field alert_rows[] = {
    FIELD(history_alert, expression, STR, NONE, "Alert", "The expression as given."),
    FIELD(history_alert, verdict, ENUM, NONE, NULL,
          "inconclusive: there is no record to compare with.", .words = alert_words),
    FIELD(history_alert, value, F64, NONE, "Value", "Value of the newest record.", OR_NULL),
    FIELD(history_alert, limit, F64, NONE, "Limit", "Value that it was compared with.", OR_NULL),
    FIELD(history_alert, window_records, U32, COUNT, NULL,
          "Records that the limit was computed from."),
    FIELD(history_alert, why, STR, NONE, "Why", "Explanation in one sentence."),
};
static const fields alert_fields = FIELDS(history_alert, alert_rows);

static const field trend_rows[] = {
    FIELD(history_trend, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD_CONCLUSION(history_trend),
    FIELD(history_trend, metric, WORD, NONE, "Metric", "Name of the metric."),
    FIELD(history_trend, title, WORD, NONE, NULL, "Display name of the metric."),
    FIELD(history_trend, unit, ENUM, NONE, NULL, "Unit of all values.", .words = metric_unit_words),
    FIELD(history_trend, more_is_better, BOOL, NONE, NULL, "Whether higher values are better."),
    FIELD(history_trend, setup, STR, NONE, "Setup", "What the records have in common."),
    FIELD(history_trend, left_out, U64, COUNT, "Left out", "Records with another setup."),
    FIELD(history_trend, older, U64, COUNT, "Older", "Records beyond the limit."),
    FIELD(history_trend, at_least, BOOL, NONE, NULL,
          "true: left_out and older are lower bounds, because counting stopped at 10000 records.",
          OMIT_ZERO),
    FIELD(history_trend, newest, F64, NONE, "Newest", "Value of the newest record.", OR_NULL),
    FIELD(history_trend, median, F64, NONE, "Median", "Median of the values.", OR_NULL),
    FIELD(history_trend, mean, F64, NONE, "Mean", "Mean of the values.", OR_NULL),
    FIELD(history_trend, min, F64, NONE, "Lowest", "Lowest value.", OR_NULL),
    FIELD(history_trend, max, F64, NONE, "Highest", "Highest value.", OR_NULL),
    FIELD_ITEMS(history_trend, LIST, "points", points, n, point_fields, "Records, oldest first.",
                ONE_LINE),
    FIELD_ITEMS(history_trend, LIST, "change_points", changes, n_changes, change_fields,
                "Where the level changed.", ONE_LINE),
    FIELD_ITEMS(history_trend, LIST, "alerts", alerts, n_alerts, alert_fields,
                "The requested alerts.", ONE_LINE),
};
static const fields trend_fields = FIELDS(history_trend, trend_rows);
const result_kind trend_kind = {.schema = "assay.trend",
                                .version = 1,
                                .name = "trend",
                                .what = "a trend",
                                .of = &trend_fields,
                                .conclude = trend_conclude,
                                .conclusion_at = offsetof(history_trend, conclusion)};
