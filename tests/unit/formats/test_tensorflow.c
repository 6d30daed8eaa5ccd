/* TensorFlow models: what nodes, functions, loops and branches become; variables of a checkpoint; detection; damage of every
 * byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "formats/tensorflow/tensorflow.h"
#include "ir/made.h"
#include "support/folder.h"
#include "support/foreign.h"

#define FROZEN "tests/data/tensorflow/frozen.pb"
#define LOOP   "tests/data/tensorflow/loop.pb"
#define SAVED  "tests/data/tensorflow/saved/saved_model.pb"
#define INDEX  "tests/data/tensorflow/saved/variables/variables.index"

static uint32_t count_nodes(const ir_model *m, const char *op)
{
    uint32_t n = 0;
    while (foreign_node_of(m, op, n))
        n++;
    return n;
}

static void a_frozen_graph_has_its_layers(void **state)
{
    (void)state;
    ir_model *m = foreign_model(FROZEN);
    const ir_node *conv = foreign_node_of(m, "Conv", 0), *deep = foreign_node_of(m, "Conv", 1);
    const ir_node *norm = foreign_node_of(m, "BatchNormalization", 0);
    float kernel[108];
    assert_true(str_is(m->format, "tensorflow"));
    assert_true(str_is(conv->name, "conv"));
    assert_true(str_is(conv->domain, FOREIGN_NHWC));
    assert_true(str_is(ir_attr_str(conv, "auto_pad", ""), "SAME_UPPER"));
    assert_true(str_is(ir_attr_str(conv, "kernel_layout", ""), "HWIO"));
    assert_true(str_is(ir_attr_str(deep, "kernel_layout", ""), "HWIM"));
    assert_true(str_is(foreign_input_of(m, conv, 1)->name, "kernel"));
    assert_int_equal(
        m->reader.read(m->reader.ctx, foreign_input_of(m, conv, 1)->constant, kernel, NULL),
        ASSAY_OK);
    assert_true(kernel[0] == -3 / 16.0f && kernel[107] == (107 % 7 - 3) / 16.0f);
    /* one number that stands for four */
    const ir_tensor *ones = foreign_input_of(m, norm, 1)->constant;
    assert_int_equal(ones->n_elems, 4);
    assert_true(ir_load_float(IR_FLOAT32, ones->bytes + 12) == 1);
    static const int64_t image[] = {-1, 8, 8, 3};
    assert_true(foreign_declares(foreign_input_of(m, conv, 0), 4, image));
    ir_model_free(m);
}

/* A constant condition leaves one branch; a computed one is an If. Saving is no part of the network. */
static void branches_are_taken_or_kept(void **state)
{
    (void)state;
    ir_model *m = foreign_model(FROZEN);
    assert_null(foreign_node_of(m, "Mul", 0));
    assert_non_null(foreign_node_of(m, "If", 0));
    assert_int_equal(count_nodes(m, "Neg"), 1);
    assert_int_equal(count_nodes(m, "Abs"), 1);
    assert_null(foreign_node_of(m, "SaveV2", 0));
    assert_int_equal(ir_graph_at(m, 0)->outputs.n, 1);
    ir_model_free(m);
}

static void some_nodes_are_several_operators(void **state)
{
    (void)state;
    ir_model *m = foreign_model("tests/data/tensorflow/parts.pb");
    const ir_node *find = foreign_node_of(m, "LookupTableFindV2", 0);
    assert_int_equal(count_nodes(m, "Resize"), 1);
    assert_int_equal(count_nodes(m, "Pad"), 0); /* all pads of the convolution are 0 */
    assert_true(str_is(foreign_node_of(m, "Conv", 0)->name, "conv"));
    assert_int_equal(count_nodes(m, "Concat"), 2);
    assert_int_equal(ir_attr_int(foreign_node_of(m, "GatherND", 0), "batch_dims", 0), 1);
    assert_int_equal(find->n_inputs, 2); /* without the table */
    assert_int_equal(ir_attr_int(find, "to", 0), IR_INT64);
    assert_true(str_is(foreign_node_of(m, "Add", 0)->name, "real"));
    ir_model_free(m);
}

static int64_t trips_of(const ir_model *m)
{
    const ir_node *loop = foreign_node_of(m, "Loop", 0);
    int64_t trips;
    assert_non_null(loop);
    const ir_tensor *t = foreign_input_of(m, loop, 0)->constant;
    assert_non_null(t);
    memcpy(&trips, t->bytes, sizeof trips);
    return trips;
}

/* The list that the loop fills is collected, the one that it reads is a tensor outside. */
static void loops_of_tensorflow_1_are_counted(void **state)
{
    (void)state;
    ir_model *m = foreign_model(LOOP);
    const ir_node *loop = foreign_node_of(m, "Loop", 0);
    assert_int_equal(trips_of(m), 5);
    assert_int_equal(loop->n_inputs, 4);
    assert_int_equal(loop->n_outputs, 3);
    assert_int_equal(count_nodes(m, "MatMul"), 1);
    assert_true(str_is(foreign_input_of(m, foreign_node_of(m, "Gather", 0), 0)->name, "x"));
    assert_int_equal(ir_graph_at(m, 0)->outputs.n, 2); /* not the counter, which nobody reads */
    ir_model_free(m);
}

static void functions_are_inlined(void **state)
{
    (void)state;
    char inner[FORMAT_PATH];
    assert_true(format_inside("tests/data/tensorflow/saved", inner, sizeof inner));
    assert_string_equal(inner, SAVED);
    ir_model *m = foreign_model(inner);
    const ir_graph *g = ir_graph_at(m, 0);
    assert_int_equal(trips_of(m), 5);
    assert_true(str_is(g->name, "serving_default"));
    assert_true(str_is(ir_value_at(m, g->inputs.items[0])->name, "x"));
    assert_true(str_is(ir_value_at(m, g->outputs.items[0])->name, "all"));
    assert_true(str_is(ir_value_at(m, g->outputs.items[1])->name, "y"));
    assert_true(str_is(foreign_node_of(m, "MatMul", 0)->name, "dense/MatMul"));
    assert_non_null(foreign_node_of(m, "If", 0));
    assert_null(foreign_node_of(m, "RestoreV2", 0));
    ir_model_free(m);
}

/* The bias has no shape in the graph. The state of the optimizer is not reached. */
static void variables_come_from_the_checkpoint(void **state)
{
    (void)state;
    ir_model *m = foreign_model(SAVED);
    const ir_tensor *w = foreign_input_of(m, foreign_node_of(m, "MatMul", 0), 1)->constant;
    const ir_node *add = NULL;
    for (unsigned i = 0; !add || !str_is(add->name, "dense/BiasAdd"); i++)
        add = foreign_node_of(m, "Add", i);
    const ir_tensor *b = foreign_input_of(m, add, 1)->constant;
    float numbers[12];
    assert_int_equal(b->n_elems, 4);
    assert_int_equal(m->reader.read(m->reader.ctx, w, numbers, NULL), ASSAY_OK);
    assert_true(numbers[11] == 11 / 8.0f);
    assert_int_equal(m->reader.read(m->reader.ctx, b, numbers, NULL), ASSAY_OK);
    assert_true(numbers[3] == 4);
    assert_false(foreign_has_note(m, "weights-absent"));
    for (ir_id id = 0; id < m->values.n; id++)
        assert_false(str_is(ir_value_at(m, id)->name, "Adam/m"));
    ir_model_free(m);
}

static ir_model *model_of_bytes(const char *path)
{
    size_t n;
    uint8_t *p = foreign_load(path, &n);
    ir_model *m = NULL;
    assay_error err = {0};
    assert_int_equal(format_read_bytes(format_by_content(p, n < FORMAT_HEAD ? n : FORMAT_HEAD, n),
                                       p, n, FOREIGN_TEST_LIMIT, &m, &err),
                     ASSAY_OK);
    free(p);
    return m;
}

static void without_the_checkpoint_a_note_says_so(void **state)
{
    (void)state;
    ir_model *m = model_of_bytes(SAVED);
    assert_true(foreign_has_note(m, "weights-absent"));
    assert_int_equal(foreign_input_of(m, foreign_node_of(m, "MatMul", 0), 1)->constant->storage,
                     IR_DATA_NONE);
    ir_model_free(m);
}

static void detected_by_content(void **state)
{
    (void)state;
    static const char *const paths[] = {FROZEN, LOOP, SAVED, "tests/data/coreml/net.mlmodel"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        size_t n;
        uint8_t *p = foreign_load(paths[i], &n);
        const format_row *f = format_by_content(p, n < FORMAT_HEAD ? n : FORMAT_HEAD, n);
        assert_non_null(f);
        assert_string_equal(f->name, i < 3 ? "tensorflow" : "coreml");
        free(p);
    }
}

static void survives_damage(void **state)
{
    (void)state;
    foreign_survives(FROZEN, tensorflow_read);
    foreign_survives(LOOP, tensorflow_read);
    foreign_survives(SAVED, tensorflow_read);
}

static void copy_to(const char *from, const char *to)
{
    size_t n;
    uint8_t *p = foreign_load(from, &n);
    FILE *f = fopen(in_test_folder(to), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
    free(p);
}

static assay_status read_with_index(const uint8_t *p, size_t n)
{
    ir_model *m = NULL;
    assay_error err = {0};
    FILE *f = fopen(in_test_folder("variables/variables.index"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
    const char *path = in_test_folder("saved_model.pb");
    assay_status s = format_read(format_found(path), path, FOREIGN_TEST_LIMIT, &m, &err);
    ir_model_free(m);
    return s;
}

/* A damaged index is an error or other shapes, never a crash; one that is cut off is always an error. */
static void survives_a_damaged_index(void **state)
{
    (void)state;
    size_t n;
    uint8_t *p = foreign_load(INDEX, &n);
    assert_int_equal(mkdir(in_test_folder("variables"), 0700), 0);
    copy_to(SAVED, "saved_model.pb");
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 3; k++) {
            uint8_t old = p[i];
            p[i] = (uint8_t)(k == 0 ? 0xff : k == 1 ? 0 : old ^ 1);
            read_with_index(p, n);
            p[i] = old;
        }
    assert_int_equal(read_with_index(p, n - 1), ASSAY_ERR_MALFORMED);
    assert_int_equal(read_with_index(p, n), ASSAY_OK);
    free(p);
}

/* Content of 100 MB stays in the file. */
static void reads_the_graph_only(void **state)
{
    (void)state;
    enum { BYTES = 100 << 20 };
    /* Const "c" of 25 Mi floats, its lengths in five bytes each; then Relu "y" of it */
    uint8_t bytes[128];
    size_t at = 0;
    uint64_t content = BYTES;
    const uint64_t tensor = 2 + 2 + 9 + 6 + content, value = 6 + tensor, entry = 7 + 6 + value;
    const uint64_t node = 3 + 7 + 6 + entry;
#define BYTE(b) bytes[at++] = (uint8_t)(b)
#define LENGTH(field, n)                                          \
    do {                                                          \
        BYTE((field) << 3 | 2);                                   \
        for (unsigned i_ = 0; i_ < 5; i_++)                       \
            BYTE(((n) >> (7 * i_) & 0x7f) | (i_ < 4 ? 0x80 : 0)); \
    } while (0)
#define TEXT(t)                           \
    for (const char *c_ = (t); *c_; c_++) \
    BYTE(*c_)
    LENGTH(1, node);
    TEXT("\x0a\x01"
         "c\x12\x05"
         "Const");
    LENGTH(5, entry);
    TEXT("\x0a\x05value");
    LENGTH(2, value);
    LENGTH(8, tensor);
    TEXT("\x08\x01\x12\x09\x12\x07\x08");
    for (unsigned i = 0; i < 6; i++)
        BYTE(((content / 4) >> (7 * i) & 0x7f) | (i < 5 ? 0x80 : 0));
    LENGTH(4, content);
    FILE *f = fopen(in_test_folder("big.pb"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, at, f), at);
    assert_int_equal(fseek(f, BYTES, SEEK_CUR), 0);
    static const uint8_t relu[] = "\x0a\x0c\x0a\x01y\x12\x04Relu\x1a\x01"
                                  "c";
    assert_int_equal(fwrite(relu, 1, sizeof relu - 1, f), sizeof relu - 1);
    fclose(f);
    ir_model *m = foreign_model(in_test_folder("big.pb"));
    assert_int_equal(foreign_input_of(m, foreign_node_of(m, "Relu", 0), 0)->constant->n_elems,
                     BYTES / 4);
    assert_true(source_bytes_read(ir_reader_below(&m->reader)->ctx) <= BYTES / 50);
    ir_model_free(m);
}

int run_test_tensorflow(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frozen_graph_has_its_layers),
        cmocka_unit_test(branches_are_taken_or_kept),
        cmocka_unit_test(some_nodes_are_several_operators),
        cmocka_unit_test(loops_of_tensorflow_1_are_counted),
        cmocka_unit_test(functions_are_inlined),
        cmocka_unit_test(variables_come_from_the_checkpoint),
        cmocka_unit_test(without_the_checkpoint_a_note_says_so),
        cmocka_unit_test(detected_by_content),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_a_damaged_index),
        cmocka_unit_test(reads_the_graph_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
