/* The zoo's attention and video families against published facts: every row of torchvision.csv that
 * belongs to them (parameters equal, GMACs to the printed digits), SwinIR against counts worked out
 * from its authors' source, names and shapes of weights, and what users may ask for or get wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "ir/verify.h"
#include "zoo/zoo.h"

enum { LIMIT = 1 << 30 };

typedef struct built {
    ir_model *m;
    arena *a;
    profile *p;
    infer_result *r;
} built;

static assay_status make(const char *name, const char *set, int rank, const int64_t *dims,
                         int64_t batch, ir_model **m, assay_error *err)
{
    const zoo_row *row = zoo_find(str_of(name));
    arena *a = arena_new(LIMIT);
    zoo_args args;
    const zoo_input in = {.rank = rank, .dims = dims};
    zoo_request q = {.row = row, .set = &args, .inputs = &in, .n_inputs = rank > 0, .batch = batch};
    err_clear(err);
    assert_non_null(row);
    zoo_args_init(&args, a);
    assert_int_equal(zoo_args_parse(&args, str_of(set), false, err), ASSAY_OK);
    assay_status status = zoo_build(&q, m, err);
    arena_free(a);
    return status;
}

/* Builds and counts; inference must have nothing to say and know every operator. */
static built count_of(const char *name, const char *set, int rank, const int64_t *dims,
                      int64_t batch)
{
    assay_error err;
    counted of;
    built x = {.a = arena_new(LIMIT), .p = profile_new(LIMIT)};
    if (make(name, set, rank, dims, batch, &x.m, &err) != ASSAY_OK)
        fail_msg("%s %s: %s", name, set, err.message);
    if (ir_verify(x.m, &err) != ASSAY_OK || infer_run(x.m, NULL, x.a, &x.r, &err) != ASSAY_OK ||
        count_run(x.r, NULL, x.p, &of, &err) != ASSAY_OK)
        fail_msg("%s %s: %s", name, set, err.message);
    for (uint32_t i = 0; i < x.r->notes.list.n; i++)
        fail_msg("%s %s: note " STR_FMT, name, set, STR_ARG(x.r->notes.list.items[i].text));
    assert_int_equal(x.m->notes.list.n, 0);
    assert_int_equal(x.p->accounting.n_items, 0);
    return x;
}

static void drop(built *x)
{
    profile_free(x->p);
    arena_free(x->a);
    ir_model_free(x->m);
}

static void expect(const char *name, const char *set, uint64_t parameters, uint64_t macs)
{
    built x = count_of(name, set, 0, NULL, 0);
    if (x.p->architecture.total_parameters != parameters || x.p->architecture.macs != macs)
        fail_msg("%s %s: %llu parameters, %llu MACs", name, set,
                 (unsigned long long)x.p->architecture.total_parameters,
                 (unsigned long long)x.p->architecture.macs);
    drop(&x);
}

/* ---- the published table ---- */

static bool is_mine(const char *builder)
{
    static const char *const mine[] = {"vit_", "swin", "maxvit",   "mvit",
                                       "r3d",  "mc3",  "r2plus1d", "s3d"};
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        if (strncmp(builder, mine[i], strlen(mine[i])) == 0)
            return true;
    return false;
}

/* "1x3x224x224". */
static int parse_input(const char *text, int64_t *dims)
{
    int rank = 0;
    for (char *end; *text; text = *end == 'x' ? end + 1 : end) {
        dims[rank++] = strtoll(text, &end, 10);
        assert_true(end != text && rank <= NN_RANK);
    }
    return rank;
}

/* The table drops zeros at the end ("5.94"), so it is always three digits. */
static void check_row(const char *builder, const char *input, uint64_t parameters, double gmacs)
{
    int64_t dims[NN_RANK + 1];
    built x = count_of(builder, "", parse_input(input, dims), dims, 0);
    char ours[32], theirs[32];
    snprintf(ours, sizeof ours, "%.3f",
             (double)(x.p->architecture.macs + x.p->load_time.macs) / 1e9);
    snprintf(theirs, sizeof theirs, "%.3f", gmacs);
    if (x.p->architecture.total_parameters != parameters || strcmp(ours, theirs) != 0)
        fail_msg("%s at %s: %llu parameters, %s GMACs; published %llu, %s", builder, input,
                 (unsigned long long)x.p->architecture.total_parameters, ours,
                 (unsigned long long)parameters, theirs);
    drop(&x);
}

static void every_published_row(void **state)
{
    char line[512], builder[64], found[128], input[64];
    unsigned long long parameters;
    double gmacs;
    int rows = 0;
    FILE *f = fopen("tests/data/torchvision.csv", "r");
    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || !is_mine(line) ||
            sscanf(line, "%63[^,],%127[^,],%llu,%lf,%63[^,]", builder, found, &parameters, &gmacs,
                   input) != 5)
            continue;
        check_row(builder, input, parameters, gmacs);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 27);
}

/* ---- restoration ---- */

static void swinir_counts(void **state)
{
    (void)state;
    expect("swinir", "", 11497681, UINT64_C(799872122880));
    expect("swinir", "embed_dim=60", 1337761, UINT64_C(101001461760));
    expect("swinmr",
           "in_chans=1 out_chans=1 img_size=256 window_size=8 depths=6,6,6,6,6,6 "
           "embed_dim=180 num_heads=6,6,6,6,6,6 mlp_ratio=2 upscale=1 img_range=1.0 "
           "resi_connection=1conv",
           11497681, UINT64_C(799872122880));
}

/* The scores and what they weigh: 2 * tokens * 64 * 180 for each of 36 blocks. */
static void swinir_attention_share(void **state)
{
    built x = count_of("swinir", "", 0, NULL, 0);
    uint64_t attention = 0;
    (void)state;
    for (uint32_t i = 0; i < x.p->n_layers; i++)
        if (str_ends(x.p->layers[i].name, ".scores") || str_ends(x.p->layers[i].name, ".attend"))
            attention += x.p->layers[i].macs;
    assert_int_equal(attention, UINT64_C(36) * 2 * 65536 * 64 * 180);
    drop(&x);
}

static void swinir_parts(void **state)
{
    static const struct {
        const char *set;
        int64_t scale, channels;
    } cases[] = {
        {"in_chans=3 upscale=2 upsampler=pixelshuffle", 2, 3},
        {"in_chans=3 upscale=3 upsampler=pixelshuffle resi_connection=3conv", 3, 3},
        {"in_chans=1 upscale=4 upsampler=pixelshuffledirect out_chans=2", 4, 2},
        {"in_chans=3 upscale=4 upsampler=nearest+conv img_range=255", 4, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char set[256];
        snprintf(set, sizeof set, "depths=2,2 num_heads=6,6 embed_dim=60 img_size=20 %s",
                 cases[i].set); /* 20 is no multiple of the window: padded, then cropped */
        built x = count_of("swinir", set, 0, NULL, 0);
        const ir_graph *g = ir_graph_at(x.m, 0);
        const op_info *out = &x.r->info[g->outputs.items[0]];
        assert_int_equal(out->rank, 4);
        assert_int_equal(out->dims[1], cases[i].channels);
        assert_int_equal(out->dims[2], 20 * cases[i].scale);
        assert_int_equal(out->dims[3], 20 * cases[i].scale);
        drop(&x);
    }
}

/* ---- names, content, shapes ---- */

static const ir_tensor *constant_of(const ir_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->values.n; i++)
        if (m->values.items[i].constant && str_is(m->values.items[i].name, name))
            return m->values.items[i].constant;
    fail_msg("there is no constant %s", name);
    return NULL;
}

static void names_are_pytorchs(void **state)
{
    static const struct {
        const char *model, *weight;
        int rank;
        int64_t dims[5];
    } rows[] = {
        {"vit_b_16", "encoder.pos_embedding", 3, {1, 197, 768}},
        {"vit_b_16",
         "encoder.layers.encoder_layer_11.self_attention.in_proj_weight",
         2,
         {768, 2304}},
        {"swin_t", "features.1.1.attn.relative_position_bias_table", 2, {169, 3}},
        {"swin_t", "features.6.reduction.weight", 2, {1536, 768}},
        {"swin_v2_t", "features.3.0.attn.cpb_mlp.2.weight", 2, {512, 6}},
        {"swin_v2_t", "features.3.0.attn.logit_scale", 3, {6, 1, 1}},
        {"maxvit_t", "blocks.0.layers.0.layers.MBconv.proj.1.weight", 4, {64, 64, 1, 1}},
        {"maxvit_t",
         "blocks.3.layers.1.layers.grid_attention.attn_layer.1.to_qkv.weight",
         2,
         {512, 1536}},
        {"mvit_v1_b", "pos_encoding.temporal_pos", 2, {8, 96}},
        {"mvit_v2_s", "blocks.1.attn.rel_pos_h", 2, {55, 96}},
        {"mvit_v2_s", "blocks.14.attn.pool_q.pool.weight", 5, {96, 1, 3, 3, 3}},
        {"r2plus1d_18", "layer2.0.conv1.0.3.weight", 5, {128, 230, 3, 1, 1}},
        {"s3d", "features.5.branch1.1.0.0.weight", 5, {128, 96, 1, 3, 3}},
        {"swin3d_t", "features.0.0.attn.relative_position_bias_table", 2, {2535, 3}},
        {"swin3d_t", "patch_embed.proj.weight", 5, {96, 3, 2, 4, 4}},
        {"swinir", "layers.0.residual_group.blocks.5.mlp.fc1.weight", 2, {180, 360}},
        {"swinir", "patch_embed.norm.weight", 1, {180}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ir_model *m;
        assay_error err;
        assert_int_equal(make(rows[i].model, "", 0, NULL, 0, &m, &err), ASSAY_OK);
        const ir_tensor *t = constant_of(m, rows[i].weight);
        assert_int_equal(t->rank, rows[i].rank);
        for (int d = 0; d < t->rank; d++)
            assert_int_equal(t->dims[d], rows[i].dims[d]);
        ir_model_free(m);
    }
}

/* Place 0 against itself is the middle row of the table; against the last place, the first row. */
static void relative_positions(void **state)
{
    ir_model *m;
    assay_error err;
    (void)state;
    assert_int_equal(make("swin_t", "", 0, NULL, 0, &m, &err), ASSAY_OK);
    const ir_tensor *t = constant_of(m, "features.1.0.attn.relative_position_index");
    const int64_t *index = (const int64_t *)(const void *)t->bytes;
    assert_int_equal(t->dims[0], 49);
    assert_int_equal(index[0], 84);
    assert_int_equal(index[48], 0);
    assert_int_equal(index[48 * 49], 168);
    assert_int_equal(index[1], 83);
    assert_int_equal(index[7], 71);
    ir_model_free(m);
}

/* 56x56 in windows of 7 rolled by 3: only the last row and column of windows are divided. */
static void mask_regions(void **state)
{
    ir_model *m;
    assay_error err;
    (void)state;
    assert_int_equal(make("swin_t", "", 0, NULL, 0, &m, &err), ASSAY_OK);
    const ir_tensor *t = constant_of(m, "features.1.1.attn.attn_mask.region");
    const int32_t *id = (const int32_t *)(const void *)t->bytes;
    assert_int_equal(t->dims[0], 64);
    for (int k = 0; k < 49; k++)
        assert_int_equal(id[k], 0);
    for (int k = 0; k < 49; k++)
        assert_int_equal(id[63 * 49 + k], 3 * (1 + (k / 7 >= 4)) + 1 + (k % 7 >= 4));
    ir_model_free(m);
}

/* ---- other sizes ---- */

static void odd_sizes_and_batches(void **state)
{
    static const struct {
        const char *model;
        int rank;
        int64_t dims[5];
    } rows[] = {
        {"vit_b_16", 4, {2, 3, 240, 480}},    {"swin_t", 4, {3, 3, 250, 193}},
        {"swin_v2_t", 4, {2, 3, 200, 170}},   {"maxvit_t", 4, {2, 3, 448, 448}},
        {"r3d_18", 5, {2, 3, 9, 65, 130}},    {"s3d", 5, {1, 3, 33, 256, 250}},
        {"mvit_v2_s", 5, {2, 3, 8, 128, 64}}, {"swin3d_t", 5, {2, 3, 21, 70, 90}},
        {"swin3d_t", 5, {1, 3, 6, 32, 32}},   {"swinir", 4, {2, 1, 50, 61}},
        {"swinir", 4, {1, 1, 6, 30}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        built x = count_of(rows[i].model, "", rows[i].rank, rows[i].dims, 0);
        drop(&x);
    }
}

static void batches_multiply(void **state)
{
    static const char *const models[] = {"vit_b_32", "swin_t", "maxvit_t", "mvit_v2_s", "swin3d_t"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        built one = count_of(models[i], "", 0, NULL, 1), four = count_of(models[i], "", 0, NULL, 4);
        assert_int_equal(four.p->architecture.macs, 4 * one.p->architecture.macs);
        assert_int_equal(four.p->architecture.total_parameters,
                         one.p->architecture.total_parameters);
        drop(&one);
        drop(&four);
    }
}

/* ---- what users get wrong ---- */

static void wrong_parameters(void **state)
{
    static const struct {
        const char *model, *set, *says;
    } rows[] = {
        {"vit_b_16", "image_size=225", "16"},
        {"vit_b_16", "num_heads=7", "7"},
        {"vit_b_16", "num_layers=0", "num_layers"},
        {"vit_b_16", "hidden_dim=-4", "hidden_dim"},
        {"swin_t", "depths=2,2 num_heads=3,6,12", "num_heads"},
        {"swin_t", "window_size=0", "window_size"},
        {"swin_t", "window_size=7,7,7", "window_size"},
        {"swin_t", "embed_dim=97", "heads"},
        {"swin3d_t", "window_size=64", "4096"},
        {"swin_t", "mlp_ratio=-1", "mlp_ratio"},
        {"swin_t", "image_size=2", ""},
        {"maxvit_t", "image_size=256", "7"},
        {"maxvit_t", "head_dim=33", "33"},
        {"r3d_18", "convs=full,round,full,full", "convs"},
        {"r3d_18", "layers=2,2", "layers"},
        {"s3d", "frames=4", "features.13"},
        {"mvit_v1_b", "num_layers=100000", "num_layers"},
        {"swinir", "upsampler=bicubic", "upsampler"},
        {"swinir", "resi_connection=2conv", "resi_connection"},
        {"swinir", "upscale=2", "upscale"},
        {"swinir", "upscale=5 upsampler=pixelshuffle", "5"},
        {"swinir", "upscale=2 upsampler=nearest+conv", "nearest+conv"},
        {"swinir", "img_size=big", "img_size"},
        {"swinir", "depths=6,6", "num_heads"},
        {"swinir", "colour=red", "colour"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ir_model *m = NULL;
        assay_error err;
        assert_int_equal(make(rows[i].model, rows[i].set, 0, NULL, 0, &m, &err), ASSAY_ERR_USAGE);
        if (!strstr(err.message, rows[i].says))
            fail_msg("%s %s: %s", rows[i].model, rows[i].set, err.message);
    }
}

int run_test_zoo_attention(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_row),    cmocka_unit_test(swinir_counts),
        cmocka_unit_test(swinir_attention_share), cmocka_unit_test(swinir_parts),
        cmocka_unit_test(names_are_pytorchs),     cmocka_unit_test(relative_positions),
        cmocka_unit_test(mask_regions),           cmocka_unit_test(odd_sizes_and_batches),
        cmocka_unit_test(batches_multiply),       cmocka_unit_test(wrong_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
