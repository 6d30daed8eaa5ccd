/* /metrics: OpenMetrics 1.0 text. The newest record of every model, and the server's own counters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

#define MODELS_MAX  1000
#define LABEL_BYTES 4096

typedef struct figure_row {
    const char *name, *unit, *help;
    const char *path; /* of an item of `models` */
    double divisor;
} figure_row;

/* A name ends with its unit, says the standard. */
static const figure_row figures[] = {
    {"assay_records", NULL, "Records of the model in the history.", "records", 1},
    {"assay_newest_p50_seconds", "seconds", "Median latency of the newest record.", "newest.p50_ms",
     1000},
    {"assay_newest_p95_seconds", "seconds", "95th percentile latency of the newest record.",
     "newest.p95_ms", 1000},
    {"assay_newest_mean_seconds", "seconds", "Mean latency of the newest record.", "newest.mean_ms",
     1000},
    {"assay_newest_throughput", NULL, "Samples per second of the newest record.",
     "newest.throughput", 1},
    {"assay_newest_memory_bytes", "bytes", "Peak memory of the newest record.",
     "newest.memory_bytes", 1},
    {"assay_newest_macs", NULL, "Multiply-accumulates of the newest record.", "newest.macs", 1},
    {"assay_newest_parameters", NULL, "Parameters of the newest record.", "newest.parameters", 1},
};

static void put_label(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", f);
        else {
            if (*text == '"' || *text == '\\')
                fputc('\\', f);
            fputc(*text, f);
        }
    }
}

static void put_head(FILE *f, const char *name, const char *type, const char *unit,
                     const char *help)
{
    fprintf(f, "# TYPE %s %s\n", name, type);
    if (unit)
        fprintf(f, "# UNIT %s %s\n", name, unit);
    fprintf(f, "# HELP %s %s\n", name, help);
}

static const char *name_of(const assay_result *models, size_t i)
{
    char path[64];
    snprintf(path, sizeof path, "models.%zu.model", i);
    const char *name = assay_result_text(models, path);
    return name ? name : "";
}

/* Names are sorted. Two that differ behind a NUL only, which old histories may have, would be the same series. */
static bool is_shown(const assay_result *models, size_t i)
{
    const char *name = name_of(models, i);
    return i < MODELS_MAX && strlen(name) <= LABEL_BYTES &&
           (!i || strcmp(name, name_of(models, i - 1)) != 0);
}

static void put_figure(FILE *f, const figure_row *row, const assay_result *models)
{
    size_t n = assay_result_count(models, "models");
    put_head(f, row->name, "gauge", row->unit, row->help);
    for (size_t i = 0; i < MODELS_MAX && i < n; i++) {
        char figure[64];
        snprintf(figure, sizeof figure, "models.%zu.%s", i, row->path);
        double v = assay_result_number(models, figure);
        if (isnan(v) || !is_shown(models, i))
            continue;
        fprintf(f, "%s{model=\"", row->name);
        put_label(f, name_of(models, i));
        fprintf(f, "\"} %.17g\n", v / row->divisor);
    }
}

static void put_counts(FILE *f, const assay_result *models)
{
    size_t n = assay_result_count(models, "models"), shown = 0;
    for (size_t i = 0; i < n; i++)
        shown += is_shown(models, i);
    put_head(f, "assay_models", "gauge", NULL, "Models in the history.");
    fprintf(f, "assay_models %zu\n", n);
    put_head(f, "assay_models_left_out", "gauge", NULL,
             "Models without series here: beyond the first 1000, or with a name of another.");
    fprintf(f, "assay_models_left_out %zu\n", n - shown);
}

static void put_server(FILE *f, server *s)
{
    put_head(f, "assay_serve_replies", "counter", NULL, "Replies by status class.");
    for (int i = 2; i <= 5; i++)
        fprintf(f, "assay_serve_replies_total{class=\"%dxx\"} %llu\n", i,
                (unsigned long long)atomic_load(&s->by_class[i]));
    put_head(f, "assay_serve_requests", "gauge", NULL, "Requests in progress, this one included.");
    fprintf(f, "assay_serve_requests %llu\n", (unsigned long long)atomic_load(&s->active));
    put_head(f, "assay_serve_reply_bytes", "gauge", "bytes", "Memory of large replies.");
    fprintf(f, "assay_serve_reply_bytes %llu\n", (unsigned long long)budget_used(&s->replies));
    put_head(f, "assay_serve_work_peak_bytes", "gauge", "bytes",
             "Largest part of the limit serve-work in use at once since the start.");
    fprintf(f, "assay_serve_work_peak_bytes %llu\n", (unsigned long long)budget_peak(&s->work));
    put_head(f, "assay_serve_start_time_seconds", "gauge", "seconds", "Start time of the server.");
    fprintf(f, "assay_serve_start_time_seconds %lld\n", (long long)s->started_s);
    put_head(f, "assay_serve", "info", NULL, "Version of the server.");
    fprintf(f, "assay_serve_info{version=\"%s\"} 1\n", assay_version());
}

static void no_memory(reply *out)
{
    reply_error(out, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
}

/* Takes the list. */
static void put_all(request *r, assay_result *models, reply *out)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) {
        assay_result_free(models);
        no_memory(out);
        return;
    }
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        put_figure(f, &figures[i], models);
    put_counts(f, models);
    put_server(f, r->s);
    fputs("# EOF\n", f);
    assay_result_free(models);
    if (fclose(f) != 0) {
        free(text);
        no_memory(out);
        return;
    }
    reply_json(out, text, n);
    out->type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

static assay_status give_metrics(request *r, assay_store *store, reply *out, assay_error *err)
{
    assay_result *models = NULL;
    assay_status s = assay_store_models(store, &models, err);
    if (s == ASSAY_OK)
        put_all(r, models, out);
    return s;
}

void serve_metrics(request *r, reply *out)
{
    with_store(r, out, give_metrics);
}
