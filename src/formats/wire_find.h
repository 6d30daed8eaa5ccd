/* Fields of a protobuf message, looked up one at a time: for messages that are read in part or out of order. A cursor is a
 * whole message; one without a source (src NULL) is an absent message, which has no fields. A damaged message fails in the
 * error of its cursor and has no more fields. */
#ifndef FORMATS_WIRE_FIND_H
#define FORMATS_WIRE_FIND_H

#include "formats/wire.h"

bool wire_find(cursor message, uint32_t field, wire_field *out); /* the last of that number */
bool wire_has(cursor message, uint32_t field);
uint64_t wire_find_u64(cursor message, uint32_t field, uint64_t def);
double wire_find_f32(cursor message, uint32_t field, double def);
cursor wire_sub(cursor message, uint32_t field); /* empty when absent */

#endif
