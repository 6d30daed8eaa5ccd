/* Whole models as exporters write them: the fixtures of tests/models (graphs of torchvision and torch
 * models whose weights are absent) against what a real run said of them.
 *
 * NAME.shapes has the true dtype and shape of every value of the main graph; with declared shapes
 * ignored, the rules must find each of them. NAME.facts has the input shapes of that run, the
 * parameters and the multiply-accumulates that torch counts, and the published figures. In models whose
 * sizes depend on data (a detection model's boxes) a value may be an upper bound, if it says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "analyze/memory.h"
#include "analyze/training.h"
#include "base/map.h"
#include "formats/onnx_read.h"
#include "ir/verify.h"
#include "rewrite/inline.h"

typedef struct shape {
    char input[64]; /* empty: not given */
    int rank;
    int64_t dims[IR_MAX_RANK];
} shape;

typedef struct facts {
    shape input, published_input;
    uint64_t nodes, parameters, extra_constants, buffers, macs, macs_at_published, data_dependent;
    double published_gmacs;
} facts;

/* One analysis of a fixture, from the file to the memory plan. */
typedef struct road {
    ir_model *m;
    arena *a;
    profile *p;
    infer_result *r;
} road;

/* ---- the files beside a model ---- */

static FILE *open_beside(const char *name, const char *suffix)
{
    char path[256];
    snprintf(path, sizeof path, "tests/models/%s%s", name, suffix);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s cannot be opened from here", path);
    return f;
}

/* "1,3,224,224", or "-" for a scalar. */
static int parse_dims(const char *text, int64_t *dims)
{
    int rank = 0;
    for (char *end; *text && *text != '-'; text = *end == ',' ? end + 1 : end) {
        dims[rank++] = strtoll(text, &end, 10);
        assert_true(end != text && rank < IR_MAX_RANK);
    }
    return rank;
}

static void parse_shape(const char *text, shape *s)
{
    char dims[512];
    assert_int_equal(sscanf(text, "%63s %511s", s->input, dims), 2);
    s->rank = parse_dims(dims, s->dims);
}

static void read_fact(const char *key, const char *value, facts *f)
{
    const struct {
        const char *key;
        uint64_t *to;
    } numbers[] = {
        {"nodes", &f->nodes},
        {"parameters", &f->parameters},
        {"extra_constants", &f->extra_constants},
        {"buffers", &f->buffers},
        {"macs", &f->macs},
        {"macs_at_published", &f->macs_at_published},
        {"data_dependent", &f->data_dependent},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (strcmp(key, numbers[k].key) == 0)
            *numbers[k].to = strtoull(value, NULL, 10);
    if (strcmp(key, "published_gmacs") == 0)
        f->published_gmacs = strtod(value, NULL);
    if (strcmp(key, "input") == 0)
        parse_shape(value, &f->input);
    if (strcmp(key, "published_input") == 0)
        parse_shape(value, &f->published_input);
}

static facts read_facts(const char *name)
{
    facts of = {0};
    char line[1024], key[64];
    int at;
    FILE *f = open_beside(name, ".facts");
    while (fgets(line, sizeof line, f))
        if (line[0] != '#' && sscanf(line, "%63s %n", key, &at) == 1)
            read_fact(key, line + at, &of);
    fclose(f);
    return of;
}

/* ---- the analysis ---- */

static void must(assay_status s, const assay_error *err)
{
    if (s != ASSAY_OK)
        fail_msg("status %d: %s", s, err->message);
}

static road walk(const char *name, const shape *input)
{
    char path[256];
    assay_error err;
    counted of;
    road w = {.a = arena_new((size_t)256 << 20), .p = profile_new((size_t)256 << 20)};
    const infer_shape given = {
        .input = str_of(input->input), .rank = input->rank, .dims = input->dims};
    const infer_options opt = {.shapes = &given, .n_shapes = 1, .ignore_declared = true};
    err_clear(&err);
    snprintf(path, sizeof path, "tests/models/%s.onnx", name);
    must(onnx_read_file(path, NULL, &w.m, &err), &err);
    must(rewrite_inline(w.m, &err), &err);
    must(ir_verify(w.m, &err), &err);
    must(infer_run(w.m, &opt, w.a, &w.r, &err), &err);
    must(count_run(w.r, NULL, w.p, &of, &err), &err);
    must(memory_run(w.r, &of, IR_UNDEFINED, &(memory_detail){.events = true}, w.p, &err), &err);
    must(training_run(w.r, &of, w.p, &err), &err);
    return w;
}

static void leave(road *w)
{
    profile_free(w->p);
    arena_free(w->a);
    ir_model_free(w->m);
}

/* ---- the judgement ---- */

static bool same(const op_info *x, const char *dtype, int rank, const int64_t *dims)
{
    bool equal = strcmp(ir_dtype_get(x->dtype)->name, dtype) == 0 && x->rank == rank;
    for (int d = 0; equal && d < rank; d++)
        equal = x->dims[d] == dims[d];
    return equal;
}

/* Known to the last dim, marked as assumed, and not below what was seen. */
static bool honest_bound(const op_info *x, const char *dtype, int rank, const int64_t *dims)
{
    bool honest = x->assumed && strcmp(ir_dtype_get(x->dtype)->name, dtype) == 0 && x->rank == rank;
    for (int d = 0; honest && d < rank; d++)
        honest = x->dims[d] >= dims[d];
    return honest;
}

static void complain(const char *name, const op_info *x, const char *dtype, const char *dims)
{
    print_error("%s is %s %s, ours %s ", name, dtype, dims, ir_dtype_get(x->dtype)->name);
    for (int d = 0; d < x->rank; d++)
        print_error(d ? ",%lld" : "%lld", (long long)x->dims[d]);
    print_error(x->rank < 0 ? "?%s\n" : "%s\n", x->assumed ? " (assumed)" : "");
}

static map names_of(const road *w)
{
    map names;
    const ir_model *m = w->m;
    assert_true(map_init(&names, w->a, (uint32_t)m->values.n));
    for (ir_id v = 0; v < m->values.n; v++)
        if (m->values.items[v].graph == 0)
            assert_true(map_put(&names, m->values.items[v].name, v));
    return names;
}

static void check_shapes(const char *name, const road *w, bool data_dependent)
{
    char line[2048], value[1024], dtype[64], text[512];
    int64_t dims[IR_MAX_RANK];
    unsigned right = 0, bounds = 0, wrong = 0;
    map names = names_of(w);
    FILE *f = open_beside(name, ".shapes");
    while (fgets(line, sizeof line, f)) {
        assert_int_equal(sscanf(line, "%1023s %63s %511s", value, dtype, text), 3);
        int rank = parse_dims(text, dims);
        uint32_t id = map_get(&names, str_of(value));
        if (id == MAP_NONE)
            fail_msg("the model has no value '%s'", value);
        const op_info *x = &w->r->info[id];
        if (same(x, dtype, rank, dims))
            right++;
        else if (data_dependent && honest_bound(x, dtype, rank, dims))
            bounds++;
        else if (wrong++ < 20)
            complain(value, x, dtype, text);
    }
    fclose(f);
    print_message("%s: %u values right, %u upper bounds, %u wrong\n", name, right, bounds, wrong);
    assert_int_equal(wrong, 0);
    assert_true(right > 0);
}

/* What the model's own boundaries promise, whatever its size. */
static void check_sums(const road *w, const facts *f)
{
    const profile *p = w->p;
    uint64_t macs = 0, flops = 0, parameters = 0;
    for (uint32_t k = 0; k < p->n_layers; k++) {
        macs += p->layers[k].macs;
        flops += p->layers[k].flops;
        parameters += p->layers[k].parameters;
    }
    assert_int_equal(macs, p->total_macs);
    assert_int_equal(flops, p->total_flops);
    assert_int_equal(parameters, p->total_parameters);
    assert_int_equal(p->accounting.unknown, 0);
    assert_true(p->memory_plan.activations_peak_bytes >= p->memory_plan.lower_bound_bytes);
    if (!f->data_dependent)
        assert_int_equal(p->accounting.assumed, 0);
}

static void check_published(const char *name, const facts *f)
{
    if (f->published_gmacs == 0)
        return;
    road w = walk(name, &f->published_input);
    uint64_t macs = w.p->total_macs + w.p->load_time.macs;
    assert_int_equal(macs, f->macs_at_published);
    char ours[32], theirs[32];
    snprintf(ours, sizeof ours, "%.3f", (double)macs / 1e9);
    snprintf(theirs, sizeof theirs, "%.3f", f->published_gmacs);
    assert_string_equal(ours, theirs);
    leave(&w);
}

static void test_model(void **state)
{
    const char *name = *state;
    const facts f = read_facts(name);
    road w = walk(name, &f.input);
    assert_int_equal(ir_graph_at(w.m, 0)->nodes.n + w.m->n_constant_nodes, f.nodes);
    check_shapes(name, &w, f.data_dependent);
    check_sums(&w, &f);
    if (!f.data_dependent)
        assert_int_equal(w.p->total_macs + w.p->load_time.macs, f.macs);
    assert_int_equal(w.p->architecture.total_parameters, f.parameters + f.extra_constants);
    assert_int_equal(w.p->architecture.buffers, f.buffers);
    leave(&w);
    check_published(name, &f);
}

#define MODEL(name)                                           \
    {                                                         \
        name, test_model, NULL, NULL, (void *)(uintptr_t)name \
    }

int run_test_models(void)
{
    const struct CMUnitTest tests[] = {
        MODEL("resnet18"),
        MODEL("resnet50"),
        MODEL("mobilenet_v2"),
        MODEL("mobilenet_v3_small"),
        MODEL("efficientnet_b0"),
        MODEL("densenet121"),
        MODEL("shufflenet_v2"),
        MODEL("vit_b_16"),
        MODEL("swin_t"),
        MODEL("swin_v2_t"),
        MODEL("convnext_tiny"),
        MODEL("r3d_18"),
        MODEL("deeplabv3_mobilenet"),
        MODEL("ssdlite320"),
        MODEL("fasterrcnn_320"),
        MODEL("lstm_text"),
        MODEL("gru_tagger"),
        MODEL("transformer_encoder"),
        MODEL("unet"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
