/* The table of tools. A call is checked against the rows of its arguments, runs in a process of its own within the limits
 * `mcp-time` and `mcp-result`, and comes back as a result of the protocol: text for people and models, and the same
 * facts as data. A failure of the work (no such model, a malformed file) is a result with isError, as the protocol wants
 * it; the client's model can then correct itself. */
#include <assay/mcp.h>
#include <inttypes.h>
#include <stdio.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/process.h"
#include "mcp/mcp.h"

/* ---- arguments ---- */

#define ARGUMENT(id, ...) static const mcp_argument id = {__VA_ARGS__}

ARGUMENT(
    arg_model, "model", MCP_TEXT,
    "Built-in name (resnet50), path of a model file or directory, or of a saved result (.json).",
    .required = true);
ARGUMENT(arg_models, "models", MCP_TEXTS,
         "2 to 12 models or saved results; the first is the reference.", .required = true, .min = 2,
         .max = 12);
ARGUMENT(arg_batch, "batch", MCP_WHOLE, "Batch size.", .option = "batch", .min = 1, .max = 1 << 30);
ARGUMENT(arg_precision, "precision", MCP_TEXT, "Number type: fp32, fp16, bf16, int8, ...",
         .option = "precision");
ARGUMENT(arg_shapes, "input_shapes", MCP_TEXTS, "Shapes of inputs: [\"input:1,3,320,320\"].",
         .option = "input-shape", .max = 64);
ARGUMENT(arg_dims, "dims", MCP_TEXTS, "Symbolic dimensions: [\"sequence=128\"].", .option = "dim",
         .max = 64);
ARGUMENT(arg_set, "set", MCP_TEXTS, "Parameters of a built-in model: [\"num_classes=10\"].",
         .option = "set", .max = 64);
ARGUMENT(arg_training, "training", MCP_FLAG, "Add the cost of a training step.",
         .option = "training");
ARGUMENT(arg_lens, "lens", MCP_TEXT,
         "Convention of counting FLOPs: assay, fvcore, torchvision, thop, ...", .option = "lens");
ARGUMENT(arg_top, "top", MCP_WHOLE, "Number of layers to list, the most expensive ones first.",
         .option = "top", .min = 1, .max = 100);
ARGUMENT(arg_hardware, "hardware", MCP_TEXTS,
         "Devices of list_devices, or classes: [\"t4\", \"jetson\"].", .option = "hardware",
         .required = true, .min = 1, .max = 32);
ARGUMENT(arg_device, "hardware", MCP_TEXT, "Device whose roofline applies.", .option = "hardware");
ARGUMENT(arg_runtime, "runtime", MCP_TEXT,
         "Runtime to predict: eager, compiled, tensorrt, onnxruntime.", .option = "runtime");
ARGUMENT(arg_layer, "layer", MCP_TEXT, "Name of a layer, or its number from 1.", .required = true);
ARGUMENT(arg_pattern, "pattern", MCP_TEXT, "Part of the name, family or task. Default: all.",
         .option = NULL);
ARGUMENT(arg_limit, "limit", MCP_WHOLE, "Most entries to list. Default: 50.", .min = 1,
         .max = 1000);

#define LIST(...) ((const mcp_argument *const[]){__VA_ARGS__, NULL})

const mcp_tool mcp_tools[] = {
    {"list_models", "List built-in models",
     "List built-in models with family, task, parameters, MACs, FLOPs and input shapes.",
     LIST(&arg_pattern, &arg_limit), mcp_list_models},
    {"list_devices", "List devices",
     "List devices with memory, bandwidth, peak operations per second and the source of the numbers.",
     LIST(&arg_pattern, &arg_limit), mcp_list_devices},
    {"profile", "Profile a model",
     "Static cost of a model: parameters, MACs, FLOPs, memory traffic, peak memory, operations, bottlenecks, "
     "most expensive layers. The model is not run. Of a saved result, also its measurements.",
     LIST(&arg_model, &arg_batch, &arg_precision, &arg_shapes, &arg_dims, &arg_set, &arg_training,
          &arg_lens, &arg_device, &arg_top),
     mcp_profile},
    {"compare", "Compare models",
     "Compare 2 to 12 models or saved results: totals with ratios, and for two the layers that differ.",
     LIST(&arg_models, &arg_batch, &arg_precision, &arg_shapes, &arg_dims, &arg_lens, &arg_top),
     mcp_compare},
    {"map", "Predict times on devices",
     "Predict latency (with its interval), throughput, memory and fit of a model on devices.",
     LIST(&arg_model, &arg_hardware, &arg_precision, &arg_batch, &arg_runtime, &arg_shapes,
          &arg_dims, &arg_set),
     mcp_map},
    {"explain_layer", "Explain a layer",
     "Explain one layer of a model: shapes, attributes, cost with its formula, share of the model, bound, "
     "neighbours, and measured time if the model is a saved result with one.",
     LIST(&arg_model, &arg_layer, &arg_batch, &arg_precision, &arg_shapes, &arg_dims, &arg_set,
          &arg_device),
     mcp_explain_layer},
};
const size_t mcp_n_tools = sizeof mcp_tools / sizeof *mcp_tools;

const mcp_tool *mcp_find_tool(str name)
{
    for (size_t i = 0; i < mcp_n_tools; i++)
        if (str_is(name, mcp_tools[i].name))
            return &mcp_tools[i];
    return NULL;
}

bool assay_mcp_tool_at(size_t index, assay_mcp_tool_info *out)
{
    if (index >= mcp_n_tools)
        return false;
    const mcp_tool *t = &mcp_tools[index];
    const assay_mcp_tool_info x = {.name = t->name, .title = t->title, .about = t->about};
    return HAND_OUT(out, x);
}

/* ---- the list ---- */

static const char *const type_names[] = {
    [MCP_TEXT] = "string", [MCP_WHOLE] = "integer", [MCP_FLAG] = "boolean", [MCP_TEXTS] = "array"};

static void put_range(json_writer *w, const mcp_argument *a)
{
    bool list = a->type == MCP_TEXTS;
    if (list) {
        json_key(w, "items");
        json_object(w);
        key_cstr(w, "type", "string");
        json_end(w);
    }
    if (a->min)
        key_u64(w, list ? "minItems" : "minimum", a->min);
    if (a->max)
        key_u64(w, list ? "maxItems" : "maximum", a->max);
}

static void put_schema(json_writer *w, const mcp_tool *t)
{
    json_object(w);
    key_cstr(w, "type", "object");
    json_key(w, "properties");
    json_object(w);
    for (const mcp_argument *const *a = t->arguments; *a; a++) {
        json_key(w, (*a)->name);
        json_object(w);
        key_cstr(w, "type", type_names[(*a)->type]);
        key_cstr(w, "description", (*a)->about);
        put_range(w, *a);
        json_end(w);
    }
    json_end(w);
    json_key(w, "required");
    json_array(w);
    for (const mcp_argument *const *a = t->arguments; *a; a++)
        if ((*a)->required)
            json_cstr(w, (*a)->name);
    json_end(w);
    key_bool(w, "additionalProperties", false);
    json_end(w);
}

/* All tools read only, and give the same answer again. */
static void put_annotations(json_writer *w, const mcp_tool *t)
{
    json_object(w);
    key_cstr(w, "title", t->title);
    key_bool(w, "readOnlyHint", true);
    key_bool(w, "destructiveHint", false);
    key_bool(w, "idempotentHint", true);
    key_bool(w, "openWorldHint", false);
    json_end(w);
}

void mcp_put_tools(json_writer *w)
{
    json_array(w);
    for (const mcp_tool *t = mcp_tools; t < mcp_tools + mcp_n_tools; t++) {
        json_object(w);
        key_cstr(w, "name", t->name);
        key_cstr(w, "title", t->title);
        key_cstr(w, "description", t->about);
        json_key(w, "inputSchema");
        put_schema(w, t);
        json_key(w, "annotations");
        put_annotations(w, t);
        json_end(w);
    }
    json_end(w);
}

/* ---- checks ---- */

static const mcp_argument *find_argument(const mcp_tool *t, str name)
{
    for (const mcp_argument *const *a = t->arguments; *a; a++)
        if (str_is(name, (*a)->name))
            return *a;
    return NULL;
}

static assay_status check_number(const mcp_argument *a, const char *what, int64_t n,
                                 assay_error *err)
{
    if (a->max && (n < a->min || n > a->max))
        return err_fail(err, ASSAY_ERR_USAGE, "%s %s must be %u to %u, got %" PRId64, a->name, what,
                        a->min, a->max, n);
    return ASSAY_OK;
}

static assay_status check_texts(const mcp_argument *a, const json_value *v, assay_error *err)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->items[i].kind != JSON_TEXT)
            return err_fail(err, ASSAY_ERR_USAGE, "%s must be a list of strings; item %u is %s",
                            a->name, i, json_kind_name(v->items[i].kind));
    return check_number(a, "(number of items)", v->n, err);
}

static assay_status check_argument(const mcp_argument *a, const json_value *v, assay_error *err)
{
    static const json_kind kinds[] = {[MCP_TEXT] = JSON_TEXT,
                                      [MCP_WHOLE] = JSON_INT,
                                      [MCP_FLAG] = JSON_BOOL,
                                      [MCP_TEXTS] = JSON_LIST};
    if (v->kind != kinds[a->type])
        return err_fail(err, ASSAY_ERR_USAGE, "%s must be %s, got %s", a->name,
                        json_kind_name(kinds[a->type]), json_kind_name(v->kind));
    if (a->type == MCP_WHOLE)
        return check_number(a, "", v->i, err);
    return a->type == MCP_TEXTS ? check_texts(a, v, err) : ASSAY_OK;
}

assay_status mcp_check_arguments(const mcp_tool *t, const json_value *given, assay_error *err)
{
    if (given->kind != JSON_OBJECT)
        return err_fail(err, ASSAY_ERR_USAGE, "arguments must be an object");
    for (uint32_t i = 0; i < given->n; i++) {
        const json_value *v = &given->items[i];
        const mcp_argument *a = find_argument(t, v->key);
        if (!a)
            return err_fail(err, ASSAY_ERR_USAGE, "%s has no argument '%.*s'", t->name,
                            (int)(v->key.n < 100 ? v->key.n : 100), v->key.p);
        TRY(check_argument(a, v, err));
    }
    for (const mcp_argument *const *a = t->arguments; *a; a++)
        if ((*a)->required && !json_get(given, (*a)->name))
            return err_fail(err, ASSAY_ERR_USAGE, "%s requires the argument %s", t->name,
                            (*a)->name);
    return ASSAY_OK;
}

/* ---- options of the library ---- */

static bool option_repeats(const char *name)
{
    assay_option_info o = {.size = sizeof o};
    for (size_t i = 0; assay_option_at(i, &o); i++)
        if (str_is(str_of(name), o.name))
            return o.repeatable;
    return false;
}

/* Each item as a value of its own, or all as one list. */
static assay_status set_texts(mcp_call *c, const mcp_argument *a, const json_value *v,
                              assay_error *err)
{
    bool repeats = option_repeats(a->option);
    sbuf all = {0};
    assay_status s = ASSAY_OK;
    for (uint32_t i = 0; i < v->n && s == ASSAY_OK; i++) {
        sbuf_puts(&all, i ? "," : "");
        sbuf_str(&all, v->items[i].s);
        if (repeats)
            s = assay_options_set(c->options, a->option, v->items[i].s.p, err);
    }
    if (!repeats && v->n)
        s = assay_options_set(c->options, a->option, sbuf_cstr(&all), err);
    sbuf_free(&all);
    return s;
}

static assay_status set_option(mcp_call *c, const mcp_argument *a, const json_value *v,
                               assay_error *err)
{
    char number[32];
    if (a->type == MCP_TEXTS)
        return set_texts(c, a, v, err);
    if (a->type == MCP_WHOLE)
        snprintf(number, sizeof number, "%" PRId64, v->i);
    return assay_options_set(c->options, a->option,
                             a->type == MCP_TEXT   ? v->s.p
                             : a->type == MCP_FLAG ? (v->i ? "true" : "false")
                                                   : number,
                             err);
}

static assay_status set_options(mcp_call *c, const mcp_tool *t, assay_error *err)
{
    for (uint32_t i = 0; i < c->arguments->n; i++) {
        const json_value *v = &c->arguments->items[i];
        const mcp_argument *a = find_argument(t, v->key);
        if (a->option)
            TRY(set_option(c, a, v, err));
    }
    return ASSAY_OK;
}

/* ---- the call ---- */

static void put_text_content(json_writer *w, str text)
{
    json_key(w, "content");
    json_array(w);
    json_object(w);
    key_cstr(w, "type", "text");
    key_str(w, "text", text);
    json_end(w);
    json_end(w);
}

static void put_failure(json_writer *w, const char *why)
{
    json_object(w);
    put_text_content(w, str_of(why));
    key_bool(w, "isError", true);
    json_end(w);
}

static void put_result(json_writer *w, const mcp_call *c)
{
    json_object(w);
    put_text_content(w, (str){c->text.p, (uint32_t)c->text.n});
    json_key(w, "structuredContent");
    json_raw(w, (str){c->data_text.p, (uint32_t)c->data_text.n});
    key_bool(w, "isError", false);
    json_end(w);
}

typedef struct tool_work {
    const mcp_tool *tool;
    const json_value *arguments;
} tool_work;

static assay_status perform(const tool_work *work, mcp_call *c, assay_error *err)
{
    TRY_MEMORY(c->options && c->arena, err);
    json_begin(&c->data, &c->data_text, 0);
    json_object(&c->data);
    TRY(set_options(c, work->tool, err));
    TRY(work->tool->run(c, err));
    json_end(&c->data);
    return c->text.failed || c->data_text.failed ? err_no_memory(err) : ASSAY_OK;
}

/* In the process of the call, which ends without clean-up. */
static void run_apart(void *ctx, sbuf *out)
{
    const tool_work *work = ctx;
    assay_error err = {0};
    json_writer w;
    mcp_call c = {.arguments = work->arguments,
                  .options = assay_options_new(),
                  .arena = arena_new(LIMIT_RESULT_BYTES)};
    assay_status s = perform(work, &c, &err);
    json_begin(&w, out, 0);
    if (s == ASSAY_OK)
        put_result(&w, &c);
    else
        put_failure(&w, err.message);
}

static assay_status judge_call(const process_result *r, assay_error *err)
{
    if (r->timed_out)
        return err_fail(err, ASSAY_ERR_SYSTEM, "the call took too long%s",
                        LIMIT_TEXT(LIMIT_MCP_TIME));
    if (r->cut)
        return err_fail(
            err, ASSAY_ERR_SYSTEM,
            "the result is too large%s. Ask for less, for example with `top` or `limit`.",
            LIMIT_TEXT(LIMIT_MCP_RESULT));
    if (r->code || !r->out.n)
        return err_fail(err, ASSAY_ERR_SYSTEM,
                        "the analysis ended early (code %d). Please report the model.", r->code);
    return ASSAY_OK;
}

void mcp_run_tool(const mcp_tool *t, const json_value *arguments, json_writer *w)
{
    tool_work work = {t, arguments};
    const process_writer call = {.run = run_apart,
                                 .ctx = &work,
                                 .timeout_ms = (int64_t)limit_value(LIMIT_MCP_TIME) * 1000,
                                 .max_bytes = (size_t)limit_value(LIMIT_MCP_RESULT)};
    process_result r;
    assay_error err = {0};
    assay_status s = process_call_writer(&call, &r, &err);
    if (s == ASSAY_OK)
        s = judge_call(&r, &err);
    if (s == ASSAY_OK)
        json_raw(w, (str){r.out.p, (uint32_t)r.out.n});
    else
        put_failure(w, err.message);
    sbuf_free(&r.out);
}
