/* GGUF: metadata of every type, tensors of every ggml type, hostile tables; and what an architecture's
 * keys and tensors become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <assay/assay.h>
#include <unistd.h>

#include "formats/gguf.h"
#include "support/place.h"
#include "support/values.h"
#include "support/weights_writer.h"

/* ---- reading ---- */

static assay_status parse(const wf *f, arena **a, gguf_file *g, assay_error *err)
{
    *err = (assay_error){0};
    *a = arena_new((size_t)8 << 20);
    return gguf_read_bytes(f->p, f->n, *a, g, err);
}

static void refuse(wf *f, assay_status status, const char *place, const char *fact)
{
    arena *a;
    gguf_file g;
    assay_error err;
    assert_int_equal(parse(f, &a, &g, &err), status);
    error_is(&err, status, place, fact);
    arena_free(a);
    wf_free(f);
}

static void put_scalar(wf *f, const char *key, uint32_t type, uint64_t bits, int bytes)
{
    wf_text(f, key);
    wf_int(f, type, 4);
    wf_int(f, bits, bytes);
}

static void reads_every_type(void **state)
{
    (void)state;
    arena *a;
    gguf_file g;
    assay_error err;
    wf f = {0};
    gg_head(&f, 3, 0, 14);
    put_scalar(&f, "u8", GG_U8, 200, 1);
    put_scalar(&f, "i8", GG_I8, 0xfe, 1);
    put_scalar(&f, "u16", GG_U16, 60000, 2);
    put_scalar(&f, "i16", GG_I16, 0xfffe, 2);
    put_scalar(&f, "u32", GG_U32, 4000000000u, 4);
    put_scalar(&f, "i32", GG_I32, 0xfffffffe, 4);
    gg_f32(&f, "f32", 1.5f);
    put_scalar(&f, "bool", GG_BOOL, 1, 1);
    gg_str(&f, "str", "text");
    put_scalar(&f, "u64", GG_U64, UINT64_MAX, 8);
    put_scalar(&f, "i64", GG_I64, (uint64_t)-2, 8);
    double d = 2.5;
    uint64_t bits;
    memcpy(&bits, &d, 8);
    put_scalar(&f, "f64", GG_F64, bits, 8);
    wf_text(&f, "list");
    wf_int(&f, GG_ARR, 4);
    wf_int(&f, GG_I16, 4);
    wf_int(&f, 2, 8);
    wf_int(&f, 7, 2);
    wf_int(&f, 0xffff, 2);
    wf_text(&f, "lists");
    wf_int(&f, GG_ARR, 4);
    wf_int(&f, GG_ARR, 4);
    wf_int(&f, 1, 8);
    wf_int(&f, GG_STR, 4);
    wf_int(&f, 2, 8);
    wf_text(&f, "a");
    wf_text(&f, "bc");
    assert_int_equal(parse(&f, &a, &g, &err), ASSAY_OK);
    assert_int_equal(gguf_get(&g, "u8")->i, 200);
    assert_int_equal(gguf_get(&g, "i8")->i, -2);
    assert_int_equal(gguf_get(&g, "u16")->i, 60000);
    assert_int_equal(gguf_get(&g, "i16")->i, -2);
    assert_int_equal(gguf_get(&g, "u32")->i, 4000000000);
    assert_int_equal(gguf_get(&g, "i32")->i, -2);
    assert_true(gguf_get(&g, "f32")->f == 1.5);
    assert_int_equal(gguf_get(&g, "bool")->kind, GGUF_BOOL);
    assert_true(str_is(gguf_get(&g, "str")->s, "text"));
    assert_true(gguf_get(&g, "u64")->i == INT64_MAX);
    assert_int_equal(gguf_get(&g, "i64")->i, -2);
    assert_true(gguf_get(&g, "f64")->f == 2.5);
    assert_int_equal(gguf_get(&g, "list")->n, 2);
    assert_int_equal(gguf_get(&g, "list")->items[1], -1);
    assert_int_equal(gguf_get(&g, "lists")->n, 1);
    assert_null(gguf_get(&g, "nobody"));
    arena_free(a);
    wf_free(&f);
}

/* Bytes of 512 elements, by ggml's own block sizes. */
static void knows_every_quantisation(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t bytes;
    } expected[] = {
        {0, 2048},  {1, 1024}, {2, 288},   {3, 320},   {6, 352},   {7, 384},   {8, 544},
        {9, 576},   {10, 168}, {11, 220},  {12, 288},  {13, 352},  {14, 420},  {15, 584},
        {16, 132},  {17, 148}, {18, 196},  {19, 100},  {20, 288},  {21, 220},  {22, 164},
        {23, 272},  {24, 512}, {25, 1024}, {26, 2048}, {27, 4096}, {28, 4096}, {29, 112},
        {30, 1024}, {34, 108}, {35, 132},  {39, 272},  {40, 288},  {41, 72},
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        arena *a;
        gguf_file g;
        assay_error err;
        wf f = {0};
        gg_head(&f, 2, 1, 0);
        gg_info(&f, "t", (const uint64_t[]){256, 2}, 2, expected[i].type, 0);
        gg_data(&f, 32, expected[i].bytes);
        assert_int_equal(parse(&f, &a, &g, &err), ASSAY_OK);
        assert_int_equal(g.weights->items.items[0].size_bytes, expected[i].bytes);
        assert_int_equal(g.weights->items.items[0].n_elems, 512);
        assert_int_equal(g.weights->items.items[0].dims[0], 2);
        arena_free(a);
        f.n--;
        refuse(&f, ASSAY_ERR_MALFORMED, "@96", NULL);
    }
    for (uint32_t gone = 0; gone < 200; gone++)
        if (gone == 4 || gone == 5 || (gone > 30 && gone < 34) || (gone > 35 && gone < 39) ||
            gone > 41)
            assert_null(gguf_type_of(gone));
}

/* ---- lies ---- */

static wf with_list(uint32_t type, uint64_t n)
{
    wf f = {0};
    gg_head(&f, 3, 0, 1);
    wf_text(&f, "list");
    wf_int(&f, GG_ARR, 4);
    wf_int(&f, type, 4);
    wf_int(&f, n, 8);
    return f;
}

static wf one_tensor(uint64_t d0, uint64_t d1, uint32_t rank, uint32_t type, uint64_t offset,
                     size_t data)
{
    wf f = {0};
    gg_head(&f, 3, 1, 0);
    gg_info(&f, "t", (const uint64_t[]){d0, d1, 1, 1, 1, 1, 1, 1}, rank, type, offset);
    gg_data(&f, 32, data);
    return f;
}

static void refuses_lies(void **state)
{
    wf f = {0};
    (void)state;
    wf_put(&f, "GGML____", 8);
    refuse(&f, ASSAY_ERR_MALFORMED, "@0", NULL);
    gg_head(&f, 1, 0, 0);
    refuse(&f, ASSAY_ERR_UNSUPPORTED, "@4", "1");
    gg_head(&f, 3u << 24, 0, 0);
    refuse(&f, ASSAY_ERR_UNSUPPORTED, "@4", NULL);
    gg_head(&f, 3, UINT64_MAX, 0);
    refuse(&f, ASSAY_ERR_MALFORMED, "@8", NULL);
    gg_head(&f, 3, 0, (uint64_t)1 << 62);
    refuse(&f, ASSAY_ERR_MALFORMED, "@8", NULL);
    gg_head(&f, 3, 0, 2);
    gg_u32(&f, "k", 1);
    gg_u32(&f, "k", 1);
    refuse(&f, ASSAY_ERR_MALFORMED, "@41", "'k'");
    gg_head(&f, 3, 0, 1);
    put_scalar(&f, "k", 13, 0, 8);
    refuse(&f, ASSAY_ERR_MALFORMED, "@24", NULL);
    gg_head(&f, 3, 0, 1);
    put_scalar(&f, "k", GG_BOOL, 2, 1);
    refuse(&f, ASSAY_ERR_MALFORMED, "@37", "1");
    f = with_list(GG_U64, (uint64_t)1 << 61);
    refuse(&f, ASSAY_ERR_MALFORMED, "@40", NULL);
    f = with_list(77, 0);
    refuse(&f, ASSAY_ERR_MALFORMED, "@40", NULL);
    f = with_list(GG_STR, 1);
    wf_int(&f, UINT64_MAX, 8);
    refuse(&f, ASSAY_ERR_MALFORMED, "@60", NULL);
    f = with_list(GG_ARR, 1);
    for (int i = 0; i < 100; i++) {
        wf_int(&f, GG_ARR, 4);
        wf_int(&f, 1, 8);
    }
    refuse(&f, ASSAY_ERR_MALFORMED, "@136", NULL);
    gg_head(&f, 3, 0, 1);
    gg_u32(&f, "general.alignment", 48);
    refuse(&f, ASSAY_ERR_MALFORMED, "'general.alignment'", NULL);
}

static void refuses_tensors(void **state)
{
    wf f = one_tensor((uint64_t)1 << 63, 1, 2, 0, 0, 64);
    (void)state;
    refuse(&f, ASSAY_ERR_MALFORMED, "@24", "2^63");
    f = one_tensor((uint64_t)1 << 40, (uint64_t)1 << 40, 2, 0, 0, 64);
    refuse(&f, ASSAY_ERR_MALFORMED, "@24", NULL);
    f = one_tensor(16, 1, 5, 0, 0, 64);
    refuse(&f, ASSAY_ERR_MALFORMED, "@24", "4");
    f = one_tensor(100, 2, 2, 12, 0, 64);
    refuse(&f, ASSAY_ERR_MALFORMED, "@24", "Q4_K");
    f = one_tensor(16, 1, 1, 99, 0, 64);
    refuse(&f, ASSAY_ERR_UNSUPPORTED, "@24", "99");
    f = one_tensor(16, 1, 1, 0, 8, 64);
    refuse(&f, ASSAY_ERR_MALFORMED, "@24", "general.alignment");
    f = one_tensor(16, 1, 1, 0, 32, 96);
    refuse(&f, ASSAY_ERR_MALFORMED, "@64", NULL);
    f = one_tensor(16, 1, 1, 0, UINT64_MAX - 31, 96);
    refuse(&f, ASSAY_ERR_MALFORMED, "@57", NULL);
    f = one_tensor(17, 1, 1, 0, 0, 64);
    refuse(&f, ASSAY_ERR_MALFORMED, "@64", NULL);
    gg_head(&f, 3, 2, 0);
    gg_info(&f, "t", (const uint64_t[]){16}, 1, 0, 0);
    gg_info(&f, "u", (const uint64_t[]){16}, 1, 0, 32);
    gg_data(&f, 32, 128);
    refuse(&f, ASSAY_ERR_MALFORMED, "@128", NULL);
    gg_head(&f, 3, 2, 0);
    gg_info(&f, "t", (const uint64_t[]){16}, 1, 0, 0);
    gg_info(&f, "t", (const uint64_t[]){16}, 1, 0, 64);
    gg_data(&f, 32, 128);
    refuse(&f, ASSAY_ERR_MALFORMED, "'t'", "'t'");
}

/* ---- a model ---- */

typedef struct table {
    wf infos;
    uint64_t at, n, bytes;
} table;

static void add(table *t, const char *name, uint64_t d0, uint64_t d1, uint32_t type)
{
    const gguf_type *g = gguf_type_of(type);
    uint64_t elems = d0 * (d1 ? d1 : 1), bytes = elems / g->block * g->bytes;
    gg_info(&t->infos, name, (const uint64_t[]){d0, d1}, d1 ? 2 : 1, type, t->at);
    t->at += (bytes + 31) / 32 * 32;
    t->bytes += bytes;
    t->n++;
}

static void add_block(table *t, int i)
{
    static const struct {
        const char *name;
        uint64_t d0, d1;
        uint32_t type;
    } rows[] = {
        {"attn_norm.weight", 256, 0, 0},      {"attn_q.weight", 256, 256, 12},
        {"attn_k.weight", 256, 128, 12},      {"attn_v.weight", 256, 128, 14},
        {"attn_output.weight", 256, 256, 12}, {"ffn_norm.weight", 256, 0, 0},
        {"ffn_gate.weight", 256, 512, 12},    {"ffn_up.weight", 256, 512, 12},
        {"ffn_down.weight", 512, 256, 14},
    };
    char name[64];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        snprintf(name, sizeof name, "blk.%d.%s", i, rows[k].name);
        add(t, name, rows[k].d0, rows[k].d1, rows[k].type);
    }
}

static wf tiny_llama(const char *arch, bool with_heads, table *t)
{
    wf f = {0};
    char key[64];
    *t = (table){0};
    add(t, "token_embd.weight", 256, 1000, 14);
    add(t, "output_norm.weight", 256, 0, 0);
    add_block(t, 0);
    add_block(t, 1);
    gg_head(&f, 3, t->n, 5u + with_heads);
    gg_str(&f, "general.architecture", arch);
#define KEY(word) (snprintf(key, sizeof key, "%s." word, arch), key)
    gg_u32(&f, KEY("block_count"), 2);
    gg_u32(&f, KEY("embedding_length"), 256);
    gg_u32(&f, KEY("feed_forward_length"), 512);
    gg_u32(&f, KEY("attention.head_count_kv"), 2);
    if (with_heads)
        gg_u32(&f, KEY("attention.head_count"), 4);
    wf_put(&f, t->infos.p, t->infos.n);
    gg_data(&f, 32, t->at);
    wf_free(&t->infos);
    return f;
}

static void maps_an_architecture(void **state)
{
    (void)state;
    arena *a;
    gguf_file g;
    assay_error err;
    model_config c;
    table t;
    wf f = tiny_llama("llama", true, &t);
    assert_int_equal(parse(&f, &a, &g, &err), ASSAY_OK);
    assert_int_equal(gguf_configure(&g, "x", a, &c, &err), ASSAY_OK);
    assert_non_null(c.row);
    assert_int_equal(zoo_args_get(&c.args, "num_key_value_heads")->value.i, 2);
    assert_int_equal(zoo_args_get(&c.args, "vocab_size")->value.i, 1000);
    assert_int_equal(zoo_args_get(&c.args, "tie_word_embeddings")->value.i, 1);
    assert_true(str_is(weight_set_get(g.weights, STR("blk.1.attn_q.weight"))->as,
                       "model.layers.1.self_attn.q_proj.weight"));
    arena_free(a);
    wf_free(&f);
    f = tiny_llama("llama", false, &t);
    assert_int_equal(parse(&f, &a, &g, &err), ASSAY_OK);
    assert_int_equal(gguf_configure(&g, "x", a, &c, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "llama.attention.head_count"));
    arena_free(a);
    wf_free(&f);
    f = tiny_llama("mamba", true, &t);
    assert_int_equal(parse(&f, &a, &g, &err), ASSAY_OK);
    assert_int_equal(gguf_configure(&g, "x", a, &c, &err), ASSAY_OK);
    assert_null(c.row);
    arena_free(a);
    wf_free(&f);
}

static void analyse(const char *arch, totals *counted, uint64_t *stored, char *json, size_t cap)
{
    char path[256];
    table t;
    wf f = tiny_llama(arch, true, &t);
    assay_error err = {0};
    assay_model *m = NULL;
    assay_result *p = NULL;
    snprintf(path, sizeof path, "%s/assay-gguf-XXXXXX.gguf", P_tmpdir);
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(wf_save(&f, path), 0);
    assert_int_equal(assay_model_open(path, &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    *counted = totals_of(p);
    char *text = NULL;
    size_t n = 0;
    assert_int_equal(assay_result_write(p, "json", NULL, &text, &n, &err), ASSAY_OK);
    snprintf(json, cap, "%s", text);
    assay_free(text);
    *stored = t.bytes;
    assay_result_free(p);
    assay_model_free(m);
    unlink(path);
    wf_free(&f);
}

/* 2 blocks of 256 + 256 + q 256*256 + k, v 128*256 + o 256*256 + 3*512*256, embeddings and last norm. */
static void costs_a_quantised_model(void **state)
{
    static char json[1 << 16];
    uint64_t stored, params = 1000 * 256 + 256 + 2 * (512 + 2 * 65536 + 2 * 32768 + 3 * 131072);
    totals t;
    (void)state;
    analyse("llama", &t, &stored, json, sizeof json);
    assert_int_equal(t.parameters, params);
    assert_int_equal(t.weights_bytes, stored);
    assert_true(t.macs > 0);
    assert_non_null(strstr(json, "\"Q4_K\""));
    assert_non_null(strstr(json, "\"Q6_K\""));
    assert_null(strstr(json, "weights-"));
    static const char *const same[] = {"granite", "smollm3", "ernie4_5"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        analyse(same[i], &t, &stored, json, sizeof json);
        assert_int_equal(t.parameters, params);
        assert_true(t.macs > 0);
        assert_null(strstr(json, "weights-"));
    }
    analyse("mamba", &t, &stored, json, sizeof json);
    assert_int_equal(t.parameters, params);
    assert_int_equal(t.weights_bytes, stored);
    assert_int_equal(t.macs, 0);
    assert_non_null(strstr(json, "no-graph"));
    assert_non_null(strstr(json, "\"inventory\""));
}

static void survives_damage(void **state)
{
    table t;
    wf f = tiny_llama("llama", true, &t);
    (void)state;
    for (size_t n = 0; n < f.n - t.at; n += 1) {
        wf cut = {f.p, n, n};
        arena *a;
        gguf_file g;
        assay_error err;
        assert_int_not_equal(parse(&cut, &a, &g, &err), ASSAY_OK);
        arena_free(a);
    }
    for (size_t i = 0; i < f.n - t.at; i++) {
        arena *a;
        gguf_file g;
        assay_error err;
        model_config c;
        f.p[i] ^= (uint8_t)(1u << i % 8);
        if (parse(&f, &a, &g, &err) == ASSAY_OK)
            gguf_configure(&g, "x", a, &c, &err);
        arena_free(a);
        f.p[i] ^= (uint8_t)(1u << i % 8);
    }
    wf_free(&f);
}

int run_test_gguf(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),     cmocka_unit_test(knows_every_quantisation),
        cmocka_unit_test(refuses_lies),         cmocka_unit_test(refuses_tensors),
        cmocka_unit_test(maps_an_architecture), cmocka_unit_test(costs_a_quantised_model),
        cmocka_unit_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
