/* FlatBuffers, every access checked; see flatbuf.h. */
#include "formats/flatbuf.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

flat *flat_new(source *src, assay_error *err)
{
    flat *f = memory_zeroed(1, sizeof *f);
    assert(src && err);
    if (f) {
        f->src = src;
        f->err = err;
    }
    return f;
}

void flat_free(flat *f)
{
    free(f);
}

assay_status flat_status(const flat *f)
{
    return f->failed ? f->err->code : ASSAY_OK;
}

void flat_fail(flat *f, uint64_t at, const char *what)
{
    if (!f->failed)
        err_fail_at(f->err, ASSAY_ERR_MALFORMED, at, "damaged file: %s at byte %llu", what,
                    (unsigned long long)at);
    f->failed = true;
}

/* ---- bytes ---- */

/* The line that holds byte `at`; NULL after a failure. */
static const flat_line *line_of(flat *f, uint64_t at)
{
    uint64_t start = at - at % FLAT_LINE, size = source_size(f->src);
    flat_line *line = &f->lines[start / FLAT_LINE % FLAT_LINES];
    if (line->n && line->at == start)
        return line;
    uint64_t n = size - start < FLAT_LINE ? size - start : FLAT_LINE;
    line->n = 0;
    line->at = start;
    if (source_read(f->src, start, line->bytes, n, f->err) != ASSAY_OK) {
        f->failed = true;
        return NULL;
    }
    line->n = (uint32_t)n;
    return line;
}

static bool in_file(flat *f, uint64_t at, uint64_t n)
{
    uint64_t size = source_size(f->src);
    if (!f->failed && (at > size || n > size - at))
        flat_fail(f, at, "an offset leaves the file");
    return !f->failed;
}

uint64_t flat_bytes(flat *f, uint64_t at, unsigned n)
{
    uint64_t v = 0;
    if (!in_file(f, at, n))
        return 0;
    for (unsigned i = 0; i < n; i++) {
        const flat_line *line = line_of(f, at + i);
        if (!line)
            return 0;
        v |= (uint64_t)line->bytes[(at + i) % FLAT_LINE] << (8 * i);
    }
    return v;
}

/* ---- tables ---- */

static flat_table table_at(flat *f, uint64_t at)
{
    flat_table none = {0};
    int64_t back = (int32_t)(uint32_t)flat_bytes(f, at, 4);
    int64_t vtable = (int64_t)at - back;
    if (f->failed)
        return none;
    if (vtable < 0) {
        flat_fail(f, at, "a table points outside the file");
        return none;
    }
    uint32_t n = (uint32_t)flat_bytes(f, (uint64_t)vtable, 2);
    uint32_t bytes = (uint32_t)flat_bytes(f, (uint64_t)vtable + 2, 2);
    if (n < 4 || n % 2 || bytes < 4 || !in_file(f, (uint64_t)vtable, n) || !in_file(f, at, bytes)) {
        flat_fail(f, (uint64_t)vtable, "a table is not sound");
        return none;
    }
    return (flat_table){at, (uint64_t)vtable + 4, (n - 4) / 2, bytes};
}

flat_table flat_root(flat *f)
{
    return flat_root_at(f, 0);
}

flat_table flat_root_at(flat *f, uint64_t start)
{
    return table_at(f, start + flat_bytes(f, start, 4));
}

/* The position of a field of n bytes; 0 when it is absent. */
static uint64_t field_at(flat *f, flat_table t, unsigned id, unsigned n)
{
    if (f->failed || !t.at || id >= t.n_fields)
        return 0;
    uint64_t offset = flat_bytes(f, t.vtable + 2 * (uint64_t)id, 2);
    if (offset == 0)
        return 0;
    if (offset < 4 || offset + n > t.n_bytes) {
        flat_fail(f, t.at, "a field lies outside its table");
        return 0;
    }
    return t.at + offset;
}

int64_t flat_i8(flat *f, flat_table t, unsigned id, int64_t def)
{
    uint64_t at = field_at(f, t, id, 1);
    return at ? (int8_t)(uint8_t)flat_bytes(f, at, 1) : def;
}

uint64_t flat_u8(flat *f, flat_table t, unsigned id, uint64_t def)
{
    uint64_t at = field_at(f, t, id, 1);
    return at ? flat_bytes(f, at, 1) : def;
}

int64_t flat_i32(flat *f, flat_table t, unsigned id, int64_t def)
{
    uint64_t at = field_at(f, t, id, 4);
    return at ? (int32_t)(uint32_t)flat_bytes(f, at, 4) : def;
}

uint64_t flat_u32(flat *f, flat_table t, unsigned id, uint64_t def)
{
    uint64_t at = field_at(f, t, id, 4);
    return at ? flat_bytes(f, at, 4) : def;
}

uint64_t flat_u64(flat *f, flat_table t, unsigned id, uint64_t def)
{
    uint64_t at = field_at(f, t, id, 8);
    return at ? flat_bytes(f, at, 8) : def;
}

double flat_f32(flat *f, flat_table t, unsigned id, double def)
{
    uint64_t at = field_at(f, t, id, 4);
    uint32_t bits = at ? (uint32_t)flat_bytes(f, at, 4) : 0;
    float v;
    memcpy(&v, &bits, sizeof v);
    return at ? (double)v : def;
}

/* What the 32-bit distance at `at` points to; 0 after a failure. */
static uint64_t target_of(flat *f, uint64_t at)
{
    uint64_t distance = flat_bytes(f, at, 4);
    return f->failed ? 0 : at + distance;
}

flat_table flat_sub(flat *f, flat_table t, unsigned id)
{
    uint64_t at = field_at(f, t, id, 4);
    uint64_t to = at ? target_of(f, at) : 0;
    return to ? table_at(f, to) : (flat_table){0};
}

/* ---- vectors ---- */

flat_vector flat_list(flat *f, flat_table t, unsigned id, unsigned item_bytes)
{
    uint64_t at = field_at(f, t, id, 4);
    uint64_t to = at ? target_of(f, at) : 0;
    uint64_t n = to ? flat_bytes(f, to, 4) : 0;
    if (!to || !in_file(f, to + 4, n * item_bytes))
        return (flat_vector){0};
    return (flat_vector){to + 4, (uint32_t)n};
}

str flat_text(flat *f, flat_table t, unsigned id, arena *a, uint32_t max)
{
    flat_vector v = flat_list(f, t, id, 1);
    if (v.n > max) {
        flat_fail(f, v.at, "a name is too long");
        return STR("");
    }
    char *p = v.n ? arena_alloc(a, (size_t)v.n + 1) : NULL;
    if (!p)
        return STR("");
    if (source_read(f->src, v.at, p, v.n, f->err) != ASSAY_OK) {
        f->failed = true;
        return STR("");
    }
    p[v.n] = '\0';
    return (str){p, v.n};
}

flat_table flat_table_at(flat *f, flat_vector v, uint32_t i)
{
    assert(i < v.n);
    uint64_t to = target_of(f, v.at + 4 * (uint64_t)i);
    return to ? table_at(f, to) : (flat_table){0};
}

int64_t flat_i32_at(flat *f, flat_vector v, uint32_t i)
{
    assert(i < v.n);
    return (int32_t)(uint32_t)flat_bytes(f, v.at + 4 * (uint64_t)i, 4);
}
