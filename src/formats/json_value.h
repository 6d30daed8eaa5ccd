/* JSON files as the values that architectures take their parameters from (zoo/args.h).
 *
 * What jansson reads is copied into an arena and limited in size and depth. Keys of an object keep the
 * order of the file; a key that stands twice is an error.
 */
#ifndef FORMATS_JSON_VALUE_H
#define FORMATS_JSON_VALUE_H

#include "zoo/args.h"

/* ASSAY_ERR_MALFORMED with line, column and byte offset. `shown` is what sentences call the text. */
assay_status json_value_parse(str text, const char *shown, arena *a, zoo_value *out,
                              assay_error *err);
/* A file of at most 16 MiB. */
assay_status json_value_read(const char *path, arena *a, zoo_value *out, assay_error *err);

/* The value of a key; NULL when `object` is none or has no such key. */
const zoo_value *json_value_get(const zoo_value *object, const char *key);
/* "a whole number", "a list", ... */
const char *json_value_kind(const zoo_value *v);

#endif
