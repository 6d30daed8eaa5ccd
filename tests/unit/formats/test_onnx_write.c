/* Writing ONNX: what is written reads back as the same model, to the byte of every weight. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "formats/onnx_read.h"
#include "formats/onnx_write.h"
#include "ir/build.h"
#include "ir/verify.h"
#include "rewrite/inline.h"
#include "rewrite/lower.h"
#include "support/onnx_writer.h"
#include "support/same.h"
#include "support/skip.h"
#include "zoo/zoo.h"

#define SUITE "/usr/share/libonnx-testdata/data/"

/* ---- help ---- */

static void must(assay_status s, const assay_error *err)
{
    if (s != ASSAY_OK)
        fail_msg("%s", err->message);
}

static sbuf written(const ir_model *m, const onnx_write_options *opt)
{
    sbuf out = {0};
    assay_error err = {0};
    wire_sink to = wire_sink_sbuf(&out);
    must(onnx_write_sinks(m, opt, &to, NULL, "", NULL, &err), &err);
    return out;
}

static ir_model *read_back(const sbuf *bytes)
{
    ir_model *m = NULL;
    assay_error err = {0};
    must(onnx_read_bytes(bytes->p, bytes->n, NULL, &m, &err), &err);
    must(ir_verify(m, &err), &err);
    return m;
}

/* Reads, writes and reads again; a second writing must give the same bytes. NULL or what differs. */
static const char *round_trip(const ir_model *m, char why[256])
{
    sbuf once = written(m, NULL);
    ir_model *back = read_back(&once);
    const char *what = same_models(m, back, why);
    sbuf twice = written(back, NULL);
    if (!what && (once.n != twice.n || memcmp(once.p, twice.p, once.n) != 0))
        what = "a second writing";
    ir_model_free(back);
    sbuf_free(&once);
    sbuf_free(&twice);
    return what;
}

static ir_model *zoo_model(const char *name, const char *set)
{
    arena *a = arena_new(1 << 24);
    zoo_args args;
    ir_model *m = NULL;
    assay_error err = {0};
    zoo_args_init(&args, a);
    must(zoo_args_parse(&args, str_of(set), false, &err), &err);
    zoo_request q = {.row = zoo_find(str_of(name)), .set = &args};
    assert_non_null(q.row);
    must(zoo_build(&q, &m, &err), &err);
    arena_free(a);
    return m;
}

/* ---- round trips ---- */

static unsigned n_tried;

static void try_file(const char *path)
{
    char why[256];
    ir_model *m = NULL;
    assay_error err = {0};
    if (onnx_read_file(path, NULL, &m, &err) != ASSAY_OK)
        return; /* the reader's business */
    must(ir_verify(m, &err), &err);
    must(rewrite_inline(m, &err), &err);
    const char *what = round_trip(m, why);
    if (what)
        fail_msg("%s: %s is not the same", path, what);
    n_tried++;
    ir_model_free(m);
}

static void try_folders(const char *folder, const char *file)
{
    DIR *d = opendir(folder);
    char path[1024];
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s%s", folder, e->d_name, file);
        if (e->d_name[0] != '.' && access(path, R_OK) == 0 && strstr(path, ".onnx"))
            try_file(path);
    }
    if (d)
        closedir(d);
}

static void own_models(void **state)
{
    (void)state;
    n_tried = 0;
    try_folders("tests/models", "");
    assert_true(n_tried >= 15);
}

static void backend_suite(void **state)
{
    static const char *const parts[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};
    (void)state;
    n_tried = 0;
    if (access(SUITE "node", R_OK) != 0)
        SKIP_BECAUSE("libonnx-testdata is not installed");
    for (size_t i = 0; i < 4; i++) {
        char folder[256];
        snprintf(folder, sizeof folder, SUITE "%s", parts[i]);
        try_folders(folder, "/model.onnx");
    }
    assert_true(n_tried > 900);
}

/* ---- everything a file may hold ---- */

enum { FLOAT = 1, STRING = 8, FLOAT16 = 10, DOUBLE = 11, UINT64 = 13 };

static ww strings(const char *name, int64_t n, const char *each)
{
    ww t = ow_tensor(name, STRING, 1, &n);
    for (int64_t i = 0; i < n; i++)
        ww_str(&t, 6, i % 3 == 1 ? "" : each);
    return t;
}

static ww typed(const char *name, int dtype, unsigned field, int64_t n)
{
    ww t = ow_tensor(name, dtype, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        if (field == 4) {
            ww_float(&t, 4, (float)i);
        } else if (field == 10) {
            double d = (double)i / 3;
            uint64_t bits;
            memcpy(&bits, &d, sizeof bits);
            ww_tag(&t, 10, 1);
            ww_fixed(&t, bits, 8);
        } else {
            ww_int(&t, field, i * 3);
        }
    }
    return t;
}

static ww sparse(const char *name)
{
    static const float values[] = {1, 2};
    static const int64_t indices[] = {3, 8};
    ww s = {0};
    ww_sub(&s, 1, ow_raw(name, FLOAT, 1, (const int64_t[]){2}, values, sizeof values));
    ww_sub(&s, 2, ow_raw("", 7, 1, (const int64_t[]){2}, indices, sizeof indices));
    ww_int(&s, 3, 4);
    ww_int(&s, 3, 5);
    return s;
}

static ww wrapped(unsigned field, ww inner)
{
    ww t = {0}, body = {0};
    ww_sub(&body, 1, inner);
    ww_sub(&t, field, body);
    return t;
}

static ww map_type(void)
{
    ww t = {0}, body = {0};
    ww_int(&body, 1, 7);
    ww_sub(&body, 2, ow_tensor_type(FLOAT, 0, NULL));
    ww_sub(&t, 5, body);
    return t;
}

static ww branch(const char *out)
{
    ww g = {0};
    ww_sub(&g, 1,
           ow_node("Identity", out, (const char *const[]){"x", NULL},
                   (const char *const[]){out, NULL}));
    ww_str(&g, 2, "branch");
    ww_sub(&g, 5, typed("inner", FLOAT, 4, 3));
    ww_sub(&g, 12, ow_value(out));
    return g;
}

static ww odd_node(void)
{
    ww n = ow_node("Odd", "odd", (const char *const[]){"x", "", "w", NULL},
                   (const char *const[]){"odd_y", NULL});
    ww f = ow_attr("f", 1), s = ow_attr("s", 3), t = ow_attr("t", 4), fs = ow_attr("fs", 6);
    ww is = ow_attr("is", 7), ss = ow_attr("ss", 8), ts = ow_attr("ts", 9), gs = ow_attr("gs", 10);
    ww sp = ow_attr("sp", 11), sps = ow_attr("sps", 12), tp = ow_attr("tp", 13);
    ww tps = ow_attr("tps", 14), none = ow_attr("none", 7);
    ww_float(&f, 2, 0.1f);
    ww_str(&s, 4, "text");
    ww_sub(&t, 5, typed("t", FLOAT16, 5, 4));
    ww_float(&fs, 7, -1.5f);
    ww_float(&fs, 7, 2e30f);
    ww_int(&is, 8, -1);
    ww_int(&is, 8, INT64_MAX);
    ww_str(&ss, 9, "a");
    ww_str(&ss, 9, "");
    ww_sub(&ts, 10, strings("", 2, "z"));
    ww_sub(&gs, 11, branch("g1"));
    ww_sub(&gs, 11, branch("g2"));
    ww_sub(&sp, 22, sparse("s1"));
    ww_sub(&sps, 23, sparse("s2"));
    ww_sub(&tp, 14, wrapped(4, ow_tensor_type(FLOAT, 1, (const int64_t[]){2})));
    ww_sub(&tps, 15, wrapped(9, wrapped(4, ow_tensor_type(STRING, 0, NULL))));
    const ww attrs[] = {f, s, t, fs, is, ss, ts, gs, sp, sps, tp, tps, none};
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
        n = ow_with(n, attrs[i]);
    ww_str(&n, 7, "odd.domain");
    return ow_with(n, ow_attr_int("i", -7));
}

static void all_kinds(void **state)
{
    char why[256];
    ww g = {0};
    ir_model *m = NULL;
    assay_error err = {0};
    (void)state;
    ww_sub(&g, 1, odd_node());
    ww_sub(&g, 1,
           ow_with(ow_with(ow_node("If", "if", (const char *const[]){"c", NULL},
                                   (const char *const[]){"y", NULL}),
                           ow_attr_graph("then_branch", branch("yes"))),
                   ow_attr_graph("else_branch", branch("no"))));
    ww_sub(&g, 5, typed("w", FLOAT, 4, 100));
    ww_sub(&g, 5, typed("half", FLOAT16, 5, 200));
    ww_sub(&g, 5, typed("long", 7, 7, 100));
    ww_sub(&g, 5, typed("wide", DOUBLE, 10, 50));
    ww_sub(&g, 5, typed("unsigned", UINT64, 11, 50));
    ww_sub(&g, 5, typed("none", FLOAT, 4, 0));
    ww_sub(&g, 5, strings("few", 4, "short"));
    ww_sub(&g, 5, strings("many", 200, "longer than the others"));
    ww_sub(&g, 15, sparse("thin"));
    ww_sub(&g, 11, ow_info("x", FLOAT, 2, (const int64_t[]){2, 3}));
    ww_sub(&g, 11, ow_info("c", 9, 0, NULL));
    ww_sub(&g, 11, ow_info("w", FLOAT, 1, (const int64_t[]){100}));
    ww_sub(&g, 11, ow_info_of("seq", wrapped(4, ow_tensor_type(FLOAT, 0, NULL))));
    ww_sub(&g, 11, ow_info_of("opt", wrapped(9, ow_tensor_type(FLOAT, 0, NULL))));
    ww_sub(&g, 11, ow_info_of("map", map_type()));
    ww_sub(&g, 12, ow_info("y", FLOAT, 2, (const int64_t[]){2, 3}));
    ww_sub(&g, 13, ow_info("odd_y", FLOAT, 1, (const int64_t[]){7}));
    ww bytes = ow_model(g);
    ww_sub(&bytes, 8, ow_opset("odd.domain", 3));
    must(onnx_read_bytes(bytes.p, bytes.n, NULL, &m, &err), &err);
    must(ir_verify(m, &err), &err);
    const char *what = round_trip(m, why);
    if (what)
        fail_msg("%s is not the same", what);
    ir_model_free(m);
    ww_free(&bytes);
}

/* ---- weights ---- */

static void model_hash(const ir_model *m, uint64_t seed, char hex[65])
{
    const onnx_write_options opt = {.seed = seed};
    sbuf out = written(m, &opt);
    sha256 h;
    sha256_begin(&h);
    sha256_add(&h, out.p, out.n);
    sha256_end(&h, hex);
    sbuf_free(&out);
}

static void seed_decides(void **state)
{
    char a[65], b[65], c[65];
    ir_model *m = zoo_model("lenet", "");
    (void)state;
    model_hash(m, 1, a);
    model_hash(m, 1, b);
    model_hash(m, 2, c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    ir_model_free(m);
}

static float *floats_of(const ir_model *m, const char *name, uint64_t *n)
{
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (!v->constant || !str_is(v->name, name))
            continue;
        float *p = malloc(v->constant->size_bytes);
        assay_error err = {0};
        must(m->reader.read(m->reader.ctx, v->constant, p, &err), &err);
        *n = v->constant->n_elems;
        return p;
    }
    fail_msg("no weight %s", name);
    return NULL;
}

static void has_moments(const ir_model *m, const char *name, double mean, double deviation)
{
    uint64_t n = 0;
    float *p = floats_of(m, name, &n);
    double sum = 0, square = 0;
    for (uint64_t i = 0; i < n; i++) {
        assert_true(isfinite(p[i]));
        sum += (double)p[i];
        square += (double)p[i] * (double)p[i];
    }
    double got = sum / (double)n, spread = sqrt(square / (double)n - got * got);
    if (fabs(got - mean) > 0.1 * deviation + 1e-6 ||
        fabs(spread - deviation) > 0.1 * deviation + 1e-6)
        fail_msg("%s: mean %g and deviation %g, not %g and %g", name, got, spread, mean, deviation);
    free(p);
}

static void scales_fit_roles(void **state)
{
    ir_model *m = zoo_model("resnet18", "");
    (void)state;
    sbuf out = written(m, NULL);
    ir_model *back = read_back(&out);
    has_moments(back, "bn1.weight", 1, 0);
    has_moments(back, "bn1.bias", 0, 0);
    has_moments(back, "bn1.running_mean", 0, 0);
    has_moments(back, "bn1.running_var", 1, 0);
    has_moments(back, "conv1.weight", 0, 1.41 / sqrt(3 * 7 * 7));          /* a relu follows */
    has_moments(back, "layer1.0.conv2.weight", 0, 0.4 / sqrt(64 * 3 * 3)); /* a residual branch */
    has_moments(back, "fc.weight", 0, 1 / sqrt(512));
    has_moments(back, "fc.bias", 0, 0.02);
    ir_model_free(back);
    ir_model_free(m);
    sbuf_free(&out);
}

/* The random weights of a model do not depend on the opset that it is written at. */
static void opset_keeps_weights(void **state)
{
    uint64_t n, n_old;
    ir_model *m = zoo_model("convnext_tiny", ""), *old = zoo_model("convnext_tiny", "");
    assay_error err = {0};
    (void)state;
    must(rewrite_lower(old, 13, &err), &err);
    sbuf a = written(m, NULL), b = written(old, NULL);
    ir_model *back = read_back(&a), *back_old = read_back(&b);
    const ir_graph *g = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < g->constants.n; i++) {
        const ir_value *v = ir_value_at(m, g->constants.items[i]);
        if (!(v->flags & IR_VALUE_PARAM))
            continue;
        float *x = floats_of(back, v->name.p, &n), *y = floats_of(back_old, v->name.p, &n_old);
        if (n != n_old || memcmp(x, y, n * sizeof *x) != 0)
            fail_msg("%s differs", v->name.p);
        free(x);
        free(y);
    }
    ir_model_free(back);
    ir_model_free(back_old);
    ir_model_free(m);
    ir_model_free(old);
    sbuf_free(&a);
    sbuf_free(&b);
}

/* ---- files ---- */

static char *temporary_folder(void)
{
    static const char pattern[] = "/tmp/assay-write-XXXXXX";
    char *path = malloc(sizeof pattern);
    memcpy(path, pattern, sizeof pattern);
    assert_non_null(mkdtemp(path));
    return path;
}

static void remove_all(char *folder)
{
    char path[512];
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    closedir(d);
    rmdir(folder);
    free(folder);
}

static void external_data(void **state)
{
    char *folder = temporary_folder(), path[512], why[256];
    ir_model *m = zoo_model("lenet", ""), *in = NULL, *out = NULL;
    const onnx_write_options opt = {.external_data = true};
    onnx_written got;
    assay_error err = {0};
    struct stat st;
    (void)state;
    snprintf(path, sizeof path, "%s/x.onnx", folder);
    must(onnx_write_file(m, path, &opt, &got, &err), &err);
    assert_true(got.n_random == got.n_tensors && got.data_bytes > 0 && got.model_bytes < 20000);
    must(onnx_read_file(path, NULL, &out, &err), &err);
    assert_int_equal(out->notes.list.n, 0);
    for (ir_id id = 0; id < out->values.n; id++) {
        const ir_tensor *t = ir_value_at(out, id)->constant;
        if (t && t->size_bytes > ONNX_EXTERNAL_MIN_BYTES) {
            assert_int_equal(t->storage, IR_DATA_EXTERNAL);
            assert_int_equal(t->offset % ONNX_EXTERNAL_ALIGN, 0);
        }
    }
    /* The same weights as in one file; and a copy of the copy, over itself. */
    sbuf whole = written(m, NULL);
    in = read_back(&whole);
    const char *what = same_models(in, out, why);
    if (what)
        fail_msg("%s is not the same", what);
    must(onnx_write_file(out, path, &opt, NULL, &err), &err);
    ir_model_free(out);
    must(onnx_read_file(path, NULL, &out, &err), &err);
    assert_null(same_models(in, out, why));
    snprintf(path, sizeof path, "%s/x.onnx.data", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, got.data_bytes);
    ir_model_free(in);
    ir_model_free(out);
    ir_model_free(m);
    sbuf_free(&whole);
    remove_all(folder);
}

/* 2.5 GB of weights that take no space. */
static void beyond_two_gigabytes(void **state)
{
    char *folder = temporary_folder(), path[512];
    ir_model *m = zoo_model("mlp", "hidden=25000,25000"), *out = NULL;
    const onnx_write_options opt = {.holes = true};
    onnx_written got;
    assay_error err = {0};
    struct stat st;
    (void)state;
    snprintf(path, sizeof path, "%s/big.onnx", folder);
    must(onnx_write_file(m, path, &opt, &got, &err), &err);
    assert_true(got.data_bytes > UINT64_C(2500000000));
    must(onnx_read_file(path, NULL, &out, &err), &err);
    assert_int_equal(out->notes.list.n, 0);
    snprintf(path, sizeof path, "%s/big.onnx.data", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_true((uint64_t)st.st_size == got.data_bytes && st.st_blocks * 512 < 1 << 20);
    sbuf memory = {0};
    wire_sink to = wire_sink_sbuf(&memory);
    assert_int_equal(onnx_write_sinks(m, NULL, &to, NULL, "", NULL, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "2 GB"));
    sbuf_free(&memory);
    ir_model_free(out);
    ir_model_free(m);
    remove_all(folder);
}

static void nothing_on_failure(void **state)
{
    char *folder = temporary_folder(), path[512];
    ir_model *m = zoo_model("lenet", "");
    assay_error err = {0};
    (void)state;
    snprintf(path, sizeof path, "%s/folder", folder);
    mkdir(path, 0700);
    assert_int_equal(onnx_write_file(m, path, NULL, NULL, &err), ASSAY_ERR_SYSTEM);
    rmdir(path);
    DIR *d = opendir(folder);
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    assert_int_equal(n, 2); /* . and .. */
    ir_model_free(m);
    remove_all(folder);
}

/* ---- what a builder knew ---- */

static void marks_survive(void **state)
{
    ir_model *m = zoo_model("swin_v2_t", "");
    (void)state;
    sbuf out = written(m, NULL);
    ir_model *back = read_back(&out);
    const ir_graph *a = ir_graph_at(m, 0), *b = ir_graph_at(back, 0);
    const uint32_t marks = IR_VALUE_PARAM | IR_VALUE_BUFFER;
    assert_int_equal(a->constants.n, b->constants.n);
    for (uint32_t i = 0; i < a->constants.n; i++)
        assert_int_equal(ir_value_at(m, a->constants.items[i])->flags & marks,
                         ir_value_at(back, b->constants.items[i])->flags & marks);
    ir_model_free(back);
    ir_model_free(m);
    sbuf_free(&out);
}

int run_test_onnx_write(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_models),         cmocka_unit_test(backend_suite),
        cmocka_unit_test(all_kinds),          cmocka_unit_test(seed_decides),
        cmocka_unit_test(scales_fit_roles),   cmocka_unit_test(opset_keeps_weights),
        cmocka_unit_test(external_data),      cmocka_unit_test(beyond_two_gigabytes),
        cmocka_unit_test(nothing_on_failure), cmocka_unit_test(marks_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
