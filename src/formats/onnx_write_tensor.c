/* TensorProto and the bytes behind it.
 *
 * Data goes into raw_data, strings into string_data, and what is external leaves its offset and length
 * here and its bytes in the other file, in the order of the tensors.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/num.h"
#include "formats/onnx_store.h"
#include "formats/onnx_write_impl.h"
#include "ir/made.h"

enum {
    DIMS = 1,
    DATA_TYPE = 2,
    STRING_DATA = 6,
    NAME = 8,
    RAW_DATA = 9,
    EXTERNAL = 13,
    LOCATION = 14
};
enum { SPARSE_VALUES = 1, SPARSE_INDICES = 2, SPARSE_DIMS = 3 };
enum { GRAPH_INITIALISER = 5, GRAPH_SPARSE_INITIALISER = 15 };

#define STRINGS_MAX (UINT64_C(1) << 24) /* that nobody has */

/* ---- bytes ---- */

static assay_status put_piece(const wire_sink *to, const void *p, size_t n, assay_error *err)
{
    return to->write(to->ctx, p, n, err);
}

static size_t next_piece(uint64_t left)
{
    return left < ONNX_PIECE_BYTES ? (size_t)left : ONNX_PIECE_BYTES;
}

static assay_status go_on(const onnx_writer *w)
{
    if (!w->opt.cancelled || !w->opt.cancelled(w->opt.ctx))
        return ASSAY_OK;
    return err_fail(w->out.err, ASSAY_ERR_INTERRUPTED, "interrupted: nothing was written");
}

/* Raw bytes can be asked for in parts: a slice of a slice. */
static assay_status copy_raw(onnx_writer *w, const ir_tensor *t, const wire_sink *to)
{
    ir_tensor part = *t;
    for (uint64_t at = 0; at < t->size_bytes; at += part.size_bytes) {
        part.offset = t->offset + at;
        part.length = part.size_bytes = next_piece(t->size_bytes - at);
        TRY(go_on(w));
        TRY(w->m->reader.read(w->m->reader.ctx, &part, w->piece, w->out.err));
        TRY(put_piece(to, w->piece, (size_t)part.size_bytes, w->out.err));
    }
    return ASSAY_OK;
}

/* Typed fields are decoded as a whole: one tensor is in memory. */
static assay_status copy_typed(onnx_writer *w, const ir_tensor *t, const wire_sink *to)
{
    uint8_t *all = memory_alloc((size_t)t->size_bytes);
    TRY_MEMORY(all, w->out.err);
    assay_status s = w->m->reader.read(w->m->reader.ctx, t, all, w->out.err);
    if (s == ASSAY_OK)
        s = put_piece(to, all, (size_t)t->size_bytes, w->out.err);
    free(all);
    return s;
}

static assay_status make_up(onnx_writer *w, const ir_tensor *t, str name, const onnx_fill *fill,
                            const wire_sink *to)
{
    onnx_filler f = onnx_filler_of(t, name, fill, w->opt.seed);
    for (uint64_t left = t->size_bytes; left > 0;) {
        size_t n = next_piece(left);
        TRY(go_on(w));
        onnx_filler_next(&f, w->piece, n);
        TRY(put_piece(to, w->piece, n, w->out.err));
        left -= n;
    }
    return ASSAY_OK;
}

typedef struct content {
    const ir_tensor *t;
    str name;
    const onnx_fill *fill; /* NULL: zeros when nobody has the bytes */
} content;

static assay_status put_content(onnx_writer *w, const content *c, const wire_sink *to, bool holes)
{
    const ir_tensor *t = c->t;
    if (t->size_bytes == 0)
        return ASSAY_OK;
    if (t->storage == IR_DATA_INLINE)
        return put_piece(to, t->bytes, (size_t)t->size_bytes, w->out.err);
    if (t->storage == IR_DATA_NONE)
        return holes ? to->zeros(to->ctx, t->size_bytes, w->out.err)
                     : make_up(w, t, c->name, c->fill, to);
    if (!w->m->reader.read)
        return err_fail(w->out.err, ASSAY_ERR_UNSUPPORTED,
                        "the model's weights are no longer readable");
    return t->encoding ? copy_typed(w, t, to) : copy_raw(w, t, to);
}

static void put_raw_data(onnx_writer *w, const content *c)
{
    wire_out *o = &w->out;
    if (c->t->n_stored == 0)
        return;
    wire_put_head(o, RAW_DATA, c->t->size_bytes);
    wire_put_passed(o, c->t->size_bytes);
    if (o->sink && o->status == ASSAY_OK)
        wire_out_fail(o, put_content(w, c, o->sink, false));
}

/* ---- external data ---- */

static void put_entry(wire_out *o, const char *key, str value)
{
    wire_open(o, EXTERNAL);
    wire_put_str(o, 1, str_of(key));
    wire_put_str(o, 2, value);
    wire_close(o);
}

static void put_number(wire_out *o, const char *key, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    put_entry(o, key, str_of(text));
}

static assay_status put_outside(onnx_writer *w, const content *c, uint64_t gap)
{
    if (gap > 0)
        TRY(w->data->zeros(w->data->ctx, gap, w->out.err));
    return put_content(w, c, w->data, w->opt.holes);
}

static void put_external(onnx_writer *w, const content *c)
{
    wire_out *o = &w->out;
    uint64_t n = c->t->size_bytes, gap = (0 - w->data_pos) % ONNX_EXTERNAL_ALIGN;
    put_entry(o, "location", w->location);
    put_number(o, "offset", w->data_pos + gap);
    put_number(o, "length", n);
    wire_put_int(o, LOCATION, 1);
    if (o->sink && o->status == ASSAY_OK)
        wire_out_fail(o, put_outside(w, c, gap));
    w->data_pos = sat_add(w->data_pos, sat_add(gap, n));
}

/* ---- strings ---- */

static void put_string(void *ctx, str s)
{
    wire_put_str(ctx, STRING_DATA, s);
}

/* Without their records the borders between strings are lost; then all but the first are empty. */
static void put_strings(onnx_writer *w, const ir_tensor *t)
{
    const ir_reader *r = ir_reader_below(&w->m->reader);
    if (t->length > 0 && onnx_store_is_reader(r)) {
        wire_out_fail(&w->out, onnx_store_strings(r->ctx, t, put_string, &w->out, w->out.err));
        return;
    }
    if (t->n_stored > STRINGS_MAX)
        wire_out_fail(&w->out, err_fail(w->out.err, ASSAY_ERR_UNSUPPORTED,
                                        "a tensor of %llu strings has no content to write",
                                        (unsigned long long)t->n_stored));
    for (uint64_t i = 0; i < t->n_stored && w->out.status == ASSAY_OK; i++) {
        bool first = i == 0 && t->storage == IR_DATA_INLINE;
        put_string(&w->out,
                   first ? (str){(const char *)t->bytes, (uint32_t)t->size_bytes} : STR(""));
    }
}

/* ---- tensors ---- */

/* `flat` is the length of the values of a sparse tensor, or -1. */
static void put_tensor(onnx_writer *w, uint32_t field, const content *c, bool outside, int64_t flat)
{
    wire_out *o = &w->out;
    const ir_tensor *t = c->t;
    wire_open(o, field);
    for (int i = 0; flat < 0 && i < t->rank; i++)
        wire_put_int(o, DIMS, t->dims[i]);
    if (flat >= 0)
        wire_put_int(o, DIMS, flat);
    wire_put_int(o, DATA_TYPE, t->dtype);
    if (!str_empty(c->name))
        wire_put_str(o, NAME, c->name);
    if (t->dtype == IR_STRING)
        put_strings(w, t);
    else if (outside)
        put_external(w, c);
    else
        put_raw_data(w, c);
    wire_close(o);
}

void onnx_write_sparse(onnx_writer *w, uint32_t field, str name, const ir_tensor *t)
{
    wire_out *o = &w->out;
    wire_open(o, field);
    put_tensor(w, SPARSE_VALUES, &(content){.t = t, .name = name}, false, (int64_t)t->n_stored);
    if (t->indices)
        put_tensor(w, SPARSE_INDICES, &(content){.t = t->indices}, false, -1);
    for (int i = 0; i < t->rank; i++)
        wire_put_int(o, SPARSE_DIMS, t->dims[i]);
    wire_close(o);
}

void onnx_write_tensor(onnx_writer *w, uint32_t field, const ir_tensor *t)
{
    put_tensor(w, field, &(content){.t = t, .name = t->name}, false, -1);
}

void onnx_write_initialiser(onnx_writer *w, ir_id value)
{
    const ir_value *v = ir_value_at(w->m, value);
    const ir_tensor *t = v->constant;
    content c = {.t = t, .name = v->name, .fill = &w->fills[value]};
    bool outside = w->external && t->dtype != IR_STRING && t->size_bytes > ONNX_EXTERNAL_MIN_BYTES;
    w->got.n_tensors++;
    w->got.n_random += t->storage == IR_DATA_NONE && t->n_elems > 0;
    if (t->sparse)
        onnx_write_sparse(w, GRAPH_SPARSE_INITIALISER, v->name, t);
    else
        put_tensor(w, GRAPH_INITIALISER, &c, outside, -1);
}
