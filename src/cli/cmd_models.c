/* assay models: the built-in architectures and their cost at default sizes. Each listed model is built and counted; a
 * pattern skips the others. With a task and devices: which of them to choose. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include <assay/study.h>

#include "cli/cli.h"
#include "cli/table.h"

static bool matches(const assay_model_info *m, const char *pattern)
{
    if (!pattern)
        return true;
    if (!strpbrk(pattern, "*?["))
        return strcasestr(m->name, pattern) || strcasestr(m->aliases, pattern) ||
               strcasecmp(m->family, pattern) == 0 || strcasecmp(m->task, pattern) == 0;
    return fnmatch(pattern, m->name, FNM_CASEFOLD) == 0;
}

static void put_dims(const assay_model_input *in, const char *between)
{
    for (int i = 0; i < in->rank; i++)
        printf("%s%" PRId64, i ? between : "", in->dims[i]);
}

static void put_json(const assay_model_info *m, bool first)
{
    fputs(first ? "  {" : ",\n  {", stdout);
    cli_json_text("name", m->name);
    fputs(", ", stdout);
    cli_json_text("family", m->family);
    fputs(", ", stdout);
    cli_json_text("task", m->task);
    fputs(", ", stdout);
    cli_json_text("aliases", m->aliases);
    fputs(", ", stdout);
    cli_json_text("defaults", m->defaults);
    printf(", \"parameters\": %" PRIu64 ", \"macs\": %" PRIu64
           ", \"gmacs\": %.6g, \"flops\": %" PRIu64 ", \"inputs\": {",
           m->parameters, m->macs, (double)m->macs / 1e9, m->flops);
    for (size_t i = 0; i < m->n_inputs && i < ASSAY_MODEL_INPUTS; i++) {
        printf("%s\"%s\": [", i ? ", " : "", m->inputs[i].name);
        put_dims(&m->inputs[i], ", ");
        putchar(']');
    }
    fputs("}}", stdout);
}

static void add_count(cli_table *t, uint64_t n)
{
    char digits[24], text[32];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    cli_table_add(t, text);
}

static const cli_column model_columns[] = {{.title = "model"},
                                           {.title = "family", .drop = 3},
                                           {.title = "parameters", .right = true},
                                           {.title = "GMACs", .right = true, .drop = 1},
                                           {.title = "input", .drop = 2},
                                           {.title = "task", .drop = 4}};

static void add_model(cli_table *t, const assay_model_info *m)
{
    char input[64] = "", gmacs[32];
    size_t at = 0;
    for (int i = 0; i < m->inputs[0].rank && at + 24 < sizeof input; i++)
        at += (size_t)snprintf(input + at, sizeof input - at, "%s%" PRId64, i ? "x" : "",
                               m->inputs[0].dims[i]);
    snprintf(gmacs, sizeof gmacs, "%.3f", (double)m->macs / 1e9);
    cli_table_add(t, m->name);
    cli_table_add(t, m->family);
    add_count(t, m->parameters);
    cli_table_add(t, gmacs);
    cli_table_add(t, input);
    cli_table_add(t, m->task);
}

static int put_all(const char *pattern, const char *task, bool json, cli_table *t, int *shown)
{
    assay_model_info m = {.size = sizeof m};
    assay_error err;
    for (size_t i = 0; assay_model_at(i, &m); i++) {
        if (!matches(&m, pattern) || (task && *task && strcasecmp(m.task, task) != 0))
            continue;
        if (assay_model_cost(i, &m, &err) != ASSAY_OK)
            return cli_complain(&err);
        if (json)
            put_json(&m, *shown == 0);
        else
            add_model(t, &m);
        ++*shown;
    }
    return ASSAY_OK;
}

/* ---- choosing ---- */

static const cli_column choice_columns[] = {{.title = "model"},
                                            {.title = "device"},
                                            {.title = "accuracy", .right = true},
                                            {.title = "precision", .drop = 3},
                                            {.title = "expected", .right = true},
                                            {.title = "80 % within", .right = true, .drop = 2},
                                            {.title = "MiB", .right = true, .drop = 1},
                                            {.title = "front"}};

static void add_choice(cli_table *t, const assay_choice *c)
{
    char text[64];
    cli_table_add(t, c->model);
    cli_table_add(t, c->device);
    snprintf(text, sizeof text, "%.1f %s", c->accuracy, c->metric);
    cli_table_add(t, text);
    cli_table_add(t, c->precision);
    snprintf(text, sizeof text, "%.3g ms", c->latency_ms);
    cli_table_add(t, text);
    snprintf(text, sizeof text, "[%.3g, %.3g]", c->latency_low_ms, c->latency_high_ms);
    cli_table_add(t, text);
    snprintf(text, sizeof text, "%.1f", (double)c->memory_bytes / (1024.0 * 1024));
    cli_table_add(t, text);
    cli_table_add(t, c->imprecise ? "imprecise" : c->pareto ? "*" : "");
}

static void put_choice(const assay_choice *c, bool first)
{
    const struct {
        const char *key, *text;
    } words[] = {{"device", c->device},      {"model", c->model},   {"metric", c->metric},
                 {"weights", c->weights},    {"source", c->source}, {"runtime", c->runtime},
                 {"precision", c->precision}};
    fputs(first ? "  {" : ",\n  {", stdout);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        cli_json_text(words[i].key, words[i].text);
        fputs(", ", stdout);
    }
    printf("\"accuracy\": %.6g, \"latency_ms\": %.6g, \"latency_low_ms\": %.6g, "
           "\"latency_high_ms\": %.6g, \"memory_bytes\": %" PRIu64 ", \"parameters\": %" PRIu64
           ", \"fits\": %s, \"pareto\": %s, \"imprecise\": %s}",
           c->accuracy, c->latency_ms, c->latency_low_ms, c->latency_high_ms, c->memory_bytes,
           c->parameters, c->fits ? "true" : "false", c->pareto ? "true" : "false",
           c->imprecise ? "true" : "false");
}

/* Sources of the figures that were shown, each once. */
static void put_sources(const assay_choices *all)
{
    assay_choice c = {.size = sizeof c}, before = {.size = sizeof before};
    puts("\nAccuracy:");
    for (size_t i = 0; assay_choice_at(all, i, &c); i++) {
        bool known = !c.fits;
        for (size_t k = 0; k < i && !known && assay_choice_at(all, k, &before); k++)
            known = before.fits && strcmp(before.source, c.source) == 0;
        if (known)
            continue;
        fputs("  ", stdout);
        cli_wrap(c.source, 2, 4, cli_width());
    }
    cli_wrap("Front (*): nothing that fits the device is both faster and more accurate. Expected "
             "times: docs/hardware.md.",
             0, 0, cli_width());
}

static int show_choices(const assay_choices *all, bool json)
{
    assay_choice c = {.size = sizeof c};
    size_t shown = 0;
    cli_table t;
    cli_table_begin(&t, choice_columns, sizeof choice_columns / sizeof *choice_columns);
    if (json)
        puts("[");
    for (size_t i = 0; assay_choice_at(all, i, &c); i++) {
        if (json)
            put_choice(&c, i == 0);
        else if (c.fits)
            add_choice(&t, &c);
        shown += c.fits;
    }
    int code = cli_table_print(&t);
    if (json)
        puts("\n]");
    else if (shown)
        put_sources(all);
    else
        puts("No model of this task fits the budget.");
    return code;
}

static int run_choose(cli_args *args, const char *task)
{
    assay_choices *all = NULL;
    assay_error err;
    if (assay_choose(task, args->options, &all, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = show_choices(all, cli_as_json(args));
    assay_choices_free(all);
    return code;
}

/* ---- the list ---- */

/* The nearest names, as opening a model of that name would put it; "" when none is near. */
static const char *nearest(const char *word, assay_error *err)
{
    assay_model *model = NULL;
    const char *at = NULL;
    if (assay_model_open(word, &model, err) != ASSAY_OK)
        at = strstr(err->message, "Did you mean");
    assay_model_free(model);
    return at ? at : "`assay models` lists all.";
}

static const char *task_at(size_t i, const void *ctx)
{
    assay_model_info info = {.size = sizeof info};
    (void)ctx;
    return assay_model_at(i, &info) ? info.task : NULL;
}

static int run_models(cli_args *args)
{
    const char *task = assay_options_get(args->options, "task");
    const char *hardware = assay_options_get(args->options, "hardware");
    const char *budget = assay_options_get(args->options, "budget");
    const char *pattern = args->n_words ? args->words[0] : NULL;
    int json = cli_as_json(args), shown = 0;
    cli_table t;
    if (hardware && *hardware && task && *task)
        return run_choose(args, task);
    if ((hardware && *hardware) || (budget && *budget))
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "choosing a model needs --task and --hardware, such as --task "
                                 "classification --hardware t4");
    if (json)
        puts("[");
    cli_table_begin(&t, model_columns, sizeof model_columns / sizeof *model_columns);
    int code = put_all(pattern, task, json, &t, &shown);
    int printed = cli_table_print(&t);
    code = code ? code : printed;
    if (json)
        puts(shown ? "\n]" : "]");
    assay_error err = {0};
    if (code == ASSAY_OK && shown == 0 && !pattern)
        return cli_no_match("task", task, task_at, NULL);
    if (code == ASSAY_OK && shown == 0)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "no built-in model, family or task matches '%.100s'. %s", pattern,
                                 nearest(pattern, &err));
    return code;
}

static const char *const models_examples[] = {
    "assay models",
    "all models",
    "assay models 'resnet*'",
    "models whose name matches",
    "assay models detection --json",
    "models of a task, as JSON",
    "assay models --task classification --hardware t4 --budget latency:5ms,memory:1GB",
    "the most accurate models within a budget",
    NULL,
};

const cli_command command_models = {
    CLI_COMMAND("models", "[PATTERN]", 0, 1, run_models),
    .classes = "list",
    .formats = CLI_LIST_FORMATS,
    .values = "@tasks",
    .examples = models_examples,
    .about = "List built-in models: family, parameters, GMACs, default input, task.",
    .more = "PATTERN is part of a name, a family or a task, or contains * and ?. The numbers "
            "are computed from the models."};
