/* OpenVINO models: what their layers become, with and without the .bin; loops; old versions; XML; damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "formats/openvino/openvino.h"
#include "formats/xml.h"
#include "support/folder.h"
#include "support/foreign.h"

#define NET  "tests/data/openvino/net.xml"
#define LOOP "tests/data/openvino/loop.xml"
#define OLD  "tests/data/openvino/old.xml"
#define RARE "tests/data/openvino/rare.xml"

static void layers_have_the_names_of_the_source(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    const ir_node *conv = foreign_node_of(m, "Conv", 0), *deep = foreign_node_of(m, "Conv", 1);
    assert_true(str_is(m->format, "openvino"));
    assert_true(str_is(ir_graph_at(m, 0)->name, "net & more"));
    assert_true(str_is(conv->name, "conv"));
    assert_true(str_is(foreign_input_of(m, conv, 1)->name, "Convert2"));
    assert_int_equal(ir_attr_int(deep, "group", 0), 4);
    assert_int_equal(foreign_input_of(m, deep, 1)->constant->rank, 4); /* [4,1,1,3,3] merged */
    assert_true(foreign_node_of(m, "FusedMatMul", 0) != NULL);
    assert_int_equal(m->stored.elements, 108 + 36 + 4 + 1 + 2 + 9 + 6 + 4 + 2 + 15);
    assert_false(foreign_has_note(m, "weights-absent"));
    ir_model_free(m);
}

static void constants_are_read_from_the_bin(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    const ir_tensor *w = foreign_input_of(m, foreign_node_of(m, "Cast", 0), 0)->constant;
    uint8_t bytes[216];
    assert_int_equal(w->dtype, IR_FLOAT16);
    assert_int_equal(m->reader.read(m->reader.ctx, w, bytes, NULL), ASSAY_OK);
    assert_true(ir_load_float(IR_FLOAT16, bytes) == -3 / 16.0);
    const ir_node *slice = foreign_node_of(m, "Slice", 0);
    const ir_tensor *starts = foreign_input_of(m, slice, 1)->constant;
    int64_t first;
    memcpy(&first, starts->bytes, sizeof first);
    assert_int_equal(first, 1); /* axis 0 is masked */
    ir_model_free(m);
}

static ir_model *model_of_bytes(const char *path)
{
    static const format_row row = {.reader = FORMAT_FOREIGN, .read = openvino_read};
    size_t n;
    uint8_t *p = foreign_load(path, &n);
    ir_model *m = NULL;
    assay_error err = {0};
    assert_int_equal(format_read_bytes(&row, p, n, FOREIGN_TEST_LIMIT, &m, &err), ASSAY_OK);
    free(p); /* nothing of the text is kept */
    return m;
}

static void ports_tell_what_an_absent_bin_does_not(void **state)
{
    (void)state;
    ir_model *with = foreign_model(NET), *without = model_of_bytes(NET);
    assert_true(foreign_has_note(without, "weights-absent"));
    assert_int_equal(with->nodes.n, without->nodes.n);
    const ir_attr *a = ir_attr_find(foreign_node_of(with, "Transpose", 0), "perm");
    const ir_attr *b = ir_attr_find(foreign_node_of(without, "Transpose", 0), "perm");
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->v.ints[3], b->v.ints[3]);
    const ir_attr *axes = ir_attr_find(foreign_node_of(without, "ReduceMean", 0), "axes");
    assert_int_equal(axes->n, 2);
    assert_int_equal(axes->v.ints[1], 2);
    ir_model_free(with);
    ir_model_free(without);
}

static void an_iterator_is_a_loop_over_its_axis(void **state)
{
    (void)state;
    ir_model *m = foreign_model(LOOP);
    const ir_node *loop = foreign_node_of(m, "Loop", 0);
    int64_t trips = 0;
    memcpy(&trips, foreign_input_of(m, loop, 0)->constant->bytes, sizeof trips);
    assert_int_equal(trips, 5);
    ir_id body = ir_attr_find(loop, "body")->v.graph;
    assert_int_equal(ir_graph_at(m, body)->inputs.n, 3);
    assert_int_equal(ir_graph_at(m, body)->outputs.n, 3);
    assert_true(str_is(foreign_node_of(m, "LSTMSequence", 0)->domain, "openvino"));
    ir_model_free(m);
}

static void old_versions_have_their_weights_in_layers(void **state)
{
    (void)state;
    ir_model *m = foreign_model(OLD);
    assert_int_equal(m->ir_version, 7);
    assert_int_equal(m->stored.elements, 54 + 2 + 160 + 5);
    assert_int_equal(foreign_node_of(m, "Conv", 0)->n_inputs, 3);
    const ir_node *unknown = foreign_node_of(m, "SimplerNMS", 0);
    static const int64_t dims[] = {1, 5};
    assert_true(foreign_declares(ir_value_at(m, unknown->outputs[0]), 2, dims));
    ir_model_free(m);
}

static void rare_operators_keep_their_attributes(void **state)
{
    (void)state;
    ir_model *m = foreign_model(RARE);
    const ir_node *prior = foreign_node_of(m, "PriorBox", 0);
    const ir_node *output = foreign_node_of(m, "DetectionOutput", 1);
    assert_true(str_is(prior->domain, "openvino"));
    assert_true(ir_attr_find(prior, "aspect_ratio")->v.floats[1] == 3);
    assert_int_equal(ir_attr_int(prior, "flip", 0), 1);
    assert_int_equal(ir_attr_int(output, "opset", 0), 8);
    assert_int_equal(ir_attr_int(output, "keep_top_k", 0), -1);
    assert_int_equal(ir_attr_int(foreign_node_of(m, "RoiAlign", 1), "output_width", 0), 2);
    assert_true(foreign_node_of(m, "ROIAlign", 0) != NULL); /* with a mode that ONNX lacks */
    ir_model_free(m);
}

static uint32_t count_nodes(const ir_model *m, const char *op)
{
    uint32_t n = 0;
    while (foreign_node_of(m, op, n))
        n++;
    return n;
}

static bool all_of_onnx(const ir_model *m, const char *but)
{
    for (ir_id id = 0; id < m->nodes.n; id++)
        if (ir_node_at(m, id)->domain.n && !str_is(ir_node_at(m, id)->op, but))
            return false;
    return true;
}

static void some_operators_are_several_of_onnx(void **state)
{
    (void)state;
    ir_model *m = foreign_model("tests/data/openvino/parts.xml");
    assert_true(all_of_onnx(m, ""));
    assert_int_equal(count_nodes(m, "STFT"), 2);
    assert_int_equal(count_nodes(m, "Concat"), 3); /* one for each axis that is padded */
    assert_int_equal(ir_attr_int(foreign_node_of(m, "GatherND", 0), "batch_dims", 0), 1);
    const ir_attr *kernel = ir_attr_find(foreign_node_of(m, "AveragePool", 1), "kernel_shape");
    assert_int_equal(kernel->n, 3); /* channels are an axis of the window */
    assert_int_equal(kernel->v.ints[0], 3);
    assert_int_equal(kernel->v.ints[2], 1);
    ir_model_free(m);
}

static void layers_of_old_versions_are_known(void **state)
{
    (void)state;
    ir_model *m = foreign_model("tests/data/openvino/layers.xml");
    assert_true(all_of_onnx(m, "MVN"));
    assert_int_equal(count_nodes(m, "Resize"), 2);
    assert_true(str_is(ir_attr_str(foreign_node_of(m, "Resize", 0), "mode", ""), "linear"));
    assert_true(str_is(ir_attr_str(foreign_node_of(m, "Resize", 1), "mode", ""), "nearest"));
    assert_int_equal(m->stored.elements, 8);
    ir_model_free(m);
}

/* ---- XML ---- */

static assay_status read_text(const char *text)
{
    source *src;
    assay_error err = {0};
    arena *a = arena_new(1 << 20);
    xml *x = ARENA_NEW(a, xml);
    assert_int_equal(source_memory(text, strlen(text), &src, &err), ASSAY_OK);
    xml_begin(x, src, a, &err);
    while (xml_next(x))
        ;
    assay_status s = xml_status(x);
    source_close(src);
    arena_free(a);
    return s;
}

static void xml_is_strict(void **state)
{
    (void)state;
    assert_int_equal(read_text("<a b='1 &#x41;&lt;'>x<!-- <c> --><![CDATA[<d>]]></a>"), ASSAY_OK);
    assert_int_equal(read_text("<?xml version='1.0'?><a/>\n<!-- end -->\n"), ASSAY_OK);
    static const char *const bad[] = {
        "",           "<a>",   "<a></b>",     "<a/><b/>",     "<a b/>", "<a b='1/>",
        "<a>&x;</a>", "x<a/>", "<a>&#0;</a>", "<a><!-- </a>", "</a>",   "<a b='&lt'/>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_text(bad[i]), ASSAY_ERR_MALFORMED);
    assert_int_equal(read_text("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"), ASSAY_ERR_UNSUPPORTED);
    char deep[4 * XML_MAX_DEPTH] = {0};
    for (int i = 0; i <= XML_MAX_DEPTH; i++)
        memcpy(deep + (size_t)3 * (size_t)i, "<a>", 3);
    assert_int_equal(read_text(deep), ASSAY_ERR_MALFORMED);
}

/* ---- damage and size ---- */

static void survives_damage(void **state)
{
    (void)state;
    foreign_survives(LOOP, openvino_read);
    foreign_survives(OLD, openvino_read);
}

static void reads_the_graph_only(void **state)
{
    (void)state;
    enum { BIG = 100 << 20 };
    size_t n;
    uint8_t *p = foreign_load(NET, &n);
    FILE *f = fopen(in_test_folder("big.xml"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
    free(p);
    f = fopen(in_test_folder("big.bin"), "wb");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), BIG), 0);
    fclose(f);
    ir_model *m = NULL;
    assay_error err = {0};
    const char *path = in_test_folder("big.xml");
    assert_int_equal(format_read(format_found(path), path, FOREIGN_TEST_LIMIT, &m, &err), ASSAY_OK);
    assert_true(source_bytes_read(m->reader.ctx) + n <= BIG / 50);
    ir_model_free(m);
}

int run_test_openvino(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_the_names_of_the_source),
        cmocka_unit_test(constants_are_read_from_the_bin),
        cmocka_unit_test(ports_tell_what_an_absent_bin_does_not),
        cmocka_unit_test(an_iterator_is_a_loop_over_its_axis),
        cmocka_unit_test(old_versions_have_their_weights_in_layers),
        cmocka_unit_test(rare_operators_keep_their_attributes),
        cmocka_unit_test(some_operators_are_several_of_onnx),
        cmocka_unit_test(layers_of_old_versions_are_known),
        cmocka_unit_test(xml_is_strict),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_the_graph_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
