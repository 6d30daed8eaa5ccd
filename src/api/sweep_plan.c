/* Plans of sweeps: every combination of the lists of a request, with the digests of what it needs.
 *
 * A time limit is predicted from the static counts with rates that even a slow core reaches (PLAN_FLOPS, PLAN_BYTES per
 * second), for the warm-up and the runs of three attempts, and PLAN_START seconds each to load the model.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/sweep.h"
#include "base/file.h"
#include "base/num.h"
#include "base/vec.h"
#include "device/host.h"
#include "jobs/measure.h"

enum { PLAN_START = 60, PLAN_ATTEMPTS = 3, NAME_MOST = 40, CLASS_MOST = 63 };
#define PLAN_FLOPS 2e9
#define PLAN_BYTES 2e9
#define PLAN_LEAST 300.0

const char *const sweep_settings[] = {"num-runs",  "warmup-runs", "duration",     "concurrency",
                                      "opt-level", "no-spin",     "memory-limit", "seed",
                                      "engine",    NULL};
const char *const sweep_axes[] = {"sweep-name", "batch-sizes", "precisions", "threads",
                                  "device",     "node-class",  "repeat",     NULL};

typedef VEC(str) words;

typedef struct planning {
    const assay_options *options;
    assay_result *result;
    arena *arena;
    sweep_plan *plan;
    words precisions, devices, classes;
    VEC(uint64_t) batches, threads;
    uint64_t repeat;
    assay_error *err;
} planning;

/* ---- lists ---- */

static assay_status split_words(planning *p, const char *what, str text, words *out)
{
    for (str rest = text, item; str_split(&rest, ',', &item);) {
        str word = str_trim(item);
        if (!word.n)
            return err_fail(p->err, ASSAY_ERR_USAGE, "%s has an empty item: '" STR_FMT "'", what,
                            STR_ARG(text));
        for (uint32_t i = 0; i < out->n; i++)
            if (str_eq(out->items[i], word))
                return err_fail(p->err, ASSAY_ERR_USAGE, "%s has '" STR_FMT "' twice", what,
                                STR_ARG(word));
        if (!VEC_ADD(p->arena, out, str_copy(p->arena, word)))
            return err_no_memory(p->err);
    }
    return ASSAY_OK;
}

static bool is_name(str s, const char *others, uint32_t most)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && !strchr(others, s.p[i]))
            return false;
    return s.n && s.n <= most && isalnum((unsigned char)s.p[0]) &&
           isalnum((unsigned char)s.p[s.n - 1]);
}

static assay_status check_names(const planning *p)
{
    for (uint32_t i = 0; i < p->classes.n; i++)
        if (p->classes.items[i].n && !is_name(p->classes.items[i], "._-", CLASS_MOST))
            return err_fail(p->err, ASSAY_ERR_USAGE,
                            "node-class must be letters, digits, '.', '_' and '-', at most %d, not "
                            "'" STR_FMT "'",
                            CLASS_MOST, STR_ARG(p->classes.items[i]));
    for (uint32_t i = 0; i < p->precisions.n; i++) {
        const struct precision_row *row;
        TRY(job_find_precision(p->precisions.items[i], &row, p->err));
    }
    bool lower = true;
    for (uint32_t i = 0; i < p->plan->name.n; i++)
        lower = lower && !isupper((unsigned char)p->plan->name.p[i]);
    return lower && is_name(p->plan->name, "-", NAME_MOST)
               ? ASSAY_OK
               : err_fail(p->err, ASSAY_ERR_USAGE,
                          "sweep-name must be small letters, digits and '-', at most %d, not "
                          "'" STR_FMT "'",
                          NAME_MOST, STR_ARG(p->plan->name));
}

static assay_status read_numbers(planning *p)
{
    const assay_options *o = p->options;
    for (uint32_t i = 0; i < o->measure.batch_sizes.n; i++)
        (void)VEC_ADD(p->arena, &p->batches, (uint64_t)o->measure.batch_sizes.items[i]);
    if (!p->batches.n)
        (void)VEC_ADD(p->arena, &p->batches, 1);
    uint64_t v;
    for (str rest = o->engine.threads_list, item; rest.n && str_split(&rest, ',', &item);)
        if (str_to_u64(item, &v))
            (void)VEC_ADD(p->arena, &p->threads, v);
    if (!p->threads.n)
        (void)VEC_ADD(p->arena, &p->threads, (uint64_t)o->engine.threads);
    p->repeat = o->sweep.repeat > 0 ? (uint64_t)o->sweep.repeat : 1;
    return arena_failed(p->arena) ? err_no_memory(p->err) : ASSAY_OK;
}

static assay_status read_lists(planning *p)
{
    const assay_options *o = p->options;
    const str device = o->engine.device.n ? o->engine.device : STR("cpu");
    const str precisions = o->sweep.precisions.n ? o->sweep.precisions : STR(JOB_PRECISION);
    p->plan->name = o->sweep.name.n ? str_copy(p->arena, o->sweep.name) : STR("sweep");
    TRY(split_words(p, "device", device, &p->devices));
    TRY(split_words(p, "precisions", precisions, &p->precisions));
    if (o->sweep.node_classes.n)
        TRY(split_words(p, "node-class", o->sweep.node_classes, &p->classes));
    else
        (void)VEC_ADD(p->arena, &p->classes, (str){"", 0});
    TRY(check_names(p));
    return read_numbers(p);
}

static assay_status keep_settings(planning *p)
{
    VEC(sweep_setting) list = {0};
    for (size_t i = 0; sweep_settings[i]; i++) {
        const char *value = assay_options_get(p->options, sweep_settings[i]);
        if (value &&
            !VEC_ADD(p->arena, &list,
                     (sweep_setting){str_of(sweep_settings[i]), str_copy(p->arena, str_of(value))}))
            return err_no_memory(p->err);
    }
    p->plan->settings = list.items;
    p->plan->n_settings = list.n;
    return ASSAY_OK;
}

/* ---- models ---- */

static assay_status describe_model(planning *p, const char *word, sweep_model *out)
{
    assay_model *m = NULL;
    assay_result *r = NULL;
    assay_options plain = api_default_options();
    sweep_hex hex;
    TRY(job_model_open(word, &m, p->err));
    assay_status s = job_analyze(m, &plain, &r, p->err);
    if (s == ASSAY_OK)
        s = sweep_digest_model(m, word, r->p, hex, p->err);
    if (s == ASSAY_OK)
        *out = (sweep_model){.name = str_copy(p->arena, str_of(word)),
                             .sha256 = str_copy(p->arena, str_of(hex)),
                             .flops = (double)r->p->total_flops,
                             .bytes = (double)r->p->total_memory};
    job_result_free(r);
    job_model_free(m);
    return s;
}

static assay_status describe_models(planning *p, const char *const *models, size_t n)
{
    sweep_model *list = ARENA_ARRAY(p->arena, sweep_model, n + 1);
    if (!list)
        return err_no_memory(p->err);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(models[k], models[i]) == 0)
                return err_fail(p->err, ASSAY_ERR_USAGE, "models has '%s' twice", models[i]);
        TRY(describe_model(p, models[i], &list[i]));
    }
    p->plan->models = list;
    p->plan->n_models = (uint32_t)n;
    return ASSAY_OK;
}

bool api_sweep_engine(const assay_options *options, sweep_engine *out)
{
    assay_engine_info e = {.size = sizeof e};
    host_info h;
    *out = (sweep_engine){.name = ""};
    if (assay_engine_find(options, &e, NULL) != ASSAY_OK)
        return false;
    host_describe(&h);
    snprintf(out->name, sizeof out->name, "%s", e.name);
    snprintf(out->version, sizeof out->version, "%s", e.version);
    snprintf(out->architecture, sizeof out->architecture, "%s", h.machine);
    if (!*e.library || sweep_digest_path(e.library, out->sha256, NULL) != ASSAY_OK)
        out->sha256[0] = '\0';
    return true;
}

static void describe_engine(planning *p)
{
    sweep_engine e;
    assay_options bare = *p->options;
    bare.engine.threads_list = (str){0};
    p->plan->tool_version = str_of(assay_version());
    if (!api_sweep_engine(&bare, &e))
        return;
    p->plan->engine = str_copy(p->arena, str_of(e.name));
    p->plan->engine_version = str_copy(p->arena, str_of(e.version));
    p->plan->engine_sha256 = str_copy(p->arena, str_of(e.sha256));
    p->plan->architecture = str_copy(p->arena, str_of(e.architecture));
}

/* ---- tasks ---- */

static double time_limit_of(const planning *p, const sweep_model *m, uint64_t batch)
{
    const measure_options *o = &p->options->measure;
    double each = (m->flops / PLAN_FLOPS + m->bytes / PLAN_BYTES) * (double)batch;
    double runs = fmax(each * (double)(o->num_runs + o->warmup_runs), o->duration);
    return fmax(PLAN_LEAST, ceil(PLAN_ATTEMPTS * (PLAN_START + runs) / 60) * 60);
}

typedef struct combination {
    uint32_t model, device, place, batch, precision, threads;
} combination;

static void add_tasks(planning *p, const combination *c, sweep_task *tasks)
{
    const sweep_model *m = &p->plan->models[c->model];
    for (uint64_t r = 0; r < p->repeat; r++) {
        uint32_t i = p->plan->n_tasks++;
        tasks[i] = (sweep_task){.task = i,
                                .model = m->name,
                                .device = p->devices.items[c->device],
                                .node_class = p->classes.items[c->place],
                                .batch = p->batches.items[c->batch],
                                .threads = p->threads.items[c->threads],
                                .precision = p->precisions.items[c->precision],
                                .repeat = r,
                                .time_limit_s = time_limit_of(p, m, p->batches.items[c->batch])};
    }
}

/* Counted from the last: equal tasks stand together, then threads, precisions, batches, classes, devices, models. */
static combination combination_at(const planning *p, uint64_t i)
{
    combination c;
    c.threads = (uint32_t)(i % p->threads.n), i /= p->threads.n;
    c.precision = (uint32_t)(i % p->precisions.n), i /= p->precisions.n;
    c.batch = (uint32_t)(i % p->batches.n), i /= p->batches.n;
    c.place = (uint32_t)(i % p->classes.n), i /= p->classes.n;
    c.device = (uint32_t)(i % p->devices.n), i /= p->devices.n;
    c.model = (uint32_t)i;
    return c;
}

static assay_status make_tasks(planning *p, size_t n_models)
{
    uint64_t n = sat_mul(n_models, sat_mul(p->devices.n, p->classes.n));
    n = sat_mul(n, sat_mul(p->batches.n, sat_mul(p->precisions.n, p->threads.n)));
    if (sat_mul(n, p->repeat) > SWEEP_TASKS)
        return err_fail(p->err, ASSAY_ERR_UNSUPPORTED,
                        "the sweep has %llu tasks, and can have at most %d. Split it.",
                        (unsigned long long)sat_mul(n, p->repeat), SWEEP_TASKS);
    sweep_task *tasks = ARENA_ARRAY(p->arena, sweep_task, n * p->repeat + 1);
    if (!tasks)
        return err_no_memory(p->err);
    p->plan->tasks = tasks;
    for (uint64_t i = 0; i < n; i++) {
        const combination c = combination_at(p, i);
        add_tasks(p, &c, tasks);
    }
    return ASSAY_OK;
}

static assay_status name_plan(planning *p)
{
    sweep_hex hex;
    sweep_plan *plan = p->plan;
    TRY(sweep_digest_plan(plan, hex, p->err));
    plan->digest = str_copy(p->arena, str_of(hex));
    plan->id = str_printf(p->arena, STR_FMT "-%.12s", STR_ARG(plan->name), hex);
    return arena_failed(p->arena) ? err_no_memory(p->err) : ASSAY_OK;
}

static assay_status make_plan(planning *p, const char *const *models, size_t n)
{
    TRY(read_lists(p));
    TRY(keep_settings(p));
    TRY(describe_models(p, models, n));
    describe_engine(p);
    TRY(make_tasks(p, n));
    return name_plan(p);
}

assay_status assay_sweep_plan(const assay_sweep_request *request, assay_result **out,
                              assay_error *err)
{
    assay_sweep_request q;
    assay_options none;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(TAKE(request, q, err));
    if (!q.n_models || q.n_models > SWEEP_TASKS)
        return err_fail(err, ASSAY_ERR_USAGE, "no models. Name them with --models A,B.");
    assay_result *r = job_result_new(&sweep_kind, SWEEP_BYTES);
    if (!r)
        return err_no_memory(err);
    planning p = {.options = api_options(q.options, &none),
                  .result = r,
                  .arena = r->arena,
                  .plan = r->data,
                  .err = err};
    return api_hand_result(make_plan(&p, q.models, q.n_models), r, out, err);
}
