/* The index of a TensorFlow checkpoint (variables/variables.index) and the data files that it describes.
 *
 * The index is a sorted table in the format of LevelDB (table_format.md), uncompressed as TensorFlow writes it:
 *   blocks ... | index block | footer of 48 bytes: handle of the metaindex, handle of the index, padding, magic
 *   handle = varint offset, varint size; behind each block: 1 byte of compression, 4 bytes of CRC
 *   block  = entries, u32 restarts[n], u32 n; entry = varint shared, varint rest, varint value size, key rest, value
 * A value is a BundleEntryProto: 1 dtype, 2 shape, 3 shard, 4 offset, 5 size, 7 slices. The empty key is the header
 * (1 number of shards). Data is in NAME.data-SSSSS-of-NNNNN.
 *
 * Sliced variables have a shape and no content here. Checksums are not verified. */
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "formats/tensorflow/tf_impl.h"

enum { FOOTER = 48, MAX_BLOCK = 64 << 20, MAX_KEY = 1 << 12, MAX_ENTRIES = 1 << 20 };

typedef struct handle {
    uint64_t at, size;
} handle;

typedef assay_status entry_fn(tf_reader *r, source *index, str key, cursor value);

static handle read_handle(cursor *c)
{
    handle h = {.at = cursor_varint(c)};
    h.size = cursor_varint(c);
    return h;
}

static assay_status bad_index(tf_reader *r, const char *what)
{
    return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "variables.index is damaged: %s", what);
}

/* A block without its restarts. */
static assay_status open_block(tf_reader *r, source *index, handle h, cursor *out)
{
    uint64_t all = source_size(index);
    if (h.size < 4 || h.size > MAX_BLOCK || h.at > all || h.size + 1 > all - h.at)
        return bad_index(r, "a block lies outside the file");
    cursor type = cursor_at(index, h.at + h.size, 1, r->f.err);
    if (cursor_u8(&type) != 0)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "variables.index is compressed, which is not supported");
    cursor tail = cursor_at(index, h.at + h.size - 4, 4, r->f.err);
    uint64_t restarts = cursor_u32le(&tail);
    if (restarts > (h.size - 4) / 4)
        return bad_index(r, "a block is too short for its restart table");
    *out = cursor_at(index, h.at, h.size - 4 - 4 * restarts, r->f.err);
    return ASSAY_OK;
}

static assay_status read_block(tf_reader *r, source *index, handle h, entry_fn *take)
{
    char key[MAX_KEY];
    uint64_t n_key = 0;
    cursor c;
    TRY(open_block(r, index, h, &c));
    while (cursor_more(&c)) {
        uint64_t shared = cursor_varint(&c), rest = cursor_varint(&c), size = cursor_varint(&c);
        if (shared > n_key || rest > MAX_KEY - shared || rest > cursor_left(&c))
            return bad_index(r, "a key is longer than its block");
        cursor_copy(&c, key + shared, rest);
        n_key = shared + rest;
        cursor value = cursor_sub(&c, size);
        if (c.failed)
            return bad_index(r, "a value lies outside its block");
        TRY(take(r, index, (str){key, (uint32_t)n_key}, value));
    }
    return wire_status(&c);
}

static assay_status take_entry(tf_reader *r, source *index, str key, cursor value)
{
    tf_checkpoint *ck = &r->ck;
    tf_entry e = {.rank = 0};
    (void)index;
    if (key.n == 0) {
        uint64_t n = wire_find_u64(value, 1, 1);
        ck->n_shards = n > TF_MAX_SHARDS ? 0 : (uint32_t)n;
        return wire_status(&value);
    }
    e.dtype = tf_dtype_of(wire_find_u64(value, 1, 0));
    if (wire_has(value, 2) && !tf_shape_of(wire_sub(value, 2), &e.rank, e.dims))
        return ASSAY_OK;
    e.shard = wire_find_u64(value, 3, 0);
    e.offset = wire_find_u64(value, 4, 0);
    e.size = wire_has(value, 7) ? 0 : wire_find_u64(value, 5, 0);
    str own = str_copy(r->f.scratch, key);
    if (ck->entries.n > MAX_ENTRIES)
        return bad_index(r, "too many entries");
    if (!own.p || !map_put(&ck->by_key, own, ck->entries.n) ||
        !VEC_ADD(r->f.scratch, &ck->entries, e))
        return err_no_memory(r->f.err);
    return wire_status(&value);
}

static assay_status take_block(tf_reader *r, source *index, str key, cursor value)
{
    (void)key;
    handle h = read_handle(&value);
    return value.failed ? bad_index(r, "truncated block handle")
                        : read_block(r, index, h, take_entry);
}

static assay_status read_index(tf_reader *r, source *index)
{
    static const uint8_t magic[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
    uint8_t end[sizeof magic];
    uint64_t size = source_size(index);
    if (size < FOOTER)
        return bad_index(r, "shorter than its footer");
    TRY(source_read(index, size - sizeof end, end, sizeof end, r->f.err));
    if (memcmp(end, magic, sizeof magic) != 0)
        return bad_index(r, "its magic number is missing");
    cursor footer = cursor_at(index, size - FOOTER, FOOTER - sizeof magic, r->f.err);
    read_handle(&footer);
    handle h = read_handle(&footer);
    return footer.failed ? bad_index(r, "truncated block handle")
                         : read_block(r, index, h, take_block);
}

/* ---- files ---- */

static assay_status open_shards(tf_reader *r, const char *stem)
{
    tf_checkpoint *ck = &r->ck;
    uint64_t start = source_size(r->f.src);
    ck->shards = ARENA_ARRAY(r->f.m->arena, source *, (size_t)ck->n_shards + 1);
    ck->starts = ARENA_ARRAY(r->f.m->arena, uint64_t, (size_t)ck->n_shards + 1);
    TRY_MEMORY(ck->shards && ck->starts, r->f.err);
    for (uint32_t i = 0; i < ck->n_shards; i++) {
        const char *name = arena_printf(r->f.scratch, "%s.data-%05u-of-%05u", stem, i,
                                        ck->n_shards);
        TRY(foreign_open_beside(&r->f, name, &ck->shards[i]));
        ck->starts[i] = start;
        start = sat_add(start, ck->shards[i] ? source_size(ck->shards[i]) : 0);
    }
    r->f.m->file_size_bytes = start;
    return ASSAY_OK;
}

/* A SavedModel has the folder variables/ beside it; without one, the graph alone is read. */
assay_status tf_checkpoint_open(tf_reader *r, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    TRY_MEMORY(map_init(&r->ck.by_key, r->f.scratch, 64), r->f.err);
    if (!path)
        return ASSAY_OK;
    char *stem = arena_printf(r->f.scratch, "%.*svariables/variables",
                              slash ? (int)(slash - path + 1) : 0, path);
    char *name = stem ? arena_printf(r->f.scratch, "%s.index", stem) : NULL;
    source *index;
    TRY(foreign_open_beside(&r->f, name, &index));
    if (!index)
        return ASSAY_OK;
    r->ck.found = true;
    assay_status status = read_index(r, index);
    source_close(index);
    return status == ASSAY_OK ? open_shards(r, stem) : status;
}

void tf_checkpoint_close(tf_reader *r)
{
    for (uint32_t i = 0; r->ck.shards && i < r->ck.n_shards; i++)
        source_close(r->ck.shards[i]);
    r->ck.n_shards = 0;
}

const tf_entry *tf_checkpoint_find(const tf_reader *r, str key)
{
    uint32_t at = r->ck.found && key.n ? map_get(&r->ck.by_key, key) : MAP_NONE;
    return at == MAP_NONE ? NULL : &r->ck.entries.items[at];
}
