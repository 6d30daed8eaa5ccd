/* assay capacity: the number of machines for a request rate, from measured results. */
#include <stdlib.h>
#include <string.h>

#include "cli/job.h"

typedef struct reading {
    assay_result *profiles[CLI_MAX_WORDS];
    size_t n;
    assay_store *store; /* opened when a word is the number of a run */
} reading;

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 18;
}

static assay_status read_one(const cli_args *a, reading *r, const char *word, assay_error *err)
{
    assay_status s = ASSAY_OK;
    if (!is_number(word))
        return assay_result_read(word, CLI_COMPARED_KINDS, &r->profiles[r->n], err);
    if (!r->store)
        s = assay_store_open(a->history.db, false, &r->store, err);
    return s == ASSAY_OK ? assay_store_get(r->store, strtoll(word, NULL, 10), CLI_COMPARED_KINDS,
                                           &r->profiles[r->n], err)
                         : s;
}

static int refuse_model(const char *name)
{
    return cli_complain_text(ASSAY_ERR_USAGE,
                             "%.200s is a model. Add --hardware DEVICE to predict it, or name a "
                             "result of `assay bench`.",
                             name);
}

static int read_all(const cli_args *a, reading *r)
{
    assay_error err;
    for (int i = 0; i < a->n_words; i++) {
        if (read_one(a, r, a->words[i], &err) != ASSAY_OK)
            return cli_is_builtin(a->words[i]) ? refuse_model(a->words[i]) : cli_complain(&err);
        r->n++;
    }
    return r->store ? ASSAY_OK : cli_refuse_options(a, "db", "no word is the number of a record");
}

static int plan(cli_job *j, const reading *r, bool models)
{
    assay_result *c = NULL;
    assay_error err;
    const char *const *words = (const char *const *)j->args->words;
    assay_status s = models ? assay_capacity_models(words, (size_t)j->args->n_words,
                                                    j->args->options, &c, &err)
                            : assay_capacity((const assay_result *const *)r->profiles, words, r->n,
                                             j->args->options, &c, &err);
    if (!c)
        return cli_complain(&err);
    int code = cli_view(j, c);
    assay_result_free(c);
    if (!code && s != ASSAY_OK && j->args->output.quiet)
        cli_complain(&err);
    return code ? code : (int)s;
}

/* With --hardware the words are language models, else results. */
static int run_words(cli_job *j, reading *r)
{
    bool models = cli_given(j->args, "hardware");
    int code = models
                   ? cli_refuse_options(j->args, "db latency", "language models are predicted")
                   : cli_refuse_options(j->args,
                                        "slo prompt-tokens generate cache-dtype precision set",
                                        "results are measured; add --hardware to predict models");
    if (!code && !models)
        code = read_all(j->args, r);
    return code ? code : plan(j, r, models);
}

static int run_capacity(cli_args *args)
{
    cli_job j = {.args = args};
    reading r = {0};
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = run_words(&j, &r);
    for (size_t i = 0; i < r.n; i++)
        assay_result_free(r.profiles[i]);
    assay_store_close(r.store);
    cli_job_close(&j);
    return code;
}

static const char *const capacity_examples[] = {
    "assay profile resnet50 --batch-sizes 1,2,4,8,16 --num-runs 500 -o r.json",
    "measure first; P99 needs many runs",
    "assay capacity r.json --target 5000rps --latency p99:50ms",
    "number of machines and batch size",
    "assay capacity c1.json c4.json --target 800 --latency p95:20ms --headroom 30",
    "compare results with different --concurrency",
    "assay capacity llama-3.1-8b --hardware h100-sxm,l40s --target 20rps --slo ttft:500ms,itl:50ms",
    "devices for a language model, predicted",
    NULL,
};

const cli_command command_capacity = {
    CLI_COMMAND("capacity", "RESULT|MODEL ...", 1, 12, run_capacity),
    .classes = "screen page result",
    .formats = CLI_VIEW_FORMATS,
    .values = "@files",
    .examples = capacity_examples,
    .about = "Plan machines, batch and concurrency for a request rate and a latency.",
    .more =
        "RESULT is a JSON file of profile or bench, or the number of a record. With --hardware, "
        "MODEL is a language model, whose times are predicted. Requests arrive "
        "at random; a machine is a queue with the measured service times. Exit 6 if no "
        "configuration meets the target. See docs/capacity.md for the formulas."};
