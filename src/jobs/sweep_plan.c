/* Plans of sweeps: every combination of the lists of a request, with the digests of what it needs and time limits
 * (sweep_limit.c). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/num.h"
#include "base/vec.h"
#include "device/host.h"
#include "jobs/measure.h"
#include "jobs/sweep.h"

enum { NAME_MOST = 40, CLASS_MOST = 63 };

typedef VEC(str) words;

typedef struct planning {
    const sweep_request *request;
    const assay_options *options; /* of the request */
    arena *arena;
    sweep_plan *plan;
    words precisions, devices, classes;
    VEC(uint64_t) batches, threads;
    uint64_t repeat;
    assay_model *open; /* whose tasks are made */
    uint32_t open_at;
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
                          "sweep-name must be lower-case letters, digits and '-', at most %d, not "
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

/* ---- models ---- */

assay_status sweep_digest_model(const assay_model *m, const char *word, const profile *p,
                                digest_hex out, assay_error *err)
{
    sbuf text = {0};
    if (!m->row || file_stat(word).exists)
        return digest_path(word, out, err);
    sbuf_printf(&text, "built-in %s parameters %llu macs %llu flops %llu operators %llu\n",
                m->row->name, (unsigned long long)p->total_parameters,
                (unsigned long long)p->total_macs, (unsigned long long)p->total_flops,
                (unsigned long long)p->total_operators);
    return digest_text(&text, out, err);
}

static assay_status describe_model(planning *p, const char *word, sweep_model *out)
{
    assay_model *m = NULL;
    assay_result *r = NULL;
    digest_hex hex;
    TRY(job_model_open(word, &m, p->err));
    assay_status s = job_analyze(m, p->request->plain, &r, p->err);
    if (s == ASSAY_OK)
        s = sweep_digest_model(m, word, r->p, hex, p->err);
    if (s == ASSAY_OK)
        *out = (sweep_model){.name = str_copy(p->arena, str_of(word)),
                             .sha256 = str_copy(p->arena, str_of(hex)),
                             .flops = (double)r->p->total_flops,
                             .bytes = (double)r->p->total_memory};
    handle_free(r);
    model_free(m);
    return s;
}

static assay_status describe_models(planning *p)
{
    const char *const *models = p->request->models;
    const size_t n = p->request->n_models;
    sweep_model *list = ARENA_ARRAY(p->arena, sweep_model, n + 1);
    TRY_MEMORY(list, p->err);
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

/* A library that is built in is no file and has no digest. One that cannot be read is an error: a plan without the
 * digest would accept any build of the engine. */
static assay_status digest_library(const char *library, digest_hex out, assay_error *err)
{
    out[0] = '\0';
    return *library && file_stat(library).exists ? digest_path(library, out, err) : ASSAY_OK;
}

assay_status sweep_engine_here(const assay_options *options, sweep_engine *out, assay_error *err)
{
    engine *e = NULL;
    host_info h;
    *out = (sweep_engine){.name = ""};
    TRY(job_engine_open(options, &e, err));
    const engine_info *info = engine_about(e);
    host_describe(&h);
    snprintf(out->name, sizeof out->name, "%s", info->name);
    snprintf(out->version, sizeof out->version, "%s", info->version);
    snprintf(out->architecture, sizeof out->architecture, "%s", h.machine);
    assay_status s = digest_library(info->library, out->sha256, err);
    engine_close(e);
    return s;
}

/* Without an engine here, tasks may still run elsewhere. */
static assay_status describe_engine(planning *p)
{
    sweep_engine e;
    assay_options bare = *p->options;
    bare.engine.threads_list = (str){0};
    p->plan->tool_version = str_of(assay_version());
    assay_status s = sweep_engine_here(&bare, &e, p->err);
    if (!*e.name)
        err_clear(p->err);
    if (s != ASSAY_OK)
        return *e.name ? s : ASSAY_OK;
    p->plan->engine = str_copy(p->arena, str_of(e.name));
    p->plan->engine_version = str_copy(p->arena, str_of(e.version));
    p->plan->engine_sha256 = str_copy(p->arena, str_of(e.sha256));
    p->plan->architecture = str_copy(p->arena, str_of(e.architecture));
    return ASSAY_OK;
}

/* ---- tasks ---- */

typedef struct combination {
    uint32_t model, device, place, batch, precision, threads;
} combination;

/* The combinations of a model stand together: it is opened once. */
static assay_status keep_open(planning *p, uint32_t model)
{
    if (p->open && p->open_at == model)
        return ASSAY_OK;
    model_free(p->open);
    p->open = NULL;
    p->open_at = model;
    return job_model_open(p->request->models[model], &p->open, p->err);
}

static assay_status add_tasks(planning *p, const combination *c, sweep_task *tasks)
{
    const sweep_model *m = &p->plan->models[c->model];
    sweep_task one = {.model = m->name,
                      .device = p->devices.items[c->device],
                      .node_class = p->classes.items[c->place],
                      .batch = p->batches.items[c->batch],
                      .threads = p->threads.items[c->threads],
                      .precision = p->precisions.items[c->precision]};
    TRY(keep_open(p, c->model));
    one.time_limit_s = sweep_time_limit(p->open, m, p->request, &one);
    for (one.repeat = 0; one.repeat < p->repeat; one.repeat++) {
        one.task = p->plan->n_tasks;
        tasks[p->plan->n_tasks++] = one;
    }
    return ASSAY_OK;
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
                        "the sweep has %llu tasks; the limit is %d. Split it.",
                        (unsigned long long)sat_mul(n, p->repeat), SWEEP_TASKS);
    sweep_task *tasks = ARENA_ARRAY(p->arena, sweep_task, n * p->repeat + 1);
    TRY_MEMORY(tasks, p->err);
    p->plan->tasks = tasks;
    for (uint64_t i = 0; i < n; i++) {
        const combination c = combination_at(p, i);
        TRY(add_tasks(p, &c, tasks));
    }
    return ASSAY_OK;
}

static assay_status name_plan(planning *p)
{
    digest_hex hex;
    sweep_plan *plan = p->plan;
    TRY(sweep_digest_plan(plan, hex, p->err));
    plan->digest = str_copy(p->arena, str_of(hex));
    plan->id = str_printf(p->arena, STR_FMT "-%.12s", STR_ARG(plan->name), hex);
    return arena_failed(p->arena) ? err_no_memory(p->err) : ASSAY_OK;
}

static assay_status make_plan(planning *p)
{
    TRY(read_lists(p));
    p->plan->settings = p->request->settings;
    p->plan->n_settings = p->request->n_settings;
    TRY(describe_models(p));
    TRY(describe_engine(p));
    TRY(make_tasks(p, p->request->n_models));
    return name_plan(p);
}

assay_status sweep_plan_make(const sweep_request *request, arena *a, sweep_plan *out,
                             assay_error *err)
{
    planning p = {
        .request = request, .options = request->options, .arena = a, .plan = out, .err = err};
    if (!request->n_models || request->n_models > SWEEP_TASKS)
        return err_fail(err, ASSAY_ERR_USAGE, "no models. Name them with --models A,B.");
    assay_status s = make_plan(&p);
    model_free(p.open);
    return s;
}
