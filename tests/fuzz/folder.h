/* A folder of the target's own for readers that take paths: made at the first use, emptied after each input. */
#ifndef FUZZ_FOLDER_H
#define FUZZ_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static char fuzz_root[64];

static void fuzz_remove_root(void)
{
    file_remove_folder(fuzz_root);
}

static const char *fuzz_folder(void)
{
    if (!fuzz_root[0]) {
        strcpy(fuzz_root, "/tmp/assay-fuzz-XXXXXX");
        if (!mkdtemp(fuzz_root))
            abort();
        atexit(fuzz_remove_root);
    }
    return fuzz_root;
}

/* Writes a file of the folder; its path in `path`. */
__attribute__((unused)) static void fuzz_put_file(const char *name, const void *p, size_t n,
                                                  char path[256])
{
    snprintf(path, 256, "%s/%s", fuzz_folder(), name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(p, 1, n, f) != n)
        abort();
    fclose(f);
}

#endif
