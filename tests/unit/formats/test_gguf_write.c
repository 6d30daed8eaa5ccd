/* Written GGUF files: every family at two layers is read back with the parameters of its builder, and numbers come back
 * within the rounding of their type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "formats/gguf_encode.h"
#include "formats/gguf_write.h"
#include "support/values.h"

#define ARENA_BYTES ((size_t)256 << 20)

/* ---- numbers ---- */

static float half_at(const uint8_t *p)
{
    return (float)ir_load_float(IR_FLOAT16, p);
}

/* Written from the layouts alone, element by element. */
static float decode(uint32_t type, const uint8_t *p, int i)
{
    int sub = i / 32, in = i % 32;
    if (type == 8)
        return half_at(p) * (float)(int8_t)p[2 + i];
    if (type == 2)
        return half_at(p) * (float)((i < 16 ? p[2 + i] & 15 : p[2 + i - 16] >> 4) - 8);
    if (type == 6) {
        int low = i < 16 ? p[6 + i] & 15 : p[6 + i - 16] >> 4, high = p[2 + i / 8] >> i % 8 & 1;
        return half_at(p) * (float)((low | high << 4) - 16);
    }
    if (type == 12) {
        const uint8_t *s = p + 4;
        int scale = sub < 4 ? s[sub] & 63 : (s[sub + 4] & 15) | s[sub - 4] >> 6 << 4;
        int least = sub < 4 ? s[sub + 4] & 63 : s[sub + 4] >> 4 | s[sub] >> 6 << 4;
        int q = p[16 + sub / 2 * 32 + in] >> (sub % 2 ? 4 : 0) & 15;
        return half_at(p) * (float)(scale * q) - half_at(p + 2) * (float)least;
    }
    int part = i / 128, at = i % 128; /* Q6_K */
    int low = p[64 * part + at % 64] >> (at < 64 ? 0 : 4) & 15;
    int high = p[128 + 32 * part + at % 32] >> 2 * (at / 32) & 3;
    return half_at(p + 208) * (float)(int8_t)p[192 + i / 16] * (float)((low | high << 4) - 32);
}

static void numbers_come_back(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        float step; /* of a block between -1 and 1 */
    } rows[] = {{8, 2.0f / 254}, {2, 2.0f / 16}, {6, 2.0f / 32}, {12, 2.0f / 15}, {14, 2.0f / 64}};
    float x[512];
    uint8_t bytes[4 * 512];
    rng r;
    rng_seed(&r, 7);
    for (int i = 0; i < 512; i++)
        x[i] = (float)(2.0 * rng_uniform(&r) - 1.0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const gguf_type *t = gguf_type_of(rows[k].type);
        gguf_encoder_of(rows[k].type)(x, 512, bytes);
        for (uint32_t i = 0; i < 512; i++) {
            float y = decode(rows[k].type, bytes + i / t->block * t->bytes, (int)(i % t->block));
            /* the number at the open end of a signed range is clipped: one step, not a half */
            assert_true(fabsf(y - x[i]) < 1.1f * rows[k].step);
        }
    }
    assert_null(gguf_encoder_of(10));
}

static void zeros_stay_zeros(void **state)
{
    (void)state;
    static const uint32_t types[] = {0, 1, 2, 3, 6, 7, 8, 12, 13, 14, 30, 39};
    float x[256] = {0};
    uint8_t bytes[1024];
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        gguf_encoder_of(types[k])(x, 256, bytes);
        if (types[k] == 8 || types[k] == 12 || types[k] == 14)
            assert_true(decode(types[k], bytes, 5) == 0.0f);
    }
}

/* ---- files ---- */

static const struct {
    const char *family, *set;
} families[] = {
    {"llama", ""},
    {"mistral", ""},
    {"mixtral", "num_local_experts=4"},
    {"qwen2", ""},
    {"qwen2_moe", "num_experts=4 moe_intermediate_size=64 shared_expert_intermediate_size=64"},
    {"qwen3", "head_dim=64"},
    {"qwen3_moe", "num_experts=4 num_experts_per_tok=2 moe_intermediate_size=64"},
    {"gemma", "head_dim=64"},
    {"gemma2", "head_dim=64"},
    {"gemma3_text", "head_dim=64"},
    {"phi3", ""},
    {"olmo", ""},
    {"olmo2", ""},
    {"olmo3", ""},
    {"olmoe", "num_experts=4 num_experts_per_tok=2"},
    {"gpt_oss", "num_local_experts=4 num_experts_per_tok=2"},
    {"smollm3", ""},
    {"stablelm", ""},
    {"starcoder2", ""},
    {"cohere", ""},
    {"cohere2", ""},
    {"granite", ""},
    {"nemotron", ""},
    {"arcee", ""},
    {"ernie4_5", ""},
    {"glm4", ""},
};

typedef struct fixture {
    arena *arena;
    ir_model *ir;
    gguf_plan plan;
    char path[64];
} fixture;

static void build(fixture *f, const char *family, const char *set, const char *quant)
{
    assay_error err = {0};
    zoo_args args;
    f->arena = arena_new(ARENA_BYTES);
    zoo_asked_list asked = {.arena = f->arena, .library = true};
    zoo_args_init(&args, f->arena);
    str common = STR("num_hidden_layers=2 vocab_size=300 hidden_size=256 intermediate_size=128 "
                     "num_attention_heads=4 num_key_value_heads=2 head_dim=64");
    assert_int_equal(zoo_args_parse(&args, common, false, &err), ASSAY_OK);
    assert_int_equal(zoo_args_parse(&args, str_of(set), false, &err), ASSAY_OK);
    for (uint32_t i = 0; i < args.list.n; i++)
        args.list.items[i].silent = true;
    zoo_request q = {.row = zoo_find_family(str_of(family)), .set = &args, .asked = &asked};
    assert_non_null(q.row);
    assert_int_equal(zoo_build(&q, &f->ir, &err), ASSAY_OK);
    if (gguf_plan_make(f->ir, q.row, &asked, gguf_quant_find(str_of(quant)), f->arena, &f->plan,
                       &err) != ASSAY_OK)
        fail_msg("%s: %s", family, err.message);
    snprintf(f->path, sizeof f->path, "/tmp/assay-test-%d.gguf", (int)getpid());
}

static void drop(fixture *f)
{
    unlink(f->path);
    ir_model_free(f->ir);
    arena_free(f->arena);
}

static uint64_t parameters_of(const ir_model *ir)
{
    uint64_t n = 0;
    for (ir_id id = 0; id < ir->values.n; id++) {
        const ir_value *v = ir_value_at(ir, id);
        if (v->constant && v->flags & IR_VALUE_PARAM)
            n += v->constant->n_elems;
    }
    return n;
}

static void every_family_is_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        fixture f;
        gguf_file g;
        model_config c;
        assay_error err = {0};
        uint64_t bytes = 0, planned = 0, elems = 0;
        build(&f, families[i].family, families[i].set, "q4_k");
        assert_int_equal(f.plan.parameters, parameters_of(f.ir));
        assert_int_equal(gguf_write_file(&f.plan, f.path, &(gguf_write_options){0}, &bytes, &err),
                         ASSAY_OK);
        assert_int_equal(gguf_plan_bytes(&f.plan, &planned, &err), ASSAY_OK);
        assert_int_equal(bytes, planned);
        assert_int_equal(bytes, file_stat(f.path).size);
        if (gguf_read(f.path, f.arena, &g, &err) != ASSAY_OK)
            fail_msg("%s: %s", families[i].family, err.message);
        assert_int_equal(gguf_configure(&g, "x", f.arena, &c, &err), ASSAY_OK);
        assert_non_null(c.row);
        for (uint32_t k = 0; k < g.weights->items.n; k++) {
            elems += g.weights->items.items[k].n_elems;
            if (!g.weights->items.items[k].as.n)
                fail_msg("%s: " STR_FMT, families[i].family,
                         STR_ARG(g.weights->items.items[k].name));
        }
        assert_int_equal(elems, f.plan.parameters);
        drop(&f);
    }
}

static const gguf_out_tensor *tensor(const fixture *f, const char *name)
{
    for (uint32_t i = 0; i < f->plan.tensors.n; i++)
        if (str_is(f->plan.tensors.items[i].name, name))
            return &f->plan.tensors.items[i];
    fail_msg("%s", name);
    return NULL;
}

/* Matrices have the type, norms and routers float32, the output Q6_K; rows that fit no block of 256 get blocks of 32. */
static void types_follow_the_quantisation(void **state)
{
    (void)state;
    fixture f;
    build(&f, "llama", "", "q4_k");
    assert_int_equal(tensor(&f, "blk.0.attn_q.weight")->type, 12);
    assert_int_equal(tensor(&f, "blk.0.attn_norm.weight")->type, 0);
    assert_int_equal(tensor(&f, "output.weight")->type, 14);
    assert_int_equal(tensor(&f, "blk.1.ffn_down.weight")->type, 6); /* rows of 128 */
    assert_int_equal(f.plan.other_types, 2);
    assert_int_equal(tensor(&f, "blk.0.attn_k.weight")->ne[0], 256);
    assert_int_equal(tensor(&f, "blk.0.attn_k.weight")->ne[1], 128);
    drop(&f);
    build(&f, "gpt_oss", "num_local_experts=4 num_experts_per_tok=2", "mxfp4");
    assert_int_equal(tensor(&f, "blk.0.ffn_up_exps.weight")->type, 39);
    assert_int_equal(tensor(&f, "blk.0.ffn_up_exps.weight")->ne[1], 128);
    assert_int_equal(tensor(&f, "blk.0.ffn_gate_inp.weight")->type, 0);
    assert_int_equal(tensor(&f, "blk.0.attn_q.weight")->type, 8);
    drop(&f);
}

static void foreign_models_are_refused(void **state)
{
    (void)state;
    arena *a = arena_new(ARENA_BYTES);
    zoo_asked_list asked = {.arena = a, .library = true};
    zoo_request q = {.row = zoo_find(STR("lenet")), .asked = &asked};
    assay_error err = {0};
    gguf_plan plan;
    ir_model *ir = NULL;
    assert_int_equal(zoo_build(&q, &ir, &err), ASSAY_OK);
    assert_int_equal(
        gguf_plan_make(ir, q.row, &asked, gguf_quant_find(STR("Q4_0")), a, &plan, &err),
        ASSAY_ERR_UNSUPPORTED);
    assert_null(gguf_quant_find(STR("q3_7")));
    ir_model_free(ir);
    arena_free(a);
}

int run_test_gguf_write(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(every_family_is_read_back),
        cmocka_unit_test(types_follow_the_quantisation),
        cmocka_unit_test(foreign_models_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
