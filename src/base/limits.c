/* The table of limits.h. */
#include "base/limits.h"

const limit_row limit_table[] = {
    {"model-memory", "bytes", LIMIT_MODEL_BYTES, "memory of a model's graph"},
    {"analysis-memory", "bytes", LIMIT_ANALYSIS_BYTES, "memory of one analysis"},
    {"result-memory", "bytes", LIMIT_RESULT_BYTES, "memory of one result"},
    {"document", "bytes", LIMIT_DOCUMENT_BYTES, "a result that is read or stored"},
    {"json", "bytes", LIMIT_JSON_BYTES, "a configuration or another small JSON file"},
    {"json-depth", "levels", LIMIT_JSON_DEPTH, "nesting of JSON"},
    {"name", "bytes", LIMIT_NAME_BYTES, "a name in an ONNX model"},
    {"graph-depth", "levels", LIMIT_GRAPH_DEPTH, "graphs inside graphs of an ONNX model"},
    {"inlined-nodes", "nodes", LIMIT_INLINED_NODES, "nodes of a graph with its functions inlined"},
    {"safetensors-header", "bytes", LIMIT_SAFETENSORS_BYTES, "header of a safetensors file"},
    {"import", "bytes", LIMIT_IMPORT_BYTES, "a file for `history import`"},
    {"tags", "tags", LIMIT_TAGS, "tags of a record"},
    {"tag", "bytes", LIMIT_TAG_BYTES, "a tag"},
    {"stored-name", "bytes", LIMIT_STORED_NAME_BYTES, "a name in a stored result"},
    {"stored-text", "bytes", LIMIT_STORED_TEXT_BYTES,
     "a command line, or all inputs, of a stored result"},
    {"query-time", "seconds", LIMIT_QUERY_S, "a query of the history"},
};
const uint32_t limit_table_n = sizeof limit_table / sizeof *limit_table;
