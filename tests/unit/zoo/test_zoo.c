/* The built-in architectures: every published count of tests/data/torchvision.csv, names and shapes of
 * weights, parameters and their sentences, sizes that do not fit, and memory that runs out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "ir/verify.h"
#include "zoo/zoo.h"

enum { MEMORY = 1 << 30 };

/* ---- helpers ---- */

typedef struct built {
    ir_model *model;
    assay_status status;
    assay_error err;
} built;

typedef struct wish {
    const char *name, *set;
    const char *input; /* "1x3x224x224" */
    int64_t batch;
    size_t memory;
    bool lenient;
} wish;

static int parse_dims(const char *text, int64_t *dims, int max)
{
    int n = 0;
    while (text && *text && n < max) {
        char *end;
        dims[n++] = strtoll(text, &end, 10);
        text = *end == 'x' ? end + 1 : end;
    }
    return n;
}

static built build(wish w)
{
    built r = {0};
    int64_t dims[NN_RANK];
    arena *a = arena_new(MEMORY);
    zoo_args set;
    zoo_input input = {.rank = parse_dims(w.input, dims, NN_RANK), .dims = dims};
    zoo_args_init(&set, a);
    err_clear(&r.err);
    zoo_request q = {.row = zoo_find(str_of(w.name)),
                     .set = &set,
                     .inputs = &input,
                     .n_inputs = input.rank > 0,
                     .batch = w.batch,
                     .memory_limit = w.memory ? w.memory : MEMORY,
                     .lenient = w.lenient};
    assert_non_null(q.row);
    r.status = zoo_args_parse(&set, str_of(w.set ? w.set : ""), false, &r.err);
    if (r.status == ASSAY_OK)
        r.status = zoo_build(&q, &r.model, &r.err);
    arena_free(a);
    return r;
}

typedef struct counts {
    uint64_t params, not_in_graph, macs;
    uint32_t notes;
} counts;

/* Everything that the analysis had to say counts as a note: a built-in network leaves no doubt. */
static counts count(const ir_model *m, const char *name)
{
    assay_error err;
    counts c = {0};
    counted of;
    infer_result *r = NULL;
    arena *a = arena_new(MEMORY);
    profile *p = profile_new(MEMORY);
    err_clear(&err);
    assay_status status = ir_verify(m, &err);
    if (status == ASSAY_OK)
        status = infer_run(m, NULL, a, &r, &err);
    if (status == ASSAY_OK)
        status = count_run(r, NULL, p, &of, &err);
    if (status != ASSAY_OK)
        fail_msg("%s: %s", name, err.message);
    c.params = p->architecture.total_parameters;
    c.macs = p->architecture.macs + p->load_time.macs;
    c.not_in_graph = m->parameters_not_in_graph;
    c.notes = m->notes.list.n + p->accounting.n_items;
    for (uint32_t i = 0; i < r->items.n; i++) /* how many boxes survive is said, and is no fault */
        c.notes -= str_is(ir_node_at(m, r->items.items[i].node)->op, "NonMaxSuppression");
    for (uint32_t i = 0; i < r->notes.list.n; i++)
        print_message("%s: " STR_FMT "\n", name, STR_ARG(r->notes.list.items[i].text));
    for (uint32_t i = 0; i < p->accounting.n_items; i++)
        print_message("%s: " STR_FMT ": " STR_FMT "\n", name, STR_ARG(p->accounting.items[i].node),
                      STR_ARG(p->accounting.items[i].reason));
    profile_free(p);
    arena_free(a);
    return c;
}

static counts count_of(wish w)
{
    built r = build(w);
    if (r.status != ASSAY_OK)
        fail_msg("%s %s: %s", w.name, w.set ? w.set : "", r.err.message);
    counts c = count(r.model, w.name);
    ir_model_free(r.model);
    return c;
}

static const ir_value *value_named(const ir_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->values.n; i++)
        if (str_is(m->values.items[i].name, name))
            return &m->values.items[i];
    return NULL;
}

static const ir_node *node_named(const ir_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->nodes.n; i++)
        if (str_is(m->nodes.items[i].name, name))
            return &m->nodes.items[i];
    return NULL;
}

/* ---- published counts ---- */

enum { BUILDER, WEIGHTS, PARAMS, GMACS, INPUT, SET, WITHIN, COLUMNS };

static bool split_line(char *line, char **cells)
{
    int n = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *at = line; at && n < COLUMNS; n++)
        cells[n] = strsep(&at, ",");
    return n == COLUMNS && line[0] != '#' && strcmp(cells[BUILDER], "builder") != 0;
}

static bool gmacs_agree(uint64_t macs, const char *published, const char *within)
{
    double ours = (double)macs / 1e9, theirs = strtod(published, NULL);
    if (*within)
        return fabs(ours - theirs) <= theirs * strtod(within, NULL) / 100.0;
    return llround(ours * 1e3) == llround(theirs * 1e3);
}

static unsigned check_row(char **cell)
{
    counts c = count_of((wish){.name = cell[BUILDER], .input = cell[INPUT], .set = cell[SET]});
    bool params = c.params + c.not_in_graph == strtoull(cell[PARAMS], NULL, 10);
    if (params && gmacs_agree(c.macs, cell[GMACS], cell[WITHIN]) && c.notes == 0)
        return 0;
    print_error("%s %s: %llu + %llu parameters (published %s), %.6f GMACs (%s), %u notes\n",
                cell[BUILDER], cell[WEIGHTS], (unsigned long long)c.params,
                (unsigned long long)c.not_in_graph, cell[PARAMS], (double)c.macs / 1e9, cell[GMACS],
                c.notes);
    return 1;
}

static void published_counts(void **state)
{
    (void)state;
    FILE *f = fopen("tests/data/torchvision.csv", "r");
    char line[1024], *cells[COLUMNS];
    unsigned wrong = 0, rows = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!split_line(line, cells))
            continue;
        rows++;
        wrong += check_row(cells);
    }
    fclose(f);
    assert_int_equal(rows, 166);
    assert_int_equal(wrong, 0);
}

static void teaching_counts(void **state)
{
    (void)state;
    counts lenet = count_of((wish){.name = "lenet"}), mlp = count_of((wish){.name = "mlp"});
    assert_int_equal(lenet.params, 61706);
    assert_int_equal(lenet.macs,
                     28 * 28 * 6 * 25 + 10 * 10 * 16 * 6 * 25 + 400 * 120 + 120 * 84 + 840);
    assert_int_equal(mlp.params, 784 * 512 + 512 + 512 * 256 + 256 + 2570);
}

/* Each row as it stands: valid, inferable, no two rows or aliases of one name. */
static void every_row_builds(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < zoo_count(); i++) {
        const zoo_row *row = zoo_at(i);
        assert_non_null(row->family);
        assert_non_null(row->task);
        assert_ptr_equal(zoo_find(str_of(row->name)), row);
        counts c = count_of((wish){.name = row->name});
        if (c.notes)
            fail_msg("%s leaves %u notes", row->name, c.notes);
        assert_true(c.params > 0 && c.macs > 0);
    }
    assert_null(zoo_at(zoo_count()));
}

static void batches_multiply(void **state)
{
    static const char *const names[] = {"resnet18", "densenet121", "convnext_tiny", "mlp"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        counts one = count_of((wish){.name = names[i]}),
               four = count_of((wish){.name = names[i], .batch = 4});
        assert_int_equal(four.macs, one.macs * 4);
        assert_int_equal(four.params, one.params);
    }
}

/* ---- names ---- */

static void check_weight(const ir_model *m, const char *name, const char *dims, uint32_t flag)
{
    int64_t want[NN_RANK];
    int rank = parse_dims(dims, want, NN_RANK);
    const ir_value *v = value_named(m, name);
    if (!v || !v->constant)
        fail_msg("there is no weight %s", name);
    assert_int_equal(v->constant->rank, rank);
    assert_memory_equal(v->constant->dims, want, (size_t)rank * sizeof *want);
    assert_int_equal(v->constant->storage, IR_DATA_NONE);
    assert_true(v->flags & flag);
}

static void weights_are_named_as_in_pytorch(void **state)
{
    static const struct {
        const char *model, *weight, *dims;
        uint32_t flag;
    } rows[] = {
        {"resnet50", "conv1.weight", "64x3x7x7", IR_VALUE_PARAM},
        {"resnet50", "layer4.2.conv3.weight", "2048x512x1x1", IR_VALUE_PARAM},
        {"resnet50", "layer2.0.downsample.1.running_var", "512", IR_VALUE_BUFFER},
        {"resnet50", "fc.weight", "1000x2048", IR_VALUE_PARAM},
        {"resnext50_32x4d", "layer1.0.conv2.weight", "128x4x3x3", IR_VALUE_PARAM},
        {"vgg16_bn", "features.40.weight", "512x512x3x3", IR_VALUE_PARAM},
        {"densenet121", "features.denseblock4.denselayer16.conv1.weight", "128x992x1x1",
         IR_VALUE_PARAM},
        {"squeezenet1_1", "features.12.expand3x3.weight", "256x64x3x3", IR_VALUE_PARAM},
        {"inception_v3", "Mixed_7c.branch3x3dbl_3b.conv.weight", "384x384x3x1", IR_VALUE_PARAM},
        {"googlenet", "inception5b.branch4.1.conv.weight", "128x832x1x1", IR_VALUE_PARAM},
        {"shufflenet_v2_x1_0", "stage3.7.branch2.5.weight", "116x116x1x1", IR_VALUE_PARAM},
        {"mnasnet1_0", "layers.12.3.layers.3.weight", "1152x1x5x5", IR_VALUE_PARAM},
        {"mobilenet_v2", "features.17.conv.2.weight", "320x960x1x1", IR_VALUE_PARAM},
        {"mobilenet_v3_large", "features.4.block.2.fc1.weight", "24x72x1x1", IR_VALUE_PARAM},
        {"efficientnet_b0", "features.2.0.block.0.0.weight", "96x16x1x1", IR_VALUE_PARAM},
        {"efficientnet_v2_s", "features.4.0.block.2.fc2.bias", "256", IR_VALUE_PARAM},
        {"regnet_y_400mf", "trunk_output.block4.block4-5.f.se.fc2.weight", "440x110x1x1",
         IR_VALUE_PARAM},
        {"convnext_tiny", "features.5.8.layer_scale", "384x1x1", IR_VALUE_PARAM},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        built r = build((wish){.name = rows[i].model});
        assert_int_equal(r.status, ASSAY_OK);
        check_weight(r.model, rows[i].weight, rows[i].dims, rows[i].flag);
        ir_model_free(r.model);
    }
}

static void nodes_know_their_module(void **state)
{
    (void)state;
    built r = build((wish){.name = "resnet18"});
    assert_int_equal(r.status, ASSAY_OK);
    assert_true(str_is(node_named(r.model, "layer1.0.conv1")->module, "layer1.0.conv1"));
    assert_true(str_is(node_named(r.model, "layer1.0.relu_1")->module, "layer1.0.relu"));
    assert_true(str_is(node_named(r.model, "layer1.0.add")->module, "layer1.0"));
    assert_true(str_is(r.model->format, "zoo"));
    assert_int_equal(ir_opset_version(r.model, STR("")), NN_OPSET);
    ir_model_free(r.model);
}

static void finding_names(void **state)
{
    (void)state;
    assert_string_equal(zoo_find(STR("ResNet-50"))->name, "resnet50");
    assert_string_equal(zoo_find(STR("Wide-ResNet50-2"))->name, "wide_resnet50_2");
    assert_string_equal(zoo_find(STR("inceptionv3"))->name, "inception_v3");
    assert_string_equal(zoo_find(STR("squeezenet1.1"))->name, "squeezenet1_1");
    assert_string_equal(zoo_find(STR("mobilenetv2"))->name, "mobilenet_v2");
    assert_string_equal(zoo_find(STR("regnet_y_16gf"))->name, "regnet_y_16gf");
    assert_string_equal(zoo_find(STR("regnet_y_1_6gf"))->name, "regnet_y_1_6gf");
    assert_null(zoo_find(STR("regnety16gf")));
    assert_null(zoo_find(STR("resnet51")));
    assert_null(zoo_find(STR("_")));
    assert_null(zoo_find(STR("")));
}

static bool suggests(const char *asked, const char *wanted)
{
    const char *names[5];
    uint32_t n = zoo_suggest(str_of(asked), NULL, names, 5);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], wanted) == 0)
            return true;
    return false;
}

static void suggesting_names(void **state)
{
    const char *names[5];
    char longest[5000];
    (void)state;
    assert_true(suggests("resnet5", "resnet50"));
    assert_true(suggests("mobilnet_v2", "mobilenet_v2"));
    assert_true(suggests("efficientnet", "efficientnet_b0"));
    assert_true(suggests("mobilnet", "mobilenet_v2")); /* a slip in the beginning of a name */
    assert_true(suggests("llama3", "llama-3.1-8b"));   /* separators left out */
    assert_string_equal(zoo_task_of_stranger(STR("YOLOv7")), "detection");
    assert_null(zoo_task_of_stranger(STR("resnet")));
    assert_int_equal(zoo_suggest(STR("qqqqqqqqqqqqqqqqq"), NULL, names, 5), 0);
    assert_int_equal(zoo_suggest(STR("resnet"), NULL, names, 0), 0);
    memset(longest, 'x', sizeof longest);
    assert_int_equal(zoo_suggest((str){longest, sizeof longest}, NULL, names, 5), 0);
}

/* ---- parameters ---- */

static void parameters_change_the_network(void **state)
{
    (void)state;
    counts base = count_of((wish){.name = "resnet18"});
    counts grey = count_of((wish){.name = "resnet18", .set = "in_chans=1 num_classes=10"});
    assert_int_equal(base.params - grey.params, 2 * 64 * 49 + 990 * 512 + 990);
    counts alias = count_of((wish){.name = "resnet18", .set = "in_channels=1 classes=10"});
    assert_int_equal(alias.params, grey.params);
    counts small = count_of((wish){.name = "resnet18", .set = "image_size=112"});
    counts shape = count_of((wish){.name = "resnet18", .input = "1x3x112x112"});
    assert_int_equal(small.macs, shape.macs);
    counts same = count_of((wish){.name = "resnet50", .set = "layers=2,2,2,2 block=basic"});
    assert_int_equal(same.macs, base.macs);
    assert_int_equal(count_of((wish){.name = "mobilenet_v2", .set = "width_mult=1.4"}).params,
                     6108776);
}

static void training_heads(void **state)
{
    (void)state;
    counts with = count_of((wish){.name = "inception_v3"});
    counts without = count_of((wish){.name = "inception_v3", .set = "aux_logits=false"});
    assert_int_equal(with.params, 23834568);
    assert_int_equal(with.not_in_graph, 3326696);
    assert_int_equal(without.not_in_graph, 0);
    assert_int_equal(without.macs, with.macs);
    counts google = count_of(
        (wish){.name = "googlenet", .set = "aux_logits=true transform_input=true"});
    assert_int_equal(google.params + google.not_in_graph, 13004888);
}

static void check_sentence(wish w, const char *part)
{
    built r = build(w);
    if (r.status != ASSAY_ERR_USAGE || !strstr(r.err.message, part))
        fail_msg("%s %s: status %d, '%s' does not say '%s'", w.name, w.set ? w.set : "", r.status,
                 r.err.message, part);
    assert_null(r.model);
}

static void bad_parameters_are_named(void **state)
{
    (void)state;
    check_sentence((wish){.name = "resnet18", .set = "colour=red"}, "no parameter 'colour'");
    check_sentence((wish){.name = "resnet18", .set = "num_classes=many"}, "'num_classes'");
    check_sentence((wish){.name = "resnet18", .set = "num_classes=-3"}, "fc");
    check_sentence((wish){.name = "resnet18", .set = "layers=2,2,x"}, "'layers'");
    check_sentence((wish){.name = "resnet18", .set = "layers=1,2,3,4,5,6,7"}, "'layers'");
    check_sentence((wish){.name = "resnet18", .set = "block=thin"}, "'block'");
    check_sentence((wish){.name = "resnet18", .set = "groups=2"}, "bottleneck");
    check_sentence((wish){.name = "resnet50", .set = "layers=1000000000"}, "'layers'");
    check_sentence((wish){.name = "regnet_x_8gf", .set = "w_0=81"}, "'w_0'");
    check_sentence((wish){.name = "mobilenet_v2", .set = "width_mult=1e300"}, "'width_mult'");
    check_sentence((wish){.name = "inception_v3", .set = "aux_logits=perhaps"}, "'aux_logits'");
    check_sentence((wish){.name = "alexnet", .set = "image_size=16"}, "features");
    check_sentence((wish){.name = "vgg11", .set = "image_size=0"}, "input");
    check_sentence((wish){.name = "resnet18", .set = "justaword"}, "key=value");
    check_sentence((wish){.name = "resnet18", .input = "1x3x224"}, "rank");
    check_sentence((wish){.name = "resnet18", .input = "1x3x224x-4"}, "input");
    check_sentence((wish){.name = "mlp", .set = "hidden="}, "'hidden'");
}

static void configs_may_know_more(void **state)
{
    (void)state;
    built r = build((wish){.name = "resnet18", .set = "colour=red", .lenient = true});
    assert_int_equal(r.status, ASSAY_OK);
    assert_int_equal(r.model->notes.list.n, 1);
    assert_true(str_contains(r.model->notes.list.items[0].text, "colour"));
    ir_model_free(r.model);
}

static void input_shapes_by_name(void **state)
{
    const int64_t dims[] = {2, 3, 64, 64};
    zoo_input inputs[] = {{.name = STR("input"), .rank = 4, .dims = dims},
                          {.rank = 4, .dims = dims}};
    zoo_request q = {.row = zoo_find(STR("resnet18")), .inputs = inputs, .n_inputs = 1};
    ir_model *m;
    assay_error err;
    (void)state;
    err_clear(&err);
    assert_int_equal(zoo_build(&q, &m, &err), ASSAY_OK);
    assert_int_equal(value_named(m, "input")->declared.dims[2].value, 64);
    ir_model_free(m);
    inputs[0].name = STR("pixels");
    assert_int_equal(zoo_build(&q, &m, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "pixels"));
    err_clear(&err);
    inputs[0].name = STR("");
    q.n_inputs = 2;
    assert_int_equal(zoo_build(&q, &m, &err), ASSAY_ERR_USAGE);
    assert_int_equal(zoo_build(&q, &m, NULL), ASSAY_ERR_USAGE);
}

/* ---- eight bits ---- */

static void quantised_networks(void **state)
{
    (void)state;
    built r = build((wish){.name = "quantized_resnet18"});
    assert_int_equal(r.status, ASSAY_OK);
    check_weight(r.model, "layer1.0.conv1.weight", "64x64x3x3", IR_VALUE_PARAM);
    assert_int_equal(value_named(r.model, "layer1.0.conv1.weight")->constant->dtype, IR_INT8);
    assert_true(str_is(node_named(r.model, "layer1.0.conv1.dequant")->op, "DequantizeLinear"));
    counts q = count(r.model, "quantized_resnet18"), f = count_of((wish){.name = "resnet18"});
    assert_int_equal(q.params, f.params);
    assert_int_equal(q.macs, f.macs);
    ir_model_free(r.model);
    assert_int_equal(count_of((wish){.name = "convnext_tiny", .set = "quantize=true"}).params,
                     28589128);
}

/* ---- values ---- */

static json_value parse(arena *a, const char *text)
{
    json_value v;
    assert_int_equal(zoo_value_parse(a, str_of(text), &v, NULL), ASSAY_OK);
    return v;
}

static void values_from_text(void **state)
{
    arena *a = arena_new(MEMORY);
    (void)state;
    assert_int_equal(parse(a, "12").kind, JSON_INT);
    assert_int_equal(parse(a, "-12").i, -12);
    assert_int_equal(parse(a, "0.5").kind, JSON_REAL);
    assert_int_equal(parse(a, "1e-3").kind, JSON_REAL);
    assert_int_equal(parse(a, "99999999999999999999").kind, JSON_REAL);
    assert_int_equal(parse(a, "1e999").kind, JSON_TEXT);
    assert_int_equal(parse(a, "true").kind, JSON_BOOL);
    assert_int_equal(parse(a, "null").kind, JSON_NULL);
    assert_int_equal(parse(a, "").kind, JSON_TEXT);
    assert_int_equal(parse(a, "nearest+conv").kind, JSON_TEXT);
    assert_int_equal(parse(a, "3x3").kind, JSON_TEXT);
    assert_int_equal(parse(a, "1,2,3").n, 3);
    assert_int_equal(parse(a, "[6]").n, 1);
    assert_int_equal(parse(a, "[]").n, 0);
    assert_int_equal(parse(a, "[1, 2]").items[1].i, 2);
    arena_free(a);
}

static void arguments_replace(void **state)
{
    arena *a = arena_new(MEMORY);
    zoo_args args;
    (void)state;
    zoo_args_init(&args, a);
    assert_int_equal(zoo_args_parse(&args, STR("a=1 b=x  a=2"), true, NULL), ASSAY_OK);
    assert_int_equal(args.list.n, 2);
    assert_int_equal(zoo_args_get(&args, "a")->value.i, 2);
    assert_null(zoo_args_get(&args, "c"));
    assert_int_equal(zoo_args_parse(&args, STR("=1"), true, NULL), ASSAY_ERR_USAGE);
    arena_free(a);
}

/* ---- hostile sizes and no memory ---- */

static void odd_sizes_end_in_a_sentence(void **state)
{
    static const char *const sets[] = {
        "image_size=1",
        "image_size=7",
        "image_size=33",
        "image_size=-1",
        "image_size=3000000000",
        "num_classes=0",
        "num_classes=9223372036854775807",
        "in_chans=0",
        "in_chans=4611686018427387904",
    };
    (void)state;
    for (uint32_t i = 0; i < zoo_count(); i++) {
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
            built r = build((wish){.name = zoo_at(i)->name, .set = sets[k]});
            if (r.status == ASSAY_OK)
                count(r.model, zoo_at(i)->name);
            else if (r.status != ASSAY_ERR_USAGE || !r.err.message[0])
                fail_msg("%s %s: %d '%s'", zoo_at(i)->name, sets[k], r.status, r.err.message);
            ir_model_free(r.model);
        }
    }
}

static void memory_may_run_out(void **state)
{
    static const char *const names[] = {"resnet18", "quantized_mobilenet_v2", "densenet121"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t limit = 256; limit < 16 << 20; limit += limit / 3) {
            built r = build((wish){.name = names[i], .memory = limit});
            assert_true(r.status == ASSAY_OK || r.status == ASSAY_ERR_SYSTEM);
            ir_model_free(r.model);
        }
    }
}

int run_test_zoo(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_counts),
        cmocka_unit_test(teaching_counts),
        cmocka_unit_test(every_row_builds),
        cmocka_unit_test(batches_multiply),
        cmocka_unit_test(weights_are_named_as_in_pytorch),
        cmocka_unit_test(nodes_know_their_module),
        cmocka_unit_test(finding_names),
        cmocka_unit_test(suggesting_names),
        cmocka_unit_test(parameters_change_the_network),
        cmocka_unit_test(training_heads),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(configs_may_know_more),
        cmocka_unit_test(input_shapes_by_name),
        cmocka_unit_test(quantised_networks),
        cmocka_unit_test(values_from_text),
        cmocka_unit_test(arguments_replace),
        cmocka_unit_test(odd_sizes_end_in_a_sentence),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
