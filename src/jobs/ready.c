/* Loads the engine and uses it once. The first session of a process pays for paged-in code and for tables that are
 * built on first use. In the first configuration, this would make a batch of one look larger than a batch of two; it
 * is reported separately as memory.engine_bytes.
 *
 * If the trivial model does not run, this is not a failure here: the user's model will fail for the same reason. */
#include <malloc.h>
#include <stdio.h>

#include "base/file.h"
#include "formats/onnx_write.h"
#include "jobs/kernels.h"
#include "measure/system.h"

static assay_status run_once(engine_session *s, assay_error *err)
{
    static const int64_t dims[] = {1};
    float zero[1] = {0};
    const engine_tensor x = {IR_FLOAT32, 1, dims, zero, sizeof zero};
    engine_job *job = NULL;
    TRY(engine_job_open(s, &x, 1, &job, err));
    assay_status status = engine_job_run(job, err);
    engine_job_close(job);
    return status;
}

static assay_status run_trivial_model(engine *e, const engine_options *options, const char *folder,
                                      assay_error *err)
{
    char path[1024];
    engine_session *session = NULL;
    snprintf(path, sizeof path, "%s/trivial.onnx", folder);
    TRY(onnx_write_chain(path, err));
    TRY(engine_session_open(e, &(engine_model){.path = path}, options, &session, err));
    assay_status s = run_once(session, err);
    engine_session_close(session);
    return s;
}

static void use_once(engine *e, const assay_options *o)
{
    char *folder = NULL;
    assay_error ignored;
    arena *work = arena_new(1 << 16);
    if (!work || file_temp_folder(&folder, &ignored) != ASSAY_OK) {
        arena_free(work);
        return;
    }
    const engine_options options = job_engine_options(o, work);
    run_trivial_model(e, &options, folder, &ignored);
    file_drop_folder(folder);
    arena_free(work);
}

assay_status job_engine_ready(const assay_options *o, engine **out, uint64_t *bytes,
                              assay_error *err)
{
    system_resident before, after;
    malloc_trim(0);
    system_resident_now("", &before);
    TRY(job_engine_open(o, out, err));
    use_once(*out, o);
    malloc_trim(0);
    system_resident_now("", &after);
    *bytes = after.total > before.total ? after.total - before.total : 0;
    return ASSAY_OK;
}
