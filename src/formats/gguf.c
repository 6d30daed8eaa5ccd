/* Metadata and tensor table of GGUF files; see gguf.h. */
#include "formats/gguf.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/num.h"
#include "base/source.h"

enum {
    KEY_MAX = 65535,
    TEXT_MAX = 1 << 16,
    ITEMS_MAX = 4096,
    NAME_MAX_BYTES = 1024,
    RANK_MAX = 4, /* ggml's */
    DEPTH_MAX = 8,
    PARTS_MAX = 1000,
    INFO_BYTES_MIN = 24, /* of an empty name without dims */
    PAIR_BYTES_MIN = 13,
};

typedef enum value_type {
    T_U8,
    T_I8,
    T_U16,
    T_I16,
    T_U32,
    T_I32,
    T_F32,
    T_BOOL,
    T_STRING,
    T_ARRAY,
    T_U64,
    T_I64,
    T_F64,
    N_TYPES,
} value_type;

static const struct {
    gguf_kind kind;
    uint8_t bytes; /* the least it takes */
    bool is_signed;
} value_types[N_TYPES] = {
    [T_U8] = {GGUF_INT, 1, false},      [T_I8] = {GGUF_INT, 1, true},
    [T_U16] = {GGUF_INT, 2, false},     [T_I16] = {GGUF_INT, 2, true},
    [T_U32] = {GGUF_INT, 4, false},     [T_I32] = {GGUF_INT, 4, true},
    [T_F32] = {GGUF_REAL, 4, true},     [T_BOOL] = {GGUF_BOOL, 1, false},
    [T_STRING] = {GGUF_TEXT, 8, false}, [T_ARRAY] = {GGUF_LIST, 12, false},
    [T_U64] = {GGUF_INT, 8, false},     [T_I64] = {GGUF_INT, 8, true},
    [T_F64] = {GGUF_REAL, 8, true},
};

typedef struct reading {
    cursor c;
    const char *shown;
    arena *arena;
    gguf_file *out;
    uint32_t file;
    bool metadata; /* kept: that of the first part */
    assay_error *err;
} reading;

static assay_status fail_truncated(const reading *r)
{
    return r->err->code != ASSAY_OK
               ? r->err->code
               : err_fail_at(r->err, ASSAY_ERR_MALFORMED, r->c.pos, "%s: truncated file", r->shown);
}

static assay_status fail_item(const reading *r, uint64_t at, str name, const char *what)
{
    return err_fail_at(r->err, ASSAY_ERR_MALFORMED, at, "%s: '" STR_FMT "' %s (byte %" PRIu64 ")",
                       r->shown, STR_ARG(name), what, at);
}

/* ---- values ---- */

static uint64_t read_bits(cursor *c, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)cursor_u8(c) << 8 * i;
    return v;
}

static int64_t as_int(uint64_t bits, value_type t)
{
    assert(value_types[t].bytes >= 1 && value_types[t].bytes <= 8);
    unsigned unused = 64u - 8u * value_types[t].bytes;
    if (value_types[t].is_signed)
        return (int64_t)(bits << unused) >> unused;
    return bits > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)bits;
}

static double as_real(uint64_t bits, value_type t)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return t == T_F32 ? (double)f : d;
}

static assay_status read_text(reading *r, gguf_value *v)
{
    uint64_t n = cursor_u64le(&r->c);
    if (n > cursor_left(&r->c) || !cursor_ok(&r->c))
        return fail_item(r, r->c.pos, v->key, "is a string that runs past the end of the file");
    if (n <= TEXT_MAX)
        v->s = cursor_str(&r->c, n, r->arena, TEXT_MAX);
    else
        cursor_skip(&r->c, n);
    return cursor_ok(&r->c) ? ASSAY_OK : fail_truncated(r);
}

static assay_status skip_items(reading *r, str key, value_type t, uint64_t n, int depth);

static assay_status read_list_head(reading *r, str key, value_type *t, uint64_t *n)
{
    uint64_t at = r->c.pos;
    uint32_t type = cursor_u32le(&r->c);
    *n = cursor_u64le(&r->c);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    if (type >= N_TYPES)
        return fail_item(r, at, key, "is a list of an unknown type");
    *t = (value_type)type;
    if (*n > cursor_left(&r->c) / value_types[type].bytes)
        return fail_item(r, at, key, "is a list that runs past the end of the file");
    return ASSAY_OK;
}

static assay_status skip_list(reading *r, str key, int depth)
{
    value_type t = T_U8;
    uint64_t n = 0;
    if (depth > DEPTH_MAX)
        return fail_item(r, r->c.pos, key, "is a list nested deeper than 8 levels");
    TRY(read_list_head(r, key, &t, &n));
    return skip_items(r, key, t, n, depth);
}

static assay_status skip_items(reading *r, str key, value_type t, uint64_t n, int depth)
{
    if (t != T_STRING && t != T_ARRAY) {
        cursor_skip(&r->c, n * value_types[t].bytes);
        return cursor_ok(&r->c) ? ASSAY_OK : fail_truncated(r);
    }
    for (uint64_t i = 0; i < n; i++) {
        if (t == T_ARRAY) {
            TRY(skip_list(r, key, depth + 1));
            continue;
        }
        uint64_t length = cursor_u64le(&r->c);
        if (!cursor_ok(&r->c) || length > cursor_left(&r->c))
            return fail_item(r, r->c.pos, key,
                             "contains a string that runs past the end of the file");
        cursor_skip(&r->c, length);
    }
    return ASSAY_OK;
}

static assay_status read_list(reading *r, gguf_value *v)
{
    value_type t = T_U8;
    TRY(read_list_head(r, v->key, &t, &v->n));
    bool whole = value_types[t].kind == GGUF_INT || value_types[t].kind == GGUF_BOOL;
    if (!whole || v->n > ITEMS_MAX)
        return skip_items(r, v->key, t, v->n, 1);
    int64_t *items = ARENA_ARRAY(r->arena, int64_t, (size_t)v->n + 1);
    TRY_MEMORY(items, r->err);
    for (uint64_t i = 0; i < v->n; i++)
        items[i] = as_int(read_bits(&r->c, value_types[t].bytes), t);
    v->items = items;
    return cursor_ok(&r->c) ? ASSAY_OK : fail_truncated(r);
}

static assay_status read_value(reading *r, value_type t, gguf_value *v)
{
    v->kind = value_types[t].kind;
    if (t == T_STRING)
        return read_text(r, v);
    if (t == T_ARRAY)
        return read_list(r, v);
    uint64_t at = r->c.pos, bits = read_bits(&r->c, value_types[t].bytes);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    if (t == T_BOOL && bits > 1)
        return fail_item(r, at, v->key, "is a bool other than 0 or 1");
    if (v->kind == GGUF_REAL)
        v->f = as_real(bits, t);
    else
        v->i = as_int(bits, t);
    return ASSAY_OK;
}

static assay_status read_name(reading *r, uint64_t max, const char *what, str *out)
{
    uint64_t at = r->c.pos, n = cursor_u64le(&r->c);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    if (n == 0 || n > max || n > cursor_left(&r->c))
        return err_fail_at(r->err, ASSAY_ERR_MALFORMED, at,
                           "%s: %s name of %" PRIu64 " bytes: 1 to %" PRIu64
                           " are allowed and %" PRIu64 " are left",
                           r->shown, what, n, max, cursor_left(&r->c));
    *out = cursor_str(&r->c, n, r->arena, max);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    return memchr(out->p, 0, out->n) ? fail_item(r, at, *out, "contains a NUL in its name")
                                     : ASSAY_OK;
}

static assay_status read_pair(reading *r)
{
    gguf_value v = {0};
    uint64_t at = r->c.pos;
    TRY(read_name(r, KEY_MAX, "key", &v.key));
    uint32_t type = cursor_u32le(&r->c);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    if (type >= N_TYPES)
        return fail_item(r, at, v.key, "has an unknown type");
    if (r->metadata && map_get(&r->out->by_key, v.key) != MAP_NONE)
        return err_fail_at(r->err, ASSAY_ERR_MALFORMED, at,
                           "%s: duplicate key '" STR_FMT "' (byte %" PRIu64 ")", r->shown,
                           STR_ARG(v.key), at);
    TRY(read_value(r, (value_type)type, &v));
    if (!r->metadata)
        return ASSAY_OK;
    gguf_value *slot = VEC_PUSH(r->arena, &r->out->values);
    TRY_MEMORY(slot && map_put(&r->out->by_key, v.key, r->out->values.n - 1), r->err);
    *slot = v;
    return ASSAY_OK;
}

/* ---- tensors ---- */

static assay_status measure_tensor(const reading *r, uint64_t at, const gguf_type *t,
                                   weight_item *x)
{
    uint64_t n = 1, bytes;
    for (int i = 0; i < x->rank; i++)
        if (!num_mulu(n, (uint64_t)x->dims[i], &n))
            return fail_item(r, at, x->name, "has too many elements to count");
    uint64_t row = x->rank ? (uint64_t)x->dims[x->rank - 1] : 1;
    if (row % t->block)
        return err_fail_at(r->err, ASSAY_ERR_MALFORMED, at,
                           "%s: '" STR_FMT "' has rows of %" PRIu64
                           " elements, not a multiple of the block size %u of %s",
                           r->shown, STR_ARG(x->name), row, t->block, t->name);
    if (!num_mulu(n / t->block, t->bytes, &bytes) || bytes >= NUM_SATURATED)
        return fail_item(r, at, x->name, "has too many elements to count");
    x->n_elems = n;
    x->size_bytes = bytes;
    return ASSAY_OK;
}

/* dims are turned round: the file has the fastest first. */
static assay_status read_dims(reading *r, uint64_t at, weight_item *x)
{
    uint32_t rank = cursor_u32le(&r->c);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    if (rank > RANK_MAX)
        return fail_item(r, at, x->name, "has more than 4 dimensions");
    int64_t *dims = ARENA_ARRAY(r->arena, int64_t, RANK_MAX);
    TRY_MEMORY(dims, r->err);
    for (uint32_t i = 0; i < rank; i++) {
        uint64_t d = cursor_u64le(&r->c);
        if (d > (uint64_t)INT64_MAX)
            return fail_item(r, at, x->name, "has a dimension of 2^63 or more");
        dims[rank - 1 - i] = (int64_t)d;
    }
    x->rank = (int)rank;
    x->dims = dims;
    return cursor_ok(&r->c) ? ASSAY_OK : fail_truncated(r);
}

static assay_status read_info(reading *r, uint64_t alignment)
{
    weight_item x = {.file = r->file};
    uint64_t at = r->c.pos;
    TRY(read_name(r, NAME_MAX_BYTES, "tensor", &x.name));
    TRY(read_dims(r, at, &x));
    uint32_t number = cursor_u32le(&r->c);
    x.offset = cursor_u64le(&r->c);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    const gguf_type *t = gguf_type_of(number);
    if (!t)
        return err_fail_at(r->err, ASSAY_ERR_UNSUPPORTED, at,
                           "%s: tensor '" STR_FMT
                           "' has the unknown ggml type %u. Convert the file with a current "
                           "llama.cpp, or use a newer assay.",
                           r->shown, STR_ARG(x.name), number);
    TRY(measure_tensor(r, at, t, &x));
    if (x.offset % alignment)
        return fail_item(r, at, x.name, "is not aligned to general.alignment");
    x.stored = str_of(t->stored ? t->stored : t->name);
    x.integer = ir_is_integer(ir_dtype_by_name(x.stored));
    return weight_set_add(r->out->weights, &x, r->shown, r->err);
}

/* Offsets become those of the file. */
static assay_status place_tensors(reading *r, uint32_t first, uint64_t alignment)
{
    weight_set *w = r->out->weights;
    uint64_t start = r->c.pos, size = source_size(r->c.src);
    start += (alignment - start % alignment) % alignment;
    for (uint32_t i = first; i < w->items.n; i++)
        if (!num_addu(w->items.items[i].offset, start, &w->items.items[i].offset))
            return fail_item(r, r->c.pos, w->items.items[i].name, "lies past the end of the file");
    if (w->items.n == first)
        return ASSAY_OK;
    return weight_set_check_places(w, first, start, size, alignment, r->shown, r->err);
}

/* ---- a file ---- */

static assay_status read_alignment(const reading *r, uint64_t *out)
{
    const gguf_value *v = gguf_get(r->out, "general.alignment");
    *out = 32;
    if (!v)
        return ASSAY_OK;
    if (v->kind != GGUF_INT || v->i < 1 || v->i > 1 << 20 || (v->i & (v->i - 1)))
        return err_fail_node(r->err, ASSAY_ERR_MALFORMED, "general.alignment",
                             "%s: general.alignment must be a power of two up to 2^20", r->shown);
    *out = (uint64_t)v->i;
    return ASSAY_OK;
}

static assay_status check_version(const reading *r, uint32_t version)
{
    if (version == 2 || version == 3)
        return ASSAY_OK;
    if ((version & 0xffff) == 0 && version)
        return err_fail_at(r->err, ASSAY_ERR_UNSUPPORTED, 4,
                           "%s: big-endian GGUF is not supported. Convert it with "
                           "gguf_convert_endian.py from llama.cpp.",
                           r->shown);
    return err_fail_at(
        r->err, ASSAY_ERR_UNSUPPORTED, 4,
        "%s: GGUF version %u is not supported, only 2 and 3. Convert it with a current llama.cpp.",
        r->shown, version);
}

static assay_status read_counts(reading *r, uint64_t *tensors, uint64_t *pairs)
{
    static const uint8_t magic[] = {'G', 'G', 'U', 'F'};
    uint8_t head[4];
    cursor_copy(&r->c, head, sizeof head);
    if (!cursor_ok(&r->c) || memcmp(head, magic, sizeof magic) != 0) {
        err_clear(r->err);
        return err_fail_at(r->err, ASSAY_ERR_MALFORMED, 0,
                           "%s: not a GGUF file: it does not start with \"GGUF\"", r->shown);
    }
    uint32_t version = cursor_u32le(&r->c);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    TRY(check_version(r, version));
    r->out->version = version;
    *tensors = cursor_u64le(&r->c);
    *pairs = cursor_u64le(&r->c);
    if (!cursor_ok(&r->c))
        return fail_truncated(r);
    uint64_t left = cursor_left(&r->c);
    if (*tensors > left / INFO_BYTES_MIN || *pairs > left / PAIR_BYTES_MIN)
        return err_fail_at(r->err, ASSAY_ERR_MALFORMED, 8,
                           "%s: the header declares %" PRIu64 " tensors and %" PRIu64
                           " keys, too many for the file size",
                           r->shown, *tensors, *pairs);
    return ASSAY_OK;
}

static assay_status read_part(reading *r)
{
    uint64_t tensors = 0, pairs = 0, alignment = 32;
    uint32_t first = r->out->weights->items.n;
    TRY(read_counts(r, &tensors, &pairs));
    for (uint64_t i = 0; i < pairs; i++)
        TRY(read_pair(r));
    TRY(read_alignment(r, &alignment));
    for (uint64_t i = 0; i < tensors; i++)
        TRY(read_info(r, alignment));
    return place_tensors(r, first, alignment);
}

static assay_status read_source(source *src, const char *shown, str name, bool metadata, arena *a,
                                gguf_file *out, assay_error *err)
{
    reading r = {.c = cursor_at(src, 0, source_size(src), err),
                 .shown = shown,
                 .arena = a,
                 .out = out,
                 .metadata = metadata,
                 .err = err};
    r.file = weight_set_file(out->weights, name, source_size(src));
    assay_status s = r.file == UINT32_MAX ? err_no_memory(err) : read_part(&r);
    if (s == ASSAY_OK && arena_failed(a))
        s = err_no_memory(err);
    return s;
}

static assay_status read_one(const char *path, bool metadata, arena *a, gguf_file *out,
                             assay_error *err)
{
    char shown[FILE_SHOWN];
    const char *slash = strrchr(path, '/');
    source *src = NULL;
    TRY(source_open(path, &src, err));
    assay_status s = read_source(src, file_shown(path, shown), str_of(slash ? slash + 1 : path),
                                 metadata, a, out, err);
    source_close(src);
    err_name_file(err, path);
    return s;
}

static assay_status init_file(arena *a, gguf_file *out, assay_error *err)
{
    *out = (gguf_file){.weights = weight_set_new(a, "gguf", 512)};
    TRY_MEMORY(out->weights && map_init(&out->by_key, a, 64), err);
    out->weights->any_way = true;
    return ASSAY_OK;
}

static void set_architecture(gguf_file *out)
{
    const gguf_value *v = gguf_get(out, "general.architecture");
    out->architecture = v && v->kind == GGUF_TEXT ? v->s : (str){0};
}

/* "x-00001-of-00003.gguf": the other parts have the tensors that this one has not. */
static assay_status read_others(const char *path, int64_t count, arena *a, gguf_file *out,
                                assay_error *err)
{
    static const char pattern[] = "-00001-of-";
    size_t n = strlen(path);
    const char *mark = n > 20 ? path + n - 20 : "";
    if (strncmp(mark, pattern, sizeof pattern - 1) != 0 || count > PARTS_MAX) {
        notes_add(&out->weights->notes, "one-of-a-set", (str){0},
                  "Use the first file of the set; its name ends in -00001-of-N.gguf.",
                  "This file is one of %lld. Only its own tensors are counted.", (long long)count);
        return ASSAY_OK;
    }
    for (int64_t i = 2; i <= count; i++) {
        const char *next = arena_printf(a, "%.*s-%05d-of-%05d.gguf", (int)(mark - path), path,
                                        (int)i, (int)count);
        TRY_MEMORY(next, err);
        TRY(read_one(next, false, a, out, err));
    }
    return ASSAY_OK;
}

assay_status gguf_read(const char *path, arena *a, gguf_file *out, assay_error *err)
{
    assay_error own;
    err_clear(&own);
    err = err ? err : &own;
    TRY(init_file(a, out, err));
    TRY(read_one(path, true, a, out, err));
    const gguf_value *count = gguf_get(out, "split.count");
    if (count && count->kind == GGUF_INT && count->i > 1)
        TRY(read_others(path, count->i, a, out, err));
    set_architecture(out);
    return ASSAY_OK;
}

assay_status gguf_read_bytes(const void *p, uint64_t n, arena *a, gguf_file *out, assay_error *err)
{
    assay_error own;
    source *src = NULL;
    err_clear(&own);
    err = err ? err : &own;
    TRY(init_file(a, out, err));
    TRY(source_memory(p, n, &src, err));
    assay_status s = read_source(src, "<memory>", STR("<memory>"), true, a, out, err);
    source_close(src);
    set_architecture(out);
    return s;
}

const gguf_value *gguf_get(const gguf_file *g, const char *key)
{
    uint32_t at = map_get(&g->by_key, str_of(key));
    return at == MAP_NONE ? NULL : &g->values.items[at];
}
