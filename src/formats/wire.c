#include "formats/wire.h"

#include <string.h>

#define MAX_GROUP_DEPTH  32
#define MAX_FIELD_NUMBER 536870911u /* 2^29 - 1 */

assay_status wire_status(const cursor *c)
{
    if (!c->failed)
        return ASSAY_OK;
    return c->err->code != ASSAY_OK ? c->err->code : ASSAY_ERR_MALFORMED;
}

static bool read_tag(cursor *c, uint32_t *number, wire_type *type)
{
    uint64_t tag = cursor_varint(c);
    uint64_t n = tag >> 3;
    if (c->failed)
        return false;
    if (n == 0 || n > MAX_FIELD_NUMBER) {
        cursor_fail(c, "invalid protobuf: field number out of range");
        return false;
    }
    *number = (uint32_t)n;
    *type = (wire_type)(tag & 7);
    return true;
}

static void read_payload(cursor *c, wire_field *f)
{
    switch (f->type) {
    case WIRE_VARINT:
        f->value = cursor_varint(c);
        break;
    case WIRE_FIXED64:
        f->value = cursor_u64le(c);
        break;
    case WIRE_FIXED32:
        f->value = cursor_u32le(c);
        break;
    case WIRE_LEN: {
        uint64_t n = cursor_varint(c);
        f->body = cursor_sub(c, n);
        break;
    }
    default:
        cursor_fail(c, "invalid protobuf: unknown wire type");
    }
}

/* Nearly every record of a model: a tag, and a length or number, of one or two bytes each. HEAD_MAX bytes at p can
 * be read. The length of the record, at `pos`; 0 for any other. */
enum { HEAD_MAX = 4 };
static inline uint64_t read_short(const uint8_t *p, uint64_t pos, wire_field *f)
{
    uint32_t tag = p[0], n, head = 2;
    if (tag >= 0x80) {
        tag = (tag & 0x7f) | (uint32_t) * ++p << 7;
        if (tag >= 1u << 14)
            return 0;
        head++;
    }
    n = p[1];
    if (n >= 0x80) {
        n = (n & 0x7f) | (uint32_t)p[2] << 7;
        if (n >= 1u << 14)
            return 0;
        head++;
    }
    if (tag & 5)
        return 0;
    f->number = tag >> 3;
    f->type = (wire_type)(tag & 7);
    f->start = pos;
    f->value = n;
    f->body.pos = pos + head;
    return f->type == WIRE_LEN ? head + n : head;
}

/* A field whose body is on the cursor's source; read_short() and read_any() set the rest. */
static inline wire_field field_of(const cursor *c)
{
    return (wire_field){.body = {.src = c->src, .err = c->err}};
}

/* Old-style groups end with a separate tag number, so they must be walked to be skipped. */
static void skip_group(cursor *c, uint32_t number)
{
    uint32_t open[MAX_GROUP_DEPTH] = {number};
    unsigned depth = 1;
    while (depth > 0 && !c->failed) {
        wire_field f = {.number = 0};
        if (!cursor_more(c)) {
            cursor_fail(c, "truncated file: unterminated protobuf group");
            return;
        }
        if (!read_tag(c, &f.number, &f.type))
            return;
        if (f.type == WIRE_GROUP && depth == MAX_GROUP_DEPTH)
            cursor_fail(c, "protobuf groups are nested deeper than 32 levels");
        else if (f.type == WIRE_GROUP)
            open[depth++] = f.number;
        else if (f.type == WIRE_GROUP_END && open[--depth] != f.number)
            cursor_fail(c, "invalid protobuf: a group ends with the wrong tag");
        else if (f.type != WIRE_GROUP_END)
            read_payload(c, &f);
    }
}

/* Not inlined: every record would save the registers that it needs. */
__attribute__((noinline)) static bool read_any(cursor *c, wire_field *f)
{
    while (cursor_more(c)) {
        f->start = c->pos;
        f->value = 0;
        f->body.failed = false;
        if (!read_tag(c, &f->number, &f->type))
            return false;
        if (f->type == WIRE_GROUP) {
            skip_group(c, f->number);
            continue;
        }
        read_payload(c, f);
        f->body.end = c->pos;
        return !c->failed;
    }
    return false;
}

/* A short record where the cursor stands, which moves past it. */
static inline bool read_short_at(cursor *c, wire_field *f)
{
    const source *s = c->src;
    uint64_t at = c->pos - s->window_pos, n;
    if (at >= s->window_len || s->window_len - at < HEAD_MAX)
        return false;
    n = read_short(s->window + at, c->pos, f);
    if (n == 0 || n > c->end - c->pos || f->number == 0)
        return false;
    f->body.end = c->pos += n;
    return true;
}

bool wire_next(cursor *c, wire_field *f)
{
    f->body = (cursor){.src = c->src, .err = c->err};
    return read_short_at(c, f) || read_any(c, f);
}

/* Past a record with this first byte whose length has one or two bytes; false for any other. */
static inline bool skip_short(cursor *c, uint32_t tag)
{
    const source *s = c->src;
    uint64_t at = c->pos - s->window_pos;
    if (at >= s->window_len || s->window_len - at < HEAD_MAX)
        return false;
    const uint8_t *p = s->window + at;
    uint32_t n = p[1] < 0x80 ? 2u + p[1] : 3 + ((p[1] & 0x7fu) | (uint32_t)p[2] << 7);
    if (p[0] != tag || (p[1] & p[2]) >= 0x80 || n > c->end - c->pos)
        return false;
    c->pos += n;
    return true;
}

uint32_t wire_count_leading(cursor c, uint32_t number)
{
    assay_error unsaid = {0};
    c.err = &unsaid;
    wire_field f = field_of(&c);
    uint32_t n = 0, tag = number << 3 | WIRE_LEN;
    while (c.pos != c.end && (skip_short(&c, tag) || (read_any(&c, &f) && f.number == number)))
        n++;
    return n;
}

static assay_status wrong_type(const wire_message *msg, const wire_field *f, cursor *c)
{
    c->failed = true;
    return err_fail_at(c->err, ASSAY_ERR_MALFORMED, f->start,
                       "damaged file or not ONNX: field %u of %s at byte %llu has wire type %d",
                       f->number, msg->name, (unsigned long long)f->start, (int)f->type);
}

/* Calls the handler of one record. */
static inline assay_status handle(const wire_message *msg, void *self, wire_field *f, cursor *c)
{
    if (f->number >= msg->n_rows || !msg->rows[f->number].handle)
        return ASSAY_OK;
    const wire_row *row = &msg->rows[f->number];
    if (!(row->accept & (1u << f->type)))
        return wrong_type(msg, f, c);
    TRY(row->handle(self, f));
    return f->body.failed ? wire_status(&f->body) : ASSAY_OK;
}

/* The short records from c->pos on, until a handler has moved the window. */
static assay_status walk_window(cursor *c, const wire_message *msg, void *self, wire_field *f)
{
    const source *s = c->src;
    const uint64_t base = s->window_pos, end = c->end, fills = s->fills;
    const uint8_t *window = s->window;
    uint64_t pos = c->pos, n, last = base + s->window_len;
    last = last - base < HEAD_MAX ? base : last - HEAD_MAX + 1;
    last = last < end ? last : end;
    if (pos < base)
        return ASSAY_OK;
    while (pos < last && s->fills == fills) {
        n = read_short(window + (pos - base), pos, f);
        if (n == 0 || n > end - pos || f->number == 0)
            break;
        f->body.end = pos += n;
        TRY(handle(msg, self, f, c));
    }
    c->pos = pos;
    return ASSAY_OK;
}

assay_status wire_walk(cursor *c, const wire_message *msg, void *self)
{
    wire_field f = field_of(c);
    while (c->pos != c->end) {
        TRY(walk_window(c, msg, self, &f));
        if (c->pos == c->end || !read_any(c, &f))
            break;
        TRY(handle(msg, self, &f, c));
    }
    return wire_status(c);
}

bool wire_scalar(wire_field *f, wire_type scalar, uint64_t *out)
{
    if (f->type != WIRE_LEN) {
        *out = f->value;
        bool first = f->number != 0;
        f->number = 0; /* an unpacked record holds one scalar */
        return first;
    }
    if (!cursor_more(&f->body))
        return false;
    *out = scalar == WIRE_VARINT    ? cursor_varint(&f->body)
           : scalar == WIRE_FIXED32 ? cursor_u32le(&f->body)
                                    : cursor_u64le(&f->body);
    return !f->body.failed;
}

float wire_f32(uint64_t bits)
{
    uint32_t b = (uint32_t)bits;
    float v;
    memcpy(&v, &b, sizeof v);
    return v;
}
