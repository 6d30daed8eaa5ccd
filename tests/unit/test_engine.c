/* Engines: the null engine's script to the letter, ONNX Runtime on models built here where it is
 * installed (else those tests are skipped), libraries that are missing or no runtime, and traces.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "engine/null.h"
#include "engine/trace.h"
#include "support/onnx_writer.h"

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

/* ---- null ------------------------------------------------------------------------------------ */

static const engine_model no_model = {0};

static void rows_are_whole(void **state)
{
    assay_error err = {0};
    engine *e;
    (void)state;
    for (uint32_t i = 0; i < engine_table_n; i++)
        assert_true(engine_table[i].name && engine_table[i].about && engine_table[i].open);
    assert_int_equal(engine_open("tpu", NULL, &e, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "ort, null"));
    engine_close(NULL);
    engine_session_close(NULL);
    engine_job_close(NULL);
}

typedef struct opened {
    engine *e;
    engine_session *s;
    engine_job *j;
} opened;

static opened open_null(const engine_script *script)
{
    opened o = {0};
    assay_error err = {0};
    engine_config config = {.script = script};
    assert_int_equal(engine_open("null", &config, &o.e, &err), ASSAY_OK);
    assert_int_equal(engine_session_open(o.e, &no_model, NULL, &o.s, &err), ASSAY_OK);
    assert_int_equal(engine_job_open(o.s, NULL, 0, &o.j, &err), ASSAY_OK);
    return o;
}

static void close_all(opened o)
{
    engine_job_close(o.j);
    engine_session_close(o.s);
    engine_close(o.e);
}

static void null_clock_follows_the_script(void **state)
{
    static const uint64_t runs[] = {100, 200, 300};
    static const engine_script script = {
        .start_ns = 1000, .session_ns = 50, .run_ns = runs, .n_run_ns = 3};
    opened o = open_null(&script);
    (void)state;
    assert_int_equal(engine_now_ns(o.e), 1050);
    assert_int_equal(engine_session_about(o.s)->create_ns, 50);
    for (int i = 0; i < 4; i++)
        assert_int_equal(engine_job_run(o.j, NULL), ASSAY_OK);
    assert_int_equal(engine_now_ns(o.e), 1050 + 100 + 200 + 300 + 100);
    assert_int_equal(engine_null_runs(o.e), 4);
    engine_sleep_until(o.e, 5000);
    assert_int_equal(engine_now_ns(o.e), 5000);
    engine_sleep_until(o.e, 10);
    engine_null_advance(o.e, 7);
    assert_int_equal(engine_now_ns(o.e), 5007);
    close_all(o);
}

static uint64_t squares(void *context, uint64_t run)
{
    return *(uint64_t *)context + run * run;
}

static void null_takes_durations_from_a_function(void **state)
{
    uint64_t base = 10;
    engine_script script = {.duration = squares, .context = &base, .tick_ns = 1};
    opened o = open_null(&script);
    (void)state;
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t before = engine_now_ns(o.e);
        assert_int_equal(engine_job_run(o.j, NULL), ASSAY_OK);
        assert_int_equal(engine_now_ns(o.e) - before, 10 + i * i + 1);
    }
    close_all(o);
}

static void null_fails_when_told(void **state)
{
    static const engine_script_failure failures[] = {{.run = 1, .message = "It burns."},
                                                     {.run = 3, .n_runs = 2, .message = "Twice."}};
    static const engine_script script = {.failures = failures, .n_failures = 2};
    static const assay_status want[] = {0, ASSAY_ERR_ENGINE, 0, ASSAY_ERR_ENGINE, ASSAY_ERR_ENGINE,
                                        0};
    opened o = open_null(&script);
    (void)state;
    for (int i = 0; i < 6; i++) {
        assay_error err = {0};
        assert_int_equal(engine_job_run(o.j, &err), want[i]);
        if (i == 1)
            assert_string_equal(err.message, "It burns.");
    }
    engine_session_stop(o.s);
    assert_int_equal(engine_job_run(o.j, NULL), ASSAY_ERR_ENGINE);
    close_all(o);
}

static void null_session_may_fail(void **state)
{
    static const engine_script script = {.session_failure = "No."};
    engine_config config = {.script = &script};
    assay_error err = {0};
    engine *e;
    engine_session *s;
    (void)state;
    assert_int_equal(engine_open("null", &config, &e, &err), ASSAY_OK);
    assert_int_equal(engine_session_open(e, &no_model, NULL, &s, &err), ASSAY_ERR_ENGINE);
    assert_string_equal(err.message, "No.");
    assert_null(s);
    engine_close(e);
}

static void null_shows_memory_outputs_and_messages(void **state)
{
    static const engine_memory memory[] = {{.in_use = 1}, {.in_use = 5}, {.in_use = 3}};
    static const char *const messages[] = {"one\n", "two", "one\n", NULL};
    static const engine_io out = {.name = "y", .is_tensor = true, .dtype = IR_UINT8, .rank = -1};
    static uint8_t bytes[] = {7, 8};
    const engine_tensor data = {IR_UINT8, 1, DIMS(2), bytes, 2};
    const engine_script script = {.memory = memory,
                                  .n_memory = 3,
                                  .messages = messages,
                                  .outputs = &out,
                                  .n_outputs = 1,
                                  .output_data = &data};
    opened o = open_null(&script);
    engine_memory m;
    engine_message text;
    engine_tensor t;
    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        assert_true(engine_session_memory(o.s, &m));
        assert_int_equal(m.in_use, memory[i < 3 ? i : 2].in_use);
        assert_int_equal(engine_job_output(o.j, 0, &t, NULL), i ? ASSAY_OK : ASSAY_ERR_ENGINE);
        engine_job_run(o.j, NULL);
    }
    assert_int_equal(((uint8_t *)t.data)[1], 8);
    assert_int_equal(engine_job_output(o.j, 1, &t, NULL), ASSAY_ERR_USAGE);
    engine_job_drop(o.j);
    assert_int_equal(engine_job_output(o.j, 0, &t, NULL), ASSAY_ERR_ENGINE);
    assert_true(engine_session_message(o.s, 1, &text));
    assert_string_equal(text.text, "two");
    assert_true(engine_session_message(o.s, 0, &text));
    assert_string_equal(text.text, "one");
    assert_false(engine_session_message(o.s, 2, &text));
    close_all(o);
}

static void messages_are_bounded(void **state)
{
    static char texts[ENGINE_MESSAGES_MAX + 10][8];
    const char *list[ENGINE_MESSAGES_MAX + 11] = {0};
    engine_message m;
    (void)state;
    for (int i = 0; i < ENGINE_MESSAGES_MAX + 10; i++) {
        snprintf(texts[i], sizeof texts[i], "m%d", i);
        list[i] = texts[i];
    }
    const engine_script script = {.messages = list};
    opened o = open_null(&script);
    assert_true(engine_session_message(o.s, ENGINE_MESSAGES_MAX - 1, &m));
    assert_false(engine_session_message(o.s, ENGINE_MESSAGES_MAX, &m));
    assert_int_equal(engine_session_messages_dropped(o.s), 10);
    close_all(o);
}

static assay_status try_job(const engine_script *script, engine_tensor t, assay_error *err)
{
    engine_config config = {.script = script};
    engine *e;
    engine_session *s;
    engine_job *j;
    *err = (assay_error){0};
    assert_int_equal(engine_open("null", &config, &e, err), ASSAY_OK);
    assert_int_equal(engine_session_open(e, &no_model, NULL, &s, err), ASSAY_OK);
    assay_status status = engine_job_open(s, &t, 1, &j, err);
    engine_job_close(j);
    engine_session_close(s);
    engine_close(e);
    return status;
}

static void inputs_are_checked(void **state)
{
    const int64_t want[] = {-1, 3};
    engine_io in = {.name = "x", .is_tensor = true, .dtype = IR_FLOAT32, .rank = 2, .dims = want};
    engine_script script = {.inputs = &in, .n_inputs = 1};
    float data[64] = {0};
    assay_error err;
    (void)state;
    engine_tensor good = {IR_FLOAT32, 2, DIMS(2, 3), data, 24}, t;
    assert_int_equal(try_job(&script, good, &err), ASSAY_OK);
    t = good, t.dtype = IR_INT32;
    assert_int_equal(try_job(&script, t, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "int32"));
    t = good, t.dims = DIMS(2, 4), t.size_bytes = 32;
    assert_int_equal(try_job(&script, t, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "Dimension 1 of the input 'x' is 4"));
    t = good, t.rank = 1;
    assert_int_equal(try_job(&script, t, &err), ASSAY_ERR_UNSUPPORTED);
    t = good, t.size_bytes = 23;
    assert_int_equal(try_job(&script, t, &err), ASSAY_ERR_UNSUPPORTED);
    t = good, t.dims = DIMS(INT64_MAX, 3);
    assert_int_equal(try_job(&script, t, &err), ASSAY_ERR_UNSUPPORTED);
    t = good, t.data = NULL;
    assert_int_equal(try_job(&script, t, &err), ASSAY_ERR_UNSUPPORTED);
    in.dtype = IR_STRING;
    assert_int_equal(try_job(&script, good, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "strings"));
    in.is_tensor = false;
    assert_int_equal(try_job(&script, good, &err), ASSAY_ERR_UNSUPPORTED);
}

static void options_are_checked(void **state)
{
    engine *e;
    engine_session *s;
    engine_options o = ENGINE_OPTIONS;
    (void)state;
    assert_int_equal(engine_open("null", NULL, &e, NULL), ASSAY_OK);
    o.threads = -1;
    assert_int_equal(engine_session_open(e, &no_model, &o, &s, NULL), ASSAY_ERR_USAGE);
    o = ENGINE_OPTIONS, o.opt_level = 7;
    assert_int_equal(engine_session_open(e, &no_model, &o, &s, NULL), ASSAY_ERR_USAGE);
    o = ENGINE_OPTIONS, o.n_dims = 1, o.dims = &(engine_dim_value){"n", -2};
    assert_int_equal(engine_session_open(e, &no_model, &o, &s, NULL), ASSAY_ERR_USAGE);
    engine_close(e);
}

/* ---- libraries that will not do --------------------------------------------------------------- */

static void refuse_library(const char *path, const char *says)
{
    engine_config config = {.library = path};
    assay_error err = {0};
    engine *e;
    assert_int_equal(engine_open("ort", &config, &e, &err), ASSAY_ERR_ENGINE);
    assert_null(e);
    if (!strstr(err.message, says) || !strstr(err.message, "--engine-lib"))
        fail_msg("\"%s\" does not say \"%s\"", err.message, says);
}

static void wrong_libraries_are_named(void **state)
{
    char path[] = "/tmp/assay_engine_XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "no library\n", 11), 11);
    close(fd);
    refuse_library(path, "cannot be used as ONNX Runtime");
    unlink(path);
    refuse_library(path, "there is no such file");
    refuse_library("/tmp", "it is no file");
    refuse_library("libm.so.6", "there is no such file");
    char *kept = getenv("ASSAY_ORT_LIB");
    kept = kept ? strdup(kept) : NULL;
    setenv("ASSAY_ORT_LIB", "/nonexistent/libonnxruntime.so", 1);
    refuse_library(NULL, "/nonexistent/libonnxruntime.so");
    if (kept)
        setenv("ASSAY_ORT_LIB", kept, 1);
    else
        unsetenv("ASSAY_ORT_LIB");
    free(kept);
}

static void another_library_is_no_runtime(void **state)
{
    static const char *const paths[] = {"/lib/x86_64-linux-gnu/libm.so.6",
                                        "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], R_OK) == 0) {
            refuse_library(paths[i], "OrtGetApiBase");
            return;
        }
    skip();
}

/* ---- ONNX Runtime ---------------------------------------------------------------------------- */

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

#define ORT_OR_SKIP(e)      \
    engine *e = open_ort(); \
    (void)state;            \
    if (!e)                 \
        skip();

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
    assert_true(engine_provider_list(e).n > 0);
    assert_true(engine_device_list(e).n > 0);
    assert_int_equal(engine_device_list(e).items[0].kind, ENGINE_CPU);
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

static void ort_refusals_are_sentences(void **state)
{
    ORT_OR_SKIP(e);
    assay_error err = {0};
    engine_session *s;
    engine_model broken = {.bytes = "not a model", .n_bytes = 11};
    assert_int_equal(engine_session_open(e, &broken, NULL, &s, &err), ASSAY_ERR_ENGINE);
    assert_non_null(strstr(err.message, "ONNX Runtime refuses the model: "));
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
        assert_non_null(strstr(info->fallback_why, "and not on 'cuda:0'"));
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

/* ---- traces ---------------------------------------------------------------------------------- */

static const char nested[] =
    "[\n{\"cat\" : \"Session\",\"tid\" :1,\"dur\" :40,\"ts\" :1,\"name\" :\"session_initialization\",\"args\" : {}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":5,\"ts\":110,\"ph\":\"X\",\"name\":\"inner_kernel_time\",\"args\":{\"op_name\":\"Add\","
    "\"node_index\":\"0\",\"output_size\":\"8\",\"parameter_size\":\"4\",\"activation_size\":\"12\",\"provider\":\"CPU\","
    "\"mem_bytes_in_use\":\"1\",\"mem_bytes_requested_in_use\":\"2\",\"mem_in_use_peak\":\"3\",\"mem_arena_held\":\"4\","
    "\"output_type_shape\":[{\"float\":[2]},{\"int64\":[]}],\"extra\":{\"a\":[1,{\"b\":null}],\"c\":-1.5e3}}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":5,\"ts\":120,\"name\":\"inner_kernel_time\",\"args\":{\"op_name\":\"Add\",\"node_index\":\"0\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":40,\"ts\":105,\"name\":\"l\\u00f6op_kernel_time\",\"args\":{\"op_name\":\"Loop\",\"node_index\":\"0\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":1,\"ts\":150,\"name\":\"x_fence_after\",\"args\":{\"op_name\":\"Loop\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":0,\"ts\":151,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":0,\"ts\":151,\"name\":\"b_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"2\"}},\n"
    "{\"cat\":\"Kernel\",\"tid\":0,\"dur\":3,\"ts\":152,\"name\":\"relu_kernel\",\"args\":{\"op_name\":\"Relu\"}},\n"
    "{\"cat\":\"Session\",\"tid\":1,\"dur\":60,\"ts\":100,\"name\":\"model_run\",\"args\":{}},\n"
    "{\"cat\":\"Node\",\"tid\":2,\"dur\":9,\"ts\":300,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":4,\"ts\":301,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}},\n"
    "{\"cat\":\"Session\",\"tid\":1,\"dur\":20,\"ts\":290,\"name\":\"model_run\",\"args\":{}},\n"
    "{\"cat\":\"Session\",\"tid\":2,\"dur\":30,\"ts\":291,\"name\":\"model_run\",\"args\":{}},\n"
    "{\"cat\":\"Node\",\"tid\":1,\"dur\":4,\"ts\":400,\"name\":\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"1\"}}\n]\n";

static void traces_nest_by_time(void **state)
{
    static const struct {
        uint32_t run, parent;
        uint64_t start;
    } want[] = {{0, TRACE_NONE, 105}, {0, 0, 110},
                {0, 0, 120},          {0, TRACE_NONE, 151},
                {0, TRACE_NONE, 151}, {1, TRACE_NONE, 301},
                {2, TRACE_NONE, 300}, {TRACE_NONE, TRACE_NONE, 400}};
    arena *a = arena_new(1 << 22);
    trace t;
    (void)state;
    assert_int_equal(trace_parse(STR(nested), a, &t, NULL), ASSAY_OK);
    assert_int_equal(t.session_us, 40);
    assert_int_equal(t.n_events, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(t.events[i].run, want[i].run);
        assert_int_equal(t.events[i].parent, want[i].parent);
        assert_int_equal(t.events[i].start_us, want[i].start);
    }
    assert_int_equal(t.n_nodes, 4);
    assert_true(str_is(t.nodes[t.events[0].node].name, "l\xc3\xb6op"));
    assert_int_equal(t.n_runs, 3);
    assert_int_equal(t.runs[0].n, 5);
    assert_int_equal(t.runs[1].first, 5);
    assert_int_equal(t.runs[1].dur_us, 20);
    const trace_event *inner = &t.events[1];
    assert_int_equal(inner->output_bytes + inner->weight_bytes + inner->input_bytes, 24);
    assert_int_equal(inner->mem_in_use, 1);
    assert_int_equal(inner->mem_held, 4);
    const trace_node *node = &t.nodes[inner->node];
    assert_int_equal(node->n_outputs, 2);
    assert_int_equal(node->outputs[0].rank, 1);
    assert_int_equal(node->outputs[1].rank, 0);
    assert_true(str_is(node->outputs[1].type, "int64"));
    assert_int_equal(t.n_kernels, 1);
    assert_true(str_is(t.nodes[t.kernels[0].node].name, "b"));
    arena_free(a);
}

/* Any cut or changed byte gives an answer or a sentence, never more. */
static void broken_traces_are_refused(void **state)
{
    static const char *const bad[] = {"",        "{}",        "[",
                                      "[1,]x",   "[{\"a\"}]", "[{\"a\":}]",
                                      "[{]}",    "[\"\\q\"]", "[\"\\u12g4\"]",
                                      "[{} {}]", "[] []",     "nonsense"};
    size_t n = sizeof nested - 1;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        arena *a = arena_new(1 << 20);
        assay_error err = {0};
        trace t;
        if (trace_parse(str_of(bad[i]), a, &t, &err) != ASSAY_ERR_ENGINE)
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(t.n_events, 0);
        arena_free(a);
    }
    for (size_t i = 0; i < n - 2; i += 7) {
        arena *a = arena_new(1 << 22);
        trace t;
        assert_int_equal(trace_parse((str){nested, (uint32_t)i}, a, &t, NULL), ASSAY_ERR_ENGINE);
        char *copy = malloc(n);
        memcpy(copy, nested, n);
        copy[i] = "[]{}\",:0x"[i % 9];
        trace_parse((str){copy, (uint32_t)n}, a, &t, NULL);
        free(copy);
        arena_free(a);
    }
}

static void deep_traces_do_not_overflow(void **state)
{
    size_t n = 1 << 20;
    char *text = malloc(n);
    arena *a = arena_new(1 << 20);
    trace t;
    (void)state;
    memset(text, '[', n);
    assert_int_equal(trace_parse((str){text, (uint32_t)n}, a, &t, NULL), ASSAY_ERR_ENGINE);
    assert_int_equal(trace_read("/nonexistent/trace.json", a, &t, NULL), ASSAY_ERR_SYSTEM);
    arena_free(a);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(null_clock_follows_the_script),
        cmocka_unit_test(null_takes_durations_from_a_function),
        cmocka_unit_test(null_fails_when_told),
        cmocka_unit_test(null_session_may_fail),
        cmocka_unit_test(null_shows_memory_outputs_and_messages),
        cmocka_unit_test(messages_are_bounded),
        cmocka_unit_test(inputs_are_checked),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(wrong_libraries_are_named),
        cmocka_unit_test(another_library_is_no_runtime),
        cmocka_unit_test(ort_says_what_it_is),
        cmocka_unit_test(ort_runs_on_our_memory),
        cmocka_unit_test(ort_takes_empty_tensors),
        cmocka_unit_test(ort_fixes_dimensions_and_takes_options),
        cmocka_unit_test(ort_refusals_are_sentences),
        cmocka_unit_test(ort_run_failures_are_sentences),
        cmocka_unit_test(ort_devices_fall_back),
        cmocka_unit_test(ort_messages_become_ours),
        cmocka_unit_test(ort_tells_its_memory),
        cmocka_unit_test(ort_uses_weights_in_place),
        cmocka_unit_test(ort_jobs_run_side_by_side),
        cmocka_unit_test(ort_engines_may_overlap),
        cmocka_unit_test(ort_profiles_are_read),
        cmocka_unit_test(ort_without_profiling_has_none),
        cmocka_unit_test(traces_nest_by_time),
        cmocka_unit_test(broken_traces_are_refused),
        cmocka_unit_test(deep_traces_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
