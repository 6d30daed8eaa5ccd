/* Writes small files of weights for tests: safetensors from JSON, GGUF from its parts. Bytes grow in a
 * buffer; the test writes or parses them. Data itself is a hole. */
#ifndef TESTS_WEIGHTS_WRITER_H
#define TESTS_WEIGHTS_WRITER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct wf {
    uint8_t *p;
    size_t n, cap;
} wf;

static inline void wf_put(wf *f, const void *p, size_t n)
{
    if (f->n + n > f->cap) {
        f->cap = (f->n + n) * 2 + 64;
        f->p = realloc(f->p, f->cap);
        if (!f->p)
            abort();
    }
    if (p)
        memcpy(f->p + f->n, p, n);
    else
        memset(f->p + f->n, 0, n);
    f->n += n;
}

static inline void wf_int(wf *f, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        uint8_t b = (uint8_t)(v >> 8 * i);
        wf_put(f, &b, 1);
    }
}

static inline void wf_text(wf *f, const char *s)
{
    wf_int(f, strlen(s), 8);
    wf_put(f, s, strlen(s));
}

static inline void wf_free(wf *f)
{
    free(f->p);
    *f = (wf){0};
}

static inline int wf_save(const wf *f, const char *path)
{
    FILE *out = fopen(path, "wb");
    return out && fwrite(f->p, 1, f->n, out) == f->n ? fclose(out) : -1;
}

/* ---- safetensors ---- */

static inline wf st_file(const char *json, size_t data_bytes)
{
    wf f = {0};
    wf_int(&f, strlen(json), 8);
    wf_put(&f, json, strlen(json));
    wf_put(&f, NULL, data_bytes);
    return f;
}

/* ---- GGUF ---- */

enum {
    GG_U8,
    GG_I8,
    GG_U16,
    GG_I16,
    GG_U32,
    GG_I32,
    GG_F32,
    GG_BOOL,
    GG_STR,
    GG_ARR,
    GG_U64,
    GG_I64,
    GG_F64
};

static inline void gg_head(wf *f, uint32_t version, uint64_t tensors, uint64_t pairs)
{
    wf_put(f, "GGUF", 4);
    wf_int(f, version, 4);
    wf_int(f, tensors, 8);
    wf_int(f, pairs, 8);
}

static inline void gg_u32(wf *f, const char *key, uint32_t v)
{
    wf_text(f, key);
    wf_int(f, GG_U32, 4);
    wf_int(f, v, 4);
}

static inline void gg_f32(wf *f, const char *key, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    wf_text(f, key);
    wf_int(f, GG_F32, 4);
    wf_int(f, bits, 4);
}

static inline void gg_str(wf *f, const char *key, const char *v)
{
    wf_text(f, key);
    wf_int(f, GG_STR, 4);
    wf_text(f, v);
}

/* dims as ggml has them: the fastest first; 0 ends them. */
static inline void gg_info(wf *f, const char *name, const uint64_t *dims, uint32_t rank,
                           uint32_t type, uint64_t offset)
{
    wf_text(f, name);
    wf_int(f, rank, 4);
    for (uint32_t i = 0; i < rank; i++)
        wf_int(f, dims[i], 8);
    wf_int(f, type, 4);
    wf_int(f, offset, 8);
}

static inline void gg_data(wf *f, size_t align, size_t bytes)
{
    wf_put(f, NULL, (align - f->n % align) % align);
    wf_put(f, NULL, bytes);
}

#endif
