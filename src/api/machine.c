/* This machine: measured, kept, and walked. */
#include "device/machine.h"

#include "api/result.h"
#include "jobs/machine.h"

#define MACHINE_ARENA ((size_t)32 << 20)

/* ---- measured, read, kept ---- */

assay_status assay_machine_measure(const assay_options *options, const assay_hooks *hooks,
                                   assay_result **out, assay_error *err)
{
    assay_options none;
    assay_result *r = job_result_new(&machine_kind, MACHINE_ARENA);
    err_clear(err);
    *out = NULL;
    assay_status s = r ? job_machine_measure(api_options(options, &none), hooks, r->arena, r->data,
                                             err)
                       : err_no_memory(err);
    return api_hand_result(s, r, out);
}

assay_status assay_machine_open(const char *path, assay_result **out, assay_error *err)
{
    assay_result *r = job_result_new(&machine_kind, MACHINE_ARENA);
    machine *m = NULL;
    err_clear(err);
    *out = NULL;
    assay_status s = !r     ? err_no_memory(err)
                     : path ? machine_load(path, r->arena, &m, err)
                            : machine_this(r->arena, &m, err);
    if (s == ASSAY_OK)
        r->data = m;
    return api_hand_result(s, r, out);
}

static assay_status need_machine(const assay_result *of, assay_error *err)
{
    return of->kind == &machine_kind
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE, "This is %s, not a measured machine.",
                          of->kind->what);
}

assay_status assay_machine_save(assay_result *of, const char *path, assay_error *err)
{
    err_clear(err);
    TRY(need_machine(of, err));
    const char *to = path ? path : machine_path(of->arena);
    return to ? machine_save(of->data, to, err)
              : err_fail(err, ASSAY_ERR_SYSTEM,
                         "There is no place for measurements of this machine: set HOME, "
                         "XDG_DATA_HOME or ASSAY_MACHINE.");
}

const char *assay_machine_path(assay_result *of)
{
    const char *path = of->arena ? machine_path(of->arena) : NULL;
    return path ? path : "";
}

/* ---- walks ---- */

static const machine *machine_of(const assay_result *of)
{
    return of->data;
}

void assay_machine_about(const assay_result *of, assay_machine_info *out)
{
    const machine *m = of->data;
    const topology *t = &m->where;
    const assay_machine_info x = {.timestamp = m->timestamp,
                                  .cpu = t->cpu,
                                  .machine = t->machine,
                                  .host = t->host,
                                  .os = t->os,
                                  .governor = t->governor,
                                  .clock_driver = t->driver,
                                  .hypervisor = t->hypervisor,
                                  .container = t->container,
                                  .sockets = t->sockets,
                                  .cores = t->cores,
                                  .processors = t->cpus,
                                  .threads_per_core = t->threads_per_core,
                                  .usable_processors = t->usable,
                                  .numa_nodes = t->numa_nodes,
                                  .quota_processors = t->quota_cpus,
                                  .memory_bytes = t->memory_bytes,
                                  .mhz = t->mhz_now,
                                  .mhz_min = t->mhz_min,
                                  .mhz_max = t->mhz_max,
                                  .mhz_base = t->mhz_base,
                                  .steal_percent_since_boot = t->steal_percent,
                                  .steal_percent = m->steal_percent,
                                  .seconds = m->seconds,
                                  .quick = m->quick,
                                  .engine = m->dispatch.engine,
                                  .dispatch_s = m->dispatch.present ? m->dispatch.seconds.value
                                                                    : -1,
                                  .dispatch_low_s = m->dispatch.seconds.low,
                                  .dispatch_high_s = m->dispatch.seconds.high};
    HAND_OUT(out, x);
}

static assay_figure figure_of(const machine_figure *f)
{
    return (assay_figure){f->value, f->low, f->high, f->spread, f->samples};
}

bool assay_machine_rate(const assay_result *of, size_t index, assay_rate *out)
{
    if (index >= machine_of(of)->n_rates)
        return false;
    const machine_rate *r = &machine_of(of)->rates[index];
    const assay_rate x = {.dtype = r->dtype,
                          .isa = r->isa,
                          .threads = r->threads,
                          .operations_per_second = figure_of(&r->ops)};
    HAND_OUT(out, x);
    return true;
}

bool assay_machine_flow(const assay_result *of, size_t index, assay_flow *out)
{
    if (index >= machine_of(of)->n_flows)
        return false;
    const machine_flow *f = &machine_of(of)->flows[index];
    const assay_flow x = {.level = f->level,
                          .kind = f->kind,
                          .threads = f->threads,
                          .set_bytes = f->set_bytes,
                          .bytes_per_second = figure_of(&f->bytes)};
    HAND_OUT(out, x);
    return true;
}

bool assay_machine_cache(const assay_result *of, size_t index, assay_cache *out)
{
    if (index >= machine_of(of)->where.n_caches)
        return false;
    const topology_cache *c = &machine_of(of)->where.caches[index];
    const assay_cache x = {.level = c->level,
                           .kind = c->kind,
                           .size_bytes = c->size_bytes,
                           .line_bytes = c->line_bytes,
                           .ways = c->ways,
                           .instances = c->instances,
                           .shared_by = c->shared_by};
    HAND_OUT(out, x);
    return true;
}

bool assay_machine_curve(const assay_result *of, size_t index, uint64_t *set_bytes, double *read,
                         double *triad)
{
    if (index >= machine_of(of)->n_curve)
        return false;
    *set_bytes = machine_of(of)->curve[index].set_bytes;
    *read = machine_of(of)->curve[index].read;
    *triad = machine_of(of)->curve[index].triad;
    return true;
}

bool assay_machine_calibration(const assay_result *of, assay_calibration *out)
{
    const calibration *c = &machine_of(of)->calibrated;
    const assay_calibration x = {.engine = c->engine,
                                 .threads = c->threads,
                                 .seconds = c->seconds,
                                 .median_error = c->error,
                                 .interval_low = c->low,
                                 .interval_high = c->high,
                                 .n_runs = c->n_runs,
                                 .n_families = c->n_families};
    if (c->present)
        HAND_OUT(out, x);
    return c->present;
}

bool assay_machine_calibration_run(const assay_result *of, size_t index, assay_calibration_run *out)
{
    if (!machine_of(of)->calibrated.present || index >= machine_of(of)->calibrated.n_runs)
        return false;
    const calibration_run *r = &machine_of(of)->calibrated.runs[index];
    const assay_calibration_run x = {.model = r->model,
                                     .batch = r->batch,
                                     .measured_s = r->measured_s,
                                     .predicted_s = r->predicted_s};
    HAND_OUT(out, x);
    return true;
}

const char *assay_machine_isa(const assay_result *of, size_t index)
{
    return index < machine_of(of)->n_isas ? machine_of(of)->isas[index].name : NULL;
}

const char *assay_machine_unknown(const assay_result *of, size_t index)
{
    const topology *t = &machine_of(of)->where;
    return index < t->n_not_reported ? t->not_reported[index].what : NULL;
}

double assay_machine_roof(const assay_result *of, const char *dtype, unsigned threads,
                          double flops_per_byte)
{
    return machine_roof(machine_of(of), str_of(dtype), threads ? threads : UINT32_MAX,
                        flops_per_byte);
}
