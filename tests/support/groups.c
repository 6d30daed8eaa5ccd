/* See groups.h. */
#include "support/groups.h"

#include <stdio.h>
#include <string.h>

typedef struct group_sums {
    int ran, failed, skipped;
} group_sums;

static void run_group(const test_group *g, group_sums *sums)
{
    int code = g->run();
    sums->ran++;
    sums->skipped += code == GROUP_SKIPPED;
    sums->failed += code != 0 && code != GROUP_SKIPPED;
}

static const test_group *find_group(const test_group *groups, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    return NULL;
}

static int complain_of_name(const test_group *groups, size_t n, const char *name)
{
    fprintf(stderr, "There is no group '%s'; there are:\n", name);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "    %s\n", groups[i].name);
    return 2;
}

int groups_run(const test_group *groups, size_t n, int argc, char **argv)
{
    group_sums sums = {0};
    for (int i = 1; i < argc; i++) {
        const test_group *g = find_group(groups, n, argv[i]);
        if (!g)
            return complain_of_name(groups, n, argv[i]);
        run_group(g, &sums);
    }
    for (size_t i = 0; argc < 2 && i < n; i++)
        run_group(&groups[i], &sums);
    if (sums.failed)
        return 1;
    return sums.ran && sums.skipped == sums.ran ? GROUP_SKIPPED : 0;
}
