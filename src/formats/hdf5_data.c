/* HDF5: types, shapes, data sets and attributes; see hdf5.h. */
#include <string.h>

#include "base/num.h"
#include "formats/hdf5_impl.h"

enum { TEXTS_MAX = 1 << 20 };

/* ---- types ---- */

static ir_dtype int_type(unsigned size, bool is_signed)
{
    static const ir_dtype plain[] = {IR_UINT8, IR_UINT16, IR_UINT32, IR_UINT64};
    static const ir_dtype with_sign[] = {IR_INT8, IR_INT16, IR_INT32, IR_INT64};
    for (unsigned i = 0; i < 4; i++)
        if (size == 1u << i)
            return is_signed ? with_sign[i] : plain[i];
    return IR_UNDEFINED;
}

/* Behind the head: bit offset, precision, exponent's place and size, mantissa's. */
static ir_dtype float_type(hdf5 *h, uint64_t at, unsigned size)
{
    if (size == 2)
        return hdf5_number(h, at + 8 + 5, 1) == 8 ? IR_BFLOAT16 : IR_FLOAT16;
    return size == 4 ? IR_FLOAT32 : size == 8 ? IR_FLOAT64 : IR_UNDEFINED;
}

hdf5_type hdf5_read_type(hdf5 *h, uint64_t at, uint64_t n)
{
    enum { HEAD = 8, BIG_ENDIAN_BIT = 1, SIGNED_BIT = 8, VLEN_TEXT = 1 };
    hdf5_type t = {.dtype = IR_UNDEFINED};
    if (n < HEAD)
        hdf5_fail(h, at, "a type is cut");
    uint64_t bits = hdf5_number(h, at + 1, 3);
    t.cls = (unsigned)hdf5_number(h, at, 1) & 15;
    t.size = (unsigned)hdf5_number(h, at + 4, 4);
    t.vlen_text = t.cls == HDF5_CLASS_VLEN && (bits & 15) == VLEN_TEXT;
    t.big_endian = t.cls <= HDF5_CLASS_FLOAT && t.size > 1 && (bits & BIG_ENDIAN_BIT);
    if (t.cls == HDF5_CLASS_INT)
        t.dtype = int_type(t.size, bits & SIGNED_BIT);
    else if (t.cls == HDF5_CLASS_FLOAT && n >= HEAD + 12)
        t.dtype = float_type(h, at, t.size);
    else if (t.cls == HDF5_CLASS_ENUM && t.size == 1) /* what h5py makes of numpy's bool */
        t.dtype = IR_BOOL;
    else if (t.cls == HDF5_CLASS_TEXT || t.vlen_text)
        t.dtype = IR_STRING;
    return t;
}

int hdf5_read_space(hdf5 *h, uint64_t at, uint64_t n, int64_t dims[HDF5_MAX_RANK])
{
    enum { NULL_SPACE = 2 };
    unsigned version = (unsigned)hdf5_number(h, at, 1), rank = (unsigned)hdf5_number(h, at + 1, 1);
    uint64_t first = version == 1 ? 8 : 4;
    if (version == 2 && hdf5_number(h, at + 3, 1) == NULL_SPACE)
        return -1;
    if (!h->failed &&
        (rank > HDF5_MAX_RANK || n < first || (n - first) / h->n_length < rank || version > 2))
        hdf5_fail(h, at, "a damaged shape");
    for (unsigned d = 0; d < rank && !h->failed; d++) {
        uint64_t size = hdf5_length(h, at + first + d * (uint64_t)h->n_length);
        if (size > INT64_MAX)
            hdf5_fail(h, at, "a size is too large");
        dims[d] = (int64_t)size;
    }
    return h->failed ? 0 : (int)rank;
}

/* ---- data sets ---- */

static void take_piece(hdf5 *h, hdf5_data *d, uint64_t at, uint64_t n)
{
    d->place = at == HDF5_NONE ? HDF5_NOWHERE : HDF5_ONE_PIECE;
    if (at == HDF5_NONE)
        return;
    if (!h->failed && (at > h->size || n > h->size - at))
        hdf5_fail(h, at < h->size ? at : h->size, "the data of a tensor lies outside the file");
    d->offset = h->start + at;
    d->length = n;
}

/* Versions 1 and 2: rank, class, then the address and sizes of 32 bits; the piece is as long as its elements. */
static void read_old_layout(hdf5 *h, const hdf5_message *m, hdf5_data *d, uint64_t bytes)
{
    unsigned rank = (unsigned)hdf5_number(h, m->at + 1, 1),
             cls = (unsigned)hdf5_number(h, m->at + 2, 1);
    uint64_t at = m->at + 8;
    if (cls == 1)
        take_piece(h, d, hdf5_address(h, at), bytes);
    else if (cls == 0)
        take_piece(h, d, at + 4 * (uint64_t)rank + 4, bytes);
    else
        d->place = HDF5_CHUNKS;
}

static void read_layout(hdf5 *h, const hdf5_message *m, hdf5_data *d, uint64_t bytes)
{
    unsigned version = (unsigned)hdf5_number(h, m->at, 1),
             cls = (unsigned)hdf5_number(h, m->at + 1, 1);
    if (h->failed)
        return;
    if (version < 3)
        read_old_layout(h, m, d, bytes);
    else if (cls == 0)
        take_piece(h, d, m->at + 4, hdf5_number(h, m->at + 2, 2));
    else if (cls == 1)
        take_piece(h, d, hdf5_address(h, m->at + 2), hdf5_length(h, m->at + 2 + h->n_offset));
    else
        d->place = HDF5_CHUNKS;
}

static uint64_t bytes_of(const hdf5_data *d, unsigned size)
{
    uint64_t n = size;
    for (int i = 0; i < d->rank; i++)
        n = sat_mul(n, (uint64_t)d->dims[i]);
    return n;
}

hdf5_data hdf5_describe(hdf5 *h, uint64_t object)
{
    enum { SHARED = 2 };
    hdf5_data d = {.rank = 0};
    const hdf5_header o = hdf5_read_header(h, object);
    const hdf5_message *space = hdf5_message_of(&o, HDF5_DATASPACE),
                       *type = hdf5_message_of(&o, HDF5_DATATYPE),
                       *layout = hdf5_message_of(&o, HDF5_LAYOUT);
    d.is_data = space && type && layout;
    if (!d.is_data || h->failed)
        return d;
    d.rank = hdf5_read_space(h, space->at, space->n, d.dims);
    if (d.rank < 0) {
        d.rank = 1;
        d.dims[0] = 0;
    }
    hdf5_type t = {.dtype = IR_UNDEFINED};
    if (!(type->flags & SHARED))
        t = hdf5_read_type(h, type->at, type->n);
    d.dtype = t.dtype;
    d.big_endian = t.big_endian;
    d.filtered = hdf5_message_of(&o, HDF5_FILTERS) != NULL;
    read_layout(h, layout, &d, bytes_of(&d, t.size));
    return d;
}

/* ---- attributes ---- */

typedef struct attribute {
    str name;
    hdf5_type type;
    int rank;
    int64_t dims[HDF5_MAX_RANK];
    uint64_t data, n_data;
} attribute;

static uint64_t padded(uint64_t n, bool pad)
{
    return pad ? (n + 7) & ~UINT64_C(7) : n;
}

/* Version 1 pads its parts to 8 bytes; version 3 has a character set. */
static void read_attribute(hdf5 *h, const hdf5_message *m, attribute *a)
{
    uint64_t version = hdf5_number(h, m->at, 1), n[3], at = m->at + 8 + (version == 3), used;
    for (unsigned i = 0; i < 3; i++)
        n[i] = hdf5_number(h, m->at + 2 + 2 * (uint64_t)i, 2);
    bool pad = version == 1;
    used = at - m->at + padded(n[0], pad) + padded(n[1], pad) + padded(n[2], pad);
    if (!h->failed && (version < 1 || version > 3 || used > m->n))
        hdf5_fail(h, m->at, "a damaged attribute");
    a->name = hdf5_text(h, at, n[0]);
    while (a->name.n && a->name.p[a->name.n - 1] == 0)
        a->name.n--;
    at += padded(n[0], pad);
    a->type = hdf5_read_type(h, at, n[1]);
    at += padded(n[1], pad);
    a->rank = hdf5_read_space(h, at, n[2], a->dims);
    a->data = at + padded(n[2], pad);
    a->n_data = m->n - used;
}

/* Object `index` of a collection in the global heap. */
static str heap_object(hdf5 *h, uint64_t heap, uint64_t index, uint64_t n)
{
    if (!hdf5_is(h, heap, "GCOL"))
        hdf5_fail(h, heap, "a text is not where it should be");
    uint64_t size = hdf5_length(h, heap + 8), at = heap + padded(8 + h->n_length, true);
    if (!h->failed && (heap > h->size || size > h->size - heap))
        hdf5_fail(h, heap, "a heap lies outside the file");
    const uint64_t head = padded(8 + h->n_length, true);
    while (!h->failed && at - heap + head <= size) {
        uint64_t own = hdf5_number(h, at, 2), bytes = hdf5_length(h, at + 8);
        if (h->failed || own == 0 || bytes > size)
            break;
        if (own == index)
            return hdf5_text(h, at + head, bytes < n ? bytes : n);
        at += head + padded(bytes, true);
    }
    hdf5_fail(h, heap, "a text is not in its heap");
    return (str){0};
}

static str text_item(hdf5 *h, const attribute *a, uint64_t i)
{
    if (a->type.vlen_text) {
        uint64_t at = a->data + i * (8 + (uint64_t)h->n_offset), n = hdf5_number(h, at, 4);
        uint64_t heap = hdf5_address(h, at + 4);
        uint64_t index = hdf5_number(h, at + 4 + h->n_offset, 4);
        return n == 0 || heap == 0 ? STR("") : heap_object(h, heap, index, n);
    }
    str s = hdf5_text(h, a->data + i * a->type.size, a->type.size);
    const char *end = s.n ? memchr(s.p, 0, s.n) : NULL;
    return (str){s.p, end ? (uint32_t)(end - s.p) : s.n};
}

static void take_texts(hdf5 *h, const attribute *a, hdf5_texts *out)
{
    uint64_t n = a->rank < 0 ? 0 : 1,
             size = a->type.vlen_text ? 8 + (uint64_t)h->n_offset : a->type.size;
    for (int d = 0; d < a->rank; d++)
        n = sat_mul(n, (uint64_t)a->dims[d]);
    if (n > TEXTS_MAX || sat_mul(n, size) > a->n_data) {
        hdf5_fail(h, a->data, "an attribute is longer than its object");
        return;
    }
    out->there = true;
    for (uint64_t i = 0; i < n && !h->failed; i++)
        if (!VEC_ADD(h->a, &out->list, text_item(h, a, i))) {
            err_no_memory(h->err);
            h->failed = true;
        }
}

/* Version, flags, [an index], then the fractal heap of many attributes. */
static void check_dense(hdf5 *h, const hdf5_message *m)
{
    unsigned flags = (unsigned)hdf5_number(h, m->at + 1, 1);
    if (hdf5_address(h, m->at + 2 + (flags & 1 ? 2u : 0)) != HDF5_NONE)
        hdf5_refuse(h, m->at,
                    "an object keeps its attributes in a fractal heap, which is not read");
}

/* Only the attribute of that name is read further than its name. */
static bool has_name(hdf5 *h, const hdf5_message *m, const char *name)
{
    char b[64];
    uint64_t version = hdf5_number(h, m->at, 1), n = hdf5_number(h, m->at + 2, 2);
    size_t length = strlen(name);
    if (h->failed || n < length || length + 1 > sizeof b || n > length + 8 ||
        !hdf5_bytes(h, m->at + 8 + (version == 3), b, length))
        return false;
    return memcmp(b, name, length) == 0 &&
           (n == length || hdf5_number(h, m->at + 8 + (version == 3) + length, 1) == 0);
}

hdf5_texts hdf5_attribute(hdf5 *h, uint64_t object, const char *name)
{
    hdf5_texts out = {0};
    const hdf5_header o = hdf5_read_header(h, object);
    for (uint32_t i = 0; i < o.list.n && !h->failed; i++) {
        const hdf5_message *m = &o.list.items[i];
        attribute a = {0};
        if (m->type == HDF5_ATTRIBUTE_INFO)
            check_dense(h, m);
        if (m->type != HDF5_ATTRIBUTE || !has_name(h, m, name))
            continue;
        read_attribute(h, m, &a);
        if (!h->failed && (a.type.cls == HDF5_CLASS_TEXT || a.type.vlen_text))
            take_texts(h, &a, &out);
        break;
    }
    if (h->failed)
        out = (hdf5_texts){0};
    return out;
}
