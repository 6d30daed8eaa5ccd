/* Measures this machine. The overhead of the engine per kernel is measured here, because measure/ cannot write
 * models. */
#include "device/machine.h"
#include "jobs/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "formats/onnx_write.h"
#include "jobs/calibration.h"
#include "jobs/hooks.h"
#include "jobs/kernels.h"
#include "measure/ceilings.h"

enum { CHAIN_RUNS = 200, CHAIN_RUNS_QUICK = 60, CHAIN_WARMUP = 10 };

/* ---- hooks ---- */

typedef struct telling {
    const assay_hooks *hooks;
} telling;

static bool report_progress(void *ctx, const char *what, double done, double planned)
{
    const assay_hooks *h = ((telling *)ctx)->hooks;
    const assay_progress p = {.size = sizeof p,
                              .what = what,
                              .done = (uint64_t)(done * 1000),
                              .planned = (uint64_t)(planned * 1000),
                              .count = 1,
                              .fraction = planned > 0 && done < planned ? done / planned : 1};
    if (job_cancelled(h))
        return false;
    return !h || !h->progress || h->progress(h->ctx, &p);
}

/* ---- what the engine adds to a kernel ---- */

static assay_status run_chain(engine *e, engine_job *job, uint32_t runs, machine_figure *out,
                              assay_error *err)
{
    double *rates = memory_alloc(sizeof *rates * runs);
    uint32_t n = 0;
    assay_status s = rates ? ASSAY_OK : err_no_memory(err);
    for (uint32_t i = 0; s == ASSAY_OK && i < runs + CHAIN_WARMUP; i++) {
        uint64_t began = engine_now_ns(e);
        s = engine_job_run(job, err);
        uint64_t took = engine_now_ns(e) - began;
        engine_job_drop(job);
        if (i >= CHAIN_WARMUP && took)
            rates[n++] = ONNX_CHAIN * 1e9 / (double)took;
    }
    if (s == ASSAY_OK && n) {
        machine_figure f = ceilings_figure(rates, n, 0.9);
        *out = (machine_figure){.value = 1 / f.value,
                                .low = 1 / f.high,
                                .high = 1 / f.low,
                                .spread = f.spread,
                                .samples = n};
    }
    free(rates);
    return s;
}

static assay_status open_chain(engine *e, const assay_options *o, const char *path, uint32_t runs,
                               machine_figure *out, assay_error *err)
{
    float zero[1] = {0};
    static const int64_t dims[] = {1};
    const engine_model model = {.path = path};
    const engine_tensor x = {IR_FLOAT32, 1, dims, zero, sizeof zero};
    engine_options options = ENGINE_OPTIONS;
    engine_session *session = NULL;
    engine_job *job = NULL;
    options.opt_level = ENGINE_OPT_OFF;
    options.threads = (int)o->engine.threads;
    TRY(engine_session_open(e, &model, &options, &session, err));
    assay_status s = engine_job_open(session, &x, 1, &job, err);
    if (s == ASSAY_OK)
        s = run_chain(e, job, runs, out, err);
    engine_job_close(job);
    engine_session_close(session);
    return s;
}

static assay_status measure_dispatch(engine *e, const assay_options *o, machine *m,
                                     assay_error *err)
{
    char *folder = NULL, path[1024];
    snprintf(m->dispatch.engine, sizeof m->dispatch.engine, "%s %s", engine_about(e)->title,
             engine_about(e)->version);
    TRY(file_temp_folder(&folder, err));
    snprintf(path, sizeof path, "%s/chain.onnx", folder);
    assay_status s = onnx_write_chain(path, err);
    if (s == ASSAY_OK)
        s = open_chain(e, o, path, o->hardware.quick ? CHAIN_RUNS_QUICK : CHAIN_RUNS,
                       &m->dispatch.seconds, err);
    file_drop_folder(folder);
    m->dispatch.present = s == ASSAY_OK && m->dispatch.seconds.value > 0;
    return s;
}

/* Without an engine the machine is still a machine; but what was requested by name must be had. */
static assay_status measure_engine(const assay_options *o, telling *t, machine *m, assay_error *err)
{
    const job_calibration_request calibrating = {.o = o, .ctx = t, .progress = report_progress};
    job_calibration_request q = calibrating;
    assay_error why = {0};
    engine *e = NULL;
    assay_status s = job_engine_open(o, &e, &why);
    if (s == ASSAY_OK)
        s = measure_dispatch(e, o, m, &why);
    if (s != ASSAY_OK)
        snprintf(m->dispatch.engine, sizeof m->dispatch.engine, "%.90s", why.message);
    q.engine = e;
    if (s == ASSAY_OK && o->hardware.calibrate)
        s = job_calibrate_machine(&q, &m->calibrated, &why);
    engine_close(e);
    return s == ASSAY_OK || !o->hardware.calibrate ? ASSAY_OK : err_fail(err, s, "%s", why.message);
}

/* What was learnt before stays when the machine is measured again, as long as the engine is the same. */
static void keep_calibration(machine *m, arena *a)
{
    machine *before;
    if (!m->calibrated.present && machine_this(a, &before, NULL) == ASSAY_OK &&
        before->calibrated.present && strcmp(before->where.cpu, m->where.cpu) == 0 &&
        strcmp(before->calibrated.engine, m->dispatch.engine) == 0)
        m->calibrated = before->calibrated;
}

assay_status job_machine_measure(const assay_options *o, const assay_hooks *hooks, arena *a,
                                 machine *out, assay_error *err)
{
    telling t = {hooks};
    const ceiling_options ceilings = {.quick = o->hardware.quick,
                                      .threads = (unsigned)o->engine.threads,
                                      .ctx = &t,
                                      .progress = report_progress};
    TRY(ceilings_measure(&ceilings, out, err));
    TRY(measure_engine(o, &t, out, err));
    keep_calibration(out, a);
    return ASSAY_OK;
}
