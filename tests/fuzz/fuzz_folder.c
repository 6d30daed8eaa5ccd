/* Directories of the Hugging Face hub: the input is split at lines "%% N" into the files of `names`, which are written
 * to a folder and read. An architecture that is known is built, matched with the weights and verified. */
#include <stdint.h>

#include "formats/hf_folder.h"
#include "fuzz/folder.h"
#include "ir/verify.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"config.json",
                                    "model.safetensors.index.json",
                                    "model.safetensors",
                                    "generation_config.json",
                                    "model_index.json",
                                    "pytorch_model.bin.index.json",
                                    "model-00001-of-00002.safetensors",
                                    "adapter_config.json"};
enum { NAMES = sizeof names / sizeof *names };

/* "%% 3\n" at p. */
static int mark_at(const uint8_t *p, size_t n)
{
    return n >= 5 && memcmp(p, "%% ", 3) == 0 && p[4] == '\n' ? p[3] % NAMES : -1;
}

static void write_files(const uint8_t *data, size_t size)
{
    char path[256];
    for (size_t at = 0, next; at < size; at = next) {
        int which = mark_at(data + at, size - at);
        size_t begin = which < 0 ? at : at + 5;
        for (next = begin; next < size && mark_at(data + next, size - next) < 0;)
            next++;
        fuzz_put_file(names[which < 0 ? 0 : which], data + begin, next - begin, path);
        next += next == at;
    }
}

static void remove_files(void)
{
    char path[256];
    for (int i = 0; i < NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", fuzz_folder(), names[i]);
        file_remove(path);
    }
}

static void build(const hf_folder *f)
{
    assay_error err = {0};
    ir_model *m = NULL;
    const zoo_request q = {
        .row = f->config.row, .set = &f->config.args, .memory_limit = LIMIT_BYTES};
    if (!f->config.row || zoo_build(&q, &m, &err) != ASSAY_OK)
        return;
    if ((!f->weights || weights_match(f->weights, m, &err) == ASSAY_OK) &&
        ir_verify(m, &err) != ASSAY_OK)
        abort();
    ir_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(LIMIT_BYTES);
    assay_error err = {0};
    hf_folder f = {0};
    if (size > 1 << 16) {
        arena_free(a);
        return 0;
    }
    write_files(data, size);
    if (a && hf_folder_is(fuzz_folder())) {
        if (hf_folder_read(fuzz_folder(), a, &f, &err) == ASSAY_OK)
            build(&f);
        else if (err.code == ASSAY_OK || !err.message[0])
            abort();
    }
    remove_files();
    arena_free(a);
    return 0;
}
