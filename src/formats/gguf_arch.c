/* What llama.cpp calls things, as Hugging Face calls them: architectures, keys and tensors.
 *
 * Keys of an architecture stand under its name ("llama.block_count"). Builders of the zoo take either of
 * two spellings for some parameters, and a default of theirs under one would hide what is given under the
 * other: both are set.
 */
#include <inttypes.h>
#include <stdio.h>

#include "formats/gguf.h"
#include "formats/gguf_names.h"

typedef struct mapping {
    gguf_file *g;
    const char *shown, *arch, *model_type;
    gguf_style style;
    arena *arena;
    model_config *out;
    assay_error *err;
    bool uneven; /* a list whose items differ where one number is needed */
} mapping;

/* ---- keys ---- */

static const gguf_value *get_key(const mapping *m, const char *key)
{
    char full[256];
    int n = snprintf(full, sizeof full, "%s.%s", m->arch, key);
    return n > 0 && (size_t)n < sizeof full ? gguf_get(m->g, full) : NULL;
}

/* One number, also when it is written once per layer. */
static bool number_of(mapping *m, const gguf_value *v, json_value *out)
{
    if (v->kind == GGUF_REAL) {
        *out = (json_value){.kind = JSON_REAL, .f = v->f};
        return true;
    }
    if (v->kind == GGUF_TEXT || (v->kind == GGUF_LIST && (!v->items || v->n == 0)))
        return false;
    int64_t i = v->kind == GGUF_LIST ? v->items[0] : v->i;
    for (uint64_t k = 1; v->kind == GGUF_LIST && k < v->n; k++)
        m->uneven = m->uneven || v->items[k] != i;
    *out = v->kind == GGUF_BOOL ? json_of_bool(i != 0) : json_of_int(i);
    return true;
}

static assay_status put_parameter(mapping *m, str name, json_value v)
{
    str key = str_copy(m->arena, name);
    TRY_MEMORY(key.p && zoo_args_put(&m->out->args, key, v, false), m->err);
    zoo_args_get(&m->out->args, key.p)->silent = true;
    return ASSAY_OK;
}

static assay_status put_int(mapping *m, const char *name, int64_t i)
{
    return put_parameter(m, str_of(name), json_of_int(i));
}

static assay_status put_bool(mapping *m, const char *name, bool yes)
{
    return put_parameter(m, str_of(name), json_of_bool(yes));
}

static assay_status put_each(mapping *m, const char *names, json_value v)
{
    for (str rest = str_of(names), name; str_split(&rest, ' ', &name);)
        TRY(put_parameter(m, name, v));
    return ASSAY_OK;
}

static assay_status put_keys(mapping *m)
{
    for (uint32_t i = 0; i < gguf_keys_n; i++) {
        const gguf_value *v = get_key(m, gguf_keys[i].key);
        json_value number;
        if (!v && !gguf_keys[i].needed)
            continue;
        if (!v || !number_of(m, v, &number))
            return err_fail_node(m->err, ASSAY_ERR_MALFORMED, gguf_keys[i].key, "%s: key %s.%s %s",
                                 m->shown, m->arch, gguf_keys[i].key,
                                 v ? "must be a number" : "is missing");
        TRY(put_each(m, gguf_keys[i].parameters, number));
    }
    return ASSAY_OK;
}

static int64_t int_of(mapping *m, const char *key, int64_t otherwise)
{
    const gguf_value *v = get_key(m, key);
    json_value number;
    return v && number_of(m, v, &number) && number.kind == JSON_INT ? number.i : otherwise;
}

static bool has_tensor(const mapping *m, const char *name)
{
    return weight_set_get(m->g->weights, str_of(name)) != NULL;
}

static int64_t rows_of(const mapping *m, const char *tensor, int64_t otherwise)
{
    const weight_item *x = weight_set_get(m->g->weights, str_of(tensor));
    return x && x->rank == 2 ? x->dims[0] : otherwise;
}

/* A head's size, which llama.cpp takes as width / heads when nobody says. */
static assay_status put_head(mapping *m)
{
    int64_t heads = int_of(m, "attention.head_count", 0), width = int_of(m, "embedding_length", 0);
    if (get_key(m, "attention.key_length") || heads < 1 || width < heads)
        return ASSAY_OK;
    return put_int(m, "head_dim", width / heads);
}

/* Multi-head latent attention: newer files give the sizes of the compressed form as key_length, and
 * those of a head as key_length_mla. */
static assay_status put_latent(mapping *m)
{
    int64_t key = int_of(m, "attention.key_length_mla", int_of(m, "attention.key_length", 0));
    int64_t value = int_of(m, "attention.value_length_mla", int_of(m, "attention.value_length", 0));
    int64_t turned = int_of(m, "rope.dimension_count", 0);
    if (key <= turned || turned < 1 || value < 1)
        return err_fail_node(m->err, ASSAY_ERR_MALFORMED, "attention.key_length",
                             "%s: keys %s.attention.key_length, value_length and "
                             "rope.dimension_count are missing or inconsistent",
                             m->shown, m->arch);
    TRY(put_int(m, "qk_nope_head_dim", key - turned));
    TRY(put_int(m, "qk_rope_head_dim", turned));
    TRY(put_int(m, "v_head_dim", value));
    TRY(put_int(m, "q_lora_rank", int_of(m, "attention.q_lora_rank", 0)));
    return put_int(m, "num_hidden_layers",
                   int_of(m, "block_count", 1) - int_of(m, "nextn_predict_layers", 0));
}

static assay_status put_falcon(mapping *m)
{
    bool grouped = has_tensor(m, "blk.0.attn_norm_2.weight");
    TRY(put_bool(m, "new_decoder_architecture", grouped));
    return put_bool(m, "multi_query", !grouped && int_of(m, "attention.head_count_kv", 0) == 1);
}

/* Whether there are biases is seen at the tensors; each family has its own key for it. */
static assay_status put_biases(mapping *m)
{
    static const struct {
        const char *model_type, *key;
    } rows[] = {{"llama", "attention_bias"},  {"granite", "attention_bias"},
                {"cohere", "attention_bias"}, {"arcee", "attention_bias"},
                {"stablelm", "use_qkv_bias"}, {"starcoder2", "use_bias"},
                {"ernie4_5", "use_bias"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(m->model_type, rows[i].model_type) == 0)
            TRY(put_bool(m, rows[i].key, has_tensor(m, "blk.0.attn_q.bias")));
    if (strcmp(m->model_type, "stablelm") == 0)
        return put_bool(m, "use_parallel_residual", !has_tensor(m, "blk.0.ffn_norm.weight"));
    return ASSAY_OK;
}

static assay_status put_rest(mapping *m)
{
    const gguf_value *tokens = gguf_get(m->g, "tokenizer.ggml.tokens");
    int64_t vocab = rows_of(
        m, "token_embd.weight",
        int_of(m, "vocab_size", tokens && tokens->kind == GGUF_LIST ? (int64_t)tokens->n : 0));
    if (vocab < 1)
        return err_fail_node(
            m->err, ASSAY_ERR_MALFORMED, "token_embd.weight",
            "%s: unknown vocabulary size: no tensor token_embd.weight and no token list", m->shown);
    str type = str_of(m->model_type);
    TRY(put_parameter(m, STR("model_type"), json_of_text(type)));
    TRY(put_int(m, "vocab_size", vocab));
    TRY(put_bool(m, "tie_word_embeddings", !has_tensor(m, "output.weight")));
    TRY(put_biases(m));
    if (str_is(type, "gpt_oss"))
        TRY(put_int(m, "intermediate_size",
                    int_of(m, "expert_feed_forward_length", int_of(m, "feed_forward_length", 1))));
    if (str_is(type, "gpt2"))
        TRY(put_int(m, "n_positions", rows_of(m, "position_embd.weight", 1024)));
    if (str_is(type, "falcon"))
        TRY(put_falcon(m));
    return m->style == GGUF_LLAMA && !get_key(m, "attention.kv_lora_rank") ? put_head(m) : ASSAY_OK;
}

/* ---- tensors ---- */

static const char *stem_of(const mapping *m, bool in_block, str stem)
{
    const gguf_stems *stems = in_block ? &gguf_inner : &gguf_outer;
    for (uint32_t i = 0; i < stems->n; i++)
        if (gguf_stem_is(&stems->rows[i], m->style, m->model_type) &&
            str_is(stem, stems->rows[i].from))
            return stems->rows[i].to;
    return NULL;
}

static bool split_name(str name, str *block, str *stem, str *part)
{
    const char *dot = memrchr(name.p, '.', name.n);
    *block = (str){0};
    if (!dot)
        return false;
    *part = (str){dot + 1, (uint32_t)(name.p + name.n - dot - 1)};
    *stem = (str){name.p, (uint32_t)(dot - name.p)};
    if (!str_starts(*stem, "blk."))
        return true;
    uint32_t at = 4;
    while (at < stem->n && stem->p[at] >= '0' && stem->p[at] <= '9')
        at++;
    *block = (str){stem->p + 4, at - 4};
    if (at == 4 || at >= stem->n || stem->p[at] != '.')
        return false;
    *stem = (str){stem->p + at + 1, stem->n - at - 1};
    return true;
}

static assay_status rename_tensors(mapping *m)
{
    weight_set *w = m->g->weights;
    for (uint32_t i = 0; i < w->items.n; i++) {
        str block, stem, part;
        size_t n;
        if (!split_name(w->items.items[i].name, &block, &stem, &part))
            continue;
        const char *to = stem_of(m, block.n > 0, stem);
        if (!to)
            continue;
        const char *end = gguf_ending(to, part, &n);
        str *as = &w->items.items[i].as;
        *as = block.n ? str_printf(m->arena, "%s." STR_FMT ".%.*s%s", gguf_blocks[m->style],
                                   STR_ARG(block), (int)n, to, end)
                      : str_printf(m->arena, "%.*s%s", (int)n, to, end);
        TRY_MEMORY(as->p, m->err);
    }
    return ASSAY_OK;
}

/* ---- both ---- */

/* Families of one name in llama.cpp that are several here. */
static void refine_model_type(mapping *m)
{
    if (strcmp(m->model_type, "llama") == 0 && int_of(m, "expert_count", 0) > 0)
        m->model_type = "mixtral";
    if (strcmp(m->model_type, "deepseek_v2") == 0 && int_of(m, "expert_gating_func", 1) == 2)
        m->model_type = "deepseek_v3";
}

static assay_status fill_config(mapping *m)
{
    refine_model_type(m);
    TRY(put_keys(m));
    TRY(put_rest(m));
    if (str_starts(str_of(m->model_type), "deepseek"))
        TRY(put_latent(m));
    TRY(rename_tensors(m));
    m->out->row = m->uneven ? NULL : zoo_find_family(str_of(m->model_type));
    m->out->name = str_of(m->model_type);
    return ASSAY_OK;
}

assay_status gguf_configure(gguf_file *g, const char *shown, arena *a, model_config *out,
                            assay_error *err)
{
    mapping m = {.g = g, .shown = shown, .arena = a, .out = out, .err = err};
    *out = (model_config){0};
    zoo_args_init(&out->args, a);
    for (uint32_t i = 0; i < gguf_archs_n; i++) {
        if (!str_is(g->architecture, gguf_archs[i].arch))
            continue;
        m.arch = gguf_archs[i].arch;
        m.model_type = gguf_archs[i].model_type;
        m.style = gguf_archs[i].style;
        return fill_config(&m);
    }
    return ASSAY_OK;
}
