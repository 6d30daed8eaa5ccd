/* The limits on what is read and computed: one table. Code uses the constants; `assay doctor --limits` prints the rows.
 * A limit of bytes is of one model, analysis, result or file; reaching it is an error, never a smaller result.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define LIMIT_MODEL_BYTES       ((size_t)1 << 30)
#define LIMIT_ANALYSIS_BYTES    ((size_t)1 << 30)
#define LIMIT_RESULT_BYTES      ((size_t)1 << 30)
#define LIMIT_DOCUMENT_BYTES    ((uint64_t)256 << 20)
#define LIMIT_JSON_BYTES        ((uint64_t)16 << 20)
#define LIMIT_JSON_DEPTH        64
#define LIMIT_NAME_BYTES        ((uint64_t)1 << 20)
#define LIMIT_GRAPH_DEPTH       32
#define LIMIT_INLINED_NODES     2000000u
#define LIMIT_SAFETENSORS_BYTES ((uint64_t)100000000) /* that of the safetensors library */
#define LIMIT_IMPORT_BYTES      ((uint64_t)1 << 30)
#define LIMIT_TAGS              32
#define LIMIT_TAG_BYTES         64
#define LIMIT_STORED_NAME_BYTES 4096
#define LIMIT_STORED_TEXT_BYTES 65536
#define LIMIT_QUERY_S           60

typedef struct limit_row {
    const char *name, *unit;
    uint64_t value;
    const char *about;
} limit_row;

extern const limit_row limit_table[];
extern const uint32_t limit_table_n;

#endif
