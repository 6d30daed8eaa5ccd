/* TFLite models: what their operators become, shapes and constants as stored, loops; and damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/file.h"
#include "formats/format.h"
#include "formats/tflite/tflite.h"
#include "ir/verify.h"
#include "support/folder.h"
#include "support/foreign.h"

#define LIMIT ((size_t)64 << 20)

static ir_model *read_model(const char *path)
{
    assay_error err = {0};
    ir_model *m = NULL;
    const format_row *f = format_found(path);
    assert_non_null(f);
    assert_int_equal(f->reader, FORMAT_FOREIGN);
    assert_int_equal(format_read(f, path, LIMIT, &m, &err), ASSAY_OK);
    assert_int_equal(ir_verify(m, &err), ASSAY_OK);
    return m;
}

/* The k-th node of an operator; NULL: there are fewer. */
static const ir_node *node_of(const ir_model *m, const char *op, unsigned k)
{
    for (ir_id id = 0; id < m->nodes.n; id++)
        if (str_is(ir_node_at(m, id)->op, op) && k-- == 0)
            return ir_node_at(m, id);
    return NULL;
}

static const ir_value *input_of(const ir_model *m, const ir_node *n, uint32_t slot)
{
    assert_true(slot < n->n_inputs);
    return ir_value_at(m, n->inputs[slot]);
}

static bool has_note(const ir_model *m, const char *code)
{
    for (uint32_t i = 0; i < m->notes.list.n; i++)
        if (strcmp(m->notes.list.items[i].code, code) == 0)
            return true;
    return false;
}

/* ---- what is read ---- */

static void layers_have_the_names_and_layout_of_the_source(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/tflite/float.tflite");
    const ir_node *conv = node_of(m, "Conv", 0), *wide = node_of(m, "Conv", 1);
    assert_true(str_is(m->format, "tflite"));
    assert_true(str_is(conv->domain, "assay.nhwc"));
    assert_true(str_is(conv->name, "conv/Relu6"));
    assert_true(str_is(ir_attr_str(conv, "kernel_layout", ""), "OHWI"));
    assert_true(str_is(ir_attr_str(conv, "auto_pad", ""), "SAME_UPPER"));
    assert_true(str_is(ir_attr_str(wide, "kernel_layout", ""), "1HWO"));
    assert_int_equal(wide->n_inputs, 2);
    const ir_node *clip = node_of(m, "Clip", 0);
    assert_true(clip->inputs[0] == conv->outputs[0]);
    assert_true(str_is(ir_value_at(m, clip->outputs[0])->name, "conv/Relu6"));
    assert_true(str_is(node_of(m, "MaxPool", 0)->domain, "assay.nhwc"));
    assert_non_null(node_of(m, "Softmax", 0));
    assert_int_equal(m->stored.tensors, 5);
    assert_int_equal(m->stored.elements, 108 + 4 + 36 + 2 + 20);
    assert_true(has_note(m, "dynamic-input"));
    ir_model_free(m);
}

static void half_weights_are_seen_behind_their_cast(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/tflite/float.tflite");
    const ir_node *cast = node_of(m, "Cast", 0);
    const ir_tensor *w = input_of(m, cast, 0)->constant;
    uint8_t bytes[216];
    assert_int_equal(w->dtype, IR_FLOAT16);
    assert_int_equal(w->n_elems, 108);
    assert_int_equal(m->reader.read(m->reader.ctx, w, bytes, NULL), ASSAY_OK);
    assert_true(ir_load_float(IR_FLOAT16, bytes) == -3 / 16.0);
    ir_model_free(m);
}

static void quantisation_is_kept(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/tflite/quantised.tflite");
    const ir_node *conv = node_of(m, "Conv", 0);
    const ir_quant *of_weight = input_of(m, conv, 1)->quant,
                   *of_input = input_of(m, conv, 0)->quant;
    assert_int_equal(of_weight->scale->n_elems, 3);
    assert_int_equal(of_weight->axis, 0);
    int64_t zero = 0;
    assert_int_equal(m->reader.read(m->reader.ctx, of_input->zero, &zero, NULL), ASSAY_OK);
    assert_int_equal(zero, 3);
    const ir_node *back = node_of(m, "DequantizeLinear", 0);
    const ir_tensor *point = input_of(m, back, 2)->constant;
    assert_int_equal(point->dtype, IR_INT8);
    assert_int_equal((int8_t)point->bytes[0], -128);
    assert_non_null(node_of(m, "QuantizeLinear", 0));
    ir_model_free(m);
}

static void a_counted_while_is_a_loop_of_known_trips(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/tflite/loop.tflite");
    const ir_node *loop = node_of(m, "Loop", 0);
    assert_non_null(loop);
    const ir_tensor *trips = input_of(m, loop, 0)->constant;
    int64_t n = 0;
    memcpy(&n, trips->bytes, sizeof n);
    assert_int_equal(n, 5);
    assert_true(loop->inputs[1] == IR_NONE);
    ir_id body = ir_attr_find(loop, "body")->v.graph;
    assert_int_equal(ir_graph_at(m, body)->inputs.n, 4);
    assert_int_equal(ir_graph_at(m, body)->outputs.n, 3);
    ir_model_free(m);
}

/* The items that a body puts into a TensorList are collected by the Loop: as its second axis, or the last one alone. */
static void lists_that_loops_fill_are_collected(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/tflite/lists.tflite");
    for (unsigned k = 0; k < 2; k++) {
        const ir_node *loop = node_of(m, "Loop", k);
        assert_non_null(loop);
        ir_id body = ir_attr_find(loop, "body")->v.graph;
        assert_int_equal(loop->n_inputs, 4);
        assert_int_equal(loop->n_outputs, 3);
        assert_int_equal(ir_graph_at(m, body)->inputs.n, 4);
        assert_int_equal(ir_graph_at(m, body)->outputs.n, 4);
    }
    const ir_node *last = node_of(m, "Gather", 0), *second = node_of(m, "Loop", 1);
    assert_int_equal(last->inputs[0], second->outputs[2]);
    assert_int_equal(node_of(m, "Concat", 0)->n_inputs, 2);
    assert_non_null(node_of(m, "ScatterND", 0));
    assert_null(node_of(m, "FlexTensorListStack", 0));
    const ir_node *odd = node_of(m, "FlexMystery", 0);
    assert_true(ir_value_at(m, odd->outputs[0])->declared.dims[1].value < 0);
    ir_model_free(m);
}

static bool says(const ir_model *m, const char *key, const char *value)
{
    for (uint32_t i = 0; i < m->n_properties; i++)
        if (str_is(m->properties[i].key, key))
            return str_is(m->properties[i].value, value);
    return false;
}

static void metadata_and_signatures_are_told(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/tflite/described.tflite");
    assert_true(says(m, "name", "pets"));
    assert_true(says(m, "license", "none"));
    assert_true(says(m, "input 0", "image: What to classify; mean 127.5; deviation 128"));
    assert_true(says(m, "output 0", "scores; file labels.txt"));
    assert_true(says(m, "signature classify", "subgraph 0; inputs x; outputs y"));
    assert_true(says(m, "signature embed", "subgraph 1"));
    assert_true(has_note(m, "signature-other"));
    ir_model_free(m);
}

static void odd_storage_and_custom_operators_are_read(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/tflite/odd.tflite");
    const ir_tensor *far = input_of(m, node_of(m, "FullyConnected", 0), 1)->constant;
    const ir_tensor *int4 = input_of(m, node_of(m, "FullyConnected", 1), 1)->constant;
    const ir_tensor *sparse = input_of(m, node_of(m, "Identity", 0), 0)->constant;
    uint8_t bytes[64];
    assert_int_equal(far->offset + 64, m->file_size_bytes);
    assert_int_equal(m->reader.read(m->reader.ctx, far, bytes, NULL), ASSAY_OK);
    assert_int_equal(int4->dtype, IR_INT4);
    assert_int_equal(int4->size_bytes, 8);
    assert_true(sparse->sparse);
    assert_int_equal(sparse->n_stored, 3);
    assert_int_not_equal(m->reader.read(m->reader.ctx, sparse, bytes, NULL), ASSAY_OK);
    const ir_node *custom = node_of(m, "Mystery", 0);
    assert_true(str_is(custom->domain, "tflite"));
    assert_int_equal(ir_value_at(m, custom->outputs[0])->declared.dims[1].value, 7);
    ir_model_free(m);
}

/* ---- damage ---- */

static uint8_t *load_file(const char *path, size_t *n)
{
    uint8_t *p = malloc(1 << 16);
    source *src;
    assay_error err = {0};
    assert_int_equal(source_open(path, &src, &err), ASSAY_OK);
    *n = (size_t)source_size(src);
    assert_true(*n <= 1 << 16);
    assert_int_equal(source_read(src, 0, p, *n, &err), ASSAY_OK);
    source_close(src);
    return p;
}

/* A status for all bytes; what is accepted can be walked and freed. */
static void try_bytes(const uint8_t *p, size_t n)
{
    static const format_row row = {.reader = FORMAT_FOREIGN, .read = tflite_read};
    assay_error err = {0}, verdict = {0};
    ir_model *m = NULL;
    if (format_read_bytes(&row, p, n, LIMIT, &m, &err) != ASSAY_OK) {
        assert_null(m);
        assert_int_not_equal(err.code, ASSAY_OK);
        assert_true(err.message[0] != '\0');
        return;
    }
    ir_verify(m, &verdict);
    ir_model_free(m);
}

static void survives_damage_of(const char *path)
{
    static const uint8_t masks[] = {0xff, 0x80, 0x01};
    size_t n;
    uint8_t *p = load_file(path, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof masks; k++) {
            p[i] ^= masks[k];
            try_bytes(p, n);
            p[i] ^= masks[k];
        }
    for (size_t i = 0; i < n; i += 3)
        try_bytes(p, i);
    free(p);
}

static void survives_damage(void **state)
{
    (void)state;
    survives_damage_of("tests/data/tflite/float.tflite");
    survives_damage_of("tests/data/tflite/quantised.tflite");
    survives_damage_of("tests/data/tflite/loop.tflite");
    survives_damage_of("tests/data/tflite/lists.tflite");
    survives_damage_of("tests/data/tflite/described.tflite");
    survives_damage_of("tests/data/tflite/odd.tflite");
}

/* ---- weights stay where they are ---- */

static void reads_the_graph_only(void **state)
{
    (void)state;
    enum { BIG = 100 << 20 };
    size_t n;
    uint8_t *p = load_file("tests/data/tflite/odd.tflite", &n);
    const char *path = in_test_folder("big.tflite");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(ftruncate(fileno(f), BIG), 0);
    fclose(f);
    assay_error err = {0};
    source *src;
    ir_model *m = NULL;
    assert_int_equal(source_open(path, &src, &err), ASSAY_OK);
    assert_int_equal(tflite_read(src, path, LIMIT, &m, &err), ASSAY_OK);
    assert_true(source_bytes_read(src) <= 2 * n);
    ir_model_free(m);
    free(p);
}

int run_test_tflite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_the_names_and_layout_of_the_source),
        cmocka_unit_test(half_weights_are_seen_behind_their_cast),
        cmocka_unit_test(quantisation_is_kept),
        cmocka_unit_test(a_counted_while_is_a_loop_of_known_trips),
        cmocka_unit_test(metadata_and_signatures_are_told),
        cmocka_unit_test(lists_that_loops_fill_are_collected),
        cmocka_unit_test(odd_storage_and_custom_operators_are_read),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_the_graph_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
