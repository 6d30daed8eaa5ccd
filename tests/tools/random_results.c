/* random_results FOLDER: results of every kind, filled at random, as FOLDER/KIND-NUMBER.json. For
 * check_random_results.py. Not profiles, whose parts refer to each other. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "profile/profile_fields.h"
#include "profile/result_kinds.h"
#include "support/fill.h"

enum { ROUNDS = 20 };

static void write_result(const result_kind *kind, const char *folder, int number, rng *random)
{
    char path[1024];
    assay_error err = {0};
    sbuf text = {0};
    arena *a = arena_new((size_t)64 << 20);
    void *data = a ? arena_alloc(a, kind->of->size) : NULL;
    if (!data)
        exit(1);
    fill_struct(kind->of, data, a, random);
    result_write(kind, data, 0, &text);
    snprintf(path, sizeof path, "%s/%s-%d.json", folder, kind->name, number);
    if (file_append(path, text.p, text.n, &err) != ASSAY_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    sbuf_free(&text);
    arena_free(a);
}

int main(int argc, char **argv)
{
    rng random;
    if (argc != 2)
        return 2;
    rng_seed(&random, 20);
    for (uint32_t k = 0; k < result_kinds_n; k++)
        for (int i = 0; i < ROUNDS && result_kinds[k] != &profile_kind; i++)
            write_result(result_kinds[k], argv[1], i, &random);
    return 0;
}
