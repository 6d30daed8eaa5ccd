/* The protobuf wire format, walked in place: tags, the five record types, packed and unpacked
 * repeated scalars, unknown fields skipped (old-style groups too, to a bounded depth).
 *
 * A message kind is a table indexed by field number; wire_walk() calls the row's handler for each
 * record of it. A record whose field is in the table but whose wire type is not is malformed, as is
 * any length that leaves its range. Nothing is copied but what a handler asks for.
 *
 *     record  = tag payload      tag = varint(field_number << 3 | wire_type)
 *     payload = varint | 8 bytes | varint(length) bytes | group | 4 bytes
 */
#ifndef FORMATS_WIRE_H
#define FORMATS_WIRE_H

#include "base/source.h"

typedef enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_LEN = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_FIXED32 = 5,
} wire_type;

typedef struct wire_field {
    uint32_t number;
    wire_type type;
    uint64_t start; /* offset of the record's tag */
    uint64_t value; /* of VARINT, FIXED32 and FIXED64 records */
    cursor body;    /* of LEN records; its end is that of the record, also of others */
} wire_field;

/* Reads the next record, skipping groups. False at the end or after a failure: see wire_status. */
bool wire_next(cursor *c, wire_field *f);
/* How many records of this field a message begins with. What is wrong with one is said when it is read. */
uint32_t wire_count_leading(cursor c, uint32_t number);
/* ASSAY_OK, or the code of the failure that stopped the cursor. */
assay_status wire_status(const cursor *c);

typedef assay_status (*wire_handler)(void *self, wire_field *f);

/* What a row accepts. Repeated scalars come packed or one by one. */
enum {
    WIRE_IS_VARINT = 1u << WIRE_VARINT,
    WIRE_IS_FIXED64 = 1u << WIRE_FIXED64,
    WIRE_IS_LEN = 1u << WIRE_LEN,
    WIRE_IS_FIXED32 = 1u << WIRE_FIXED32,
    WIRE_ARE_VARINTS = WIRE_IS_VARINT | WIRE_IS_LEN,
    WIRE_ARE_FIXED32 = WIRE_IS_FIXED32 | WIRE_IS_LEN,
    WIRE_ARE_FIXED64 = WIRE_IS_FIXED64 | WIRE_IS_LEN,
};

typedef struct wire_row {
    uint8_t accept; /* WIRE_IS_ and WIRE_ARE_ bits */
    wire_handler handle;
} wire_row;

typedef struct wire_message {
    const char *name;     /* "TensorProto", for sentences */
    const wire_row *rows; /* indexed by field number; a row without handler is skipped */
    uint32_t n_rows;
} wire_message;

#define WIRE_MESSAGE(title, table)                                                              \
    {                                                                                           \
        .name = (title), .rows = (table), .n_rows = (uint32_t)(sizeof(table) / sizeof *(table)) \
    }

/* Walks a whole message. The first handler that fails stops it. */
assay_status wire_walk(cursor *c, const wire_message *msg, void *self);

/* The scalars of one record, packed or not. `scalar` is the wire type of a single one. */
bool wire_scalar(wire_field *f, wire_type scalar, uint64_t *out);

float wire_f32(uint64_t bits);

#endif
