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

/* Nearly every record of a model: a field below 16 whose tag, and length or number of one or two bytes, lie in
 * the window. False, with the cursor where it was, for any other. */
static inline bool read_short(cursor *c, wire_field *f)
{
    const source *s = c->src;
    uint64_t at = c->pos - s->window_pos, left = c->end - c->pos;
    if (left < 3 || at >= s->window_len || s->window_len - at < 3)
        return false;
    const uint8_t *p = s->window + at;
    bool is_long = p[1] >= 0x80, is_len = (p[0] & 7) == WIRE_LEN;
    uint64_t n = is_long ? (p[1] & 0x7fu) | (unsigned)p[2] << 7 : p[1], head = is_long ? 3 : 2;
    if (p[0] < 8 || p[0] >= 0x80 || (p[1] & p[2]) >= 0x80 ||
        (is_len ? n > left - head : (p[0] & 7) != WIRE_VARINT))
        return false;
    f->number = p[0] >> 3;
    f->type = is_len ? WIRE_LEN : WIRE_VARINT;
    f->start = c->pos;
    f->value = n;
    f->body.pos = c->pos += head;
    f->body.end = f->end = c->pos += is_len ? n : 0;
    return true;
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
        f->end = c->pos;
        return !c->failed;
    }
    return false;
}

bool wire_next(cursor *c, wire_field *f)
{
    f->body = (cursor){.src = c->src, .err = c->err};
    return read_short(c, f) || read_any(c, f);
}

uint32_t wire_count_leading(cursor c, uint32_t number)
{
    assay_error unsaid = {0};
    c.err = &unsaid;
    wire_field f = field_of(&c);
    uint32_t n = 0;
    while (c.pos != c.end && (read_short(&c, &f) || read_any(&c, &f)) && f.number == number)
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

assay_status wire_walk(cursor *c, const wire_message *msg, void *self)
{
    const wire_row *rows = msg->rows;
    uint32_t n_rows = msg->n_rows;
    wire_field f = field_of(c);
    while (c->pos != c->end && (read_short(c, &f) || read_any(c, &f))) {
        if (f.number >= n_rows || !rows[f.number].handle)
            continue;
        const wire_row *row = &rows[f.number];
        if (!(row->accept & (1u << f.type)))
            return wrong_type(msg, &f, c);
        TRY(row->handle(self, &f));
        if (f.body.failed)
            return wire_status(&f.body);
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
