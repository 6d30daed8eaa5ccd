/* Fields of a protobuf message, looked up one at a time; see wire_find.h. */
#include "formats/wire_find.h"

bool wire_find(cursor message, uint32_t field, wire_field *out)
{
    wire_field f;
    bool found = false;
    while (message.src && wire_next(&message, &f))
        if (f.number == field) {
            *out = f;
            found = true;
        }
    return found && !message.failed;
}

bool wire_has(cursor message, uint32_t field)
{
    wire_field f;
    return wire_find(message, field, &f);
}

uint64_t wire_find_u64(cursor message, uint32_t field, uint64_t def)
{
    wire_field f;
    return wire_find(message, field, &f) && f.type == WIRE_VARINT ? f.value : def;
}

double wire_find_f32(cursor message, uint32_t field, double def)
{
    wire_field f;
    return wire_find(message, field, &f) && f.type == WIRE_FIXED32 ? (double)wire_f32(f.value)
                                                                   : def;
}

cursor wire_sub(cursor message, uint32_t field)
{
    wire_field f;
    if (wire_find(message, field, &f) && f.type == WIRE_LEN)
        return f.body;
    message.pos = message.end;
    return message;
}
