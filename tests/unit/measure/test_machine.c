/* The machine: what fake systems say of themselves, ceilings by a scripted clock, and the file. */
#include <inttypes.h>
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

#include "device/isa.h"
#include "device/machine.h"
#include "measure/ceilings.h"

/* ---- systems that are not there ---- */

typedef struct fake_file {
    const char *path, *text;
} fake_file;

#define CPU "/sys/devices/system/cpu/"

static void put_file(const char *root, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static char *make_root(const fake_file *files, size_t n)
{
    char *root = strdup("/tmp/assay-root-XXXXXX");
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < n; i++)
        put_file(root, files[i].path, files[i].text);
    return root;
}

static void drop_root(char *root)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
    free(root);
}

/* Two sockets of two cores with two threads each; L3 per socket. */
static void put_x86_cpu(const char *root, int cpu)
{
    char path[200], text[64];
    int core = cpu % 4, socket = core / 2;
    const struct {
        const char *file, *fmt;
        int a, b;
    } rows[] = {
        {"topology/physical_package_id", "%d\n", socket, 0},
        {"topology/thread_siblings_list", "%d,%d\n", core, core + 4},
        {"cache/index0/shared_cpu_list", "%d,%d\n", core, core + 4},
        {"cache/index1/shared_cpu_list", "%d,%d\n", core, core + 4},
        {"cache/index2/shared_cpu_list", "%d-%d\n", socket * 2, socket * 2 + 1},
    };
    static const char *const caches[][2] = {
        {"cache/index0/level", "1\n"},
        {"cache/index0/type", "Data\n"},
        {"cache/index0/size", "48K\n"},
        {"cache/index0/coherency_line_size", "64\n"},
        {"cache/index0/ways_of_associativity", "12\n"},
        {"cache/index1/level", "2\n"},
        {"cache/index1/type", "Unified\n"},
        {"cache/index1/size", "2048K\n"},
        {"cache/index2/level", "3\n"},
        {"cache/index2/type", "Unified\n"},
        {"cache/index2/size", "30M\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(path, sizeof path, CPU "cpu%d/%s", cpu, rows[i].file);
        snprintf(text, sizeof text, rows[i].fmt, rows[i].a, rows[i].b);
        put_file(root, path, text);
    }
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        snprintf(path, sizeof path, CPU "cpu%d/%s", cpu, caches[i][0]);
        put_file(root, path, caches[i][1]);
    }
}

static void test_x86(void **state)
{
    (void)state;
    static const fake_file files[] = {
        {CPU "online", "0-7\n"},
        {"/sys/devices/system/node/online", "0-1\n"},
        {"/proc/cpuinfo",
         "processor\t: 0\nmodel name\t: Fake Xeon\x1b[31m Gold\ncpu MHz\t\t: 2100.5\n"
         "flags\t\t: fpu sse2 hypervisor avx2\n"},
        {"/proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0\n"},
        {"/proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 5 kB\n"},
        {"/proc/sys/kernel/hostname", "box\n"},
        {CPU "cpu0/cpufreq/scaling_cur_freq", "2900000\n"},
        {CPU "cpu0/cpufreq/cpuinfo_max_freq", "3800000\n"},
        {CPU "cpu0/cpufreq/scaling_governor", "powersave\n"},
        {"/sys/fs/cgroup/cpu.max", "150000 100000\n"},
        {"/.dockerenv", ""},
    };
    topology t;
    char *root = make_root(files, sizeof files / sizeof *files);
    for (int cpu = 0; cpu < 8; cpu++)
        put_x86_cpu(root, cpu);
    topology_read(root, &t);
    assert_string_equal(t.cpu, "Fake Xeon.[31m Gold");
    assert_int_equal(t.cpus, 8);
    assert_int_equal(t.sockets, 2);
    assert_int_equal(t.cores, 4);
    assert_int_equal(t.threads_per_core, 2);
    assert_int_equal(t.numa_nodes, 2);
    assert_int_equal(t.n_caches, 3);
    assert_int_equal(t.caches[0].instances, 4);
    assert_int_equal(t.caches[0].size_bytes, 48 * 1024);
    assert_int_equal(t.caches[0].ways, 12);
    assert_int_equal(topology_data_cache(&t, 3)->instances, 2);
    assert_int_equal(topology_data_cache(&t, 3)->size_bytes, 30 << 20);
    assert_null(topology_data_cache(&t, 4));
    assert_float_equal(t.mhz_now, 2900, 1e-9);
    assert_float_equal(t.mhz_max, 3800, 1e-9);
    assert_string_equal(t.governor, "powersave");
    assert_string_equal(t.hypervisor, "unnamed");
    assert_string_equal(t.container, "docker");
    assert_float_equal(t.quota_cpus, 1.5, 1e-9);
    assert_float_equal(t.steal_percent, 10, 1e-9);
    assert_int_equal(t.memory_bytes, 1u << 30);
    assert_string_equal(t.host, "box");
    assert_int_equal(t.n_not_reported, 0);
    drop_root(root);
}

static void test_arm64(void **state)
{
    (void)state;
    static const fake_file files[] = {
        {CPU "online", "0,2-3\n"},
        {"/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\n"
                          "CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n"},
        {"/proc/stat", "cpu  1 2 3 4 5 6 7 0\n"},
        {"/proc/device-tree/hypervisor/compatible", "linux,kvm"},
        {CPU "cpu0/topology/thread_siblings_list", "0\n"},
        {CPU "cpu2/topology/thread_siblings_list", "2\n"},
        {CPU "cpu3/topology/thread_siblings_list", "3\n"},
        {CPU "cpu0/cache/index0/level", "1\n"},
        {CPU "cpu0/cache/index0/type", "Data\n"},
        {CPU "cpu0/cache/index0/size", "64K\n"},
        {CPU "cpu2/cache/index0/level", "1\n"},
        {CPU "cpu2/cache/index0/type", "Data\n"},
        {CPU "cpu2/cache/index0/size", "128K\n"},
    };
    topology t;
    char *root = make_root(files, sizeof files / sizeof *files);
    topology_read(root, &t);
    assert_string_equal(t.cpu, "Arm Cortex-A76");
    assert_int_equal(t.cpus, 3);
    assert_int_equal(t.cores, 3);
    assert_int_equal(t.threads_per_core, 1);
    assert_int_equal(t.sockets, 0);
    assert_int_equal(t.n_caches, 1);
    assert_int_equal(t.caches[0].size_bytes, 128 * 1024); /* the big core's */
    assert_string_equal(t.hypervisor, "linux,kvm");
    assert_string_equal(t.container, "none");
    assert_true(isnan(t.mhz_now));
    assert_float_equal(t.steal_percent, 0, 1e-9);
    assert_string_equal(t.not_reported[0].what, "sockets");
    drop_root(root);
}

static void test_nothing_told(void **state)
{
    (void)state;
    topology t;
    char *root = make_root(NULL, 0);
    put_file(root, CPU "online", "7-3,zzz\n"); /* nonsense is not told either */
    topology_read(root, &t);
    assert_int_equal(t.cpus, 0);
    assert_int_equal(t.n_not_reported, 14);
    drop_root(root);
}

static void test_this_machine(void **state)
{
    (void)state;
    topology t;
    topology_read("", &t);
    assert_true(t.usable >= 1);
    assert_true(t.memory_bytes > 0);
#if defined(__x86_64__)
    assert_true(isa_here() & ISA_SSE2);
#endif
}

/* ---- a clock of our own ---- */

typedef struct script {
    double now_s, rate; /* work per second */
    uint32_t samples;
    uint32_t disturbed; /* every so many samples one takes ten times as long; 0: none */
    int stop_after;
} script;

static double scripted_sample(void *ctx, const ceiling_probe *p, uint64_t rounds)
{
    script *s = ctx;
    double t = p->work * (double)rounds / s->rate;
    if (++s->samples && s->disturbed && s->samples % s->disturbed == 0)
        t *= 10;
    s->now_s += t;
    return t;
}

static uint64_t scripted_now(void *ctx)
{
    return (uint64_t)(((script *)ctx)->now_s * 1e9);
}

static bool scripted_progress(void *ctx, const char *what, double done, double planned)
{
    (void)what, (void)done, (void)planned;
    script *s = ctx;
    return s->stop_after == 0 || (int)s->samples < s->stop_after;
}

static void test_sampling(void **state)
{
    (void)state;
    machine_figure one = {0}, two = {0};
    const ceiling_probe probes[] = {
        {.name = "one", .threads = 1, .work = 1000, .into = &one, .quantile = 0.9},
        {.name = "two", .threads = 1, .work = 64, .into = &two, .quantile = 1, .lead_rounds = 9}};
    script s = {.rate = 5e9, .disturbed = 7};
    const ceiling_clock clock = {&s, scripted_sample, scripted_now, scripted_progress};
    assay_error err = {0};
    assert_int_equal(ceilings_sample(probes, 2, 1.0, &clock, &err), ASSAY_OK);
    /* A disturbance in every seventh sample does not move the ceiling. */
    assert_float_equal(one.value, 5e9, 1);
    assert_float_equal(two.value, 5e9, 1);
    assert_true(one.low <= one.value && one.high >= one.value);
    assert_true(one.samples >= 50);
    assert_true(s.now_s > 0.9 && s.now_s < 1.5);
}

static void test_sampling_stops(void **state)
{
    (void)state;
    machine_figure f = {0};
    const ceiling_probe probe = {
        .name = "one", .threads = 1, .work = 1000, .into = &f, .quantile = 1};
    script s = {.rate = 5e9, .stop_after = 20};
    const ceiling_clock clock = {&s, scripted_sample, scripted_now, scripted_progress};
    assay_error err = {0};
    assert_int_equal(ceilings_sample(&probe, 1, 1e6, &clock, &err), ASSAY_ERR_INTERRUPTED);
    assert_true(f.samples == 0);
}

static void test_figure(void **state)
{
    (void)state;
    double x[100];
    for (int i = 0; i < 100; i++)
        x[i] = 100 - i;
    machine_figure f = ceilings_figure(x, 100, 0.9);
    assert_float_equal(f.value, 90.1, 1e-9);
    assert_true(f.low >= 84 && f.low <= 86);
    assert_true(f.high >= 96 && f.high <= 98);
    assert_float_equal(f.spread, 49.5 / 50.5, 1e-9);
    assert_true(ceilings_figure(x, 0, 0.9).samples == 0);
    /* An end that no sample passes lies from the best on, by its distance to the second. */
    x[99] = 100.5;
    f = ceilings_figure(x, 100, 1);
    assert_float_equal(f.value, 100.5, 1e-9);
    assert_float_equal(f.low, 100.5, 1e-9);
    assert_float_equal(f.high, 100.5 + 19 * 1.5, 1e-9);
    assert_float_equal(ceilings_figure(x, 1, 1).high, 1, 1e-9);
}

/* The loops run, count what they say, and several threads do so together. */
static void test_team(void **state)
{
    (void)state;
    ceiling_team *team = NULL;
    assay_error err = {0};
    assert_int_equal(ceiling_team_new(2, 1 << 20, 1 << 20, &team, &err), ASSAY_OK);
    unsigned isa = isa_here();
    const ceiling_fma_row *lists[] = {ceiling_fma_x86, ceiling_fma_arm, ceiling_fma_plain};
    for (int l = 0; l < 3; l++)
        for (const ceiling_fma_row *r = lists[l]; r->run; r++) {
            const ceiling_probe p = {.threads = 2, .kind = -1, .of = r};
            if ((isa & r->needs) == r->needs && !(r->needs & (ISA_AMX_BF16 | ISA_AMX_INT8)))
                assert_true(ceiling_team_sample(team, &p, 100000) > 0);
        }
    for (const ceiling_move_row *r = ceiling_moves; r->isa; r++)
        for (int i = 0; i < 8; i++) { /* each kind in one part and in sixteen */
            const ceiling_probe p = {.threads = 2,
                                     .kind = i / 2,
                                     .of = r,
                                     .array_bytes = 1 << 18,
                                     .part_bytes = i % 2 ? 1 << 14 : 1 << 18};
            if ((isa & r->needs) == r->needs)
                assert_true(ceiling_team_sample(team, &p, 100) > 0);
        }
    const ceiling_probe many = {.threads = 3, .kind = -1, .of = ceiling_fma_plain};
    assert_true(ceiling_team_sample(team, &many, 1) <= 0);
    ceiling_team_free(team);
}

/* Arithmetic of the moves, so that a loop that skips a part is found out. */
static void test_moves(void **state)
{
    (void)state;
    enum { N = CEILING_BLOCK * 3 };
    _Alignas(64) static float a[N / 4], b[N / 4], c[N / 4];
    char sink[64];
    unsigned isa = isa_here();
    for (const ceiling_move_row *r = ceiling_moves; r->isa; r++) {
        if ((isa & r->needs) != r->needs)
            continue;
        const ceiling_arrays x = {a, b, c, N};
        for (int i = 0; i < N / 4; i++)
            a[i] = -1, b[i] = (float)i, c[i] = 1;
        r->triad(&x, 1, sink);
        for (int i = 0; i < N / 4; i++)
            assert_true(a[i] == (float)i + 3);
        r->copy(&x, 1, sink);
        assert_memory_equal(a, b, N);
        r->write(&x, 1, sink);
        for (int i = 0; i < N / 4; i++)
            assert_true(a[i] == 1.0f || a[i] == 0.0f);
    }
}

/* ---- the file ---- */

static void fill(machine *m)
{
    memset(m, 0, sizeof *m);
    snprintf(m->timestamp, sizeof m->timestamp, "2026-01-01T00:00:00Z");
    snprintf(m->where.cpu, sizeof m->where.cpu, "Fake \"CPU\"");
    m->where.usable = 4;
    m->where.memory_bytes = (uint64_t)8 << 30;
    m->where.mhz_max = NAN;
    m->steal_percent = NAN;
    m->n_rates = 3;
    m->rates[0] = (machine_rate){"float32", "sse2", 1, {50e9, 49e9, 51e9, 0.01, 90}};
    m->rates[1] = (machine_rate){"float32", "avx2+fma", 1, {100e9, 99e9, 101e9, 0.01, 90}};
    m->rates[2] = (machine_rate){"float32", "avx2+fma", 4, {380e9, 370e9, 390e9, 0.01, 90}};
    m->n_flows = 2;
    m->flows[0] = (machine_flow){"DRAM", "read", 1, 1 << 26, {10e9, 9e9, 11e9, 0.02, 30}};
    m->flows[1] = (machine_flow){"DRAM", "read", 4, 1 << 24, {20e9, 19e9, 21e9, 0.02, 30}};
    m->n_curve = 1;
    m->curve[0] = (machine_point){4096, 1e11, 2e11};
    m->dispatch.present = true;
    m->dispatch.seconds.value = 7e-7;
    m->n_isas = 1;
    snprintf(m->isas[0].name, sizeof m->isas[0].name, "sse2");
}

static void test_round_trip(void **state)
{
    (void)state;
    arena *a = arena_new(1 << 20);
    machine *m = calloc(1, sizeof *m), *back = calloc(1, sizeof *back);
    sbuf one = {0}, two = {0};
    assay_error err = {0};
    fill(m);
    result_write(&machine_kind, m, 2, &one);
    const str text = {one.p, (uint32_t)one.n};
    assert_true(result_is(&machine_kind, text));
    assert_int_equal(result_read_as(&machine_kind, text, "x", a, back, &err), ASSAY_OK);
    result_write(&machine_kind, back, 2, &two);
    assert_string_equal(sbuf_cstr(&one), sbuf_cstr(&two));
    assert_true(isnan(back->where.mhz_max) && isnan(back->steal_percent));
    assert_int_equal(back->n_rates, 3);
    /* Cut anywhere it is refused, with a sentence. */
    for (uint32_t n = 0; n + 2 < text.n; n += 7) {
        err = (assay_error){0};
        assert_int_equal(result_read_as(&machine_kind, (str){text.p, n}, "x", a, back, &err),
                         ASSAY_ERR_MALFORMED);
        assert_true(strlen(err.message) > 10);
    }
    sbuf_free(&one);
    sbuf_free(&two);
    free(m);
    free(back);
    arena_free(a);
}

static void test_bad_files(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"schema\": \"assay.profile/1\"}",
        "{\"schema\": \"assay.machine/1\", \"seconds\": -3}",
        "{\"schema\": \"assay.machine/1\", \"seconds\": \"x\"}",
        "{\"schema\": \"assay.machine/1\", \"compute\": [3]}",
        "{\"schema\": \"assay.machine/1\", \"compute\": [{\"threads\": 99999999999}]}",
    };
    arena *a = arena_new(1 << 20);
    machine *m = calloc(1, sizeof *m);
    assert_int_equal(
        result_read_as(&machine_kind, STR("{\"schema\": \"assay.machine/2\"}"), "x", a, m, NULL),
        ASSAY_ERR_UNSUPPORTED);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_error err = {0};
        assert_int_equal(result_read_as(&machine_kind, str_of(bad[i]), "x", a, m, &err),
                         ASSAY_ERR_MALFORMED);
    }
    free(m);
    arena_free(a);
}

static void test_ceilings(void **state)
{
    (void)state;
    machine *m = calloc(1, sizeof *m);
    arena *a = arena_new(1 << 20);
    device d;
    assay_error err = {0};
    fill(m);
    assert_float_equal(machine_peak(m, STR("float32"), 1), 100e9, 1);
    assert_float_equal(machine_peak(m, STR("float32"), 3), 100e9, 1);
    assert_float_equal(machine_peak(m, STR("float32"), 64), 380e9, 1);
    assert_float_equal(machine_peak(m, STR("float16"), 64), 0, 0);
    assert_float_equal(machine_bandwidth(m, "DRAM", "read", 1), 10e9, 1);
    assert_float_equal(machine_bandwidth(m, "L1", NULL, 1), 0, 0);
    assert_float_equal(machine_roof(m, STR("float32"), 4, 1), 20e9, 1);
    assert_float_equal(machine_roof(m, STR("float32"), 4, 1000), 380e9, 1);
    assert_int_equal(machine_device(m, a, &d, &err), ASSAY_OK);
    assert_float_equal(d.peak[DEVICE_FP32], 380e9, 1);
    assert_float_equal(d.peak[DEVICE_FP16], 0, 0);
    assert_float_equal(d.fp16_acc16, 0, 0);
    assert_float_equal(d.bandwidth, 20e9, 1);
    assert_float_equal(d.overhead_s, 7e-7, 1e-12);
    /* fp16 instructions accumulate in fp16: that is not the peak with fp32 accumulation */
    m->rates[m->n_rates] = m->rates[0];
    snprintf(m->rates[m->n_rates].dtype, sizeof m->rates[0].dtype, "float16");
    m->rates[m->n_rates].threads = 4;
    m->rates[m->n_rates++].ops.value = 700e9;
    assert_int_equal(machine_device(m, a, &d, &err), ASSAY_OK);
    assert_float_equal(d.fp16_acc16, 700e9, 1);
    assert_float_equal(d.peak[DEVICE_FP16], 380e9, 1);
    m->n_flows = 0;
    assert_int_equal(machine_device(m, a, &d, &err), ASSAY_ERR_MALFORMED);
    arena_free(a);
    free(m);
}

static void test_kept(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-machine-XXXXXX", path[200];
    machine *m = calloc(1, sizeof *m), *back = NULL;
    arena *a = arena_new(1 << 22);
    assay_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/deep/er/x.json", folder);
    setenv("ASSAY_MACHINE", path, 1);
    assert_int_equal(machine_this(a, &back, &err), ASSAY_ERR_SYSTEM);
    assert_non_null(strstr(err.message, "machine"));
    fill(m);
    err = (assay_error){0};
    assert_int_equal(machine_save(m, machine_path(a), &err), ASSAY_OK);
    assert_int_equal(machine_this(a, &back, &err), ASSAY_OK);
    assert_string_equal(back->where.cpu, "Fake \"CPU\"");
    unsetenv("ASSAY_MACHINE");
    setenv("XDG_DATA_HOME", folder, 1);
    assert_true(strncmp(machine_path(a), folder, strlen(folder)) == 0);
    assert_non_null(strstr(machine_path(a), "/assay/machines/"));
    unsetenv("XDG_DATA_HOME");
    arena_free(a);
    free(m);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int run_test_machine(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86),          cmocka_unit_test(test_arm64),
        cmocka_unit_test(test_nothing_told), cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_sampling),     cmocka_unit_test(test_sampling_stops),
        cmocka_unit_test(test_figure),       cmocka_unit_test(test_team),
        cmocka_unit_test(test_moves),        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bad_files),    cmocka_unit_test(test_ceilings),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
