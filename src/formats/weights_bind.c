/* Gives the constants of a model that a builder made the numbers of a file of weights.
 *
 * A tensor is read when somebody asks for its bytes (an export, a run), never by an analysis. The file may store it in
 * another type of floats, the other way round, or with strides of its own (a view of a larger storage). Tensors that are
 * packed, quantised or stacked have no numbers that fit: such a model keeps constants without data.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/num.h"
#include "formats/weights.h"
#include "formats/zip.h"
#include "ir/made.h"

typedef struct bound_file {
    const char *path;
    source *src; /* NULL until it is needed */
    bool borrowed;
    uint64_t entry;   /* of the deflated entry that is unpacked now, plus 1; or 0 */
    source *unpacked; /* its bytes */
    uint8_t *unpacked_bytes;
} bound_file;

typedef struct bound_files {
    bound_file *list;
    uint32_t n;
} bound_files;

typedef struct bound {
    ir_maker maker;
    bound_file *file;
    uint64_t entry, offset; /* as in weight_item */
    uint64_t packed, unpacked;
    ir_dtype from, to;
    int rank;
    const int64_t *dims, *strides; /* in elements; strides NULL: one after the other */
} bound;

/* ---- reading ---- */

static void forget_unpacked(bound_file *f)
{
    source_close(f->unpacked);
    free(f->unpacked_bytes);
    f->unpacked = NULL;
    f->unpacked_bytes = NULL;
    f->entry = 0;
}

/* One deflated entry at a time is in memory. */
static assay_status unpack_bound(const bound *w, assay_error *err)
{
    bound_file *f = w->file;
    const zip_entry e = {
        .header = w->entry - 1, .packed = w->packed, .size = w->unpacked, .method = ZIP_DEFLATED};
    if (f->entry == w->entry)
        return ASSAY_OK;
    forget_unpacked(f);
    if (e.size > ZIP_MAX_UNPACKED)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "a compressed tensor of more than 512 MiB. Save the file again without "
                        "compression.");
    f->unpacked_bytes = memory_alloc((size_t)e.size + 1);
    TRY_MEMORY(f->unpacked_bytes, err);
    TRY(zip_unpack_into(f->src, &e, f->unpacked_bytes, err));
    TRY(source_memory(f->unpacked_bytes, e.size, &f->unpacked, err));
    f->entry = w->entry;
    return ASSAY_OK;
}

static assay_status open_bound(bound *w, assay_error *err)
{
    if (!w->file->src)
        TRY(source_open(w->file->path, &w->file->src, err));
    if (w->packed)
        return unpack_bound(w, err);
    if (w->entry) {
        cursor c;
        const zip_entry e = {.header = w->entry - 1, .packed = 0};
        TRY(zip_open(w->file->src, &e, &c, err));
        w->offset += c.pos;
        w->entry = 0;
    }
    return ASSAY_OK;
}

static source *source_of(const bound *w)
{
    return w->packed ? w->file->unpacked : w->file->src;
}

static uint64_t place_of(const bound *w, uint64_t element)
{
    uint64_t at = 0;
    for (int d = w->rank - 1; d >= 0; d--) {
        at += (element % (uint64_t)w->dims[d]) * (uint64_t)w->strides[d];
        element /= (uint64_t)w->dims[d];
    }
    return at;
}

/* Elements [first, first + n) in the type of the file. */
static assay_status read_elements(bound *w, uint64_t first, uint64_t n, uint8_t *buf,
                                  assay_error *err)
{
    uint64_t size = ir_dtype_bytes(w->from, 1);
    if (!w->strides)
        return source_read(source_of(w), w->offset + first * size, buf, n * size, err);
    uint64_t low = UINT64_MAX, high = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = place_of(w, first + i);
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    uint8_t *span = memory_zeroed((size_t)(high - low + 1), (size_t)size);
    assay_status s = span ? source_read(source_of(w), w->offset + low * size, span,
                                        (high - low + 1) * size, err)
                          : err_no_memory(err);
    for (uint64_t i = 0; s == ASSAY_OK && i < n; i++)
        memcpy(buf + i * size, span + (place_of(w, first + i) - low) * size, (size_t)size);
    free(span);
    return s;
}

/* Whole elements that cover bytes [from, from + n) of the target. */
static assay_status make_bound(void *ctx, const ir_reader *r, uint64_t from, size_t n, void *buf,
                               assay_error *err)
{
    bound *w = ctx;
    uint64_t to = ir_dtype_bytes(w->to, 1), first = from / to, last = (from + n + to - 1) / to;
    uint64_t stored = ir_dtype_bytes(w->from, 1), count = last - first;
    (void)r;
    if (!n)
        return ASSAY_OK;
    TRY(open_bound(w, err));
    uint8_t *raw = memory_zeroed((size_t)count, (size_t)(stored + to));
    assay_status s = raw ? read_elements(w, first, count, raw, err) : err_no_memory(err);
    if (s == ASSAY_OK) {
        uint8_t *cast = raw + count * stored;
        if (w->from == w->to)
            cast = raw;
        else
            ir_cast(w->from, raw, count, w->to, cast);
        memcpy(buf, cast + (from - first * to), n);
    }
    free(raw);
    return s;
}

static assay_status read_inline(void *ctx, const ir_tensor *t, void *buf, assay_error *err)
{
    (void)ctx;
    if (t->storage != IR_DATA_INLINE)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "tensor '" STR_FMT "' has no data",
                        STR_ARG(t->name));
    memcpy(buf, t->bytes, (size_t)t->size_bytes);
    return ASSAY_OK;
}

static void close_files(void *ctx)
{
    bound_files *f = ctx;
    for (uint32_t i = 0; i < f->n; i++) {
        forget_unpacked(&f->list[i]);
        if (!f->list[i].borrowed)
            source_close(f->list[i].src);
    }
}

/* ---- binding ---- */

/* Strides of the file's tensor in the order of the constant's dimensions; NULL if they are plain. */
static const int64_t *strides_of(ir_model *m, const weight_item *x, const ir_tensor *t, bool turned)
{
    if (!x->strides && !turned)
        return NULL;
    int64_t *s = ARENA_ARRAY(m->arena, int64_t, (size_t)x->rank + 1), plain = 1;
    for (int d = x->rank - 1; s && d >= 0; plain *= x->dims[d--])
        s[d] = x->strides ? x->strides[d] : plain;
    if (s && turned && t->rank >= 2) {
        int64_t last = s[t->rank - 1];
        s[t->rank - 1] = s[t->rank - 2];
        s[t->rank - 2] = last;
    }
    return s;
}

static bool can_bind(const weight_item *x, const ir_tensor *t, ir_dtype from)
{
    return from != IR_UNDEFINED && ir_dtype_get(from)->bits >= 8 && x->n_elems == t->n_elems &&
           x->rank == t->rank && t->n_elems > 0 &&
           (from == t->dtype || ir_can_cast(from, t->dtype)) && (x->entry || x->placed);
}

bool weights_bind(ir_model *m, struct bound_files *files, const weight_item *x, ir_id value)
{
    ir_value *v = ir_value_at(m, value);
    const ir_tensor *t = v->constant;
    ir_dtype from = ir_dtype_by_name(x->stored);
    const bound_file *file = &files->list[x->file];
    if (!can_bind(x, t, from) || (!file->path && !file->src))
        return true;
    bool turned = v->flags & IR_VALUE_TRANSPOSED;
    bound *w = ARENA_NEW(m->arena, bound);
    ir_tensor *own = arena_copy(m->arena, t, sizeof *t);
    if (!w || !own)
        return false;
    *w = (bound){.maker = {w, make_bound},
                 .file = &files->list[x->file],
                 .entry = x->entry,
                 .offset = x->offset,
                 .packed = x->packed,
                 .unpacked = x->unpacked,
                 .from = from,
                 .to = t->dtype,
                 .rank = t->rank,
                 .dims = t->dims,
                 .strides = strides_of(m, x, t, turned)};
    own->storage = IR_DATA_MADE;
    own->maker = &w->maker;
    own->offset = 0;
    own->length = own->size_bytes;
    v->constant = own;
    return w->strides || (!x->strides && !turned);
}

struct bound_files *weights_bind_begin(ir_model *m, const weight_set *w)
{
    bound_files *f = ARENA_NEW(m->arena, bound_files);
    bound_file *list = f ? ARENA_ARRAY(m->arena, bound_file, (size_t)w->files.n + 1) : NULL;
    if (!list)
        return NULL;
    *f = (bound_files){list, w->files.n};
    for (uint32_t i = 0; i < w->files.n; i++)
        if (w->files.items[i].path.n &&
            !(list[i].path = str_copy(m->arena, w->files.items[i].path).p))
            return NULL;
    if (!m->reader.read)
        m->reader = (ir_reader){.ctx = f, .read = read_inline, .close = close_files};
    return f;
}

struct bound_files *weights_bind_sources(ir_model *m, source *const *sources, uint32_t n)
{
    bound_files *f = ARENA_NEW(m->arena, bound_files);
    bound_file *list = f ? ARENA_ARRAY(m->arena, bound_file, (size_t)n + 1) : NULL;
    if (!list)
        return NULL;
    *f = (bound_files){list, n};
    for (uint32_t i = 0; i < n; i++) {
        list[i].src = sources[i];
        list[i].borrowed = i == 0;
    }
    return f;
}

/* A reader of the file's own constants, around which bound ones are kept. */
typedef struct kept_files {
    ir_reader inner;
    bound_files *files;
} kept_files;

static assay_status read_inner(void *ctx, const ir_tensor *t, void *buf, assay_error *err)
{
    const kept_files *k = ctx;
    return k->inner.read(k->inner.ctx, t, buf, err);
}

static void close_kept(void *ctx)
{
    const kept_files *k = ctx;
    close_files(k->files);
    if (k->inner.close)
        k->inner.close(k->inner.ctx);
}

assay_status weights_bind_end(ir_model *m, struct bound_files *files, assay_error *err)
{
    kept_files *k = ARENA_NEW(m->arena, kept_files);
    TRY_MEMORY(k, err);
    *k = (kept_files){m->reader, files};
    m->reader = (ir_reader){.ctx = k, .read = read_inner, .close = close_kept};
    return ir_reader_wrap(m, err);
}
