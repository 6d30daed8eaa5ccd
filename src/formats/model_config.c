/* Training configurations and custom models: which architecture, and its parameters.
 *
 * The keys that training configurations of SwinIR share have their kind written down here, so that a
 * mistake is reported with its place in the file. Other keys are the builder's to judge.
 */
#include "formats/model_config.h"

#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "base/sbuf.h"
#include "formats/hf_config.h"
#include "zoo/custom.h"

typedef enum key_kind { KEY_INT, KEY_INT_OR_PAIR, KEY_NUMBER, KEY_INTS, KEY_WORD } key_kind;

static const struct {
    const char *key;
    key_kind kind;
    const char *is; /* for the sentence */
} known_keys[] = {
    {"upscale", KEY_INT, "a whole number"},
    {"in_chans", KEY_INT, "a whole number"},
    {"out_chans", KEY_INT, "a whole number"},
    {"img_size", KEY_INT_OR_PAIR, "a whole number or a list of two"},
    {"window_size", KEY_INT, "a whole number"},
    {"img_range", KEY_NUMBER, "a number"},
    {"depths", KEY_INTS, "a list of whole numbers"},
    {"embed_dim", KEY_INT, "a whole number"},
    {"num_heads", KEY_INTS, "a list of whole numbers"},
    {"mlp_ratio", KEY_NUMBER, "a number"},
    {"upsampler", KEY_WORD, "a text"},
    {"resi_connection", KEY_WORD, "a text"},
};

typedef struct reading {
    const char *shown; /* the file, for sentences */
    const char *section;
    model_config *out;
    arena *arena;
    assay_error *err;
} reading;

static bool is_whole(const json_value *v)
{
    return v->kind == JSON_INT ||
           (v->kind == JSON_REAL && v->f == floor(v->f) && fabs(v->f) < 9e15);
}

/* -1: right; else the item that is wrong; INT_MAX: the value as a whole. */
static int64_t wrong_place(key_kind kind, const json_value *v)
{
    bool list = kind == KEY_INTS || kind == KEY_INT_OR_PAIR;
    if (v->kind == JSON_NULL)
        return -1;
    if (list && v->kind == JSON_LIST) {
        for (uint32_t i = 0; i < v->n; i++)
            if (!is_whole(&v->items[i]))
                return i;
        return kind == KEY_INT_OR_PAIR && v->n != 2 ? INT64_MAX : -1;
    }
    bool right = kind == KEY_WORD     ? v->kind == JSON_TEXT
                 : kind == KEY_NUMBER ? json_is_number(v)
                                      : is_whole(v);
    return right ? -1 : INT64_MAX;
}

static assay_status complain_kind(const reading *r, str key, const char *is, const json_value *v,
                                  int64_t place)
{
    char index[24] = "";
    if (place != INT64_MAX) {
        snprintf(index, sizeof index, "[%lld]", (long long)place);
        is = "a whole number";
        v = &v->items[place];
    }
    sbuf path = {0};
    sbuf_printf(&path, "%s%s" STR_FMT "%s", r->section, *r->section ? "." : "", STR_ARG(key),
                index);
    assay_status s = err_fail_node(r->err, ASSAY_ERR_MALFORMED, sbuf_cstr(&path),
                                   "%s: %s must be %s, not %s", r->shown, sbuf_cstr(&path), is,
                                   json_kind_name(v->kind));
    sbuf_free(&path);
    return s;
}

static assay_status check_kind(const reading *r, str key, const json_value *v)
{
    for (size_t i = 0; i < sizeof known_keys / sizeof *known_keys; i++) {
        if (!str_is(key, known_keys[i].key))
            continue;
        int64_t place = wrong_place(known_keys[i].kind, v);
        return place < 0 ? ASSAY_OK : complain_kind(r, key, known_keys[i].is, v, place);
    }
    return ASSAY_OK;
}

static assay_status keep_key(const reading *r, str key, const json_value *v, bool lenient)
{
    if (!zoo_args_put(&r->out->args, key, *v, false))
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: too many keys", r->shown);
    zoo_args_get(&r->out->args, key.p)->lenient = lenient;
    return ASSAY_OK;
}

/* ---- training configurations ---- */

static assay_status find_net(const reading *r, const json_value *net)
{
    const char *near[1];
    const json_value *type = json_get(net, "net_type");
    if (!type || type->kind != JSON_TEXT)
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: %s%snet_type %s", r->shown, r->section,
                        *r->section ? "." : "",
                        type ? "must be the name of a model" : "is missing");
    r->out->row = zoo_find(type->s);
    r->out->name = r->out->row ? str_of(r->out->row->name) : (str){0};
    if (r->out->row)
        return ASSAY_OK;
    bool any = zoo_suggest(type->s, NULL, near, 1) > 0;
    return err_fail(r->err, ASSAY_ERR_MALFORMED,
                    "%s: no built-in model '" STR_FMT "'.%s%s%s List them with `assay models`.",
                    r->shown, STR_ARG(type->s), any ? " Did you mean " : "", any ? near[0] : "",
                    any ? "?" : "");
}

/* Builders know an image's side by one number; two sides that differ are an input's shape. */
static assay_status keep_size(const reading *r, str key, const json_value *v)
{
    if (v->kind != JSON_LIST)
        return keep_key(r, key, v, true);
    if (v->items[0].f == v->items[1].f)
        return keep_key(r, key, &v->items[0], true);
    return err_fail_node(r->err, ASSAY_ERR_MALFORMED, key.p,
                         "%s: the two sides of img_size differ. Set one of them here and the input "
                         "shape with --input-shape.",
                         r->shown);
}

static assay_status take_training(const reading *r, const json_value *net)
{
    TRY(find_net(r, net));
    for (uint32_t i = 0; i < net->n; i++) {
        str key = net->items[i].key;
        if (str_is(key, "net_type"))
            continue;
        TRY(check_kind(r, key, &net->items[i]));
        if (str_is(key, "img_size"))
            TRY(keep_size(r, key, &net->items[i]));
        else
            TRY(keep_key(r, key, &net->items[i], true));
    }
    return ASSAY_OK;
}

static assay_status refuse_config(const reading *r)
{
    return err_fail(r->err, ASSAY_ERR_MALFORMED,
                    "%s: not a model description. It needs a \"model\" object with a \"net_type\" "
                    "(a training configuration), the schema \"assay.model/1\", or a \"model_type\" "
                    "(a Hugging Face configuration).",
                    r->shown);
}

/* ---- custom models ---- */

static str file_stem(arena *a, const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t n = strlen(name);
    bool suffix = n > 5 && strcmp(name + n - 5, ".json") == 0;
    return str_copy(a, (str){name, (uint32_t)(suffix ? n - 5 : n)});
}

/* "bert-base-uncased/config.json" is called after its folder. */
static str folder_name(arena *a, const char *path)
{
    const char *end = strrchr(path, '/');
    const char *from = end;
    while (from && from > path && from[-1] != '/')
        from--;
    return end && end > from && strcmp(end, "/config.json") == 0
               ? str_copy(a, (str){from, (uint32_t)(end - from)})
               : file_stem(a, path);
}

static assay_status take_hf(const reading *r, const json_value *root, const char *path)
{
    str kind;
    TRY(hf_config_take(root, r->shown, r->arena, r->out, &kind, r->err));
    hf_config_place(r->out, path);
    r->out->name = folder_name(r->arena, path);
    return r->out->row ? ASSAY_OK : hf_config_refuse(r->shown, kind, r->err);
}

static assay_status take_custom(const reading *r, const json_value *root, const char *path)
{
    const json_value *name = json_get(root, "name");
    if (name && name->kind != JSON_TEXT)
        return complain_kind(r, STR("name"), "a text", name, INT64_MAX);
    r->out->row = &zoo_custom_row;
    r->out->name = name ? name->s : file_stem(r->arena, path);
    for (uint32_t i = 0; i < root->n; i++)
        if (!str_is(root->items[i].key, "schema") && !str_is(root->items[i].key, "name"))
            TRY(keep_key(r, root->items[i].key, &root->items[i], false));
    return ASSAY_OK;
}

/* ---- settings of the training ---- */

/* They say how the network is trained, not what it is; a reader may expect them to count. */
static const struct {
    const char *key, *advice;
} training_keys[] = {
    {"batch_size", "Set the batch size with --batch or --batch-sizes."},
    {"mixed_precision", "Set the precision with --precision."},
    {"amp", "Set the precision with --precision."},
    {"use_amp", "Set the precision with --precision."},
};

static void name_unused(const reading *r, const json_value *of, str section)
{
    for (size_t i = 0; i < sizeof training_keys / sizeof *training_keys; i++) {
        const json_value *v = json_get(of, training_keys[i].key);
        if (v && v->kind != JSON_NULL)
            notes_add(&r->out->said, "unused-setting", (str){0}, training_keys[i].advice,
                      "%s: " STR_FMT "%s%s is not used.", r->shown, STR_ARG(section),
                      section.n ? "." : "", training_keys[i].key);
    }
}

static void name_unused_settings(const reading *r, const json_value *root)
{
    name_unused(r, root, (str){0});
    for (uint32_t i = 0; root->kind == JSON_OBJECT && i < root->n; i++)
        if (root->items[i].kind == JSON_OBJECT && !str_is(root->items[i].key, r->section))
            name_unused(r, &root->items[i], root->items[i].key);
}

/* ---- both ---- */

static bool is_object(const json_value *v)
{
    return v && v->kind == JSON_OBJECT;
}

static assay_status read_config(reading *r, const json_value *root, const char *path)
{
    static const char *const sections[] = {"model", "netG"};
    const json_value *schema = json_get(root, "schema");
    if (schema && schema->kind == JSON_TEXT && str_starts(schema->s, "assay.model/")) {
        if (str_is(schema->s, ZOO_CUSTOM_SCHEMA))
            return take_custom(r, root, path);
        return err_fail(r->err, ASSAY_ERR_UNSUPPORTED,
                        "%s: unknown schema '" STR_FMT "'; this version of assay reads %s",
                        r->shown, STR_ARG(schema->s), ZOO_CUSTOM_SCHEMA);
    }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        r->section = sections[i];
        if (is_object(json_get(root, r->section))) {
            name_unused_settings(r, root);
            return take_training(r, json_get(root, r->section));
        }
    }
    r->section = "";
    if (json_get(root, "net_type"))
        return take_training(r, root);
    return hf_config_is(root) ? take_hf(r, root, path) : refuse_config(r);
}

assay_status model_config_of(const json_value *root, const char *path, arena *a, model_config *out,
                             assay_error *err)
{
    char shown[FILE_SHOWN];
    reading r = {
        .shown = file_shown(path, shown), .section = "", .out = out, .arena = a, .err = err};
    *out = (model_config){0};
    zoo_args_init(&out->args, a);
    notes_init(&out->said, a);
    TRY(read_config(&r, root, path));
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

assay_status model_config_read(const char *path, arena *a, model_config *out, assay_error *err)
{
    json_value root;
    TRY(json_tree_read(path, a, &root, err));
    return model_config_of(&root, path, a, out, err);
}
