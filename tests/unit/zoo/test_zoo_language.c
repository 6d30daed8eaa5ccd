/* Language, speech and image-text models: every count of tests/data/transformers.csv, names and
 * shapes of weights, caches and windows, configs with nested objects, classes, and parameters that
 * do not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "ir/verify.h"
#include "zoo/zoo.h"

enum { MEMORY = 1 << 30 };

/* ---- helpers ---- */

typedef struct built {
    ir_model *model;
    assay_status status;
    assay_error err;
} built;

/* "@bert" is the family, "bert-base-uncased" the model. */
static const zoo_row *row_of(const char *name)
{
    return name[0] == '@' ? zoo_find_family(str_of(name + 1)) : zoo_find(str_of(name));
}

static built build_with(const char *name, const zoo_args *set, bool lenient)
{
    built r = {0};
    err_clear(&r.err);
    zoo_request q = {.row = row_of(name), .set = set, .memory_limit = MEMORY, .lenient = lenient};
    if (!q.row)
        fail_msg("there is no model '%s'", name);
    r.status = zoo_build(&q, &r.model, &r.err);
    return r;
}

static built build(const char *name, const char *text)
{
    built r = {0};
    zoo_args set;
    arena *a = arena_new(MEMORY);
    zoo_args_init(&set, a);
    err_clear(&r.err);
    r.status = zoo_args_parse(&set, str_of(text), false, &r.err);
    if (r.status == ASSAY_OK)
        r = build_with(name, &set, false);
    arena_free(a);
    return r;
}

static ir_model *built_well(const char *name, const char *set)
{
    built r = build(name, set);
    if (r.status != ASSAY_OK)
        fail_msg("%s %s: %s", name, set, r.err.message);
    return r.model;
}

typedef struct counts {
    uint64_t params, macs;
    uint32_t notes;
} counts;

static counts count(const ir_model *m, const char *name)
{
    assay_error err;
    counts c = {0};
    counted of;
    infer_result *r = NULL;
    arena *a = arena_new(MEMORY);
    profile *p = profile_new(MEMORY);
    err_clear(&err);
    assay_status status = ir_verify(m, &err);
    if (status == ASSAY_OK)
        status = infer_run(m, NULL, a, &r, &err);
    if (status == ASSAY_OK)
        status = count_run(r, NULL, p, &of, &err);
    if (status != ASSAY_OK)
        fail_msg("%s: %s", name, err.message);
    c.params = p->architecture.total_parameters;
    c.macs = p->architecture.macs;
    c.notes = r->notes.list.n + m->notes.list.n + p->accounting.n_items + r->items.n;
    for (uint32_t i = 0; i < r->notes.list.n; i++)
        print_message("%s: " STR_FMT "\n", name, STR_ARG(r->notes.list.items[i].text));
    profile_free(p);
    arena_free(a);
    return c;
}

static counts count_of(const char *name, const char *set)
{
    ir_model *m = built_well(name, set);
    counts c = count(m, name);
    ir_model_free(m);
    return c;
}

static const ir_value *value_named(const ir_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->values.n; i++)
        if (str_is(m->values.items[i].name, name))
            return &m->values.items[i];
    return NULL;
}

/* The shape of an input, output or weight: "1x8x5x64". */
static void assert_shape(const ir_model *m, const char *name, const char *shape)
{
    char text[128] = "";
    int n = 0;
    const ir_value *v = value_named(m, name);
    if (!v)
        fail_msg("there is no value '%s'", name);
    for (int i = 0; i < v->declared.rank && !v->constant; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, i ? "x%lld" : "%lld",
                      (long long)v->declared.dims[i].value);
    for (int i = 0; v->constant && i < v->constant->rank; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, i ? "x%lld" : "%lld",
                      (long long)v->constant->dims[i]);
    assert_string_equal(text, shape);
}

static int64_t dim_of(const ir_model *m, ir_id value, int i)
{
    return ir_value_at(m, value)->declared.dims[i].value;
}

/* Products of scores, and of values too, of all Attention nodes. */
static uint64_t attention_macs(const ir_model *m, bool values)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->nodes.n; i++) {
        const ir_node *n = &m->nodes.items[i];
        if (!str_is(n->op, "Attention"))
            continue;
        int64_t width = dim_of(m, n->inputs[0], 3);
        width += values ? dim_of(m, n->inputs[2], 3) : 0;
        sum += (uint64_t)(dim_of(m, n->inputs[0], 0) * dim_of(m, n->inputs[0], 1) *
                          dim_of(m, n->inputs[0], 2) * dim_of(m, n->inputs[1], 2) * width);
    }
    return sum;
}

/* ---- counts ---- */

enum { MODEL, SET, QUANTITY, VALUE, SOURCE, COLUMNS };

static bool split_line(char *line, char **cells)
{
    line[strcspn(line, "\r\n")] = 0;
    for (int i = 0; i < COLUMNS; i++) {
        cells[i] = line;
        line = i + 1 < COLUMNS ? strchr(line, ',') : NULL;
        if (i + 1 == COLUMNS)
            return true;
        if (!line)
            return false;
        *line++ = 0;
    }
    return true;
}

/* Equal to as many digits as are printed. */
static bool equal_to_digits(double got, const char *printed)
{
    const char *dot = strchr(printed, '.');
    int digits = dot ? (int)strlen(dot + 1) : 0;
    char text[64];
    snprintf(text, sizeof text, "%.*f", digits, got);
    return strcmp(text, printed) == 0 ||
           fabs(got - strtod(printed, NULL)) <= 0.5 * pow(10.0, -digits) * (1.0 + 1e-9);
}

static void check_row(char **cells)
{
    const char *what = cells[QUANTITY], *name = cells[MODEL];
    ir_model *m = built_well(name, cells[SET]);
    counts c = count(m, name);
    uint64_t value = strtoull(cells[VALUE], NULL, 10), macs = c.macs;
    if (strcmp(what, "macs without attention") == 0)
        macs -= attention_macs(m, true);
    if (strcmp(what, "gmacs without scores") == 0)
        macs -= attention_macs(m, false);
    ir_model_free(m);
    if (c.notes)
        fail_msg("%s: the analysis had %u things to say", name, c.notes);
    if (strcmp(what, "params") == 0 && c.params != value)
        fail_msg("%s %s: %llu parameters, not %s", name, cells[SET], (unsigned long long)c.params,
                 cells[VALUE]);
    if (strncmp(what, "macs", 4) == 0 && macs != value)
        fail_msg("%s %s: %llu %s, not %s", name, cells[SET], (unsigned long long)macs, what,
                 cells[VALUE]);
    if (strncmp(what, "gmacs", 5) == 0 && !equal_to_digits((double)macs / 1e9, cells[VALUE]))
        fail_msg("%s %s: %.6f %s, not %s", name, cells[SET], (double)macs / 1e9, what,
                 cells[VALUE]);
}

static void published_counts(void **state)
{
    char line[1024], *cells[COLUMNS];
    int n = 0;
    (void)state;
    FILE *f = fopen("tests/data/transformers.csv", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!split_line(line, cells) || strcmp(cells[MODEL], "model") == 0)
            continue;
        check_row(cells);
        n++;
    }
    fclose(f);
    assert_true(n > 100);
}

/* ---- names and shapes ---- */

static void weights_have_the_names_of_the_checkpoint(void **state)
{
    (void)state;
    ir_model *m = built_well("bert-base-uncased", "");
    assert_shape(m, "embeddings.word_embeddings.weight", "30522x768");
    assert_shape(m, "encoder.layer.11.attention.self.query.weight", "768x768");
    assert_shape(m, "encoder.layer.0.intermediate.dense.weight", "768x3072");
    assert_shape(m, "pooler.dense.weight", "768x768");
    ir_model_free(m);
    m = built_well("llama-3.1-8b", "");
    assert_shape(m, "model.layers.31.self_attn.k_proj.weight", "4096x1024");
    assert_true(value_named(m, "model.layers.31.self_attn.k_proj.weight")->flags &
                IR_VALUE_TRANSPOSED);
    assert_shape(m, "lm_head.weight", "4096x128256");
    ir_model_free(m);
    m = built_well("gpt2", "");
    assert_shape(m, "transformer.h.0.attn.c_attn.weight", "768x2304");
    assert_false(value_named(m, "transformer.h.0.attn.c_attn.weight")->flags & IR_VALUE_TRANSPOSED);
    assert_null(value_named(m, "lm_head.weight"));
    ir_model_free(m);
    m = built_well("mixtral-8x7b", "");
    assert_shape(m, "model.layers.0.block_sparse_moe.experts.*.w1.weight", "8x4096x14336");
    assert_shape(m, "model.layers.0.block_sparse_moe.gate.weight", "8x4096");
    ir_model_free(m);
}

/* ---- caches ---- */

static void a_step_reads_and_gives_the_cache(void **state)
{
    (void)state;
    ir_model *m = built_well("llama-3.1-8b", "past=1000");
    assert_shape(m, "input_ids", "1x1");
    assert_shape(m, "attention_mask", "1x1001");
    assert_shape(m, "past_key_values.31.value", "1x8x1000x128");
    assert_shape(m, "present.31.value", "1x8x1001x128");
    assert_int_equal(count(m, "llama").macs, 7504658432 + 32 * 2 * 32 * 128 * 1001LL);
    ir_model_free(m);
}

static void a_window_bounds_the_cache_and_the_products(void **state)
{
    (void)state;
    ir_model *m = built_well("mistral-7b", "past=10000");
    assert_shape(m, "past_key_values.0.key", "1x8x4095x128");
    assert_shape(m, "present.0.key", "1x8x4096x128");
    ir_model_free(m);
    m = built_well("gpt-oss-20b", "past=1000");
    assert_shape(m, "past_key_values.0.key", "1x8x127x64");
    assert_shape(m, "past_key_values.1.key", "1x8x1000x64");
    ir_model_free(m);
    uint64_t full = count_of("mistral-7b", "seq_len=8192 sliding_window=null").macs;
    uint64_t near = count_of("mistral-7b", "seq_len=8192").macs;
    assert_int_equal(full - near, 32LL * 32 * 8192 * 4096 * 256);
}

/* The decoder alone, with what it kept of the encoder. */
static void a_step_after_an_encoder(void **state)
{
    (void)state;
    ir_model *m = built_well("whisper-small", "past=10");
    assert_shape(m, "input_ids", "1x1");
    assert_shape(m, "past_key_values.11.encoder.key", "1x12x1500x64");
    assert_shape(m, "past_key_values.11.decoder.value", "1x12x10x64");
    assert_shape(m, "present.11.decoder.value", "1x12x11x64");
    assert_null(value_named(m, "model.encoder.conv1.weight"));
    ir_model_free(m);
    m = built_well("t5-small", "past=10 seq_len=50");
    assert_shape(m, "encoder_attention_mask", "1x50");
    assert_shape(m, "past_key_values.5.encoder.value", "1x8x50x64");
    assert_shape(m, "present.5.decoder.key", "1x8x11x64");
    assert_int_equal(count(m, "t5-small").notes, 0);
    ir_model_free(m);
}

/* Latent attention keeps 512 + 64 numbers per token and layer. */
static void latent_attention_keeps_little(void **state)
{
    (void)state;
    ir_model *m = built_well("deepseek-v3", "past=1000");
    assert_shape(m, "past_key_values.60.key", "1x1x1000x512");
    assert_shape(m, "past_key_values.60.value", "1x1x1000x64");
    assert_int_equal(count(m, "deepseek-v3").params, 671026404352);
    ir_model_free(m);
}

/* ---- experts ---- */

/* Of the experts only the active ones are computed: per token and layer 3 * H * I each. */
static void active_experts_count(void **state)
{
    (void)state;
    uint64_t two = count_of("mixtral-8x7b", "seq_len=1").macs;
    uint64_t three = count_of("mixtral-8x7b", "seq_len=1 num_experts_per_tok=3").macs;
    assert_int_equal(three - two, 32LL * 3 * 4096 * 14336);
    counts some = count_of("qwen3-30b-a3b", "mlp_only_layers=0,1");
    assert_int_equal(some.params, 30532122624 - 2 * (128LL * 2048 + 128LL * 3 * 2048 * 768) +
                                      2 * 3LL * 2048 * 6144);
}

/* ---- configs ---- */

static void nested_objects_are_read(void **state)
{
    (void)state;
    arena *a = arena_new(MEMORY);
    zoo_args set;
    json_value root;
    const str config = STR("{\"text_config\": {\"hidden_size\": 64, \"num_attention_heads\": 4},"
                           " \"id2label\": {\"0\": \"\", \"1\": \"\", \"2\": \"\"}}");
    assert_int_equal(json_tree_parse(config, "config", NULL, a, &root, NULL), ASSAY_OK);
    json_value text = *json_get(&root, "text_config"), named = *json_get(&root, "id2label");
    zoo_args_init(&set, a);
    assert_true(zoo_args_put(&set, STR("text_config"), text, false));
    built r = build_with("@clip", &set, false);
    assert_int_equal(r.status, ASSAY_OK);
    assert_shape(r.model, "text_model.embeddings.token_embedding.weight", "49408x64");
    ir_model_free(r.model);
    zoo_args_init(&set, a);
    assert_true(zoo_args_put(&set, STR("id2label"), named, false));
    r = build_with("@vit", &set, false);
    assert_int_equal(r.status, ASSAY_OK);
    assert_shape(r.model, "classifier.weight", "3x768");
    ir_model_free(r.model);
    arena_free(a);
}

/* A synonym that the user gives beats the row's word. */
static void synonyms_beat_defaults(void **state)
{
    (void)state;
    ir_model *m = built_well("@deepseek_v3", "num_routed_experts=64 num_hidden_layers=4");
    assert_shape(m, "model.layers.3.mlp.gate.weight", "64x7168");
    ir_model_free(m);
    m = built_well("@gpt2", "hidden_size=64 num_attention_heads=4");
    assert_shape(m, "transformer.wte.weight", "50257x64");
    ir_model_free(m);
}

/* What a config says about training or the tokenizer is no news. */
static void silent_keys_make_no_notes(void **state)
{
    (void)state;
    ir_model *m = built_well("@llama", "bos_token_id=1 torch_dtype=bfloat16 use_cache=true "
                                       "transformers_version=4.42.3 pretraining_tp=1");
    assert_int_equal(m->notes.list.n, 0);
    ir_model_free(m);
}

/* A row or a configuration says which type it is published in; without a word it is float32. */
static void native_types(void **state)
{
    static const struct {
        const char *name, *set;
        ir_dtype native;
    } cases[] = {
        {"llama-3.1-8b", "num_hidden_layers=1", IR_BFLOAT16},
        {"llama-2-7b", "num_hidden_layers=1", IR_FLOAT16},
        {"gpt2", "n_layer=1", IR_UNDEFINED},
        {"@llama", "num_hidden_layers=1", IR_UNDEFINED},
        {"@llama", "num_hidden_layers=1 torch_dtype=float16", IR_FLOAT16},
        {"@llama", "num_hidden_layers=1 dtype=bfloat16", IR_BFLOAT16},
        {"@llama", "num_hidden_layers=1 torch_dtype=torch.bfloat16", IR_BFLOAT16},
        {"@llama", "num_hidden_layers=1 torch_dtype=auto", IR_UNDEFINED},
        {"llama-3.1-8b", "num_hidden_layers=1 torch_dtype=float32", IR_UNDEFINED},
        {"llama-3.1-8b", "num_hidden_layers=1 dtype=float16", IR_FLOAT16},
        {"resnet18", "torch_dtype=bfloat16", IR_BFLOAT16},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir_model *m = built_well(cases[i].name, cases[i].set);
        assert_int_equal(m->native, cases[i].native);
        assert_int_equal(m->notes.list.n, 0);
        ir_model_free(m);
    }
}

static void parameters_that_do_not_fit(void **state)
{
    static const struct {
        const char *name, *set, *word;
    } cases[] = {
        {"@llama", "num_attention_heads=0", "num_attention_heads"},
        {"@llama", "num_attention_heads=7 num_key_value_heads=3", "585"},
        {"@llama", "hidden_act=strange", "strange"},
        {"@llama", "hidden_size=many", "hidden_size"},
        {"@llama", "architectures=LlamaForDreaming", "LlamaForDreaming"},
        {"@llama", "rope_scaling.rope_type=spiral", "spiral"},
        {"@llama", "num_key_value_heads=5", "5"},
        {"@llama", "head_dim=33", "RoPE"},
        {"@mixtral", "num_experts_per_tok=9", "experts"},
        {"@deepseek_v3", "n_group=7", "groups"},
        {"@gpt2", "seq_len=2000", "1024"},
        {"@bert", "num_hidden_layers=99999999", "num_hidden_layers"},
        {"@t5", "relative_attention_max_distance=3", "relative_attention_max_distance"},
        {"@vit", "image_size=225", "patches"},
        {"@swin", "depths=2,2", "num_heads"},
        {"@whisper", "past=448", "448"},
        {"@clip", "text_config.hidden_size=-1", "text_config.hidden_size"},
        {"gpt2", "unheard_of=1", "unheard_of"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        built r = build(cases[i].name, cases[i].set);
        if (r.status == ASSAY_OK)
            fail_msg("%s %s was built", cases[i].name, cases[i].set);
        if (!strstr(r.err.message, cases[i].word))
            fail_msg("%s %s: '%s' lacks '%s'", cases[i].name, cases[i].set, r.err.message,
                     cases[i].word);
    }
}

static void unknown_families(void **state)
{
    (void)state;
    assert_null(zoo_find_family(STR("no-such-type")));
    assert_null(zoo_find_family(STR("")));
    assert_non_null(zoo_find_family(STR("qwen3_moe")));
}

int run_test_zoo_language(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_counts),
        cmocka_unit_test(weights_have_the_names_of_the_checkpoint),
        cmocka_unit_test(a_step_reads_and_gives_the_cache),
        cmocka_unit_test(a_window_bounds_the_cache_and_the_products),
        cmocka_unit_test(a_step_after_an_encoder),
        cmocka_unit_test(latent_attention_keeps_little),
        cmocka_unit_test(active_experts_count),
        cmocka_unit_test(nested_objects_are_read),
        cmocka_unit_test(synonyms_beat_defaults),
        cmocka_unit_test(silent_keys_make_no_notes),
        cmocka_unit_test(native_types),
        cmocka_unit_test(parameters_that_do_not_fit),
        cmocka_unit_test(unknown_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
