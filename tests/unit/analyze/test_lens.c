/* Lenses against what the tools themselves answered (tests/data/peer_counts.csv), to the unit. What a lens
 * deliberately does not imitate stands in a table here, with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "analyze/count.h"
#include "study/validate.h"
#include "support/net.h"
#include "zoo/zoo.h"

typedef struct exception {
    const char *peer, *model;
    int64_t apart; /* what the lens gives minus what the tool gave */
} exception;

static const exception exceptions[] = {
    /* thop sees no functional matmul and no projection inside nn.MultiheadAttention. */
    {"thop", "vit_b_16", 5577375744},
    /* The same in Swin's attention, which is all functions, its softmax too. */
    {"thop", "swin_t", 1393790496},
    /* Arithmetic on shapes that PyTorch 1.13 wrote into the exported file. */
    {"onnx-tool", "shufflenet_v2_x1_0", -91},
    {"onnx-tool", "vit_b_16", -102},
    /* Masks and shape arithmetic of the exported file. */
    {"onnx-tool", "swin_t", -888451},
};

static int64_t allowed(const char *peer, const char *model)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].peer, peer) == 0 && strcmp(exceptions[i].model, model) == 0)
            return exceptions[i].apart;
    return 0;
}

static void count(const ir_model *m, const lens *by, profile *p)
{
    arena *work = arena_new((size_t)256 << 20);
    assay_error err = {0};
    infer_result *r;
    counted of;
    const count_options opt = {.lens = by};
    assert_int_equal(infer_run(m, NULL, work, &r, &err), ASSAY_OK);
    assert_int_equal(count_run(r, &opt, p, &of, &err), ASSAY_OK);
    arena_free(work);
}

static uint64_t total(const char *model, const char *lens_name, uint64_t *macs)
{
    assay_error err = {0};
    ir_model *m;
    const zoo_request q = {.row = zoo_find(str_of(model))};
    assert_non_null(q.row);
    assert_int_equal(zoo_build(&q, &m, &err), ASSAY_OK);
    profile *p = profile_new((size_t)256 << 20);
    count(m, lens_find(str_of(lens_name)), p);
    uint64_t n = p->total_flops;
    *macs = p->total_macs;
    profile_free(p);
    ir_model_free(m);
    return n;
}

static int check_line(char *line)
{
    char *column[7], *at = line;
    uint64_t macs;
    for (int i = 0; i < 7; i++)
        column[i] = strsep(&at, ",\n");
    bool flops = strcmp(lens_find(str_of(column[2]))->unit, "FLOP") == 0;
    int64_t theirs = strtoll(column[flops ? 5 : 4], NULL, 10);
    int64_t apart = (int64_t)total(column[0], column[2], &macs) - theirs;
    if (apart == allowed(column[2], column[0]))
        return 0;
    print_error("%s of %s: %lld too much\n", column[2], column[0], (long long)apart);
    return 1;
}

static void test_peers(void **state)
{
    char line[512];
    int bad = 0, n = 0;
    (void)state;
    FILE *f = fopen("tests/data/peer_counts.csv", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || strncmp(line, "model,", 6) == 0)
            continue;
        bad += check_line(line);
        n++;
    }
    fclose(f);
    assert_int_equal(n, 13 * 4 + 2);
    assert_int_equal(bad, 0);
}

static void test_torch(void **state)
{
    static const char *const models[] = {"resnet50", "vit_b_16", "swin_t", "r3d_18"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        uint64_t macs, again;
        assert_true(total(models[i], "torchvision", &macs) == macs);
        assert_true(total(models[i], "torch", &again) == 2 * macs);
    }
}

/* fvcore has a handle for adaptive_avg_pool2d and for none in three dimensions. */
static void test_pooling(void **state)
{
    uint64_t macs;
    (void)state;
    /* 25,088 values of the 7x7 map enter the adaptive pooling. */
    assert_true(total("vgg16", "fvcore", &macs) == macs + 25088);
    assert_true(total("alexnet", "fvcore", &macs) == macs + 9216);
}

/* What fvcore 0.1.5 answers for one einsum (numpy 1.24): the cheapest path of numpy.einsum_path in four digits,
 * halved. */
typedef struct einsum_case {
    const char *equation;
    int64_t shapes[4][5]; /* ends with a 0 */
    uint64_t count;
} einsum_case;

static const einsum_case einsum_cases[] = {
    {"bghid,bghjd->bghij", {{1, 64, 2, 49, 32}, {1, 64, 2, 49, 32}}, 9835000},
    {"abcd,abed->abce", {{2, 12, 197, 64}, {2, 12, 197, 64}}, 59600000},
    {"...ij,...jk->...ik", {{3, 41, 43}, {3, 43, 47}}, 248600},
    {"ab,bc->ac", {{5, 7}, {7, 1001}}, 35035},
    {"ab,bc->ac", {{1, 5}, {5, 10005}}, 50050},
    {"ab,ab->", {{111, 113}, {111, 113}}, 12545},
    {"ij->j", {{123, 457}}, 56200},
    {"ij->ji", {{123, 457}}, 28105},
    {"ii->i", {{99, 99}}, 50},
    {"i,j->ij", {{123}, {457}}, 28105},
    {"a,b,c->abc", {{12}, {34}, {56}}, 22850},
    {"ab,ab,ab->ab", {{123, 45}, {123, 45}, {123, 45}}, 5535},
    {"ab,bc,cd->ad", {{10, 100}, {100, 5}, {5, 50}}, 7500},
    {"ab,bc,cd->", {{1, 3333}, {3333, 7}, {7, 9}}, 23395},
    {"ab,bc,ca->", {{15, 17}, {17, 19}, {19, 15}}, 5100},
    {"ab,cb,cd,de->ae", {{7, 30}, {11, 30}, {11, 13}, {13, 37}}, 6680},
    /* Two equations are counted to the unit, whatever their letters are. */
    {"abc,abd->acd", {{3, 49, 33}, {3, 49, 77}}, 3 * 49 * 33 * 77},
    {"n t g, n c g -> n c t", {{3, 49, 33}, {3, 77, 33}}, 3 * 49 * 33 * 77},
};

static uint64_t einsum_count(const einsum_case *e)
{
    net n = net_open(17);
    ir_id in[4];
    uint32_t n_in = 0;
    for (; n_in < 4 && e->shapes[n_in][0]; n_in++) {
        int rank = 0;
        while (rank < 5 && e->shapes[n_in][rank])
            rank++;
        in[n_in] = net_input(&n, 0, (const char *[]){"p", "q", "r", "s"}[n_in], IR_FLOAT32, rank,
                             e->shapes[n_in]);
    }
    ir_id y = net_op(&n, 0, "Einsum", n_in, in, ATTRS(at_str("equation", e->equation)));
    net_outputs(&n, 0, IDS(y));
    profile *p = profile_new((size_t)16 << 20);
    count(n.m, lens_find(STR("fvcore")), p);
    uint64_t flops = p->total_flops;
    profile_free(p);
    net_close(&n);
    return flops;
}

static void test_einsum(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof einsum_cases / sizeof *einsum_cases; i++) {
        uint64_t ours = einsum_count(&einsum_cases[i]);
        if (ours != einsum_cases[i].count)
            print_error("%s: %llu\n", einsum_cases[i].equation, (unsigned long long)ours);
        assert_true(ours == einsum_cases[i].count);
    }
}

static void test_recorded(void **state)
{
    peer_count found;
    (void)state;
    assert_true(peer_find(STR("resnet18"), 224, lens_find(STR("fvcore")), &found));
    assert_int_equal(found.count, 1819065856);
    assert_true(peer_find(STR("resnet18"), 224, lens_find(STR("calflops")), &found));
    assert_int_equal(found.count, 3636250112);
    assert_false(peer_find(STR("resnet18"), 225, lens_find(STR("fvcore")), &found));
    assert_false(peer_find(STR("resnet18"), 224, lens_find(STR("torch")), &found));
}

/* The table that users see and the one that is tested are the same facts. */
static void test_same_tables(void **state)
{
    char a[512], b[512];
    (void)state;
    FILE *x = fopen("tests/data/peer_counts.csv", "r"), *y = fopen("data/peer_counts.csv", "r");
    assert_non_null(x);
    assert_non_null(y);
    while (fgets(a, sizeof a, x)) {
        assert_non_null(fgets(b, sizeof b, y));
        assert_string_equal(a, b);
    }
    assert_null(fgets(b, sizeof b, y));
    fclose(x);
    fclose(y);
}

int run_test_lens(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peers),       cmocka_unit_test(test_torch),
        cmocka_unit_test(test_pooling),     cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_same_tables), cmocka_unit_test(test_einsum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
