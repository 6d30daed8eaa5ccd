/* assay map: predictions for a model on devices. assay devices: the list of devices. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job.h"
#include "cli/table.h"

/* ---- map ---- */

typedef struct mapped {
    assay_model *models[CLI_MAX_WORDS];
    assay_result *profiles[CLI_MAX_WORDS];
    size_t n;
    assay_result *result;
    int verdict; /* exit code of a result that is shown all the same */
} mapped;

static int map_one(const cli_args *a, mapped *m)
{
    assay_error err;
    assay_status s = assay_model_open(a->words[m->n], &m->models[m->n], &err);
    if (s == ASSAY_OK)
        s = assay_map(m->models[m->n], a->options, &m->profiles[m->n], &err);
    if (s != ASSAY_OK)
        m->verdict = cli_complain(&err);
    return m->profiles[m->n++] ? ASSAY_OK : m->verdict;
}

static int map_all(cli_args *a, mapped *m)
{
    assay_error err;
    int code = cli_refuse_options(a, "goal price top verbose no-advice save tag",
                                  "several models are compared at a glance");
    assay_options_set(a->options, "no-advice", "true", NULL);
    cli_record_command(a);
    while (!code && m->n < (size_t)a->n_words)
        code = map_one(a, m);
    if (code)
        return code;
    return assay_compare((const assay_result *const *)m->profiles, m->n, a->options, &m->result,
                         &err) == ASSAY_OK
               ? ASSAY_OK
               : cli_complain(&err);
}

/* Several models: a comparison, with each of them on each device. */
static int map_several(cli_args *args)
{
    mapped m = {0};
    cli_job j = {.args = args};
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = map_all(args, &m);
    if (!code)
        code = cli_view(&j, m.result);
    cli_job_close(&j);
    assay_result_free(m.result);
    for (size_t i = 0; i < m.n; i++) {
        assay_result_free(m.profiles[i]);
        assay_model_free(m.models[i]);
    }
    return code ? code : m.verdict;
}

static int run_map(cli_args *args)
{
    return args->n_words > 1 ? map_several(args) : cli_job_view(args, assay_map, "map");
}

/* ---- devices ---- */

static bool matches(const assay_device_info *d, const char *pattern)
{
    const char *texts[] = {d->id, d->name, d->kind, d->aliases};
    for (int i = 0; i < 4 && pattern; i++)
        if (strpbrk(pattern, "*?[") ? fnmatch(pattern, texts[i], FNM_CASEFOLD) == 0
                                    : strcasestr(texts[i], pattern) != NULL)
            return true;
    return !pattern;
}

static void json_number(const char *key, double v)
{
    if (v > 0)
        printf(", \"%s\": %.10g", key, v);
    else
        printf(", \"%s\": null", key);
}

static void put_json(const assay_device_info *d, bool first)
{
    const char *const texts[][2] = {{"id", d->id},
                                    {"aliases", d->aliases},
                                    {"name", d->name},
                                    {"class", d->kind},
                                    {"certainty", d->certainty},
                                    {"source", d->source},
                                    {"price_date", d->price_date},
                                    {"price_source", d->price_source}};
    fputs(first ? "  {" : ",\n  {", stdout);
    for (int i = 0; i < (d->price_usd > 0 ? 8 : 6); i++) {
        fputs(i ? ", " : "", stdout);
        cli_json_text(texts[i][0], texts[i][1]);
    }
    for (size_t p = 0; p < ASSAY_DEVICE_PRECISIONS; p++) {
        char key[32];
        bool whole = strcmp(assay_device_precision(p), "int8") == 0;
        snprintf(key, sizeof key, "%s_%s", assay_device_precision(p), whole ? "tops" : "tflops");
        json_number(key, d->peak[p] / 1e12);
    }
    json_number("fp16_acc16_tflops", d->fp16_acc16 / 1e12);
    json_number("memory_gib", d->memory_bytes / (1024.0 * 1024 * 1024));
    json_number("bandwidth_gbs", d->bandwidth / 1e9);
    json_number("tdp_w", d->power_w);
    json_number("overhead_us", d->overhead_s * 1e6);
    json_number("price_usd", d->price_usd);
    putchar('}');
}

enum { DEVICE_COLUMNS = 2 + ASSAY_DEVICE_PRECISIONS + 6 };

/* The least needed columns are dropped first on a narrow terminal. */
static void device_columns(cli_column *c)
{
    static const char *const rare[] = {"tf32", "fp8"};
    size_t n = 0;
    c[n++] = (cli_column){.title = "device"};
    c[n++] = (cli_column){.title = "class", .drop = 1};
    for (size_t p = 0; p < ASSAY_DEVICE_PRECISIONS; p++, n++) {
        c[n] = (cli_column){.title = assay_device_precision(p), .right = true};
        for (size_t i = 0; i < 2; i++)
            if (strcmp(rare[i], c[n].title) == 0)
                c[n].drop = 5 - (int)i;
    }
    c[n++] = (cli_column){.title = "fp16 acc16", .right = true, .drop = 6};
    c[n++] = (cli_column){.title = "GiB", .right = true};
    c[n++] = (cli_column){.title = "GB/s", .right = true};
    c[n++] = (cli_column){.title = "W", .right = true, .drop = 2};
    c[n++] = (cli_column){.title = "USD/h", .right = true, .drop = 4};
    c[n++] = (cli_column){.title = "figures", .drop = 3};
}

/* The source of a row, and that of its price. */
static void add_note(cli_table *t, const assay_device_info *d)
{
    char *text = NULL;
    int n = d->price_usd > 0 && *d->price_date
                ? asprintf(&text, "%s%sPrice: list price of %s (%s).", d->source,
                           *d->source ? " " : "", d->price_date, d->price_source)
                : asprintf(&text, "%s", d->source);
    if (n > 0)
        cli_table_note(t, text);
    if (n >= 0)
        free(text);
}

static void add_device(cli_table *t, const assay_device_info *d, bool source)
{
    cli_table_add(t, d->id);
    cli_table_add(t, d->kind);
    for (size_t p = 0; p < ASSAY_DEVICE_PRECISIONS; p++)
        cli_table_number(t, d->peak[p] / 1e12);
    cli_table_number(t, d->fp16_acc16 / 1e12);
    cli_table_number(t, d->memory_bytes / (1024.0 * 1024 * 1024));
    cli_table_number(t, d->bandwidth / 1e9);
    cli_table_number(t, d->power_w);
    cli_table_number(t, d->price_usd);
    cli_table_add(t, d->certainty);
    if (source)
        add_note(t, d);
}

static int put_all(const assay_devices *list, const char *pattern, bool json, int *code)
{
    assay_device_info d = {.size = sizeof d};
    cli_column columns[DEVICE_COLUMNS];
    cli_table t;
    int shown = 0, all = 0;
    device_columns(columns);
    cli_table_begin(&t, columns, DEVICE_COLUMNS);
    for (size_t i = 0; assay_devices_at(list, i, &d); i++)
        all += matches(&d, pattern);
    for (size_t i = 0; assay_devices_at(list, i, &d); i++) {
        if (!matches(&d, pattern))
            continue;
        if (json)
            put_json(&d, shown == 0);
        else
            add_device(&t, &d, all <= 8);
        shown++;
    }
    *code = cli_table_print(&t);
    return shown;
}

static const char *device_id_at(size_t i, const void *list)
{
    assay_device_info d = {.size = sizeof d};
    return assay_devices_at(list, i, &d) ? d.id : NULL; /* of the list, not of d */
}

static int run_devices(cli_args *args)
{
    const char *pattern = args->n_words ? args->words[0] : NULL;
    assay_devices *list = NULL;
    assay_error err;
    int json = cli_as_json(args), code = ASSAY_OK;
    if (assay_devices_open(assay_options_get(args->options, "hardware"), &list, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (json)
        puts("[");
    int shown = put_all(list, pattern, json, &code);
    if (json)
        puts(shown ? "\n]" : "]");
    if (!json && shown) {
        putchar('\n');
        cli_wrap("Peaks are dense tera-operations per second, with sums in fp32 (int8: in int32; "
                 "fp16 acc16: in fp16). A dash means not available or not published. USD/h is the "
                 "list price of an hour on demand at one provider, of the date in --json. Up to "
                 "eight rows, and --json, show their source.",
                 0, 0, cli_width());
    }
    if (shown == 0)
        code = cli_no_match("device", pattern, device_id_at, list);
    assay_devices_free(list);
    return code;
}

static const char *const map_examples[] = {
    "assay map resnet50 mobilenet_v2 --hardware edge",
    "two models on all edge devices",
    "assay map resnet50 --hardware rtx3090,a100-80,h100-sxm",
    "time, memory and verdict on three devices",
    "assay map vit_b_16 --hardware all --goal latency:5ms",
    "devices that reach 5 ms, with their power",
    "assay map model.onnx --hardware t4 --precision fp16,int8 --batch-sizes 1,8,64",
    "two precisions and three batch sizes on one device",
    "assay map model.onnx --hardware mine.json -o map.csv",
    "your own device",
    NULL,
};

const cli_command command_map = {
    CLI_COMMAND("map", "MODEL [...]", 1, 12, run_map),
    .classes = "model screen page result save",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .examples = map_examples,
    .about = "Predict time and memory of models on devices, with batch sizes and a Pareto table.",
    .more =
        "Several models are shown side by side, a row for each device. Times are what a runtime is expected to need, with an 80 % interval and the roofline as the limit; for `this`, they come from measured kernels. See "
        "docs/hardware.md for the formulas and their accuracy."};

static const char *const devices_examples[] = {
    "assay devices",
    "all devices",
    "assay devices orin --json",
    "devices with a matching name, as JSON",
    "assay devices --hardware mine.csv",
    "check your own device file",
    NULL,
};

const cli_command command_devices = {
    CLI_COMMAND("devices", "[PATTERN]", 0, 1, run_devices),
    .classes = "list",
    .formats = CLI_LIST_FORMATS,
    .values = "@device-names",
    .examples = devices_examples,
    .about = "List known hardware: dense peaks, memory, bandwidth, power, certainty.",
    .more = "PATTERN is part of a name or a class, or contains * and ?."};
