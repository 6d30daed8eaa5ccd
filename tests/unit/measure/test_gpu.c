/* The GPU monitor against a stand-in library (tests/support/fake_nvml.c), which a real one takes the place of. */
#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/gpu_monitor.h"
#include "engine/null.h"
#include "measure/gpu_events.h"
#include "measure/measure.h"

static void test_readings(void **state)
{
    gpu_monitor *m;
    gpu_reading r;
    assay_error err = {0};
    (void)state;
    assert_int_equal(gpu_monitor_open(0, &m, &err), ASSAY_OK);
    assert_string_equal(gpu_monitor_name(m), "Stand-in GPU");
    assert_string_equal(gpu_monitor_driver(m), "535.1");
    assert_int_equal(gpu_monitor_count(m), 1);
    assert_true(gpu_ranges_shown(m));
    gpu_monitor_read(m, &r);
    assert_float_equal(r.utilisation_percent, 40, 0);
    assert_float_equal(r.memory_percent, 10, 0);
    assert_float_equal(r.power_w, 100, 1e-9);
    assert_float_equal(r.temperature_c, 55, 0);
    assert_int_equal(r.memory_total, 8ull << 30);
    assert_int_equal(r.memory_used, (1ull << 30) + 1);
    assert_int_equal(r.memory_process, 123456);
    gpu_monitor_close(m);
}

static void refused(uint32_t index)
{
    gpu_monitor *m;
    assay_error err = {0};
    assert_int_equal(gpu_monitor_open(index, &m, &err), ASSAY_ERR_ENGINE);
    assert_null(m);
    assert_non_null(strstr(err.message, "GPU"));
}

static void test_refusals(void **state)
{
    (void)state;
    refused(1);
    setenv("FAKE_NVML", "none", 1);
    refused(0);
    setenv("FAKE_NVML", "broken", 1);
    refused(0);
    unsetenv("FAKE_NVML");
    setenv("ASSAY_NVML_LIB", "/nowhere/libnvidia-ml.so.1", 1);
    refused(0);
    setenv("ASSAY_NVML_LIB", FAKE_NVML, 1);
}

/* A whole configuration on the null engine: the watching thread sees the GPU, and ranges are marked. */
static void test_measured(void **state)
{
    static const int64_t dims[] = {1};
    static const engine_io io = {
        .name = "x", .is_tensor = true, .dtype = IR_FLOAT32, .rank = 1, .dims = dims};
    const uint64_t run_ns = 1000000;
    const engine_script script = {.run_ns = &run_ns, .n_run_ns = 1, .inputs = &io, .n_inputs = 1};
    const engine_config config = {.script = &script};
    const input_want want = {.name = STR("x"), .dtype = IR_FLOAT32, .rank = 1, .dims = dims};
    measure_request q = {
        .wants = &want, .n_wants = 1, .warmup = {.min_runs = 1}, .rule = {.runs = 5}};
    arena *a = arena_new(1 << 22);
    gpu_monitor *gpu;
    profile_config out = {0};
    assay_error err = {0};
    unsigned (*ranges)(void);
    (void)state;
    q.options = ENGINE_OPTIONS;
    q.model.bytes = "x";
    q.model.n_bytes = 1;
    assert_int_equal(gpu_monitor_open(0, &gpu, &err), ASSAY_OK);
    assert_int_equal(engine_open("null", &config, &q.engine, &err), ASSAY_OK);
    q.gpu = gpu;
    if (measure_config(&q, a, &out, NULL, NULL, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    void *library = dlopen(FAKE_NVML, RTLD_NOW | RTLD_NOLOAD), *symbol;
    assert_non_null(library);
    symbol = dlsym(library, "fake_nvtx_ranges");
    memcpy(&ranges, &symbol, sizeof ranges);
    assert_int_equal(ranges(), 3); /* session, warm-up, runs; all closed */
    gpu_ranges_off(gpu);
    assert_false(gpu_ranges_shown(gpu));
    gpu_range_push(gpu, "not marked");
    gpu_range_pop(gpu);
    assert_int_equal(ranges(), 3);
    dlclose(library);
    engine_close(q.engine);
    gpu_monitor_close(gpu);
    arena_free(a);
}

static void test_watched(void **state)
{
    gpu_monitor *gpu;
    watch *w;
    profile_gpu_use use = {0};
    assay_error err = {0};
    (void)state;
    assert_int_equal(gpu_monitor_open(0, &gpu, &err), ASSAY_OK);
    assert_int_equal(watch_start(&(watch_options){.gpu = gpu}, &w, &err), ASSAY_OK);
    while (!(use.percent_max >= 60)) { /* NaN at first; the second look tells 60 */
        sched_yield();
        watch_gpu(w, &use);
    }
    assert_float_equal(use.percent_max, 60, 0);
    assert_true(use.percent >= 40 && use.percent <= 60);
    assert_true(use.power_w >= 100 && use.power_max_w == 200);
    assert_float_equal(use.temperature_max_c, 55, 0);
    assert_true(use.memory_peak > 1ull << 30);
    assert_int_equal(use.process_peak, 123456);
    watch_gpu_clear(w);
    watch_free(w);
    gpu_monitor_close(gpu);
}

/* By name, per run, without the warm-up; copies are told by their name or by the engine's node. */
static void test_events(void **state)
{
    static const trace_node nodes[] = {{.op = STR("MemcpyToHost")}, {.op = STR("Gemm")}};
    static const trace_run runs[] = {{.start_us = 0}, {.start_us = 1000}, {.start_us = 2000}};
    static const trace_kernel kernels[] = {{STR("gemm"), 1, 10, 9000}, /* in the warm-up */
                                           {STR("gemm"), 1, 1000, 300},
                                           {STR("[CUDA memcpy HtoD]"), TRACE_NONE, 1400, 40},
                                           {STR("gemm"), 1, 2010, 500}};
    static const trace_event events[] = {
        {.node = 0, .run = 0, .dur_us = 7000},
        {.node = 0, .run = 1, .dur_us = 20},
        {.node = 1, .run = 1, .dur_us = 900}, /* no copy: a layer's time */
        {.node = 0, .run = TRACE_NONE, .dur_us = 800},
        {.node = 0, .run = 2, .dur_us = 60}};
    const trace t = {.nodes = nodes,
                     .events = events,
                     .runs = runs,
                     .kernels = kernels,
                     .n_nodes = 2,
                     .n_events = 5,
                     .n_runs = 3,
                     .n_kernels = 4};
    arena *a = arena_new(1 << 20);
    profile_gpu g = {0};
    (void)state;
    gpu_events_sum(&t, 3, a, a, GPU_ALL, &g); /* nothing but warm-up */
    assert_int_equal(g.n_events, 0);
    gpu_events_sum(&t, 1, a, a, GPU_NONE, &g);
    assert_int_equal(g.n_events, 0);
    gpu_events_sum(&t, 1, a, a, GPU_KERNELS, &g);
    assert_int_equal(g.n_events, 1);
    assert_true(str_is(g.events[0].name, "gemm"));
    gpu_events_sum(&t, 1, a, a, GPU_COPIES, &g);
    assert_int_equal(g.n_events, 2);
    assert_true(g.events[0].copy && g.events[1].copy);
    gpu_events_sum(&t, 1, a, a, GPU_ALL, &g);
    assert_int_equal(g.n_events, 3);
    assert_true(str_is(g.events[0].name, "gemm") && !g.events[0].copy && g.events[0].count == 2);
    assert_float_equal(g.events[0].time_ms, 0.4, 1e-12);
    assert_true(g.events[1].copy && g.events[1].count == 1);
    assert_float_equal(g.events[1].time_ms, 0.02, 1e-12);
    assert_true(str_is(g.events[2].name, "MemcpyToHost") && g.events[2].copy);
    assert_int_equal(g.events[2].count, 2);
    assert_float_equal(g.events[2].time_ms, 0.04, 1e-12);
    arena_free(a);
}

int run_test_gpu(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readings), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_watched),  cmocka_unit_test(test_events),
        cmocka_unit_test(test_measured),
    };
    setenv("ASSAY_NVML_LIB", FAKE_NVML, 1);
    setenv("ASSAY_NVTX_LIB", FAKE_NVML, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
