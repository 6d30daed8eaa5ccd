/* The plan of llama.cpp's memory: the allocator's rules, and buffers that release 0.5 states for small models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/llama_alloc.h"
#include "engine/llama_plan.h"

/* ---- the allocator ---- */

static void blocks_are_used_again(void **state)
{
    arena *a = arena_new(1 << 20);
    llama_graph g;
    (void)state;
    llama_graph_init(&g, a);
    uint32_t input = llama_graph_input(&g, 320);
    uint32_t x = llama_graph_add(&g, 3200, input, 0, 0);
    uint32_t y = llama_graph_add(&g, 3200, x, 0, 0);
    uint32_t z = llama_graph_add(&g, 3200, y, 0, 0); /* where x was */
    llama_graph_add(&g, 320, z, 0, 0);               /* where the input was */
    assert_int_equal(llama_graph_buffer(&g), 320 + 2 * 3200);
    arena_free(a);
}

static void operators_work_in_place(void **state)
{
    arena *a = arena_new(1 << 20);
    llama_graph g;
    (void)state;
    llama_graph_init(&g, a);
    uint32_t x = llama_graph_add(&g, 3200, 0, 0, 0);
    uint32_t y = llama_graph_in_place(&g, 3200, x, 0);
    llama_graph_in_place(&g, 3200, y, 0);
    assert_int_equal(llama_graph_buffer(&g), 3200);

    llama_graph_init(&g, a);
    x = llama_graph_add(&g, 3200, 0, 0, 0);
    y = llama_graph_in_place(&g, 3200, x, 0); /* x has another reader */
    llama_graph_in_place(&g, 3200, y, x);
    assert_int_equal(llama_graph_buffer(&g), 6400);
    arena_free(a);
}

static void a_size_without_end_fails(void **state)
{
    arena *a = arena_new(1 << 20);
    llama_graph g;
    (void)state;
    llama_graph_init(&g, a);
    llama_graph_add(&g, UINT64_MAX - 64, 0, 0, 0);
    assert_int_equal(llama_graph_buffer(&g), 0);
    arena_free(a);
}

/* ---- what the library states ---- */

static const llama_layer dense[] = {
    {.attn_norm = 256,
     .q = 256,
     .k = 128,
     .v = 128,
     .ffn_norm = 256,
     .up = 256,
     .gate = 256,
     .down_in = 256},
    {.attn_norm = 256,
     .q = 256,
     .k = 128,
     .v = 128,
     .ffn_norm = 256,
     .up = 256,
     .gate = 256,
     .down_in = 256},
};
static const llama_layer experts[] = {
    {.attn_norm = 256,
     .q = 256,
     .k = 128,
     .v = 128,
     .ffn_norm = 256,
     .router = 4,
     .up_experts = 256,
     .gate_experts = 256},
    {.attn_norm = 256,
     .q = 256,
     .k = 128,
     .v = 128,
     .ffn_norm = 256,
     .router = 4,
     .up_experts = 256,
     .gate_experts = 256},
};
static const llama_layer fused[] = {
    {.attn_norm = 256, .qkv = 768, .ffn_norm = 256, .up = 256, .down_in = 256},
    {.attn_norm = 256, .qkv = 768, .ffn_norm = 256, .up = 256, .down_in = 256},
};

static llama_shape shape_of(const char *architecture, const llama_layer *layers, uint64_t heads_kv)
{
    return (llama_shape){.architecture = str_of(architecture),
                         .hidden = 256,
                         .vocab = 384,
                         .heads = 4,
                         .heads_kv = heads_kv,
                         .head_k = 64,
                         .head_v = 64,
                         .experts_used = 2,
                         .layers = layers,
                         .n_layers = 2};
}

static void check(const llama_shape *m, llama_sizes s, double cache_mib, double compute_mib)
{
    arena *a = arena_new(1 << 22);
    llama_memory_plan plan;
    s.cache_type = 1;
    assert_int_equal(llama_plan_memory(m, &s, a, &plan, NULL), ASSAY_OK);
    assert_float_equal((double)plan.cache / 1048576, cache_mib, 1e-9);
    assert_float_equal((double)plan.compute / 1048576, compute_mib, 0.01 * compute_mib);
    assert_int_equal(plan.output, m->vocab * s.sequences * 4);
    arena_free(a);
}

static void buffers_are_those_of_the_library(void **state)
{
    const llama_sizes flash = {.context = 768, .sequences = 1, .flash = true};
    const llama_sizes scores = {.context = 768, .sequences = 1};
    const llama_sizes four = {.context = 4096, .micro_batch = 128, .sequences = 4, .flash = true};
    llama_shape m = shape_of("llama", dense, 2);
    (void)state;
    check(&m, flash, 0.75, 3.2637);
    check(&m, scores, 0.75, 10.5098);
    check(&m, four, 4, 0.8784);
    m = shape_of("llama", experts, 2);
    check(&m, flash, 0.75, 5.7637);
    check(&m, four, 4, 1.5034);
    m = shape_of("gptneox", fused, 4);
    m.layer_norm = m.parallel = true;
    check(&m, flash, 1.5, 4.2637);
    check(&m, scores, 1.5, 10.0098);
}

static void logits_of_every_token_are_counted(void **state)
{
    arena *a = arena_new(1 << 22);
    const llama_shape m = shape_of("llama", dense, 2);
    const llama_sizes s = {
        .context = 256, .sequences = 1, .outputs = 128, .cache_type = 1, .flash = true};
    llama_memory_plan plan;
    (void)state;
    assert_int_equal(llama_plan_memory(&m, &s, a, &plan, NULL), ASSAY_OK);
    assert_int_equal(plan.output, 384 * 128 * 4);
    arena_free(a);
}

static void unknown_architectures_have_no_plan(void **state)
{
    arena *a = arena_new(1 << 22);
    llama_shape m = shape_of("mamba", dense, 2);
    const llama_sizes s = {.context = 256, .sequences = 1, .cache_type = 1, .flash = true};
    llama_memory_plan plan;
    (void)state;
    assert_int_equal(llama_plan_memory(&m, &s, a, &plan, NULL), ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(plan.compute, 0);
    arena_free(a);
}

int run_test_llama_plan(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_used_again),
        cmocka_unit_test(operators_work_in_place),
        cmocka_unit_test(a_size_without_end_fails),
        cmocka_unit_test(buffers_are_those_of_the_library),
        cmocka_unit_test(logits_of_every_token_are_counted),
        cmocka_unit_test(unknown_architectures_have_no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
