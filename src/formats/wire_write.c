#include "formats/wire_write.h"

#include "formats/wire.h"

/* ---- sinks ---- */

static assay_status file_write(void *ctx, const void *p, size_t n, assay_error *err)
{
    return file_out_write(ctx, p, n, err);
}

static assay_status file_zeros(void *ctx, uint64_t n, assay_error *err)
{
    return file_out_hole(ctx, n, err);
}

wire_sink wire_sink_file(file_out *f)
{
    return (wire_sink){.ctx = f, .write = file_write, .zeros = file_zeros};
}

static assay_status sbuf_write(void *ctx, const void *p, size_t n, assay_error *err)
{
    sbuf *b = ctx;
    sbuf_put(b, p, n);
    return b->failed ? err_no_memory(err) : ASSAY_OK;
}

static assay_status sbuf_zeros(void *ctx, uint64_t n, assay_error *err)
{
    static const char zeros[4096] = {0};
    for (; n > 0; n -= n < sizeof zeros ? n : sizeof zeros)
        TRY(sbuf_write(ctx, zeros, n < sizeof zeros ? (size_t)n : sizeof zeros, err));
    return ASSAY_OK;
}

wire_sink wire_sink_sbuf(sbuf *b)
{
    return (wire_sink){.ctx = b, .write = sbuf_write, .zeros = sbuf_zeros};
}

/* ---- passes ---- */

void wire_out_start(wire_out *w, const wire_sink *sink)
{
    w->sink = sink;
    w->pos = 0;
    w->next = 0;
}

void wire_out_again(wire_out *w)
{
    w->pos = 0;
    w->lengths.n = w->open.n = 0;
}

void wire_out_fail(wire_out *w, assay_status status)
{
    if (w->status == ASSAY_OK)
        w->status = status;
}

/* ---- pieces ---- */

static void wire_put_raw(wire_out *w, const void *p, size_t n)
{
    if (w->status != ASSAY_OK)
        return;
    w->pos += n;
    if (w->sink && n > 0)
        wire_out_fail(w, w->sink->write(w->sink->ctx, p, n, w->err));
}

void wire_put_passed(wire_out *w, uint64_t n)
{
    w->pos += n;
}

static void put_varint(wire_out *w, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    wire_put_raw(w, bytes, n);
}

static void put_tag(wire_out *w, uint32_t field, wire_type type)
{
    put_varint(w, (uint64_t)field << 3 | type);
}

static unsigned varint_bytes(uint64_t v)
{
    unsigned n = 1;
    while (v >>= 7)
        n++;
    return n;
}

void wire_open(wire_out *w, uint32_t field)
{
    put_tag(w, field, WIRE_LEN);
    if (w->sink) {
        put_varint(w, w->next < w->lengths.n ? w->lengths.items[w->next++] : 0);
        return;
    }
    uint64_t *slot = VEC_PUSH(w->arena, &w->lengths);
    wire_mark *mark = VEC_PUSH(w->arena, &w->open);
    if (!slot || !mark)
        wire_out_fail(w, err_no_memory(w->err));
    else
        *mark = (wire_mark){.slot = w->lengths.n - 1, .start = w->pos};
}

void wire_close(wire_out *w)
{
    if (w->sink || w->status != ASSAY_OK || w->open.n == 0)
        return;
    wire_mark mark = w->open.items[--w->open.n];
    uint64_t n = w->pos - mark.start;
    w->lengths.items[mark.slot] = n;
    w->pos += varint_bytes(n);
}

void wire_put_int(wire_out *w, uint32_t field, int64_t v)
{
    put_tag(w, field, WIRE_VARINT);
    put_varint(w, (uint64_t)v);
}

void wire_put_float(wire_out *w, uint32_t field, double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    const uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                              (uint8_t)(bits >> 24)};
    put_tag(w, field, WIRE_FIXED32);
    wire_put_raw(w, bytes, sizeof bytes);
}

void wire_put_head(wire_out *w, uint32_t field, uint64_t n)
{
    put_tag(w, field, WIRE_LEN);
    put_varint(w, n);
}

void wire_put_str(wire_out *w, uint32_t field, str s)
{
    wire_put_head(w, field, s.n);
    wire_put_raw(w, s.p, s.n);
}
