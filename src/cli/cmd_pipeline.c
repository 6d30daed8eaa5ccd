/* assay pipeline: the cost of generating an image or a text. */
#include <string.h>

#include "cli/job.h"
#include "cli/keep.h"

typedef struct showing {
    assay_result *list[CLI_MAX_WORDS];
    size_t n;
    assay_store *store; /* or NULL */
    int code;           /* of --strict */
} showing;

static bool writes_record(const cli_args *a)
{
    for (int i = 0; i < a->output.paths.n; i++)
        if (strstr(a->output.paths.items[i], "generation_config.json"))
            return true;
    return a->output.format && strcmp(a->output.format, "generation-config") == 0;
}

static int refuse_useless(const cli_args *a, const assay_result *p)
{
    if (strcmp(assay_result_text(p, "kind"), "diffusion") == 0 && !a->measure)
        return cli_refuse_options(a, "precision memory-limit",
                                  "images are counted, not run; add --measure");
    return ASSAY_OK;
}

static int run_all(cli_args *a, showing *s)
{
    assay_error err;
    int words = a->n_words ? a->n_words : 1; /* none with --pipeline-file */
    for (int i = 0; i < words; i++) {
        const char *word = a->n_words ? a->words[i] : NULL;
        int strict = ASSAY_OK; /* --strict: the result is shown all the same */
        if (assay_pipeline(word, a->options, &s->list[s->n], &err) != ASSAY_OK) {
            strict = cli_complain(&err);
            if (!s->list[s->n])
                return strict;
        }
        s->code = s->code ? s->code : strict;
        s->n++;
        int code = refuse_useless(a, s->list[s->n - 1]);
        if (code)
            return code;
        if (a->measure &&
            assay_pipeline_measure(s->list[s->n - 1], a->options, NULL, &err) != ASSAY_OK)
            return cli_complain(&err);
    }
    return ASSAY_OK;
}

static int keep_all(cli_args *a, const showing *s)
{
    int code = ASSAY_OK;
    for (size_t i = 0; s->store && i < s->n && !code; i++)
        code = cli_keep(a, s->store, s->list[i]);
    return code;
}

static int show_all(cli_job *j, const showing *s)
{
    assay_result *all = NULL;
    assay_error err;
    if (s->n == 1)
        return cli_view(j, s->list[0]);
    if (assay_pipelines((const assay_result *const *)s->list, s->n, &all, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = cli_view(j, all);
    assay_result_free(all);
    return code;
}

static int run_pipeline(cli_args *args)
{
    showing s = {0};
    cli_job j = {.args = args};
    int code = writes_record(args)
                   ? ASSAY_OK
                   : cli_refuse_options(args, "prompt", "generation_config.json is not written");
    if (!code)
        code = cli_job_open_outputs(&j);
    if (!code)
        code = cli_keep_open(args, &s.store);
    cli_record_command(args);
    if (!code)
        code = run_all(args, &s);
    if (!code)
        code = keep_all(args, &s);
    if (!code)
        code = show_all(&j, &s);
    code = code ? code : s.code;
    for (size_t i = 0; i < s.n; i++)
        assay_result_free(s.list[i]);
    assay_store_close(s.store);
    cli_job_close(&j);
    return code;
}

static const char *const pipeline_examples[] = {
    "assay pipeline sd21 --height 512 --width 512 --steps 30 --guidance-scale 7.5",
    "cost of each component",
    "assay pipeline sd21 --sweep resolution=512,768,1024 --sweep steps=20,30,50",
    "cost by resolution and by steps",
    "assay pipeline sd15 sdxl flux-dev -o run/generation_config.json",
    "several side by side, with generation_config.json",
    "assay pipeline llama-3.1-8b --prompt-tokens 2048 --generate 256 --batch 8",
    "prefill, decode, cache and memory of a language model",
    NULL,
};

const cli_command command_pipeline = {
    CLI_COMMAND("pipeline", "NAME|DIR ...", 0, 12, run_pipeline),
    .classes = "run asked screen page result save",
    .formats = CLI_VIEW_FORMATS "|generation-config",
    .values = "@pipelines",
    .examples = pipeline_examples,
    .about = "Show the cost of generating an image or a text, by component.",
    .more =
        "NAME is a pipeline (sd15, sd21, sdxl, sd3-medium, flux-dev, pixart-512, dit-xl-2, "
        "...) or a language model (`assay models language`); DIR is a directory of diffusers or "
        "transformers. Default sizes are those of the model's own library."};
