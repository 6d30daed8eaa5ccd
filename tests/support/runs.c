/* See support/runs.h. */
#include "support/runs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "formats/onnx_write.h"
#include "jobs/precision.h"

static const char *const folders[] = {"build/engine", NULL};
const engine_config runs_config = {.folders = folders};

void must(assay_status s, const assay_error *err)
{
    if (s != ASSAY_OK)
        fail_msg("%s", err->message);
}

engine *runs_engine(void)
{
    assay_error err = {0};
    engine *e;
    if (engine_open("ort", &runs_config, &e, &err) == ASSAY_OK)
        return e;
    print_message("%s\n", err.message);
    return NULL;
}

static void keep_output(engine_job *j, uint32_t i, run_output *o)
{
    assay_error err = {0};
    engine_tensor t;
    must(engine_job_output(j, i, &t, &err), &err);
    if (t.dtype != IR_FLOAT32 || !t.size_bytes)
        return;
    size_t n = t.size_bytes / sizeof(float);
    o->p = realloc(o->p, (o->n + n) * sizeof(float));
    memcpy(o->p + o->n, t.data, t.size_bytes);
    o->n += n;
}

static assay_status run_path(engine *e, const char *path, const input_want *wants, uint32_t n_wants,
                             run_output *out, assay_error *err)
{
    engine_options opt = ENGINE_OPTIONS;
    engine_session *s;
    engine_job *j;
    input_set set;
    opt.spin = false;
    TRY(engine_session_open(e, &(engine_model){.path = path}, &opt, &s, err));
    must(inputs_make(wants, n_wants, engine_session_about(s), RUNS_SEED, &set, err), err);
    must(engine_job_open(s, set.tensors, set.n, &j, err), err);
    assay_status ran = engine_job_run(j, err);
    for (uint32_t i = 0; ran == ASSAY_OK && i < engine_session_about(s)->n_outputs; i++)
        keep_output(j, i, out);
    engine_job_close(j);
    inputs_free(&set);
    engine_session_close(s);
    return ran;
}

static bool is_large(const ir_model *m)
{
    uint64_t n = 0;
    for (ir_id v = 0; v < m->values.n; v++)
        if (ir_value_at(m, v)->constant)
            n += ir_value_at(m, v)->constant->size_bytes;
    return n > (uint64_t)64 << 20;
}

assay_status runs_try(engine *e, const ir_model *m, const infer_options *shapes, run_output *out,
                      assay_error *err)
{
    arena *a = arena_new((size_t)512 << 20);
    infer_result *r;
    char *folder, path[512];
    onnx_written got;
    *out = (run_output){0};
    must(infer_run(m, shapes, a, &r, err), err);
    must(file_temp_folder(&folder, err), err);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    must(onnx_write_file(m, path,
                         &(onnx_write_options){.seed = RUNS_SEED, .external_data = is_large(m)},
                         &got, err),
         err);
    assay_status s = run_path(e, path, job_wants_of(r, a), ir_graph_at(m, 0)->inputs.n, out, err);
    out->file_bytes = got.model_bytes + got.data_bytes;
    file_remove_folder(folder);
    free(folder);
    arena_free(a);
    return s;
}

run_output runs_model(engine *e, const ir_model *m)
{
    assay_error err = {0};
    run_output o;
    must(runs_try(e, m, NULL, &o, &err), &err);
    return o;
}

double runs_difference(run_output a, run_output b)
{
    double d = 0, n = 0;
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        d += pow((double)a.p[i] - (double)b.p[i], 2);
        n += pow((double)b.p[i], 2);
    }
    assert_true(isfinite(d) && n > 0);
    return sqrt(d / n);
}
