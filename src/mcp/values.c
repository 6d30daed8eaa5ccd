/* Arguments of a call, and results of the library as JSON. */
#include <stdio.h>
#include <string.h>

#include "mcp/mcp.h"

/* ---- arguments ---- */

const char *mcp_text(const mcp_call *c, const char *argument)
{
    const json_value *v = json_get(c->arguments, argument);
    return v && v->kind == JSON_TEXT ? v->s.p : NULL;
}

int64_t mcp_whole(const mcp_call *c, const char *argument, int64_t otherwise)
{
    const json_value *v = json_get(c->arguments, argument);
    return v && v->kind == JSON_INT ? v->i : otherwise;
}

/* ---- profiles ---- */

static bool is_saved_profile(const char *path)
{
    char schema[ASSAY_SCHEMA_BYTES];
    return str_ends(str_of(path), ".json") && assay_result_schema(path, schema, NULL) == ASSAY_OK &&
           strcmp(schema, "assay.profile") == 0;
}

/* A saved result is as it was made: arguments that would change the analysis are refused. */
static assay_status refuse_analysis(const mcp_call *c, const char *model, assay_error *err)
{
    static const char *const changing[] = {"batch", "precision", "input_shapes", "dims",
                                           "set",   "training",  "lens",         "hardware"};
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        if (json_get(c->arguments, "model") && json_get(c->arguments, changing[i]))
            return err_fail(
                err, ASSAY_ERR_USAGE,
                "%.300s is a saved result: %s has no effect on it. Leave it out, or name "
                "the model.",
                model, changing[i]);
    return ASSAY_OK;
}

assay_status mcp_open_profile(mcp_call *c, const char *model, assay_result **out, assay_error *err)
{
    assay_model *m = NULL;
    if (is_saved_profile(model)) {
        TRY(refuse_analysis(c, model, err));
        return assay_result_read(model, "profile", out, err);
    }
    assay_status s = assay_model_open(model, &m, err);
    if (s == ASSAY_OK)
        s = assay_analyze(m, c->options, out, err);
    assay_model_free(m);
    return s;
}

assay_status mcp_put_markdown(mcp_call *c, const assay_result *r, assay_error *err)
{
    char *text = NULL;
    size_t n = 0;
    TRY(assay_result_write(r, "md", c->options, &text, &n, err));
    sbuf_put(&c->text, text, n);
    assay_free(text);
    return ASSAY_OK;
}

assay_status mcp_tree_of(mcp_call *c, const assay_result *r, json_value *out, assay_error *err)
{
    const json_tree_options how = {.lenient = true};
    char *text = NULL;
    size_t n = 0;
    TRY(assay_result_write(r, "json", c->options, &text, &n, err));
    assay_status s = n > UINT32_MAX ? err_no_memory(err)
                                    : json_tree_parse((str){text, (uint32_t)n}, "the result", &how,
                                                      c->arena, out, err);
    assay_free(text);
    return s;
}

/* ---- JSON ---- */

/* A list that is cut has its own key for what is left out. */
static void put_member(json_writer *w, const json_value *m)
{
    char key[80];
    json_key_str(w, m->key);
    mcp_put_value(w, m);
    if (m->kind != JSON_LIST || m->n <= MCP_LIST_MOST)
        return;
    snprintf(key, sizeof key, "%.60s_left_out", m->key.p);
    json_key_str(w, str_of(key));
    json_u64(w, m->n - MCP_LIST_MOST);
}

static void put_object(json_writer *w, const json_value *v)
{
    json_object(w);
    for (uint32_t i = 0; i < v->n; i++)
        put_member(w, &v->items[i]);
    json_end(w);
}

static void put_list(json_writer *w, const json_value *v)
{
    json_array(w);
    for (uint32_t i = 0; i < v->n && i < MCP_LIST_MOST; i++)
        mcp_put_value(w, &v->items[i]);
    json_end(w);
}

void mcp_put_value(json_writer *w, const json_value *v)
{
    switch (v->kind) {
    case JSON_NULL:
        json_null(w);
        break;
    case JSON_BOOL:
        json_bool(w, v->i != 0);
        break;
    case JSON_INT:
        json_i64(w, v->i);
        break;
    case JSON_REAL:
        json_f64(w, v->f);
        break;
    case JSON_TEXT:
        json_str(w, v->s);
        break;
    case JSON_LIST:
        put_list(w, v);
        break;
    case JSON_OBJECT:
        put_object(w, v);
        break;
    }
}

void mcp_put_members(mcp_call *c, const json_value *object, const char *const *keys)
{
    for (; *keys; keys++) {
        const json_value *m = json_get(object, *keys);
        if (m)
            put_member(&c->data, m);
    }
}
