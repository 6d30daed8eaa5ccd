/* Sweeps in the public API: options and handles for jobs/sweep.h. */
#include <assay/sweep.h>

#include <stdio.h>
#include <stdlib.h>

#include "api/history.h"
#include "api/result.h"
#include "base/file.h"
#include "base/vec.h"
#include "jobs/sweep.h"
#include "study/fleet.h"
#include "study/sweep.h"

/* The plan that a result is; ASSAY_ERR_USAGE when it is none. */
static assay_status plan_of(const assay_result *of, const sweep_plan **out, assay_error *err)
{
    *out = NULL;
    if (!of || of->kind != &sweep_kind)
        return err_fail(err, ASSAY_ERR_USAGE, "a plan of a sweep is needed, not %s",
                        of ? of->kind->what : "nothing");
    *out = of->data;
    return ASSAY_OK;
}

static const char *const *const option_lists[] = {sweep_axes, sweep_settings};
#define FOR_SWEEP_OPTIONS(name)       \
    for (size_t l_ = 0; l_ < 2; l_++) \
        for (const char *const *name = option_lists[l_]; *name; name++)

/* ---- plans ---- */

static assay_status keep_settings(const assay_options *o, arena *a, sweep_request *q,
                                  assay_error *err)
{
    VEC(sweep_setting) list = {0};
    for (size_t i = 0; sweep_settings[i]; i++) {
        const char *value = assay_options_get(o, sweep_settings[i]);
        const sweep_setting s = {str_of(sweep_settings[i]), str_copy(a, str_of(value))};
        if (value && !VEC_ADD(a, &list, s))
            return err_no_memory(err);
    }
    q->settings = list.items;
    q->n_settings = list.n;
    return ASSAY_OK;
}

static assay_status fill_plan(const assay_sweep_request *given, assay_result *r, assay_error *err)
{
    assay_options none;
    const assay_options plain = options_default();
    sweep_request q = {.models = given->models,
                       .n_models = given->n_models,
                       .options = options_or_default(given->options, &none),
                       .plain = &plain};
    TRY(keep_settings(q.options, r->arena, &q, err));
    return sweep_plan_make(&q, r->arena, r->data, err);
}

assay_status assay_sweep_plan(const assay_sweep_request *request, assay_result **out,
                              assay_error *err)
{
    assay_sweep_request q;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(TAKE(request, q, err));
    assay_result *r = handle_new(&sweep_kind, SWEEP_BYTES);
    assay_status s = r ? fill_plan(&q, r, err) : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

/* The options of the file, replaced by those that are given. */
static assay_status merge_options(const sweep_file *f, const assay_options *given,
                                  assay_options *out, assay_error *err)
{
    for (uint32_t i = 0; i < f->n_options; i++)
        TRY(assay_options_set(out, f->options[i].option.p, f->options[i].value.p, err));
    FOR_SWEEP_OPTIONS(name)
    {
        const char *value = assay_options_get(given, *name);
        if (value)
            TRY(assay_options_set(out, *name, value, err));
    }
    const char *library = assay_options_get(given, "engine-lib");
    return library ? assay_options_set(out, "engine-lib", library, err) : ASSAY_OK;
}

static assay_status plan_request(str text, const char *path, const assay_options *given, arena *a,
                                 assay_result **out, assay_error *err)
{
    sweep_file f;
    TRY(sweep_request_read(text, path, a, &f, err));
    assay_options *options = assay_options_new();
    assay_status s = options ? merge_options(&f, given, options, err) : err_no_memory(err);
    const assay_sweep_request q = {
        .size = sizeof q, .models = f.models, .n_models = f.n_models, .options = options};
    if (s != ASSAY_OK)
        err_name_file(err, path);
    else
        s = assay_sweep_plan(&q, out, err);
    assay_options_free(options);
    return s;
}

static assay_status read_plan(str text, const char *path, const assay_options *given,
                              assay_result **out, assay_error *err)
{
    FOR_SWEEP_OPTIONS(name)
    if (assay_options_get(given, *name))
        return err_fail(err, ASSAY_ERR_USAGE, "--%s has no effect: the tasks of %s are fixed",
                        *name, FILE_NAME(path));
    TRY(api_result_read(text, FILE_NAME(path), "sweep", out, err));
    return sweep_plan_check((*out)->data, path, err);
}

static assay_status open_file(const char *path, const assay_options *given, arena *a,
                              assay_result **out, assay_error *err)
{
    str text;
    TRY(file_read_limited(path, LIMIT_DOCUMENT, a, &text, err));
    assay_status s = result_is(&sweep_kind, text) ? read_plan(text, path, given, out, err)
                                                  : plan_request(text, path, given, a, out, err);
    if (s != ASSAY_OK) {
        assay_result_free(*out);
        *out = NULL;
    }
    return s;
}

assay_status assay_sweep_open(const char *path, const assay_options *options, assay_result **out,
                              assay_error *err)
{
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    arena *a = arena_new(SWEEP_BYTES);
    assay_status s = a ? open_file(path, options, a, out, err) : err_no_memory(err);
    arena_free(a);
    return s;
}

/* ---- tasks ---- */

static bool is_setting(str name)
{
    for (size_t i = 0; sweep_settings[i]; i++)
        if (str_is(name, sweep_settings[i]))
            return true;
    return false;
}

static assay_status set_settings(const sweep_plan *plan, assay_options *o, assay_error *err)
{
    for (uint32_t i = 0; i < plan->n_settings; i++) {
        const sweep_setting *s = &plan->settings[i];
        if (!is_setting(s->option))
            return err_fail(err, ASSAY_ERR_MALFORMED,
                            "the plan has the setting '" STR_FMT "', which no task may have",
                            STR_ARG(s->option));
        TRY(assay_options_set(o, s->option.p, s->value.p, err));
    }
    o->measure.runs_given = assay_options_get(o, "num-runs") != NULL;
    o->measure.warmup_given = assay_options_get(o, "warmup-runs") != NULL;
    return ASSAY_OK;
}

/* The options of a task's measurement. */
static assay_status set_options(const sweep_plan *plan, const sweep_task *t,
                                const assay_options *given, assay_options *o, assay_error *err)
{
    char text[256];
    TRY(set_settings(plan, o, err));
    snprintf(text, sizeof text, "%llu:" STR_FMT, (unsigned long long)t->batch,
             STR_ARG(t->precision));
    TRY(assay_options_set(o, "configs", text, err));
    snprintf(text, sizeof text, "%llu", (unsigned long long)t->threads);
    TRY(assay_options_set(o, "threads", text, err));
    snprintf(text, sizeof text, "assay sweep run %lld", (long long)t->task);
    TRY(assay_options_set(o, "command", text, err));
    const char *library = assay_options_get(given, "engine-lib");
    if (library)
        TRY(assay_options_set(o, "engine-lib", library, err));
    snprintf(text, sizeof text, STR_FMT, STR_ARG(t->device));
    return assay_options_set(o, "device", text, err);
}

static assay_status save_task(const sweep_running *r, assay_store *db)
{
    const char *tags[2];
    char node_class[80];
    size_t n_tags = 0;
    snprintf(node_class, sizeof node_class, FLEET_CLASS_PREFIX STR_FMT,
             STR_ARG(r->task->node_class));
    if (r->task->node_class.n && strlen(node_class) <= STORE_TAG_BYTES)
        tags[n_tags++] = node_class;
    if (r->out->noisy)
        tags[n_tags++] = SWEEP_NOISY_TAG;
    const assay_record_options o = {.size = sizeof o,
                                    .tags = tags,
                                    .n_tags = n_tags,
                                    .options = r->options,
                                    .machine = r->out->machine,
                                    .sweep = r->plan->id.p,
                                    .task = r->task->task,
                                    .known = &r->out->known};
    return assay_store_save(db, r->out->result, &o, &r->out->record, r->err);
}

static assay_status run_task(sweep_running *r, assay_store *db, const assay_options *given,
                             assay_options *options)
{
    TRY_MEMORY(options, r->err);
    TRY(set_options(r->plan, r->task, given, options, r->err));
    TRY(sweep_task_run(r));
    return r->out->known ? ASSAY_OK : save_task(r, db);
}

assay_status assay_sweep_run(const assay_result *plan, int64_t task, assay_store *db,
                             const assay_options *options, const assay_hooks *hooks,
                             assay_sweep_outcome *out, assay_error *err)
{
    assay_sweep_outcome whole = {0};
    const job_measure_hooks h = {.caller = hooks, .measured = api_hand_config};
    const sweep_plan *of;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    TRY(api_check_size(out, err));
    TRY(api_check_size(hooks, err));
    TRY(plan_of(plan, &of, err));
    if (task < 0 || task >= of->n_tasks)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the plan has tasks 0 to %u; task %lld does not exist", of->n_tasks - 1,
                        (long long)task);
    assay_options *measuring = assay_options_new();
    sweep_running r = {.plan = of,
                       .task = &of->tasks[task],
                       .store = db->s,
                       .options = measuring,
                       .hooks = &h,
                       .out = &whole,
                       .err = err};
    assay_status s = run_task(&r, db, options, measuring);
    assay_options_free(measuring);
    assay_status given = GIVE(out, whole, err);
    return s == ASSAY_OK ? given : s;
}

assay_status assay_sweep_task(const assay_result *plan, int64_t *task, assay_error *err)
{
    const sweep_plan *of;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *task = -1;
    TRY(plan_of(plan, &of, err));
    return sweep_task_of_environment(of->n_tasks, task, err);
}

/* ---- how far it is, and schedulers ---- */

static assay_status find_place(const char *on, const sweep_place **out, assay_error *err)
{
    *out = on ? sweep_find_place(on) : NULL;
    return !on || *out ? ASSAY_OK
                       : err_fail(err, ASSAY_ERR_USAGE,
                                  "unknown scheduler '%s'. Use slurm or kubernetes.", on);
}

assay_status assay_sweep_status(const assay_result *plan, assay_store *db, const char *on,
                                assay_result **out, assay_error *err)
{
    const sweep_plan *of;
    const sweep_place *place;
    api_begin(err);
    *out = NULL;
    TRY(plan_of(plan, &of, err));
    TRY(find_place(on, &place, err));
    assay_result *r = handle_new(&sweep_status_kind, SWEEP_BYTES);
    assay_status s = r ? sweep_status_make(of, db->s, place, r->arena, r->data, err)
                       : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

assay_status assay_sweep_missing(const assay_result *plan, assay_store *db, char **tasks,
                                 uint64_t *n, assay_error *err)
{
    const sweep_plan *of;
    sbuf text = {0};
    size_t length;
    uint64_t own;
    api_begin(err);
    *tasks = NULL;
    TRY(plan_of(plan, &of, err));
    arena *a = arena_new(SWEEP_BYTES);
    assay_status s = a ? sweep_put_missing(of, db->s, a, &text, n ? n : &own, err)
                       : err_no_memory(err);
    arena_free(a);
    return api_hand_text(s, &text, tasks, &length, err);
}

static assay_status submit_missing(const assay_result *plan, assay_store *db,
                                   const assay_sweep_submission *q, sweep_submission *to,
                                   assay_error *err)
{
    const sweep_place *place;
    sbuf document = {0};
    TRY(find_place(q->on, &place, err));
    if (!place)
        return err_fail(err, ASSAY_ERR_USAGE, "no scheduler. Use slurm or kubernetes.");
    assay_options *o = assay_options_new();
    assay_status s = o ? set_settings(to->plan, o, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = api_result_json(plan, 0, &document, err);
    to->plan_text = (str){document.p, (uint32_t)document.n};
    if (s == ASSAY_OK)
        s = sweep_submit(place, db->s, q->tasks, to, &o->measure, err);
    sbuf_free(&document);
    assay_options_free(o);
    return s;
}

assay_status assay_sweep_submit(const assay_result *plan, assay_store *db,
                                const assay_sweep_submission *submission, uint64_t *n_tasks,
                                char **said, assay_error *err)
{
    assay_sweep_submission q;
    const sweep_plan *of;
    sbuf text = {0};
    size_t n;
    api_begin(err);
    *said = NULL;
    TRY(TAKE(submission, q, err));
    TRY(plan_of(plan, &of, err));
    if (!q.plan_path || !q.program)
        return err_fail(err, ASSAY_ERR_USAGE, "plan_path and program are required");
    sweep_submission to = {.plan = of,
                           .plan_path = q.plan_path,
                           .program = q.program,
                           .throttle = q.throttle > 0 ? q.throttle : 0,
                           .time_limit_s = q.time_limit_s > 0 ? q.time_limit_s : 0,
                           .image = q.image,
                           .secret = q.secret,
                           .manifest = q.manifest,
                           .arena = arena_new(SWEEP_BYTES),
                           .said = &text};
    assay_status s = to.arena ? submit_missing(plan, db, &q, &to, err) : err_no_memory(err);
    if (n_tasks)
        *n_tasks = s == ASSAY_OK ? to.tasks.n : 0;
    arena_free(to.arena);
    return api_hand_text(s, &text, said, &n, err);
}

assay_status assay_sweep_cancel(const assay_result *plan, const char *on, char **said,
                                assay_error *err)
{
    const sweep_plan *of;
    const sweep_place *place;
    sbuf text = {0};
    size_t n;
    api_begin(err);
    *said = NULL;
    TRY(plan_of(plan, &of, err));
    TRY(find_place(on, &place, err));
    if (!place)
        return err_fail(err, ASSAY_ERR_USAGE, "no scheduler. Use slurm or kubernetes.");
    return api_hand_text(place->cancel(of, &text, err), &text, said, &n, err);
}

/* ---- the report ---- */

assay_status assay_sweep_report(const assay_result *plan, assay_store *db, assay_result **out,
                                assay_error *err)
{
    const sweep_plan *of;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(plan_of(plan, &of, err));
    assay_result *r = handle_new(&sweep_report_kind, SWEEP_BYTES);
    assay_status s = r ? sweep_report_read(of, db->s, r->arena, r->data, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    const sweep_report *made = (*out)->data;
    return made->n_missing ? err_fail(err, ASSAY_ERR_ENGINE, "%u of %u tasks have no record",
                                      made->n_missing, made->total)
                           : ASSAY_OK;
}
