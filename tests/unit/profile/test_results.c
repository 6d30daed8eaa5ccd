/* Every kind of result, filled at random: what was written is read, and written again it is the same. Every row says
 * what it means. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "profile/profile_fields.h"
#include "profile/result_kinds.h"
#include "support/fill.h"

enum { ROUNDS = 60 };

/* Documents are long: what stands before the first difference says where it is. */
static void check_same(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    size_t from = i > 100 ? i - 100 : 0;
    if (a[i] != b[i])
        fail_msg("...%.150s\nwas written again as\n...%.150s", a + from, b + from);
}

static void check_again(const result_kind *kind, const void *data, int indent)
{
    sbuf first = {0}, second = {0};
    result again;
    assay_error err = {0};
    result_write(kind, data, indent, &first);
    assert_false(first.failed);
    str text = {first.p, (uint32_t)first.n};
    if (result_read(text, kind->name, SIZE_MAX, &again, &err) != ASSAY_OK)
        fail_msg("%s\n%s", err.message, sbuf_cstr(&first));
    assert_ptr_equal(again.kind, kind);
    result_write(kind, again.data, indent, &second);
    check_same(sbuf_cstr(&first), sbuf_cstr(&second));
    result_free(&again);
    sbuf_free(&first);
    sbuf_free(&second);
}

static void check_filled(const result_kind *kind, int indent, rng *random)
{
    arena *a = arena_new((size_t)64 << 20);
    void *data = arena_alloc(a, kind->of->size);
    assert_non_null(data);
    fill_struct(kind->of, data, a, random);
    check_again(kind, data, indent);
    arena_free(a);
}

/* Not the profile: its parts refer to each other by number, and reading checks that (test_profile_read.c). */
static void all_kinds_round_trip(void **state)
{
    (void)state;
    rng random;
    rng_seed(&random, 14);
    for (uint32_t k = 0; k < result_kinds_n; k++)
        for (int i = 0; i < ROUNDS && result_kinds[k] != &profile_kind; i++)
            check_filled(result_kinds[k], i % 3, &random);
}

/* Of nothing everything is unknown, and stays so. */
static void empty_documents_round_trip(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < result_kinds_n; k++) {
        char text[96];
        result r;
        const result_kind *kind = result_kinds[k];
        snprintf(text, sizeof text, "{\"schema\":\"%s/%u\",\"kind\":\"%s\"}", kind->schema,
                 kind->version, kind->word ? kind->word : "");
        assert_int_equal(result_read(str_of(text), "x", SIZE_MAX, &r, NULL), ASSAY_OK);
        check_again(result_kinds[k], r.data, 2);
        result_free(&r);
    }
}

static void check_rows(const fields *f, int depth)
{
    if (depth > 12)
        return;
    for (uint32_t i = 0; i < f->n; i++) {
        const field *row = &f->rows[i];
        bool is_spliced = row->kind == FIELD_SPLICE;
        if (!is_spliced && !(row->about && row->about[0]))
            fail_msg("%s.%s does not say what it is", f->name, row->key ? row->key : "");
        if (row->of)
            check_rows(row->of, depth + 1);
    }
}

static void rows_say_what_they_are(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < result_kinds_n; k++) {
        assert_non_null(result_kinds[k]->what);
        check_rows(result_kinds[k]->of, 0);
    }
}

/* Keys of one object, with those of splices. */
typedef struct key_list {
    const char *keys[256];
    uint32_t n;
} key_list;

static void check_key(key_list *l, const fields *f, const char *key)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->keys[i], key) == 0)
            fail_msg("%s has two rows of the key %s", f->name, key);
    assert_true(l->n < sizeof l->keys / sizeof *l->keys);
    l->keys[l->n++] = key;
}

static void check_keys(const fields *f, key_list *l, int depth)
{
    for (uint32_t i = 0; i < f->n && depth < 12; i++) {
        const field *row = &f->rows[i];
        key_list own = {.n = 0};
        if (row->kind == FIELD_SPLICE) {
            check_keys(row->of, l, depth);
            continue;
        }
        check_key(l, f, row->key);
        if (row->of)
            check_keys(row->of, &own, depth + 1);
    }
}

static void keys_are_unique(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < result_kinds_n; k++) {
        key_list keys = {.keys = {"schema"}, .n = 1};
        check_keys(result_kinds[k]->of, &keys, 0);
    }
}

int run_test_results(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_round_trip),
        cmocka_unit_test(empty_documents_round_trip),
        cmocka_unit_test(rows_say_what_they_are),
        cmocka_unit_test(keys_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
