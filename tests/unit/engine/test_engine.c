/* Engines: the rows, the null engine's script to the letter, the checks that all engines share, and
 * libraries that are missing or no runtime.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "engine/generate.h"
#include "engine/null.h"
#include "support/skip.h"

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
    assert_non_null(strstr(err.message, "ort"));
    engine_close(NULL);
    engine_session_close(NULL);
    engine_job_close(NULL);
}

/* Engines of graphs have no tokens; a library that is no llama.cpp is named. */
static void tokens_need_an_engine(void **state)
{
    const generate_request q = {.model = "x.gguf", .prompt = 1, .batch = 1};
    const engine_config config = {.library = "/nowhere/libllama.so"};
    generate_answer out;
    assay_error err = {0};
    engine *e;
    arena *a = arena_new(1 << 16);
    (void)state;
    assert_int_equal(engine_open("null", NULL, &e, &err), ASSAY_OK);
    assert_int_equal(engine_generate(e, &q, a, &out, &err), ASSAY_ERR_UNSUPPORTED);
    engine_close(e);
    err = (assay_error){0};
    assert_int_equal(engine_open("llama", &config, &e, &err), ASSAY_ERR_ENGINE);
    assert_null(e);
    assert_non_null(strstr(err.message, "ASSAY_LLAMA_LIB"));
    arena_free(a);
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
    static char texts[ENGINE_MESSAGES_MAX + 10][16];
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
    assert_non_null(strstr(err.message, "'x'"));
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
    assert_non_null(strstr(err.message, "string"));
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

static void refuse_library(const char *path, const char *shown)
{
    engine_config config = {.library = path};
    assay_error err = {0};
    engine *e;
    assert_int_equal(engine_open("ort", &config, &e, &err), ASSAY_ERR_ENGINE);
    assert_null(e);
    if (!strstr(err.message, shown) || !strstr(err.message, "--engine-lib"))
        fail_msg("\"%s\" is not in \"%s\"", shown, err.message);
}

static void wrong_libraries_are_named(void **state)
{
    char path[] = "/tmp/assay_engine_XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "no library\n", 11), 11);
    close(fd);
    refuse_library(path, path);
    unlink(path);
    refuse_library(path, path);
    refuse_library("/tmp", "/tmp");
    refuse_library("libm.so.6", "libm.so.6");
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
    SKIP_BECAUSE("no other library at its usual place");
}

int run_test_engine(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(tokens_need_an_engine),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
