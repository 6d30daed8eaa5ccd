/* Every model of tests/models at every precision: the graph is whole, shapes stay what they were, something
 * really changed its type, and on ONNX Runtime the outputs are near those of float32.
 *
 * The engine checks the types of a graph before it looks for kernels, so that "no implementation" of a
 * bfloat16 operator (the processor has none) says that the file is right. What such a file computes is run
 * with its rounded weights as float32. Weights are random (the files hold none): errors are larger than
 * trained models have.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/build.h"
#include "ir/verify.h"
#include "jobs/job.h"
#include "jobs/precision.h"
#include "options/rows.h"
#include "support/runs.h"

#define FOLDER "tests/models"

static const struct {
    const char *name;
    double bound; /* of |y - y32| / |y32| */
} precisions[] = {{"fp16", 0.02}, {"bf16", 0.05}, {"int8-dynamic", 0.15}, {"int8", 0.4}};
enum { N_PRECISIONS = sizeof precisions / sizeof *precisions };

/* Weights of large models take long to make and to write, most of all under sanitizers: their graphs are
 * checked, and they are not run. */
#ifdef ASSAY_SANITIZED
#define RUN_BYTES ((uint64_t)4 << 20)
#else
#define RUN_BYTES ((uint64_t)128 << 20)
#endif

/* ---- the graph ---- */

static bool sizes_hang_on_data(const char *name)
{
    char path[256], line[256];
    bool found = false;
    snprintf(path, sizeof path, FOLDER "/%s.facts", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        found = found || strncmp(line, "data_dependent", 14) == 0;
    fclose(f);
    return found;
}

static uint64_t bytes_of(const ir_model *m, ir_dtype t)
{
    uint64_t n = 0;
    for (ir_id g = 0; g < m->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(m, g);
        for (uint32_t i = 0; i < graph->constants.n; i++) {
            const ir_tensor *c = ir_value_at(m, graph->constants.items[i])->constant;
            n += c->dtype == t ? c->size_bytes : 0;
        }
    }
    return n;
}

/* Types and shapes of the outputs stay, and inference contradicts nothing. */
static void outputs_stay(const ir_model *before, const ir_model *after)
{
    arena *a = arena_new((size_t)512 << 20);
    assay_error err = {0};
    infer_result *was, *is;
    must(ir_verify(after, &err), &err);
    must(infer_run(before, NULL, a, &was, &err), &err);
    must(infer_run(after, NULL, a, &is, &err), &err);
    const ir_graph *g = ir_graph_at(before, 0), *h = ir_graph_at(after, 0);
    assert_int_equal(g->outputs.n, h->outputs.n);
    for (uint32_t i = 0; i < g->outputs.n; i++) {
        const op_info *x = &was->info[g->outputs.items[i]], *y = &is->info[h->outputs.items[i]];
        assert_true(str_eq(ir_value_at(before, g->outputs.items[i])->name,
                           ir_value_at(after, h->outputs.items[i])->name));
        assert_int_equal(x->dtype, y->dtype);
        assert_int_equal(x->rank, y->rank);
        for (int d = 0; d < x->rank; d++)
            assert_int_equal(x->dims[d], y->dims[d]);
    }
    arena_free(a);
}

/* ---- bfloat16 where there is no kernel ---- */

static const ir_tensor *widened(ir_model *m, const ir_tensor *t, arena *a)
{
    assay_error err = {0};
    ir_tensor *wide = ir_make_tensor(m, t->name, IR_FLOAT32, t->rank, t->dims);
    assert_non_null(wide);
    uint8_t *bytes = arena_alloc(a, (size_t)wide->size_bytes + 1);
    uint16_t *half = malloc((size_t)t->size_bytes + 1);
    assert_true(bytes && half);
    must(m->reader.read(m->reader.ctx, t, half, &err), &err);
    for (uint64_t i = 0; i < t->n_elems; i++) {
        uint32_t bits = (uint32_t)half[i] << 16;
        memcpy(bytes + 4 * i, &bits, sizeof bits);
    }
    free(half);
    wide->storage = IR_DATA_INLINE;
    wide->bytes = bytes;
    return wide;
}

static void widen_attrs(ir_model *m, ir_node *n)
{
    ir_attr *attrs = n->n_attrs ? arena_copy(m->arena, n->attrs, n->n_attrs * sizeof *attrs) : NULL;
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (str_is(n->op, "Cast") && str_is(attrs[i].name, "to") && attrs[i].v.i == IR_BFLOAT16)
            attrs[i].v.i = IR_FLOAT32;
    n->attrs = attrs;
}

static void widen(ir_model *m, arena *a)
{
    for (ir_id v = 0; v < m->values.n; v++) {
        ir_value *value = ir_value_at(m, v);
        if (value->declared.dtype == IR_BFLOAT16)
            value->declared.dtype = IR_FLOAT32;
        if (value->constant && value->constant->dtype == IR_BFLOAT16)
            value->constant = widened(m, value->constant, a);
    }
    for (ir_id n = 0; n < m->nodes.n; n++)
        widen_attrs(m, ir_node_at(m, n));
}

/* ---- one model ---- */

static bool no_kernel(assay_status s, const assay_error *err)
{
    return s != ASSAY_OK && strstr(err->message, "find an implementation");
}

/* As it is or, where there is no kernel, with the rounded weights in float32; file_bytes are its own. */
static assay_status run_somehow(engine *e, ir_model *m, run_output *out, assay_error *err)
{
    assay_status s = runs_try(e, m, NULL, out, err);
    uint64_t file_bytes = out->file_bytes;
    if (no_kernel(s, err) && bytes_of(m, IR_BFLOAT16)) {
        arena *a = arena_new((size_t)1 << 30);
        widen(m, a);
        err_clear(err);
        s = runs_try(e, m, NULL, out, err);
        arena_free(a);
    }
    out->file_bytes = file_bytes;
    return s;
}

static void compare(engine *e, const char *name, size_t p, ir_model *m, run_output whole)
{
    assay_error err = {0};
    run_output less;
    bool bf16 = bytes_of(m, IR_BFLOAT16) > 0, by_data = sizes_hang_on_data(name);
    assay_status s = run_somehow(e, m, &less, &err);
    bool ran = !(bf16 && no_kernel(s, &err)); /* RoiAlign of opset 22 */
    if (s != ASSAY_OK && ran)
        fail_msg("%s as %s: %s", name, precisions[p].name, err.message);
    double d = ran && !by_data ? runs_difference(less, whole) : 0;
    print_message("%-20s %-13s error %.5f, file %.3f\n", name, precisions[p].name, d,
                  (double)less.file_bytes / (double)whole.file_bytes);
    if (ran && !by_data && !(d > 0 && d < precisions[p].bound))
        fail_msg("%s as %s is off by %g", name, precisions[p].name, d);
    assert_true(less.file_bytes < whole.file_bytes);
    free(less.p);
}

static void one_precision(engine *e, const char *name, size_t p, assay_model *model,
                          run_output whole)
{
    const assay_options none = options_default();
    const job_precision q = {.row = precision_find(str_of(precisions[p].name)),
                             .engine = e,
                             .engine_config = &runs_config,
                             .seed = RUNS_SEED,
                             .runs = 1,
                             .int8 = {.seven_bits = job_seven_bits(&none)}};
    assay_error err = {0};
    ir_model *m;
    must(job_model_again(model, &m, &err), &err);
    assay_status s = job_make_precise(m, &q, NULL, &err);
    if (s == ASSAY_ERR_UNSUPPORTED && q.row->kind == PRECISION_INT8_DYNAMIC) {
        assert_non_null(strstr(err.message, "MatMul"));
    } else if (s != ASSAY_OK) {
        fail_msg("%s as %s: %s", name, precisions[p].name, err.message);
    } else {
        assert_true(bytes_of(m, q.row->dtype) > 0);
        assert_true(bytes_of(m, IR_FLOAT32) < bytes_of(model->ir, IR_FLOAT32));
        outputs_stay(model->ir, m);
        if (e)
            compare(e, name, p, m, whole);
    }
    ir_model_free(m);
}

static void one_model(engine *e, const char *name)
{
    const assay_options none = options_default();
    char path[512];
    assay_error err = {0};
    assay_model *model;
    run_output whole = {0};
    snprintf(path, sizeof path, FOLDER "/%s.onnx", name);
    must(assay_model_open(path, &model, &err), &err);
    must(job_model_build(model, &none, &err), &err);
    if (bytes_of(model->ir, IR_FLOAT32) > RUN_BYTES)
        e = NULL;
    if (e)
        whole = runs_model(e, model->ir);
    for (size_t p = 0; p < N_PRECISIONS; p++)
        if (e || precision_find(str_of(precisions[p].name))->kind != PRECISION_INT8)
            one_precision(e, name, p, model, whole);
    free(whole.p);
    assay_model_free(model);
}

static void every_model(void **state)
{
    engine *e = runs_engine();
    DIR *d = opendir(FOLDER);
    const struct dirent *at;
    unsigned n = 0;
    (void)state;
    assert_non_null(d);
    while ((at = readdir(d))) {
        char name[256];
        const char *dot = strrchr(at->d_name, '.');
        if (!dot || strcmp(dot, ".onnx") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(dot - at->d_name), at->d_name);
        if (getenv("MODEL") && strcmp(getenv("MODEL"), name) != 0)
            continue;
        one_model(e, name);
        n++;
    }
    closedir(d);
    engine_close(e);
    assert_true(n > 0);
}

int run_test_precision_models(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
