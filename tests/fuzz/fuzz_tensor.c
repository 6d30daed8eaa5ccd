/* Tensor files: the first byte selects the suffix (.npy, .pb, raw). What is accepted has the bytes of its shape, and what
 * is written of it as .npy is read again the same. */
#include <stdint.h>

#include "formats/tensor_file.h"
#include "fuzz/folder.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void write_again(const tensor_file *t, arena *a)
{
    char path[256];
    tensor_file again;
    assay_error err = {0};
    snprintf(path, sizeof path, "%s/again.npy", fuzz_folder());
    if (t->dtype == IR_UNDEFINED || t->rank < 0 || tensor_file_write(path, t, &err) != ASSAY_OK)
        return;
    promise(tensor_file_read(path, a, &again, &err) == ASSAY_OK);
    promise(again.size_bytes == t->size_bytes && again.rank == t->rank);
    promise(memcmp(again.data, t->data, (size_t)t->size_bytes) == 0);
    file_remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"t.npy", "t.pb", "t.bin"};
    assay_error err = {0};
    tensor_file t;
    char path[256];
    if (size < 1 || size > 1 << 20)
        return 0;
    arena *a = arena_new(LIMIT_BYTES);
    fuzz_put_file(names[data[0] % 3], data + 1, size - 1, path);
    if (a && tensor_file_read(path, a, &t, &err) == ASSAY_OK)
        write_again(&t, a);
    else
        promise(!a || (err.code != ASSAY_OK && err.message[0]));
    file_remove(path);
    arena_free(a);
    return 0;
}
