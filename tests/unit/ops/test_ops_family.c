/* Families of operators: the table is in order, every row is of operators that exist, and what rows say of slots
 * holds for slots they have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ops/family.h"
#include "ops/op.h"

typedef bool row_fn(const op_row *row, const void *ctx);

static uint32_t count_rows(row_fn *holds, const void *ctx)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < op_table_n; f++)
        for (uint32_t k = 0; k < op_table[f]->n; k++)
            n += holds(&op_table[f]->rows[k], ctx);
    return n;
}

static bool is_of(const op_row *row, const void *type)
{
    return strcmp(row->type, type) == 0;
}

static void every_family_has_operators_and_its_place(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < op_families_n; k++) {
        const op_family *f = &op_families[k];
        if (k && strcmp(op_families[k - 1].type, f->type) >= 0)
            fail_msg("%s stands behind %s", f->type, op_families[k - 1].type);
        if (!count_rows(is_of, f->type))
            fail_msg("no operator is of the family %s", f->type);
        assert_ptr_equal(op_family_find(str_of(f->type)), f);
        assert_true(f->role != OPR_NONE || f->algebra != OPA_NONE || f->is);
    }
}

static void layers_find_their_family(void **state)
{
    (void)state;
    assert_ptr_equal(op_family_find(STR("conv2d")), op_family_find(STR("conv#d")));
    assert_ptr_equal(op_family_find(STR("convtranspose3d")),
                     op_family_find(STR("convtranspose#d")));
    assert_int_equal(op_family_find(STR("conv1d"))->role, OPR_CONV);
    const char *const strangers[] = {"",       "conv",  "convd", "conv22d",
                                     "relu2d", "relux", "rel",   "zzz"};
    for (size_t k = 0; k < sizeof strangers / sizeof *strangers; k++) {
        const op_family *f = op_family_find(str_of(strangers[k]));
        assert_int_equal(f->role, OPR_NONE);
        assert_int_equal(f->is, 0);
        assert_string_equal(f->type, "");
    }
}

static bool slots_missing(const op_row *row, const void *ctx)
{
    (void)ctx;
    bool bad = row->sum_slot >= row->max_in;
    for (int k = 0; k < OP_LOOKUPS; k++) {
        op_lookup l = row->lookups[k];
        bad |= l.index != l.table &&
               (l.index >= row->max_in || l.table >= row->max_in || !(row->weights >> l.table & 1));
    }
    if (bad && row->max_in)
        printf("%s names a slot that it has not\n", row->name);
    return bad && row->max_in;
}

static bool looks_up(const op_row *row, const void *ctx)
{
    (void)ctx;
    return row->lookups[0].index != row->lookups[0].table;
}

static void slots_that_rows_name_exist(void **state)
{
    (void)state;
    assert_int_equal(count_rows(slots_missing, NULL), 0);
    assert_true(count_rows(looks_up, NULL) >= 4);
}

/* Kept in machines' files: these figures may never change. */
static void the_hash_of_files_stays(void **state)
{
    (void)state;
    assert_int_equal(str_hash_stored(STR("")), 2166136261u);
    assert_int_equal(str_hash_stored(STR("a")), 0xe40c292cu);
    assert_int_equal(str_hash_stored(STR("foobar")), 0xbf9cf968u);
}

int run_test_ops_family(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_has_operators_and_its_place),
        cmocka_unit_test(layers_find_their_family),
        cmocka_unit_test(slots_that_rows_name_exist),
        cmocka_unit_test(the_hash_of_files_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
