/* The writers on profiles made by hand: widths, ASCII, colour, quoting, extremes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/utf8.h"
#include "report/console.h"
#include "report/report.h"

#define HOSTILE "\x1b[31mred\x07\n,\"q\"\xff\xe6\x97\xa5\xe6\x9c\xac"

static const int64_t dims[] = {1, 64, -1, 112};
static const profile_tensor tensor = {
    .name = {"out\x1b", 4}, .dtype = IR_FLOAT32, .kind = "tensor", .shape = {4, dims}};

static profile *make(uint32_t n_layers, uint64_t flops, str name)
{
    profile *p = profile_new(SIZE_MAX);
    assert_non_null(p);
    p->model = p->format = name;
    p->lens = STR("assay");
    p->inputs = p->outputs = &tensor;
    p->n_inputs = p->n_outputs = 1;
    p->layers = ARENA_ARRAY(p->arena, profile_layer, n_layers ? n_layers : 1);
    p->n_layers = n_layers;
    for (uint32_t i = 0; i < n_layers; i++)
        p->layers[i] = (profile_layer){.name = name,
                                       .op = name,
                                       .type = name,
                                       .inputs = &tensor,
                                       .outputs = &tensor,
                                       .n_inputs = 1,
                                       .n_outputs = 1,
                                       .times = 2,
                                       .flops = flops,
                                       .macs = flops,
                                       .memory = flops,
                                       .parameters = flops,
                                       .arithmetic_intensity = (double)flops,
                                       .band = "memory",
                                       .certainty = PROFILE_UNKNOWN};
    p->total_flops = p->total_macs = p->total_memory = p->total_parameters = flops;
    p->architecture.total_parameters = p->architecture.weight_bytes = flops;
    p->bottlenecks.threshold = 50;
    p->anything_assumed = true;
    notes_add(&p->warnings, "code", name, "Do something.", "A sentence about " STR_FMT ".",
              STR_ARG(name));
    return p;
}

static sbuf write_with(const profile *p, const char *format, report_options o)
{
    sbuf out = {0};
    const report_row *row = report_find(str_of(format));
    assert_non_null(row);
    assert_int_equal(row->write(p, &o, &out, NULL), ASSAY_OK);
    sbuf_cstr(&out);
    return out;
}

static unsigned columns_of(const char *p, size_t n)
{
    unsigned width = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        unsigned len = utf8_next(p + i, n - i, &cp);
        assert_true(len > 0);
        int w = utf8_columns(cp);
        assert_int_not_equal(w, UTF8_HIDDEN);
        width += (unsigned)w;
        i += len;
    }
    return width;
}

/* No line is wider than the screen, none ends in a blank, and nothing in it obeys a name. */
static void check_lines(const sbuf *b, unsigned width)
{
    for (const char *line = b->p, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end);
        size_t n = (size_t)(end - line);
        unsigned columns = columns_of(line, n);
        assert_false(n > 0 && line[n - 1] == ' ');
        if (columns > width)
            fail_msg("%u columns instead of %u: %.*s", columns, width, (int)n, line);
    }
}

static void test_console_fits(void **state)
{
    (void)state;
    static const uint64_t amounts[] = {0, 1, 999, 1000, 123456789, INT64_MAX};
    for (size_t a = 0; a < sizeof amounts / sizeof *amounts; a++)
        for (int width = 60; width <= 200; width += 10)
            for (uint32_t layers = 0; layers <= 40; layers += 40) {
                profile *p = make(layers, amounts[a], (str){HOSTILE, sizeof HOSTILE - 1});
                report_options o = {.width = width, .top = 10, .verbose = width % 20 == 0};
                sbuf out = write_with(p, "console", o);
                check_lines(&out, (unsigned)width);
                sbuf_free(&out);
                profile_free(p);
            }
}

static void test_console_ascii(void **state)
{
    (void)state;
    profile *p = make(3, 12345, (str){HOSTILE, sizeof HOSTILE - 1});
    sbuf out = write_with(p, "console", (report_options){.width = 80, .top = 10, .ascii = true});
    for (size_t i = 0; i < out.n; i++)
        assert_true(out.p[i] == '\n' || (out.p[i] >= ' ' && out.p[i] < 127));
    sbuf_free(&out);
    profile_free(p);
}

static void test_console_color(void **state)
{
    (void)state;
    profile *p = make(3, 12345, STR("name"));
    sbuf plain = write_with(p, "console", REPORT_DEFAULTS);
    report_options o = REPORT_DEFAULTS;
    o.color = true;
    sbuf color = write_with(p, "console", o), stripped = {0};
    bool on = false;
    for (size_t i = 0; i < color.n; i++) {
        if (color.p[i] != '\033') {
            sbuf_putc(&stripped, color.p[i]);
            continue;
        }
        on = color.p[i + 2] != '0';
        i = (size_t)(strchr(color.p + i, 'm') - color.p);
    }
    assert_false(on); /* what was switched on was switched off */
    assert_string_equal(sbuf_cstr(&stripped), plain.p);
    sbuf_free(&plain);
    sbuf_free(&color);
    sbuf_free(&stripped);
    profile_free(p);
}

static void test_bar(void **state)
{
    (void)state;
    static const double parts[] = {-1, 0, 0.0001, 0.001, 0.5, 0.999, 1, 2, INFINITY, NAN};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sbuf b = {0};
        console_bar(&b, parts[i], 10);
        assert_int_equal(columns_of(sbuf_cstr(&b), b.n), 10);
        sbuf_free(&b);
    }
}

static void test_spark(void **state)
{
    (void)state;
    static const uint64_t items[] = {0, 1, 7, INT64_MAX, 3};
    for (unsigned width = 1; width < 8; width++) {
        sbuf b = {0};
        console_spark(&b, items, 5, width);
        assert_int_equal(columns_of(sbuf_cstr(&b), b.n), width < 5 ? width : 5);
        sbuf_free(&b);
    }
}

static void test_fixed(void **state)
{
    (void)state;
    static const struct {
        double v;
        int decimals;
        const char *text;
    } cases[] = {{0, 0, "0"},         {1.25, 1, "1.3"},   {-0.001, 2, "0.00"}, {-2.5, 1, "-2.5"},
                 {99.95, 1, "100.0"}, {1e300, 1, "huge"}, {NAN, 1, "n/a"},     {0.05, 2, "0.05"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sbuf b = {0};
        report_fixed(&b, cases[i].v, cases[i].decimals);
        assert_string_equal(sbuf_cstr(&b), cases[i].text);
        sbuf_free(&b);
    }
}

static void test_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/layer1/layer1.0/conv1/Conv", "layer1.0.conv1/Conv"},
        {"/conv1/Conv", "conv1/Conv"},
        {"/Conv", "Conv"},
        {"conv1", "conv1"},
        {"a/b/c", "a/b/c"},
        {"/", "/"},
        {"", ""},
        {"//", "//"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sbuf b = {0};
        profile_put_name(&b, str_of(cases[i][0]));
        assert_string_equal(sbuf_cstr(&b), cases[i][1]);
        sbuf_free(&b);
    }
}

/* The text of a narrow table without blanks and line breaks. */
static sbuf squeezed_table(const char *const *names, unsigned n, unsigned width)
{
    static const console_column columns[] = {{.title = "layer", .min = 8},
                                             {.title = "FLOPs", .right = true}};
    const report_options o = REPORT_DEFAULTS;
    sbuf out = {0}, text = {0};
    console c = {.o = &o, .out = &out, .width = width};
    console_table t;
    table_begin(&t, columns, 2, 2);
    for (unsigned i = 0; i < n; i++) {
        sbuf_puts(table_cell(&t, STYLE_PLAIN), names[i]);
        sbuf_puts(table_cell(&t, STYLE_PLAIN), "123456789012");
    }
    table_print(&t, &c);
    for (size_t i = 0; i < out.n; i++)
        if (out.p[i] != ' ' && out.p[i] != '\n')
            sbuf_putc(&text, out.p[i]);
    sbuf_free(&out);
    return text;
}

/* Names that differ in the middle alone stay whole, and so do numbers. */
static void test_tables_cut_nothing(void **state)
{
    static const char *const names[] = {"encoder.layer.10.attention/query",
                                        "encoder.layer.11.attention/query"};
    (void)state;
    for (unsigned width = 1; width < 60; width += 7) {
        sbuf text = squeezed_table(names, 2, width);
        assert_null(strstr(sbuf_cstr(&text), "…"));
        assert_non_null(strstr(sbuf_cstr(&text), "123456789012"));
        if (width > 48) {
            assert_non_null(strstr(sbuf_cstr(&text), names[0]));
            assert_non_null(strstr(sbuf_cstr(&text), names[1]));
        }
        sbuf_free(&text);
    }
}

static void expect_csv(const profile *p, const char *rows, const char *text)
{
    report_options o = REPORT_DEFAULTS;
    o.rows = rows;
    sbuf out = write_with(p, "csv", o);
    assert_string_equal(sbuf_cstr(&out), text);
    sbuf_free(&out);
}

#define BATCH_COLUMNS                                                                            \
    "batch,precision,runs,mean_ms,std_ms,min_ms,max_ms,p50_ms,p90_ms,p95_ms,p99_ms,ci95_low_ms," \
    "ci95_high_ms,samples_per_second,peak_bytes,activation_bytes,planned_activation_bytes,"      \
    "cpu_percent,gflops_per_s,gbytes_per_s,session_ms,first_run_ms,energy_j,error_max_abs,"      \
    "error_mean_abs,error_relative,error_cosine,effective_runs,warmup_runs,steady_after,"        \
    "average_bytes,per_sample_bytes,fragmentation,percent_of_peak,percent_of_bandwidth,"         \
    "voluntary_switches,involuntary_switches,minor_faults,major_faults,read_bytes,"              \
    "written_bytes,steal_percent,frequency_mhz,preprocess_ms,postprocess_ms,file_bytes,error\r\n"

static void test_csv_measured(void **state)
{
    (void)state;
    const double ms[] = {1.5, 2.25}, warmup[] = {9, 3.5};
    profile_time_group groups[] = {{.by = "type",
                                    .name = STR("conv2d"),
                                    .layers = 3,
                                    .time_ms = 1.5,
                                    .time_std_ms = 0.25,
                                    .percent = 75,
                                    .flops = 10,
                                    .memory = 20,
                                    .gflops_per_s = NAN,
                                    .gbytes_per_s = NAN},
                                   {.by = "module",
                                    .name = STR("a,b"),
                                    .layers = 1,
                                    .time_ms = 0.5,
                                    .time_std_ms = NAN,
                                    .percent = 25,
                                    .gflops_per_s = NAN,
                                    .gbytes_per_s = NAN}};
    const profile_outlier slow[] = {{.run = 2, .ms = 2.25, .cause = "steal"}};
    profile_config configs[] = {
        {.batch = 1,
         .ran = true,
         .precision = STR("fp16"),
         .latency = {.runs = 2, .mean = 1.875, .std = 0.5},
         .samples_ms = ms,
         .n_samples = 2,
         .warmup_ms = warmup,
         .n_warmup_ms = 2,
         .gbytes_per_s = NAN,
         .warmup_runs = 3,
         .steady_after = 2,
         .file_bytes = 7,
         .percent_of_peak = NAN,
         .percent_of_bandwidth = NAN,
         .pre_ms = NAN,
         .post_ms = NAN,
         .outliers = slow,
         .n_outliers = 1,
         .memory = {.present = true,
                    .used_peak = 20,
                    .used_run = PROFILE_NOT_TOLD,
                    .per_sample = 20,
                    .fragmentation = NAN},
         .use = {.present = true,
                 .energy_j = NAN,
                 .steal_percent = NAN,
                 .io.written_bytes = PROFILE_NOT_TOLD},
         .output_error = {.present = true, .max_abs = 0.5, .relative = NAN, .cosine = 1}},
        {.batch = 2,
         .precision = STR("int4"),
         .samples_per_second = NAN,
         .gflops_per_s = NAN,
         .error = STR("It is not there, \"yet\".")},
    };
    profile_measured m = {
        .configs = configs,
        .n_configs = 2,
        .ledger = {.present = true, .run_ms = 2, .groups = groups, .n_groups = 2}};
    profile *p = make(2, 7, STR("x"));
    expect_csv(p, "runs", "batch,precision,run,time_ms,cause,phase\r\n");
    expect_csv(p, "groups", "by,name,layers,time_ms,percent,flops,memory,bottleneck\r\n");
    expect_csv(p, "batches", BATCH_COLUMNS);
    p->measured = &m;
    expect_csv(p, "runs",
               "batch,precision,run,time_ms,cause,phase\r\n1,fp16,-1,9,,warm-up\r\n"
               "1,fp16,0,3.5,,warm-up\r\n1,fp16,1,1.5,,measured\r\n"
               "1,fp16,2,2.25,steal,measured\r\n");
    expect_csv(p, "groups",
               "by,name,layers,time_ms,time_std_ms,percent,flops,memory,bottleneck\r\n"
               "type,conv2d,3,1.5,0.25,75,10,20,memory-bound\r\n"
               "module,\"a,b\",1,0.5,,25,0,0,memory-bound\r\n");
    expect_csv(
        p, "batches",
        BATCH_COLUMNS
        "1,fp16,2,1.875,0.5,0,0,0,0,0,0,0,0,0,20,,0,0,0,,0,0,,0.5,0,,1,0,3,2,0,20,,,,0,0,0,0,0,"
        ",,0,,,7,\r\n"
        "2,int4,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\"It is not there, \"\"yet\"\".\"\r\n");
    p->layers[0].time_ms = 0.000007;
    p->layers[0].time_std_ms = 0.25;
    p->layers[0].gflops_per_s = p->layers[0].gbytes_per_s = 1;
    p->layers[0].percent_of_roof = NAN;
    p->layers[1].time_ms = p->layers[1].time_std_ms = NAN;
    p->layers[1].gflops_per_s = p->layers[1].gbytes_per_s = p->layers[1].percent_of_roof = NAN;
    sbuf out = write_with(p, "csv", REPORT_DEFAULTS);
    const char *text = sbuf_cstr(&out);
    assert_non_null(
        strstr(text, ",times,live_bytes,time_ms,time_std_ms,gflops_per_s,gbytes_per_s\r\n"));
    assert_non_null(strstr(text, ",0.25,1,1\r\n"));
    assert_non_null(strstr(text, ",unknown,2,0,,,,\r\n"));
    sbuf_free(&out);
    p->measured = NULL;
    profile_free(p);
}

/* A watched process: a row for each look. */
static void test_csv_watch(void **state)
{
    (void)state;
    const profile_watch_sample looks[] = {
        {0, NAN, 1000, 600, 400, 1, 2, 0, 0, 5, 0},
        {0.125, 187.5, 2000, 700, PROFILE_NOT_TOLD, 2, 9, 4096, PROFILE_NOT_TOLD, 6, 1}};
    profile_watch w = {.samples = looks, .n_samples = 2};
    profile *p = make(0, 0, STR("x"));
    p->watch = &w;
    expect_csv(p, NULL,
               "time_s,cpu_percent,resident,anonymous,file_backed,processes,threads,read_bytes,"
               "written_bytes,minor_faults,major_faults\r\n0,,1000,600,400,1,2,0,0,5,0\r\n"
               "0.125,187.5,2000,700,,2,9,4096,,6,1\r\n");
    p->watch = NULL;
    profile_free(p);
}

static void test_csv(void **state)
{
    (void)state;
    profile *p = make(2, 7, (str){HOSTILE, sizeof HOSTILE - 1});
    sbuf out = write_with(p, "csv", REPORT_DEFAULTS);
    unsigned rows = 0, commas = 0, first = 0;
    bool quoted = false;
    for (size_t i = 0; i < out.n; i++) {
        assert_true((unsigned char)out.p[i] >= ' ' || out.p[i] == '\r' || out.p[i] == '\n');
        quoted ^= out.p[i] == '"';
        commas += out.p[i] == ',' && !quoted;
        if (out.p[i] != '\n' || quoted)
            continue;
        assert_int_equal(out.p[i - 1], '\r');
        if (rows++ == 0)
            first = commas;
        assert_int_equal(commas, first);
        commas = 0;
    }
    assert_int_equal(rows, 3);
    assert_false(quoted);
    assert_non_null(strstr(out.p, "1x64x?x112"));
    sbuf_free(&out);
    profile_free(p);
}

static void test_json_values_unique(void **state)
{
    (void)state;
    static profile_tensor twice[] = {{.name = {"v", 1}, .kind = "tensor", .shape = {.rank = -1}},
                                     {.name = {"v", 1}, .kind = "sequence", .shape = {.rank = 0}}};
    profile *p = make(0, 0, STR("m"));
    p->values = twice;
    p->n_values = 2;
    assert_true(profile_settle(p));
    sbuf out = write_with(p, "json", REPORT_DEFAULTS);
    assert_non_null(strstr(out.p, "\"v\": {\"dtype\": null, \"shape\": null}"));
    assert_non_null(
        strstr(out.p, "\"v#1\": {\"dtype\": null, \"shape\": [], \"kind\": \"sequence\"}"));
    sbuf_free(&out);
    profile_free(p);
}

static void test_rows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < report_table_n; i++) {
        assert_ptr_equal(report_find(str_of(report_table[i].name)), &report_table[i]);
        assert_ptr_equal(report_by_suffix(str_of(report_table[i].suffix)), &report_table[i]);
        assert_non_null(report_table[i].about);
    }
    assert_null(report_find(STR("x")));
    assert_null(report_by_suffix(STR("x.y")));
}

int run_test_report(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_console_fits),  cmocka_unit_test(test_console_ascii),
        cmocka_unit_test(test_console_color), cmocka_unit_test(test_bar),
        cmocka_unit_test(test_spark),         cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_watch),     cmocka_unit_test(test_tables_cut_nothing),
        cmocka_unit_test(test_csv_measured),  cmocka_unit_test(test_json_values_unique),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
