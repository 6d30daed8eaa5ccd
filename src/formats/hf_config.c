/* config.json of transformers and diffusers; see hf_config.h. */
#include "formats/hf_config.h"

#include <ctype.h>

#include "base/json_tree.h"

bool hf_config_is(const json_value *root)
{
    return json_get(root, "model_type") || json_get(root, "architectures") ||
           json_get(root, "_class_name");
}

static assay_status fail_key(const char *shown, const char *key, const char *what, assay_error *err)
{
    return err_fail_node(err, ASSAY_ERR_MALFORMED, key, "%s: %s %s", shown, key, what);
}

/* "GPT2LMHeadModel" begins with "gpt2", as "gpt_neox" is in "GPTNeoXForCausalLM": how much of the class the family
 * is, 0 when it is none of it. */
static uint32_t common_start(str class_name, const char *family)
{
    uint32_t n = 0;
    for (; *family; family++) {
        if (*family == '_' || *family == '-')
            continue;
        if (n >= class_name.n || tolower((unsigned char)class_name.p[n]) != *family)
            return 0;
        n++;
    }
    return n == class_name.n || isupper((unsigned char)class_name.p[n]) ? n : 0;
}

/* Old configurations have classes and no type. */
static bool kind_of_class(const json_value *root, str *kind)
{
    const json_value *list = json_get(root, "architectures");
    uint32_t best = 0, n;
    const zoo_row *row;
    if (!list || list->kind != JSON_LIST || !list->n || list->items[0].kind != JSON_TEXT)
        return false;
    for (uint32_t i = 0; (row = zoo_family_at(i)); i++)
        if ((n = common_start(list->items[0].s, row->family)) > best) {
            best = n;
            *kind = str_of(row->family);
        }
    return best > 0;
}

static assay_status find_kind(const json_value *root, const char *shown, str *kind,
                              assay_error *err)
{
    const json_value *type = json_get(root, "model_type");
    const json_value *class = json_get(root, "_class_name");
    const json_value *v = type ? type : class;
    if (!v && kind_of_class(root, kind))
        return ASSAY_OK;
    if (!v)
        return fail_key(shown, "model_type", "is missing", err);
    if (v->kind != JSON_TEXT || !v->s.n)
        return fail_key(shown, type ? "model_type" : "_class_name", "must be a string", err);
    *kind = v->s;
    return ASSAY_OK;
}

static assay_status check_architectures(const json_value *root, const char *shown, assay_error *err)
{
    const json_value *list = json_get(root, "architectures");
    if (!list || list->kind == JSON_NULL)
        return ASSAY_OK;
    bool good = list->kind == JSON_LIST;
    for (uint32_t i = 0; good && i < list->n; i++)
        good = list->items[i].kind == JSON_TEXT;
    return good ? ASSAY_OK : fail_key(shown, "architectures", "must be a list of strings", err);
}

assay_status hf_config_take(const json_value *root, const char *shown, arena *a, model_config *out,
                            str *kind, assay_error *err)
{
    *out = (model_config){0};
    zoo_args_init(&out->args, a);
    if (root->kind != JSON_OBJECT)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: expected an object, found %s", shown,
                        json_kind_name(root->kind));
    TRY(find_kind(root, shown, kind, err));
    TRY(check_architectures(root, shown, err));
    for (uint32_t i = 0; i < root->n; i++) {
        if (!zoo_args_put(&out->args, root->items[i].key, root->items[i], false))
            return err_fail(err, ASSAY_ERR_MALFORMED, "%s: too many keys", shown);
        zoo_args_get(&out->args, root->items[i].key.p)->silent = true;
    }
    out->row = zoo_find_family(*kind);
    out->name = out->row ? str_of(out->row->name) : *kind;
    return ASSAY_OK;
}

/* "…/text_encoder_2/config.json", and no class in it. */
static bool is_text_encoder(const model_config *c, const char *path)
{
    const char *end = strrchr(path, '/'), *from = end;
    while (from && from > path && from[-1] != '/')
        from--;
    str folder = {from, from ? (uint32_t)(end - from) : 0};
    return from && str_starts(folder, "text_encoder") && !zoo_args_get(&c->args, "architectures");
}

void hf_config_place(model_config *c, const char *path)
{
    const json_value encoder = json_of_text(STR("T5EncoderModel"));
    bool t5 = c->row && (str_ends(str_of(c->row->family), "t5"));
    if (t5 && is_text_encoder(c, path) &&
        zoo_args_put(&c->args, STR("architectures"), encoder, false))
        zoo_args_get(&c->args, "architectures")->silent = true;
}

assay_status hf_config_refuse(const char *shown, str kind, assay_error *err)
{
    return err_fail_node(
        err, ASSAY_ERR_UNSUPPORTED, kind.p,
        "%s: model type '" STR_FMT
        "' is not built in. Export the model with: optimum-cli export onnx --model FOLDER out/",
        shown, STR_ARG(kind));
}
