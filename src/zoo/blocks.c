/* Blocks that several convolutional families share, with the numbering of torchvision's modules: a
 * Sequential of convolution, norm and activation is .0, .1, .2. Dropout and stochastic depth do nothing
 * at inference and are not built; where they take a number, the number stays free.
 */
#include "zoo/blocks.h"

int64_t zoo_divisible(double channels, int64_t by)
{
    int64_t near = (int64_t)(channels + (double)by / 2) / by * by;
    near = near < by ? by : near;
    return (double)near < 0.9 * channels ? near + by : near;
}

nn_t zoo_act(nn *b, const char *op, const char *name, nn_t x)
{
    return strcmp(op, "Relu6") == 0 ? nn_relu6(b, name, x) : nn_act(b, op, name, x);
}

nn_t zoo_conv_norm(nn *b, int index, nn_t x, nn_conv c)
{
    char conv[16], norm[16];
    snprintf(conv, sizeof conv, "%d", index);
    snprintf(norm, sizeof norm, "%d", index + 1);
    c.no_bias = true;
    return nn_batchnorm(b, norm, nn_convolve(b, conv, x, &c));
}

nn_t zoo_conv_norm_act(nn *b, const char *name, nn_t x, nn_conv c, const char *act, double eps)
{
    c.no_bias = true;
    if (c.pad == 0)
        c.pad = (c.k - 1) / 2 * (c.dilation ? c.dilation : 1);
    nn_push(b, "%s", name);
    x = nn_batchnorm_eps(b, "1", nn_convolve(b, "0", x, &c), eps);
    if (act)
        x = zoo_act(b, act, "2", x);
    return nn_leave(b, x);
}

nn_t zoo_squeeze_excite(nn *b, const char *name, nn_t x, int64_t squeeze, const char *act,
                        const char *gate)
{
    nn_push(b, "%s", name);
    nn_t s = nn_global_avgpool(b, "avgpool", x); /* [N, C, 1, 1] */
    s = zoo_act(b, act, "activation", NN_CONV(b, "fc1", s, .out = squeeze, .k = 1));
    s = zoo_act(b, gate, "scale_activation", NN_CONV(b, "fc2", s, .out = x.d[1], .k = 1));
    return nn_leave(b, nn_mul(b, "mul", s, x));
}

nn_t zoo_basic_conv(nn *b, const char *name, nn_t x, nn_conv c)
{
    c.no_bias = true;
    nn_push(b, "%s", name);
    x = nn_batchnorm_eps(b, "bn", nn_convolve(b, "conv", x, &c), 0.001);
    return nn_leave(b, nn_one(b, "Relu", "relu", 1, &x, x, 0, NULL));
}

nn_t zoo_transform_input(nn *b, nn_t x)
{
    static const float scale[] = {0.229F / 0.5F, 0.224F / 0.5F, 0.225F / 0.5F};
    static const float shift[] = {(0.485F - 0.5F) / 0.5F, (0.456F - 0.5F) / 0.5F,
                                  (0.406F - 0.5F) / 0.5F};
    const int64_t dims[] = {3, 1, 1};
    if (!nn_bool(b, "transform_input", false))
        return x;
    x = nn_mul(b, "transform_input.mul", x,
               nn_table_of(b, "transform_input.scale", IR_FLOAT32, 3, dims, scale));
    return nn_add(b, "transform_input.add", x,
                  nn_table_of(b, "transform_input.shift", IR_FLOAT32, 3, dims, shift));
}

int zoo_stages(nn *b, const char *key, int64_t *out, int max, int64_t limit)
{
    int n = nn_ints(b, key, NULL, 0, out, max);
    if (n == 0)
        nn_fail(b, "parameter '%s' must be a list of 1 to %d numbers", key, max);
    for (int i = 0; i < n; i++)
        if (out[i] < 1 || out[i] > limit)
            nn_fail(b, "parameter '%s' contains %lld; values must be 1 to %lld", key,
                    (long long)out[i], (long long)limit);
    return nn_ok(b) ? n : 0;
}
