/* The server of the Model Context Protocol: messages (message.c), the table of tools with their arguments (tools.c), and
 * the tools (tool_*.c), which call the functions of <assay/> and nothing else of the library above base/.
 *
 * A tool is a function and a row of the table. Its arguments are rows too: the JSON Schema that clients see, the checks
 * and the options of the library are made from them.
 *
 * Reference: https://modelcontextprotocol.io/specification/2025-11-25. Resources, prompts, sampling and progress are
 * not offered.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include <assay/assay.h>

#include "base/json_tree.h"
#include "base/json_write.h"

typedef enum mcp_type { MCP_TEXT, MCP_WHOLE, MCP_FLAG, MCP_TEXTS } mcp_type;

typedef struct mcp_argument {
    const char *name;
    mcp_type type;
    const char *about;
    const char *option; /* of the library that it sets; NULL: the tool reads it */
    bool required;
    uint32_t min, max; /* of a whole number, or of the items of a list; max 0: any */
} mcp_argument;

/* One call. The tool fills `text`, which a person reads, and `data`, an object that is open. */
typedef struct mcp_call {
    const json_value *arguments;
    assay_options *options;
    arena *arena;
    sbuf text;
    sbuf data_text;
    json_writer data;
} mcp_call;

typedef assay_status mcp_run(mcp_call *c, assay_error *err);

typedef struct mcp_tool {
    const char *name, *title, *about;
    const mcp_argument *const *arguments; /* NULL at the end */
    mcp_run *run;
} mcp_tool;

extern const mcp_tool mcp_tools[];
extern const size_t mcp_n_tools;

mcp_run mcp_list_models, mcp_list_devices; /* tool_lists.c */
mcp_run mcp_profile, mcp_compare, mcp_map; /* tool_study.c */
mcp_run mcp_explain_layer;                 /* tool_layer.c */

const mcp_tool *mcp_find_tool(str name);
void mcp_put_tools(json_writer *w); /* the list, as tools/list has it */
/* Whether the arguments are those of the tool; the sentence is in err otherwise. */
assay_status mcp_check_arguments(const mcp_tool *t, const json_value *arguments, assay_error *err);
/* Runs the tool in a process of its own and writes the result of the call, also of one that failed. */
void mcp_run_tool(const mcp_tool *t, const json_value *arguments, json_writer *w);

/* ---- for the tools (values.c) ---- */

const char *mcp_text(const mcp_call *c, const char *argument); /* NULL if it is not given */
int64_t mcp_whole(const mcp_call *c, const char *argument, int64_t otherwise);
/* The profile of a model, or a saved one: of a JSON file with a result. */
assay_status mcp_open_profile(mcp_call *c, const char *model, assay_result **out, assay_error *err);
/* The Markdown of a result into the text; its JSON as a tree. */
assay_status mcp_put_markdown(mcp_call *c, const assay_result *r, assay_error *err);
assay_status mcp_tree_of(mcp_call *c, const assay_result *r, json_value *out, assay_error *err);
/* Members of an object into the data. Of a list longer than MCP_LIST_MOST the rest is left out, and KEY_left_out is
 * their number. */
enum { MCP_LIST_MOST = 100 };
void mcp_put_members(mcp_call *c, const json_value *object, const char *const *keys);
void mcp_put_value(json_writer *w, const json_value *v);

#endif
