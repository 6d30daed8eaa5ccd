/* Headers of safetensors files; see safetensors.h. */
#include "formats/safetensors.h"

#include <inttypes.h>

#include "base/json_scan.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/source.h"

static const struct {
    const char *word;
    const char *stored; /* NULL: the word itself */
    unsigned bits;
    bool integer;
} dtypes[] = {
    {"F32", "float32", 32, false},
    {"BF16", "bfloat16", 16, false},
    {"F16", "float16", 16, false},
    {"F64", "float64", 64, false},
    {"F8_E4M3", "float8_e4m3fn", 8, false},
    {"F8_E5M2", "float8_e5m2", 8, false},
    {"F8_E8M0", "float8_e8m0fnu", 8, false},
    {"F8_E4M3FNUZ", "float8_e4m3fnuz", 8, false},
    {"F8_E5M2FNUZ", "float8_e5m2fnuz", 8, false},
    {"F6_E2M3", NULL, 6, false},
    {"F6_E3M2", NULL, 6, false},
    {"F4", "float4_e2m1fn", 4, false},
    {"C64", "complex64", 64, false},
    {"I64", "int64", 64, true},
    {"I32", "int32", 32, true},
    {"I16", "int16", 16, true},
    {"I8", "int8", 8, true},
    {"U64", "uint64", 64, true},
    {"U32", "uint32", 32, true},
    {"U16", "uint16", 16, true},
    {"U8", "uint8", 8, true},
    {"BOOL", "bool", 8, true},
};

typedef struct header {
    json_scan scan;
    weight_set *set;
    uint32_t file;
    uint64_t data, data_bytes; /* where the data begins, and its length */
} header;

typedef struct entry { /* one tensor while it is read */
    str name;
    bool has_dtype, has_shape, has_place;
    unsigned bits;
    uint64_t begin, end;
    weight_item item;
} entry;

static assay_status fail_tensor(const header *h, const entry *e, const char *what)
{
    return err_fail_node(h->scan.err, ASSAY_ERR_MALFORMED, e->name.p, "%s: tensor '" STR_FMT "' %s",
                         h->scan.shown, STR_ARG(e->name), what);
}

/* ---- one tensor ---- */

static assay_status read_dtype(header *h, entry *e)
{
    str word;
    if (!scan_str(&h->scan, &word))
        return h->scan.err->code;
    e->has_dtype = true;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (!str_is(word, dtypes[i].word))
            continue;
        e->bits = dtypes[i].bits;
        e->item.stored = str_of(dtypes[i].stored ? dtypes[i].stored : dtypes[i].word);
        e->item.integer = dtypes[i].integer;
        return ASSAY_OK;
    }
    return err_fail_node(h->scan.err, ASSAY_ERR_MALFORMED, e->name.p,
                         "%s: tensor '" STR_FMT "' has the unknown dtype '" STR_FMT "'",
                         h->scan.shown, STR_ARG(e->name), STR_ARG(word));
}

static assay_status read_shape(header *h, entry *e)
{
    int64_t dims[IR_MAX_RANK];
    uint64_t d;
    int rank = 0;
    e->has_shape = true;
    scan_open(&h->scan, '[');
    while (scan_item(&h->scan) && scan_u63(&h->scan, &d)) {
        if (rank == IR_MAX_RANK)
            return fail_tensor(h, e, "has more than 64 dimensions");
        dims[rank++] = (int64_t)d;
    }
    if (h->scan.failed)
        return h->scan.err->code;
    e->item.rank = rank;
    e->item.dims = rank ? arena_copy(h->set->arena, dims, (size_t)rank * sizeof *dims) : NULL;
    return rank && !e->item.dims ? err_no_memory(h->scan.err) : ASSAY_OK;
}

static assay_status read_place(header *h, entry *e)
{
    json_scan *s = &h->scan;
    e->has_place = true;
    scan_open(s, '[');
    if (!scan_item(s) || !scan_u63(s, &e->begin) || !scan_item(s) || !scan_u63(s, &e->end) ||
        scan_item(s) || s->failed)
        return s->failed ? s->err->code
                         : fail_tensor(h, e, "has data_offsets other than two numbers");
    if (e->begin > e->end)
        return fail_tensor(h, e, "has data_offsets in descending order");
    return ASSAY_OK;
}

static assay_status read_field(header *h, entry *e, str key)
{
    bool dtype = str_is(key, "dtype"), shape = str_is(key, "shape");
    bool place = str_is(key, "data_offsets");
    if ((dtype && e->has_dtype) || (shape && e->has_shape) || (place && e->has_place))
        return err_fail_node(h->scan.err, ASSAY_ERR_MALFORMED, e->name.p,
                             "%s: tensor '" STR_FMT "' has a duplicate key '" STR_FMT "'",
                             h->scan.shown, STR_ARG(e->name), STR_ARG(key));
    if (dtype)
        return read_dtype(h, e);
    if (shape)
        return read_shape(h, e);
    if (place)
        return read_place(h, e);
    return scan_skip(&h->scan) ? ASSAY_OK : h->scan.err->code;
}

static assay_status check_size(header *h, entry *e)
{
    uint64_t n = 1, bits;
    for (int i = 0; i < e->item.rank; i++)
        if (!num_mulu(n, (uint64_t)e->item.dims[i], &n))
            return fail_tensor(h, e, "has too many elements to count");
    if (!num_mulu(n, e->bits, &bits) || bits / 8 >= NUM_SATURATED)
        return fail_tensor(h, e, "has too many elements to count");
    if (bits % 8)
        return fail_tensor(h, e, "does not end on a byte boundary");
    if (bits / 8 != e->end - e->begin)
        return err_fail_node(h->scan.err, ASSAY_ERR_MALFORMED, e->name.p,
                             "%s: tensor '" STR_FMT "' has %" PRIu64
                             " bytes by its shape but %" PRIu64 " by its data_offsets",
                             h->scan.shown, STR_ARG(e->name), bits / 8, e->end - e->begin);
    e->item.n_elems = n;
    e->item.size_bytes = bits / 8;
    return ASSAY_OK;
}

static assay_status add_entry(header *h, entry *e, uint64_t at)
{
    const char *missing = !e->has_dtype   ? "has no dtype"
                          : !e->has_shape ? "has no shape"
                          : !e->has_place ? "has no data_offsets"
                                          : NULL;
    if (missing)
        return fail_tensor(h, e, missing);
    if (e->end > h->data_bytes)
        return err_fail_at(h->scan.err, ASSAY_ERR_MALFORMED, at,
                           "%s: tensor '" STR_FMT "' ends at byte %" PRIu64 " of %" PRIu64
                           " data bytes: the file is truncated or its header is wrong",
                           h->scan.shown, STR_ARG(e->name), e->end, h->data_bytes);
    TRY(check_size(h, e));
    e->item.name = e->name;
    e->item.offset = h->data + e->begin;
    e->item.placed = true;
    e->item.file = h->file;
    return weight_set_add(h->set, &e->item, h->scan.shown, h->scan.err);
}

static assay_status read_tensor(header *h, str name)
{
    entry e = {.name = str_copy(h->set->arena, name)};
    uint64_t at = scan_offset(&h->scan);
    str key;
    TRY_MEMORY(e.name.p, h->scan.err);
    scan_open(&h->scan, '{');
    while (scan_key(&h->scan, &key))
        TRY(read_field(h, &e, key));
    return h->scan.failed ? h->scan.err->code : add_entry(h, &e, at);
}

/* ---- a header ---- */

static assay_status read_metadata(header *h)
{
    str key, value;
    scan_open(&h->scan, '{');
    while (scan_key(&h->scan, &key) && scan_str(&h->scan, &value)) {
        if (!VEC_ADD(h->set->arena, &h->set->metadata,
                     (weight_pair){str_copy(h->set->arena, key), str_copy(h->set->arena, value)}))
            return err_no_memory(h->scan.err);
    }
    return h->scan.failed ? h->scan.err->code : ASSAY_OK;
}

static assay_status read_header(header *h)
{
    json_scan *s = &h->scan;
    bool seen = false;
    str name;
    scan_open(s, '{');
    while (scan_key(s, &name)) {
        if (!str_is(name, "__metadata__")) {
            TRY(read_tensor(h, name));
            continue;
        }
        if (seen)
            scan_fail(s, "duplicate key '__metadata__'");
        seen = true;
        TRY(read_metadata(h));
    }
    return scan_end(s) ? ASSAY_OK : s->err->code;
}

static assay_status read_length(source *src, const char *shown, uint64_t *n, assay_error *err)
{
    uint8_t raw[8];
    uint64_t size = source_size(src);
    if (size < sizeof raw)
        return err_fail_at(err, ASSAY_ERR_MALFORMED, size,
                           "%s: %" PRIu64 " bytes are too few for a safetensors file", shown, size);
    TRY(source_read(src, 0, raw, sizeof raw, err));
    *n = 0;
    for (int i = 7; i >= 0; i--)
        *n = *n << 8 | raw[i];
    if (*n > limit_value(LIMIT_SAFETENSORS))
        return err_fail_at(err, ASSAY_ERR_MALFORMED, 0,
                           "%s: header of %" PRIu64
                           " bytes%s. The file is damaged or of another format.",
                           shown, *n, LIMIT_TEXT(LIMIT_SAFETENSORS));
    if (*n > size - sizeof raw)
        return err_fail_at(err, ASSAY_ERR_MALFORMED, 0,
                           "%s: truncated file: header of %" PRIu64 " bytes, but only %" PRIu64
                           " follow",
                           shown, *n, size - sizeof raw);
    return ASSAY_OK;
}

/* Names are copied out of the text, which is scratch. */
static assay_status read_source(source *src, const char *shown, str name, weight_set *set,
                                assay_error *err)
{
    uint64_t n = 0, size = source_size(src);
    uint32_t first = set->items.n;
    TRY(read_length(src, shown, &n, err));
    arena *scratch = arena_new((size_t)n * 2 + (1 << 16));
    char *text = scratch ? arena_alloc(scratch, (size_t)n + 1) : NULL;
    uint32_t file = text ? weight_set_file(set, name, size) : UINT32_MAX;
    assay_status s = file != UINT32_MAX ? source_read(src, 8, text, n, err) : err_no_memory(err);
    if (s == ASSAY_OK) {
        header h = {.scan = scan_text((str){text, (uint32_t)n}, 8, shown, scratch, err),
                    .set = set,
                    .file = file,
                    .data = 8 + n,
                    .data_bytes = size - 8 - n};
        s = read_header(&h);
    }
    if (s == ASSAY_OK)
        s = weight_set_check_places(set, first, 8 + n, size, 1, shown, err);
    arena_free(scratch);
    return s;
}

const weight_reader safetensors_reader = {"safetensors", read_source};

assay_status safetensors_read_bytes(const void *p, uint64_t n, arena *a, weight_set **out,
                                    assay_error *err)
{
    return weights_read_bytes(&safetensors_reader, p, n, a, out, err);
}
