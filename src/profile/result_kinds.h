/* The kinds of results, and reading a document of any of them. */
#ifndef PROFILE_RESULT_KINDS_H
#define PROFILE_RESULT_KINDS_H

#include "base/result.h"

extern const result_kind *const result_kinds[]; /* NULL after the last */
extern const uint32_t result_kinds_n;
extern const result_kind machine_kind; /* of device/, which report/ does not include */
/* By schema without its version, of several the one without a word; NULL if there is none. */
const result_kind *result_kind_find(str schema);
/* What documents of a schema are, for messages: "a measured machine"; NULL when it is none of ours. */
const char *result_what(str schema);

typedef struct result {
    const result_kind *kind;
    arena *arena; /* of the struct and of all that it points to */
    void *data;   /* kind->of->size bytes */
} result;

/* A document of any kind; `limit_bytes` bounds its arena. Freed by result_free(). */
assay_status result_read(str text, const char *shown, size_t limit_bytes, result *out,
                         assay_error *err);
void result_free(result *r); /* what was not read is allowed */

#endif
