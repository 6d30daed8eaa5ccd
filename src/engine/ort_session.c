/* Making a session: our options become the runtime's, then the model is given by path or as bytes.
 *
 * A device that cannot be used is given up in two places: when its provider is appended, and when the
 * session is made with it. Both times the session is made for the CPU instead, unless the caller is
 * strict, and the reason is kept.
 *
 * Weights. External data is mapped by the runtime and not copied, and so is memory of the caller's that
 * engine_weight hands over (slot 150). The file that the model names must be there and long enough all the
 * same, be it a hole. Kernels that pack their weights (MatMul, Conv) make a copy, at every optimisation
 * level, unless the setting session.disable_prepacking=1 forbids it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sbuf.h"
#include "base/text.h"
#include "engine/ort_guard.h"
#include "engine/ort_impl.h"

#define ORT_LOG_WARNING 2
#define WHY_BYTES       768

/* ---- messages -------------------------------------------------------------------------------- */

/* What it says of things that we asked for, and that nobody needs to be warned of. */
static const char *const noise[] = {
    "Serializing optimized model with Graph Optimization",
    "Removing initializer '",
};

static void take_message(void *param, int severity, const char *category, const char *id,
                         const char *where, const char *message)
{
    (void)category, (void)id, (void)where;
    if (severity < ORT_LOG_WARNING || !message)
        return;
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        if (strstr(message, noise[i]))
            return;
    engine_log_add(param, severity, message);
}

/* ---- options --------------------------------------------------------------------------------- */

static const char what[] = "rejected the options";

/* The C API has no switch for it, but the planner reuses nothing in the parallel mode, where it cannot know
 * the order. A model for the CPU is one stream all the same: its nodes run one by one, on the one thread
 * that is added. */
static assay_status forbid_reuse(const ort_api *api, ort_options *to, assay_error *err)
{
    TRY(ort_check(api, api->set_execution_mode(to, 1), what, err));
    return ort_check(api, api->set_inter_threads(to, 2), what, err);
}

static assay_status set_switches(const ort_api *api, ort_options *to, const engine_options *o,
                                 assay_error *err)
{
    TRY(ort_check(api, api->set_opt_level(to, o->opt_level), what, err));
    if (o->threads > 0)
        TRY(ort_check(api, api->set_threads(to, o->threads), what, err));
    if (!o->spin)
        TRY(ort_check(api, api->set_config(to, "session.intra_op.allow_spinning", "0"), what, err));
    if (!o->mem_pattern)
        TRY(ort_check(api, api->disable_mem_pattern(to), what, err));
    if (!o->reuse)
        TRY(forbid_reuse(api, to, err));
    if (!o->arena)
        TRY(ort_check(api, api->disable_arena(to), what, err));
    if (o->profile_prefix)
        TRY(ort_check(api, api->enable_profiling(to, o->profile_prefix), what, err));
    if (o->optimised_path)
        TRY(ort_check(api, api->set_optimised_path(to, o->optimised_path), what, err));
    return ASSAY_OK;
}

static assay_status set_lists(const ort_api *api, ort_options *to, const engine_options *o,
                              assay_error *err)
{
    for (uint32_t i = 0; i < o->n_settings; i++)
        TRY(ort_check(api, api->set_config(to, o->settings[i].key, o->settings[i].value), what,
                      err));
    for (uint32_t i = 0; i < o->n_provider_options; i++)
        if (ort_is_session_setting(o->provider_options[i].key))
            TRY(ort_check(
                api, api->set_config(to, o->provider_options[i].key, o->provider_options[i].value),
                what, err));
    for (uint32_t i = 0; i < o->n_dims; i++)
        TRY(ort_check(api, api->set_dim(to, o->dims[i].name, o->dims[i].value), what, err));
    return ASSAY_OK;
}

static assay_status set_weights(ort_engine_session *s, ort_options *to, const engine_options *o,
                                assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    for (uint32_t i = 0; i < s->n_weights; i++)
        TRY(ort_check(api, api->add_initializer(to, o->weights[i].name, s->weights[i]), what, err));
    return ASSAY_OK;
}

static assay_status set_options(ort_engine_session *s, ort_options *to, const engine_model *model,
                                const engine_options *o, assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    TRY(ort_check(api, api->set_log_level(to, ORT_LOG_WARNING), what, err));
    TRY(ort_check(api, api->set_logger(to, take_message, &s->base.log), what, err));
    TRY(set_switches(api, to, o, err));
    if (!model->path && model->folder)
        TRY(ort_check(api,
                      api->set_config(to, "session.model_external_initializers_file_folder_path",
                                      model->folder),
                      what, err));
    TRY(set_lists(api, to, o, err));
    return set_weights(s, to, o, err);
}

/* ---- the session itself ---------------------------------------------------------------------- */

/* The runtime's own words have the path of our copy. */
static void call_by_name(const engine_model *model, assay_error *err)
{
    size_t n = strlen(model->path);
    sbuf b = {0};
    const char *at = err->message;
    for (const char *hit; (hit = strstr(at, model->path)) != NULL; at = hit + n) {
        sbuf_put(&b, at, (size_t)(hit - at));
        sbuf_puts(&b, model->called);
    }
    sbuf_puts(&b, at);
    if (!b.failed)
        text_safe_into(err->message, sizeof err->message, str_of(sbuf_cstr(&b)));
    sbuf_free(&b);
}

static assay_status make_session(ort_engine_session *s, ort_options *options,
                                 const engine_model *model, const engine_options *o,
                                 assay_error *err)
{
    const ort_engine *e = ort_of(&s->base);
    char shown[FILE_SHOWN], rejected[FILE_SHOWN + 32] = "rejected the model";
    uint64_t begun = clock_mono_ns();
    ort_status *status;
    ort_guard guard;
    ort_guard_begin(&guard, &e->api, options, o);
    if (model->path) {
        if (model->called)
            snprintf(rejected, sizeof rejected, "rejected %s", model->called);
        else
            snprintf(rejected, sizeof rejected, "rejected '%s'", file_shown(model->path, shown));
        status = e->api.create_session(e->env, model->path, options, &s->session);
    } else {
        status = e->api.create_session_bytes(e->env, model->bytes, model->n_bytes, options,
                                             &s->session);
    }
    s->base.info.create_ns = clock_mono_ns() - begun;
    ort_guard_end(&guard);
    assay_status code = ort_check(&e->api, status, rejected, err);
    if (code != ASSAY_OK && err && model->path && model->called)
        call_by_name(model, err);
    return code;
}

static assay_status cpu_takes(const engine_options *o, assay_error *err)
{
    for (uint32_t i = 0; i < o->n_provider_options; i++)
        if (!ort_is_session_setting(o->provider_options[i].key))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "the CPU has no provider option '%s'. Use session settings such as "
                            "session.disable_prepacking=1.",
                            o->provider_options[i].key);
    return ASSAY_OK;
}

static assay_status create_on_cpu(ort_engine_session *s, const engine_model *model,
                                  const engine_options *o, assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    ort_options *options = NULL;
    TRY(cpu_takes(o, err));
    TRY(ort_check(api, api->create_options(&options), what, err));
    assay_status status = set_options(s, options, model, o, err);
    if (status == ASSAY_OK)
        status = make_session(s, options, model, o, err);
    api->release_options(options);
    return status;
}

static assay_status create_on_device(ort_engine_session *s, const engine_model *model,
                                     const engine_options *o, assay_error *err)
{
    const ort_engine *e = ort_of(&s->base);
    ort_options *options = NULL;
    TRY(ort_check(&e->api, e->api.create_options(&options), what, err));
    assay_status status = set_options(s, options, model, o, err);
    if (status == ASSAY_OK)
        status = ort_device_append(e, options, o, err);
    if (status == ASSAY_OK)
        status = make_session(s, options, model, o, err);
    e->api.release_options(options);
    return status;
}

/* What was meant for the device's provider means nothing to the CPU's; settings of the session hold there too. */
static assay_status without_provider(ort_engine_session *s, const engine_options *o,
                                     engine_options *plain, assay_error *err)
{
    engine_setting *kept = ARENA_ARRAY(s->base.arena, engine_setting, o->n_provider_options + 1u);
    TRY_MEMORY(kept, err);
    *plain = *o;
    plain->provider_options = kept;
    plain->n_provider_options = 0;
    for (uint32_t i = 0; i < o->n_provider_options; i++)
        if (ort_is_session_setting(o->provider_options[i].key))
            kept[plain->n_provider_options++] = o->provider_options[i];
    return ASSAY_OK;
}

static assay_status fall_back(ort_engine_session *s, const engine_model *model,
                              const engine_options *o, const assay_error *why, assay_error *err)
{
    char sentence[WHY_BYTES];
    engine_options plain;
    TRY(without_provider(s, o, &plain, err));
    TRY(create_on_cpu(s, model, &plain, err));
    text_safe_into(sentence, sizeof sentence, str_of(why->message));
    s->base.info.fell_back = true;
    s->base.info.fallback_why = arena_printf(
        s->base.arena, "The model ran on the CPU instead of '%s'%s. %s", o->device,
        plain.n_provider_options < o->n_provider_options ? ", without the provider options" : "",
        sentence);
    return s->base.info.fallback_why ? ASSAY_OK : err_no_memory(err);
}

static assay_status create_somewhere(ort_engine_session *s, const engine_model *model,
                                     const engine_options *o, assay_error *err)
{
    assay_error why = {0};
    s->base.info.device = "cpu";
    s->base.info.fallback_why = "";
    if (ort_device_is_cpu(o->device))
        return create_on_cpu(s, model, o, err);
    assay_status status = create_on_device(s, model, o, &why);
    if (status == ASSAY_OK) {
        s->base.info.device = arena_strdup(s->base.arena, o->device);
        return s->base.info.device ? ASSAY_OK : err_no_memory(err);
    }
    if (o->strict || status == ASSAY_ERR_USAGE)
        return err_fail_errno(err, status, why.os_error, "%s", why.message);
    return fall_back(s, model, o, &why, err);
}

/* ---- around it ------------------------------------------------------------------------------- */

static assay_status view_weights(ort_engine_session *s, const engine_options *o, assay_error *err)
{
    s->weights = memory_zeroed((size_t)o->n_weights + 1, sizeof *s->weights);
    TRY_MEMORY(s->weights, err);
    for (; s->n_weights < o->n_weights; s->n_weights++)
        TRY(ort_tensor_view(ort_of(&s->base), &o->weights[s->n_weights].tensor,
                            &s->weights[s->n_weights], err));
    return ASSAY_OK;
}

/* Not having one is no failure: statistics are then unknown. */
static void find_arena(ort_engine_session *s, const engine_options *o)
{
    const ort_engine *e = ort_of(&s->base);
    if (!o->arena)
        return;
    ort_status *status = e->api.create_allocator(s->session, e->cpu_arena, &s->arena);
    if (status)
        e->api.release_status(status);
}

static assay_status fill_session(ort_engine_session *s, const engine_model *model,
                                 const engine_options *o, assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    TRY_MEMORY(s->base.arena, err);
    TRY(view_weights(s, o, err));
    TRY(create_somewhere(s, model, o, err));
    TRY(ort_check(api, api->create_run_options(&s->run_options), "cannot prepare runs", err));
    TRY(ort_io_describe(s, o, err));
    find_arena(s, o);
    return ASSAY_OK;
}

assay_status ort_session_open(engine *e, const engine_model *model, const engine_options *options,
                              engine_session **out, assay_error *err)
{
    ort_engine_session *s = memory_zeroed(1, sizeof *s);
    TRY_MEMORY(s, err);
    s->base.ops = e->ops;
    s->base.engine = e;
    s->base.arena = arena_new(ENGINE_ARENA_BYTES);
    engine_log_init(&s->base.log);
    assay_status status = fill_session(s, model, options, err);
    if (status == ASSAY_OK)
        *out = &s->base;
    else
        ort_session_close(&s->base);
    return status;
}

void ort_session_close(engine_session *base)
{
    ort_engine_session *s = (ort_engine_session *)base;
    const ort_api *api = &ort_of(base)->api;
    if (s->arena)
        api->release_allocator(s->arena);
    if (s->run_options)
        api->release_run_options(s->run_options);
    if (s->session)
        api->release_session(s->session);
    for (uint32_t i = 0; i < s->n_weights; i++)
        api->release_value(s->weights[i]);
    free(s->weights);
    free(s->trace_path);
    engine_log_destroy(&base->log);
    arena_free(base->arena);
    free(s);
}

void ort_session_stop(engine_session *base)
{
    const ort_api *api = &ort_of(base)->api;
    ort_status *status = api->set_terminate(((ort_engine_session *)base)->run_options);
    if (status)
        api->release_status(status);
}

assay_status ort_profile_end(engine_session *base, const char **path, assay_error *err)
{
    ort_engine_session *s = (ort_engine_session *)base;
    const ort_engine *e = ort_of(base);
    char *name = NULL;
    TRY(ort_check(&e->api, e->api.end_profiling(s->session, e->strings, &name),
                  "did not write its profile", err));
    free(s->trace_path);
    s->trace_path = name && *name ? memory_strdup(name) : NULL;
    bool none = !name || !*name;
    ort_status *freed = name ? e->api.allocator_free(e->strings, name) : NULL;
    if (freed)
        e->api.release_status(freed);
    if (none)
        return err_fail(err, ASSAY_ERR_ENGINE, "the session was not opened for profiling");
    *path = s->trace_path;
    return s->trace_path ? ASSAY_OK : err_no_memory(err);
}
