/* Pipelines through the public interface: SD 2.1 to the last unit, guidance, strength, sweeps, components
 * that are not known, pipelines from files; language models against counts from their configs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <assay/measure.h>
#include <assay/study.h>

#include "analyze/map.h"
#include "base/arena.h"
#include "base/error.h"
#include "device/serving.h"
#include "study/capacity_language.h"
#include "study/language.h"
#include "study/pipeline.h"
#include "support/skip.h"
#include "support/values.h"

static assay_options *options(const char *const *pairs)
{
    assay_options *o = assay_options_new();
    assay_error err;
    for (; *pairs; pairs += 2)
        if (assay_options_set(o, pairs[0], pairs[1], &err) != ASSAY_OK)
            fail_msg("%s", err.message);
    return o;
}
#define OPTIONS(...) options((const char *const[]){__VA_ARGS__, NULL})

/* 0 where there is none; times are negative then. */
typedef struct cost {
    const char *kind, *model, *component;
    bool enabled;
    uint64_t parameters, steps, passes_per_step, macs_per_pass, macs_per_step;
    uint64_t amortised_macs_per_step, vae_macs, text_encoder_macs, total_macs;
    size_t n_components, n_warnings, n_devices;
    double inference_time_s;
} cost;

static cost cost_of(const assay_result *p)
{
    double time = number_at(p, "inference_time_seconds");
    return (cost){.kind = text_at(p, "kind"),
                  .model = text_at(p, "model"),
                  .component = text_at(p, "model_component"),
                  .enabled = number_at(p, "enabled") > 0,
                  .parameters = whole_at(p, "total_params"),
                  .steps = whole_at(p, "steps_run"),
                  .passes_per_step = whole_at(p, "passes_per_step"),
                  .macs_per_pass = whole_at(p, "macs_per_pass"),
                  .macs_per_step = whole_at(p, "macs_per_step"),
                  .amortised_macs_per_step = whole_at(p, "amortised_macs_per_step"),
                  .vae_macs = whole_at(p, "vae_macs"),
                  .text_encoder_macs = whole_at(p, "text_encoder_macs"),
                  .total_macs = whole_at(p, "total_macs"),
                  .n_components = count_at(p, "components"),
                  .n_warnings = count_at(p, "warnings"),
                  .n_devices = count_at(p, "devices"),
                  .inference_time_s = time >= 0 ? time : -1};
}

typedef struct component {
    const char *role, *error;
    uint64_t macs, calls, total_macs, attention_macs;
    double percent, time_ms;
} component;

static bool component_at(const assay_result *p, size_t i, component *out)
{
    *out = (component){.role = text_at(p, "components.%zu.role", i),
                       .error = text_at(p, "components.%zu.error", i),
                       .macs = whole_at(p, "components.%zu.macs_per_call", i),
                       .calls = whole_at(p, "components.%zu.calls", i),
                       .total_macs = whole_at(p, "components.%zu.macs", i),
                       .attention_macs = whole_at(p, "components.%zu.attention.macs", i),
                       .percent = number_at(p, "components.%zu.percent", i),
                       .time_ms = number_at(p, "components.%zu.time_ms", i)};
    return i < count_at(p, "components");
}

static cost run(const char *model, assay_options *o, assay_result **out)
{
    assay_error err;
    if (assay_pipeline(model, o, out, &err) != ASSAY_OK)
        fail_msg("%s: %s", model ? model : "-", err.message);
    assay_options_free(o);
    return cost_of(*out);
}

/* ---- images ---- */

static void sd21_is_exact(void **state)
{
    assay_result *p;
    component c;
    (void)state;
    cost i = run("sd21",
                 OPTIONS("height", "512", "width", "512", "steps", "30", "guidance-scale", "7.5"),
                 &p);
    assert_int_equal(i.parameters, 865910724);
    assert_int_equal(i.macs_per_pass, 402128732160);
    assert_int_equal(i.passes_per_step, 2);
    assert_int_equal(i.macs_per_step, 2 * 402128732160);
    assert_int_equal(i.vae_macs, 1257259466752);
    assert_int_equal(i.text_encoder_macs, 2 * 22563616768);
    assert_int_equal(i.total_macs, 60 * 402128732160 + 1257259466752 + 2 * 22563616768);
    assert_int_equal(i.amortised_macs_per_step, i.total_macs / 30);
    assert_string_equal(i.component, "unet");
    assert_int_equal(i.n_components, 3);
    assert_true(component_at(p, 1, &c));
    assert_string_equal(c.role, "denoiser");
    assert_int_equal(c.attention_macs, 63026135040);
    assert_true(c.percent > 94.87 && c.percent < 94.89);
    assert_true(component_at(p, 2, &c));
    assert_true(c.percent > 4.94 && c.percent < 4.95);
    assert_false(component_at(p, 3, &c));
    assay_result_free(p);
}

static void guidance_decides_passes_and_prompts(void **state)
{
    assay_result *p;
    (void)state;
    cost i = run("sd21", OPTIONS("guidance-scale", "1", "steps", "10"), &p);
    assert_int_equal(i.passes_per_step, 1);
    assert_int_equal(i.text_encoder_macs, 22563616768);
    assay_result_free(p);
    i = run("flux-dev", OPTIONS("guidance-scale", "3.5", "height", "256"), &p);
    assert_int_equal(i.passes_per_step, 1);
    assay_result_free(p);
    i = run("dit-xl-2", OPTIONS("steps", "2"), &p);
    assert_int_equal(i.text_encoder_macs, 0);
    assert_int_equal(i.macs_per_pass, 118621421568);
    assay_result_free(p);
}

static void strength_runs_part_of_the_steps_and_encodes(void **state)
{
    assay_result *p;
    component c;
    (void)state;
    cost i = run("sd15", OPTIONS("strength", "0.8", "steps", "50"), &p);
    assert_int_equal(i.steps, 40);
    assert_int_equal(i.n_components, 4);
    assert_true(component_at(p, 1, &c));
    assert_string_equal(c.role, "vae_encoder");
    assert_int_equal(c.calls, 1);
    assert_int_equal(i.vae_macs, c.macs + 1257259466752);
    assay_result_free(p);
}

static void every_pipeline_runs(void **state)
{
    const char *name;
    assay_result *p;
    (void)state;
    for (size_t k = 0; assay_pipeline_at(k, &name); k++) {
        cost i = run(name, OPTIONS("steps", "3"), &p);
        assert_int_equal(i.n_warnings, 0);
        assert_true(i.total_macs > i.macs_per_step && i.macs_per_step >= i.macs_per_pass);
        assay_result_free(p);
    }
}

static void sweeps_give_ratios_and_exponents(void **state)
{
    const pipeline_settings s = {.guidance = 7.5, .steps = 30, .memory_limit = (size_t)1 << 28};
    arena *a = arena_new((size_t)1 << 28);
    pipeline_plan plan;
    pipeline_result *r = arena_alloc(a, sizeof *r);
    assay_error err;
    (void)state;
    err_clear(&err);
    assert_true(pipeline_find(STR("SD21"), &plan));
    assert_int_equal(pipeline_run(&plan, &s, a, r, &err), ASSAY_OK);
    assert_int_equal(pipeline_sweep_over(&plan, &s, STR("resolution=512,768,1024"), a, r, &err),
                     ASSAY_OK);
    const pipeline_sweep *w = &r->sweeps[0];
    assert_int_equal(w->n, 3);
    assert_true(w->points[1].relative_denoiser > 2.665 && w->points[1].relative_denoiser < 2.675);
    assert_true(w->points[2].relative_denoiser > 5.81 && w->points[2].relative_denoiser < 5.82);
    assert_true(w->exponents.linear > 0.99 && w->exponents.linear < 1.01 &&
                w->exponents.attention > 1.95 && w->exponents.attention < 2.0);
    assert_int_equal(pipeline_sweep_over(&plan, &s, STR("colour=1"), a, r, &err), ASSAY_ERR_USAGE);
    err_clear(&err);
    assert_int_equal(pipeline_sweep_over(&plan, &s, STR("steps=1,x"), a, r, &err), ASSAY_ERR_USAGE);
    arena_free(a);
}

static void profiling_can_be_switched_off(void **state)
{
    assay_result *p;
    (void)state;
    cost i = run("whatever", OPTIONS("no-profiling", "true"), &p);
    assert_false(i.enabled);
    assert_int_equal(i.total_macs, 0);
    assert_string_equal(i.kind, "");
    assay_result_free(p);
    i = run("llama-7b", OPTIONS("no-profiling", "true"), &p);
    assert_true(!i.enabled && i.total_macs == 0 && i.parameters == 0);
    assert_string_equal(i.kind, "language");
    assert_string_equal(i.model, "llama-7b");
    assay_result_free(p);
    i = run("sd21", OPTIONS("no-profiling", "true"), &p);
    assert_false(i.enabled);
    assert_string_equal(i.kind, "diffusion");
    assay_result_free(p);
}

/* ---- folders and files ---- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void unknown_components_do_not_fail(void **state)
{
    char path[] = P_tmpdir "/assay-pipeline-XXXXXX";
    component c;
    assay_result *p;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    write_text(
        path,
        "{\"name\": \"mine\", \"height\": 256, \"num_inference_steps\": 4, "
        "\"guidance_scale\": 3, \"components\": ["
        "{\"model\": \"sd15-unet\", \"name\": \"unet\", \"role\": \"denoiser\"}, "
        "{\"model\": \"no-such-network\", \"role\": \"text_encoder\"}, "
        "{\"model\": \"sd-vae\", \"role\": \"vae_decoder\"}, "
        "{\"model\": \"resnet50\", \"role\": \"other\", \"name\": \"judge\", \"calls\": 2}]}");
    cost i = run(NULL, OPTIONS("pipeline-file", path), &p);
    remove(path);
    assert_int_equal(i.n_warnings, 1);
    assert_int_equal(i.n_components, 4);
    assert_int_equal(i.steps, 4);
    assert_int_equal(i.passes_per_step, 2);
    assert_true(component_at(p, 1, &c));
    assert_true(strstr(c.error, "no-such-network") != NULL);
    assert_int_equal(c.total_macs, 0);
    assert_true(component_at(p, 3, &c));
    assert_int_equal(c.total_macs, 2 * 4089184256);
    assay_result_free(p);
}

/* A small pipeline runs for real where there is an engine. */
static void small_pipeline_is_measured(void **state)
{
    static const char small[] =
        "{\"name\": \"small\", \"height\": 32, \"num_inference_steps\": 3, \"guidance_scale\": 2, "
        "\"vae_scale\": 2, \"components\": ["
        "{\"model\": \"clip-l-text\", \"role\": \"text_encoder\", \"set\": {\"hidden_size\": 32, "
        "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"intermediate_size\": 64, "
        "\"vocab_size\": 100}}, "
        "{\"model\": \"sd15-unet\", \"name\": \"unet\", \"role\": \"denoiser\", \"set\": {"
        "\"block_out_channels\": [16, 32], \"down_block_types\": [\"CrossAttnDownBlock2D\", "
        "\"DownBlock2D\"], \"up_block_types\": [\"UpBlock2D\", \"CrossAttnUpBlock2D\"], "
        "\"attention_head_dim\": 2, \"cross_attention_dim\": 32, \"norm_num_groups\": 4, "
        "\"layers_per_block\": 1}}, "
        "{\"model\": \"sd-vae\", \"role\": \"vae_decoder\", \"set\": {\"block_out_channels\": [8, 16], "
        "\"norm_num_groups\": 4}}]}";
    char path[] = P_tmpdir "/assay-pipeline-XXXXXX";
    assay_engine_info engine = {.size = sizeof engine};
    component c;
    assay_result *p;
    assay_error err;
    (void)state;
    if (assay_engine_find(NULL, &engine, &err) != ASSAY_OK)
        SKIP_BECAUSE("no engine");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    write_text(path, small);
    cost i = run(NULL, OPTIONS("pipeline-file", path), &p);
    remove(path);
    assert_true(i.inference_time_s < 0);
    assay_options *o = OPTIONS("num-runs", "3", "warmup-runs", "1");
    if (assay_pipeline_measure(p, o, NULL, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assay_options_free(o);
    double sum = 0;
    for (size_t k = 0; component_at(p, k, &c); k++) {
        assert_true(c.time_ms > 0);
        sum += c.time_ms * (double)c.calls / 1e3;
    }
    i = cost_of(p);
    assert_true(i.inference_time_s > 0.999 * sum && i.inference_time_s < 1.001 * sum);
    assay_result_free(p);
}

/* Rounded as the page rounds, never cut. */
static void times_are_rounded(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{1.999, "\"2.00s\""},     {0.005001, "\"0.01s\""}, {0.29, "\"0.29s\""},
                {0.125, "\"0.13s\""},     {59.996, "\"60.00s\""},  {0, "\"0.00s\""},
                {NAN, "\"not measured\""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pipeline_result r = {.enabled = true,
                             .counted = true,
                             .model_component = "unet",
                             .inference_time_s = rows[i].seconds};
        sbuf b = {0};
        arena *a = arena_new(1 << 20);
        assert_true(pipeline_settle(&r, a));
        result_write(&diffusion_kind, &r, 2, &b);
        const char *key = strstr(sbuf_cstr(&b), "\"inference_time_str\": ");
        assert_non_null(key);
        assert_memory_equal(key + strlen("\"inference_time_str\": "), rows[i].text,
                            strlen(rows[i].text));
        sbuf_free(&b);
        arena_free(a);
    }
}

static void malformed_files_name_the_key(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{\"components\": 3}", "components"},
        {"{\"components\": [{\"model\": 1}]}", "model"},
        {"{\"components\": [{\"role\": \"denoiser\"}]}", "model"},
        {"{\"components\": [{\"model\": \"sd15-unet\", \"role\": \"cook\"}]}", "role"},
        {"{\"height\": \"tall\", \"components\": [{\"model\": \"sd15-unet\", \"role\": \"denoiser\"}]}",
         "height"},
        {"{\"components\": [", "JSON"},
    };
    char path[] = P_tmpdir "/assay-pipeline-XXXXXX";
    assay_result *p = NULL;
    assay_error err;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_text(path, bad[k].text);
        assay_options *o = OPTIONS("pipeline-file", path);
        assay_status s = assay_pipeline(NULL, o, &p, &err);
        if (s != ASSAY_ERR_MALFORMED || (k < 5 && !strstr(err.message, bad[k].says)))
            fail_msg("%s: %d %s", bad[k].text, (int)s, err.message);
        assert_null(p);
        assay_options_free(o);
    }
    remove(path);
}

static uint32_t lines_of(const char *text)
{
    uint32_t n = 0;
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    return n;
}

/* The same totals as the result has, wherever it is written. */
static void check_report(const assay_result *both, const char *format, const char *text)
{
    char first[32], second[32];
    bool csv = strcmp(format, "csv") == 0, console = strcmp(format, "console") == 0;
    const char *key = csv       ? "pipelines.%d.components.0.macs"
                      : console ? "pipelines.%d.total_macs_str"
                                : "pipelines.%d.total_macs";
    for (int i = 0; i < 2; i++) {
        char *to = i ? second : first;
        if (console)
            snprintf(to, sizeof first, "%s", text_at(both, key, i));
        else
            snprintf(to, sizeof first, "%.0f", number_at(both, key, i));
    }
    assert_string_not_equal(first, second);
    if (!strstr(text, first) || !strstr(text, second))
        fail_msg("%s lacks %s or %s", format, first, second);
    size_t components = count_at(both, "pipelines.0.components") +
                        count_at(both, "pipelines.1.components");
    if (csv)
        assert_int_equal(lines_of(text), 1 + components);
}

static void reports_are_written(void **state)
{
    assay_result *list[2], *both, *again;
    assay_error err;
    char *text;
    size_t n;
    (void)state;
    run("sd15", OPTIONS("steps", "2"), &list[0]);
    run("sd21", OPTIONS("steps", "2"), &list[1]);
    assert_int_equal(assay_pipelines((const assay_result *const *)list, 2, &both, &err), ASSAY_OK);
    const char *const formats[] = {"console", "json", "csv", "generation-config"};
    for (int k = 0; k < 4; k++) {
        if (assay_result_write(both, formats[k], NULL, &text, &n, &err) != ASSAY_OK)
            fail_msg("%s: %s", formats[k], err.message);
        assert_int_equal(strlen(text), n);
        check_report(both, formats[k], text);
        if (k == 1) {
            assert_int_equal(assay_result_from_json(text, n, "both", NULL, &again, &err), ASSAY_OK);
            check_report(again, formats[k], text);
            assay_result_free(again);
        }
        if (k == 3)
            assert_true(strstr(text, "\"compute_profile\"") &&
                        strstr(text, "\"model_id\": \"sd21\""));
        assay_free(text);
    }
    assert_int_equal(assay_result_write(both, "pdf", NULL, &text, &n, &err), ASSAY_ERR_USAGE);
    assay_result_free(both);
    assay_result_free(list[0]);
    assay_result_free(list[1]);
}

/* ---- language models ---- */

static language_result *ask(arena *a, const char *model, int64_t prompt, int64_t generate,
                            int64_t batch, uint64_t memory)
{
    const language_settings s = {.model = str_of(model),
                                 .row = zoo_find(str_of(model)),
                                 .prompt_tokens = prompt,
                                 .generate = generate,
                                 .batch = batch,
                                 .memory = memory,
                                 .memory_limit = (size_t)1 << 28};
    language_result *r = arena_alloc(a, sizeof *r);
    assay_error err;
    err_clear(&err);
    if (language_run(&s, a, r, &err) != ASSAY_OK)
        fail_msg("%s: %s", model, err.message);
    return r;
}

static void language_models_match_their_configs(void **state)
{
    static const struct {
        const char *model;
        uint64_t linear, cache_elements;
        double prefill_128; /* GMACs */
    } facts[] = {
        {"llama-2-7b", 6607077376, 262144, 850.0},
        {"llama-2-13b", 12851609600, 409600, 1651.72},
        {"llama-2-70b", 68713185280, 163840, 8816.76},
        {"llama-3-8b", 7504658432, 65536, 964.89},
        {"llama-3-70b", 69501714432, 163840, 8917.69},
        {"llama-3.2-1b", 1235746816, 16384, 159.25},
        {"llama-3.2-3b", 3212574720, 57344, 414.03},
        {"tinyllama-1.1b", 1034420224, 11264, 133.88},
        {"smollm2-135m", 134479872, 11520, 17.78},
    };
    (void)state;
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        arena *a = arena_new((size_t)1 << 28);
        language_result *r = ask(a, facts[k].model, 128, 2, 1, 0);
        assert_int_equal(r->decode_linear_macs, facts[k].linear);
        assert_int_equal(r->prefill_linear_macs, facts[k].linear);
        assert_int_equal(r->cache_elements_per_token, facts[k].cache_elements);
        double off = (double)r->prefill.macs / 1e9 - facts[k].prefill_128;
        assert_true(off > -0.006 && off < 0.006);
        arena_free(a);
    }
}

static void experts_windows_and_latents(void **state)
{
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    language_result *r = ask(a, "mixtral-8x7b", 16, 4, 4, 0);
    assert_int_equal(r->parameters, 46702792704);
    assert_int_equal(r->active_parameters, 12879925248);
    assert_true(r->first.experts_per_layer > 5.4 &&
                r->first.experts_per_layer < 5.5); /* 8(1-.75^4) */
    r = ask(a, "mistral-7b", 5000, 10, 1, 0);
    assert_int_equal(r->attention[0].window, 4096);
    assert_int_equal(r->prefill.attention_macs, (uint64_t)262144 * 5000 * 4096);
    assert_int_equal(r->cache_bytes, (uint64_t)131072 * 4096);
    assert_int_equal(r->first.attention_macs, r->last.attention_macs);
    r = ask(a, "deepseek-v3", 16, 1, 1, 0);
    assert_int_equal(r->cache_elements_per_token, 61 * (512 + 64));
    arena_free(a);
}

static void memory_bounds_context_and_batch(void **state)
{
    arena *a = arena_new((size_t)1 << 28);
    uint64_t memory = (uint64_t)80 << 30;
    (void)state;
    language_result *r = ask(a, "llama-3.1-8b", 2048, 256, 8, memory);
    assert_int_equal(r->cache_bytes_per_token, 131072);
    assert_int_equal(r->weight_bytes, 2 * 8030261248);
    /* the reserve of map: a fifth of the memory */
    uint64_t left = memory / 5 * 4 - r->weight_bytes - r->activation_peak_bytes;
    assert_int_equal(r->largest_context, (int64_t)(left / 8 / 131072));
    assert_int_equal((uint64_t)(r->crossing_tokens + 0.5), 7504658432 / 262144);
    r = ask(a, "llama-3.1-8b", 16, 1, 1, 1 << 30);
    assert_true(r->largest_context == INT64_MIN && !r->fits);
    arena_free(a);
}

/* One rule for what fits: verdicts are those of map. */
static void verdicts_are_those_of_map(void **state)
{
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    language_result *r = ask(a, "llama-3.1-8b", 2048, 256, 8, (uint64_t)24 << 30);
    double share = (double)r->serve_bytes / (double)((uint64_t)24 << 30);
    assert_true(share > 0.8 && share < 1 && r->fits);
    assert_string_equal(r->verdict, map_verdict(share, false));
    assert_string_equal(r->verdict, "risk of OOM");
    assert_true(r->largest_batch < 8);
    assert_true(language_most_running(r, (uint64_t)24 << 30) > r->largest_batch);
    assert_int_equal(language_most_running(r, (uint64_t)16 << 30), 0);
    arena_free(a);
}

/* gpt-oss is published with experts in mxfp4: 17 bytes for 32 weights. DeepSeek-V3: linear layers in fp8. */
static void native_types_may_be_packed(void **state)
{
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    language_result *r = ask(a, "gpt-oss-20b", 16, 2, 1, 0);
    assert_string_equal(r->weight_dtype, "mxfp4");
    assert_string_equal(r->cache_dtype, "bfloat16");
    /* 24 layers, 32 experts, two products of 2880 by 5760 and 2880 by 2880 */
    uint64_t packed = 24ull * 32 * (2880 * 5760 + 2880 * 2880);
    assert_int_equal(r->weight_bytes, packed / 32 * 17 + 2 * (r->parameters - packed));
    r = ask(a, "deepseek-v3", 16, 2, 1, 0);
    assert_string_equal(r->weight_dtype, "fp8");
    assert_true((double)r->weight_bytes / (double)r->parameters < 1.01);
    arena_free(a);
}

/* ---- as a server runs it ---- */

typedef struct served {
    language_settings s;
    serving_model m;
    language_result r;
} served;

static served *serve(arena *a, const char *model, const char *hardware,
                     const language_users_asked *users)
{
    served *x = ARENA_NEW(a, served);
    assay_error err;
    err_clear(&err);
    x->s = (language_settings){.model = str_of(model),
                               .row = zoo_find(str_of(model)),
                               .prompt_tokens = 512,
                               .generate = 128,
                               .batch = 1,
                               .memory_limit = (size_t)1 << 28,
                               .serving = &x->m};
    if (language_run(&x->s, a, &x->r, &err) != ASSAY_OK ||
        language_on_devices(str_of(hardware), &x->s, users, a, &x->r, &err) != ASSAY_OK)
        fail_msg("%s: %s", model, err.message);
    return x;
}

static double products_of(const serving_pass *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n_products; i++)
        sum += p->products[i].columns * p->products[i].depth * p->products[i].count;
    return sum;
}

/* The products of a server are those of the graph, joined where they have one input. */
static void servers_run_the_products_of_the_graph(void **state)
{
    static const char *const models[] = {"llama-3.1-8b", "qwen3-0.6b", "gpt2", "mixtral-8x7b",
                                         "gpt-oss-20b"};
    const language_users_asked none = {.n = 0};
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        served *x = serve(a, models[i], "h100-sxm", &none);
        double experts = 3 * x->m.expert_layers * x->m.experts_used * x->m.hidden * x->m.inner;
        double sum = products_of(&x->m.step) + experts + x->m.vocabulary * x->m.hidden;
        if (fabs(sum / (double)x->r.decode_linear_macs - 1) > 1e-3)
            fail_msg("%s: %g, not %g", models[i], sum, (double)x->r.decode_linear_macs);
    }
    served *llama = serve(a, "llama-3.1-8b", "h100-sxm", &none);
    const serving_attention *heads = &llama->m.step.attentions[0];
    assert_int_equal(llama->m.step.n_products, 4); /* qkv, o, gate and up, down */
    assert_true(fabs(heads->heads - 32) < 0.1 && fabs(heads->kv_heads - 8) < 0.1 &&
                fabs(heads->head_size - 128) < 0.1);
    arena_free(a);
}

/* Expectation, interval and limit are in order; a device without measurements has the wider interval. */
static void expectations_are_above_the_limit(void **state)
{
    const language_users_asked none = {.n = 0};
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    served *x = serve(a, "llama-3.1-8b", "h100-sxm,l40s,rtx4090", &none);
    for (uint32_t i = 0; i < x->r.n_devices; i++) {
        const language_device *d = &x->r.devices[i];
        assert_true(d->average_limit_ms > 0 && d->average_limit_ms <= d->average_ms);
        assert_true(d->average_low_ms <= d->average_ms && d->average_ms <= d->average_high_ms);
        assert_true(d->first_token_limit_ms <= d->first_token_ms);
        assert_string_equal(d->basis, i ? "class" : "measured");
    }
    const language_device *own = &x->r.devices[0], *other = &x->r.devices[1];
    assert_true(other->average_high_ms / other->average_low_ms >
                own->average_high_ms / own->average_low_ms);
    arena_free(a);
}

/* The most users within objectives: one more is not. Users beyond the memory wait. */
static void objectives_bound_the_users(void **state)
{
    language_users_asked asked = {.users = {1, 64, 5000}, .n = 3};
    asked.slo = (language_slo){
        .present = true, .limits = {{"ttft", 99, 300}, {"itl", 99, 25}}, .n_limits = 2};
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    served *x = serve(a, "llama-3.1-8b", "h100-sxm", &asked);
    const language_device *d = &x->r.devices[0];
    assert_true(d->has_best && d->best.ttft_p99_ms <= 300 && d->best.itl_p99_ms <= 25);
    assert_true(d->n_users == 3 && d->users[0].within_slo && !d->users[2].within_slo);
    assert_int_equal(d->users[2].running, d->most_running);
    asked = (language_users_asked){.users = {d->best.users + 1}, .n = 1, .slo = asked.slo};
    d = &serve(a, "llama-3.1-8b", "h100-sxm", &asked)->r.devices[0];
    assert_false(d->users[0].within_slo);
    arena_free(a);
}

static void sweeps_run_every_value(void **state)
{
    static const char *const wrong[] = {"batch",   "batch=",  "batch=0",   "batch=1,x",
                                        "speed=1", "users=1", "context=64"};
    const language_users_asked none = {.n = 0};
    arena *a = arena_new((size_t)1 << 28);
    assay_error err;
    (void)state;
    err_clear(&err);
    served *x = serve(a, "qwen3-0.6b", "t4", &none);
    language_users_asked users = {.n = 0};
    language_sweep_asked q = {
        .what = STR("batch=1,4"), .hardware = STR("t4,l4"), .settings = &x->s};
    assert_int_equal(language_sweep_over(&q, &users, a, &x->r, &err), ASSAY_OK);
    q = (language_sweep_asked){.what = STR("context=640,2176"), .settings = &x->s};
    assert_int_equal(language_sweep_over(&q, &users, a, &x->r, &err), ASSAY_OK);
    assert_int_equal(x->r.n_sweeps, 2);
    const language_sweep *w = x->r.sweeps;
    assert_int_equal(w[0].n, 4);
    assert_int_equal(w[0].points[2].cache_bytes, 4 * w[0].points[0].cache_bytes);
    assert_true(w[0].points[2].tokens_per_s > w[0].points[0].tokens_per_s);
    assert_int_equal(w[1].n, 2);
    assert_int_equal(w[1].points[1].prompt_tokens, 2048);
    assert_int_equal(w[1].points[0].total_macs, x->r.total_macs);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        q.what = str_of(wrong[i]);
        assert_int_equal(language_sweep_over(&q, &users, a, &x->r, &err), ASSAY_ERR_USAGE);
        err_clear(&err);
    }
    arena_free(a);
}

/* ---- capacity ---- */

static void devices_serve_a_rate(void **state)
{
    language_users_asked asked = {.most = true};
    asked.slo = (language_slo){
        .present = true, .text = STR("itl:30ms"), .limits = {{"itl", 99, 30}}, .n_limits = 1};
    arena *a = arena_new((size_t)1 << 28);
    assay_error err;
    capacity c;
    (void)state;
    err_clear(&err);
    served *x = serve(a, "llama-3.1-8b", "h100-sxm,t4", &asked);
    const language_result *models[] = {&x->r};
    price_list prices = {.arena = a};
    assert_int_equal(price_read(&prices, STR("h100-sxm=2"), &err), ASSAY_OK);
    const capacity_language_request q = {models, 1, 100, 0.2, &prices};
    assert_int_equal(capacity_run_language(&q, a, &c, &err), ASSAY_OK);
    assert_true(c.plans[0].cost_per_hour == 2.0 * (double)c.plans[0].machines);
    assert_true(isnan(c.plans[1].cost_per_hour));
    assert_true(c.n == 2 && c.best == 0 && c.plans[0].feasible && !c.plans[1].feasible);
    double each = 0.8 * x->r.devices[0].best.requests_per_s;
    assert_int_equal(c.plans[0].machines, (uint64_t)ceil(100 / each));
    assert_true(c.plans[0].machines_low <= c.plans[0].machines &&
                c.plans[0].machines <= c.plans[0].machines_high);
    assert_true(c.plans[0].itl_ms <= 30 && c.plans[1].why.n > 0);
    arena_free(a);
}

/* Little's law, and an interval of no width: as many devices at its ends as in the middle, to one in a thousand. */
static void plans_obey_littles_law(void **state)
{
    language_device d = {.id = STR("any"), .has_best = true, .most_running = 8};
    d.best = (language_users){.users = 8,
                              .running = 8,
                              .ttft_ms = 50,
                              .ttft_low_ms = 50,
                              .ttft_high_ms = 50,
                              .itl_ms = 10,
                              .itl_low_ms = 10,
                              .itl_high_ms = 10};
    d.best.latency_ms = 50 + 99 * 10; /* a hundred tokens: the first one comes with the prompt */
    d.best.requests_per_s = 8 / 1.04;
    language_result r = {
        .model = STR("m"), .weight_dtype = "bfloat16", .generate = 100, .batch = 1};
    r.devices = &d;
    r.n_devices = 1;
    const language_result *models[] = {&r};
    arena *a = arena_new((size_t)1 << 24);
    assay_error err;
    capacity c;
    (void)state;
    err_clear(&err);
    const capacity_language_request q = {models, 1, 500 * 8 / 1.04, 0.5, NULL};
    assert_int_equal(capacity_run_language(&q, a, &c, &err), ASSAY_OK);
    const capacity_plan *p = &c.plans[0];
    assert_int_equal(p->machines, 1000);
    assert_int_equal(p->machines_low, 1000);
    assert_int_equal(p->machines_high, 1000);
    assert_true(fabs(p->in_flight - 4) < 1e-9 && fabs(p->utilization - 0.5) < 1e-9);
    assert_true(fabs(p->tokens_per_s - 100 * p->per_machine) < 1e-9);
    arena_free(a);
}

static uint64_t weights_of_graph(const char *model)
{
    assay_error err;
    assay_model *m;
    assay_result *p;
    totals t;
    assert_int_equal(assay_model_open(model, &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    t = totals_of(p);
    assay_result_free(p);
    assay_model_free(m);
    return t.weights_bytes;
}

/* A pipeline and an analysis of one model weigh it in the same type. */
static void one_native_type(void **state)
{
    static const struct {
        const char *model, *dtype;
    } cases[] = {{"llama-3.2-1b", "bfloat16"}, {"opt-125m", "float16"}, {"gpt2", "float32"}};
    arena *a = arena_new((size_t)1 << 28);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        language_result *r = ask(a, cases[i].model, 16, 2, 1, 0);
        assert_string_equal(r->weight_dtype, cases[i].dtype);
        assert_string_equal(r->cache_dtype, cases[i].dtype);
        assert_int_equal(r->weight_bytes, weights_of_graph(cases[i].model));
    }
    arena_free(a);
}

/* Roofline by hand: a step of one sequence is the weights and the cache over the bandwidth. */
static void devices_give_the_least_times(void **state)
{
    assay_result *p;
    (void)state;
    cost i = run("llama-2-7b",
                 OPTIONS("prompt-tokens", "512", "generate", "2", "hardware", "a100-80,t4"), &p);
    assert_int_equal(i.n_devices, 2);
    assert_int_equal(count_at(p, "measured"), 0);
    assert_string_equal(text_at(p, "devices.0.name"), "a100-80");
    assert_string_equal(text_at(p, "devices.0.precision"), "fp16"); /* as it is published */
    assert_string_equal(text_at(p, "devices.0.prefill_bound"), "compute");
    assert_string_equal(text_at(p, "devices.0.decode_bound"), "memory");
    double per_token = number_at(p, "devices.0.time_per_token_limit_ms") / 1e3;
    double first_token = number_at(p, "devices.0.ttft_limit_ms") / 1e3;
    double expected = number_at(p, "devices.0.time_per_token_ms") / 1e3;
    double rate = number_at(p, "devices.0.tokens_per_second");
    double least = 2.0 * (6738415616.0 - 131072000.0) / 2.039e12; /* weights but the embedding */
    assert_true(per_token > least && per_token < 1.1 * least);
    double compute = 2.0 * 6607077376.0 * 512 / 312e12;
    assert_true(first_token > 0.9 * compute && first_token < 1.2 * compute);
    assert_true(number_at(p, "devices.0.fits") == 1);
    assert_true(number_at(p, "devices.0.largest_context") > 512);
    assert_true(number_at(p, "devices.0.largest_batch") > 1);
    assert_true(expected >= per_token && rate * expected > 0.999 && rate * expected < 1.001);
    assert_string_equal(text_at(p, "devices.1.precision"), "fp16"); /* a T4 has no bf16 */
    assay_result_free(p);
}

/* Prefill and steps with the cache as inputs run for real where there is an engine. */
static void small_language_model_is_measured(void **state)
{
    assay_engine_info engine = {.size = sizeof engine};
    assay_result *p;
    assay_error err;
    (void)state;
    if (assay_engine_find(NULL, &engine, &err) != ASSAY_OK)
        SKIP_BECAUSE("no engine");
    const char *const sets[] = {"hidden_size=64",        "num_hidden_layers=2",
                                "num_attention_heads=4", "num_key_value_heads=2",
                                "intermediate_size=96",  "vocab_size=100"};
    assay_options *o = OPTIONS("prompt-tokens", "16", "generate", "4", "batch", "3", "num-runs",
                               "2", "warmup-runs", "1", "threads", "1");
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        assert_int_equal(assay_options_set(o, "set", sets[k], &err), ASSAY_OK);
    assert_int_equal(assay_pipeline("llama-7b", o, &p, &err), ASSAY_OK);
    if (assay_pipeline_measure(p, o, NULL, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    double first = number_at(p, "measured.ttft_ms") / 1e3;
    double per_token = number_at(p, "measured.time_per_token_ms") / 1e3;
    double rate = number_at(p, "measured.tokens_per_second");
    assert_true(first > 0 && per_token > 0);
    assert_true(rate * per_token > 2.99 && rate * per_token < 3.01);
    double all = first + 4 * per_token, total = number_at(p, "measured.total_seconds");
    assert_true(total > 0.999 * all && total < 1.001 * all);
    assay_result_free(p);
    assay_options_free(o);
}

static void what_does_not_generate_is_refused(void **state)
{
    assay_result *p = NULL;
    assay_error err;
    (void)state;
    assert_int_equal(assay_pipeline("resnet50", NULL, &p, &err), ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(assay_pipeline("bert-base-uncased", NULL, &p, &err), ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(assay_pipeline("no/such/folder", NULL, &p, &err), ASSAY_ERR_SYSTEM);
    assert_null(p);
}

int run_test_pipeline(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sd21_is_exact),
        cmocka_unit_test(guidance_decides_passes_and_prompts),
        cmocka_unit_test(strength_runs_part_of_the_steps_and_encodes),
        cmocka_unit_test(every_pipeline_runs),
        cmocka_unit_test(sweeps_give_ratios_and_exponents),
        cmocka_unit_test(profiling_can_be_switched_off),
        cmocka_unit_test(unknown_components_do_not_fail),
        cmocka_unit_test(small_pipeline_is_measured),
        cmocka_unit_test(times_are_rounded),
        cmocka_unit_test(malformed_files_name_the_key),
        cmocka_unit_test(reports_are_written),
        cmocka_unit_test(language_models_match_their_configs),
        cmocka_unit_test(experts_windows_and_latents),
        cmocka_unit_test(memory_bounds_context_and_batch),
        cmocka_unit_test(one_native_type),
        cmocka_unit_test(devices_give_the_least_times),
        cmocka_unit_test(verdicts_are_those_of_map),
        cmocka_unit_test(native_types_may_be_packed),
        cmocka_unit_test(servers_run_the_products_of_the_graph),
        cmocka_unit_test(expectations_are_above_the_limit),
        cmocka_unit_test(objectives_bound_the_users),
        cmocka_unit_test(sweeps_run_every_value),
        cmocka_unit_test(devices_serve_a_rate),
        cmocka_unit_test(plans_obey_littles_law),
        cmocka_unit_test(small_language_model_is_measured),
        cmocka_unit_test(what_does_not_generate_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
