/* ConvNeXt: 7x7 depthwise, layer norm and two linear layers over channels last, a scale per channel;
 * between stages a norm and a 2x2 convolution.
 */
#include "zoo/blocks.h"

static const int64_t to_last[] = {0, 2, 3, 1}, to_first[] = {0, 3, 1, 2};

/* LayerNorm2d: the channels are normalised, wherever they stand. */
static nn_t norm2d(nn *b, const char *name, nn_t x)
{
    x = nn_transpose(b, "permute", x, to_last);
    x = nn_mark(b, nn_layernorm(b, name, x, 1e-6), IR_NODE_FUNCTION);
    return nn_transpose(b, "permute", x, to_first);
}

static nn_t block(nn *b, nn_t x)
{
    int64_t dim = x.d[1];
    nn_push(b, "block");
    nn_t y = NN_CONV(b, "0", x, .out = dim, .k = 7, .pad = 3, .groups = dim);
    y = nn_layernorm(b, "2", nn_transpose(b, "1", y, to_last), 1e-6);
    y = nn_gelu(b, "4", nn_linear(b, "3", y, 4 * dim, true), false);
    y = nn_transpose(b, "6", nn_linear(b, "5", y, dim, true), to_first);
    nn_pop(b);
    y = nn_mul(b, "mul", nn_param(b, "layer_scale", 3, (const int64_t[]){dim, 1, 1}), y);
    return nn_add(b, "add", y, x);
}

static nn_t stem(nn *b, nn_t x, int64_t out)
{
    return NN_UNDER(b, norm2d(b, "1", NN_CONV(b, "0", x, .out = out, .k = 4, .stride = 4)), "0");
}

static nn_t downsample(nn *b, int index, nn_t x, int64_t out)
{
    return NN_UNDER(b, NN_CONV(b, "1", norm2d(b, "0", x), .out = out, .k = 2, .stride = 2), "%d",
                    index);
}

static nn_t stage(nn *b, int index, nn_t x, int64_t depth)
{
    nn_push(b, "%d", index);
    for (int i = 0; i < depth; i++)
        x = NN_UNDER(b, block(b, x), "%d", i);
    return nn_leave(b, x);
}

enum { STAGES = 8 };

static nn_t features(nn *b, nn_t x)
{
    int64_t dims[STAGES] = {1}, depths[STAGES];
    int n = zoo_stages(b, "depths", depths, STAGES, 1000);
    if (zoo_stages(b, "dims", dims, STAGES, 1 << 20) != n)
        nn_fail(b, "parameters 'depths' and 'dims' must be lists of the same length");
    nn_push(b, "features");
    x = stem(b, x, dims[0]);
    for (int i = 0; i < n && nn_ok(b); i++) {
        if (i)
            x = downsample(b, 2 * i, x, dims[i]);
        x = stage(b, 2 * i + 1, x, depths[i]);
    }
    return nn_leave(b, x);
}

static void build(nn *b)
{
    nn_t x = nn_global_avgpool(b, "avgpool", features(b, nn_image(b, 224)));
    nn_push(b, "classifier");
    x = nn_flatten(b, "1", norm2d(b, "0", x), 1);
    x = nn_linear(b, "2", x, nn_int(b, "num_classes", 1000), true);
    nn_pop(b);
    nn_output(b, x, "output");
}

#define ROW(name_, set) ZOO_ROW(name_, NULL, "convnext", "classification", build, set)

static const zoo_row rows[] = {
    ROW("convnext_tiny", "depths=3,3,9,3 dims=96,192,384,768"),
    ROW("convnext_small", "depths=3,3,27,3 dims=96,192,384,768"),
    ROW("convnext_base", "depths=3,3,27,3 dims=128,256,512,1024"),
    ROW("convnext_large", "depths=3,3,27,3 dims=192,384,768,1536"),
};

const zoo_rows zoo_convnext_rows = ZOO_ROWS(rows);
