/* PyTorch files: both forms, whole modules, TorchScript, checkpoints; what only training needs; damage of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "formats/format.h"
#include "formats/torch/torch.h"
#include "support/foreign.h"

#define LIMIT   ((size_t)64 << 20)
#define FOLDER  "tests/data/torch/"
#define OWN     214 /* elements of the network of make_torch.py */
#define BUFFERS 9

typedef struct sums {
    uint64_t by_role[5];
} sums;

static weight_set *read_file(const char *name, arena *a)
{
    char path[128];
    assay_error err = {0};
    weight_set *w = NULL;
    snprintf(path, sizeof path, FOLDER "%s", name);
    const format_row *f = format_found(path);
    assert_true(f->reader == FORMAT_TORCH || f->weights);
    assert_int_equal(weights_read_file(&torch_reader, path, a, &w, &err), ASSAY_OK);
    return w;
}

static sums sum_up(const weight_set *w)
{
    sums s = {0};
    for (uint32_t i = 0; i < w->items.n; i++)
        s.by_role[w->items.items[i].role] += w->items.items[i].n_elems;
    return s;
}

/* ---- what is read ---- */

static void every_form_gives_the_same_tensors(void **state)
{
    static const char *const names[] = {"state.pth",  "legacy.pth",  "module.pt",   "script.pt",
                                        "packed.pth", "legacy4.pth", "pickled.pkl", "pickled2.pkl",
                                        "arrays.pkl", "arrays2.pkl"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        arena *a = arena_new(LIMIT);
        const weight_set *w = read_file(names[i], a);
        const weight_item *conv = weight_set_get(w, STR("0.weight"));
        const sums s = sum_up(w);
        assert_int_equal(w->items.n, 9);
        assert_int_equal(w->n_elems, OWN);
        assert_non_null(conv);
        assert_int_equal(conv->rank, 4);
        assert_int_equal(conv->dims[1], 3);
        assert_true(str_is(conv->stored, "float32"));
        assert_int_equal(conv->size_bytes, 4 * 3 * 3 * 3 * 4);
        assert_int_equal(s.by_role[WEIGHT_ROLE_BUFFER], BUFFERS);
        assert_int_equal(s.by_role[WEIGHT_ROLE_PARAMETER], OWN - BUFFERS);
        assert_int_equal(w->notes.list.n, 0);
        arena_free(a);
    }
}

static void training_state_is_not_the_model(void **state)
{
    (void)state;
    arena *a = arena_new(LIMIT);
    const weight_set *w = read_file("checkpoint.ckpt", a);
    const sums s = sum_up(w);
    assert_int_equal(s.by_role[WEIGHT_ROLE_PARAMETER], OWN - BUFFERS);
    assert_int_equal(s.by_role[WEIGHT_ROLE_BUFFER], BUFFERS);
    /* the averaged copy, two moments of each parameter, and the steps that torch keeps as tensors */
    assert_true(s.by_role[WEIGHT_ROLE_TRAINING] >= OWN + 2 * (OWN - BUFFERS));
    assert_non_null(weight_set_get(w, STR("0.weight")));
    assert_non_null(weight_set_get(w, STR("ema.0.weight")));
    assert_non_null(weight_set_get(w, STR("optimizer.state.0.exp_avg")));
    arena_free(a);
}

static void what_a_trainer_keeps_is_not_the_model(void **state)
{
    (void)state;
    arena *a = arena_new(LIMIT);
    const weight_set *w = read_file("lightning.ckpt", a);
    const sums s = sum_up(w);
    assert_int_equal(s.by_role[WEIGHT_ROLE_PARAMETER], OWN - BUFFERS);
    assert_int_equal(s.by_role[WEIGHT_ROLE_BUFFER], BUFFERS);
    assert_int_equal(s.by_role[WEIGHT_ROLE_TRAINING], 1 + 7);
    assert_int_equal(s.by_role[WEIGHT_ROLE_OTHER], 1);
    assert_int_equal(weight_set_get(w, STR("callbacks.Checkpoint.best"))->rank, 0);
    arena_free(a);
}

/* Scales and zero points of channels, and the parts of a sparse tensor, are tensors as well. */
static void parts_of_tensors_are_listed(void **state)
{
    (void)state;
    arena *a = arena_new(LIMIT);
    const weight_set *w = read_file("quantised.pt", a);
    assert_int_equal(w->items.n, 5);
    assert_int_equal(w->n_elems, 24 + 4 + 4 + 2 * 3 + 3);
    assert_true(str_is(weight_set_get(w, STR("weight"))->stored, "int8"));
    assert_true(str_is(weight_set_get(w, STR("weight.quantizer.1"))->stored, "float64"));
    arena_free(a);
}

/* Bytes that lie in the pickle as they are can be read; those that lie there as text cannot. */
static void storages_in_pickles_have_a_place(void **state)
{
    (void)state;
    arena *a = arena_new(LIMIT);
    assert_true(weight_set_get(read_file("pickled.pkl", a), STR("4.weight"))->placed);
    assert_true(weight_set_get(read_file("arrays.pkl", a), STR("4.weight"))->placed);
    assert_false(weight_set_get(read_file("pickled2.pkl", a), STR("4.weight"))->placed);
    arena_free(a);
}

static void a_strange_global_is_named_and_not_called(void **state)
{
    (void)state;
    arena *a = arena_new(LIMIT);
    const weight_set *w = read_file("checkpoint.ckpt", a);
    assert_int_equal(w->notes.list.n, 1);
    assert_string_equal(w->notes.list.items[0].code, "pickle-global");
    assert_true(str_ends(w->notes.list.items[0].node, ".print"));
    arena_free(a);
}

static void tied_weights_are_parameters_once(void **state)
{
    (void)state;
    arena *a = arena_new(LIMIT);
    const weight_set *w = read_file("tied.pt", a);
    const sums s = sum_up(w);
    assert_int_equal(w->n_elems, OWN + 80 + 6);
    assert_int_equal(s.by_role[WEIGHT_ROLE_OTHER], 80);
    assert_int_equal(s.by_role[WEIGHT_ROLE_PARAMETER], OWN - BUFFERS + 6);
    assert_int_equal(weight_set_get(w, STR("half"))->size_bytes, 12);
    arena_free(a);
}

static void a_pickle_without_weights_is_refused(void **state)
{
    static const char *const names[] = {FOLDER "plain.pkl", FOLDER "samples.pkl"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assay_error err = {0};
        weight_set *w = NULL;
        arena *a = arena_new(LIMIT);
        assert_int_equal(weights_read_file(&torch_reader, names[i], a, &w, &err),
                         ASSAY_ERR_UNSUPPORTED);
        arena_free(a);
    }
}

/* ---- damage ---- */

static assay_status read_damaged(const void *bytes, size_t n)
{
    assay_error err = {0};
    weight_set *w = NULL;
    arena *a = arena_new(LIMIT);
    assay_status s = torch_read_bytes(bytes, n, a, &w, &err);
    assert_int_equal(s == ASSAY_OK, err.code == ASSAY_OK);
    assert_int_equal(s == ASSAY_OK, err.message[0] == '\0');
    arena_free(a);
    return s;
}

static void damage_of_every_byte_has_a_status(void **state)
{
    static const char *const names[] = {
        FOLDER "state.pth",   FOLDER "legacy.pth",  FOLDER "tied.pt",     FOLDER "packed.pth",
        FOLDER "pickled.pkl", FOLDER "arrays2.pkl", FOLDER "quantised.pt"};
    static const uint8_t other[] = {0, 0x7f, 0xff};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        arena *a = arena_new(LIMIT);
        str text;
        assert_int_equal(file_read_all(names[k], LIMIT, a, &text, NULL), ASSAY_OK);
        const size_t n = text.n;
        char *bytes = arena_copy(a, text.p, n);
        assert_non_null(bytes);
        assert_int_equal(read_damaged(bytes, n), ASSAY_OK);
        for (size_t i = 0; i < n; i++) {
            char before = bytes[i];
            for (size_t d = 0; d < sizeof other; d++) {
                bytes[i] = (char)other[d];
                read_damaged(bytes, n);
            }
            bytes[i] = before;
        }
        for (size_t cut = 0; cut < n; cut += 7)
            assert_int_not_equal(read_damaged(bytes, cut), ASSAY_OK);
        arena_free(a);
    }
}

int run_test_torch(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_the_same_tensors),
        cmocka_unit_test(training_state_is_not_the_model),
        cmocka_unit_test(what_a_trainer_keeps_is_not_the_model),
        cmocka_unit_test(parts_of_tensors_are_listed),
        cmocka_unit_test(storages_in_pickles_have_a_place),
        cmocka_unit_test(a_strange_global_is_named_and_not_called),
        cmocka_unit_test(tied_weights_are_parameters_once),
        cmocka_unit_test(a_pickle_without_weights_is_refused),
        cmocka_unit_test(damage_of_every_byte_has_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
