/* NCNN models: sizes by the rules of the layers, inputs without sizes, weights in the .bin, PNNX; damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "formats/ncnn/ncnn.h"
#include "support/folder.h"
#include "support/foreign.h"

#define NET "tests/data/ncnn/net.param"

static assay_status read_text(const char *text, ir_model **m)
{
    static const format_row row = {.reader = FORMAT_FOREIGN, .read = ncnn_read};
    assay_error err = {0};
    return format_read_bytes(&row, text, strlen(text), FOREIGN_TEST_LIMIT, m, &err);
}

static void layers_have_names_and_sizes(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    const ir_node *conv = foreign_node_of(m, "Conv", 0);
    static const int64_t half[] = {1, 4, 4, 4}, turned[] = {1, 16, 4};
    assert_true(str_is(m->format, "ncnn"));
    assert_true(str_is(foreign_node_of(m, "Relu", 0)->name, "conv"));
    assert_true(
        foreign_declares(ir_value_at(m, foreign_node_of(m, "Relu", 0)->outputs[0]), 4, half));
    assert_int_equal(conv->n_inputs, 3);
    assert_int_equal(ir_attr_int(foreign_node_of(m, "Conv", 1), "group", 0), 4);
    const ir_node *perm = foreign_node_of(m, "Transpose", 0);
    assert_true(foreign_declares(ir_value_at(m, perm->outputs[0]), 3, turned));
    assert_true(str_is(foreign_node_of(m, "Mystery", 0)->domain, "ncnn"));
    assert_int_equal(m->stored.elements, 108 + 4 + 36 + 16 + 320 + 5);
    ir_model_free(m);
}

/* 4 channels of 16 are 64 elements: the image must have 8 x 8. */
static void the_size_of_an_input_fits_the_file(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    static const int64_t image[] = {1, 3, 8, 8};
    assert_true(foreign_has_note(m, "assumed-input"));
    assert_true(foreign_declares(ir_value_at(m, ir_graph_at(m, 0)->inputs.items[0]), 4, image));
    ir_model_free(m);
}

static void weights_are_slices_of_the_bin(void **state)
{
    (void)state;
    ir_model *m = foreign_model(NET);
    const ir_tensor *w = foreign_input_of(m, foreign_node_of(m, "Cast", 0), 0)->constant;
    const ir_tensor *b = foreign_input_of(m, foreign_node_of(m, "Gemm", 0), 2)->constant;
    uint8_t bytes[216];
    float bias[5];
    assert_int_equal(w->dtype, IR_FLOAT16);
    assert_int_equal(m->reader.read(m->reader.ctx, w, bytes, NULL), ASSAY_OK);
    assert_true(ir_load_float(IR_FLOAT16, bytes) == -3 / 16.0);
    assert_int_equal(b->offset + 20, source_size(m->reader.ctx));
    assert_int_equal(m->reader.read(m->reader.ctx, b, bias, NULL), ASSAY_OK);
    assert_true(bias[3] == 0.0f);
    assert_false(foreign_has_note(m, "weights-size"));
    ir_model_free(m);
}

/* The binary form has no names, and the same layers, sizes and weights. */
static void the_binary_form_is_the_same_model(void **state)
{
    (void)state;
    ir_model *text = foreign_model(NET), *m = foreign_model(NET ".bin");
    const ir_graph *a = ir_graph_at(text, 0), *b = ir_graph_at(m, 0);
    assert_int_equal(m->stored.elements, text->stored.elements);
    assert_int_equal(b->nodes.n, a->nodes.n);
    for (uint32_t i = 0; i + 1 < a->nodes.n; i++)
        assert_true(
            str_eq(ir_node_at(m, b->nodes.items[i])->op, ir_node_at(text, a->nodes.items[i])->op));
    assert_non_null(foreign_node_of(m, "Type256", 0));
    assert_false(foreign_has_note(m, "weights-size"));
    assert_false(foreign_has_note(m, "weights-absent"));
    ir_model_free(m);
    ir_model_free(text);
}

static void sizes_in_words_are_read(void **state)
{
    (void)state;
    ir_model *m = NULL;
    assert_int_equal(read_text("7767517\n3 3\nInput x 0 1 x 0=3 1=4 2=2\n"
                               "Reshape r 1 1 x y 6=\"*(0w,2),-1\"\n"
                               "Einsum e 2 1 y y z -23300=9,105,106,44,106,107,45,62,105,107\n",
                               &m),
                     ASSAY_OK);
    static const int64_t flat[] = {1, 4, 6};
    assert_true(
        foreign_declares(ir_value_at(m, foreign_node_of(m, "Reshape", 0)->outputs[0]), 3, flat));
    assert_true(
        str_is(ir_attr_str(foreign_node_of(m, "Einsum", 0), "equation", ""), "...ij,...jk->...ik"));
    ir_model_free(m);
}

/* What the file leaves open follows the size of the input. */
static void open_sizes_stay_open(void **state)
{
    (void)state;
    ir_model *m = NULL;
    assert_int_equal(read_text("7767517\n2 2\nInput x 0 1 x 0=3 1=4 2=2\n"
                               "Reshape r 1 1 x y 0=2 1=-1\n",
                               &m),
                     ASSAY_OK);
    const ir_tensor *to = foreign_input_of(m, foreign_node_of(m, "Reshape", 0), 1)->constant;
    int64_t dims[3];
    assert_int_equal(to->n_elems, 3);
    memcpy(dims, to->bytes, sizeof dims);
    assert_int_equal(dims[1], -1);
    assert_int_equal(dims[2], 2);
    ir_model_free(m);
}

static void malformed_files_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "7767517\n",
                                      "7767518\n1 1\nInput x 0 1 x\n",
                                      "7767517\n1 1\nInput x 0 2 x\n",
                                      "7767517\n1 1\nReLU x 1 1 a b\n",
                                      "7767517\n1 1\nInput x 0 1 x 0\n",
                                      "7767517\n1 1\nInput x 0 99999999 x\n",
                                      "7767517\n2 1\nInput x 0 1 x\nInput y 0 1 x\n"};
    ir_model *m = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_text(bad[i], &m), ASSAY_ERR_MALFORMED);
    assert_int_equal(read_text("7767517\n1 1\npnnx.Input x 0 1 x\n", &m), ASSAY_ERR_UNSUPPORTED);
}

static void survives_damage(void **state)
{
    (void)state;
    foreign_survives(NET, ncnn_read);
    foreign_survives(NET ".bin", ncnn_read);
}

static void reads_the_tags_only(void **state)
{
    (void)state;
    enum { BIG = 100 << 20 };
    static const char text[] = "7767517\n2 2\nInput x 0 1 x 0=1 1=1 2=5120\n"
                               "InnerProduct d 1 1 x y 0=5120 1=0 2=26214400\n";
    FILE *f = fopen(in_test_folder("big.param"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, sizeof text - 1, f), sizeof text - 1);
    fclose(f);
    f = fopen(in_test_folder("big.bin"), "wb");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), BIG + 4), 0);
    fclose(f);
    ir_model *m = foreign_model(in_test_folder("big.param"));
    assert_true(source_bytes_read(m->reader.ctx) <= BIG / 50);
    assert_false(foreign_has_note(m, "weights-size"));
    ir_model_free(m);
}

int run_test_ncnn(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_names_and_sizes),
        cmocka_unit_test(the_size_of_an_input_fits_the_file),
        cmocka_unit_test(weights_are_slices_of_the_bin),
        cmocka_unit_test(the_binary_form_is_the_same_model),
        cmocka_unit_test(sizes_in_words_are_read),
        cmocka_unit_test(open_sizes_stay_open),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_the_tags_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
