/* Shared by the files that walk the rows of described structs: fields.c, fields_read.c, fields_write.c. */
#ifndef BASE_FIELDS_IMPL_H
#define BASE_FIELDS_IMPL_H

#include "base/fields.h"

enum { FIELD_ROWS = 192 }; /* of one object of a file at most, splices included */

/* Whether the row applies to this struct (`when_at`). */
bool fields_is_written(const field *f, const void *base);
/* The value of a row. */
field_value fields_value(const field *f, const void *base);
/* Whether a row of this kind is a list (fields_write.c). */
bool fields_is_list(field_kind kind);
/* Makes a number unknown; texts, lists and pointers stay as they are. */
void fields_clear_row(const field *f, void *base);

#endif
