/* HDF5: the superblock, object headers and groups; see hdf5.h. */
#include <string.h>

#include "formats/hdf5_impl.h"

enum { BLOCKS_MAX = 256, TREE_DEPTH = 16 };

/* ---- bytes ---- */

void hdf5_fail(hdf5 *h, uint64_t at, const char *what)
{
    if (!h->failed)
        err_fail_at(h->err, ASSAY_ERR_MALFORMED, h->start + at, "HDF5: %s", what);
    h->failed = true;
}

void hdf5_refuse(hdf5 *h, uint64_t at, const char *what)
{
    if (!h->failed)
        err_fail_at(h->err, ASSAY_ERR_UNSUPPORTED, h->start + at,
                    "HDF5: %s. Save the model again with the default settings of h5py.", what);
    h->failed = true;
}

assay_status hdf5_status(const hdf5 *h)
{
    return h->failed ? h->err->code : ASSAY_OK;
}

bool hdf5_bytes(hdf5 *h, uint64_t at, void *buf, uint64_t n)
{
    if (!h->failed && (at > h->size || n > h->size - at))
        hdf5_fail(h, at < h->size ? at : h->size, "an address lies outside the file");
    if (!h->failed && source_read(h->src, h->start + at, buf, n, h->err) != ASSAY_OK)
        h->failed = true;
    return !h->failed;
}

uint64_t hdf5_number(hdf5 *h, uint64_t at, unsigned n)
{
    uint8_t b[8];
    uint64_t v = 0;
    if (n > 8 || !hdf5_bytes(h, at, b, n))
        return 0;
    for (unsigned i = n; i-- > 0;)
        v = v << 8 | b[i];
    return v;
}

uint64_t hdf5_address(hdf5 *h, uint64_t at)
{
    uint64_t v = hdf5_number(h, at, h->n_offset);
    bool undefined = h->n_offset < 8 ? v == (UINT64_C(1) << 8 * h->n_offset) - 1 : v == UINT64_MAX;
    return undefined ? HDF5_NONE : v;
}

uint64_t hdf5_length(hdf5 *h, uint64_t at)
{
    return hdf5_number(h, at, h->n_length);
}

str hdf5_text(hdf5 *h, uint64_t at, uint64_t n)
{
    if (!h->failed && (n > HDF5_MAX_TEXT || at > h->size || n > h->size - at))
        hdf5_fail(h, at, "a text lies outside the file");
    char *p = h->failed ? NULL : arena_alloc(h->a, (size_t)n + 1);
    if (!h->failed && !p) {
        err_no_memory(h->err);
        h->failed = true;
    }
    if (h->failed || !hdf5_bytes(h, at, p, n))
        return (str){0};
    return (str){p, (uint32_t)n};
}

bool hdf5_is(hdf5 *h, uint64_t at, const char *signature)
{
    char b[4];
    return hdf5_bytes(h, at, b, 4) && memcmp(b, signature, 4) == 0;
}

/* ---- superblock ---- */

static void read_old_superblock(hdf5 *h, unsigned version)
{
    uint64_t at = version == 0 ? 24 : 28;
    h->n_offset = (unsigned)hdf5_number(h, 13, 1);
    h->n_length = (unsigned)hdf5_number(h, 14, 1);
    /* Four addresses, then the entry of the root group, whose second field is its header. */
    h->root = hdf5_address(h, at + 5 * (uint64_t)h->n_offset);
}

static void read_new_superblock(hdf5 *h)
{
    h->n_offset = (unsigned)hdf5_number(h, 9, 1);
    h->n_length = (unsigned)hdf5_number(h, 10, 1);
    h->root = hdf5_address(h, 12 + 3 * (uint64_t)h->n_offset);
}

static bool is_size(unsigned n)
{
    return n == 2 || n == 4 || n == 8;
}

assay_status hdf5_open(hdf5 *h, source *src, uint64_t start, uint64_t size, arena *a,
                       assay_error *err)
{
    char magic[8];
    *h = (hdf5){.src = src, .start = start, .size = size, .a = a, .err = err, .root = HDF5_NONE};
    if (hdf5_bytes(h, 0, magic, 8) && memcmp(magic, "\x89HDF\r\n\x1a\n", 8) != 0)
        hdf5_fail(h, 0, "no signature at its beginning");
    unsigned version = (unsigned)hdf5_number(h, 8, 1);
    if (!h->failed && version > 3)
        hdf5_refuse(h, 8, "a superblock newer than version 3");
    if (!h->failed && version < 2)
        read_old_superblock(h, version);
    else if (!h->failed)
        read_new_superblock(h);
    if (!h->failed && (!is_size(h->n_offset) || !is_size(h->n_length)))
        hdf5_fail(h, 8, "addresses of an unknown size");
    return hdf5_status(h);
}

/* ---- object headers ---- */

typedef struct blocks {
    struct {
        uint64_t at, n;
    } list[BLOCKS_MAX];
    unsigned n;
} blocks;

static void add_block(hdf5 *h, blocks *b, uint64_t at, uint64_t n)
{
    if (b->n == BLOCKS_MAX)
        hdf5_fail(h, at, "an object header has too many parts");
    else if (at > h->size || n > h->size - at)
        hdf5_fail(h, at < h->size ? at : h->size, "an object header lies outside the file");
    else {
        b->list[b->n].at = at;
        b->list[b->n++].n = n;
    }
}

static void add_message(hdf5 *h, hdf5_header *o, hdf5_message m)
{
    if (o->list.n >= HDF5_MAX_MESSAGES)
        hdf5_fail(h, m.at, "an object has too many messages");
    else if (!VEC_ADD(h->a, &o->list, m)) {
        err_no_memory(h->err);
        h->failed = true;
    }
}

static void continue_at(hdf5 *h, blocks *b, const hdf5_message *m, bool v2)
{
    uint64_t at = hdf5_address(h, m->at), n = hdf5_length(h, m->at + h->n_offset);
    if (v2 && !h->failed) { /* "OCHK" before, a checksum behind */
        if (n < 8 || !hdf5_is(h, at, "OCHK"))
            hdf5_fail(h, m->at, "a damaged object header");
        at += 4;
        n -= 8;
    }
    if (!h->failed)
        add_block(h, b, at, n);
}

/* The messages of one block. v2: with the bytes of the creation order, or without. */
static void read_block(hdf5 *h, hdf5_header *o, blocks *b, unsigned i, int order)
{
    const bool v2 = order >= 0;
    const uint64_t head = v2 ? 4 + (uint64_t)order : 8;
    uint64_t at = b->list[i].at, end = at + b->list[i].n;
    while (!h->failed && end - at >= head) {
        hdf5_message m = {.type = (unsigned)hdf5_number(h, at, v2 ? 1 : 2),
                          .n = hdf5_number(h, at + (v2 ? 1 : 2), 2),
                          .flags = (unsigned)hdf5_number(h, at + (v2 ? 3 : 4), 1),
                          .at = at + head};
        if (h->failed || m.n > end - m.at) {
            hdf5_fail(h, at, "a message is longer than its object header");
            return;
        }
        if (m.type == HDF5_CONTINUATION)
            continue_at(h, b, &m, v2);
        else if (m.type)
            add_message(h, o, m);
        at = m.at + m.n;
    }
}

/* Version 2: optional times and limits of attributes, then the size of the first block. */
static int open_new_header(hdf5 *h, uint64_t at, blocks *b)
{
    unsigned flags = (unsigned)hdf5_number(h, at + 5, 1), n = 1u << (flags & 3);
    uint64_t pos = at + 6 + (flags & 32 ? 16u : 0) + (flags & 16 ? 4u : 0);
    uint64_t size = hdf5_number(h, pos, n);
    if (!h->failed)
        add_block(h, b, pos + n, size);
    return flags & 4 ? 2 : 0;
}

hdf5_header hdf5_read_header(hdf5 *h, uint64_t at)
{
    hdf5_header o = {0};
    blocks b = {.n = 0};
    int order = -1;
    if (hdf5_is(h, at, "OHDR"))
        order = open_new_header(h, at, &b);
    else if (!h->failed && hdf5_number(h, at, 1) == 1)
        add_block(h, &b, at + 16, hdf5_number(h, at + 8, 4));
    else
        hdf5_fail(h, at, "no object header where one should be");
    for (unsigned i = 0; i < b.n && !h->failed; i++)
        read_block(h, &o, &b, i, order);
    if (h->failed)
        o.list.n = 0;
    return o;
}

const hdf5_message *hdf5_message_of(const hdf5_header *o, unsigned type)
{
    for (uint32_t i = 0; i < o->list.n; i++)
        if (o->list.items[i].type == type)
            return &o->list.items[i];
    return NULL;
}

/* ---- groups with symbol tables ---- */

typedef struct listing {
    hdf5_links *out;
    uint64_t names, n_names; /* data of the local heap */
} listing;

static void add_link(hdf5 *h, hdf5_links *out, str name, uint64_t at)
{
    if (++h->n_links > HDF5_MAX_LINKS)
        hdf5_fail(h, at, "too many links");
    else if (!VEC_ADD(h->a, &out->list, (hdf5_link){name, at})) {
        err_no_memory(h->err);
        h->failed = true;
    }
}

/* A name ends with a NUL within the heap. */
static str heap_name(hdf5 *h, const listing *l, uint64_t offset)
{
    char b[256];
    uint64_t n = 0, left = offset < l->n_names ? l->n_names - offset : 0;
    while (n < left && n < UINT16_MAX) {
        uint64_t part = left - n < sizeof b ? left - n : sizeof b;
        if (!hdf5_bytes(h, l->names + offset + n, b, part))
            return (str){0};
        const char *end = memchr(b, 0, (size_t)part);
        if (end)
            return hdf5_text(h, l->names + offset, n + (uint64_t)(end - b));
        n += part;
    }
    hdf5_fail(h, l->names, "the name of a link has no end");
    return (str){0};
}

static void list_symbols(hdf5 *h, const listing *l, uint64_t node)
{
    enum { SOFT = 2 };
    uint64_t n = hdf5_number(h, node + 6, 2), size = 2 * (uint64_t)h->n_offset + 24;
    for (uint64_t i = 0; i < n && !h->failed; i++) {
        uint64_t at = node + 8 + i * size;
        str name = heap_name(h, l, hdf5_number(h, at, h->n_offset));
        uint64_t object = hdf5_address(h, at + h->n_offset);
        if (!h->failed && hdf5_number(h, at + 2 * (uint64_t)h->n_offset, 4) != SOFT)
            add_link(h, l->out, name, object);
    }
}

static void walk_tree(hdf5 *h, const listing *l, uint64_t at, unsigned depth)
{
    if (depth > TREE_DEPTH || (!h->failed && ++h->n_links > HDF5_MAX_LINKS)) {
        hdf5_fail(h, at, "a group is too deep");
        return;
    }
    if (hdf5_is(h, at, "SNOD")) {
        list_symbols(h, l, at);
        return;
    }
    if (!hdf5_is(h, at, "TREE") || hdf5_number(h, at + 4, 1) != 0) {
        hdf5_fail(h, at, "a damaged group");
        return;
    }
    uint64_t n = hdf5_number(h, at + 6, 2), first = at + 8 + 2 * (uint64_t)h->n_offset;
    for (uint64_t i = 0; i < n && !h->failed; i++)
        walk_tree(h, l, hdf5_address(h, first + (i + 1) * h->n_length + i * (uint64_t)h->n_offset),
                  depth + 1);
}

static void list_table(hdf5 *h, const hdf5_message *m, hdf5_links *out)
{
    listing l = {.out = out};
    uint64_t tree = hdf5_address(h, m->at), heap = hdf5_address(h, m->at + h->n_offset);
    if (!hdf5_is(h, heap, "HEAP"))
        hdf5_fail(h, m->at, "a group has no names");
    l.n_names = hdf5_length(h, heap + 8);
    l.names = hdf5_address(h, heap + 8 + 2 * (uint64_t)h->n_length);
    if (!h->failed && (l.names > h->size || l.n_names > h->size - l.names))
        hdf5_fail(h, heap, "the names of a group lie outside the file");
    if (!h->failed)
        walk_tree(h, &l, tree, 0);
}

/* ---- groups with links in their header ---- */

static void list_message(hdf5 *h, const hdf5_message *m, hdf5_links *out)
{
    enum { HARD = 0 };
    unsigned flags = (unsigned)hdf5_number(h, m->at + 1, 1), n = 1u << (flags & 3);
    uint64_t at = m->at + 2;
    uint64_t kind = flags & 8 ? hdf5_number(h, at, 1) : HARD;
    at += (flags & 8 ? 1u : 0) + (flags & 4 ? 8u : 0) + (flags & 16 ? 1u : 0);
    uint64_t length = hdf5_number(h, at, n);
    str name = hdf5_text(h, at + n, length);
    if (!h->failed && kind == HARD)
        add_link(h, out, name, hdf5_address(h, at + n + length));
}

/* Version, flags, [an index], then the fractal heap, which small groups do without. */
static void check_dense(hdf5 *h, const hdf5_message *m)
{
    unsigned flags = (unsigned)hdf5_number(h, m->at + 1, 1);
    if (hdf5_address(h, m->at + 2 + (flags & 1 ? 8u : 0)) != HDF5_NONE)
        hdf5_refuse(h, m->at, "a group keeps its links in a fractal heap, which is not read");
}

hdf5_links hdf5_list(hdf5 *h, uint64_t group)
{
    hdf5_links out = {0};
    const hdf5_header o = hdf5_read_header(h, group);
    for (uint32_t i = 0; i < o.list.n && !h->failed; i++) {
        const hdf5_message *m = &o.list.items[i];
        if (m->type == HDF5_SYMBOL_TABLE)
            list_table(h, m, &out);
        else if (m->type == HDF5_LINK)
            list_message(h, m, &out);
        else if (m->type == HDF5_LINK_INFO)
            check_dense(h, m);
    }
    if (h->failed)
        out.list.n = 0;
    return out;
}

uint64_t hdf5_find(hdf5 *h, uint64_t group, str name)
{
    const hdf5_links l = hdf5_list(h, group);
    for (uint32_t i = 0; i < l.list.n; i++)
        if (str_eq(l.list.items[i].name, name))
            return l.list.items[i].at;
    return HDF5_NONE;
}

uint64_t hdf5_find_path(hdf5 *h, uint64_t group, const char *path)
{
    str rest = str_of(path), part;
    while (group != HDF5_NONE && !h->failed && str_split(&rest, '/', &part))
        if (part.n)
            group = hdf5_find(h, group, part);
    return h->failed ? HDF5_NONE : group;
}
