/* assay graph --sandbox: a confined process opens, analyses and renders the model; this one prints and writes what comes
 * back. Nothing of the file is read here, but for a result that is stored in the history (as JSON). */
#include <assay/sandbox.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job.h"
#include "cli/keep.h"

/* What is rendered: stdout's text first, then one per file, then the JSON to store. */
typedef struct renderings {
    assay_text texts[CLI_MAX_OUTPUTS + 2];
    size_t n;
} renderings;

static void add_rendering(renderings *r, const char *format, bool color)
{
    r->texts[r->n] = (assay_text){.format = format, .color = color};
    r->n++;
}

static int refuse_limits(const cli_args *a)
{
    return assay_options_limits(a->options)
               ? cli_complain_text(ASSAY_ERR_USAGE,
                                   "--sandbox does not check limits. Save the result (-o "
                                   "result.json), then use `assay check result.json`.")
               : ASSAY_OK;
}

static int analyze(cli_job *j, renderings *r)
{
    assay_confined what = {.size = sizeof what, .model = j->args->words[0]};
    assay_error err;
    int code = ASSAY_OK;
    if (strcmp(what.model, "-") == 0) {
        what.model = "stdin";
        code = cli_read_stdin(&j->bytes, &what.n_bytes);
        what.bytes = j->bytes;
    }
    if (code)
        return code;
    j->verdict = assay_analyze_confined(&what, j->args->options, r->texts, r->n, &err);
    return j->verdict == ASSAY_OK ? ASSAY_OK : cli_complain_model(j->args, &err);
}

static int keep_text(cli_job *j, const assay_text *json)
{
    assay_error err;
    if (assay_result_from_json(json->text, json->n, "the result", "profile", &j->profile, &err) !=
        ASSAY_OK)
        return cli_complain(&err);
    return cli_keep(j->args, j->store, j->profile);
}

static int write_renderings(cli_job *j, const renderings *r)
{
    const assay_text *t = r->texts;
    assay_error err;
    int code = ASSAY_OK;
    if (!t->text)
        return ASSAY_OK;
    if (j->stdout_format)
        code = cli_print(t->text, t->n);
    t += j->stdout_format != NULL;
    for (int i = 0; i < j->n_files && !code; i++, t++)
        if (assay_output_write(j->files[i].out, t->text, t->n, &err) != ASSAY_OK)
            code = cli_complain(&err);
    if (!code)
        code = cli_job_commit(j);
    return code || !j->store ? code : keep_text(j, t);
}

static int render_and_write(cli_job *j)
{
    renderings r = {.n = 0};
    if (j->stdout_format)
        add_rendering(&r, j->stdout_format, cli_color(j->args->output.color));
    for (int i = 0; i < j->n_files; i++)
        add_rendering(&r, j->files[i].format, false);
    if (j->store)
        add_rendering(&r, "json", false);
    int verdict = analyze(j, &r), code = ASSAY_OK;
    if (r.n && r.texts[r.n - 1].text) /* all are there */
        code = write_renderings(j, &r);
    for (size_t i = 0; i < r.n; i++)
        assay_free(r.texts[i].text);
    return code ? code : verdict;
}

int cli_job_sandboxed(cli_args *args)
{
    cli_job j = {.args = args};
    int code = refuse_limits(args);
    if (!code)
        code = cli_job_open_outputs(&j);
    if (!code)
        code = cli_job_open_store(&j);
    if (!code) {
        cli_job_prepare(&j);
        cli_describe_screen(args);
        code = render_and_write(&j);
    }
    cli_job_close(&j);
    return code;
}
