/* One tensor of a checkpoint: its type, shape, storage and place; see torch_list.c for which tensors there are.
 *
 * A storage is an entry of the archive, a part behind the pickles (the older form), or a file of the older form in the
 * middle of a pickle, which pickle.dump() writes of a tensor:
 *     _rebuild_tensor_v2(torch.storage._load_from_bytes(b"..."), offset, size, stride, ...)
 * An array of NumPy is its shape, type and bytes:
 *     _reconstruct(ndarray, (0,), b"b"), state (version, shape, dtype, column order, bytes)
 *     _frombuffer(bytes, dtype, shape, order)
 */
#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "formats/torch/torch_impl.h"

/* ---- types ---- */

static const struct {
    const char *storage, *dtype; /* names behind "torch." */
    const char *stored;
    unsigned bits;
    bool integer;
} types[] = {
    {"FloatStorage", "float32", "float32", 32, false},
    {"HalfStorage", "float16", "float16", 16, false},
    {"BFloat16Storage", "bfloat16", "bfloat16", 16, false},
    {"DoubleStorage", "float64", "float64", 64, false},
    {"LongStorage", "int64", "int64", 64, true},
    {"IntStorage", "int32", "int32", 32, true},
    {"ShortStorage", "int16", "int16", 16, true},
    {"CharStorage", "int8", "int8", 8, true},
    {"ByteStorage", "uint8", "uint8", 8, true},
    {"BoolStorage", "bool", "bool", 8, true},
    {"ComplexFloatStorage", "complex64", "complex64", 64, false},
    {"ComplexDoubleStorage", "complex128", "complex128", 128, false},
    {"QInt8Storage", "qint8", "int8", 8, false},
    {"QUInt8Storage", "quint8", "uint8", 8, false},
    {"QInt32Storage", "qint32", "int32", 32, false},
    {"", "uint16", "uint16", 16, true},
    {"", "uint32", "uint32", 32, true},
    {"", "uint64", "uint64", 64, true},
    {"", "float8_e4m3fn", "float8_e4m3fn", 8, false},
    {"", "float8_e5m2", "float8_e5m2", 8, false},
    {"", "float8_e4m3fnuz", "float8_e4m3fnuz", 8, false},
    {"", "float8_e5m2fnuz", "float8_e5m2fnuz", 8, false},
    {"", "float8_e8m0fnu", "float8_e8m0fnu", 8, false},
};
enum { N_TYPES = sizeof types / sizeof *types };

/* The row of "torch.FloatStorage", "torch.storage.FloatStorage" or "torch.float32"; -1 for another. */
static int type_of(const pickle_value *name)
{
    str s = name && name->kind == PICKLE_GLOBAL ? name->text : (str){0};
    if (!str_starts(s, "torch."))
        return -1;
    while (memchr(s.p, '.', s.n)) {
        const char *dot = memchr(s.p, '.', s.n);
        s = (str){dot + 1, s.n - (uint32_t)(dot + 1 - s.p)};
    }
    for (int i = 0; i < N_TYPES; i++)
        if (s.n && (str_is(s, types[i].storage) || str_is(s, types[i].dtype)))
            return i;
    return -1;
}

/* ---- one tensor ---- */

assay_status torch_fail_tensor(torch_walker *w, const char *what)
{
    const char *name = sbuf_cstr(&w->path);
    return err_fail_node(w->f->err, ASSAY_ERR_MALFORMED, name, "%s: tensor '%s' %s", w->f->shown,
                         name, what);
}

static str own_name(torch_walker *w)
{
    str name = {w->path.p, (uint32_t)w->path.n};
    arena *a = w->f->set->arena;
    name = name.n ? str_copy(a, name) : STR("tensor");
    for (unsigned i = 2; name.p && weight_set_get(w->f->set, name); i++)
        name = str_printf(a, "%.*s#%u", (int)w->path.n, w->path.n ? w->path.p : "", i);
    return name;
}

/* Without a module around them, running statistics and counters are known by their names and types. */
static weight_role role_by_name(str name, bool integer)
{
    static const char *const buffers[] = {"running_mean", "running_var", "num_batches_tracked"};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (str_ends(name, buffers[i]))
            return WEIGHT_ROLE_BUFFER;
    return integer ? WEIGHT_ROLE_BUFFER : WEIGHT_ROLE_PARAMETER;
}

static assay_status read_sizes(torch_walker *w, const pickle_value *sizes, weight_item *item)
{
    int64_t *dims;
    item->n_elems = 1;
    /* torch.Size((2, 3)) or the tuple itself */
    if (sizes && sizes->kind == PICKLE_OBJECT)
        sizes = pickle_item(sizes->args, 0);
    if (!sizes || (sizes->kind != PICKLE_TUPLE && sizes->kind != PICKLE_LIST))
        return torch_fail_tensor(w, "has no shape");
    if (sizes->items.n > IR_MAX_RANK)
        return torch_fail_tensor(w, "has more than 64 dimensions");
    dims = ARENA_ARRAY(w->f->set->arena, int64_t, sizes->items.n + 1);
    TRY_MEMORY(dims, w->f->err);
    for (uint32_t i = 0; i < sizes->items.n; i++) {
        const pickle_value *d = sizes->items.items[i];
        if (d->kind != PICKLE_INT || d->whole < 0)
            return torch_fail_tensor(w, "has an invalid dimension");
        if (!num_mulu(item->n_elems, (uint64_t)d->whole, &item->n_elems))
            return torch_fail_tensor(w, "has too many elements to count");
        dims[i] = d->whole;
    }
    item->dims = dims;
    item->rank = (int)sizes->items.n;
    return ASSAY_OK;
}

/* In the older form storages lie behind the pickles, each with its length of 8 bytes. */
static assay_status add_storage(torch_file *f, str key, uint64_t bytes)
{
    bool is_new = false;
    uint32_t *at = map_at(&f->storages, key, f->lengths.n, &is_new);
    torch_place place = {f->set->items.n, at ? *at : 0};
    if (!at || !VEC_ADD(f->scratch, &f->places, place) ||
        (is_new && !VEC_ADD(f->scratch, &f->lengths, bytes)))
        return err_no_memory(f->err);
    if (is_new)
        f->storage_bytes = sat_add(f->storage_bytes, sat_add(bytes, 8));
    return ASSAY_OK;
}

/* ('storage', type, key, device, elements): the bytes must be there. */
static assay_status check_storage(torch_walker *w, const pickle_value *id, unsigned bits,
                                  weight_item *item, uint64_t *elements)
{
    torch_file *f = w->f;
    const pickle_value *key = pickle_item(id, 2), *count = pickle_item(id, 4);
    uint64_t n = count && count->kind == PICKLE_INT && count->whole >= 0 ? (uint64_t)count->whole
                                                                         : UINT64_MAX;
    if (!key || n > NUM_SATURATED / 128)
        return torch_fail_tensor(w, "has a storage without a size");
    *elements = n;
    if (!f->zip && !f->storages.arena)
        return torch_fail_tensor(w, "has its storage in another file");
    if (!f->zip)
        return add_storage(f, key->text, n * bits / 8);
    const zip_entry *e = NULL;
    for (int i = 0; i < 2 && !e; i++) { /* both folders have a storage 0 */
        const char *folder = (i == 0) == w->constants ? "constants" : "data";
        e = zip_find(f->zip, str_printf(f->scratch, STR_FMT "%s/" STR_FMT, STR_ARG(f->root), folder,
                                        STR_ARG(key->text)));
    }
    if (!e)
        return torch_fail_tensor(w, "has no storage in the archive");
    item->entry = e->method == ZIP_STORED || e->method == ZIP_DEFLATED ? e->header + 1 : 0;
    item->packed = e->method == ZIP_DEFLATED ? e->packed : 0;
    item->unpacked = e->method == ZIP_DEFLATED ? e->size : 0;
    return e->size >= n * bits / 8 ? ASSAY_OK
                                   : torch_fail_tensor(w, "has a storage that is too short");
}

/* Where the tensor lies in its storage of n elements. Strides that leave it have no place. */
static assay_status place_tensor(torch_walker *w, const pickle_value *args, uint64_t n,
                                 unsigned bits, weight_item *item)
{
    const pickle_value *offset = pickle_item(args, 1), *given = pickle_item(args, 3);
    int64_t *strides = ARENA_ARRAY(w->f->set->arena, int64_t, (size_t)item->rank + 1), plain = 1;
    uint64_t last = offset && offset->kind == PICKLE_INT && offset->whole >= 0
                        ? (uint64_t)offset->whole
                        : UINT64_MAX;
    bool fits = last < n && given && given->items.n == (uint32_t)item->rank, in_order = true;
    TRY_MEMORY(strides, w->f->err);
    item->offset = fits ? last * bits / 8 : 0;
    for (int d = item->rank - 1; fits && d >= 0; plain *= item->dims[d--]) {
        const pickle_value *s = given->items.items[d];
        fits = s->kind == PICKLE_INT && s->whole >= 0;
        strides[d] = s->whole;
        in_order &= strides[d] == plain || item->dims[d] == 1;
        uint64_t reach = sat_mul((uint64_t)(item->dims[d] - (item->dims[d] > 0)),
                                 (uint64_t)s->whole);
        last = sat_add(last, reach);
    }
    item->placed = fits && last < n && bits >= 8;
    item->entry = item->placed ? item->entry : 0;
    item->strides = item->placed && !in_order ? strides : NULL;
    return ASSAY_OK;
}

/* Tied weights are two tensors of one storage: the second is counted among the tensors, not among the parameters. */
static assay_status tell_shared(torch_walker *w, const pickle_value *id, const pickle_value *offset,
                                weight_item *item)
{
    bool is_new = true;
    const str place = str_printf(w->f->scratch, STR_FMT "@%" PRId64 ":%" PRIu64,
                                 STR_ARG(id->items.items[2]->text), offset ? offset->whole : 0,
                                 item->n_elems);
    if (item->role != WEIGHT_ROLE_PARAMETER && item->role != WEIGHT_ROLE_BUFFER)
        return ASSAY_OK;
    TRY_MEMORY(place.p && map_at(&w->shared, place, 0, &is_new), w->f->err);
    if (!is_new && item->n_elems)
        item->role = WEIGHT_ROLE_OTHER;
    return ASSAY_OK;
}

/* ---- storages within a pickle ---- */

enum { NESTED_HEAD = 4096 }; /* bytes in which its pickles lie */

/* Bytes of a value: as they are, or as text of which each letter is a byte (_codecs.encode(text, "latin1")). */
typedef struct inner_bytes {
    uint64_t at, n; /* in the source */
    bool as_text;
} inner_bytes;

static bool find_bytes(const pickle_value *v, inner_bytes *out)
{
    *out = (inner_bytes){0};
    if (v && v->kind == PICKLE_OBJECT && v->of && v->of->kind == PICKLE_GLOBAL &&
        str_is(v->of->text, "_codecs.encode")) {
        v = pickle_item(v->args, 0);
        out->as_text = true;
    }
    if (!v || (v->kind != PICKLE_BYTES && v->kind != PICKLE_TEXT))
        return false;
    out->at = v->at;
    out->n = (uint64_t)v->whole;
    return v->whole > 0;
}

/* Letters of two bytes are those above 127. */
static uint64_t text_to_bytes(uint8_t *p, uint64_t n)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool two = (p[i] & 0xfc) == 0xc0 && i + 1 < n;
        p[k++] = two ? (uint8_t)(p[i] << 6 | (p[i + 1] & 0x3f)) : p[i];
        i += two;
    }
    return k;
}

/* The id of the storage that the bytes of a file of the older form hold, and where its numbers begin in those bytes. */
static assay_status read_nested(torch_walker *w, const inner_bytes *b, pickle_value **id,
                                uint64_t *start)
{
    enum { BEFORE = 4 };
    torch_file *f = w->f;
    pickle_value *v = NULL, *other = NULL;
    source *head = NULL;
    uint64_t n = b->n < NESTED_HEAD ? b->n : NESTED_HEAD;
    uint8_t *bytes = ARENA_ARRAY(f->scratch, uint8_t, n);
    TRY_MEMORY(bytes, f->err);
    TRY(source_read(f->src, b->at, bytes, n, f->err));
    n = b->as_text ? text_to_bytes(bytes, n) : n;
    TRY(source_memory(bytes, n, &head, f->err));
    cursor c = cursor_at(head, 0, n, f->err);
    assay_status s = ASSAY_OK;
    for (int i = 0; i < BEFORE && s == ASSAY_OK; i++)
        s = pickle_read(&c, f->scratch, &v);
    s = s == ASSAY_OK ? pickle_read(&c, f->scratch, &other) : s;
    *start = c.pos + 8;
    *id = v && v->kind == PICKLE_PERSISTENT ? v->of : NULL;
    source_close(head);
    return s;
}

/* The storage of a tensor: ('storage', type, key, device, elements). `nested`: it lies in the pickle itself. */
static assay_status storage_id(torch_walker *w, const pickle_value *storage,
                               const pickle_value **id, inner_bytes *nested)
{
    *id = storage && storage->kind == PICKLE_PERSISTENT ? storage->of : NULL;
    if (*id || !storage || storage->kind != PICKLE_OBJECT || !storage->of ||
        !str_ends(storage->of->text, "._load_from_bytes") ||
        !find_bytes(pickle_item(storage->args, 0), nested))
        return ASSAY_OK;
    pickle_value *inner = NULL;
    uint64_t start = 0;
    TRY(read_nested(w, nested, &inner, &start));
    nested->at += start;
    nested->n -= start < nested->n ? start : nested->n;
    *id = inner;
    return ASSAY_OK;
}

/* ---- one tensor ---- */

static assay_status finish_item(torch_walker *w, weight_item *item, int type)
{
    if (item->n_elems > NUM_SATURATED / 128)
        return torch_fail_tensor(w, "has too many elements to count");
    item->size_bytes = item->n_elems * types[type].bits / 8;
    item->name = own_name(w);
    TRY_MEMORY(item->name.p, w->f->err);
    item->stored = str_of(types[type].stored);
    item->integer = types[type].integer;
    if (item->role == WEIGHT_ROLE_UNTOLD)
        item->role = role_by_name(item->name, item->integer);
    return ASSAY_OK;
}

static assay_status take_storage(torch_walker *w, const pickle_value *id, const inner_bytes *nested,
                                 unsigned bits, weight_item *item, uint64_t *stored)
{
    const pickle_value *count = pickle_item(id, 4);
    if (!nested->at)
        return check_storage(w, id, bits, item, stored);
    *stored = count && count->kind == PICKLE_INT && count->whole >= 0 ? (uint64_t)count->whole : 0;
    return nested->as_text || sat_mul(*stored, bits) / 8 <= nested->n
               ? ASSAY_OK
               : torch_fail_tensor(w, "has a storage that is too short");
}

assay_status torch_add_tensor(torch_walker *w, const pickle_value *args)
{
    const pickle_value *dtype = pickle_item(args, 6), *id = NULL;
    weight_item item = {.file = w->f->file, .role = w->role};
    inner_bytes nested = {0};
    TRY(storage_id(w, pickle_item(args, 0), &id, &nested));
    int type = type_of(dtype) >= 0 ? type_of(dtype) : type_of(pickle_item(id, 1));
    if (!id || !pickle_item(id, 2))
        return torch_fail_tensor(w, "has no storage");
    if (type < 0)
        return torch_fail_tensor(w, "has a storage of unknown type");
    TRY(read_sizes(w, pickle_item(args, 2), &item));
    uint64_t stored = 0;
    TRY(take_storage(w, id, &nested, types[type].bits, &item, &stored));
    TRY(place_tensor(w, args, stored, types[type].bits, &item));
    item.offset += nested.at;
    item.placed &= !nested.as_text;
    TRY(finish_item(w, &item, type));
    TRY(tell_shared(w, id, pickle_item(args, 1), &item));
    return weight_set_add(w->f->set, &item, w->f->shown, w->f->err);
}

/* ---- NumPy ---- */

/* The row of numpy.dtype("f4"), and whether its bytes are in another order than ours. */
static int numpy_type(const pickle_value *dtype, bool *turned)
{
    static const char *const codes[N_TYPES] = {"f4", "f2", "",   "f8", "i8", "i4",
                                               "i2", "i1", "u1", "b1", "c8", "c16",
                                               "",   "",   "",   "u2", "u4", "u8"};
    const pickle_value *code = dtype && dtype->kind == PICKLE_OBJECT ? pickle_item(dtype->args, 0)
                                                                     : NULL;
    const pickle_value *order = code ? pickle_item(dtype->state, 1) : NULL;
    *turned = order && str_is(order->text, ">");
    for (int i = 0; code && i < N_TYPES; i++)
        if (codes[i] && codes[i][0] && str_is(code->text, codes[i]))
            return i;
    return -1;
}

typedef struct numpy_parts {
    const pickle_value *shape, *dtype, *bytes;
    bool columns; /* the first dimension is the one whose elements lie side by side */
} numpy_parts;

static bool numpy_parts_of(const pickle_value *v, numpy_parts *out)
{
    str name = v->of && v->of->kind == PICKLE_GLOBAL ? v->of->text : (str){0};
    *out = (numpy_parts){0};
    if (!str_starts(name, "numpy."))
        return false;
    if (str_ends(name, "._reconstruct") && v->state && v->state->items.n >= 5) {
        const pickle_value *order = pickle_item(v->state, 3);
        *out = (numpy_parts){pickle_item(v->state, 1), pickle_item(v->state, 2),
                             pickle_item(v->state, 4), order->whole != 0};
    } else if (str_ends(name, "._frombuffer") && v->args) {
        const pickle_value *order = pickle_item(v->args, 3);
        *out = (numpy_parts){pickle_item(v->args, 2), pickle_item(v->args, 1),
                             pickle_item(v->args, 0), order && str_is(order->text, "F")};
    }
    return out->shape != NULL;
}

assay_status torch_add_array(torch_walker *w, const pickle_value *v, bool *is_array)
{
    numpy_parts parts;
    inner_bytes bytes;
    bool turned = false;
    weight_item item = {.file = w->f->file, .role = w->role};
    int type = numpy_parts_of(v, &parts) ? numpy_type(parts.dtype, &turned) : -1;
    *is_array = type >= 0;
    if (!*is_array)
        return ASSAY_OK;
    TRY(read_sizes(w, parts.shape, &item));
    TRY(finish_item(w, &item, type));
    item.placed = find_bytes(parts.bytes, &bytes) && !bytes.as_text && !turned && !parts.columns &&
                  bytes.n == item.size_bytes;
    item.offset = item.placed ? bytes.at : 0;
    return weight_set_add(w->f->set, &item, w->f->shown, w->f->err);
}
