/* Models of Keras: what their layers become, whose weights are whose, what is trained; and damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/format.h"
#include "formats/keras/keras.h"
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
    if (format_read(f, path, LIMIT, &m, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assert_int_equal(ir_verify(m, &err), ASSAY_OK);
    assert_true(str_is(m->format, "keras"));
    return m;
}

static const ir_node *node_named(const ir_model *m, const char *name)
{
    for (ir_id id = 0; id < m->nodes.n; id++)
        if (str_is(ir_node_at(m, id)->name, name))
            return ir_node_at(m, id);
    return NULL;
}

static unsigned nodes_of(const ir_model *m, const char *op)
{
    unsigned n = 0;
    for (ir_id id = 0; id < m->nodes.n; id++)
        n += str_is(ir_node_at(m, id)->op, op);
    return n;
}

static uint64_t elements_with(const ir_model *m, uint32_t flags)
{
    uint64_t n = 0;
    for (ir_id id = 0; id < m->values.n; id++)
        if (ir_value_at(m, id)->constant && (ir_value_at(m, id)->flags & flags) == flags)
            n += ir_value_at(m, id)->constant->n_elems;
    return n;
}

static const ir_tensor *weight_named(const ir_model *m, const char *name)
{
    for (ir_id id = 0; id < m->values.n; id++)
        if (ir_value_at(m, id)->constant && str_is(ir_value_at(m, id)->name, name))
            return ir_value_at(m, id)->constant;
    return NULL;
}

static bool has_note(const ir_model *m, const char *code)
{
    for (uint32_t i = 0; i < m->notes.list.n; i++)
        if (strcmp(m->notes.list.items[i].code, code) == 0)
            return true;
    return false;
}

/* ---- what is read ---- */

static void check_tiny(const char *path)
{
    ir_model *m = read_model(path);
    const ir_node *conv = node_named(m, "conv2d"), *norm = node_named(m, "batch_normalization");
    assert_non_null(conv);
    assert_true(str_is(conv->domain, "assay.nhwc"));
    assert_true(str_is(ir_attr_str(conv, "kernel_layout", ""), "HWIO"));
    assert_true(str_is(ir_attr_str(conv, "auto_pad", ""), "VALID"));
    assert_true(str_is(norm->domain, "assay.nhwc"));
    assert_true(str_is(node_named(m, "dense")->op, "Gemm"));
    const ir_value *out = ir_value_at(m, ir_graph_at(m, 0)->outputs.items[0]);
    assert_true(str_is(out->name, "dense"));
    assert_int_equal(elements_with(m, IR_VALUE_PARAM), 20 + 4 + 57);
    assert_int_equal(elements_with(m, IR_VALUE_BUFFER), 4);
    ir_model_free(m);
}

static void every_form_gives_the_same_model(void **state)
{
    (void)state;
    check_tiny("tests/data/keras/tiny.h5");
    check_tiny("tests/data/keras/tiny.keras");
    check_tiny("tests/data/keras/packed.keras");
    check_tiny("tests/data/keras/latest.h5");
    check_tiny("tests/data/keras/weights.json");
    check_tiny("tests/data/keras/weights.h5"); /* with the architecture beside it */
}

static void open_sizes_have_names(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/keras/graph_3.json");
    const ir_type *t = &ir_value_at(m, ir_graph_at(m, 0)->inputs.items[0])->declared;
    assert_int_equal(t->rank, 3);
    assert_true(str_is(t->dims[0].symbol, "batch"));
    assert_true(str_is(t->dims[1].symbol, "sequence"));
    assert_int_equal(t->dims[2].value, 8);
    ir_model_free(m);
}

static void weights_are_slices_of_the_file(void **state)
{
    (void)state;
    float a[18], b[18];
    ir_model *h5 = read_model("tests/data/keras/tiny.h5"),
             *zip = read_model("tests/data/keras/tiny.keras");
    const ir_tensor *x = weight_named(h5, "conv2d/kernel"), *y = weight_named(zip, "conv2d/kernel");
    assert_int_equal(x->storage, IR_DATA_SLICE);
    assert_int_equal(x->size_bytes, sizeof a);
    assert_int_equal(h5->reader.read(h5->reader.ctx, x, a, NULL), ASSAY_OK);
    assert_int_equal(zip->reader.read(zip->reader.ctx, y, b, NULL), ASSAY_OK);
    assert_memory_equal(a, b, sizeof a);
    ir_model_free(h5);
    ir_model_free(zip);
}

static void other_storage_is_counted(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/keras/chunked.h5");
    assert_int_equal(elements_with(m, IR_VALUE_PARAM), 4 * 6 + 6 + 6 * 2 + 2);
    assert_int_equal(weight_named(m, "dense/kernel")->storage, IR_DATA_NONE);
    assert_true(has_note(m, "weights-not-read"));
    const ir_tensor *swapped = weight_named(m, "dense_1/kernel");
    assert_int_equal(swapped->storage, IR_DATA_SLICE);
    float v[12];
    assert_int_equal(m->reader.read(m->reader.ctx, swapped, v, NULL), ASSAY_OK);
    for (int i = 0; i < 12; i++)
        assert_true(v[i] > -3 && v[i] < 3 && v[i] != 0);
    ir_model_free(m);
}

static void graphs_of_keras_2(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/keras/graph_2.json");
    assert_int_equal(ir_graph_at(m, 0)->inputs.n, 2);
    assert_int_equal(ir_graph_at(m, 0)->outputs.n, 2);
    /* One encoder, called twice, with one set of weights. */
    const ir_node *one = node_named(m, "encoder/conv"), *two = node_named(m, "encoder/conv_1");
    assert_non_null(one);
    assert_non_null(two);
    assert_true(one->inputs[1] == two->inputs[1]);
    assert_int_equal(nodes_of(m, "GRU"), 2);
    assert_true(str_is(node_named(m, "lambda")->domain, "keras"));
    assert_true(str_is(node_named(m, "custom")->op, "Squash"));
    assert_true(str_is(node_named(m, "tf.math.subtract")->op, "Sub"));
    assert_int_equal(elements_with(m, IR_VALUE_PARAM), 594);
    ir_model_free(m);
}

static void graphs_of_keras_3(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/keras/graph_3.json");
    assert_int_equal(elements_with(m, IR_VALUE_PARAM), 72 + 27);
    assert_int_equal(elements_with(m, IR_VALUE_PARAM | IR_VALUE_FROZEN), 72);
    /* keras.ops.Add takes a number; the layer Multiply takes tensors. */
    const ir_node *add = node_named(m, "add");
    assert_int_equal(add->n_inputs, 2);
    assert_non_null(ir_value_at(m, add->inputs[1])->constant);
    /* What is unknown has the shape that its reader expects. */
    const ir_value *unknown = ir_value_at(m, node_named(m, "mystery")->outputs[0]);
    assert_int_equal(unknown->declared.rank, 3);
    assert_int_equal(unknown->declared.dims[2].value, 8);
    ir_model_free(m);
}

/* ---- texts ---- */

static assay_status read_text(const char *text, ir_model **m)
{
    assay_error err = {0};
    const size_t n = strlen(text);
    const format_row *f = format_by_content(text, n < FORMAT_HEAD ? n : FORMAT_HEAD, n);
    assert_non_null(f);
    assert_string_equal(f->name, "keras");
    return format_read_bytes(f, text, n, LIMIT, m, &err);
}

static void parameters_are(const char *text, uint64_t trained, uint64_t fixed)
{
    ir_model *m = NULL;
    assert_int_equal(read_text(text, &m), ASSAY_OK);
    assert_int_equal(elements_with(m, IR_VALUE_PARAM), trained);
    assert_int_equal(elements_with(m, IR_VALUE_BUFFER), fixed);
    ir_model_free(m);
}

#define SEQUENTIAL(first, more)                                                    \
    "{\"class_name\": \"Sequential\", \"config\": [{\"class_name\": " first "}}, " \
    "{\"class_name\": " more "}}]}"

static void layers_have_their_parameters(void **state)
{
    (void)state;
    /* Keras 1: a bare list, other names of the settings. */
    parameters_are(SEQUENTIAL("\"Convolution2D\", \"config\": {\"nb_filter\": 4, \"nb_row\": 3, "
                              "\"nb_col\": 2, \"border_mode\": \"same\", \"dim_ordering\": \"tf\", "
                              "\"batch_input_shape\": [null, 8, 8, 2]",
                              "\"Dense\", \"config\": {\"output_dim\": 3, \"bias\": false"),
                   4 * 3 * 2 * 2 + 4 + 4 * 3, 0);
    parameters_are(
        SEQUENTIAL("\"SeparableConv2D\", \"config\": {\"filters\": 5, \"kernel_size\": [3, "
                   "3], \"batch_input_shape\": [null, 8, 8, 2]",
                   "\"BatchNormalization\", \"config\": {\"scale\": false"),
        3 * 3 * 2 + 2 * 5 + 5 + 5, 10);
    parameters_are(SEQUENTIAL("\"LSTM\", \"config\": {\"units\": 3, \"return_sequences\": true, "
                              "\"batch_input_shape\": [null, 4, 2]",
                              "\"GRU\", \"config\": {\"units\": 2, \"reset_after\": true"),
                   4 * 3 * (2 + 3 + 1) + 3 * 2 * (3 + 2 + 2), 0);
    parameters_are(SEQUENTIAL("\"Embedding\", \"config\": {\"input_dim\": 9, \"output_dim\": 4, "
                              "\"batch_input_shape\": [null, 5]",
                              "\"LayerNormalization\", \"config\": {\"axis\": -1"),
                   36 + 8, 0);
    parameters_are(
        SEQUENTIAL("\"Conv2DTranspose\", \"config\": {\"filters\": 5, \"kernel_size\": 2, "
                   "\"strides\": 2, \"batch_input_shape\": [null, 8, 8, 2]",
                   "\"PReLU\", \"config\": {\"shared_axes\": [1, 2]"),
        2 * 2 * 5 * 2 + 5 + 5, 0);
}

static void other_layers_have_theirs(void **state)
{
    (void)state;
    parameters_are(
        SEQUENTIAL("\"ConvLSTM2D\", \"config\": {\"filters\": 3, \"kernel_size\": [3, 3], "
                   "\"padding\": \"same\", \"batch_input_shape\": [null, 4, 6, 6, 2]",
                   "\"DepthwiseConv2D\", \"config\": {\"kernel_size\": 3, "
                   "\"depth_multiplier\": 2"),
        9 * 12 * (2 + 3) + 12 + 9 * 3 * 2 + 6, 0);
    parameters_are(SEQUENTIAL("\"Normalization\", \"config\": {\"axis\": -1, "
                              "\"batch_input_shape\": [null, 7]",
                              "\"Dense\", \"config\": {\"units\": 2"),
                   16, 15);
}

/* The layers that stand alone: no node of the reader's own domain is left. */
static void is_known(const char *cls, const char *config, const char *shape, uint64_t trained)
{
    char text[1024];
    ir_model *m = NULL;
    snprintf(text, sizeof text,
             "{\"class_name\": \"Sequential\", \"config\": [{\"class_name\": \"%s\", \"config\": "
             "{%s%s\"batch_input_shape\": [null, %s]}}]}",
             cls, config, *config ? ", " : "", shape);
    if (read_text(text, &m) != ASSAY_OK)
        fail_msg("%s is refused", cls);
    for (ir_id id = 0; id < m->nodes.n; id++)
        if (str_is(ir_node_at(m, id)->domain, "keras"))
            fail_msg("%s is unknown", cls);
    if (elements_with(m, IR_VALUE_PARAM) != trained)
        fail_msg("%s: %llu parameters", cls, (unsigned long long)elements_with(m, IR_VALUE_PARAM));
    ir_model_free(m);
}

static void rare_layers_are_known(void **state)
{
    (void)state;
    is_known("LayerNormalization", "\"axis\": [1]", "10, 8", 20);
    is_known("LayerNormalization", "\"axis\": [1, 3]", "4, 5, 6", 48);
    is_known("LayerNormalization", "\"rms_scaling\": true", "10, 8", 8);
    is_known("RMSNormalization", "\"axis\": 1", "10, 8", 10);
    is_known("LocallyConnected1D", "\"filters\": 4, \"kernel_size\": 3", "10, 8",
             8 * 24 * 4 + 8 * 4);
    is_known("LocallyConnected2D", "\"filters\": 4, \"kernel_size\": [3, 3]", "6, 5, 2",
             12 * 18 * 4 + 12 * 4);
    is_known("MaxoutDense", "\"output_dim\": 4, \"nb_feature\": 3", "16", 3 * 16 * 4 + 12);
    is_known("Highway", "", "16", 2 * 256 + 32);
    is_known("TimeDistributedDense", "\"output_dim\": 4", "5, 3", 16);
    is_known("ParametricSoftplus", "", "7", 14);
    is_known("LSTMCell", "\"units\": 4", "16", 4 * 4 * 21);
    is_known("StackedRNNCells",
             "\"cells\": [{\"class_name\": \"LSTMCell\", \"config\": {\"units\": 4}}, "
             "{\"class_name\": \"SimpleRNNCell\", \"config\": {\"units\": 3}}]",
             "16", 4 * 4 * 21 + 3 * 8);
    is_known("ReversibleEmbedding", "\"input_dim\": 10, \"output_dim\": 4", "5", 40);
    is_known("RandomFourierFeatures", "\"output_dim\": 6, \"trainable\": true", "4", 1);
    is_known("RandomFourierFeatures", "\"output_dim\": 6", "4", 0);
    is_known("Discretization", "\"bin_boundaries\": [0.0, 1.0]", "5", 0);
    is_known("AdaptiveAveragePooling2D", "\"output_size\": [5, 3]", "16, 8, 3", 0);
    is_known("AutoContrast", "", "8, 8, 3", 0);
    is_known("Solarization", "", "8, 8, 3", 0);
    is_known("Pipeline",
             "\"layers\": [{\"class_name\": \"Rescaling\", \"config\": {\"scale\": 0.5}}]", "4", 0);
    is_known("MelSpectrogram",
             "\"fft_length\": 64, \"sequence_stride\": 16, \"window\": \"hann\", "
             "\"num_mel_bins\": 8",
             "256", 0);
    is_known("STFTSpectrogram", "\"frame_length\": 16, \"frame_step\": 8", "128, 1", 0);
}

/* A Lambda is taken to keep the shape; the weights behind it may say that it does not. */
static void shapes_behind_a_lambda_are_assumed(void **state)
{
    (void)state;
    ir_model *m = read_model("tests/data/keras/lambda.h5");
    const ir_node *lambda = node_named(m, "lambda");
    assert_true(has_note(m, "assumed-shape"));
    assert_true(ir_value_at(m, lambda->outputs[0])->flags & IR_VALUE_ASSUMED);
    assert_int_equal(nodes_of(m, "Conv"), 1);
    ir_model_free(m);
    m = read_model("tests/data/keras/lambda_narrow.h5");
    assert_false(has_note(m, "assumed-shape"));
    assert_int_equal(nodes_of(m, "Conv"), 0);
    assert_int_equal(elements_with(m, IR_VALUE_PARAM), 3 * 3 * 2 + 2 + 32 * 3 + 3);
    ir_model_free(m);
}

#define BEHIND_LAMBDA(batch)                                                                     \
    "{\"class_name\": \"Sequential\", \"config\": ["                                             \
    "{\"class_name\": \"Lambda\", \"config\": {\"name\": \"lambda\", \"output_shape\": [6, 3], " \
    "\"batch_input_shape\": [" batch ", 6, 3]}}, "                                               \
    "{\"class_name\": \"Dense\", \"config\": {\"units\": 2}}]}"

/* The batch behind a Lambda is only known where the file fixes it. */
static void an_open_batch_behind_a_lambda_is_assumed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t batch;
        bool assumed;
    } cases[] = {{BEHIND_LAMBDA("null"), -1, true}, {BEHIND_LAMBDA("4"), 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir_model *m = NULL;
        assert_int_equal(read_text(cases[i].text, &m), ASSAY_OK);
        const ir_value *v = ir_value_at(m, node_named(m, "lambda")->outputs[0]);
        assert_int_equal((v->flags & IR_VALUE_ASSUMED) != 0, cases[i].assumed);
        assert_int_equal(has_note(m, "assumed-shape"), cases[i].assumed);
        assert_int_equal(v->declared.dims[0].value, cases[i].batch);
        ir_model_free(m);
    }
}

static void foolish_texts_are_refused(void **state)
{
    static const char *const texts[] = {
        "{\"class_name\": \"Sequential\"}",
        "{\"class_name\": \"Mine\", \"config\": {}}",
        "{\"class_name\": \"Functional\", \"config\": {\"layers\": [], \"input_layers\": []}}",
        "{\"class_name\": \"Functional\", \"config\": {\"layers\": [{\"class_name\": \"Dense\", "
        "\"name\": \"a\", \"config\": {}, \"inbound_nodes\": [[[\"a\", 0, 0]]]}], \"input_layers\": "
        "[[\"a\", 0, 0]], \"output_layers\": [[\"b\", 0, 0]]}}",
        "{\"class_name\": 3}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ir_model *m = NULL;
        assert_int_not_equal(read_text(texts[i], &m), ASSAY_OK);
        assert_null(m);
    }
}

/* A model that holds itself is a text of bounded depth at most. */
static void models_in_models_are_bounded(void **state)
{
    char text[16384] = "";
    size_t n = 0;
    ir_model *m = NULL;
    assay_error err = {0};
    (void)state;
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"class_name\": \"Sequential\", \"config\": {\"layers\": [");
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "]}}");
    static const format_row row = {.reader = FORMAT_FOREIGN, .read = keras_read};
    assert_int_not_equal(format_read_bytes(&row, text, n, LIMIT, &m, &err), ASSAY_OK);
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
    static const format_row row = {.reader = FORMAT_FOREIGN, .read = keras_read};
    assay_error err = {0}, verdict = {0};
    ir_model *m = NULL;
    if (format_read_bytes(&row, p, n, LIMIT, &m, &err) != ASSAY_OK) {
        assert_null(m);
        assert_int_not_equal(err.code, ASSAY_OK);
        assert_true(err.message[0] != '\0');
        return;
    }
    (void)ir_verify(m, &verdict);
    ir_model_free(m);
}

static void survives_damage_of(const char *path, uint8_t mask)
{
    enum { STEP = 29 };
    size_t n;
    uint8_t *p = load_file(path, &n);
    for (size_t i = 0; i < n; i++) {
        p[i] ^= mask;
        try_bytes(p, n);
        p[i] ^= mask;
    }
    for (size_t i = 0; i < n; i += STEP)
        try_bytes(p, i);
    free(p);
}

static void survives_damage(void **state)
{
    (void)state;
    survives_damage_of("tests/data/keras/tiny.h5", 0xff);
    survives_damage_of("tests/data/keras/tiny.keras", 0x01);
    survives_damage_of("tests/data/keras/packed.keras", 0x01);
    survives_damage_of("tests/data/keras/latest.h5", 0x80);
    survives_damage_of("tests/data/keras/graph_2.json", 0x01);
    survives_damage_of("tests/data/keras/graph_3.json", 0xff);
}

/* ---- weights stay where they are ---- */

static void reads_the_structure_only(void **state)
{
    enum { BIG = 100 << 20 };
    size_t n;
    (void)state;
    uint8_t *p = load_file("tests/data/keras/tiny.h5", &n);
    const char *path = in_test_folder("big.h5");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(ftruncate(fileno(f), BIG), 0);
    fclose(f);
    assay_error err = {0};
    source *src;
    ir_model *m = NULL;
    assert_int_equal(source_open(path, &src, &err), ASSAY_OK);
    assert_int_equal(keras_read(src, path, LIMIT, &m, &err), ASSAY_OK);
    assert_true(source_bytes_read(src) <= BIG / 50);
    ir_model_free(m);
    free(p);
}

int run_test_keras(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_the_same_model),
        cmocka_unit_test(open_sizes_have_names),
        cmocka_unit_test(weights_are_slices_of_the_file),
        cmocka_unit_test(other_storage_is_counted),
        cmocka_unit_test(graphs_of_keras_2),
        cmocka_unit_test(graphs_of_keras_3),
        cmocka_unit_test(layers_have_their_parameters),
        cmocka_unit_test(other_layers_have_theirs),
        cmocka_unit_test(rare_layers_are_known),
        cmocka_unit_test(shapes_behind_a_lambda_are_assumed),
        cmocka_unit_test(an_open_batch_behind_a_lambda_is_assumed),
        cmocka_unit_test(foolish_texts_are_refused),
        cmocka_unit_test(models_in_models_are_bounded),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_the_structure_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
