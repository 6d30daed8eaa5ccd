/* This machine in the public API: measure, save, open. */
#include <assay/device.h>

#include "device/machine.h"

#include <assert.h>

#include "api/result.h"
#include "jobs/job.h"

#define MACHINE_ARENA ((size_t)32 << 20)

/* ---- measured, read, kept ---- */

assay_status assay_machine_measure(const assay_options *options, const assay_hooks *hooks,
                                   assay_result **out, assay_error *err)
{
    assay_options none;
    api_begin(err);
    *out = NULL;
    TRY(api_check_size(hooks, err));
    assay_result *r = handle_new(&machine_kind, MACHINE_ARENA);
    assay_status s = r ? job_machine_measure(options_or_default(options, &none), hooks, r->arena,
                                             r->data, err)
                       : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

assay_status assay_machine_open(const char *path, assay_result **out, assay_error *err)
{
    assay_result *r = handle_new(&machine_kind, MACHINE_ARENA);
    machine *m = NULL;
    api_begin(err);
    *out = NULL;
    assay_status s = !r     ? err_no_memory(err)
                     : path ? machine_load(path, r->arena, &m, err)
                            : machine_this(r->arena, &m, err);
    assert(s != ASSAY_OK || (r && m));
    if (s == ASSAY_OK)
        r->data = m;
    return api_hand_result(s, r, out, err);
}

static assay_status need_machine(const assay_result *of, assay_error *err)
{
    return of->kind == &machine_kind
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE, "this is %s, not a measured machine",
                          of->kind->what);
}

assay_status assay_machine_save(assay_result *of, const char *path, assay_error *err)
{
    api_begin(err);
    TRY(need_machine(of, err));
    const char *to = path ? path : machine_path(of->arena);
    return to ? machine_save(of->data, to, err)
              : err_fail(err, ASSAY_ERR_SYSTEM,
                         "no folder for machine measurements. Set HOME, XDG_DATA_HOME or "
                         "ASSAY_MACHINE.");
}

const char *assay_machine_path(assay_result *of)
{
    const char *path = of->arena ? machine_path(of->arena) : NULL;
    return path ? path : "";
}

double assay_machine_roof(const assay_result *of, const char *dtype, unsigned threads,
                          double flops_per_byte)
{
    if (of->kind != &machine_kind)
        return NAN;
    double roof = machine_roof(of->data, str_of(dtype), threads ? threads : UINT32_MAX,
                               flops_per_byte);
    return roof > 0 ? roof : NAN;
}
