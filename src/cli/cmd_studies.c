/* assay compare, validate and scale: several models, or one at many sizes, in one view. */
#include <stdlib.h>
#include <string.h>

#include "cli/keep.h"
#include "cli/run.h"

/* ---- writing: as graph does, one text per output ---- */

typedef assay_status render_fn(void *ctx, const char *format, assay_options *o, char **text,
                               size_t *n, assay_error *err);

static int check_formats(const cli_args *a)
{
    for (int i = 0; i < a->n_outputs; i++)
        if (!a->format && strcmp(a->outputs[i], "-") != 0 && !assay_report_format(a->outputs[i]))
            return cli_complain_text(
                ASSAY_ERR_USAGE,
                "The name '%.200s' does not say which format it should have; add "
                "--format.",
                a->outputs[i]);
    return ASSAY_OK;
}

static int open_outputs(const cli_args *a, assay_output **files)
{
    assay_error err;
    for (int i = 0; i < a->n_outputs; i++)
        if (strcmp(a->outputs[i], "-") != 0 &&
            assay_output_open(a->outputs[i], &files[i], &err) != ASSAY_OK)
            return cli_complain(&err);
    return ASSAY_OK;
}

static int write_file(cli_args *a, int i, assay_output **file, render_fn *render, void *ctx)
{
    const char *format = a->format ? a->format : assay_report_format(a->outputs[i]);
    assay_error err;
    char *text;
    size_t n;
    assay_options_set(a->options, "color", "false", NULL);
    if (render(ctx, format, a->options, &text, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    assay_output *out = *file;
    *file = NULL;
    assay_status s = assay_output_commit(out, text, n, &err);
    assay_free(text);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static int write_stdout(cli_args *a, const char *format, render_fn *render, void *ctx)
{
    assay_error err;
    char *text;
    size_t n;
    assay_options_set(a->options, "color", cli_color(a->color) ? "true" : "false", NULL);
    if (render(ctx, format, a->options, &text, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = cli_print(text, n);
    assay_free(text);
    return code;
}

static int write_all(cli_args *a, assay_output **files, render_fn *render, void *ctx)
{
    const char *shown = a->quiet ? NULL : a->n_outputs == 0 && a->format ? a->format : "console";
    int code = ASSAY_OK;
    cli_describe_screen(a);
    for (int i = 0; i < a->n_outputs && !code; i++) {
        if (files[i])
            code = write_file(a, i, &files[i], render, ctx);
        else
            shown = a->format ? a->format : "console";
    }
    return code || !shown ? code : write_stdout(a, shown, render, ctx);
}

static int run_study(cli_args *a, int (*prepare)(cli_args *a, void *ctx), render_fn *render,
                     void *ctx)
{
    assay_output *files[CLI_MAX_OUTPUTS] = {0};
    int code = check_formats(a);
    if (!code)
        code = open_outputs(a, files);
    if (!code && prepare)
        code = prepare(a, ctx);
    if (!code)
        code = write_all(a, files, render, ctx);
    for (int i = 0; i < a->n_outputs; i++)
        assay_output_abandon(files[i]);
    return code;
}

/* ---- compare ---- */

typedef struct comparing {
    assay_profile *profiles[CLI_MAX_WORDS];
    assay_model *models[CLI_MAX_WORDS]; /* of those to be run */
    size_t n;
    assay_comparison *result;
    assay_store *store; /* the runs are kept in it; or NULL */
    int verdict;        /* exit code of a result that is shown all the same */
} comparing;

/* --precision may name one for each model; each is weighed, and run, at its own. */
static void choose_precision(cli_args *a, size_t i)
{
    const char *at = a->precision;
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
                         "'%.200s' is a result: it cannot be run again. --measure takes "
                         "models; without it saved runs are compared.",
                         word);
    assay_status s = assay_model_open(word, &c->models[c->n], &err);
    choose_precision(a, c->n);
    assay_options_set(a->options, "no-advice", "true", NULL); /* nobody sees it */
    assay_options_set(a->options, "dims-may-miss", "true", NULL);
    if (s == ASSAY_OK)
        s = assay_analyze(c->models[c->n], a->options, &c->profiles[c->n], &err);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static bool was_run(const comparing *c, size_t i)
{
    assay_timing t = {.size = sizeof t};
    return !assay_comparison_timing(c->result, i, &t) || t.runs > 0;
}

/* The runs of every model, one beside the other. */
static int keep_runs(const cli_args *a, comparing *c)
{
    int code = ASSAY_OK;
    for (size_t i = 0; c->store && i < c->n && !code; i++) {
        assay_error err;
        int64_t id = 0;
        if (!was_run(c, i))
            continue;
        assay_status s = assay_store_save(c->store, c->profiles[i], a->tags, (size_t)a->n_tags, &id,
                                          &err);
        code = cli_kept(a, s, id, &err);
    }
    return code;
}

static int run_them(cli_args *a, comparing *c)
{
    cli_run r = {.job = NULL};
    const assay_hooks hooks = cli_run_hooks(&r);
    assay_error err;
    cli_catch_interrupt();
    if (a->precision)
        assay_options_set(a->options, "precision", a->precision, NULL);
    assay_status s = assay_comparison_measure(c->result, c->models, c->n, a->options, &hooks, &err);
    cli_run_clear(&r);
    if (s == ASSAY_ERR_INCONCLUSIVE)
        c->verdict = (int)s;
    return s == ASSAY_OK || s == ASSAY_ERR_INCONCLUSIVE ? keep_runs(a, c) : cli_complain(&err);
}

/* Before any work: the history, and whether there will be anything for it. */
static int compare_opened(cli_args *a, comparing *c)
{
    if (a->save && !a->measure)
        return cli_complain_text(
            ASSAY_ERR_USAGE, "compare keeps what it measures: --save goes with --measure. `assay "
                             "MODEL --save` keeps a static profile.");
    int named = 1;
    for (const char *p = a->precision; p && *p; p++)
        named += *p == ',';
    if (named > 1 && named != a->n_words)
        return cli_complain_text(
            ASSAY_ERR_USAGE,
            "--precision names %d types for %d models: give one for all, or one "
            "for each.",
            named, a->n_words);
    cli_record_command(a);
    return cli_keep_open(a, &c->store);
}

static bool warned_of(const assay_profile *p, const char *code, const char *node)
{
    assay_warning w = {.size = sizeof w};
    for (size_t i = 0; assay_profile_warning(p, i, &w); i++)
        if (strcmp(w.code, code) == 0 && strcmp(w.node, node) == 0)
            return true;
    return false;
}

/* A --dim may be for one of the models alone; for none of them it is a slip. */
static int check_dims(const comparing *c)
{
    assay_warning w = {.size = sizeof w};
    size_t first = 0;
    while (first < c->n && !c->models[first])
        first++;
    for (size_t i = 0; first < c->n && assay_profile_warning(c->profiles[first], i, &w); i++) {
        bool all = strcmp(w.code, "unused-dim") == 0;
        for (size_t k = first; k < c->n && all; k++)
            all = !c->models[k] || warned_of(c->profiles[k], w.code, w.node);
        if (all)
            return cli_complain_text(
                ASSAY_ERR_USAGE, "No dimension of any of the models is called '%.200s'.", w.node);
    }
    return ASSAY_OK;
}

static int analyze_all(cli_args *a, void *ctx)
{
    comparing *c = ctx;
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
    code = check_dims(c);
    if (code)
        return code;
    if (assay_comparison_new((const assay_profile *const *)c->profiles, c->n, a->options,
                             &c->result, &err) != ASSAY_OK)
        return cli_complain(&err);
    return a->measure ? run_them(a, c) : ASSAY_OK;
}

static assay_status render_comparison(void *ctx, const char *format, assay_options *o, char **text,
                                      size_t *n, assay_error *err)
{
    const comparing *c = ctx;
    return assay_comparison_report(c->result, format, o, text, n, err);
}

int cmd_compare(cli_args *args)
{
    comparing c = {0};
    int code = run_study(args, analyze_all, render_comparison, &c);
    assay_comparison_free(c.result);
    assay_store_close(c.store);
    for (size_t i = 0; i < c.n; i++) {
        assay_profile_free(c.profiles[i]);
        assay_model_free(c.models[i]);
    }
    return code ? code : c.verdict;
}

/* ---- validate ---- */

typedef struct validating {
    const char *names[CLI_MAX_WORDS];
    size_t n;
    char *split; /* of --models */
} validating;

static int gather_names(cli_args *a, validating *v)
{
    for (int i = 0; i < a->n_words; i++)
        v->names[v->n++] = a->words[i];
    if (!a->models)
        return ASSAY_OK;
    v->split = strdup(a->models);
    if (!v->split)
        return cli_complain_text(ASSAY_ERR_SYSTEM, "Memory ran out.");
    char *rest = NULL;
    for (char *w = strtok_r(v->split, ", ", &rest); w; w = strtok_r(NULL, ", ", &rest)) {
        if (v->n == CLI_MAX_WORDS)
            return cli_complain_text(ASSAY_ERR_USAGE, "There are more than %d models.",
                                     CLI_MAX_WORDS);
        v->names[v->n++] = w;
    }
    return ASSAY_OK;
}

static assay_status render_validation(void *ctx, const char *format, assay_options *o, char **text,
                                      size_t *n, assay_error *err)
{
    const validating *v = ctx;
    return assay_validate(v->names, v->n, format, o, text, n, err);
}

int cmd_validate(cli_args *args)
{
    validating v = {0};
    int code = gather_names(args, &v);
    if (!code)
        code = run_study(args, NULL, render_validation, &v);
    free(v.split);
    return code;
}

/* ---- scale ---- */

typedef struct scaling {
    assay_scaling *result;
    assay_status verdict;
} scaling;

static int scale_model(cli_args *a, void *ctx)
{
    scaling *s = ctx;
    assay_model *m = NULL;
    assay_error err;
    s->verdict = assay_model_open(a->words[0], &m, &err);
    if (s->verdict == ASSAY_OK)
        s->verdict = assay_scale(m, a->options, &s->result, &err);
    assay_model_free(m);
    if (s->verdict != ASSAY_OK)
        cli_complain(&err);
    return s->result ? ASSAY_OK : (int)s->verdict;
}

static assay_status render_scaling(void *ctx, const char *format, assay_options *o, char **text,
                                   size_t *n, assay_error *err)
{
    const scaling *s = ctx;
    return assay_scaling_report(s->result, format, o, text, n, err);
}

int cmd_scale(cli_args *args)
{
    scaling s = {0};
    int code = run_study(args, scale_model, render_scaling, &s);
    assay_scaling_free(s.result);
    return code ? code : (int)s.verdict;
}
