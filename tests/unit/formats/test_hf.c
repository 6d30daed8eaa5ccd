/* Hugging Face and diffusers folders through the public functions: configurations alone, with the weights
 * that belong to them in the ways checkpoints write them, with weights that do not, and with none that are
 * known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <assay/assay.h>
#include <sys/stat.h>

#include "base/json_tree.h"
#include "base/sbuf.h"
#include "formats/hf_folder.h"
#include "support/folder.h"
#include "support/values.h"
#include "support/weights_writer.h"

static void save_text(const char *name, const char *text)
{
    wf f = {0};
    wf_put(&f, text, strlen(text));
    assert_int_equal(wf_save(&f, in_test_folder(name)), 0);
    wf_free(&f);
}

/* An empty folder of this name. */
static void fresh(const char *name)
{
    char command[1100];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", in_test_folder(name),
             in_test_folder(name));
    assert_int_equal(system(command), 0);
}

/* ---- weights as a builder asks for them ---- */

typedef struct header {
    sbuf json;
    uint64_t at;
} header;

static void put(header *h, const char *name, const char *dtype, int bytes, const int64_t *dims,
                int rank)
{
    uint64_t n = (uint64_t)bytes;
    sbuf_printf(&h->json, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", h->json.n ? "," : "{", name,
                dtype);
    for (int i = 0; i < rank; i++) {
        sbuf_printf(&h->json, i ? ",%lld" : "%lld", (long long)dims[i]);
        n *= (uint64_t)dims[i];
    }
    sbuf_printf(&h->json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)h->at,
                (unsigned long long)(h->at + n));
    h->at += n;
}

typedef struct edits {
    const char *prefix; /* left out of the names, or NULL */
    const char *drop;   /* a tensor that is left out */
    const char *other;  /* a tensor whose first dim is one larger */
} edits;

static void put_constant(header *h, const ir_value *v, const edits *e)
{
    int64_t dims[8];
    const ir_tensor *t = v->constant;
    const char *star = memchr(v->name.p, '*', v->name.n);
    int skip = star ? 1 : 0, rank = t->rank - skip;
    char name[256];
    for (int i = 0; i < rank; i++)
        dims[i] = t->dims[i + skip];
    if (v->flags & IR_VALUE_TRANSPOSED) {
        dims[rank - 1] = t->dims[t->rank - 2];
        dims[rank - 2] = t->dims[t->rank - 1];
    }
    for (int64_t k = 0; k < (star ? t->dims[0] : 1); k++) {
        if (star)
            snprintf(name, sizeof name, "%.*s%d%s", (int)(star - v->name.p), v->name.p, (int)k,
                     star + 1);
        else
            snprintf(name, sizeof name, "%s", v->name.p);
        size_t n = e->prefix ? strlen(e->prefix) : 0;
        const char *called = n && strncmp(name, e->prefix, n) == 0 ? name + n : name;
        if (e->drop && strcmp(name, e->drop) == 0)
            continue;
        dims[0] += e->other && strcmp(name, e->other) == 0;
        put(h, called, "BF16", 2, dims, rank);
    }
}

static header weights_for(const char *config, const edits *e)
{
    arena *a = arena_new((size_t)16 << 20);
    assay_error err = {0};
    json_value root;
    model_config c;
    ir_model *m = NULL;
    header h = {0};
    assert_int_equal(json_tree_parse(str_of(config), "config", NULL, a, &root, &err), ASSAY_OK);
    assert_int_equal(model_config_of(&root, "x/config.json", a, &c, &err), ASSAY_OK);
    const zoo_request q = {.row = c.row, .set = &c.args, .memory_limit = (size_t)64 << 20};
    if (zoo_build(&q, &m, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    for (ir_id id = 0; id < m->values.n; id++)
        if (ir_value_at(m, id)->constant && ir_value_at(m, id)->flags & IR_VALUE_PARAM)
            put_constant(&h, ir_value_at(m, id), e);
    ir_model_free(m);
    arena_free(a);
    return h;
}

static void save_weights(const char *name, header *h)
{
    sbuf_puts(&h->json, "}");
    wf f = st_file(sbuf_cstr(&h->json), h->at);
    assert_int_equal(wf_save(&f, in_test_folder(name)), 0);
    wf_free(&f);
    sbuf_free(&h->json);
}

static void save_model(const char *name, const char *config, const edits *e)
{
    char path[128];
    fresh(name);
    snprintf(path, sizeof path, "%s/config.json", name);
    save_text(path, config);
    snprintf(path, sizeof path, "%s/model.safetensors", name);
    header h = weights_for(config, e);
    save_weights(path, &h);
}

/* ---- asking ---- */

typedef struct answer {
    assay_status status;
    assay_error err;
    totals t;
    char json[1 << 18];
} answer;

static answer *ask(const char *name, bool strict)
{
    static answer a;
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_options *o = assay_options_new();
    char *text = NULL;
    size_t n = 0;
    a = (answer){0};
    if (strict)
        assay_options_set(o, "strict", NULL, &a.err);
    a.status = assay_model_open(in_test_folder(name), &m, &a.err);
    if (a.status == ASSAY_OK)
        a.status = assay_analyze(m, o, &p, &a.err);
    if (p) {
        a.t = totals_of(p);
        assert_int_equal(assay_result_write(p, "json", NULL, &text, &n, &a.err), ASSAY_OK);
        snprintf(a.json, sizeof a.json, "%s", text);
        assay_free(text);
    }
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
    return &a;
}

static void expect_error(const char *name, assay_status status, const char *part)
{
    const answer *a = ask(name, false);
    if (a->status != status || !strstr(a->err.message, part))
        fail_msg("%s: %d '%s' is not %d with '%s'", name, (int)a->status, a->err.message,
                 (int)status, part);
}

static void expect_said(const char *name, const char *code)
{
    const answer *a = ask(name, false);
    if (a->status != ASSAY_OK)
        fail_msg("%s", a->err.message);
    if (!strstr(a->json, code))
        fail_msg("%s is not said of %s", code, name);
}

/* Weights that belong: half the bytes of float32, and no word about differences. */
static void expect_agreement(const char *name)
{
    const answer *a = ask(name, true);
    if (a->status != ASSAY_OK)
        fail_msg("%s: %s", name, a->err.message);
    const char *said = strstr(a->json, "\"weights-");
    if (said)
        fail_msg("%s: %.200s", name, said);
    assert_int_equal(a->t.weights_bytes, 2 * (a->t.parameters + a->t.buffers));
    assert_true(a->t.file_size_bytes > a->t.weights_bytes);
    assert_true(a->t.macs > 0);
}

#define GPT2                                                                                      \
    "{\"model_type\":\"gpt2\",\"architectures\":[\"GPT2LMHeadModel\"],\"n_embd\":32,\"n_layer\":" \
    "2,\"n_head\":4,\"vocab_size\":100,\"n_positions\":256,\"strange\":{\"a\":1}}"
#define BERT                                                                                        \
    "{\"model_type\":\"bert\",\"architectures\":[\"BertForMaskedLM\"],\"hidden_size\":32,"          \
    "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"intermediate_size\":64,\"vocab_size\":90," \
    "\"max_position_embeddings\":256}"
#define LLAMA_KEYS                                                                          \
    "\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":64," \
    "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_key_value_heads\":2,"          \
    "\"intermediate_size\":96,\"vocab_size\":120,\"tie_word_embeddings\":true}"
#define LLAMA "{" LLAMA_KEYS
#define MIXTRAL                                                                               \
    "{\"model_type\":\"mixtral\",\"hidden_size\":64,\"num_hidden_layers\":1,\"num_attention_" \
    "heads\":4,\"num_key_value_heads\":2,\"intermediate_size\":96,\"vocab_size\":120,"        \
    "\"num_local_experts\":4,\"num_experts_per_tok\":2}"

/* ---- tests ---- */

static void weights_agree(void **state)
{
    (void)state;
    save_model("gpt2-tiny", GPT2, &(edits){0});
    expect_agreement("gpt2-tiny");
    save_model("gpt2-bare", GPT2, &(edits){.prefix = "transformer."});
    expect_agreement("gpt2-bare");
    save_model("bert-tiny", BERT, &(edits){0});
    expect_agreement("bert-tiny");
    save_model("llama-tiny", LLAMA, &(edits){0});
    expect_agreement("llama-tiny");
    save_model("mixtral-tiny", MIXTRAL, &(edits){0});
    expect_agreement("mixtral-tiny");
    expect_agreement("mixtral-tiny/model.safetensors");
}

/* Activations are in the type of the weights; of a configuration alone, in the one that it names. */
static void activations_follow_the_weights(void **state)
{
    (void)state;
    save_model("llama-typed", LLAMA, &(edits){0});
    const answer *a = ask("llama-typed", false);
    uint64_t narrow = a->t.activations_peak_bytes;
    assert_non_null(strstr(a->json, "\"name\": \"logits\", \"dtype\": \"bfloat16\""));
    fresh("llama-plain");
    save_text("llama-plain/config.json", LLAMA);
    a = ask("llama-plain", false);
    assert_non_null(strstr(a->json, "\"name\": \"logits\", \"dtype\": \"float32\""));
    assert_true(a->t.activations_peak_bytes > narrow);
    save_text("llama-plain/config.json", "{\"torch_dtype\":\"float16\"," LLAMA_KEYS);
    a = ask("llama-plain", false);
    assert_non_null(strstr(a->json, "\"precision\": \"float16\""));
    assert_int_equal(a->t.activations_peak_bytes, narrow);
    assert_int_equal(a->t.weights_bytes, 2 * a->t.parameters);
}

static void other_names_are_understood(void **state)
{
    (void)state;
    header h = weights_for(LLAMA, &(edits){.drop = "model.embed_tokens.weight"});
    fresh("tied");
    save_text("tied/config.json", LLAMA);
    put(&h, "lm_head.weight", "BF16", 2, (const int64_t[]){120, 64}, 2);
    save_weights("tied/model.safetensors", &h);
    expect_agreement("tied");
    h = weights_for(LLAMA, &(edits){0});
    put(&h, "lm_head.weight", "BF16", 2, (const int64_t[]){120, 64}, 2);
    put(&h, "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", 4, (const int64_t[]){8}, 1);
    save_weights("tied/model.safetensors", &h);
    expect_agreement("tied");
    h = weights_for(LLAMA, &(edits){0});
    put(&h, "model.layers.2.eh_proj.weight", "BF16", 2, (const int64_t[]){64, 128}, 2);
    put(&h, "model.layers.2.enorm.weight", "BF16", 2, (const int64_t[]){64}, 1);
    save_weights("tied/model.safetensors", &h);
    expect_agreement("tied");
    assert_non_null(strstr(ask("tied", false)->json, "\"parameters_not_in_graph\": 8256"));
}

static void quantised_weights_are_understood(void **state)
{
    (void)state;
    const edits e = {.drop = "model.layers.0.mlp.gate_proj.weight"};
    header h = weights_for(LLAMA, &e);
    fresh("gptq");
    save_text("gptq/config.json", LLAMA);
    put(&h, "model.layers.0.mlp.gate_proj.qweight", "I32", 4, (const int64_t[]){8, 96}, 2);
    put(&h, "model.layers.0.mlp.gate_proj.qzeros", "I32", 4, (const int64_t[]){1, 12}, 2);
    put(&h, "model.layers.0.mlp.gate_proj.scales", "F16", 2, (const int64_t[]){1, 96}, 2);
    save_weights("gptq/model.safetensors", &h);
    const answer *a = ask("gptq", true);
    assert_int_equal(a->status, ASSAY_OK);
    assert_non_null(strstr(a->json, "\"packed\""));
    assert_int_equal(a->t.weights_bytes, 2 * (a->t.parameters - 96 * 64) + 8 * 96 * 4 + 48 + 192);
}

static void differences_are_shown(void **state)
{
    (void)state;
    save_model("diff", LLAMA, &(edits){.drop = "model.norm.weight"});
    expect_said("diff", "weights-missing");
    expect_said("diff", "'model.norm.weight'");
    assert_int_equal(ask("diff", true)->status, ASSAY_ERR_UNSUPPORTED);
    save_model("diff", LLAMA, &(edits){.other = "model.layers.1.mlp.up_proj.weight"});
    expect_said("diff", "[97, 64]");
    header h = weights_for(LLAMA, &(edits){0});
    put(&h, "model.extra.weight", "F32", 4, (const int64_t[]){3, 5}, 2);
    save_weights("diff/model.safetensors", &h);
    expect_said("diff", "'model.extra.weight'");
    expect_said("diff", "weights-unexpected");
}

static void unknown_architectures_give_an_inventory(void **state)
{
    (void)state;
    header h = weights_for(LLAMA, &(edits){0});
    fresh("odd");
    save_weights("odd/model.safetensors", &h);
    save_text("odd/config.json", "{\"model_type\":\"nobody_knows\"}");
    expect_said("odd", "'nobody_knows'");
    const answer *a = ask("odd", false);
    assert_non_null(strstr(a->json, "\"inventory\""));
    assert_int_equal(a->t.macs, 0);
    assert_int_equal(a->t.weights_bytes, 2 * a->t.parameters);
    assert_int_equal(ask("odd", true)->status, ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(remove(in_test_folder("odd/config.json")), 0);
    expect_said("odd", "no-graph");
    expect_said("odd/model.safetensors", "no-graph");
    fresh("odd");
    save_text("odd/config.json", "{\"model_type\":\"nobody_knows\"}");
    expect_error("odd", ASSAY_ERR_UNSUPPORTED, "'nobody_knows'");
    expect_error("odd/config.json", ASSAY_ERR_UNSUPPORTED, "'nobody_knows'");
    fresh("odd");
    expect_error("odd", ASSAY_ERR_UNSUPPORTED, "odd");
}

static void mistakes_are_named(void **state)
{
    (void)state;
    fresh("bad");
    save_text("bad/config.json", "{\"model_type\":\"llama\",");
    expect_error("bad", ASSAY_ERR_MALFORMED, "line 1");
    save_text("bad/config.json", "{\"model_type\":\"llama\",\"hidden_size\":\"wide\"}");
    expect_error("bad", ASSAY_ERR_MALFORMED, "hidden_size");
    save_text("bad/config.json", "{\"model_type\":\"llama\",\"a\":1,\"a\":2}");
    expect_error("bad", ASSAY_ERR_MALFORMED, "'a'");
    save_text("bad/config.json", "{\"model_type\":7}");
    expect_error("bad", ASSAY_ERR_MALFORMED, "model_type");
    save_text("bad/config.json", "{\"architectures\":[\"NobodyKnowsModel\"]}");
    expect_error("bad", ASSAY_ERR_MALFORMED, "model_type");
    save_text("bad/config.json", "{\"model_type\":\"llama\",\"architectures\":[1]}");
    expect_error("bad", ASSAY_ERR_MALFORMED, "architectures");
    save_text("bad/config.json", "[]");
    expect_error("bad", ASSAY_ERR_MALFORMED, "config.json");
    save_text("bad/config.json", LLAMA);
    save_text("bad/model.safetensors", "12345678{}");
    expect_error("bad", ASSAY_ERR_MALFORMED, "model.safetensors");
    expect_error("bad/gone.safetensors", ASSAY_ERR_SYSTEM, "gone");
    expect_error("bad/gone.gguf", ASSAY_ERR_SYSTEM, "gone");
}

static void pipelines_show_their_denoiser(void **state)
{
    hf_folder f;
    arena *a = arena_new(1 << 20);
    assay_error err = {0};
    (void)state;
    fresh("pipe");
    fresh("pipe/text_encoder");
    fresh("pipe/transformer");
    save_text("pipe/text_encoder/config.json", BERT);
    save_text("pipe/transformer/config.json", LLAMA);
    save_text("pipe/model_index.json",
              "{\"_class_name\":\"OddPipeline\",\"_diffusers_version\":\"0.1\",\"transformer\":["
              "\"diffusers\",\"OddModel\"],\"text_encoder\":[\"transformers\",\"BertModel\"],"
              "\"scheduler\":[\"diffusers\",\"Odd\"],\"safety_checker\":[null,null],\"x\":true}");
    assert_int_equal(hf_folder_read(in_test_folder("pipe"), a, &f, &err), ASSAY_OK);
    assert_int_equal(f.components.n, 3);
    assert_true(str_is(f.pipeline, "OddPipeline"));
    assert_true(str_is(hf_folder_denoiser(&f)->class_name, "OddModel"));
    assert_false(f.components.items[2].is_model);
    expect_said("pipe", "pipeline-component");
    assert_true(ask("pipe", false)->t.macs > 0);
    assert_int_equal(remove(in_test_folder("pipe/model_index.json")), 0);
    assert_int_equal(hf_folder_read(in_test_folder("pipe"), a, &f, &err), ASSAY_OK);
    assert_int_equal(f.components.n, 2);
    assert_true(str_is(hf_folder_denoiser(&f)->name, "transformer"));
    save_text("pipe/model_index.json", "{\"../x\":[\"a\",\"b\"]}");
    expect_error("pipe", ASSAY_ERR_MALFORMED, "../x");
    arena_free(a);
}

int run_test_hf(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_agree),
        cmocka_unit_test(activations_follow_the_weights),
        cmocka_unit_test(other_names_are_understood),
        cmocka_unit_test(quantised_weights_are_understood),
        cmocka_unit_test(differences_are_shown),
        cmocka_unit_test(unknown_architectures_give_an_inventory),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(pipelines_show_their_denoiser),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
