/* TensorFlow Serving's REST API: POST /v1/models/NAME:predict with "instances"
 * (https://www.tensorflow.org/tfx/serving/api_rest). One instance of random numbers is made from the signature
 * "serving_default" of /v1/models/NAME/metadata, unknown dimensions being 1; or the body is the user's. An answer has as
 * many "predictions" as there were instances. */
#include <stdio.h>

#include "base/json_tree.h"
#include "measure/load_protocol.h"

typedef struct tf_state {
    str body;
    uint32_t n_instances; /* 0: not known */
} tf_state;

static bool fits_tfserving(str path)
{
    return str_starts(path, "/v1/models/") && str_ends(path, ":predict");
}

static const struct tf_type {
    const char *name, *kind;
    double most;
} tf_types[] = {
    {"DT_FLOAT", "float", 0},    {"DT_DOUBLE", "float", 0}, {"DT_HALF", "float", 0},
    {"DT_BFLOAT16", "float", 0}, {"DT_INT32", "int", 99},   {"DT_INT64", "int", 99},
    {"DT_INT16", "int", 99},     {"DT_INT8", "int", 99},    {"DT_UINT8", "int", 255},
    {"DT_UINT16", "int", 99},    {"DT_BOOL", "bool", 0},    {"DT_STRING", "text", 0},
};

/* Sizes are texts in this JSON. The first dimension is that of instances. */
static bool read_tf_tensor(const json_value *in, load_tensor *t)
{
    const json_value *type = json_path(in, "dtype"), *dims = json_path(in, "tensor_shape.dim");
    *t = (load_tensor){0};
    for (size_t i = 0; i < sizeof tf_types / sizeof *tf_types; i++)
        if (str_is(type->s, tf_types[i].name)) {
            t->kind = tf_types[i].kind;
            t->most = tf_types[i].most;
        }
    for (uint32_t d = 1; d < dims->n && t->rank < 16; d++) {
        const json_value *size = json_path(&dims->items[d], "size");
        int64_t n;
        t->dims[t->rank++] = str_to_i64(size->s, &n) && n > 0 ? n : 1;
    }
    return t->kind != NULL;
}

static bool write_instance(const load_plan *p, const json_value *inputs, sbuf *b)
{
    load_tensor t;
    rng r;
    rng_seed(&r, p->seed);
    sbuf_puts(b, "{\"instances\":[");
    if (inputs->n > 1)
        sbuf_putc(b, '{');
    for (uint32_t i = 0; i < inputs->n; i++) {
        if (inputs->n > 1)
            sbuf_printf(b, "%s\"" STR_FMT "\":", i ? "," : "", STR_ARG(inputs->items[i].key));
        if (!read_tf_tensor(&inputs->items[i], &t) || !load_write_tensor(&t, false, &r, b))
            return false;
    }
    sbuf_puts(b, inputs->n > 1 ? "}]}" : "]}");
    return inputs->n > 0;
}

static assay_status ask_signature(load_plan *p, tf_state *s, assay_error *err)
{
    char path[2048];
    int status;
    str text;
    json_value v;
    sbuf b = {0};
    str query = p->target.path, base = str_cut(&query, '?');
    if (!fits_tfserving(base))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the path of a TensorFlow Serving endpoint is /v1/models/NAME:predict");
    snprintf(path, sizeof path, STR_FMT "/metadata", (int)(base.n - 8), base.p);
    TRY(load_ask(p, path, &status, &text, err));
    bool good = status == 200 && json_tree_parse(text, path, &(json_tree_options){.lenient = true},
                                                 p->arena, &v, NULL) == ASSAY_OK;
    const json_value *inputs = good ? json_path(&v, "metadata.signature_def.signature_def."
                                                    "serving_default.inputs")
                                    : &json_absent;
    good = good && write_instance(p, inputs, &b);
    s->body = good ? str_copy(p->arena, (str){b.p, (uint32_t)b.n}) : (str){0};
    s->n_instances = 1;
    sbuf_free(&b);
    return s->body.p ? ASSAY_OK
                     : err_fail(err, ASSAY_ERR_ENGINE,
                                "%s does not describe inputs that can be made. Give a request with "
                                "--body FILE.",
                                path);
}

static assay_status open_tfserving(load_plan *p, assay_error *err)
{
    static const char *const keys[] = {"instances", "inputs", NULL};
    tf_state *s = p->own = ARENA_NEW(p->arena, tf_state);
    str members;
    unsigned has;
    TRY_MEMORY(s, err);
    if (p->n_items && p->items[0].body.n)
        return ASSAY_OK;
    if (!p->body.n)
        return ask_signature(p, s, err);
    s->body = p->body;
    TRY(load_object_members(p->body, "--body", keys, p->arena, &members, &has, err));
    json_value v;
    if (json_tree_parse(p->body, "--body", NULL, p->arena, &v, NULL) == ASSAY_OK)
        s->n_instances = json_path(&v, "instances")->n;
    return has ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE, "the body has neither 'instances' nor 'inputs'");
}

static void write_tfserving(load_call *c, rng *r, sbuf *out)
{
    const tf_state *s = c->plan->own;
    const load_item *item = load_item_of(c->plan, c->number);
    str body = item && item->body.n ? item->body : s->body;
    (void)r;
    c->n_units = item && item->body.n ? 0 : s->n_instances;
    sbuf_str(out, body);
}

static void end_tfserving(load_call *c)
{
    json_value v;
    arena *work = arena_new((size_t)256 << 20);
    bool whole = work &&
                 json_tree_parse((str){c->body.p, (uint32_t)c->body.n}, "answer",
                                 &(json_tree_options){.lenient = true}, work, &v, NULL) == ASSAY_OK;
    const json_value *rows = whole ? json_path(&v, "predictions") : &json_absent;
    if (!whole)
        load_call_wrong(c, "the response is not JSON");
    else if (json_get(&v, "error"))
        load_call_wrong(c, "the response is an error");
    else if (rows->kind != JSON_LIST && !json_get(&v, "outputs"))
        load_call_wrong(c, "the response has no predictions");
    else if (c->n_units && rows->kind == JSON_LIST && rows->n != c->n_units)
        load_call_wrong(c, "the response has more or fewer predictions than instances");
    arena_free(work);
}

const load_protocol load_tfserving_protocol = {.name = "tfserving",
                                               .title = "TensorFlow Serving",
                                               .path = "/v1/models/%s:predict",
                                               .fits = fits_tfserving,
                                               .content_type = "application/json",
                                               .needs_model = true,
                                               .open = open_tfserving,
                                               .write = write_tfserving,
                                               .end = end_tfserving};
