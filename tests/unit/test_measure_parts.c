/* What measuring is made of beside the loops: tensors from files, kernels mapped back to layers, batch
 * sizes changed in a graph, what inputs must hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/feed.h"
#include "analyze/kernels.h"
#include "api/api.h"
#include "base/file.h"
#include "formats/onnx_read.h"
#include "formats/tensor_file.h"
#include "ir/build.h"
#include "rewrite/rebatch.h"

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
    assert_int_equal(rewrite_rebatch(m, 5, &err), ASSAY_OK);
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

/* ---- options ---- */

static void test_options(void **state)
{
    (void)state;
    assay_error err;
    assay_options *o = assay_options_new();
    assert_int_equal(assay_options_set(o, "batch-sizes", "1,2,32", &err), ASSAY_OK);
    assert_true(o->batch_sizes.n == 3 && o->batch_sizes.items[2] == 32);
    assert_int_equal(assay_options_set(o, "batch-sizes", "1,,2", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "batch-sizes", "0", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "configs", "1:fp32,8:fp16,4", &err), ASSAY_OK);
    assert_true(o->configs.n == 3 && o->configs.items[1].batch == 8);
    assert_true(str_is(o->configs.items[2].precision, "fp32"));
    assert_int_equal(assay_options_set(o, "configs", "1:fp99", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "memory-limit", "4GiB", &err), ASSAY_OK);
    assert_true(o->memory_limit == (uint64_t)4 << 30);
    assert_int_equal(assay_options_set(o, "memory-limit", "500MB", &err), ASSAY_OK);
    assert_true(o->memory_limit == 500000000);
    assert_int_equal(assay_options_set(o, "memory-limit", "MB", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "input", "x=a.npy", &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "input", "b.npy", &err), ASSAY_OK);
    assert_true(str_is(o->inputs.items[0].name, "x") && str_empty(o->inputs.items[1].name));
    assert_int_equal(assay_options_set(o, "input", "x=", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "provider-option", "a=b=c", &err), ASSAY_OK);
    assert_true(str_is(o->provider_options.items[0].value, "b=c"));
    assert_int_equal(assay_options_set(o, "provider-option", "a", &err), ASSAY_ERR_USAGE);
    assay_options_free(o);
}

/* ---- the whole on the null engine: only the library's own time ---- */

static void test_null_engine(void **state)
{
    (void)state;
    assay_error err;
    assay_model *m;
    assay_profile *p;
    assay_options *o = assay_options_new();
    assay_options_set(o, "engine", "nothing-like-it", &err);
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_OK);
    assert_int_equal(assay_measure(m, o, 0, NULL, p, &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_profile_config_count(p), 0);
    assay_options_set(o, "engine", "null", &err);
    assert_int_equal(assay_measure(m, o, ASSAY_MEASURE_SWEEP, NULL, p, &err), ASSAY_OK);
    assert_int_equal(assay_profile_config_count(p), 5);
    assay_config c = {.size = sizeof c};
    assert_true(assay_profile_config(p, 4, &c) && c.batch == 16 && c.runs == 50);
    assert_false(assay_profile_config(p, 5, &c));
    assay_profile_free(p);
    assay_model_free(m);
    assay_options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy),     cmocka_unit_test(test_tensor_proto),
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_kernels_with_sum),
        cmocka_unit_test(test_rebatch), cmocka_unit_test(test_feed),
        cmocka_unit_test(test_options), cmocka_unit_test(test_null_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
