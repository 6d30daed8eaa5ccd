/* ONNX Runtime on models of one operator that are built here; skipped where it is not installed. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "engine/ort_find.h"
#include "engine/trace.h"
#include "support/onnx_writer.h"
#include "support/skip.h"

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

typedef struct opened {
    engine *e;
    engine_session *s;
    engine_job *j;
} opened;

static void close_all(opened o)
{
    engine_job_close(o.j);
    engine_session_close(o.s);
    engine_close(o.e);
}

static engine *open_ort(void)
{
    static const char *const folders[] = {"build/engine", NULL};
    engine_config config = {.folders = folders};
    assay_error err = {0};
    engine *e;
    if (engine_open("ort", &config, &e, &err) == ASSAY_OK)
        return e;
    print_message("%s\n", err.message);
    return NULL;
}

static int minor_version(const engine *e)
{
    return atoi(engine_about(e)->version + 2);
}

#define ORT_OR_SKIP(e)      \
    engine *e = open_ort(); \
    (void)state;            \
    if (!e)                 \
        SKIP_BECAUSE("no engine");

/* A library that others can change is not loaded, nor one of a folder that they can change. */
static bool is_found(const char *folder, const char **unsafe)
{
    const char *const folders[] = {folder, NULL};
    arena *a = arena_new(1 << 20);
    bool found = false;
    for (const char *const *p = ort_find(folders, a, unsafe); *p; p++)
        found = found || strncmp(*p, folder, strlen(folder)) == 0;
    *unsafe = *unsafe && strncmp(*unsafe, folder, strlen(folder)) == 0 ? folder : NULL;
    arena_free(a);
    return found;
}

static void test_unsafe_folders(void **state)
{
    static const struct {
        mode_t folder, file;
        bool found;
    } rows[] = {{0755, 0644, true}, {0777, 0644, false}, {0755, 0666, false}, {01777, 0644, false}};
    char folder[] = "/tmp/assay-engine-XXXXXX", file[128];
    const char *unsafe;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/libonnxruntime.so", folder);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fclose(f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(chmod(folder, rows[i].folder) + chmod(file, rows[i].file), 0);
        assert_int_equal(is_found(folder, &unsafe), rows[i].found);
        assert_int_equal(unsafe == NULL, rows[i].found);
    }
    remove(file);
    remove(folder);
}

/* y = x + w with x [batch, 3]; the batch is symbolic, w is held in the model. */
static ww dim_named(const char *name)
{
    ww w = {0};
    ww_str(&w, 2, name);
    return w;
}

static ww batch_type(void)
{
    ww shape = {0}, dim = {0}, tensor = {0}, type = {0};
    ww_sub(&shape, 1, dim_named("batch"));
    ww_int(&dim, 1, 3);
    ww_sub(&shape, 1, dim);
    ww_int(&tensor, 1, IR_FLOAT32);
    ww_sub(&tensor, 2, shape);
    ww_sub(&type, 1, tensor);
    return type;
}

static ww add_graph(ww weight, ww output)
{
    ww g = {0};
    ww_sub(&g, 1, ow_node("Add", "sum", NAMES("x", "w"), NAMES("y")));
    ww_str(&g, 2, "g");
    ww_sub(&g, 5, weight);
    ww_sub(&g, 11, ow_info_of("x", batch_type()));
    ww_sub(&g, 12, output);
    return g;
}

static ww add_model(void)
{
    static const float w[] = {10, 20, 30};
    ww weight = ow_raw("w", IR_FLOAT32, 1, DIMS(3), w, sizeof w);
    return ow_model(add_graph(weight, ow_info_of("y", batch_type())));
}

static engine_session *open_bytes(engine *e, ww *model, const engine_options *options)
{
    assay_error err = {0};
    engine_session *s;
    engine_model m = {.bytes = model->p, .n_bytes = model->n};
    if (engine_session_open(e, &m, options, &s, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    ww_free(model);
    return s;
}

static void ort_says_what_it_is(void **state)
{
    ORT_OR_SKIP(e);
    const engine_info *i = engine_about(e);
    assert_string_equal(i->name, "ort");
    assert_int_equal(strncmp(i->version, "1.", 2), 0);
    assert_int_equal(access(i->library, R_OK), 0);
    assert_true(i->load_ns > 0);
    assert_string_equal(getenv("ORT_DISABLE_TELEMETRY"), "1");
    uint64_t now = engine_now_ns(e);
    engine_sleep_until(e, now + 2000000);
    assert_true(engine_now_ns(e) >= now + 2000000);
    engine_sleep_until(e, now);
    engine_close(e);
}

static void ort_runs_on_our_memory(void **state)
{
    ORT_OR_SKIP(e);
    ww model = add_model();
    engine_session *s = open_bytes(e, &model, NULL);
    const engine_session_info *info = engine_session_about(s);
    float x[6] = {1, 2, 3, 4, 5, 6};
    engine_tensor in = {IR_FLOAT32, 2, DIMS(2, 3), x, sizeof x}, out;
    engine_job *j;
    assert_int_equal(info->n_inputs, 1);
    assert_string_equal(info->inputs[0].name, "x");
    assert_int_equal(info->inputs[0].dtype, IR_FLOAT32);
    assert_int_equal(info->inputs[0].dims[0], -1);
    assert_string_equal(info->inputs[0].symbols[0], "batch");
    assert_int_equal(info->inputs[0].dims[1], 3);
    assert_string_equal(info->outputs[0].name, "y");
    assert_string_equal(info->device, "cpu");
    assert_false(info->fell_back);
    assert_int_equal(engine_job_open(s, &in, 1, &j, NULL), ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        x[5] = (float)i;
        assert_int_equal(engine_job_run(j, NULL), ASSAY_OK);
        assert_int_equal(engine_job_output(j, 0, &out, NULL), ASSAY_OK);
        assert_int_equal(out.rank, 2);
        assert_int_equal(out.dims[0], 2);
        assert_int_equal(out.size_bytes, 24);
        assert_float_equal(((float *)out.data)[0], 11, 0);
        assert_float_equal(((float *)out.data)[5], 30 + i, 0);
    }
    engine_job_drop(j);
    assert_int_equal(engine_job_output(j, 0, &out, NULL), ASSAY_ERR_ENGINE);
    close_all((opened){e, s, j});
}

static void ort_takes_empty_tensors(void **state)
{
    ORT_OR_SKIP(e);
    ww model = add_model();
    engine_session *s = open_bytes(e, &model, NULL);
    engine_tensor in = {IR_FLOAT32, 2, DIMS(0, 3), NULL, 0}, out;
    engine_job *j;
    assert_int_equal(engine_job_open(s, &in, 1, &j, NULL), ASSAY_OK);
    assert_int_equal(engine_job_run(j, NULL), ASSAY_OK);
    assert_int_equal(engine_job_output(j, 0, &out, NULL), ASSAY_OK);
    assert_int_equal(out.size_bytes, 0);
    close_all((opened){e, s, j});
}

static void ort_fixes_dimensions_and_takes_options(void **state)
{
    ORT_OR_SKIP(e);
    static const engine_dim_value dims[] = {{"batch", 4}};
    static const engine_setting settings[] = {{"session.set_denormal_as_zero", "1"}};
    static const int levels[] = {ENGINE_OPT_OFF, ENGINE_OPT_BASIC, ENGINE_OPT_EXTENDED,
                                 ENGINE_OPT_ALL};
    for (size_t i = 0; i < 4; i++) {
        engine_options o = ENGINE_OPTIONS;
        ww model = add_model();
        o.threads = 1 + (int)(i & 1);
        o.opt_level = levels[i];
        o.spin = o.mem_pattern = o.arena = i & 1;
        o.dims = dims, o.n_dims = 1;
        o.settings = settings, o.n_settings = 1;
        engine_session *s = open_bytes(e, &model, &o);
        assert_int_equal(engine_session_about(s)->inputs[0].dims[0], 4);
        engine_session_close(s);
    }
    engine_close(e);
}

static size_t threads_now(void)
{
    size_t n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static size_t threads_of_session(engine *e, int threads)
{
    engine_options o = ENGINE_OPTIONS;
    ww model = add_model();
    o.threads = threads;
    size_t before = threads_now();
    engine_session *s = open_bytes(e, &model, &o);
    size_t more = threads_now() - before;
    engine_session_close(s);
    return more;
}

/* The session's pool has one thread less than was asked for: the caller works too. A thread of an earlier session that
 * has ended may be listed for a while longer: then it is counted again. */
static void ort_makes_the_threads_asked_for(void **state)
{
    ORT_OR_SKIP(e);
    static const int counts[] = {1, 2, 5};
    if (access("/proc/self/task", R_OK) != 0)
        SKIP_BECAUSE("no /proc");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t wanted = (size_t)counts[i] - 1, n = threads_of_session(e, counts[i]);
        for (int k = 0; k < 100 && n != wanted; k++)
            n = threads_of_session(e, counts[i]);
        assert_int_equal(n, wanted);
    }
    engine_close(e);
}

/* Settings of the session are taken on every device; what only another provider knows is refused. */
static void ort_takes_provider_options(void **state)
{
    ORT_OR_SKIP(e);
    static const engine_setting good[] = {{"session.disable_prepacking", "1"}};
    static const engine_setting bad[] = {{"session.disable_prepacking", "1"}, {"device_id", "0"}};
    static const engine_setting wrong[] = {{"session.load_model_format", "ORT"}};
    engine_options o = ENGINE_OPTIONS;
    engine_session *s;
    assay_error err = {0};
    ww model = add_model(), again = add_model();
    engine_model m = {.bytes = again.p, .n_bytes = again.n};
    o.provider_options = good, o.n_provider_options = 1;
    engine_session_close(open_bytes(e, &model, &o));
    o.provider_options = bad, o.n_provider_options = 2;
    assert_int_equal(engine_session_open(e, &m, &o, &s, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "'device_id'"));
    o.device = "cuda";
    assert_int_equal(engine_session_open(e, &m, &o, &s, NULL), ASSAY_OK);
    const engine_session_info *info = engine_session_about(s);
    if (info->fell_back)
        assert_non_null(strstr(info->fallback_why, "provider options"));
    engine_session_close(s);
    o.provider_options = good, o.n_provider_options = 1;
    assert_int_equal(engine_session_open(e, &m, &o, &s, NULL), ASSAY_OK);
    assert_null(strstr(engine_session_about(s)->fallback_why, "provider options"));
    engine_session_close(s);
    o.provider_options = wrong; /* is refused wherever it holds, so also after a fall-back */
    assert_int_equal(engine_session_open(e, &m, &o, &s, NULL), ASSAY_ERR_ENGINE);
    ww_free(&again);
    engine_close(e);
}

/* A copy that nobody knows is called by what it is a copy of, in the runtime's own words too. */
static void ort_calls_copies_by_name(void **state)
{
    ORT_OR_SKIP(e);
    char path[] = "/tmp/assay-copy-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "no model", 8) == 8 && close(fd) == 0);
    assay_error err = {0};
    engine_session *s;
    engine_model m = {.path = path};
    assert_int_equal(engine_session_open(e, &m, NULL, &s, &err), ASSAY_ERR_ENGINE);
    assert_non_null(strstr(err.message, path));
    err = (assay_error){0};
    m.called = "'my.onnx' re-batched to 4";
    assert_int_equal(engine_session_open(e, &m, NULL, &s, &err), ASSAY_ERR_ENGINE);
    assert_non_null(strstr(err.message, "'my.onnx' re-batched to 4"));
    assert_null(strstr(err.message, path));
    unlink(path);
    engine_close(e);
}

/* y = Expand(x, shape) to more than any address space holds; a sanitizer would abort instead of failing. */
static void ort_out_of_memory_is_told(void **state)
{
    ORT_OR_SKIP(e);
#ifdef ASSAY_SANITIZED
    engine_close(e);
    SKIP_BECAUSE("a sanitizer ends the program where memory is short");
#endif
    ww g = {0};
    ww_sub(&g, 1, ow_node("Expand", "alloc memory", NAMES("x", "shape"), NAMES("y")));
    ww_str(&g, 2, "g");
    ww_sub(&g, 11, ow_info("x", IR_FLOAT32, 1, DIMS(1)));
    ww_sub(&g, 11, ow_info("shape", IR_INT64, 1, DIMS(1)));
    ww_sub(&g, 12, ow_info("y", IR_FLOAT32, -1, NULL));
    ww model = ow_model(g);
    engine_session *s = open_bytes(e, &model, NULL);
    float x = 1;
    int64_t shape = (int64_t)1 << 45;
    engine_tensor in[] = {{IR_FLOAT32, 1, DIMS(1), &x, 4}, {IR_INT64, 1, DIMS(1), &shape, 8}};
    assay_error err = {0};
    engine_job *j;
    assert_int_equal(engine_job_open(s, in, 2, &j, NULL), ASSAY_OK);
    assert_int_equal(engine_job_run(j, &err), ASSAY_ERR_ENGINE);
    if (err.os_error != ENOMEM)
        fail_msg("%s", err.message);
    err = (assay_error){0};
    shape = -5; /* another failure of a node whose name is about memory */
    assert_int_equal(engine_job_run(j, &err), ASSAY_ERR_ENGINE);
    assert_int_equal(err.os_error, 0);
    close_all((opened){e, s, j});
}

static void ort_refusals_are_sentences(void **state)
{
    ORT_OR_SKIP(e);
    assay_error err = {0};
    engine_session *s;
    engine_model broken = {.bytes = "not a model", .n_bytes = 11};
    assert_int_equal(engine_session_open(e, &broken, NULL, &s, &err), ASSAY_ERR_ENGINE);
    assert_non_null(strstr(err.message, "ONNX Runtime"));
    assert_null(s);
    err = (assay_error){0};
    engine_model missing = {.path = "/nonexistent/model.onnx"};
    assert_int_equal(engine_session_open(e, &missing, NULL, &s, &err), ASSAY_ERR_ENGINE);
    assert_non_null(strstr(err.message, "/nonexistent/model.onnx"));
    err = (assay_error){0};
    ww g = {0};
    ww_sub(&g, 1, ow_node("NoSuchOperator", "n", NAMES("x"), NAMES("y")));
    ww_str(&g, 2, "g");
    ww_sub(&g, 11, ow_info("x", IR_FLOAT32, 1, DIMS(1)));
    ww_sub(&g, 12, ow_info("y", IR_FLOAT32, 1, DIMS(1)));
    ww model = ow_model(g);
    engine_model unknown = {.bytes = model.p, .n_bytes = model.n};
    assert_int_equal(engine_session_open(e, &unknown, NULL, &s, &err), ASSAY_ERR_ENGINE);
    assert_non_null(strstr(err.message, "NoSuchOperator"));
    ww_free(&model);
    engine_close(e);
}

/* y = Reshape(x, shape): a shape that does not fit fails in the run, and only there. */
static void ort_run_failures_are_sentences(void **state)
{
    ORT_OR_SKIP(e);
    ww g = {0};
    ww_sub(&g, 1, ow_node("Reshape", "bend", NAMES("x", "shape"), NAMES("y")));
    ww_str(&g, 2, "g");
    ww_sub(&g, 11, ow_info("x", IR_FLOAT32, 1, DIMS(4)));
    ww_sub(&g, 11, ow_info("shape", IR_INT64, 1, DIMS(1)));
    ww_sub(&g, 12, ow_info("y", IR_FLOAT32, -1, NULL));
    ww model = ow_model(g);
    engine_session *s = open_bytes(e, &model, NULL);
    float x[4] = {0};
    int64_t shape = 3;
    engine_tensor in[] = {{IR_FLOAT32, 1, DIMS(4), x, 16}, {IR_INT64, 1, DIMS(1), &shape, 8}}, out;
    assay_error err = {0};
    engine_job *j;
    assert_int_equal(engine_job_open(s, in, 2, &j, NULL), ASSAY_OK);
    assert_int_equal(engine_job_run(j, &err), ASSAY_ERR_ENGINE);
    assert_non_null(strstr(err.message, "bend"));
    assert_int_equal(engine_job_output(j, 0, &out, NULL), ASSAY_ERR_ENGINE);
    shape = 4;
    assert_int_equal(engine_job_run(j, NULL), ASSAY_OK);
    engine_session_stop(s);
    assert_int_equal(engine_job_run(j, NULL), ASSAY_ERR_ENGINE);
    close_all((opened){e, s, j});
}

static void ort_devices_fall_back(void **state)
{
    ORT_OR_SKIP(e);
    engine_options o = ENGINE_OPTIONS;
    engine_session *s;
    assay_error err = {0};
    ww model = add_model();
    engine_model m = {.bytes = model.p, .n_bytes = model.n};
    o.device = "warp";
    assert_int_equal(engine_session_open(e, &m, &o, &s, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "cuda"));
    o.device = "cuda:0";
    assert_int_equal(engine_session_open(e, &m, &o, &s, NULL), ASSAY_OK);
    const engine_session_info *info = engine_session_about(s);
    if (info->fell_back) {
        assert_string_equal(info->device, "cpu");
        assert_non_null(strstr(info->fallback_why, "'cuda:0'"));
        engine_session *t;
        o.strict = true;
        err = (assay_error){0};
        assert_int_equal(engine_session_open(e, &m, &o, &t, &err), ASSAY_ERR_ENGINE);
    }
    engine_session_close(s);
    ww_free(&model);
    engine_close(e);
}

static void ort_messages_become_ours(void **state)
{
    ORT_OR_SKIP(e);
    static const float w[] = {1, 2, 3};
    /* y is declared [7,3]; it has the batch of x. */
    ww model = ow_model(add_graph(ow_raw("w", IR_FLOAT32, 1, DIMS(3), w, sizeof w),
                                  ow_info("y", IR_FLOAT32, 2, DIMS(7, 3))));
    engine_options o = ENGINE_OPTIONS;
    o.opt_level = ENGINE_OPT_OFF;
    engine_session *s = open_bytes(e, &model, &o);
    float x[6] = {0};
    engine_tensor in = {IR_FLOAT32, 2, DIMS(2, 3), x, sizeof x};
    engine_job *j;
    engine_message text;
    assert_int_equal(engine_job_open(s, &in, 1, &j, NULL), ASSAY_OK);
    engine_job_run(j, NULL);
    engine_job_run(j, NULL);
    assert_true(engine_session_message(s, 0, &text));
    assert_int_equal(text.severity, 2);
    assert_non_null(strstr(text.text, "shape"));
    assert_false(engine_session_message(s, 1, &text));
    close_all((opened){e, s, j});
}

static void ort_tells_its_memory(void **state)
{
    ORT_OR_SKIP(e);
    ww model = add_model();
    engine_session *s = open_bytes(e, &model, NULL);
    static float x[3000];
    engine_tensor in = {IR_FLOAT32, 2, DIMS(1000, 3), x, sizeof x};
    engine_memory before, after;
    engine_job *j;
    assert_int_equal(engine_job_open(s, &in, 1, &j, NULL), ASSAY_OK);
    if (engine_session_memory(s, &before)) {
        assert_int_equal(engine_job_run(j, NULL), ASSAY_OK);
        assert_true(engine_session_memory(s, &after));
        assert_true(after.in_use >= before.in_use + sizeof x);
        assert_true(after.requested <= after.in_use && after.in_use <= after.held);
        assert_true(after.max_in_use >= after.in_use && after.max_alloc >= sizeof x);
    }
    close_all((opened){e, s, j});
}

static void ort_uses_weights_in_place(void **state)
{
    ORT_OR_SKIP(e);
    char folder[] = "/tmp/assay_engine_XXXXXX", file[64], onnx[64];
    float theirs[4] = {0, 1, 2, 3}, ours[3] = {100, 200, 300}, x[3] = {1, 2, 3};
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/w.bin", folder);
    snprintf(onnx, sizeof onnx, "%s/m.onnx", folder);
    ww weight = ow_tensor("w", IR_FLOAT32, 1, DIMS(3));
    ww_int(&weight, 14, 1);
    ww_sub(&weight, 13, ow_external("location", "w.bin"));
    ww_sub(&weight, 13, ow_external("offset", "4"));
    ww_sub(&weight, 13, ow_external("length", "12"));
    ww model = ow_model(add_graph(weight, ow_info_of("y", batch_type())));
    FILE *f = fopen(file, "wb");
    assert_int_equal(fwrite(theirs, 1, sizeof theirs, f), sizeof theirs);
    fclose(f);
    f = fopen(onnx, "wb");
    assert_int_equal(fwrite(model.p, 1, model.n, f), model.n);
    fclose(f);
    for (int i = 0; i < 4; i++) { /* by path and as bytes, with the file's weights and with ours */
        if (!(i & 1) && minor_version(e) < 22)
            continue; /* those want the path of a model with external data */
        engine_model m = i & 1 ? (engine_model){.path = onnx}
                               : (engine_model){
                                     .bytes = model.p, .n_bytes = model.n, .folder = folder};
        engine_weight w = {"w", {IR_FLOAT32, 1, DIMS(3), ours, sizeof ours}};
        engine_options o = ENGINE_OPTIONS;
        o.weights = &w, o.n_weights = i & 2 ? 1 : 0;
        engine_tensor in = {IR_FLOAT32, 2, DIMS(1, 3), x, sizeof x}, out;
        opened r = {.e = e};
        assay_error err = {0};
        if (engine_session_open(e, &m, &o, &r.s, &err) != ASSAY_OK)
            fail_msg("%s", err.message);
        assert_int_equal(engine_job_open(r.s, &in, 1, &r.j, NULL), ASSAY_OK);
        assert_int_equal(engine_job_run(r.j, NULL), ASSAY_OK);
        assert_int_equal(engine_job_output(r.j, 0, &out, NULL), ASSAY_OK);
        assert_float_equal(((float *)out.data)[2], (i & 2 ? 303 : 6), 0);
        engine_job_close(r.j);
        engine_session_close(r.s);
    }
    unlink(file);
    unlink(onnx);
    rmdir(folder);
    ww_free(&model);
    engine_close(e);
}

static void *run_often(void *job)
{
    for (int i = 0; i < 200; i++)
        if (engine_job_run(job, NULL) != ASSAY_OK)
            return job;
    return NULL;
}

static void ort_jobs_run_side_by_side(void **state)
{
    ORT_OR_SKIP(e);
    ww model = add_model();
    engine_options o = ENGINE_OPTIONS;
    o.threads = 1;
    engine_session *s = open_bytes(e, &model, &o);
    float x[4][3] = {{0}};
    engine_job *j[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        engine_tensor in = {IR_FLOAT32, 2, DIMS(1, 3), x[i], sizeof x[i]};
        x[i][0] = (float)i;
        assert_int_equal(engine_job_open(s, &in, 1, &j[i], NULL), ASSAY_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, j[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        engine_tensor out;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        assert_int_equal(engine_job_output(j[i], 0, &out, NULL), ASSAY_OK);
        assert_float_equal(((float *)out.data)[0], 10 + i, 0);
        engine_job_close(j[i]);
    }
    engine_session_close(s);
    engine_close(e);
}

static void ort_engines_may_overlap(void **state)
{
    ORT_OR_SKIP(first);
    engine *second = open_ort();
    ww model = add_model();
    assert_non_null(second);
    engine_close(first);
    engine_session *s = open_bytes(second, &model, NULL);
    engine_session_close(s);
    engine_close(second);
}

static void ort_profiles_are_read(void **state)
{
    ORT_OR_SKIP(e);
    char folder[] = "/tmp/assay_engine_XXXXXX", prefix[64];
    assert_non_null(mkdtemp(folder));
    snprintf(prefix, sizeof prefix, "%s/p", folder);
    ww model = add_model();
    engine_options o = ENGINE_OPTIONS;
    o.profile_prefix = prefix;
    engine_session *s = open_bytes(e, &model, &o);
    float x[6] = {0};
    engine_tensor in = {IR_FLOAT32, 2, DIMS(2, 3), x, sizeof x};
    engine_job *j;
    const char *path;
    trace t;
    arena *a = arena_new(1 << 24);
    assert_int_equal(engine_job_open(s, &in, 1, &j, NULL), ASSAY_OK);
    for (int i = 0; i < 3; i++)
        engine_job_run(j, NULL);
    assert_int_equal(engine_profile_end(s, &path, NULL), ASSAY_OK);
    assert_int_equal(trace_read(path, a, &t, NULL), ASSAY_OK);
    assert_int_equal(t.n_runs, 3);
    assert_int_equal(t.n_nodes, 1);
    assert_int_equal(t.n_events, 3);
    assert_true(str_is(t.nodes[0].name, "sum"));
    assert_true(str_is(t.nodes[0].op, "Add"));
    assert_int_equal(t.nodes[0].n_outputs, 1);
    assert_int_equal(t.nodes[0].outputs[0].dims[0], 2);
    assert_int_equal(t.events[0].output_bytes, 24);
    assert_int_equal(t.runs[2].first, 2);
    assert_int_equal(t.runs[2].n, 1);
    assert_true(t.session_us > 0);
    unlink(path);
    rmdir(folder);
    arena_free(a);
    close_all((opened){e, s, j});
}

/* x -> Abs -> OP -> Neg -> y: bytes in use after OP tell whether it wrote over what Abs made. */
static uint64_t in_use_after(engine *e, const char *op, bool reuse)
{
    char folder[] = "/tmp/assay_engine_XXXXXX", prefix[64];
    ww g = {0};
    static float x[256] = {1};
    engine_tensor in = {IR_FLOAT32, 2, DIMS(1, 256), x, sizeof x};
    engine_memory before = {0};
    engine_job *j;
    const char *path;
    trace t;
    arena *a = arena_new(1 << 24);
    uint64_t found = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(prefix, sizeof prefix, "%s/p", folder);
    ww_sub(&g, 1, ow_node("Abs", "a", NAMES("x"), NAMES("v1")));
    ww_sub(&g, 1, ow_node(op, "op", NAMES("v1"), NAMES("v2")));
    ww_sub(&g, 1, ow_node("Neg", "b", NAMES("v2"), NAMES("y")));
    ww_str(&g, 2, "g");
    ww_sub(&g, 11, ow_info("x", IR_FLOAT32, 2, DIMS(1, 256)));
    ww_sub(&g, 12, ow_info("y", IR_FLOAT32, 2, DIMS(1, 256)));
    ww model = ow_model(g);
    engine_options o = ENGINE_OPTIONS;
    o.opt_level = ENGINE_OPT_OFF;
    o.mem_pattern = false;
    o.reuse = reuse;
    o.profile_prefix = prefix;
    engine_session *s = open_bytes(e, &model, &o);
    engine_session_memory(s, &before);
    assert_int_equal(engine_job_open(s, &in, 1, &j, NULL), ASSAY_OK);
    assert_int_equal(engine_job_run(j, NULL), ASSAY_OK);
    engine_profile_end(s, &path, NULL);
    assert_int_equal(trace_read(path, a, &t, NULL), ASSAY_OK);
    assert_int_equal(t.runs[0].n, 3); /* also when they ran on another thread */
    for (uint32_t i = 0; i < t.n_events; i++)
        if (str_is(t.nodes[t.events[i].node].name, "op") && t.events[i].mem_requested)
            found = t.events[i].mem_requested - before.requested;
    unlink(path);
    rmdir(folder);
    arena_free(a);
    engine_job_close(j);
    engine_session_close(s);
    return found;
}

static void ort_works_in_place_where_said(void **state)
{
    static const char *const ops[] = {
        "Relu", "Sigmoid",  "Tanh",     "Elu",  "Selu",       "LeakyRelu",  "HardSigmoid",
        "Celu", "Softplus", "Softsign", "Clip", "Softmax",    "LogSoftmax", "ThresholdedRelu",
        "Erf",  "Sqrt",     "Exp",      "Abs",  "Reciprocal", "Floor",      "Neg"};
    ORT_OR_SKIP(e);
    if (!in_use_after(e, "Relu", true)) { /* it does not tell its memory */
        engine_close(e);
        SKIP_BECAUSE("the engine does not tell its memory");
    }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        uint64_t used = in_use_after(e, ops[i], true);
        bool said = engine_works_in_place(e, (str){0}, str_of(ops[i]));
        if (used != (said ? 1024u : 2048u))
            fail_msg("%s: %d bytes are in use, in place is said to be %d", ops[i], (int)used, said);
        assert_int_equal(in_use_after(e, ops[i], false), 2048);
    }
    engine_close(e);
}

static void ort_without_profiling_has_none(void **state)
{
    ORT_OR_SKIP(e);
    ww model = add_model();
    engine_session *s = open_bytes(e, &model, NULL);
    const char *path;
    assay_error err = {0};
    assert_int_equal(engine_profile_end(s, &path, &err), ASSAY_ERR_ENGINE);
    assert_null(path);
    engine_session_close(s);
    engine_close(e);
}

int run_test_engine_ort(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ort_says_what_it_is),
        cmocka_unit_test(ort_runs_on_our_memory),
        cmocka_unit_test(ort_takes_empty_tensors),
        cmocka_unit_test(ort_fixes_dimensions_and_takes_options),
        cmocka_unit_test(ort_makes_the_threads_asked_for),
        cmocka_unit_test(ort_takes_provider_options),
        cmocka_unit_test(ort_calls_copies_by_name),
        cmocka_unit_test(ort_out_of_memory_is_told),
        cmocka_unit_test(ort_refusals_are_sentences),
        cmocka_unit_test(ort_run_failures_are_sentences),
        cmocka_unit_test(ort_devices_fall_back),
        cmocka_unit_test(ort_messages_become_ours),
        cmocka_unit_test(ort_tells_its_memory),
        cmocka_unit_test(ort_uses_weights_in_place),
        cmocka_unit_test(ort_jobs_run_side_by_side),
        cmocka_unit_test(ort_engines_may_overlap),
        cmocka_unit_test(ort_profiles_are_read),
        cmocka_unit_test(ort_works_in_place_where_said),
        cmocka_unit_test(ort_without_profiling_has_none),
        cmocka_unit_test(test_unsafe_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
