/* Mutators that keep the structure of a file: what a random byte flip breaks at once (lengths, counts) is written again,
 * so that more mutants reach the code behind the first check. Only in the build `fuzz`; a replay has no mutator.
 *
 *   protobuf     a field at any depth is deleted, repeated, swapped with its neighbour, or its content is mutated; the
 *                lengths of the messages around it follow
 *   prefixed     a text behind a length of 8 bytes (safetensors)
 *   GGUF         a key's value or a tensor's row is mutated, removed or repeated; the counts of both follow
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef ASSAY_FUZZING

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

__attribute__((unused)) static unsigned mutate_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 8;
}

/* ---- protobuf ---- */

enum { MUTATE_FIELDS = 4096, MUTATE_DEPTH = 12, MUTATE_BYTES = 1 << 16 };

typedef struct mutate_field {
    size_t begin, body, end; /* of the key, of the content, behind it */
    unsigned wire;
} mutate_field;

__attribute__((unused)) static size_t mutate_varint(const uint8_t *p, size_t n, size_t at,
                                                    uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; at < n && shift < 64; shift += 7) {
        *out |= (uint64_t)(p[at] & 0x7f) << shift;
        if (p[at++] < 0x80)
            return at;
    }
    return 0;
}

__attribute__((unused)) static size_t mutate_put_varint(uint8_t *out, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

/* The fields of a message; 0: it is none. */
__attribute__((unused)) static size_t mutate_split(const uint8_t *p, size_t n, mutate_field *fields)
{
    size_t count = 0, at = 0;
    while (at < n && count < MUTATE_FIELDS) {
        mutate_field f = {.begin = at};
        uint64_t key, length = 0;
        if (!(at = mutate_varint(p, n, at, &key)) || key >> 3 == 0)
            return 0;
        f.wire = key & 7;
        f.body = at;
        if (f.wire == 0)
            at = mutate_varint(p, n, at, &length);
        else if (f.wire == 2)
            f.body = at = mutate_varint(p, n, at, &length);
        if (!at || (f.wire != 0 && f.wire != 1 && f.wire != 2 && f.wire != 5))
            return 0;
        length = f.wire == 1 ? 8 : f.wire == 5 ? 4 : f.wire == 2 ? length : 0;
        if (length > n - at)
            return 0;
        f.end = at += (size_t)length;
        fields[count++] = f;
    }
    return at == n ? count : 0;
}

__attribute__((unused)) static size_t mutate_message(const uint8_t *p, size_t n, uint8_t *out,
                                                     unsigned *state, int depth);

/* A field with another content, at most MUTATE_BYTES of it. */
__attribute__((unused)) static size_t mutate_field_content(const uint8_t *p, const mutate_field *f,
                                                           uint8_t *out, unsigned *state, int depth)
{
    uint8_t *body = malloc(2 * MUTATE_BYTES);
    size_t length = f->end - f->body, n = 0, done = 0;
    uint64_t key = 0;
    mutate_varint(p, f->body, f->begin, &key);
    if (!body || length > MUTATE_BYTES / 2)
        goto end;
    if (f->wire == 2 && depth < MUTATE_DEPTH && mutate_random(state) % 4)
        n = mutate_message(p + f->body, length, body, state, depth + 1);
    if (!n) {
        memcpy(body, p + f->body, length);
        n = LLVMFuzzerMutate(body, length, f->wire == 2 ? length + 64 : length);
    }
    done = mutate_put_varint(out, key);
    if (f->wire == 2) {
        done += mutate_put_varint(out + done, n);
        memcpy(out + done, body, n);
        done += n;
    } else if (f->wire == 0) {
        uint64_t v = 0;
        memcpy(&v, body, n < 8 ? n : 8);
        done += mutate_put_varint(out + done, v);
    } else {
        memset(out + done, 0, 8);
        memcpy(out + done, body, n);
        done += length;
    }
end:
    free(body);
    return done;
}

/* 0: it is no message, or too large. */
__attribute__((unused)) static size_t mutate_message(const uint8_t *p, size_t n, uint8_t *out,
                                                     unsigned *state, int depth)
{
    mutate_field *fields = malloc(sizeof *fields * MUTATE_FIELDS);
    size_t count = fields && n <= MUTATE_BYTES / 2 ? mutate_split(p, n, fields) : 0, done = 0;
    size_t chosen = count ? mutate_random(state) % count : 0;
    unsigned how = mutate_random(state) % 8;
    for (size_t i = 0; i < count; i++) {
        const mutate_field *f = &fields[i];
        size_t length = f->end - f->begin, changed = 0;
        if (i == chosen && how == 0)
            continue;
        if (i == chosen && how == 1 && i + 1 < count) { /* behind its neighbour */
            const mutate_field *next = &fields[i + 1];
            memcpy(out + done, p + next->begin, next->end - next->begin);
            done += next->end - next->begin;
            i++;
        }
        if (i == chosen && how > 2)
            changed = mutate_field_content(p, f, out + done, state, depth);
        if (!changed) {
            memcpy(out + done, p + f->begin, length);
            changed = length;
        }
        done += changed;
        if (i == chosen && how == 2) {
            memcpy(out + done, p + f->begin, length);
            done += length;
        }
    }
    free(fields);
    return done;
}

__attribute__((unused)) static size_t mutate_protobuf(uint8_t *data, size_t size, size_t max_size,
                                                      unsigned seed)
{
    uint8_t *out = malloc(4 * MUTATE_BYTES);
    size_t n = out ? mutate_message(data, size, out, &seed, 0) : 0;
    if (n && n <= max_size)
        memcpy(data, out, n);
    free(out);
    return n && n <= max_size ? n : LLVMFuzzerMutate(data, size, max_size);
}

/* ---- a text behind its length ---- */

__attribute__((unused)) static size_t mutate_prefixed(uint8_t *data, size_t size, size_t max_size,
                                                      unsigned seed)
{
    uint64_t length = 0;
    if (size < 10 || max_size < size + 8 || seed % 8 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    memcpy(&length, data, 8);
    if (length > size - 8)
        length = size - 8;
    size_t tail = size - 8 - (size_t)length;
    uint8_t *rest = malloc(tail + 1);
    if (!rest)
        return size;
    memcpy(rest, data + 8 + length, tail);
    length = LLVMFuzzerMutate(data + 8, (size_t)length, max_size - 8 - tail);
    memcpy(data, &length, 8);
    memcpy(data + 8 + length, rest, tail);
    free(rest);
    return 8 + (size_t)length + tail;
}

/* ---- GGUF: magic, version, number of tensors and of keys (8 bytes each), keys, tensors ---- */

enum { GGUF_HEAD = 24, GGUF_PARTS = 1024 };

/* The end of a value of a type at `at`; 0: none. */
__attribute__((unused)) static size_t mutate_gguf_value(const uint8_t *p, size_t n, size_t at,
                                                        uint32_t type, int depth)
{
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    uint64_t length = 0;
    uint32_t inner = 0;
    if (type > 12 || depth > 4)
        return 0;
    if (sizes[type])
        return n - at >= sizes[type] ? at + sizes[type] : 0;
    if (type == 8) {
        if (n - at < 8)
            return 0;
        memcpy(&length, p + at, 8);
        return length <= n - at - 8 ? at + 8 + (size_t)length : 0;
    }
    if (n - at < 12)
        return 0;
    memcpy(&inner, p + at, 4);
    memcpy(&length, p + at + 4, 8);
    at += 12;
    for (uint64_t i = 0; i < length && at; i++)
        at = mutate_gguf_value(p, n, at, inner, depth + 1);
    return at;
}

/* The end of a key with its value, or of a tensor's row. */
__attribute__((unused)) static size_t mutate_gguf_part(const uint8_t *p, size_t n, size_t at,
                                                       int is_tensor)
{
    uint32_t word = 0;
    if (!(at = mutate_gguf_value(p, n, at, 8, 0)) || n - at < 4)
        return 0;
    memcpy(&word, p + at, 4);
    if (!is_tensor)
        return mutate_gguf_value(p, n, at + 4, word, 0);
    return word <= 8 && n - at >= 4 + 8 * (size_t)word + 12 ? at + 4 + 8 * (size_t)word + 12 : 0;
}

__attribute__((unused)) static size_t mutate_gguf(uint8_t *data, size_t size, size_t max_size,
                                                  unsigned seed)
{
    size_t ends[GGUF_PARTS + 1] = {GGUF_HEAD}, parts = 0;
    uint64_t tensors = 0, keys = 0;
    if (size > GGUF_HEAD) {
        memcpy(&tensors, data + 8, 8);
        memcpy(&keys, data + 16, 8);
    }
    while (parts < GGUF_PARTS && tensors < GGUF_PARTS && keys < GGUF_PARTS &&
           parts < keys + tensors &&
           (ends[parts + 1] = mutate_gguf_part(data, size, ends[parts], parts >= keys)))
        parts++;
    if (!parts || parts != keys + tensors)
        return LLVMFuzzerMutate(data, size, max_size);
    size_t chosen = mutate_random(&seed) % parts, begin = ends[chosen], end = ends[chosen + 1];
    size_t length = end - begin, how = mutate_random(&seed) % 4;
    uint64_t *count = chosen < keys ? &keys : &tensors;
    if (how == 0) { /* removed */
        memmove(data + begin, data + end, size - end);
        (*count)--;
        size -= length;
    } else if (how == 1 && size + length <= max_size) { /* repeated */
        memmove(data + end + length, data + end, size - end);
        memcpy(data + end, data + begin, length);
        (*count)++;
        size += length;
    } else {
        LLVMFuzzerMutate(data + begin, length, length);
    }
    memcpy(data + 8, &tensors, 8);
    memcpy(data + 16, &keys, 8);
    return size;
}

/* The mutator of a target. */
#define MUTATE_WITH(how)                                                                       \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) \
    {                                                                                          \
        return seed % 4 ? how(data, size, max_size, seed)                                      \
                        : LLVMFuzzerMutate(data, size, max_size);                              \
    }
#endif

#endif
