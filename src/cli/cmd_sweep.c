/* assay sweep: plans many measurements, runs them here or on a scheduler, and reports. A row per subcommand; without one,
 * a plan is made and shown, and with --on its tasks are run. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/sweep.h"
#include "cli/values.h"

#define PLAN_FILE "sweep.json"
#define ON_SUFFIX ".on" /* PLAN.on: the scheduler that the plan was submitted to */

typedef struct sweep_verb {
    const char *name;
    const char *options;
    int (*run)(sweep_job *s);
} sweep_verb;

/* ---- the plan ---- */

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 10;
}

/* The words after the subcommand: a file, and of `run` a number. */
static int read_words(sweep_job *s, int from, bool takes_task)
{
    const cli_args *a = s->args;
    s->task = -1;
    for (int i = from; i < a->n_words; i++) {
        if (takes_task && s->task < 0 && is_number(a->words[i]))
            s->task = strtol(a->words[i], NULL, 10);
        else if (!s->path)
            s->path = a->words[i];
        else
            return cli_complain_text(ASSAY_ERR_USAGE, "sweep does not take '%.100s'", a->words[i]);
    }
    return ASSAY_OK;
}

static int plan_of_flags(sweep_job *s)
{
    char *list = strdup(s->args->model.list);
    /* Fewer items than bytes. */
    const char **models = list ? calloc(strlen(list) + 1, sizeof *models) : NULL;
    size_t n = 0;
    assay_error err;
    if (!models) {
        free(list);
        return cli_complain_text(ASSAY_ERR_SYSTEM, "out of memory");
    }
    for (char *rest = NULL, *m = strtok_r(list, ",", &rest); m; m = strtok_r(NULL, ",", &rest))
        models[n++] = m;
    const assay_sweep_request q = {
        .size = sizeof q, .models = models, .n_models = n, .options = s->args->options};
    assay_status status = assay_sweep_plan(&q, &s->plan, &err);
    free(models);
    free(list);
    s->made = true;
    return status == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static bool is_plan(const char *path)
{
    char schema[ASSAY_SCHEMA_BYTES];
    return assay_result_schema(path, schema, NULL) == ASSAY_OK &&
           strcmp(schema, "assay.sweep") == 0;
}

static int open_plan(sweep_job *s)
{
    assay_error err;
    if (s->args->model.list && s->path)
        return cli_complain_text(ASSAY_ERR_USAGE, "--models has no effect: %.200s names the models",
                                 s->path);
    if (s->args->model.list)
        return plan_of_flags(s);
    s->path = s->path ? s->path : PLAN_FILE;
    s->made = !is_plan(s->path);
    if (access(s->path, F_OK) != 0)
        return cli_complain_text(
            ASSAY_ERR_SYSTEM, "%.200s: no such file. Make a plan with `assay sweep --models A,B`.",
            s->path);
    return assay_sweep_open(s->path, s->args->options, &s->plan, &err) == ASSAY_OK
               ? ASSAY_OK
               : cli_complain(&err);
}

/* Where the plan is for those who run it: -o FILE.json, else sweep.json. */
static const char *plan_file(const cli_args *a)
{
    for (int i = 0; i < a->output.paths.n; i++) {
        const char *format = assay_format_of(a->output.paths.items[i]);
        if (format && strcmp(format, "json") == 0)
            return a->output.paths.items[i];
    }
    return PLAN_FILE;
}

/* A file of another sweep is not replaced: its records would be out of reach. */
static int refuse_other_plan(const sweep_job *s, const char *path)
{
    assay_result *there = NULL;
    if (access(path, F_OK) != 0)
        return ASSAY_OK;
    assay_status status = assay_sweep_open(path, NULL, &there, NULL);
    bool same = status == ASSAY_OK && is_plan(path) &&
                strcmp(assay_result_text(there, "id"), assay_result_text(s->plan, "id")) == 0;
    assay_result_free(there);
    return same ? ASSAY_OK
                : cli_complain_text(ASSAY_ERR_USAGE,
                                    "%.200s is another sweep, or none. Name a file for this plan "
                                    "with -o.",
                                    path);
}

static int write_text(const char *path, const char *text, size_t n)
{
    assay_output *out = NULL;
    assay_error err;
    if (assay_output_open(path, &out, &err) != ASSAY_OK ||
        assay_output_commit(out, text, n, &err) != ASSAY_OK)
        return cli_complain(&err);
    return ASSAY_OK;
}

static int write_plan(sweep_job *s)
{
    const char *path = plan_file(s->args);
    char *text = NULL;
    size_t n;
    assay_error err;
    if (!s->made)
        return ASSAY_OK;
    int code = strcmp(path, PLAN_FILE) == 0 ? refuse_other_plan(s, path) : ASSAY_OK;
    if (code)
        return code;
    if (assay_result_write(s->plan, "json", NULL, &text, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    code = write_text(path, text, n);
    assay_free(text);
    s->path = path;
    if (!code && !s->args->output.quiet)
        fprintf(stderr, "assay: plan written to %s\n", path);
    return code;
}

/* ---- schedulers ---- */

static void path_of_on(const sweep_job *s, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s" ON_SUFFIX, s->path);
}

/* --on, else what the plan was submitted to. */
static void find_scheduler(sweep_job *s)
{
    char path[PATH_MAX], *text = NULL;
    size_t n;
    path_of_on(s, path);
    s->on = s->args->sweep.on;
    if (!s->on && access(path, R_OK) == 0 &&
        assay_file_read(path, sizeof s->on_text, &text, &n, NULL) == ASSAY_OK) {
        snprintf(s->on_text, sizeof s->on_text, "%.*s", (int)strcspn(text, "\n"), text);
        s->on = s->on_text;
    }
    assay_free(text);
    if (s->on && strcmp(s->on, "local") == 0)
        s->on = NULL;
}

static int remember_scheduler(const sweep_job *s)
{
    char path[PATH_MAX], text[64];
    path_of_on(s, path);
    snprintf(text, sizeof text, "%s\n", s->on);
    return write_text(path, text, strlen(text));
}

/* Tasks find the history as this command does: a password is not on their command line. */
static int pass_history(const cli_args *a)
{
    char path[PATH_MAX];
    const char *db = a->history.db;
    if (!db)
        return ASSAY_OK;
    if (!assay_store_is_remote(db) && realpath(db, path))
        db = path;
    return setenv("ASSAY_DB", db, 1) == 0
               ? ASSAY_OK
               : cli_complain_text(ASSAY_ERR_SYSTEM, "cannot set ASSAY_DB");
}

static bool is_kubernetes(const sweep_job *s)
{
    return strcmp(s->on, "kubernetes") == 0;
}

static int submit(sweep_job *s)
{
    const cli_sweep_args *w = &s->args->sweep;
    char plan[PATH_MAX], program[PATH_MAX];
    char *said = NULL;
    assay_error err;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (!is_kubernetes(s) && (w->image || w->secret || w->manifest))
        return cli_complain_text(ASSAY_ERR_USAGE, "--%s has no effect: it is for --on kubernetes",
                                 w->image    ? "image"
                                 : w->secret ? "secret"
                                             : "manifest");
    if (n < 0 || !realpath(s->path, plan))
        return cli_complain_text(ASSAY_ERR_SYSTEM, "%.200s: cannot find its path", s->path);
    program[n] = '\0';
    int code = pass_history(s->args);
    if (code)
        return code;
    const assay_sweep_submission q = {.size = sizeof q,
                                      .on = s->on,
                                      .plan_path = plan,
                                      .program = program,
                                      .tasks = w->tasks,
                                      .throttle = w->throttle,
                                      .time_limit_s = (double)w->time_limit * 60,
                                      .image = w->image,
                                      .secret = w->secret,
                                      .manifest = w->manifest ? w->manifest
                                                              : "sweep-kubernetes.json"};
    if (assay_sweep_submit(s->plan, s->store, &q, NULL, &said, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (!s->args->output.quiet)
        fputs(said, stdout);
    assay_free(said);
    return remember_scheduler(s);
}

static int submit_or_run(sweep_job *s)
{
    if (s->on)
        return submit(s);
    int code = cli_refuse_options(s->args, "throttle time-limit image secret manifest",
                                  "it is for tasks that a scheduler runs");
    return code ? code : sweep_run_missing(s, s->args->sweep.tasks);
}

/* ---- the subcommands ---- */

static int run_plan(sweep_job *s)
{
    const char *on = s->args->sweep.on;
    int code = on ? write_plan(s)
                  : cli_refuse_options(s->args,
                                       "tasks throttle time-limit image secret manifest db",
                                       "no task is run. Add --on.");
    cli_job *j = &s->job;
    if (!code && !(on && s->made && j->n_files == 0 && j->stdout_format &&
                   strcmp(j->stdout_format, "console") != 0))
        code = cli_view(j, s->plan);
    if (code || !on)
        return code;
    s->on = strcmp(on, "local") == 0 ? NULL : on;
    return submit_or_run(s);
}

static int run_tasks(sweep_job *s)
{
    assay_error err;
    if (s->task >= 0 && s->args->sweep.tasks)
        return cli_complain_text(ASSAY_ERR_USAGE, "--tasks has no effect beside a task");
    if (s->task < 0 && !s->args->sweep.tasks &&
        assay_sweep_task(s->plan, &s->task, &err) != ASSAY_OK)
        return cli_complain(&err);
    return s->task >= 0 ? sweep_run_task(s, s->task) : sweep_run_missing(s, s->args->sweep.tasks);
}

static int show_status(sweep_job *s, bool *over)
{
    assay_result *status = NULL;
    assay_error err;
    if (assay_sweep_status(s->plan, s->store, s->on, &status, &err) != ASSAY_OK)
        return cli_complain(&err);
    *over = cli_number(status, "done") >= cli_number(status, "total");
    int code = cli_view(&s->job, status);
    assay_result_free(status);
    return code;
}

/* Every two seconds, until every task has a record. */
static int run_status(sweep_job *s)
{
    const bool follow = s->args->sweep.follow, tty = isatty(STDOUT_FILENO);
    bool over = false;
    if (follow && s->job.n_files)
        return cli_complain_text(ASSAY_ERR_USAGE, "--follow has no effect on files");
    if (follow)
        cli_catch_interrupt();
    for (;;) {
        if (follow && tty)
            fputs("\033[H\033[2J", stdout);
        int code = show_status(s, &over);
        if (code || !follow || over)
            return code;
        fflush(stdout);
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
        if (cli_interrupted(NULL))
            return ASSAY_ERR_INTERRUPTED;
    }
}

static int run_missing(sweep_job *s)
{
    char *list = NULL;
    uint64_t n;
    assay_error err;
    if (assay_sweep_missing(s->plan, s->store, &list, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (n)
        printf("%s\n", list);
    assay_free(list);
    return cli_flush();
}

static int run_cancel(sweep_job *s)
{
    char *said = NULL;
    assay_error err;
    if (!s->on)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "the sweep was not submitted to a scheduler. Name it with --on.");
    if (assay_sweep_cancel(s->plan, s->on, &said, &err) != ASSAY_OK)
        return cli_complain(&err);
    fputs(said, stdout);
    assay_free(said);
    return cli_flush();
}

/* Tasks that are still in the queue may come: the report is inconclusive. Others are lost. */
static int code_of_incomplete(sweep_job *s)
{
    assay_result *status = NULL;
    int code = ASSAY_ERR_ENGINE;
    if (s->on && assay_sweep_status(s->plan, s->store, s->on, &status, NULL) == ASSAY_OK &&
        cli_number(status, "running") + cli_number(status, "waiting") > 0)
        code = ASSAY_ERR_INCONCLUSIVE;
    assay_result_free(status);
    return code;
}

static int run_report(sweep_job *s)
{
    assay_result *report = NULL;
    assay_error err;
    assay_status status = assay_sweep_report(s->plan, s->store, &report, &err);
    if (!report)
        return cli_complain(&err);
    int code = cli_view(&s->job, report);
    assay_result_free(report);
    if (code || status == ASSAY_OK)
        return code;
    cli_complain(&err);
    return code_of_incomplete(s);
}

#define AXES                                                                              \
    "models sweep-name batch-sizes precisions threads device node-class repeat num-runs " \
    "warmup-runs duration concurrency opt-level no-spin memory-limit seed engine-lib "
#define SHOWING    "db output format json quiet color columns ascii no-graphs no-details verbose "
#define SUBMITTING "on tasks throttle time-limit image secret manifest "

static const sweep_verb verbs[] = {
    {"plan", AXES SHOWING SUBMITTING, run_plan},
    {"run", "db quiet tasks engine-lib", run_tasks},
    {"status", SHOWING "on follow", run_status},
    {"missing", "db", run_missing},
    {"resubmit", "db quiet engine-lib " SUBMITTING, submit_or_run},
    {"cancel", "db on", run_cancel},
    {"report", SHOWING "on rows", run_report},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static const sweep_verb *find_verb(const char *word)
{
    for (size_t i = 0; word && i < N_VERBS; i++)
        if (strcmp(verbs[i].name, word) == 0)
            return &verbs[i];
    return NULL;
}

static int check_options(const cli_args *a, const sweep_verb *v)
{
    char why[64];
    static const char *const places[] = {"local", "slurm", "kubernetes"};
    bool known = !a->sweep.on;
    for (size_t i = 0; i < 3; i++)
        known = known || strcmp(a->sweep.on, places[i]) == 0;
    if (!known)
        return cli_complain_text(
            ASSAY_ERR_USAGE, "--on must be local, slurm or kubernetes, got '%.60s'", a->sweep.on);
    snprintf(why, sizeof why, "sweep %s does not accept it", v->name);
    return cli_allow_options(a, v->options, why);
}

static int open_store(sweep_job *s, const sweep_verb *v)
{
    assay_error err;
    bool writes = v->run == run_tasks || v->run == submit_or_run || v->run == run_plan;
    if (v->run == run_plan && !s->args->sweep.on)
        return ASSAY_OK;
    return assay_store_open(s->args->history.db, writes, &s->store, &err) == ASSAY_OK
               ? ASSAY_OK
               : cli_complain(&err);
}

static int run_verb(sweep_job *s, const sweep_verb *v, int from)
{
    int code = check_options(s->args, v);
    if (!code)
        code = read_words(s, from, v->run == run_tasks);
    if (!code)
        code = cli_job_open_outputs(&s->job);
    if (!code)
        code = open_plan(s);
    if (!code)
        code = open_store(s, v);
    if (code)
        return code;
    if (v->run != run_plan)
        find_scheduler(s);
    return v->run(s);
}

static int run_sweep(cli_args *args)
{
    const sweep_verb *v = args->n_words ? find_verb(args->words[0]) : NULL;
    sweep_job s = {.job = {.args = args}, .args = args};
    int code = run_verb(&s, v ? v : &verbs[0], v != NULL);
    assay_store_close(s.store);
    assay_result_free(s.plan);
    cli_job_close(&s.job);
    return code;
}

static const char *const sweep_examples[] = {
    "assay sweep --models resnet18,resnet50 --batch-sizes 1,8 -o sweep.json",
    "make a plan of four tasks",
    "assay sweep sweep.json --on local",
    "run its tasks here, one after the other",
    "assay sweep sweep.json --on slurm --throttle 8 --db service=team",
    "submit a job array, at most 8 tasks at a time",
    "assay sweep status sweep.json",
    "show its progress",
    "assay sweep resubmit sweep.json",
    "submit the tasks that have no record and are not in the queue",
    "assay sweep report sweep.json -o report.html -o report.csv",
    "matrix, best configurations, slow machines",
    NULL,
};

const cli_command command_sweep = {
    CLI_COMMAND("sweep", "[SUBCOMMAND] [PLAN] [TASK]", 0, 3, run_sweep),
    .classes = "screen page result",
    .formats = CLI_VIEW_FORMATS,
    .values = "plan|run|status|missing|resubmit|cancel|report",
    .examples = sweep_examples,
    .about = "Measure many configurations, on this machine, Slurm or Kubernetes.",
    .more =
        "PLAN is a plan, or a request such as {\"models\": [\"resnet18\"], \"batch_sizes\": [1, 8]}; "
        "default: sweep.json. Subcommands: plan (the default) makes the tasks; run measures those "
        "without a record, or one TASK; status, missing, resubmit, cancel, report. A task stores "
        "one record in the history, whoever runs it. Exit 5 if tasks have no record; 7 if they "
        "are still in the queue."};
