/* Devices of the table, and predicted times of built-in models on them. No request names a file: a model must be in the
 * catalogue and a device in the table, by its id. */
#include <assay/device.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

/* ---- devices ---- */

static void put_quoted(FILE *f, const char *key, const char *text)
{
    char *quoted = json_quoted(text);
    fprintf(f, "\"%s\": %s", key, quoted ? quoted : "null");
    free(quoted);
}

static void put_devices(FILE *f, const assay_devices *all)
{
    assay_device_info d = {.size = sizeof d};
    fputs("{\"devices\": [", f);
    for (size_t i = 0; assay_devices_at(all, i, &d); i++) {
        fputs(i ? ", {" : "{", f);
        put_quoted(f, "id", d.id);
        fputs(", ", f);
        put_quoted(f, "name", d.name);
        fputs(", ", f);
        put_quoted(f, "class", d.kind);
        fputs("}", f);
    }
    fputs("]}\n", f);
}

void serve_devices(request *r, reply *out)
{
    assay_devices *all = NULL;
    assay_error err;
    char *text = NULL;
    size_t n = 0;
    (void)r;
    if (assay_devices_open("all", &all, &err) != ASSAY_OK) {
        reply_failure(out, err.code, &err);
        return;
    }
    FILE *f = open_memstream(&text, &n);
    if (f)
        put_devices(f, all);
    reply_stream(out, f, &text, &n);
    assay_devices_free(all);
}

/* ---- what may be asked ---- */

static bool is_device(const assay_devices *all, const char *id, size_t n)
{
    assay_device_info d = {.size = sizeof d};
    for (size_t i = 0; assay_devices_at(all, i, &d); i++)
        if (strlen(d.id) == n && memcmp(d.id, id, n) == 0)
            return true;
    return false;
}

/* "t4,a100-80": ids of the table, at most SERVE_PREDICTED. */
static bool are_devices(const char *list)
{
    assay_devices *all = NULL;
    bool good = list && assay_devices_open("all", &all, NULL) == ASSAY_OK;
    int count = 0;
    for (const char *p = list; good && p; count++) {
        size_t n = strcspn(p, ",");
        good = count < SERVE_PREDICTED && is_device(all, p, n);
        p = p[n] ? p + n + 1 : NULL;
    }
    assay_devices_free(all);
    return good;
}

static bool is_builtin(const char *name)
{
    assay_model_info m = {.size = sizeof m};
    for (size_t i = 0; name && assay_model_at(i, &m); i++)
        if (strcmp(m.name, name) == 0)
            return true;
    return false;
}

/* ---- predictions ---- */

static void put_number(FILE *f, const assay_result *r, size_t i, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "devices.%zu.%s", i, key);
    double v = assay_result_number(r, path);
    if (isfinite(v))
        fprintf(f, ", \"%s\": %.9g", key, v);
    else
        fprintf(f, ", \"%s\": null", key);
}

static void put_words(FILE *f, const assay_result *r, size_t i, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "devices.%zu.%s", i, key);
    put_quoted(f, key, assay_result_text(r, path));
}

/* Of a model that is not built in, there are none. */
static void put_predictions(FILE *f, const char *model, const assay_result *r)
{
    fputs("{", f);
    put_quoted(f, "model", model);
    fputs(", \"predicted\": true, \"devices\": [", f);
    for (size_t i = 0; r && i < assay_result_count(r, "devices"); i++) {
        fputs(i ? ", {" : "{", f);
        put_words(f, r, i, "name");
        fputs(", ", f);
        put_words(f, r, i, "precision");
        put_number(f, r, i, "batch");
        put_number(f, r, i, "latency_ms");
        put_number(f, r, i, "latency_low_ms");
        put_number(f, r, i, "latency_high_ms");
        put_number(f, r, i, "memory_bytes");
        fputs("}", f);
    }
    fputs("]}\n", f);
}

static assay_status predict(request *r, const char *model, assay_result **out, assay_error *err)
{
    assay_options *o = assay_options_new();
    assay_model *m = NULL;
    const char *precision = query_of(r, "precision"), *batch = query_of(r, "batch");
    assay_status s = assay_options_set(o, "hardware", query_of(r, "hardware"), err);
    if (s == ASSAY_OK)
        s = assay_options_set(o, "precision", precision ? precision : "fp32", err);
    if (s == ASSAY_OK)
        s = assay_options_set(o, "batch-sizes", batch ? batch : "1", err);
    if (s == ASSAY_OK)
        s = assay_model_open(model, &m, err);
    if (s == ASSAY_OK)
        s = assay_map(m, o, out, err);
    assay_model_free(m);
    assay_options_free(o);
    return s;
}

void serve_predict(request *r, reply *out)
{
    const char *model = query_of(r, "model");
    assay_result *result = NULL;
    assay_error err = {0};
    char *text = NULL;
    size_t n = 0;
    if (!model || !are_devices(query_of(r, "hardware"))) {
        reply_error(out, MHD_HTTP_BAD_REQUEST,
                    "model is required, and hardware must be 1 to 16 ids of /api/v1/devices");
        return;
    }
    if (is_builtin(model) && predict(r, model, &result, &err) != ASSAY_OK) {
        reply_failure(out, err.code, &err);
        return;
    }
    FILE *f = open_memstream(&text, &n);
    if (f)
        put_predictions(f, model, result);
    reply_stream(out, f, &text, &n);
    assay_result_free(result);
}
