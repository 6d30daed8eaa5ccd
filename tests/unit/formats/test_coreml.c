/* Core ML models: networks and programs, weights in place, models without a network; damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "formats/coreml/coreml.h"
#include "support/folder.h"
#include "support/foreign.h"

#define NET     "tests/data/coreml/net.mlmodel"
#define TREES   "tests/data/coreml/trees.mlmodel"
#define PACKAGE "tests/data/coreml/program.mlpackage"
#define PROGRAM PACKAGE "/Data/com.apple.CoreML/model.mlmodel"

static void a_network_has_its_weights(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    const ir_node *conv = foreign_node_of(m, "Conv", 0), *cast = foreign_node_of(m, "Cast", 0);
    float bias[4];
    assert_true(str_is(conv->name, "conv"));
    assert_true(str_is(ir_attr_str(conv, "auto_pad", ""), "SAME_UPPER"));
    assert_int_equal(
        m->reader.read(m->reader.ctx, foreign_input_of(m, conv, 2)->constant, bias, NULL),
        ASSAY_OK);
    assert_true(bias[0] == -3 / 16.0f);
    assert_int_equal(foreign_input_of(m, cast, 0)->constant->dtype, IR_FLOAT16);
    assert_int_equal(m->stored.elements, 108 + 4 + 320 + 5);
    static const int64_t image[] = {1, 3, 8, 8};
    assert_true(foreign_declares(ir_value_at(m, ir_graph_at(m, 0)->inputs.items[0]), 4, image));
    ir_model_free(m);
}

static void a_program_has_typed_operations(void **state)
{
    (void)state;
    char inner[FORMAT_PATH];
    assert_true(format_inside(PACKAGE, inner, sizeof inner));
    assert_string_equal(inner, PROGRAM);
    ir_model *m = foreign_model(inner);
    const ir_tensor *w = foreign_input_of(m, foreign_node_of(m, "Conv", 0), 1)->constant;
    uint8_t bytes[216];
    assert_int_equal(w->dtype, IR_FLOAT16);
    assert_int_equal(w->offset, 128);
    assert_int_equal(m->reader.read(m->reader.ctx, w, bytes, NULL), ASSAY_OK);
    assert_true(ir_load_float(IR_FLOAT16, bytes) == -3 / 16.0);
    assert_int_equal(ir_attr_find(foreign_node_of(m, "Transpose", 0), "perm")->v.ints[3], 1);
    const ir_node *unknown = foreign_node_of(m, "mystery", 0);
    static const int64_t dims[] = {1, 7};
    assert_true(foreign_declares(ir_value_at(m, unknown->outputs[0]), 2, dims));
    assert_int_equal(m->stored.elements, 108 + 1 + 2 + 4);
    assert_true(foreign_has_note(m, "pipeline-part"));
    ir_model_free(m);
}

/* Palettes in attributes and in constants, and scaled integers: weights of the declared shape without content. */
static void compressed_weights_are_counted_dense(void **state)
{
    (void)state;
    static const uint64_t elements[] = {108, 16, 16};
    ir_model *m = foreign_model("tests/data/coreml/packed.mlmodel");
    for (int i = 0; i < 3; i++) {
        const ir_node *packed = foreign_node_of(m, "Identity", i);
        const ir_tensor *w = foreign_input_of(m, packed, 0)->constant;
        assert_int_equal(w->n_elems, elements[i]);
        assert_int_equal(w->dtype, IR_FLOAT16);
        assert_int_equal(w->storage, IR_DATA_NONE);
        assert_int_equal(foreign_node_of(m, "Conv", i)->inputs[1], packed->outputs[0]);
    }
    /* what the file holds beside them */
    assert_int_equal(m->stored.elements, 108 + 16 + 16 + (16 + 4) + (16 + 4));
    assert_false(foreign_has_note(m, "unknown-operator"));
    ir_model_free(m);
}

static void models_without_a_network_are_refused(void **state)
{
    (void)state;
    ir_model *m = NULL;
    assay_error err = {0};
    assert_int_equal(format_read(format_found(TREES), TREES, FOREIGN_TEST_LIMIT, &m, &err),
                     ASSAY_ERR_UNSUPPORTED);
}

static void survives_damage(void **state)
{
    (void)state;
    foreign_survives(NET, coreml_read);
    foreign_survives(PROGRAM, coreml_read);
}

/* What is behind the model is not read, however long it is. */
static void reads_the_graph_only(void **state)
{
    (void)state;
    enum { BYTES = 100 << 20 };
    size_t n;
    uint8_t *p = foreign_load(NET, &n);
    FILE *f = fopen(in_test_folder("big.mlmodel"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    /* a field of 100 MB that is of no interest: its tag, its length */
    const uint8_t tail[] = {0xa2, 0x06, 0x80, 0x80, 0x80, 0x32};
    assert_int_equal(fwrite(tail, 1, sizeof tail, f), sizeof tail);
    assert_int_equal(ftruncate(fileno(f), (off_t)(n + sizeof tail) + BYTES), 0);
    fclose(f);
    free(p);
    ir_model *m = foreign_model(in_test_folder("big.mlmodel"));
    assert_true(source_bytes_read(m->reader.ctx) <= BYTES / 50);
    ir_model_free(m);
}

int run_test_coreml(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_has_its_weights),
        cmocka_unit_test(a_program_has_typed_operations),
        cmocka_unit_test(compressed_weights_are_counted_dense),
        cmocka_unit_test(models_without_a_network_are_refused),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_the_graph_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
