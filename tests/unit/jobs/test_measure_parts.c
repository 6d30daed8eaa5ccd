/* What measuring is made of beside the loops: tensors from files, kernels mapped back to layers, batch
 * sizes changed in a graph, what inputs must hold. */
#include <assay/measure.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/feed.h"
#include "analyze/kernels.h"
#include "base/file.h"
#include "device/machine.h"
#include "formats/onnx_read.h"
#include "formats/tensor_file.h"
#include "ir/build.h"
#include "jobs/job.h"
#include "jobs/measure.h"
#include "measure/shares.h"
#include "profile/time_groups.h"
#include "rewrite/rebatch.h"
#include "support/values.h"

/* ---- tensors from files ---- */

static assay_status read_as(const char *suffix, const void *p, size_t n, arena *a, tensor_file *t,
                            assay_error *err)
{
    char *folder = NULL, path[512];
    file_out *f;
    err_clear(err);
    assert_int_equal(file_temp_folder(&folder, err), ASSAY_OK);
    snprintf(path, sizeof path, "%s/x%s", folder, suffix);
    assert_int_equal(file_out_open(path, &f, err), ASSAY_OK);
    assert_int_equal(file_out_write(f, p, n, err), ASSAY_OK);
    assert_int_equal(file_out_commit(f, err), ASSAY_OK);
    assay_status s = tensor_file_read(path, a, t, err);
    file_remove_folder(folder);
    free(folder);
    return s;
}

static size_t npy(char *out, const char *dict, const void *data, size_t n)
{
    size_t length = strlen(dict);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(length & 0xff);
    out[9] = (char)(length >> 8);
    memcpy(out + 10, dict, length);
    memcpy(out + 10 + length, data, n);
    return 10 + length + n;
}

static void test_npy(void **state)
{
    (void)state;
    char file[512];
    const float x[] = {1, 2, 3, 4, 5, 6};
    tensor_file t;
    assay_error err;
    arena *a = arena_new(1 << 20);
    size_t n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", x,
                   sizeof x);
    assert_int_equal(read_as(".npy", file, n, a, &t, &err), ASSAY_OK);
    assert_true(t.dtype == IR_FLOAT32 && t.rank == 2 && t.dims[0] == 2 && t.dims[1] == 3);
    assert_memory_equal(t.data, x, sizeof x);
    assert_int_equal(read_as(".npy", file, n - 1, a, &t, &err), ASSAY_ERR_MALFORMED);
    for (size_t cut = 0; cut < n; cut++)
        assert_int_equal(read_as(".npy", file, cut, a, &t, &err), ASSAY_ERR_MALFORMED);
    n = npy(file, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", x, sizeof x);
    assert_int_equal(read_as(".npy", file, n, a, &t, &err), ASSAY_ERR_MALFORMED);
    n = npy(file, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", x, sizeof x);
    assert_int_equal(read_as(".npy", file, n, a, &t, &err), ASSAY_ERR_MALFORMED);
    n = npy(file, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }", "\7\0\0\0\0\0\0\0", 8);
    assert_int_equal(read_as(".npy", file, n, a, &t, &err), ASSAY_OK);
    assert_true(t.dtype == IR_INT64 && t.rank == 0);
    assert_int_equal(read_as(".bin", "abcd", 4, a, &t, &err), ASSAY_OK);
    assert_true(t.rank == -1 && t.size_bytes == 4);
    arena_free(a);
}

static void test_tensor_proto(void **state)
{
    (void)state;
    tensor_file t;
    assay_error err;
    arena *a = arena_new(1 << 20);
    /* dims 2, int64_data packed 5, 300; the type comes last */
    const char typed[] = "\x08\x02\x3a\x03\x05\xac\x02\x10\x07";
    assert_int_equal(read_as(".pb", typed, sizeof typed - 1, a, &t, &err), ASSAY_OK);
    assert_true(t.dtype == IR_INT64 && t.rank == 1 && t.dims[0] == 2 && t.size_bytes == 16);
    assert_true(((const int64_t *)t.data)[0] == 5 && ((const int64_t *)t.data)[1] == 300);
    const char raw[] = "\x08\x01\x10\x01\x4a\x04\x00\x00\x80\x3f";
    assert_int_equal(read_as(".pb", raw, sizeof raw - 1, a, &t, &err), ASSAY_OK);
    const float one = 1.0f;
    assert_true(t.dtype == IR_FLOAT32);
    assert_memory_equal(t.data, &one, sizeof one);
    assert_int_equal(read_as(".pb", raw, sizeof raw - 2, a, &t, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(read_as(".pb", "\x08\x03\x10\x01", 4, a, &t, &err), ASSAY_ERR_MALFORMED);
    arena_free(a);
}

/* A complex number is two of the typed fields. */
static void test_tensor_proto_complex(void **state)
{
    (void)state;
    tensor_file t;
    assay_error err;
    arena *a = arena_new(1 << 20);
    const float pair[] = {1.0f, 2.0f};
    const double wide[] = {1.0, 2.0};
    char small[14] = "\x08\x01\x10\x0e\x22\x08", large[22] = "\x08\x01\x10\x0f\x52\x10";
    memcpy(small + 6, pair, sizeof pair);
    memcpy(large + 6, wide, sizeof wide);
    assert_int_equal(read_as(".pb", small, sizeof small, a, &t, &err), ASSAY_OK);
    assert_true(t.dtype == IR_COMPLEX64 && t.size_bytes == sizeof pair);
    assert_memory_equal(t.data, pair, sizeof pair);
    assert_int_equal(read_as(".pb", large, sizeof large, a, &t, &err), ASSAY_OK);
    assert_true(t.dtype == IR_COMPLEX128 && t.size_bytes == sizeof wide);
    assert_memory_equal(t.data, wide, sizeof wide);
    large[1] = 2;
    assert_int_equal(read_as(".pb", large, sizeof large, a, &t, &err), ASSAY_ERR_MALFORMED);
    arena_free(a);
}

/* ---- graphs by hand ---- */

static ir_model *new_graph(void)
{
    ir_model *m;
    assay_error err = {0};
    assert_int_equal(ir_model_new(1 << 20, &m, &err), ASSAY_OK);
    ir_set_opset(m, (str){0}, 17);
    return m;
}

static ir_id value(ir_model *m, const char *name)
{
    for (ir_id i = 0; i < m->values.n; i++)
        if (str_is(ir_value_at(m, i)->name, name))
            return i;
    return ir_add_value(m, 0, str_of(name));
}

static ir_id node(ir_model *m, const char *name, const char *op, const char *in, const char *in2,
                  const char *out)
{
    ir_id inputs[2], output = value(m, out);
    inputs[0] = value(m, in);
    inputs[1] = in2 ? value(m, in2) : IR_NONE;
    const ir_node n = {.name = str_of(name),
                       .op = str_of(op),
                       .version = 17,
                       .call = IR_NONE,
                       .inputs = inputs,
                       .n_inputs = in2 ? 2 : 1,
                       .outputs = &output,
                       .n_outputs = 1};
    return ir_add_node(m, 0, &n);
}

/* conv+bn+relu fused under a name of its own, a reorder that nobody asked for, and a rest. */
static void test_kernels(void **state)
{
    (void)state;
    assay_error err = {0};
    arena *a = arena_new(1 << 20);
    ir_model *from = new_graph(), *to = new_graph();
    uint32_t layer_of[6] = {0, 1, 2, 3, UINT32_MAX, 4};
    kernel_map found;
    node(from, "conv", "Conv", "x", NULL, "c");
    node(from, "bn", "BatchNormalization", "c", NULL, "b");
    node(from, "relu", "Relu", "b", NULL, "r");
    node(from, "pool", "MaxPool", "r", NULL, "p");
    node(from, "shape", "Shape", "p", NULL, "s");
    node(from, "add", "Add", "p", "s", "y");
    node(to, "reorder", "ReorderInput", "x", NULL, "tmp1");
    node(to, "r_nchwc", "Conv", "tmp1", NULL, "r_nchwc");
    node(to, "pool", "MaxPool", "r_nchwc", NULL, "unknown");
    node(to, "add/fused", "FusedAdd", "unknown", NULL, "y");
    assert_int_equal(kernels_map(from, to, layer_of, a, &found, &err), ASSAY_OK);
    assert_int_equal(found.n_kernels, 4);
    assert_int_equal(found.kernels[0].n, 0);
    assert_int_equal(found.kernels[1].n, 3);
    assert_int_equal(found.kernels[2].n, 1);
    assert_int_equal(found.layers[found.kernels[2].first], 3);
    assert_int_equal(found.kernels[3].n, 1);
    assert_int_equal(found.layers[found.kernels[3].first], 4);
    assert_int_equal(found.n_layers, 5);
    ir_model_free(from);
    ir_model_free(to);
    arena_free(a);
}

/* A convolution of blocked layout that adds the residual and applies the activation: its result has no name of
 * the model's, and the next kernel must not get them. */
static void test_kernels_with_sum(void **state)
{
    (void)state;
    assay_error err = {0};
    arena *a = arena_new(1 << 20);
    ir_model *from = new_graph(), *to = new_graph();
    const uint32_t layer_of[] = {0, 1, 2, 3, 4};
    const ir_attr relu = {
        .name = STR("activation"), .kind = IR_ATTR_STRING, .n = 1, .v.s = STR("Relu")};
    kernel_map found;
    node(from, "conv1", "Conv", "x", NULL, "c1");
    node(from, "conv2", "Conv", "c1", NULL, "c2");
    node(from, "add", "Add", "c2", "c1", "s");
    node(from, "relu", "Relu", "s", NULL, "r");
    node(from, "conv3", "Conv", "r", NULL, "y");
    node(to, "c1_nchwc", "Conv", "x", NULL, "reorder_1");
    const ir_id in[] = {value(to, "reorder_1"), value(to, "w"), IR_NONE, value(to, "reorder_1")};
    const ir_id out = value(to, "reorder_2");
    const ir_node fused = {.name = STR("c2_nchwc"),
                           .domain = STR("com.microsoft.nchwc"),
                           .op = STR("Conv"),
                           .version = 17,
                           .call = IR_NONE,
                           .inputs = in,
                           .n_inputs = 4,
                           .outputs = &out,
                           .n_outputs = 1,
                           .attrs = &relu,
                           .n_attrs = 1};
    ir_add_node(to, 0, &fused);
    node(to, "y_nchwc", "Conv", "reorder_2", NULL, "y");
    assert_int_equal(kernels_map(from, to, layer_of, a, &found, &err), ASSAY_OK);
    assert_int_equal(found.kernels[0].n, 1);
    assert_int_equal(found.kernels[1].n, 3); /* conv2, add, relu */
    assert_int_equal(found.kernels[2].n, 1);
    assert_int_equal(found.layers[found.kernels[2].first], 4);
    ir_model_free(from);
    ir_model_free(to);
    arena_free(a);
}

/* ---- another batch ---- */

static void add_shape(ir_model *m, const char *name, const int64_t *dims, int64_t n)
{
    ir_tensor *t = ir_make_tensor(m, str_of(name), IR_INT64, 1, &n);
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(m->arena, dims, sizeof *dims * (size_t)n);
    ir_add_constant(m, 0, value(m, name), t);
}

static const int64_t *target_of(const ir_model *m, ir_id id)
{
    const ir_tensor *t = ir_value_at(m, ir_node_at(m, id)->inputs[1])->constant;
    return (const int64_t *)(const void *)t->bytes;
}

static void test_rebatch(void **state)
{
    (void)state;
    assay_error err = {0};
    const int64_t in[] = {1, 6}, whole[] = {2, 3}, open[] = {1, -1}, kept[] = {-1, 3};
    ir_model *m = new_graph();
    add_shape(m, "whole", whole, 2);
    add_shape(m, "open", open, 2);
    add_shape(m, "kept", kept, 2);
    ir_id a = node(m, "a", "Reshape", "x", "whole", "y");
    ir_id b = node(m, "b", "Reshape", "x", "open", "z");
    ir_id c = node(m, "c", "Reshape", "x", "kept", "w");
    ir_value_at(m, value(m, "x"))->declared = ir_tensor_type(m, IR_FLOAT32, 2, in);
    ir_value_at(m, value(m, "y"))->declared = ir_tensor_type(m, IR_FLOAT32, 2, whole);
    ir_add_input(m, 0, value(m, "x"));
    ir_add_output(m, 0, value(m, "z"));
    assert_int_equal(rewrite_rebatch(m, NULL, 5, &err), ASSAY_OK);
    assert_int_equal(ir_value_at(m, value(m, "x"))->declared.dims[0].value, 5);
    assert_int_equal(ir_value_at(m, value(m, "y"))->declared.kind, IR_KIND_NONE);
    assert_true(target_of(m, a)[0] == -1 && target_of(m, a)[1] == 3);
    assert_true(target_of(m, b)[0] == 5 && target_of(m, b)[1] == -1);
    assert_true(target_of(m, c)[0] == -1 && target_of(m, c)[1] == 3);
    ir_model_free(m);
}

/* ---- what inputs must hold ---- */

static void test_feed(void **state)
{
    (void)state;
    assay_error err = {0};
    arena *a = arena_new(1 << 24);
    infer_result *r;
    const int64_t ids[] = {2, 8}, table[] = {1000, 16};
    ir_model *m = new_graph();
    ir_tensor *t = ir_make_tensor(m, STR("table"), IR_FLOAT32, 2, table);
    ir_add_constant(m, 0, value(m, "table"), t);
    node(m, "cast", "Identity", "ids", NULL, "ids2");
    node(m, "emb", "Gather", "table", "ids2", "e");
    node(m, "neg", "Identity", "attention_mask", NULL, "n");
    const char *names[] = {"ids", "attention_mask"};
    for (int i = 0; i < 2; i++) {
        ir_value_at(m, value(m, names[i]))->declared = ir_tensor_type(m, IR_INT64, 2, ids);
        ir_value_at(m, value(m, names[i]))->flags |= IR_VALUE_INPUT;
        ir_add_input(m, 0, value(m, names[i]));
    }
    ir_add_output(m, 0, value(m, "e"));
    assert_int_equal(infer_run(m, NULL, a, &r, &err), ASSAY_OK);
    feed_hint h = feed_of(r, value(m, "ids"));
    assert_true(h.kind == FEED_INDEX && h.bound == 1000 && h.looks_up);
    assert_true(feed_of(r, value(m, "attention_mask")).kind == FEED_MASK);
    ir_model_free(m);
    arena_free(a);
}

/* x [2, 3, 4] goes into an operator whose second input the caller gives; y is declared. What must it hold? */
static void assert_steered(const char *op, int64_t n, int y_rank, const int64_t *y,
                           const double *expected)
{
    assay_error err = {0};
    arena *a = arena_new(1 << 24);
    infer_result *r;
    ir_model *m = new_graph();
    const char *names[] = {"x", "by"};
    const int64_t x[] = {2, 3, 4}, *dims[] = {x, &n};
    for (int i = 0; i < 2; i++) {
        ir_value_at(m, value(m, names[i]))->declared = ir_tensor_type(m, i ? IR_INT64 : IR_FLOAT32,
                                                                      i ? 1 : 3, dims[i]);
        ir_value_at(m, value(m, names[i]))->flags |= IR_VALUE_INPUT;
        ir_add_input(m, 0, value(m, names[i]));
    }
    node(m, "same", "Identity", "by", NULL, "passed");
    node(m, "it", op, "x", "passed", "y");
    ir_value_at(m, value(m, "y"))->declared = ir_tensor_type(m, IR_FLOAT32, y_rank, y);
    ir_add_output(m, 0, value(m, "y"));
    assert_int_equal(infer_run(m, NULL, a, &r, &err), ASSAY_OK);
    feed_hint h = feed_of(r, value(m, "by"));
    assert_int_equal(h.kind, FEED_STEER);
    for (int64_t i = 0; i < n; i++)
        assert_float_equal(h.numbers[i], expected[i], 0);
    assert_int_equal(feed_of(r, value(m, "x")).kind, FEED_ANY);
    ir_model_free(m);
    arena_free(a);
}

static void test_feed_steers(void **state)
{
    (void)state;
    const int64_t flat[] = {6, 4}, tall[] = {2, 1, 3, 1, 4}, more[] = {4, 3, 12},
                  wide[] = {2, 3, 6};
    const int64_t least[] = {2, 1, 4}, top[] = {2, 3, 2};
    assert_steered("Reshape", 2, 2, flat, (double[]){6, 4});
    assert_steered("Unsqueeze", 2, 5, tall, (double[]){1, 3});
    assert_steered("Tile", 3, 3, more, (double[]){2, 1, 3});
    assert_steered("Pad", 6, 3, wide, (double[]){0, 0, 0, 0, 0, 2});
    assert_steered("ReduceSum", 1, 3, least, (double[]){1});
    assert_steered("TopK", 1, 3, top,
                   (double[]){2}); /* smaller than the axis: the file knows better */
    assert_steered("CumSum", 1, 3, (const int64_t[]){2, 3, 4}, (double[]){0});
}

static ir_id whole_input(ir_model *m, const char *name, int64_t n)
{
    ir_id id = value(m, name);
    ir_value_at(m, id)->declared = ir_tensor_type(m, IR_INT64, 1, &n);
    ir_value_at(m, id)->flags |= IR_VALUE_INPUT;
    ir_add_input(m, 0, id);
    return id;
}

static void whole_constant(ir_model *m, const char *name, int64_t content)
{
    ir_tensor *t = ir_make_tensor(m, str_of(name), IR_INT64, 1, (const int64_t[]){1});
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(m->arena, &content, sizeof content);
    ir_add_constant(m, 0, value(m, name), t);
}

/* A target that is put together has the numbers of each part; one that is cut out of a longer list gives it none. */
static void test_feed_parts(void **state)
{
    (void)state;
    assay_error err = {0};
    arena *a = arena_new(1 << 24);
    infer_result *r;
    ir_model *m = new_graph();
    const int64_t shape[] = {6, 4};
    ir_id rows = whole_input(m, "rows", 1), columns = whole_input(m, "columns", 1);
    ir_id list = whole_input(m, "list", 100), data = whole_input(m, "data", 24);
    const ir_attr axis = {.name = STR("axis"), .kind = IR_ATTR_INT};
    ir_node *join = ir_node_at(m, node(m, "join", "Concat", "rows", "columns", "target"));
    join->attrs = &axis;
    join->n_attrs = 1;
    node(m, "shaped", "Reshape", "data", "target", "y");
    whole_constant(m, "from", 0);
    whole_constant(m, "to", 2);
    ir_node *cut = ir_node_at(m, node(m, "cut", "Slice", "list", "from", "few"));
    const ir_id ends[] = {list, value(m, "from"), value(m, "to")};
    cut->inputs = ends;
    cut->n_inputs = 3;
    node(m, "again", "Reshape", "y", "few", "z");
    ir_value_at(m, value(m, "y"))->declared = ir_tensor_type(m, IR_INT64, 2, shape);
    ir_value_at(m, value(m, "z"))->declared = ir_tensor_type(m, IR_INT64, 2, shape);
    ir_add_output(m, 0, value(m, "z"));
    assert_int_equal(infer_run(m, NULL, a, &r, &err), ASSAY_OK);
    assert_float_equal(feed_of(r, rows).numbers[0], 6, 0);
    assert_float_equal(feed_of(r, columns).numbers[0], 4, 0);
    assert_null(feed_of(r, list).numbers);
    assert_null(feed_of(r, data).numbers);
    ir_model_free(m);
    arena_free(a);
}

/* ---- options ---- */

static void test_options(void **state)
{
    (void)state;
    assay_error err;
    assay_options *o = assay_options_new();
    assert_int_equal(assay_options_set(o, "batch-sizes", "1,2,32", &err), ASSAY_OK);
    assert_true(o->measure.batch_sizes.n == 3 && o->measure.batch_sizes.items[2] == 32);
    assert_int_equal(assay_options_set(o, "batch-sizes", "1,,2", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "batch-sizes", "0", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "configs", "1:fp32,8:fp16,4", &err), ASSAY_OK);
    assert_true(o->measure.configs.n == 3 && o->measure.configs.items[1].batch == 8);
    assert_true(str_is(o->measure.configs.items[2].precision, "fp32"));
    assert_int_equal(assay_options_set(o, "configs", "1:fp99", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "memory-limit", "4GiB", &err), ASSAY_OK);
    assert_true(o->measure.memory_limit == (uint64_t)4 << 30);
    assert_int_equal(assay_options_set(o, "memory-limit", "500MB", &err), ASSAY_OK);
    assert_true(o->measure.memory_limit == 500000000);
    assert_int_equal(assay_options_set(o, "memory-limit", "MB", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "input", "x=a.npy", &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "input", "b.npy", &err), ASSAY_OK);
    assert_true(str_is(o->measure.inputs.items[0].name, "x") &&
                str_empty(o->measure.inputs.items[1].name));
    assert_int_equal(assay_options_set(o, "input", "x=", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "provider-option", "a=b=c", &err), ASSAY_OK);
    assert_true(str_is(o->engine.provider_options.items[0].value, "b=c"));
    assert_int_equal(assay_options_set(o, "provider-option", "a", &err), ASSAY_ERR_USAGE);
    assay_options_free(o);
}

static void refuses(assay_options *o, const char *name, const char *value, const char *names)
{
    assay_error err;
    assert_int_equal(assay_options_set(o, name, value, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, names));
}

/* What the user says of the engine reaches its options, and nothing else is changed. */
static void test_engine_options(void **state)
{
    (void)state;
    assay_error err;
    assay_options *o = assay_options_new();
    arena *a = arena_new(1 << 16);
    engine_options e = job_engine_options(o, a);
    assert_true(e.threads == 0 && e.opt_level == ENGINE_OPT_ALL && e.spin && !e.n_provider_options);
    const char *const given[][2] = {
        {"threads", "3"},     {"opt-level", "1"},           {"no-spin", NULL},
        {"device", "cuda:1"}, {"provider-option", "a=b=c"}, {"provider-option", "d="}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        assert_int_equal(assay_options_set(o, given[i][0], given[i][1], &err), ASSAY_OK);
    e = job_engine_options(o, a);
    assert_true(e.threads == 3 && e.opt_level == ENGINE_OPT_BASIC && !e.spin);
    assert_string_equal(e.device, "cuda:1");
    assert_int_equal(e.n_provider_options, 2);
    assert_string_equal(e.provider_options[0].key, "a");
    assert_string_equal(e.provider_options[0].value, "b=c");
    assert_string_equal(e.provider_options[1].value, "");
    refuses(o, "threads", "5000", "4096");
    refuses(o, "threads", "-1", "4096");
    refuses(o, "opt-level", "3", "99");
    refuses(o, "opt-level", "all", "99");
    refuses(o, "unit", "bananas", "tokens");
    refuses(o, "no-spin", "maybe", "true");
    arena_free(a);
    assay_options_free(o);
}

/* ---- failures ---- */

static void test_failure_codes(void **state)
{
    (void)state;
    assay_error err = {0};
    err_no_memory(&err);
    assert_string_equal(job_failure_code(err.code, &err), "memory");
    err_clear(&err);
    assert_int_equal(err.os_error, 0);
    err_fail_errno(&err, ASSAY_ERR_ENGINE, ENOMEM, "x");
    err_fail_errno(&err, ASSAY_ERR_SYSTEM, EIO, "The first failure stays.");
    assert_true(err.os_error == ENOMEM && err.code == ASSAY_ERR_ENGINE);
    assert_string_equal(job_failure_code(err.code, &err), "memory");
    /* Words decide nothing. */
    err_clear(&err);
    err_fail(&err, ASSAY_ERR_SYSTEM, "The file 'memory/alloc.bin' cannot be read.");
    assert_string_equal(job_failure_code(err.code, &err), "system");
    err_clear(&err);
    err_fail(&err, ASSAY_ERR_ENGINE, "The operator 'Allocate' is not known to the memory node.");
    assert_string_equal(job_failure_code(err.code, &err), "engine");
    err_clear(&err);
    err_fail(&err, ASSAY_ERR_UNSUPPORTED, "x");
    assert_string_equal(job_failure_code(err.code, &err), "unsupported");
}

/* ---- shares of the machine's ceilings ---- */

/* 200 GFLOP/s on two threads and 100 on one; DRAM 20 GB/s on two and 10 on one. */
static char *store_machine(void)
{
    assay_error err = {0};
    machine *m = calloc(1, sizeof *m);
    char *folder = NULL, *path = NULL;
    assert_non_null(m);
    for (unsigned i = 0; i < 2; i++) {
        m->rates[i] = (machine_rate){.dtype = "float32",
                                     .isa = "scalar",
                                     .threads = i + 1,
                                     .ops = {.value = 1e11 * (i + 1)}};
        m->flows[i] = (machine_flow){
            .level = "DRAM", .kind = "read", .threads = i + 1, .bytes = {.value = 1e10 * (i + 1)}};
    }
    m->n_rates = m->n_flows = 2;
    assert_int_equal(file_temp_folder(&folder, &err), ASSAY_OK);
    assert_true(asprintf(&path, "%s/machine.json", folder) > 0);
    if (machine_save(m, path, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    setenv("ASSAY_MACHINE", path, 1);
    free(path);
    free(m);
    return folder;
}

static profile_config shares_of(const assay_options *o, const char *where, double gflops,
                                double gbytes)
{
    profile_config c = PROFILE_CONFIG_UNKNOWN;
    c.gflops_per_s = gflops;
    c.gbytes_per_s = gbytes;
    arena *a = arena_new(1 << 16);
    profile_ceilings roof = {0};
    shares_set(o->engine.threads, str_of(where), &c, a, &roof);
    assert_int_equal(roof.present, c.percent_of_peak >= 0); /* the roof is kept where it is known */
    assert_true(!roof.present || (roof.threads >= 1 && roof.n_levels == 1));
    arena_free(a);
    return c;
}

static void test_shares(void **state)
{
    (void)state;
    assay_error err;
    assay_options *o = assay_options_new();
    char *folder = store_machine();
    profile_config c = shares_of(o, "cpu", 50, 5);
    assert_float_equal(c.percent_of_peak, 25, 1e-9); /* of all threads, as none were named */
    assert_float_equal(c.percent_of_bandwidth, 25, 1e-9);
    assay_options_set(o, "threads", "1", &err);
    c = shares_of(o, "cpu", 50, 30);
    assert_float_equal(c.percent_of_peak, 50, 1e-9);
    assert_float_equal(c.percent_of_bandwidth, 300, 1e-9); /* caches: bytes are every tensor once */
    c = shares_of(o, "cuda", 50, 5);                       /* another device has other ceilings */
    assert_true(isnan(c.percent_of_peak) && isnan(c.percent_of_bandwidth));
    c = shares_of(o, "cpu", -1, -1); /* nothing was achieved that could have a share */
    assert_true(isnan(c.percent_of_peak) && isnan(c.percent_of_bandwidth));
    setenv("ASSAY_MACHINE", "/nonexistent/machine.json", 1);
    c = shares_of(o, "cpu", 50, 5);
    assert_true(isnan(c.percent_of_peak) && isnan(c.percent_of_bandwidth));
    unsetenv("ASSAY_MACHINE");
    file_remove_folder(folder);
    free(folder);
    assay_options_free(o);
}

/* ---- times of layers, summed ---- */

static const profile_time_group *group_named(const time_groups *g, const char *by, const char *name)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (strcmp(g->items[i].by, by) == 0 && str_is(g->items[i].name, name))
            return &g->items[i];
    fail_msg("There is no group %s of %s.", name, by);
    return NULL;
}

static void expect_group(const time_groups *g, const char *by, const char *name, uint64_t layers,
                         double ms, double std)
{
    const profile_time_group *x = group_named(g, by, name);
    assert_int_equal(x->layers, layers);
    assert_float_equal(x->time_ms, ms, 1e-12);
    assert_float_equal(x->time_std_ms, std, 1e-12);
}

/* Two runs of four layers: a sum's deviation is that of its sums, be the layers slow together or in turn. */
static void test_time_groups(void **state)
{
    (void)state;
    profile_layer layers[] = {
        {.name = STR("enc.0.attn.q"),
         .type = STR("linear"),
         .module = STR("enc.0.attn"),
         .op = STR("MatMul"),
         .time_ms = 2,
         .flops = 10,
         .memory = 1},
        {.name = STR("enc.0.mlp.fc"),
         .type = STR("linear"),
         .module = STR("enc.0.mlp"),
         .op = STR("Gemm"),
         .time_ms = 3,
         .flops = 20,
         .memory = 2},
        {.name = STR("enc.10.attn.q"),
         .type = STR("softmax"),
         .module = STR("enc.10.attn"),
         .op = STR("Softmax"),
         .time_ms = 1,
         .flops = 30,
         .memory = 4},
        {.name = STR("gone"), .type = STR("identity"), .op = STR("Identity"), .time_ms = 0},
    };
    const double per_run[] = {1, 4, 0.5, 0, 3, 2, 1.5, 0};
    const profile p = {.layers = layers, .n_layers = 4, .bottlenecks.threshold = 8};
    arena *a = arena_new(1 << 20);
    time_groups g;
    assert_true(time_groups_make(&p, per_run, 2, STR("ATTN,mlp,,gone,nothing,attn"), a, &g));
    expect_group(&g, "type", "linear", 2, 5, 0); /* 1 + 4 and 3 + 2: in turn */
    expect_group(&g, "type", "softmax", 1, 1, 0.5);
    expect_group(&g, "module", "enc", 3, 6, 0.5);
    expect_group(&g, "module", "enc.0", 2, 5, 0);
    expect_group(&g, "module", "enc.10", 1, 1, 0.5);
    expect_group(&g, "pattern", "ATTN", 2, 3, 1.5); /* 1.5 and 4.5: together */
    expect_group(&g, "pattern", "mlp", 1, 3, 1);
    assert_true(group_named(&g, "type", "linear")->compute_bound);   /* 30 FLOPs of 3 bytes */
    assert_false(group_named(&g, "type", "softmax")->compute_bound); /* 30 of 4 */
    assert_int_equal(group_named(&g, "module", "enc")->flops, 60);
    expect_group(&g, "pattern", "nothing", 0, 0, 0);
    assert_true(g.n == 2 + 6 + 5); /* `attn` is not ATTN's name, and gone has no time */
    assert_string_equal(g.items[0].by, "type");
    assert_string_equal(g.items[2].by, "module");
    assert_true(g.items[2].time_ms >= g.items[3].time_ms);
    assert_true(time_groups_are_of(g, STR("nothing,mlp,gone,ATTN,attn,mlp")));
    assert_false(time_groups_are_of(g, STR("mlp")));
    assert_false(time_groups_are_of(g, STR("ATTN,mlp,gone,nothing,attn,other")));
    assert_true(time_groups_make(&p, NULL, 0, (str){0}, a, &g));
    assert_true(time_groups_are_of(g, (str){0}));
    assert_false(time_groups_are_of(g, STR("linear"))); /* a type's name is no pattern's */
    assert_true(group_named(&g, "type", "linear")->time_std_ms < 0);
    assert_true(layer_is_one_of(&layers[3], (str){0}) && layer_is_one_of(&layers[3], STR(",")));
    assert_false(layer_is_one_of(&layers[3], STR("enc,")));
    arena_free(a);
}

/* ---- the whole on the null engine: only the library's own time ---- */

/* The figure of --training at the same batch. */
static uint64_t adamw_at(assay_model *m, const char *batch)
{
    assay_error err;
    assay_result *p;
    char *text;
    size_t n;
    assay_options *o = assay_options_new();
    assay_options_set(o, "training", NULL, &err);
    assay_options_set(o, "batch", batch, &err);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    assert_int_equal(assay_result_write(p, "json", o, &text, &n, &err), ASSAY_OK);
    const char *at = strstr(strstr(text, "\"adamw\""), "\"total_bytes\": ");
    uint64_t bytes = strtoull(at + 15, NULL, 10);
    assay_free(text);
    assay_result_free(p);
    assay_options_free(o);
    return bytes;
}

static void test_training_is_planned(void **state)
{
    (void)state;
    assay_error err;
    assay_model *m;
    assay_result *p;
    assay_options *o = assay_options_new();
    assay_options_set(o, "engine", "null", &err);
    assay_options_set(o, "batch-sizes", "1,4", &err);
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    assert_int_equal(assay_measure(m, o, ASSAY_MEASURE_SWEEP, NULL, p, &err), ASSAY_OK);
    assert_int_equal(whole_at(p, "configurations.1.batch"), 4);
    uint64_t all = whole_at(p, "configurations.1.memory.planned_training");
    uint64_t kept = whole_at(p, "configurations.1.memory.planned_training_activations");
    assert_int_equal(all, adamw_at(m, "4"));
    assert_int_equal(all - kept, 16 * 61706);
    assert_int_equal(whole_at(p, "configurations.0.batch"), 1);
    assert_int_equal(whole_at(p, "memory.planned_training"), adamw_at(m, "1"));
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
}

/* An engine runs float32: bytes beside its times are of that, and it is said. */
static void test_measured_in_float32(void **state)
{
    (void)state;
    assay_error err;
    assay_model *m;
    assay_result *p;
    totals native, run;
    bool said = false;
    assay_options *o = assay_options_new();
    assay_options_set(o, "engine", "null", &err);
    assay_options_set(o, "set", "num_hidden_layers=1", &err);
    assert_int_equal(assay_model_open("smollm2-135m", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    native = totals_of(p);
    assert_int_equal(native.weights_bytes, 2 * native.parameters);
    assert_int_equal(assay_measure(m, o, 0, NULL, p, &err), ASSAY_OK);
    run = totals_of(p);
    assert_int_equal(run.weights_bytes, 4 * run.parameters);
    for (size_t i = 0; i < count_at(p, "warnings"); i++)
        said = said || strcmp(text_at(p, "warnings.%zu.code", i), "not-native") == 0;
    assert_true(said && run.memory_bytes > native.memory_bytes);
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
}

static void test_null_engine(void **state)
{
    (void)state;
    assay_error err;
    assay_model *m;
    assay_result *p;
    assay_options *o = assay_options_new();
    assay_options_set(o, "engine", "nothing-like-it", &err);
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    assert_int_equal(assay_measure(m, o, 0, NULL, p, &err), ASSAY_ERR_USAGE);
    assert_int_equal(count_at(p, "configurations"), 0);
    assay_options_set(o, "engine", "null", &err);
    assert_int_equal(assay_measure(m, o, ASSAY_MEASURE_SWEEP, NULL, p, &err), ASSAY_OK);
    assert_int_equal(count_at(p, "configurations"), 5);
    assert_int_equal(whole_at(p, "configurations.4.batch"), 16);
    assert_int_equal(whole_at(p, "configurations.4.runs"), 50);
    assert_string_equal(text_at(p, "configurations.4.throughput.unit"), "images");
    assert_string_equal(text_at(p, "configurations.4.code"), "");
    assert_int_equal(count_at(p, "configurations.4.latency.warmup_ms"),
                     whole_at(p, "configurations.4.latency.warmup_runs"));
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
}

/* What `profile` measures when nobody says what: the sizes, and how often. */
static void test_default_sweep(void **state)
{
    (void)state;
    static const uint64_t batches[] = {1, 2, 4, 8, 16};
    assay_error err;
    assay_model *m;
    assay_result *p;
    assay_options *o = assay_options_new();
    assay_options_set(o, "engine", "null", &err);
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    assert_int_equal(assay_measure(m, o, ASSAY_MEASURE_SWEEP, NULL, p, &err), ASSAY_OK);
    assert_int_equal(count_at(p, "configurations"), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(whole_at(p, "configurations.%zu.batch", i), batches[i]);
        assert_int_equal(whole_at(p, "configurations.%zu.runs", i), 50);
        if (i)
            assert_int_equal(whole_at(p, "configurations.%zu.latency.warmup_runs", i), 10);
    }
    assert_int_equal(whole_at(p, "latency.warmup_runs"), 10);
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
}

int run_test_measure_parts(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy),
        cmocka_unit_test(test_tensor_proto),
        cmocka_unit_test(test_tensor_proto_complex),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_kernels_with_sum),
        cmocka_unit_test(test_rebatch),
        cmocka_unit_test(test_feed),
        cmocka_unit_test(test_feed_steers),
        cmocka_unit_test(test_feed_parts),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_engine_options),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_failure_codes),
        cmocka_unit_test(test_time_groups),
        cmocka_unit_test(test_null_engine),
        cmocka_unit_test(test_default_sweep),
        cmocka_unit_test(test_training_is_planned),
        cmocka_unit_test(test_measured_in_float32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
