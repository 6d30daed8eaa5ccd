#include "ir/made.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct wrapper {
    ir_reader self, inside;
    const ir_tensor *held; /* whose bytes are in `bytes`; NULL: nobody's */
    uint8_t *bytes;
} wrapper;

static assay_status no_data(const ir_tensor *t, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "tensor '%.*s' has no data",
                    (int)(t->name.n < 100 ? t->name.n : 100), t->name.p ? t->name.p : "");
}

static assay_status read_wrapped(void *ctx, const ir_tensor *t, void *buf, assay_error *err)
{
    wrapper *w = ctx;
    assert(buf || !t->size_bytes);
    if (t->storage == IR_DATA_MADE)
        return t->maker->make(t->maker->ctx, &w->self, t->offset, (size_t)t->size_bytes, buf, err);
    if (t->storage == IR_DATA_INLINE) {
        if (t->size_bytes)
            memcpy(buf, t->bytes, (size_t)t->size_bytes);
        return ASSAY_OK;
    }
    if (t->storage == IR_DATA_NONE || !w->inside.read)
        return no_data(t, err);
    return w->inside.read(w->inside.ctx, t, buf, err);
}

static void close_wrapped(void *ctx)
{
    wrapper *w = ctx;
    free(w->bytes);
    if (w->inside.close)
        w->inside.close(w->inside.ctx);
}

assay_status ir_reader_wrap(ir_model *m, assay_error *err)
{
    if (m->reader.read == read_wrapped)
        return ASSAY_OK;
    wrapper *w = ARENA_NEW(m->arena, wrapper);
    TRY_MEMORY(w, err);
    w->inside = m->reader;
    w->self = (ir_reader){.ctx = w, .read = read_wrapped, .close = close_wrapped};
    m->reader = w->self;
    return ASSAY_OK;
}

const ir_reader *ir_reader_below(const ir_reader *r)
{
    const wrapper *w = r->ctx;
    return r->read == read_wrapped ? &w->inside : r;
}

void ir_set_maker(ir_tensor *t, const ir_maker *maker)
{
    assert(maker && maker->make);
    t->storage = IR_DATA_MADE;
    t->maker = maker;
    t->encoding = 0;
    t->bytes = NULL;
    t->offset = 0;
    t->length = t->size_bytes;
    t->stored = (str){0};
    t->stored_bytes = 0;
}

/* The bytes are held only when they are complete: reading them may come by here again. */
assay_status ir_read_whole(const ir_reader *r, const ir_tensor *t, const uint8_t **out,
                           assay_error *err)
{
    wrapper *w = r->ctx;
    assert(r->read == read_wrapped);
    if (w->held != t) {
        uint8_t *bytes = memory_alloc(t->size_bytes ? (size_t)t->size_bytes : 1);
        assay_status s = bytes ? r->read(r->ctx, t, bytes, err) : err_no_memory(err);
        if (s != ASSAY_OK) {
            free(bytes);
            return s;
        }
        free(w->bytes);
        w->bytes = bytes;
        w->held = t;
    }
    *out = w->bytes;
    return ASSAY_OK;
}

assay_status ir_read_part(const ir_reader *r, const ir_tensor *t, uint64_t from, size_t n,
                          void *buf, assay_error *err)
{
    const uint8_t *all = t->bytes;
    assert(from <= t->size_bytes && n <= t->size_bytes - from);
    ir_tensor part = *t;
    if (t->storage != IR_DATA_INLINE && t->encoding == 0) {
        part.offset += from;
        part.length = part.size_bytes = n;
        return r->read(r->ctx, &part, buf, err);
    }
    if (t->storage != IR_DATA_INLINE)
        TRY(ir_read_whole(r, t, &all, err));
    memcpy(buf, all + from, n);
    return ASSAY_OK;
}
