/* This machine: measured, kept, and walked. */
#include "api/machine.h"

#include "base/file.h"
#include "jobs/machine.h"

#define MACHINE_ARENA ((size_t)32 << 20)

/* ---- measured, read, kept ---- */

static assay_machine *new_machine(void)
{
    arena *a = arena_new(MACHINE_ARENA);
    assay_machine *m = a ? ARENA_NEW(a, assay_machine) : NULL;
    if (m) {
        m->arena = a;
        m->m = ARENA_NEW(a, machine);
    }
    if (m && m->m)
        return m;
    arena_free(a);
    return NULL;
}

assay_status assay_machine_measure(const assay_options *options, const assay_hooks *hooks,
                                   assay_machine **out, assay_error *err)
{
    assay_options none;
    assay_machine *m = new_machine();
    err_clear(err);
    *out = NULL;
    if (!m)
        return err_no_memory(err);
    assay_status s = job_machine_measure(api_options(options, &none), hooks, m->arena, m->m, err);
    if (s == ASSAY_OK)
        *out = m;
    else
        assay_machine_free(m);
    return s;
}

assay_status assay_machine_open(const char *path, assay_machine **out, assay_error *err)
{
    assay_machine *m = new_machine();
    err_clear(err);
    *out = NULL;
    if (!m)
        return err_no_memory(err);
    assay_status s = path ? machine_load(path, m->arena, &m->m, err)
                          : machine_this(m->arena, &m->m, err);
    if (s == ASSAY_OK)
        *out = m;
    else
        assay_machine_free(m);
    return s;
}

assay_status assay_machine_save(assay_machine *m, const char *path, assay_error *err)
{
    err_clear(err);
    const char *to = path ? path : machine_path(m->arena);
    return to ? machine_save(m->m, to, err)
              : err_fail(err, ASSAY_ERR_SYSTEM,
                         "There is no place for measurements of this machine: set HOME, "
                         "XDG_DATA_HOME or ASSAY_MACHINE.");
}

void assay_machine_free(assay_machine *m)
{
    if (m)
        arena_free(m->arena);
}

const char *assay_machine_path(assay_machine *m)
{
    const char *path = machine_path(m->arena);
    return path ? path : "";
}

/* ---- walks ---- */

void assay_machine_about(const assay_machine *of, assay_machine_info *out)
{
    const machine *m = of->m;
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

bool assay_machine_rate(const assay_machine *of, size_t index, assay_rate *out)
{
    if (index >= of->m->n_rates)
        return false;
    const machine_rate *r = &of->m->rates[index];
    const assay_rate x = {.dtype = r->dtype,
                          .isa = r->isa,
                          .threads = r->threads,
                          .operations_per_second = figure_of(&r->ops)};
    HAND_OUT(out, x);
    return true;
}

bool assay_machine_flow(const assay_machine *of, size_t index, assay_flow *out)
{
    if (index >= of->m->n_flows)
        return false;
    const machine_flow *f = &of->m->flows[index];
    const assay_flow x = {.level = f->level,
                          .kind = f->kind,
                          .threads = f->threads,
                          .set_bytes = f->set_bytes,
                          .bytes_per_second = figure_of(&f->bytes)};
    HAND_OUT(out, x);
    return true;
}

bool assay_machine_cache(const assay_machine *of, size_t index, assay_cache *out)
{
    if (index >= of->m->where.n_caches)
        return false;
    const topology_cache *c = &of->m->where.caches[index];
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

bool assay_machine_curve(const assay_machine *of, size_t index, uint64_t *set_bytes, double *read,
                         double *triad)
{
    if (index >= of->m->n_curve)
        return false;
    *set_bytes = of->m->curve[index].set_bytes;
    *read = of->m->curve[index].read;
    *triad = of->m->curve[index].triad;
    return true;
}

bool assay_machine_calibration(const assay_machine *of, assay_calibration *out)
{
    const calibration *c = &of->m->calibrated;
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

bool assay_machine_calibration_run(const assay_machine *of, size_t index,
                                   assay_calibration_run *out)
{
    if (!of->m->calibrated.present || index >= of->m->calibrated.n_runs)
        return false;
    const calibration_run *r = &of->m->calibrated.runs[index];
    const assay_calibration_run x = {.model = r->model,
                                     .batch = r->batch,
                                     .measured_s = r->measured_s,
                                     .predicted_s = r->predicted_s};
    HAND_OUT(out, x);
    return true;
}

const char *assay_machine_isa(const assay_machine *of, size_t index)
{
    return index < of->m->n_isas ? of->m->isas[index].name : NULL;
}

const char *assay_machine_unknown(const assay_machine *of, size_t index)
{
    const topology *t = &of->m->where;
    return index < t->n_not_reported ? t->not_reported[index].what : NULL;
}

double assay_machine_roof(const assay_machine *of, const char *dtype, unsigned threads,
                          double flops_per_byte)
{
    return machine_roof(of->m, str_of(dtype), threads ? threads : UINT32_MAX, flops_per_byte);
}

assay_status assay_machine_report(const assay_machine *of, char **out, size_t *n, assay_error *err)
{
    sbuf text = {0};
    err_clear(err);
    result_write(&machine_kind, of->m, 2, &text);
    return api_hand_text(ASSAY_OK, &text, out, n, err);
}
