/* The groups of cmocka tests that one program holds: one program per room of src/, one group per file. */
#ifndef TESTS_SUPPORT_GROUPS_H
#define TESTS_SUPPORT_GROUPS_H

#include <stddef.h>

enum { GROUP_SKIPPED = 77 };

typedef struct test_group {
    const char *name;
    int (*run)(void); /* the number of tests that failed, or GROUP_SKIPPED */
} test_group;

/* Runs the groups that argv names, all of them when it names none. Returns the exit code: 0, 1 when a test failed, 2 when
 * there is no such group, GROUP_SKIPPED when every group was skipped. */
int groups_run(const test_group *groups, size_t n, int argc, char **argv);

#endif
