/* See gate.h. In a workflow of GitHub (GITHUB_ACTIONS is set) verdicts are annotations on stderr too, and a
 * Markdown table is added to the file that GITHUB_STEP_SUMMARY names. */
#include "cli/gate.h"

#include <stdlib.h>
#include <string.h>

#include "cli/values.h"

int cli_gate_open(cli_gate *g, cli_args *a)
{
    assay_error err;
    int code = a->check.baseline ? cli_baseline_open(g, a) : ASSAY_OK;
    if (code)
        return code;
    if (a->check.save_baseline &&
        assay_output_open(a->check.save_baseline, &g->save, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (a->check.junit && assay_output_open(a->check.junit, &g->junit, &err) != ASSAY_OK)
        return cli_complain(&err);
    return ASSAY_OK;
}

bool cli_gate_wanted(const cli_gate *g, const cli_args *a)
{
    return g->baseline || g->save || g->junit || assay_options_limits(a->options);
}

void cli_gate_close(cli_gate *g)
{
    assay_output_abandon(g->save);
    assay_output_abandon(g->junit);
    assay_result_free(g->baseline);
}

static int commit(assay_output **out, const char *text, size_t n)
{
    assay_error err;
    assay_output *file = *out;
    *out = NULL;
    return assay_output_commit(file, text, n, &err) == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

/* "assay: saved lenet as a baseline to base.json: counts, 50 runs at batch 1 fp32". */
static void say_saved(const cli_job *j)
{
    const assay_result *p = j->profile;
    if (j->args->output.quiet)
        return;
    fprintf(stderr, "assay: saved %s as a baseline to %s: counts", cli_text(p, "model"),
            j->args->check.save_baseline);
    if (assay_result_count(p, "configurations") && cli_number(p, "latency.runs") > 0)
        fprintf(stderr, ", %.0f runs at batch %.0f %s", cli_number(p, "latency.runs"),
                cli_number(p, "configurations.0.batch"), cli_text(p, "configurations.0.precision"));
    fputc('\n', stderr);
}

static int save_baseline(cli_gate *g, cli_job *j)
{
    assay_error err;
    char *text;
    size_t n;
    if (!g->save)
        return ASSAY_OK;
    if (assay_result_write(j->profile, "json", j->args->options, &text, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = commit(&g->save, text, n);
    assay_free(text);
    if (!code)
        say_saved(j);
    return code;
}

/* ---- views of the verdicts ---- */

typedef struct view {
    char *text;
    size_t n;
} view;

static int render(const assay_result *v, cli_args *a, const char *format, view *out)
{
    assay_error err;
    assay_status s = assay_result_write(v, format, a->options, &out->text, &out->n, &err);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static void tell_github(const assay_result *v, cli_args *a)
{
    const char *in = getenv("GITHUB_ACTIONS"), *summary = getenv("GITHUB_STEP_SUMMARY");
    view w = {0};
    assay_error err;
    if (!in || !*in || strcmp(in, "false") == 0 || !assay_result_count(v, "checks"))
        return;
    if (render(v, a, "github", &w) == ASSAY_OK)
        fwrite(w.text, 1, w.n, stderr);
    assay_free(w.text);
    w = (view){0};
    if (!summary || !*summary || render(v, a, "md", &w) != ASSAY_OK)
        return;
    if (assay_output_append(summary, w.text, w.n, &err) != ASSAY_OK ||
        assay_output_append(summary, "\n", 1, &err) != ASSAY_OK) /* the next step's begins below */
        cli_complain(&err);
    assay_free(w.text);
}

static int write_junit(cli_gate *g, const assay_result *v, cli_args *a)
{
    view w = {0};
    if (!g->junit)
        return ASSAY_OK;
    int code = render(v, a, "junit", &w);
    if (!code)
        code = commit(&g->junit, w.text, w.n);
    assay_free(w.text);
    return code;
}

/* After another result, the verdicts are printed on the console only; scripts use the exit code. */
static int show_below(const assay_result *v, cli_job *j)
{
    view w = {0};
    bool console = j->stdout_format && strcmp(j->stdout_format, "console") == 0;
    assay_options_set(j->args->options, "color",
                      console && cli_color(j->args->output.color) ? "true" : "false", NULL);
    int code = render(v, j->args, "console", &w);
    if (!code && console) {
        code = cli_flush();
        code = code ? code : cli_print("\n", 1);
        code = code ? code : cli_print(w.text, w.n);
    } else if (!code) {
        fwrite(w.text, 1, w.n, stderr);
    }
    assay_free(w.text);
    return code;
}

static int show_alone(const assay_result *v, cli_job *j)
{
    view w = {0};
    int code = ASSAY_OK;
    assay_options_set(j->args->options, "color", "false", NULL);
    for (int i = 0; i < j->n_files && !code; i++) {
        assay_error err;
        code = render(v, j->args, j->files[i].format, &w);
        if (!code && assay_output_write(j->files[i].out, w.text, w.n, &err) != ASSAY_OK)
            code = cli_complain(&err);
        assay_free(w.text);
        w = (view){0};
    }
    if (!code)
        code = cli_job_commit(j);
    if (code || !j->stdout_format)
        return code;
    assay_options_set(j->args->options, "color",
                      cli_color(j->args->output.color) ? "true" : "false", NULL);
    code = render(v, j->args, j->stdout_format, &w);
    if (!code)
        code = cli_print(w.text, w.n);
    assay_free(w.text);
    return code;
}

int cli_gate_judge(cli_gate *g, cli_job *j, bool alone)
{
    assay_result *v = NULL;
    assay_error err;
    int saved = save_baseline(g, j);
    if (saved)
        return saved;
    assay_status s = assay_check(j->profile, g->baseline, g->name, j->args->options, &v, &err);
    if (!v)
        return cli_complain(&err);
    int code = alone ? show_alone(v, j) : show_below(v, j);
    if (!code)
        code = write_junit(g, v, j->args);
    tell_github(v, j->args);
    assay_result_free(v);
    return code ? code : (int)s;
}

static int analyze_and_show(cli_job *j)
{
    cli_gate g = {0}; /* no file is opened */
    int code = cli_job_open(j);
    if (!code)
        code = cli_job_analyze(j);
    if (code)
        return code;
    cli_describe_screen(j->args);
    code = cli_job_show_and_write(j);
    code = code ? code : (int)j->verdict;
    return code || !cli_gate_wanted(&g, j->args) ? code : cli_gate_judge(&g, j, false);
}

int cli_gate_static(cli_args *args)
{
    cli_job j = {.args = args};
    int code = analyze_and_show(&j);
    cli_job_close(&j);
    return code;
}
