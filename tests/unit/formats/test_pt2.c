/* torch.export programs: three layouts of the same network, what the file says of shapes and roles, damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/torch/pt2.h"
#include "support/folder.h"
#include "support/foreign.h"

#define FOLDER "tests/data/pt2/"

static const char *const layouts[] = {FOLDER "schema2.pt2", FOLDER "flat.pt2", FOLDER "archive.pt2",
                                      FOLDER "packed.pt2"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static uint64_t elements_of(const ir_model *m, uint32_t flag)
{
    uint64_t n = 0;
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        n += v->constant && v->flags & flag ? v->constant->n_elems : 0;
    }
    return n;
}

static void every_layout_is_the_same_graph(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        ir_model *m = foreign_model(layouts[i]);
        const ir_node *conv = foreign_node_of(m, "Conv", 0);
        assert_non_null(conv);
        assert_non_null(foreign_node_of(m, "BatchNormalization", 0));
        assert_non_null(foreign_node_of(m, "Gemm", 0));
        assert_true(str_is(foreign_input_of(m, conv, 1)->name, "0.weight"));
        assert_int_equal(elements_of(m, IR_VALUE_PARAM), 145);
        assert_int_equal(elements_of(m, IR_VALUE_BUFFER), 9);
        ir_model_free(m);
    }
}

static void open_sizes_are_symbols(void **state)
{
    (void)state;
    ir_model *m = foreign_model(FOLDER "archive.pt2");
    const ir_graph *g = ir_graph_at(m, 0);
    assert_int_equal(g->inputs.n, 1);
    const ir_value *x = ir_value_at(m, g->inputs.items[0]);
    assert_true(str_is(x->declared.dims[0].symbol, "s0"));
    assert_int_equal(x->declared.dims[1].value, 3);
    ir_model_free(m);
}

static void weights_are_read_when_asked(void **state)
{
    (void)state;
    float first[LAYOUTS];
    for (size_t i = 0; i < LAYOUTS; i++) {
        ir_model *m = foreign_model(layouts[i]);
        assay_error err = {0};
        const ir_tensor *w = foreign_input_of(m, foreign_node_of(m, "Conv", 0), 1)->constant;
        float *all = calloc(1, (size_t)w->size_bytes);
        assert_non_null(all);
        assert_int_equal(m->reader.read(m->reader.ctx, w, all, &err), ASSAY_OK);
        first[i] = all[0];
        free(all);
        ir_model_free(m);
    }
    for (size_t i = 1; i < LAYOUTS; i++)
        assert_true(first[0] != 0 && memcmp(&first[0], &first[i], sizeof(float)) == 0);
}

static void damage_of_every_byte_has_a_status(void **state)
{
    (void)state;
    foreign_survives(FOLDER "tiny.pt2", pt2_read);
    foreign_survives(FOLDER "packed.pt2", pt2_read);
}

static void reads_the_structure_only(void **state)
{
    (void)state;
    foreign_reads_little(FOLDER "archive.pt2", "data/weights/weight_0", pt2_read);
}

int run_test_pt2(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_the_same_graph),
        cmocka_unit_test(open_sizes_are_symbols),
        cmocka_unit_test(weights_are_read_when_asked),
        cmocka_unit_test(damage_of_every_byte_has_a_status),
        cmocka_unit_test(reads_the_structure_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
