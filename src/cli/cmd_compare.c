/* assay compare: models or results side by side. */
#include <string.h>

#include "cli/job.h"
#include "cli/keep.h"
#include "cli/run.h"
#include "cli/values.h"

typedef struct comparing {
    assay_result *profiles[CLI_MAX_WORDS];
    assay_model *models[CLI_MAX_WORDS]; /* of those to be run */
    size_t n;
    assay_result *result;
    assay_store *store;    /* the runs are kept in it; or NULL */
    const char *precision; /* as given: one for all models, or one for each; or NULL */
    int verdict;           /* exit code of a result that is shown all the same */
} comparing;

/* --precision may name one for each model; each is weighed, and run, at its own. */
static void choose_precision(cli_args *a, const char *precisions, size_t i)
{
    const char *at = precisions;
    char one[64];
    if (!at || !strchr(at, ','))
        return;
    for (; i && at; i--)
        at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    if (at)
        snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ","), at);
    if (at)
        assay_options_set(a->options, "precision", one, NULL);
}

static int analyze_one(cli_args *a, comparing *c)
{
    const char *word = a->words[c->n];
    assay_error err;
    int code = ASSAY_OK;
    if (cli_job_result(word, &c->profiles[c->n], &code))
        return code || !a->measure
                   ? code
                   : cli_complain_text(
                         ASSAY_ERR_USAGE,
                         "'%.200s' is a result, which cannot be run. Omit --measure to compare "
                         "its stored runs.",
                         word);
    assay_status s = assay_model_open(word, &c->models[c->n], &err);
    choose_precision(a, c->precision, c->n);
    assay_options_set(a->options, "no-advice", "true", NULL); /* nobody sees it */
    assay_options_set(a->options, "dims-may-miss", "true", NULL);
    if (s == ASSAY_OK)
        s = assay_analyze(c->models[c->n], a->options, &c->profiles[c->n], &err);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static bool was_run(const comparing *c, size_t i)
{
    return i == 0 || !(cli_number(c->result, "measured.%zu.runs", i - 1) <= 0);
}

/* The runs of every model. */
static int keep_runs(const cli_args *a, comparing *c)
{
    int code = ASSAY_OK;
    for (size_t i = 0; c->store && i < c->n && !code; i++)
        if (was_run(c, i))
            code = cli_keep(a, c->store, c->profiles[i]);
    return code;
}

static int run_them(cli_args *a, comparing *c)
{
    cli_run r = {.job = NULL};
    const assay_hooks hooks = cli_run_hooks(&r);
    assay_error err;
    cli_catch_interrupt();
    if (c->precision)
        assay_options_set(a->options, "precision", c->precision, NULL);
    assay_status s = assay_compare_measure(c->result, c->models, c->n, a->options, &hooks, &err);
    cli_run_clear(&r);
    if (s == ASSAY_ERR_INCONCLUSIVE)
        c->verdict = (int)s;
    return s == ASSAY_OK || s == ASSAY_ERR_INCONCLUSIVE ? keep_runs(a, c) : cli_complain(&err);
}

/* Before any work: the history, and whether there will be anything for it. */
static int compare_opened(cli_args *a, comparing *c)
{
    if (a->history.save && !a->measure)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "compare --save requires --measure. `assay MODEL --save` stores a "
                                 "static profile.");
    int named = 1;
    c->precision = assay_options_get(a->options, "precision");
    for (const char *p = c->precision; p && *p; p++)
        named += *p == ',';
    if (named > 1 && named != a->n_words)
        return cli_complain_text(
            ASSAY_ERR_USAGE,
            "--precision has %d types for %d models. Name one for all, or one per "
            "model.",
            named, a->n_words);
    cli_record_command(a);
    return cli_keep_open(a, &c->store);
}

static bool warned_of(const assay_result *p, const char *code, const char *node)
{
    for (size_t i = 0; i < assay_result_count(p, "warnings"); i++)
        if (strcmp(cli_text(p, "warnings.%zu.code", i), code) == 0 &&
            strcmp(cli_text(p, "warnings.%zu.node", i), node) == 0)
            return true;
    return false;
}

/* A --dim may be for one of the models alone; for none of them it is a slip. */
static int check_dims(const comparing *c)
{
    size_t first = 0;
    while (first < c->n && !c->models[first])
        first++;
    const assay_result *p = first < c->n ? c->profiles[first] : NULL;
    for (size_t i = 0; p && i < assay_result_count(p, "warnings"); i++) {
        const char *node = cli_text(p, "warnings.%zu.node", i);
        bool all = strcmp(cli_text(p, "warnings.%zu.code", i), "unused-dim") == 0;
        for (size_t k = first; k < c->n && all; k++)
            all = !c->models[k] || warned_of(c->profiles[k], "unused-dim", node);
        if (all)
            return cli_complain_text(ASSAY_ERR_USAGE, "no model has a dimension '%.200s'", node);
    }
    return ASSAY_OK;
}

static bool any_model(const comparing *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->models[i])
            return true;
    return false;
}

static int analyze_all(cli_args *a, comparing *c)
{
    assay_error err;
    int code = compare_opened(a, c);
    if (code)
        return code;
    for (int i = 0; i < a->n_words; i++, c->n++) {
        code = analyze_one(a, c);
        if (code) {
            c->n++;
            return code;
        }
    }
    code = any_model(c)
               ? check_dims(c)
               : cli_refuse_topics(a, "Model|Analysis", "saved results are compared as they are");
    if (code)
        return code;
    if (assay_compare((const assay_result *const *)c->profiles, c->n, a->options, &c->result,
                      &err) != ASSAY_OK)
        return cli_complain(&err);
    return a->measure ? run_them(a, c) : ASSAY_OK;
}

static int run_compare(cli_args *args)
{
    comparing c = {0};
    cli_job j = {.args = args};
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = analyze_all(args, &c);
    if (!code)
        code = cli_view(&j, c.result);
    cli_job_close(&j);
    assay_result_free(c.result);
    assay_store_close(c.store);
    for (size_t i = 0; i < c.n; i++) {
        assay_result_free(c.profiles[i]);
        assay_model_free(c.models[i]);
    }
    return code ? code : c.verdict;
}

static const char *const compare_examples[] = {
    "assay compare resnet50 efficientnet_b0 vit_b_16",
    "totals with ratios to the first",
    "assay compare before.onnx after.onnx",
    "with the layers that differ",
    "assay compare before.onnx after.onnx --measure",
    "run both alternately to find the faster one",
    "assay compare base.json model.onnx -f md",
    "a saved result and a model, as Markdown",
    NULL,
};

const cli_command command_compare = {
    CLI_COMMAND("compare", "A B [...]", 2, 12, run_compare),
    .classes = "model run asked screen page result save",
    .formats = CLI_VIEW_FORMATS,
    .values = "@models",
    .examples = compare_examples,
    .about = "Compare models or results: totals with ratios, operators, layers that differ.",
    .more = "Ratios are to the first. For two models, layers that were added, removed, reshaped or "
            "changed are listed. Layers are matched by structure, not by name. With --measure each "
            "model is run alternately with the first: faster, slower, no difference, or "
            "inconclusive (exit 7)."};
