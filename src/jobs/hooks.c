/* Cancellation and progress, for calls with a hooks parameter (measuring) and for calls whose hooks are in the
 * options (scale, map, export, ...). */
#include "jobs/hooks.h"

bool job_cancelled(const assay_hooks *h)
{
    bool knows_stop = h && h->size >= offsetof(assay_hooks, stop) + sizeof h->stop;
    return h && ((knows_stop && h->stop && __atomic_load_n(h->stop, __ATOMIC_RELAXED)) ||
                 (h->cancelled && h->cancelled(h->ctx)));
}

static assay_status interrupted(assay_error *err)
{
    return err_fail(err, ASSAY_ERR_INTERRUPTED, "interrupted: no result was kept");
}

assay_status job_stopped(const assay_options *o, assay_error *err)
{
    return job_cancelled(o->hooks) ? interrupted(err) : ASSAY_OK;
}

assay_status job_ended(const assay_hooks *h, assay_status s, assay_error *err)
{
    if (s == ASSAY_OK || s == ASSAY_ERR_INTERRUPTED || !job_cancelled(h))
        return s;
    err_clear(err); /* the first failure would stay, and it says how the work was broken off */
    return interrupted(err);
}

assay_status job_go_on(const assay_options *o, const char *what, uint64_t done, uint64_t planned,
                       assay_error *err)
{
    const assay_hooks *h = o->hooks;
    const assay_progress p = {.size = sizeof p,
                              .what = what,
                              .precision = "",
                              .count = 1,
                              .done = done,
                              .planned = planned,
                              .fraction = planned ? (double)done / (double)planned : 0};
    if (h && h->progress && !h->progress(h->ctx, &p))
        return interrupted(err);
    return job_stopped(o, err);
}
