/* Indexes of sharded weights from arbitrary bytes, beside one shard that is well: a status for every input, and a
 * set that is accepted holds the tensors of that shard. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/safetensors.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        exit(1);
}

/* Made by the first input and left to the system's cleaning of its temporary files. */
static const char *folder(void)
{
    static char path[] = "/tmp/assay-fuzz-index-XXXXXX";
    static const char header[] =
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
        "\"b\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[8,16]}}";
    static int made;
    if (made++)
        return path;
    uint8_t file[8 + sizeof header - 1 + 16] = {sizeof header - 1};
    char name[64];
    if (!mkdtemp(path))
        exit(1);
    memcpy(file + 8, header, sizeof header - 1);
    snprintf(name, sizeof name, "%s/m-00001-of-00001.safetensors", path);
    write_file(name, file, sizeof file);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    arena *a = arena_new(LIMIT_BYTES);
    assay_error err = {0};
    weight_set *w = NULL;
    snprintf(path, sizeof path, "%s/m.safetensors.index.json", folder());
    write_file(path, data, size);
    if (a && weights_read_index(&safetensors_reader, path, a, &w, &err) == ASSAY_OK) {
        if (w->items.n != 2 || w->n_elems != 6 || w->size_bytes != 16)
            abort();
    } else if (a && (err.code == ASSAY_OK || !err.message[0])) {
        abort();
    }
    arena_free(a);
    return 0;
}
