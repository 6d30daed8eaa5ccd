/* assay_watch(): watches a process and returns a profile without a model. */
#include <assay/measure.h>

#include <stdlib.h>

#include "api/result.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/redact.h"
#include "base/sbuf.h"
#include "measure/follow.h"
#include "measure/system.h"
#include "profile/profile_fields.h"

typedef struct watching {
    const assay_watch_hooks *hooks;
} watching;

static assay_watch_sample public_sample(const profile_watch_sample *s)
{
    return (assay_watch_sample){.size = sizeof(assay_watch_sample),
                                .time_s = s->time_s,
                                .cpu_percent = s->cpu_percent,
                                .resident = s->resident,
                                .anonymous = s->anon,
                                .file_backed = s->file,
                                .processes = s->processes,
                                .threads = s->threads,
                                .read_bytes = s->read_bytes,
                                .written_bytes = s->written_bytes,
                                .minor_faults = s->minor_faults,
                                .major_faults = s->major_faults};
}

static bool on_sample(void *ctx, const profile_watch_sample *s, const profile_watch *so_far)
{
    const watching *w = ctx;
    (void)so_far;
    const assay_watch_sample x = public_sample(s);
    return !w->hooks || !w->hooks->sample || w->hooks->sample(w->hooks->ctx, &x);
}

static bool on_cancel(void *ctx)
{
    const assay_watch_hooks *h = ((const watching *)ctx)->hooks;
    bool knows_stop = h && h->size >= offsetof(assay_watch_hooks, stop) + sizeof h->stop;
    return h && ((knows_stop && h->stop && __atomic_load_n(h->stop, __ATOMIC_RELAXED)) ||
                 (h->cancelled && h->cancelled(h->ctx)));
}

static str command_of(const char *const *argv, int64_t pid, arena *a)
{
    char name[64];
    sbuf b = {0};
    system_process_name("", pid, name, sizeof name);
    for (; argv && *argv; argv++)
        sbuf_printf(&b, "%s%s", b.n ? " " : "", *argv);
    str s = redact_copy(a, str_of(argv ? sbuf_cstr(&b) : name));
    sbuf_free(&b);
    return s;
}

static void describe(profile *p, const assay_options *o, const profile_watch *w)
{
    p->model = w->command;
    p->format = STR("process");
    p->lens = STR("assay");
    p->bottlenecks.threshold = BAND_COMPUTE_FROM;
    job_describe_context(o, p);
}

static assay_status follow(const char *const *argv, int64_t pid, const assay_options *o,
                           const assay_watch_hooks *hooks, profile *p, assay_error *err)
{
    watching ctx = {hooks};
    profile_watch *w = ARENA_NEW(p->arena, profile_watch);
    TRY_MEMORY(w, err);
    uint64_t begin_ns =
        clock_mono_ns(); /* a short command may be over when it is looked at first */
    if (argv)
        TRY(process_start(argv, &pid, err));
    str command = command_of(argv, pid, p->arena);
    const follow_request q = {.pid = pid,
                              .ours = argv != NULL,
                              .interval_ns = (uint64_t)(o->measure.interval_ms * 1e6),
                              .duration_ns = (uint64_t)(o->measure.duration * 1e9),
                              .begin_ns = argv ? begin_ns : 0,
                              .sample = on_sample,
                              .cancelled = on_cancel,
                              .ctx = &ctx};
    TRY(follow_process(&q, p->arena, w, err));
    w->command = command;
    p->watch = w;
    describe(p, o, w);
    return arena_failed(p->arena) ? err_no_memory(err) : ASSAY_OK;
}

assay_status assay_watch(const char *const *argv, int64_t pid, const assay_options *options,
                         const assay_watch_hooks *hooks, assay_result **out, assay_error *err)
{
    const assay_options none = options_default();
    api_begin(err);
    *out = NULL;
    TRY(api_check_size(hooks, err));
    assay_result *of = memory_zeroed(1, sizeof *of);
    if (of)
        *of = (assay_result){.kind = &profile_kind, .p = profile_new(JOB_PROFILE_BYTES)};
    assay_status s = of && of->p ? follow(argv && *argv ? argv : NULL, pid,
                                          options ? options : &none, hooks, of->p, err)
                                 : err_no_memory(err);
    s = api_settle(s, &of, err);
    if (s == ASSAY_OK) {
        *out = of;
        return of->p->watch->interrupted
                   ? err_fail(err, ASSAY_ERR_INTERRUPTED,
                              "interrupted: the result contains the measurements so far")
                   : ASSAY_OK;
    }
    assay_result_free(of);
    return s;
}
