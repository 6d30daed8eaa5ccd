/* The engine of a measurement: opened and set up by the options, and described in the result; the GPU monitor; the
 * unit of throughput. */
#include <string.h>

#include "analyze/axis_roles.h"
#include "jobs/hooks.h"
#include "jobs/measure.h"
#include "measure/system.h"

enum { MESSAGES_SHOWN = 8 };

/* ---- opening ---- */

assay_status job_engine_open(const assay_options *o, engine **out, assay_error *err)
{
    const engine_config config = {.library = o->engine.library.n ? o->engine.library.p : NULL};
    if (o->engine.threads_list.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "threads must be one number where a model is run, not '" STR_FMT "'",
                        STR_ARG(o->engine.threads_list));
    return engine_open(o->engine.name.n ? o->engine.name.p : "ort", &config, out, err);
}

static bool cancelled(void *options)
{
    return job_cancelled(((const assay_options *)options)->hooks);
}

engine_options job_engine_options(const assay_options *o, arena *a)
{
    engine_options e = ENGINE_OPTIONS;
    uint32_t n = o->engine.provider_options.n;
    engine_setting *list = ARENA_ARRAY(a, engine_setting, (size_t)n + 1);
    for (uint32_t i = 0; list && i < n; i++)
        list[i] = (engine_setting){.key = o->engine.provider_options.items[i].key.p,
                                   .value = o->engine.provider_options.items[i].value.p};
    e.threads = (int)o->engine.threads;
    e.opt_level = (int)o->engine.opt_level;
    e.spin = !o->engine.no_spin;
    e.device = o->engine.device.n ? o->engine.device.p : NULL;
    e.provider_options = list;
    e.n_provider_options = list ? n : 0;
    if (o->hooks) {
        e.cancelled = cancelled;
        e.ctx = (void *)(uintptr_t)o;
    }
    return e;
}

/* ---- what it is, and what it said ---- */

static const profile_setting *copy_settings(const assay_options *o, arena *a)
{
    uint32_t n = o->engine.provider_options.n;
    profile_setting *list = ARENA_ARRAY(a, profile_setting, n + 1u);
    for (uint32_t i = 0; list && i < n; i++)
        list[i] = (profile_setting){
            .key = str_copy(a, o->engine.provider_options.items[i].key),
            .value = str_copy(a, o->engine.provider_options.items[i].value)};
    return list;
}

profile_engine job_engine_used(const assay_options *o, const engine_info *e, arena *a)
{
    const profile_setting *settings = copy_settings(o, a);
    return (profile_engine){.name = str_copy(a, str_of(e->name)),
                            .title = str_copy(a, str_of(e->title)),
                            .version = str_copy(a, str_of(e->version)),
                            .library = str_copy(a, str_of(e->library)),
                            .threads = (int)o->engine.threads,
                            .opt_level = (int)o->engine.opt_level,
                            .spin = !o->engine.no_spin,
                            .settings = settings,
                            .n_settings = settings ? o->engine.provider_options.n : 0};
}

void job_describe_engine(const assay_options *o, const engine *e, profile *p)
{
    profile_measured *m = p->measured;
    arena *a = p->arena;
    char governor[64];
    system_governor("", governor, sizeof governor);
    m->engine = job_engine_used(o, engine_about(e), a);
    m->governor = str_copy(a, str_of(governor));
    m->concurrency = (uint64_t)o->measure.concurrency;
    m->rate = o->measure.rate;
    m->seed = (uint64_t)o->model.seed;
}

void job_keep_messages(engine_session *s, profile *p)
{
    const engine_session_info *info = engine_session_about(s);
    engine_message m;
    if (info->fell_back)
        notes_add(&p->warnings, "device-fallback", (str){0}, "The times are CPU times.", "%s",
                  info->fallback_why);
    uint32_t n = 0, more = engine_session_messages_dropped(s);
    for (; engine_session_message(s, n, &m); n++)
        if (n < MESSAGES_SHOWN)
            notes_add(&p->warnings, "engine", (str){0}, NULL, "%s", m.text);
    more += n > MESSAGES_SHOWN ? n - MESSAGES_SHOWN : 0;
    if (more)
        notes_add(&p->warnings, "engine", (str){0}, NULL, "The engine reported %u more messages.",
                  more);
    p->measured->engine.device = str_copy(p->arena, str_of(info->device));
}

/* The number in "cuda:1"; 0 otherwise. */
static uint32_t gpu_index(str device)
{
    uint64_t index;
    str_cut(&device, ':');
    return str_to_u64(device, &index) && index <= UINT32_MAX ? (uint32_t)index : 0;
}

gpu_monitor *job_look_for_gpu(const assay_options *o, profile *p)
{
    profile_gpu *g = &p->measured->gpu;
    gpu_monitor *monitor = NULL;
    arena *a = p->arena;
    assay_error why;
    err_clear(&why);
    if (gpu_monitor_open(gpu_index(o->engine.device), &monitor, &why) != ASSAY_OK) {
        g->why = str_copy(a, str_of(why.message));
        return NULL;
    }
    g->available = true;
    g->name = str_copy(a, str_of(gpu_monitor_name(monitor)));
    g->driver = str_copy(a, str_of(gpu_monitor_driver(monitor)));
    g->devices = gpu_monitor_count(monitor);
    if (o->engine.no_nvtx)
        gpu_ranges_off(monitor);
    g->ranges = gpu_ranges_shown(monitor);
    return monitor;
}

/* ---- units ---- */

/* --unit tokens of a model without ids: vectors of a sequence, batch x sequence x features, are one token each. */
static double guess_tokens(const job_runnable *x, notes *warnings)
{
    for (uint32_t i = 0; i < x->n_wants; i++)
        if (x->wants[i].rank == 3 && x->wants[i].dims[1] >= 0) {
            notes_add(warnings, "unit-assumed", (str){0}, NULL,
                      "Each of the %lld vectors of input '" STR_FMT "' is assumed to be a token.",
                      (long long)x->wants[i].dims[1], STR_ARG(x->wants[i].name));
            return (double)x->wants[i].dims[1];
        }
    notes_add(warnings, "unit-assumed", (str){0}, "Use --unit samples to avoid the assumption.",
              "No input contains tokens. Each sample is assumed to be one token.");
    return 1;
}

void job_choose_unit(const assay_options *o, const job_runnable *x, profile *p)
{
    profile_measured *m = p->measured;
    if (m->unit)
        return;
    m->unit = "samples";
    m->units_per_sample = 1;
    for (uint32_t i = 0; i < x->n_wants; i++) {
        const input_want *w = &x->wants[i];
        axis_input in = {w->name, w->dtype, w->rank, w->dims};
        image_axes image;
        if (axis_image(&in, w->batch_axis, &image) && image.picture && image.frames < 0)
            m->unit = "images";
    }
    if (x->looks_up)
        m->unit = "tokens";
    str asked = str_copy(p->arena, o->measure.unit);
    if (asked.n)
        m->unit = asked.p;
    if (strcmp(m->unit, "tokens") != 0)
        return;
    m->units_per_sample = x->tokens_told ? (double)x->tokens : guess_tokens(x, &p->warnings);
}
