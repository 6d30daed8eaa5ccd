/* Results of every kind but the profile (fuzz_result.c: its parts refer to each other by number), filled at random by their
 * field tables. The input has nine bytes for each result: its kind, and the seed of its values. A result has a conclusion, is
 * written, read and written again with the same bytes, and every output format shows it or refuses it with a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>

#include "profile/profile_fields.h"
#include "profile/result_kinds.h"
#include "support/fill.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECE = 9, MOST = 64 };

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void show(const sbuf *text)
{
    static const char *const formats[] = {"json", "md", "console", "csv", "summary-html", "view"};
    assay_result *of = NULL;
    promise(assay_result_from_json(text->p, text->n, "filled", NULL, &of, NULL) == ASSAY_OK);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        assay_error err = {0};
        char *out = NULL;
        size_t n = 0;
        assay_status s = assay_result_write(of, formats[i], NULL, &out, &n, &err);
        promise(s == ASSAY_OK ? out != NULL : !out && err.message[0]);
        assay_free(out);
    }
    assay_result_free(of);
}

static void check_again(const result_kind *kind, const sbuf *first)
{
    sbuf second = {0};
    result again;
    str text = {first->p, (uint32_t)first->n};
    promise(result_read(text, kind->name, SIZE_MAX, &again, NULL) == ASSAY_OK);
    promise(again.kind == kind);
    result_write(kind, again.data, 0, &second);
    promise(second.n == first->n && memcmp(second.p, first->p, second.n) == 0);
    show(&second);
    result_free(&again);
    sbuf_free(&second);
}

static void check_filled(const result_kind *kind, uint64_t seed)
{
    sbuf text = {0};
    rng random;
    arena *a = arena_new((size_t)64 << 20);
    void *of = a ? arena_alloc(a, kind->of->size) : NULL;
    promise(of != NULL);
    rng_seed(&random, seed);
    fill_struct(kind->of, of, a, &random);
    promise(result_conclude(kind, of, a));
    result_write(kind, of, 0, &text);
    promise(!text.failed);
    check_again(kind, &text);
    sbuf_free(&text);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + PIECE <= size && i < MOST * PIECE; i += PIECE) {
        const result_kind *kind = result_kinds[data[i] % result_kinds_n];
        uint64_t seed;
        memcpy(&seed, data + i + 1, sizeof seed);
        if (kind != &profile_kind)
            check_filled(kind, seed);
    }
    return 0;
}
