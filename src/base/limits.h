/* The limits on what is read and computed: one table. `assay doctor --limits` prints the rows; code asks limit_value(), or
 * uses the constants of those that are fixed. A limit of bytes is of one model, analysis, result or file; reaching it is
 * an error that names the row, never a smaller result.
 *
 * The environment variable ASSAY_LIMITS sets others ("model-memory=4GiB,inlined-nodes=10M"), up to the row's `most`;
 * the command line's --raise-limit sets that variable. Limits that protect the stack, or that stored data relies on,
 * are fixed.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum limit_id {
    LIMIT_MODEL_MEMORY,
    LIMIT_ANALYSIS_MEMORY,
    LIMIT_RESULT_MEMORY,
    LIMIT_DOCUMENT,
    LIMIT_JSON,
    LIMIT_INDEX,
    LIMIT_TENSOR,
    LIMIT_INLINED,
    LIMIT_SAFETENSORS,
    LIMIT_IMPORT,
    LIMIT_SERVE_RESULT,
    LIMIT_SERVE_MODEL,
    LIMIT_SERVE_BODIES,
    LIMIT_SERVE_REPLIES,
    LIMIT_SERVE_WORK,
    LIMIT_MCP_MESSAGE,
    LIMIT_MCP_RESULT,
    LIMIT_MCP_TIME,
    /* fixed: */
    LIMIT_ID_QUERY,
    LIMIT_ID_SERVE_TAGS,
    LIMIT_ID_JSON_DEPTH,
    LIMIT_ID_NAME,
    LIMIT_ID_GRAPH_DEPTH,
    LIMIT_ID_TAGS,
    LIMIT_ID_TAG,
    LIMIT_ID_STORED_NAME,
    LIMIT_ID_STORED_TEXT,
    LIMIT_IDS
} limit_id;

#define LIMIT_MODEL_BYTES       ((size_t)limit_value(LIMIT_MODEL_MEMORY))
#define LIMIT_ANALYSIS_BYTES    ((size_t)limit_value(LIMIT_ANALYSIS_MEMORY))
#define LIMIT_RESULT_BYTES      ((size_t)limit_value(LIMIT_RESULT_MEMORY))
#define LIMIT_DOCUMENT_BYTES    limit_value(LIMIT_DOCUMENT)
#define LIMIT_IMPORT_BYTES      limit_value(LIMIT_IMPORT)
#define LIMIT_QUERY_S           60
#define LIMIT_JSON_DEPTH        64
#define LIMIT_NAME_BYTES        ((uint64_t)1 << 20)
#define LIMIT_GRAPH_DEPTH       32
#define LIMIT_TAGS              32
#define LIMIT_TAG_BYTES         64
#define LIMIT_STORED_NAME_BYTES 4096
#define LIMIT_STORED_TEXT_BYTES 65536

typedef struct limit_row {
    const char *name, *unit;
    uint64_t value, most; /* unless set; most 0: fixed */
    const char *about;
} limit_row;

extern const limit_row limit_table[LIMIT_IDS];

/* What holds now. Reads the environment: not for the innermost loops. */
uint64_t limit_value(limit_id id);
/* " (limit `json`: 16MiB; raise it with --raise-limit json=32MiB)", for sentences. */
#define LIMIT_TEXT_BYTES 160
const char *limit_text(limit_id id, char buf[LIMIT_TEXT_BYTES]);
/* The same until the end of the block. */
#define LIMIT_TEXT(id) limit_text((id), (char[LIMIT_TEXT_BYTES]){0})
/* ASSAY_ERR_USAGE when `text` is not as ASSAY_LIMITS must be; NULL and "" are. */
assay_status limit_check(const char *text, assay_error *err);

#endif
