/* `assay load`: options, hooks and context for measure/load_endpoint.h. */
#include "jobs/load.h"

#include "jobs/hooks.h"

static bool go_on(void *ctx, const char *what, uint64_t done, double fraction)
{
    const assay_hooks *h = *(const assay_hooks *const *)ctx;
    const assay_progress p = {.size = sizeof p,
                              .what = what,
                              .precision = "",
                              .count = 1,
                              .done = done,
                              .fraction = fraction};
    return !job_cancelled(h) && (!h || !h->progress || h->progress(h->ctx, &p));
}

assay_status job_load(const char *url, const assay_options *o, const assay_hooks *hooks, arena *a,
                      load_result *out, bool *done, assay_error *err)
{
    load_options load = o->load;
    load.rate = o->measure.rate;
    load.duration = o->measure.duration;
    load.concurrency = o->measure.concurrency;
    load.seed = o->model.seed;
    *out = (load_result){.about = ARENA_NEW(a, profile)};
    *done = false;
    TRY_MEMORY(out->about, err);
    out->about->arena = a;
    job_describe_context(o, out->about);
    return load_endpoint_run(url, &load, (load_hook){go_on, &hooks}, a, out, done, err);
}
