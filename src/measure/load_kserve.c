/* KServe's open inference protocol, version 2, as Triton has it: POST /v2/models/NAME/infer
 * (https://kserve.github.io/website/latest/modelserving/data_plane/v2_protocol/). Inputs are made from the metadata at
 * /v2/models/NAME: random numbers of its types and shapes, dimensions of -1 being 1. An answer must have the id of its
 * request, the outputs that the metadata names, and as many elements as each shape says. Tensors are JSON; the binary
 * extension is not used, so FP16 and BF16 inputs need --body. */
#include <stdio.h>

#include "base/json_tree.h"
#include "measure/load_protocol.h"

typedef struct kserve_state {
    str members; /* of the request object, without "id" */
    bool has_id; /* the user's body has its own */
    str model;
    const str *outputs; /* names */
    uint32_t n_outputs;
} kserve_state;

static bool fits_kserve(str path)
{
    return str_starts(path, "/v2/models/") && str_ends(path, "/infer");
}

static const struct kserve_type {
    const char *name, *kind;
    double most;
} kserve_types[] = {
    {"FP32", "float", 0},  {"FP64", "float", 0},  {"INT8", "int", 99},   {"INT16", "int", 99},
    {"INT32", "int", 99},  {"INT64", "int", 99},  {"UINT8", "int", 255}, {"UINT16", "int", 99},
    {"UINT32", "int", 99}, {"UINT64", "int", 99}, {"BOOL", "bool", 0},   {"BYTES", "text", 0},
};

static bool read_kserve_tensor(const json_value *in, load_tensor *t)
{
    const json_value *type = json_path(in, "datatype"), *shape = json_path(in, "shape");
    *t = (load_tensor){0};
    for (size_t i = 0; i < sizeof kserve_types / sizeof *kserve_types; i++)
        if (str_is(type->s, kserve_types[i].name)) {
            t->kind = kserve_types[i].kind;
            t->most = kserve_types[i].most;
        }
    for (uint32_t d = 0; d < shape->n && t->rank < 16; d++)
        t->dims[t->rank++] = shape->items[d].i > 0 ? shape->items[d].i : 1;
    return t->kind && shape->n <= 16;
}

static bool put_input(const json_value *in, rng *r, sbuf *b)
{
    load_tensor t;
    if (!read_kserve_tensor(in, &t))
        return false;
    sbuf_printf(b, "{\"name\":\"" STR_FMT "\",\"datatype\":\"" STR_FMT "\",\"shape\":[",
                STR_ARG(json_path(in, "name")->s), STR_ARG(json_path(in, "datatype")->s));
    for (uint32_t d = 0; d < t.rank; d++)
        sbuf_printf(b, "%s%lld", d ? "," : "", (long long)t.dims[d]);
    sbuf_puts(b, "],\"data\":");
    bool whole = load_write_tensor(&t, true, r, b);
    sbuf_putc(b, '}');
    return whole;
}

static assay_status make_inputs(load_plan *p, const json_value *meta, kserve_state *s,
                                const char *path, assay_error *err)
{
    const json_value *inputs = json_path(meta, "inputs");
    sbuf b = {0};
    rng r;
    bool good = inputs->n > 0;
    rng_seed(&r, p->seed);
    sbuf_puts(&b, "\"inputs\":[");
    for (uint32_t i = 0; good && i < inputs->n; i++) {
        sbuf_puts(&b, i ? "," : "");
        good = put_input(&inputs->items[i], &r, &b);
    }
    sbuf_puts(&b, "]");
    s->members = good && !b.failed ? str_copy(p->arena, (str){b.p, (uint32_t)b.n}) : (str){0};
    sbuf_free(&b);
    return s->members.p ? ASSAY_OK
                        : err_fail(err, ASSAY_ERR_ENGINE,
                                   "%s does not describe inputs that can be made (types FP16 and "
                                   "BF16 cannot be written as JSON). Give a request with --body "
                                   "FILE.",
                                   path);
}

static assay_status note_outputs(load_plan *p, const json_value *meta, kserve_state *s,
                                 assay_error *err)
{
    const json_value *outputs = json_path(meta, "outputs");
    str *names = ARENA_ARRAY(p->arena, str, outputs->n + 1);
    TRY_MEMORY(names, err);
    for (uint32_t i = 0; i < outputs->n; i++)
        names[i] = json_path(&outputs->items[i], "name")->s;
    s->outputs = names;
    s->n_outputs = outputs->n;
    s->model = json_path(meta, "name")->s;
    return ASSAY_OK;
}

static assay_status ask_metadata(load_plan *p, kserve_state *s, assay_error *err)
{
    char path[2048];
    int status;
    str text;
    json_value meta;
    str query = p->target.path, base = str_cut(&query, '?');
    snprintf(path, sizeof path, STR_FMT, (int)(base.n - 6), base.p);
    TRY(load_ask(p, path, &status, &text, err));
    if (status != 200)
        return err_fail(err, ASSAY_ERR_ENGINE,
                        "%s: the server has no metadata (status %d). Give a request with --body "
                        "FILE.",
                        path, status);
    if (json_tree_parse(text, path, &(json_tree_options){.lenient = true}, p->arena, &meta, err) !=
        ASSAY_OK)
        return ASSAY_ERR_ENGINE;
    TRY(note_outputs(p, &meta, s, err));
    return make_inputs(p, &meta, s, path, err);
}

static assay_status open_kserve(load_plan *p, assay_error *err)
{
    static const char *const keys[] = {"inputs", "id", NULL};
    kserve_state *s = p->own = ARENA_NEW(p->arena, kserve_state);
    unsigned has = 0;
    TRY_MEMORY(s, err);
    str query = p->target.path;
    if (!fits_kserve(str_cut(&query, '?')))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the path of a KServe endpoint is /v2/models/NAME/infer");
    if (!p->body.n)
        return p->n_items && p->items[0].body.n ? ASSAY_OK : ask_metadata(p, s, err);
    TRY(load_object_members(p->body, "--body", keys, p->arena, &s->members, &has, err));
    s->has_id = has & 2;
    return has & 1 ? ASSAY_OK : err_fail(err, ASSAY_ERR_USAGE, "the body has no 'inputs'");
}

static void write_kserve(load_call *c, rng *r, sbuf *out)
{
    const kserve_state *s = c->plan->own;
    const load_item *item = load_item_of(c->plan, c->number);
    (void)r;
    if (item && item->body.n) {
        sbuf_str(out, item->body);
        return;
    }
    if (!s->has_id)
        sbuf_printf(out, "{\"id\":\"%llu\",", (unsigned long long)c->number);
    else
        sbuf_putc(out, '{');
    sbuf_str(out, s->members);
    sbuf_putc(out, '}');
    c->n_units = 1;
}

/* ---- answers ---- */

static bool is_output(const kserve_state *s, str name)
{
    for (uint32_t i = 0; i < s->n_outputs; i++)
        if (str_eq(s->outputs[i], name))
            return true;
    return !s->n_outputs;
}

static uint64_t count_elements(const json_value *v)
{
    uint64_t n = 0;
    if (v->kind != JSON_LIST)
        return 1;
    for (uint32_t i = 0; i < v->n; i++)
        n += count_elements(&v->items[i]);
    return n;
}

static void check_output(load_call *c, const json_value *out)
{
    const json_value *shape = json_path(out, "shape"), *data = json_path(out, "data");
    double elements = 1;
    for (uint32_t i = 0; i < shape->n; i++)
        elements *= shape->items[i].f;
    if (!is_output(c->plan->own, json_path(out, "name")->s))
        load_call_wrong(c, "an output has a name that the metadata does not have");
    else if (shape->kind != JSON_LIST || data->kind != JSON_LIST)
        load_call_wrong(c, "an output has no shape or no data");
    else if ((double)count_elements(data) != elements)
        load_call_wrong(c, "the elements of an output do not fit its shape");
}

static void check_answer(load_call *c, const json_value *v)
{
    const kserve_state *s = c->plan->own;
    const json_value *outputs = json_path(v, "outputs"), *id = json_path(v, "id");
    uint64_t n;
    if (json_get(v, "error"))
        load_call_wrong(c, "the response is an error");
    else if (outputs->kind != JSON_LIST || !outputs->n)
        load_call_wrong(c, "the response has no outputs");
    else if (c->n_units && !s->has_id && id->s.n && (!str_to_u64(id->s, &n) || n != c->number))
        load_call_wrong(c, "the response belongs to another request");
    for (uint32_t i = 0; !c->wrong && i < outputs->n; i++)
        check_output(c, &outputs->items[i]);
}

static void end_kserve(load_call *c)
{
    json_value v;
    arena *work = arena_new((size_t)256 << 20);
    bool whole = work &&
                 json_tree_parse((str){c->body.p, (uint32_t)c->body.n}, "answer",
                                 &(json_tree_options){.lenient = true}, work, &v, NULL) == ASSAY_OK;
    if (whole)
        check_answer(c, &v);
    else
        load_call_wrong(c, "the response is not JSON");
    arena_free(work);
}

const load_protocol load_kserve_protocol = {.name = "kserve",
                                            .title = "KServe v2",
                                            .path = "/v2/models/%s/infer",
                                            .fits = fits_kserve,
                                            .content_type = "application/json",
                                            .needs_model = true,
                                            .open = open_kserve,
                                            .write = write_kserve,
                                            .end = end_kserve};
