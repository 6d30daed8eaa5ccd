#include "fill.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/result.h"

/* Also for programs without cmocka: what cannot be filled is a fault of the table. */
static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fill: %s\n", what);
    abort();
}

static uint32_t below(rng *r, uint32_t n)
{
    return (uint32_t)(rng_next(r) % n);
}

static str some_text(arena *a, rng *r)
{
    static const char *const texts[] = {"", "a", "größe \"x\"", "line\nline", "<b>&amp;", "1.5"};
    return str_copy(a, str_of(texts[below(r, sizeof texts / sizeof *texts)]));
}

static const char *some_word(const field *f, rng *r)
{
    uint32_t n = 0;
    if (!f->words)
        return below(r, 2) ? "word" : NULL;
    while (f->words[n])
        n++;
    return f->words[below(r, n)];
}

static uint32_t words_of(const field *f)
{
    uint32_t n = 0;
    while (f->words[n])
        n++;
    return n;
}

static double some_real(rng *r)
{
    static const double values[] = {0, 1, 0.1, 1e-9, 123456.789, 1e300};
    uint32_t i = below(r, 7);
    return i < 6 ? values[i] : NAN;
}

static uint64_t some_whole(rng *r, uint64_t unknown)
{
    const uint64_t values[] = {0, 1, 42, unknown - 1, unknown};
    return values[below(r, 5)];
}

static field_number some_number(rng *r)
{
    uint64_t n = some_whole(r, FIELD_UNKNOWN);
    if (below(r, 2) || n == FIELD_UNKNOWN)
        return (field_number){.v = some_real(r)};
    return (field_number){.v = (double)n, .whole = true, .n = n};
}

/* Whichever of these the codec reads; lists of one struct have one length. */
static void fill_codec(const field *f, char *base, size_t size, arena *a, rng *r)
{
    static const char *const samples[] = {
        "[1, null, 3]", "\"float32\"",   "\"2026-11-15T19:06:00Z\"",
        "224",          "{\"axis\": 1}", "\"word\"",
        "[\"x\"]",      "[[1, null]]"};
    uint32_t n = sizeof samples / sizeof *samples, from = below(r, n);
    void *before = arena_copy(a, base, size);
    must(before != NULL, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        assay_error err = {0};
        const char *text = samples[(from + i) % n];
        field_reader reader = {.s = scan_text(str_of(text), 0, "", a, &err), .arena = a};
        if (f->codec->read(&reader, base + f->at))
            return;
        memcpy(base, before, size);
    }
    must(false, f->key); /* no sample for its codec */
}

static void fill_result(const field *f, field_result *to, arena *a, rng *r)
{
    uint32_t n = 0;
    while (f->results[n])
        n++;
    to->kind = f->results[below(r, n)];
    void *data = arena_alloc(a, to->kind->of->size);
    must(data != NULL, "out of memory");
    fill_struct(to->kind->of, data, a, r);
    to->data = data;
}

static size_t item_size(const field *f)
{
    return f->of                   ? f->of->size
           : f->kind == FIELD_STRS ? sizeof(str)
           : f->kind == FIELD_U32S ? sizeof(uint32_t)
                                   : sizeof(uint64_t);
}

static void fill_item(const field *f, char *to, uint32_t index, arena *a, rng *r)
{
    if (f->of)
        fill_struct(f->of, to, a, r);
    else if (f->kind == FIELD_STRS)
        *(str *)(void *)to = some_text(a, r);
    else if (f->kind == FIELD_F64S)
        *(double *)(void *)to = f->flags & FIELD_HOLES ? some_real(r) : rng_uniform(r);
    else if (f->kind == FIELD_U32S)
        *(uint32_t *)(void *)to = below(r, 1000);
    else
        *(uint64_t *)(void *)to = f->flags & FIELD_HOLES ? some_whole(r, FIELD_UNKNOWN) : 7;
    if (f->kind == FIELD_MAP)
        *(str *)(void *)(to + f->of->key_at) = str_printf(a, "key %u", index);
}

static void fill_list(const field *f, char *base, arena *a, rng *r)
{
    uint32_t n = below(r, 4);
    char *items = base + f->at;
    n = f->size && n > f->size ? f->size : n;
    if (!f->size) {
        items = arena_alloc(a, n * item_size(f) + 1);
        must(items != NULL, "out of memory");
        memcpy(base + f->at, &items, sizeof items);
    }
    for (uint32_t i = 0; i < n; i++)
        fill_item(f, items + i * item_size(f), i, a, r);
    memcpy(base + f->count_at, &n, sizeof n);
}

static void fill_object(const field *f, char *base, arena *a, rng *r)
{
    void *to = base + f->at;
    if (f->by_pointer && below(r, 4) == 0)
        return;
    if (f->by_pointer) {
        to = arena_alloc(a, f->of->size);
        must(to != NULL, "out of memory");
        memcpy(base + f->at, &to, sizeof to);
    }
    fill_struct(f->of, to, a, r);
}

static void fill_row(const field *f, char *base, size_t size, arena *a, rng *r)
{
    void *at = base + f->at;
    if (f->when_at)
        ((bool *)base)[f->when_at - 1] = below(r, 2);
    switch (f->kind) {
    case FIELD_U64:
        *(uint64_t *)at = some_whole(r, FIELD_UNKNOWN);
        break;
    case FIELD_U32:
        *(uint32_t *)at = (uint32_t)some_whole(r, UINT32_MAX);
        break;
    case FIELD_I64:
        *(int64_t *)at = below(r, 4) ? (int64_t)below(r, 1000) - 10 : INT64_MIN;
        break;
    case FIELD_INT:
        *(int *)at = below(r, 4) ? (int)below(r, 1000) - 10 : INT_MIN;
        break;
    case FIELD_F64:
        *(double *)at = some_real(r);
        break;
    case FIELD_NUMBER:
        *(field_number *)at = some_number(r);
        break;
    case FIELD_BOOL:
    case FIELD_EITHER:
        *(bool *)at = below(r, 2);
        break;
    case FIELD_STR:
        *(str *)at = some_text(a, r);
        break;
    case FIELD_WORD:
        *(const char **)at = some_word(f, r);
        break;
    case FIELD_ENUM:
        *(uint32_t *)at = below(r, words_of(f));
        break;
    case FIELD_CHARS:
        snprintf(at, f->size, "%s", below(r, 2) ? "characters that fill it" : "");
        break;
    case FIELD_F64S:
    case FIELD_U64S:
    case FIELD_U32S:
    case FIELD_STRS:
    case FIELD_LIST:
    case FIELD_MAP:
        fill_list(f, base, a, r);
        break;
    case FIELD_OBJECT:
    case FIELD_SPLICE:
        fill_object(f, base, a, r);
        break;
    case FIELD_RESULT:
        fill_result(f, at, a, r);
        break;
    case FIELD_CODEC:
        fill_codec(f, base, size, a, r);
        break;
    }
}

void fill_struct(const fields *f, void *base, arena *a, rng *r)
{
    assay_error err = {0};
    field_reader reader = {.s = scan_text(STR(""), 0, "", a, &err), .arena = a};
    if (f->present_at)
        ((bool *)base)[f->present_at - 1] = below(r, 4);
    for (uint32_t i = 0; i < f->n; i++)
        fill_row(&f->rows[i], base, f->size, a, r);
    if (f->finish)
        must(f->finish(&reader, base), f->name);
}
