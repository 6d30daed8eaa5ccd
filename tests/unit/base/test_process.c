/* A function in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"

typedef struct answer {
    pid_t self, parent;
    int twice;
} answer;

static void double_number(void *ctx, void *out)
{
    int *number = ctx;
    *number *= 2;
    *(answer *)out = (answer){.self = getpid(), .parent = getppid(), .twice = *number};
}

static void end_early(void *ctx, void *out)
{
    (void)out;
    _exit(*(int *)ctx);
}

static void wait_for_ever(void *ctx, void *out)
{
    (void)ctx;
    (void)out;
    for (;;)
        pause();
}

static bool always(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

static void each_call_has_a_process(void **state)
{
    (void)state;
    int number = 21;
    answer a = {0}, b = {0};
    assay_error err = {0};
    const process_call call = {.run = double_number, .ctx = &number, .out_bytes = sizeof a};
    assert_int_equal(process_call_apart(&call, &a, &err), ASSAY_OK);
    assert_int_equal(process_call_apart(&call, &b, &err), ASSAY_OK);
    assert_true(a.twice == 42 && b.twice == 42 && number == 21); /* its memory is its own */
    assert_true(a.parent == getpid() && a.self != getpid() && a.self != b.self);
}

static void failures_are_told(void **state)
{
    (void)state;
    int code = 0, asked = 0;
    answer a;
    assay_error err = {0}, other = {0};
    process_call call = {.run = end_early, .ctx = &code, .out_bytes = sizeof a};
    assert_int_equal(process_call_apart(&call, &a, &err), ASSAY_ERR_SYSTEM);
    call = (process_call){
        .run = wait_for_ever, .out_bytes = sizeof a, .cancelled = always, .asks = &asked};
    assert_int_equal(process_call_apart(&call, &a, &other), ASSAY_ERR_INTERRUPTED);
    assert_int_equal(asked, 1);
}

int run_test_process(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_has_a_process),
        cmocka_unit_test(failures_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
