/* The table of limits.h. */
#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
/* Texts have lengths of 32 bits. */
#define TEXT_MOST (4 * GIB - 64 * MIB)

const limit_row limit_table[LIMIT_IDS] = {
    [LIMIT_MODEL_MEMORY] = {"model-memory", "bytes", GIB, 1024 * GIB, "memory of a model's graph"},
    [LIMIT_ANALYSIS_MEMORY] = {"analysis-memory", "bytes", GIB, 1024 * GIB,
                               "memory of one analysis"},
    [LIMIT_RESULT_MEMORY] = {"result-memory", "bytes", GIB, 1024 * GIB, "memory of one result"},
    [LIMIT_DOCUMENT] = {"document", "bytes", 256 * MIB, TEXT_MOST,
                        "a result that is read or stored"},
    [LIMIT_JSON] = {"json", "bytes", 16 * MIB, TEXT_MOST,
                    "a configuration or another small JSON file"},
    [LIMIT_INDEX] = {"index", "bytes", 64 * MIB, TEXT_MOST, "the index of sharded weights"},
    [LIMIT_TENSOR] = {"tensor", "bytes", 2 * GIB, TEXT_MOST, "a file with an input"},
    [LIMIT_INLINED] = {"inlined-nodes", "nodes", 2000000, 1000000000,
                       "nodes of a graph with its functions inlined"},
    /* that of the safetensors library */
    [LIMIT_SAFETENSORS] = {"safetensors-header", "bytes", 100000000, TEXT_MOST,
                           "header of a safetensors file"},
    [LIMIT_IMPORT] = {"import", "bytes", GIB, TEXT_MOST, "a file for `history import`"},
    [LIMIT_SERVE_RESULT] = {"serve-result", "bytes", 64 * MIB, TEXT_MOST,
                            "a result that is uploaded to the dashboard"},
    [LIMIT_SERVE_MODEL] = {"serve-model", "bytes", 512 * MIB, GIB,
                           "a model that is uploaded to the dashboard"},
    [LIMIT_SERVE_BODIES] = {"serve-bodies", "bytes", GIB, 1024 * GIB, "all uploads in memory"},
    [LIMIT_SERVE_REPLIES] = {"serve-replies", "bytes", 256 * MIB, 1024 * GIB,
                             "all large replies in memory"},
    [LIMIT_SERVE_WORK] = {"serve-work", "bytes", 64 * MIB, 64 * GIB,
                          "records that the dashboard parses at the same time"},
    [LIMIT_MCP_MESSAGE] = {"mcp-message", "bytes", MIB, 64 * MIB, "a message to `assay mcp`"},
    [LIMIT_MCP_RESULT] = {"mcp-result", "bytes", MIB, 64 * MIB,
                          "the result of a call of `assay mcp`"},
    [LIMIT_MCP_TIME] = {"mcp-time", "seconds", 60, 86400, "a call of `assay mcp`"},
    [LIMIT_ID_QUERY] = {"query-time", "seconds", LIMIT_QUERY_S, 0, "a query of the history"},
    [LIMIT_ID_SERVE_TAGS] = {"serve-tags", "bytes", 64 << 10, 0, "a request that changes tags"},
    [LIMIT_ID_JSON_DEPTH] = {"json-depth", "levels", LIMIT_JSON_DEPTH, 0, "nesting of JSON"},
    [LIMIT_ID_NAME] = {"name", "bytes", LIMIT_NAME_BYTES, 0, "a name in an ONNX model"},
    [LIMIT_ID_GRAPH_DEPTH] = {"graph-depth", "levels", LIMIT_GRAPH_DEPTH, 0,
                              "graphs inside graphs of an ONNX model"},
    [LIMIT_ID_TAGS] = {"tags", "tags", LIMIT_TAGS, 0, "tags of a record"},
    [LIMIT_ID_TAG] = {"tag", "bytes", LIMIT_TAG_BYTES, 0, "a tag"},
    [LIMIT_ID_STORED_NAME] = {"stored-name", "bytes", LIMIT_STORED_NAME_BYTES, 0,
                              "a name in a stored result"},
    [LIMIT_ID_STORED_TEXT] = {"stored-text", "bytes", LIMIT_STORED_TEXT_BYTES, 0,
                              "a command line, or all inputs, of a stored result"},
};

static bool parse_value(const limit_row *r, str text, uint64_t *value)
{
    amount_unit unit = strcmp(r->unit, "bytes") == 0 ? AMOUNT_BYTES : AMOUNT_COUNT;
    return amount_parse_whole(unit, text, value) && *value >= 1 && *value <= r->most;
}

uint64_t limit_value(limit_id id)
{
    const limit_row *r = &limit_table[id];
    const char *set = r->most ? secure_getenv("ASSAY_LIMITS") : NULL;
    uint64_t value = r->value, given;
    str list = str_of(set ? set : "");
    for (str item; str_split(&list, ',', &item);) {
        str name = str_cut(&item, '=');
        if (str_is(name, r->name) && parse_value(r, item, &given))
            value = given;
    }
    return value;
}

/* "32MiB", "2000000": as it can be typed. */
static const char *typed(uint64_t value, const char *unit, char buf[32])
{
    bool mib = strcmp(unit, "bytes") == 0 && value % MIB == 0;
    snprintf(buf, 32, "%" PRIu64 "%s", mib ? value / MIB : value, mib ? "MiB" : "");
    return buf;
}

const char *limit_text(limit_id id, char buf[LIMIT_TEXT_BYTES])
{
    const limit_row *r = &limit_table[id];
    uint64_t value = limit_value(id), more = value > r->most / 2 ? r->most : 2 * value;
    char now[32], then[32];
    typed(value, r->unit, now);
    const char *unit = strchr(now, 'M') ? "" : r->unit;
    int n = snprintf(buf, LIMIT_TEXT_BYTES, " (limit `%s`: %s%s%s", r->name, now, *unit ? " " : "",
                     unit);
    if (r->most > value)
        snprintf(buf + n, LIMIT_TEXT_BYTES - (size_t)n, "; raise it with --raise-limit %s=%s)",
                 r->name, typed(more, r->unit, then));
    else
        snprintf(buf + n, LIMIT_TEXT_BYTES - (size_t)n, ", fixed)");
    return buf;
}

static assay_status check_item(str item, assay_error *err)
{
    str value = item, name = str_cut(&value, '=');
    uint64_t ignored;
    for (int i = 0; i < LIMIT_IDS; i++) {
        const limit_row *r = &limit_table[i];
        if (!str_is(name, r->name))
            continue;
        if (!r->most)
            return err_fail(err, ASSAY_ERR_USAGE, "the limit %s is fixed (`assay doctor --limits`)",
                            r->name);
        if (parse_value(r, value, &ignored))
            return ASSAY_OK;
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the limit %s must be 1 to %" PRIu64 " %s, got '%.*s'", r->name, r->most,
                        r->unit, (int)(value.n < 60 ? value.n : 60), value.p);
    }
    return err_fail(err, ASSAY_ERR_USAGE,
                    "unknown limit '%.*s'. `assay doctor --limits` lists them.",
                    (int)(name.n < 60 ? name.n : 60), name.p);
}

assay_status limit_check(const char *text, assay_error *err)
{
    str list = str_of(text ? text : "");
    for (str item; str_split(&list, ',', &item);)
        if (item.n)
            TRY(check_item(item, err));
    return ASSAY_OK;
}
