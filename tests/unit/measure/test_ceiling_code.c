/* Do the loops that ceilings are measured with execute what their rows claim? Their machine code is counted, of
 * every row of this architecture and without running any. A compiler that merges equal chains, spills
 * registers or drops a load makes a ceiling wrong without a sign.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "measure/ceiling_kernels.h"
#include "support/listing.h"

static listing code;

static void list(const void *function, const char *what)
{
    if (!listing_of_function(function, &code))
        fail_msg("%s: objdump did not list it", what);
}

/* ---- what the counter itself sees ---- */

typedef struct sample_row {
    const char *text;
    double ops;
    uint64_t bytes, step;
    int others;
} sample_row;

static const sample_row samples[] = {
    /* twelve chains that became one */
    {"0000000000000310 <int8_vnni>:\n"
     " 330:\tvmovdqa32 %zmm3,%zmm1\n"
     " 336:\tvpdpbusd %zmm2,%zmm0,%zmm1\n"
     " 33c:\tvmovdqa64 %zmm1,%zmm3\n"
     " 342:\tsub    $0x1,%rdi\n"
     " 346:\tjne    330 <int8_vnni+0x20>\n"
     " 348:\tvpaddd %zmm1,%zmm1,%zmm1\n"
     "0000000000000350 <next>:\n"
     " 350:\tvpdpbusd %zmm2,%zmm0,%zmm1\n",
     128, 0, 1, 2},
    /* two rounds in one pass, a copy */
    {"0000000000000000 <int8_ssse3>:\n"
     "   0:\tmovdqa %xmm10,%xmm4\n"
     "   5:\tpmaddubsw %xmm1,%xmm4\n"
     "   a:\tpmaddwd %xmm9,%xmm4\n"
     "   f:\tpaddd  %xmm4,%xmm2\n"
     "  14:\tadd    $0xfffffffffffffffe,%rdi\n"
     "  18:\tjne    0 <int8_ssse3>\n",
     32, 0, 2, 2},
    {"0000000000000000 <int8_avx_vnni>:\n"
     "   0:\t{vex} vpdpbusd %ymm2,%ymm0,%ymm1\n"
     "   6:\tvfmadd213ps %ymm1,%ymm0,%ymm5\n"
     "   b:\tdec    %rdi\n"
     "   e:\tjne    0 <int8_avx_vnni>\n",
     80, 0, 1, 2},
    /* the inner loop of two */
    {"0000000000000040 <read_w16>:\n"
     "  40:\tmov    0x18(%rdi),%rcx\n"
     "  48:\tpaddq  (%rax),%xmm1\n"
     "  4c:\tpaddq  0x10(%rax),%xmm0\n"
     "  51:\tsub    $0xffffffffffffffe0,%rax\n"
     "  73:\tcmp    %rcx,%rax\n"
     "  76:\tjb     48 <read_w16+0x8>\n"
     "  78:\tsub    $0x1,%rsi\n"
     "  7c:\tjne    40 <read_w16>\n",
     0, 32, 32, 5},
    {"0000000000000000 <fp32_neon>:\n"
     "   0:\tfmla\tv0.4s, v16.4s, v17.4s\n"
     "   4:\tsmmla\tv1.4s, v18.16b, v18.16b\n"
     "   8:\tsubs\tx0, x0, #0x1\n"
     "   c:\tb.ne\t0 <fp32_neon>  // b.any\n",
     8 + 64, 0, 1, 2},
    {"0000000000000000 <copy_w16>:\n"
     "   0:\tldp\tq0, q1, [x1]\n"
     "   4:\tstp\tq0, q1, [x2], #32\n"
     "   8:\tadd\tx1, x1, #0x20\n"
     "   c:\tcbnz\tx0, 0 <copy_w16>\n",
     0, 64, 32, 4},
};

static void test_counter(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const sample_row *s = &samples[i];
        char *copy = strdup(s->text);
        FILE *text = fmemopen(copy, strlen(copy), "r");
        listing_loop loop;
        int at = 0;
        assert_true(listing_read(text, &code));
        assert_true(listing_next_loop(&code, &at, &loop));
        if (loop.ops != s->ops || loop.bytes != s->bytes || loop.step != s->step ||
            loop.others != s->others)
            fail_msg("%s: %g operations, %llu bytes, step %llu, %d others", code.symbol, loop.ops,
                     (unsigned long long)loop.bytes, (unsigned long long)loop.step, loop.others);
        assert_false(listing_next_loop(&code, &at, &loop));
        fclose(text);
        free(copy);
    }
}

/* ---- multiply-adds ---- */

/* A counter, a comparison, a branch. */
enum { LOOP_CONTROL = 3 };

/* A compiler may put several rounds into one pass: the counter's step tells. */
static int faults_of_rounds(const ceiling_fma_row *row, const listing_loop *loop, bool pure)
{
    int faults = 0;
    if (loop->ops != row->ops_per_round * (double)loop->step) {
        print_error("%s (%s %s): %g operations in %llu rounds, the row claims %g in each\n",
                    code.symbol, row->dtype, row->isa, loop->ops, (unsigned long long)loop->step,
                    row->ops_per_round);
        faults++;
    }
    if (pure && loop->others > LOOP_CONTROL) {
        print_error("%s (%s %s): %d instructions that are not arithmetic\n", code.symbol,
                    row->dtype, row->isa, loop->others);
        faults++;
    }
    return faults;
}

static int faults_of_row(const ceiling_fma_row *row, bool pure)
{
    listing_loop loop;
    int at = 0, faults = 0, counted = 0;
    list((const void *)(uintptr_t)row->run, row->isa);
    while (listing_next_loop(&code, &at, &loop))
        if (loop.ops > 0) {
            faults += faults_of_rounds(row, &loop, pure);
            counted++;
        }
    if (!counted)
        print_error("%s (%s %s): no loop with arithmetic\n", code.symbol, row->dtype, row->isa);
    return faults + !counted;
}

/* Rows of plain C are what the compiler makes of them: only their operations are counted. */
static void test_multiply_adds(void **state)
{
    int faults = 0;
    (void)state;
    for (const ceiling_fma_row *row = ceiling_fma_x86; row->run; row++)
        faults += faults_of_row(row, true);
    for (const ceiling_fma_row *row = ceiling_fma_arm; row->run; row++)
        faults += faults_of_row(row, true);
    for (const ceiling_fma_row *row = ceiling_fma_plain; row->run; row++)
        faults += faults_of_row(row, false);
    assert_int_equal(faults, 0);
}

/* ---- loads and stores ---- */

/* The loop that moves most: a block behind it may lie within the outer loop. */
static listing_loop busiest_move(void)
{
    listing_loop loop, most = {0};
    int at = 0;
    while (listing_next_loop(&code, &at, &loop))
        most = loop.bytes > most.bytes ? loop : most;
    return most;
}

static void check_move(const char *isa, ceiling_move_fn *run, int kind)
{
    list((const void *)(uintptr_t)run, isa);
    listing_loop loop = busiest_move();
    if (loop.bytes == 0 || loop.bytes != loop.step * ceiling_arrays_of(kind))
        fail_msg("%s: %llu bytes for %llu of each of %u arrays", code.symbol,
                 (unsigned long long)loop.bytes, (unsigned long long)loop.step,
                 ceiling_arrays_of(kind));
}

static void test_moves(void **state)
{
    (void)state;
    for (const ceiling_move_row *row = ceiling_moves; row->isa; row++) {
        ceiling_move_fn *const kinds[] = {row->read, row->write, row->copy, row->triad};
        for (int kind = 0; kind < 4; kind++)
            check_move(row->isa, kinds[kind], kind);
    }
}

int run_test_ceiling_code(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter),
        cmocka_unit_test(test_multiply_adds),
        cmocka_unit_test(test_moves),
    };
#ifdef ASSAY_SANITIZED
    puts("skipped: a sanitizer adds instructions of its own");
    return 77;
#endif
    if (system("objdump --version > /dev/null 2>&1") != 0) {
        puts("skipped: objdump (Debian: binutils) is not installed");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
