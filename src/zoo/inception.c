/* Inception v3 (torchvision's inception.py). Each Mixed block is a row of branches: chains of
 * convolutions between forks, written as tables. The auxiliary head serves training only: its weights
 * are counted (aux_logits, on as published), and not built.
 */
#include "zoo/blocks.h"

/* One convolution of a branch; `from` says what it reads. */
typedef enum source { BLOCK, POOL, PREVIOUS, BEFORE } source;

typedef struct step {
    const char *name;
    source from; /* the block's input, that input pooled, the step before, or what that one read */
    int64_t out; /* 0: the block's own width (7x7 channels, or the pooled branch) */
    int64_t kh, kw, stride;
    bool pads; /* "same" */
    bool keep; /* its result is part of the block's output */
} step;

static const step block_a[] = {
    {"branch1x1", BLOCK, 64, 1, 1, 1, false, true},
    {"branch5x5_1", BLOCK, 48, 1, 1, 1, false, false},
    {"branch5x5_2", PREVIOUS, 64, 5, 5, 1, true, true},
    {"branch3x3dbl_1", BLOCK, 64, 1, 1, 1, false, false},
    {"branch3x3dbl_2", PREVIOUS, 96, 3, 3, 1, true, false},
    {"branch3x3dbl_3", PREVIOUS, 96, 3, 3, 1, true, true},
    {"branch_pool", POOL, 0, 1, 1, 1, false, true},
};
static const step block_b[] = {
    {"branch3x3", BLOCK, 384, 3, 3, 2, false, true},
    {"branch3x3dbl_1", BLOCK, 64, 1, 1, 1, false, false},
    {"branch3x3dbl_2", PREVIOUS, 96, 3, 3, 1, true, false},
    {"branch3x3dbl_3", PREVIOUS, 96, 3, 3, 2, false, true},
};
static const step block_c[] = {
    {"branch1x1", BLOCK, 192, 1, 1, 1, false, true},
    {"branch7x7_1", BLOCK, 0, 1, 1, 1, false, false},
    {"branch7x7_2", PREVIOUS, 0, 1, 7, 1, true, false},
    {"branch7x7_3", PREVIOUS, 192, 7, 1, 1, true, true},
    {"branch7x7dbl_1", BLOCK, 0, 1, 1, 1, false, false},
    {"branch7x7dbl_2", PREVIOUS, 0, 7, 1, 1, true, false},
    {"branch7x7dbl_3", PREVIOUS, 0, 1, 7, 1, true, false},
    {"branch7x7dbl_4", PREVIOUS, 0, 7, 1, 1, true, false},
    {"branch7x7dbl_5", PREVIOUS, 192, 1, 7, 1, true, true},
    {"branch_pool", POOL, 192, 1, 1, 1, false, true},
};
static const step block_d[] = {
    {"branch3x3_1", BLOCK, 192, 1, 1, 1, false, false},
    {"branch3x3_2", PREVIOUS, 320, 3, 3, 2, false, true},
    {"branch7x7x3_1", BLOCK, 192, 1, 1, 1, false, false},
    {"branch7x7x3_2", PREVIOUS, 192, 1, 7, 1, true, false},
    {"branch7x7x3_3", PREVIOUS, 192, 7, 1, 1, true, false},
    {"branch7x7x3_4", PREVIOUS, 192, 3, 3, 2, false, true},
};
static const step block_e[] = {
    {"branch1x1", BLOCK, 320, 1, 1, 1, false, true},
    {"branch3x3_1", BLOCK, 384, 1, 1, 1, false, false},
    {"branch3x3_2a", PREVIOUS, 384, 1, 3, 1, true, true},
    {"branch3x3_2b", BEFORE, 384, 3, 1, 1, true, true},
    {"branch3x3dbl_1", BLOCK, 448, 1, 1, 1, false, false},
    {"branch3x3dbl_2", PREVIOUS, 384, 3, 3, 1, true, false},
    {"branch3x3dbl_3a", PREVIOUS, 384, 1, 3, 1, true, true},
    {"branch3x3dbl_3b", BEFORE, 384, 3, 1, 1, true, true},
    {"branch_pool", POOL, 192, 1, 1, 1, false, true},
};

typedef struct block {
    const char *name;
    const step *steps;
    int n;
    int64_t own;   /* the width that the steps leave open */
    bool max_pool; /* a pooling is a separate branch: the block halves the image */
} block;

#define STEPS(table) table, sizeof(table) / sizeof *(table)
static const block blocks[] = {
    {"Mixed_5b", STEPS(block_a), 32, false},  {"Mixed_5c", STEPS(block_a), 64, false},
    {"Mixed_5d", STEPS(block_a), 64, false},  {"Mixed_6a", STEPS(block_b), 0, true},
    {"Mixed_6b", STEPS(block_c), 128, false}, {"Mixed_6c", STEPS(block_c), 160, false},
    {"Mixed_6d", STEPS(block_c), 160, false}, {"Mixed_6e", STEPS(block_c), 192, false},
    {"Mixed_7a", STEPS(block_d), 0, true},    {"Mixed_7b", STEPS(block_e), 0, false},
    {"Mixed_7c", STEPS(block_e), 0, false},
};

static nn_t conv(nn *b, const step *s, nn_t x, int64_t own)
{
    nn_conv c = {.out = s->out ? s->out : own, .kernel = {s->kh, s->kw}, .stride = s->stride};
    if (s->pads) {
        c.pads[0] = s->kh / 2;
        c.pads[1] = s->kw / 2;
    }
    return zoo_basic_conv(b, s->name, x, c);
}

static nn_t mixed(nn *b, nn_t x, const block *k)
{
    nn_t parts[8], last = x, read = x;
    int n = 0;
    nn_push(b, "%s", k->name);
    for (int i = 0; i < k->n; i++) {
        const step *s = &k->steps[i];
        if (s->from == PREVIOUS)
            read = last;
        else if (s->from == POOL)
            read = nn_mark(
                b, nn_avgpool(b, "avg_pool2d", x, &(nn_pool){.k = 3, .stride = 1, .pad = 1}),
                IR_NODE_FUNCTION);
        else if (s->from == BLOCK)
            read = x;
        last = conv(b, s, read, k->own);
        if (s->keep)
            parts[n++] = last;
    }
    if (k->max_pool)
        parts[n++] = nn_maxpool(b, "max_pool2d", x, &(nn_pool){.k = 3, .stride = 2});
    return nn_leave(b, nn_concat(b, "concat", n, parts, 1));
}

static nn_t stem(nn *b, nn_t x)
{
    const nn_pool pool = {.k = 3, .stride = 2};
    x = zoo_basic_conv(b, "Conv2d_1a_3x3", x, (nn_conv){.out = 32, .k = 3, .stride = 2});
    x = zoo_basic_conv(b, "Conv2d_2a_3x3", x, (nn_conv){.out = 32, .k = 3});
    x = zoo_basic_conv(b, "Conv2d_2b_3x3", x, (nn_conv){.out = 64, .k = 3, .pad = 1});
    x = nn_maxpool(b, "maxpool1", x, &pool);
    x = zoo_basic_conv(b, "Conv2d_3b_1x1", x, (nn_conv){.out = 80, .k = 1});
    x = zoo_basic_conv(b, "Conv2d_4a_3x3", x, (nn_conv){.out = 192, .k = 3});
    return nn_maxpool(b, "maxpool2", x, &pool);
}

/* conv 1x1 768 to 128 and 5x5 to 768 with norms, fc. */
static uint64_t aux_params(uint64_t classes)
{
    return 768 * 128 + 2 * 128 + 128 * 768 * 25 + 2 * 768 + 768 * classes + classes;
}

static void build(nn *b)
{
    int64_t classes = nn_int_in(b, "num_classes", 1000, 1, INT32_MAX);
    nn_t x = stem(b, zoo_transform_input(b, nn_image(b, 299)));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        x = mixed(b, x, &blocks[i]);
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "avgpool", x), 1);
    nn_output(b, nn_linear(b, "fc", x, classes, true), "output");
    if (nn_bool(b, "aux_logits", true))
        nn_not_in_graph(b, aux_params((uint64_t)classes));
}

static const zoo_row rows[] = {
    ZOO_ROW("inception_v3", "inception3 inceptionv3", "inception", "classification", build, NULL),
    ZOO_ROW("quantized_inception_v3", NULL, "inception", "classification", build, "quantize=true"),
};

const zoo_rows zoo_inception_rows = ZOO_ROWS(rows);
