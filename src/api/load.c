/* assay_load(): loads an endpoint and returns what was measured. */
#include <assay/measure.h>

#include "api/result.h"
#include "jobs/load.h"

#define LOAD_BYTES ((size_t)1 << 30)

/* A result that is whole is handed out, whatever the verdict on it. */
static assay_status hand_out(assay_status s, bool done, assay_result *r, assay_result **out,
                             assay_error *err)
{
    if (!done) {
        handle_free(r);
        return s;
    }
    r->stands_for = load_as_profile(r->data, r->arena);
    assay_status whole = r->stands_for ? ASSAY_OK : err_no_memory(err);
    TRY(api_hand_result(whole, r, out, err));
    return s;
}

assay_status assay_load(const char *url, const assay_options *options, const assay_hooks *hooks,
                        assay_result **out, assay_error *err)
{
    assay_options none, o;
    bool done = false;
    api_begin(err);
    *out = NULL;
    TRY(api_check_size(hooks, err));
    o = *options_or_default(options, &none);
    o.load.connections = assay_options_get(options, "concurrency") ? o.measure.concurrency : 0;
    assay_result *r = handle_new(&load_kind, LOAD_BYTES);
    assay_status s = r ? job_load(url, &o, hooks, r->arena, r->data, &done, err)
                       : err_no_memory(err);
    return hand_out(s, done, r, out, err);
}
