#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>

char test_folder[256];

int make_test_folder(void **state)
{
    (void)state;
    snprintf(test_folder, sizeof test_folder, "%s/assay-test-XXXXXX", P_tmpdir);
    return mkdtemp(test_folder) ? 0 : -1;
}

int remove_test_folder(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", test_folder);
    return system(command);
}

const char *in_test_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    return path;
}
