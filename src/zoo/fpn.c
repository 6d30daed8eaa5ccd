/* torchvision's BackboneWithFPN. From the coarsest map down: a 1x1 convolution to fpn_channels (inner_blocks),
 * plus the coarser sum enlarged by nearest neighbours, then a 3x3 convolution (layer_blocks). Above it a
 * map that is subsampled (FPN_POOL) or two that are convolved with stride 2 (FPN_P6P7).
 */
#include "zoo/fpn.h"

#include "zoo/mobilenet.h"
#include "zoo/resnet.h"

/* ---- blocks ---- */

/* InstanceNorm2d without affine: ONNX wants a scale of ones and a bias of zeros all the same. */
static nn_t instance_norm(nn *b, const char *name, nn_t x)
{
    enum { MOST = 4096 };
    static const float zero[MOST];
    float one[MOST];
    int64_t n = x.d[1];
    if (n < 1 || n > MOST) {
        nn_fail(b, "unsupported instance normalisation of %lld channels", (long long)n);
        return x;
    }
    for (int64_t i = 0; i < n; i++)
        one[i] = 1.0F;
    nn_push(b, "%s", name);
    const nn_t in[] = {x, nn_table_of(b, "ones", IR_FLOAT32, 1, &n, one),
                       nn_table_of(b, "zeros", IR_FLOAT32, 1, &n, zero)};
    nn_t out = x;
    nn_emit(b, &(nn_call){.op = "InstanceNormalization",
                          .name = "",
                          .module = true,
                          .in = in,
                          .n_in = 3,
                          .out = &out,
                          .n_out = 1,
                          .attrs = &NN_FLOAT("epsilon", 1e-5),
                          .n_attrs = 1});
    return nn_leave(b, out);
}

static nn_t normalise(nn *b, const char *name, nn_t x, norm_kind kind)
{
    switch (kind) {
    case NORM_BATCH:
        return nn_batchnorm(b, name, x);
    case NORM_GROUP32:
        return nn_groupnorm(b, name, x, 32, 1e-5);
    case NORM_INSTANCE:
        return instance_norm(b, name, x);
    default:
        return x;
    }
}

nn_t conv_block_layers(nn *b, const char *name, nn_t x, const conv_block *c)
{
    nn_conv conv = c->conv;
    conv.pad = conv.k / 2;
    conv.no_bias = !c->bias;
    nn_push(b, "%s", name);
    x = normalise(b, "1", nn_convolve(b, "0", x, &conv), c->norm);
    if (c->relu)
        x = nn_act(b, "Relu", c->norm == NORM_NONE ? "1" : "2", x);
    return nn_leave(b, x);
}

static uint32_t freeze_mark(nn *b)
{
    return nn_model(b)->nodes.n;
}

/* FrozenBatchNorm2d has its own, whatever the trunk's norm had: MobileNet's is 0.001. */
static void set_epsilon(ir_model *m, ir_node *node)
{
    ir_attr *attrs = arena_copy(m->arena, node->attrs, node->n_attrs * sizeof *attrs);
    for (uint32_t i = 0; attrs && i < node->n_attrs; i++)
        if (str_is(attrs[i].name, "epsilon"))
            attrs[i].v.f = (double)1e-5F;
    if (attrs)
        node->attrs = attrs;
}

/* nn_batchnorm of all nodes since `first` becomes FrozenBatchNorm2d: all four vectors are buffers. */
static void freeze_norms(nn *b, uint32_t first)
{
    ir_model *m = nn_model(b);
    for (ir_id id = first; nn_ok(b) && id < m->nodes.n; id++) {
        ir_node *node = &m->nodes.items[id];
        if (!str_is(node->op, "BatchNormalization"))
            continue;
        set_epsilon(m, node);
        for (uint32_t i = 1; i <= 2; i++) {
            ir_value *v = ir_value_at(m, node->inputs[i]);
            v->flags = (v->flags & ~(uint32_t)IR_VALUE_PARAM) | IR_VALUE_BUFFER;
        }
    }
}

/* ---- the pyramid ---- */

static nn_t lateral(nn *b, const fpn_plan *p, const char *list, int i, nn_t x, int64_t k)
{
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    return NN_UNDER(
        b,
        conv_block_layers(
            b, name, x,
            &(conv_block){.conv = {.out = nn_int_in(b, "fpn_channels", 256, 1, 65536), .k = k},
                          .norm = p->norm ? NORM_BATCH : NORM_NONE,
                          .bias = !p->norm}),
        "%s", list);
}

static void add_extra(nn *b, const fpn_plan *p, nn_t coarsest, fpn *out)
{
    nn_t top = out->map[out->n - 1];
    nn_push(b, "extra_blocks");
    if (p->extra == FPN_POOL) {
        out->map[out->n++] = nn_maxpool(b, "pool", top, &(nn_pool){.k = 1, .stride = 2});
    } else {
        nn_t p6 = NN_CONV(b, "p6", p->p6_from_c5 ? coarsest : top, .out = top.d[1], .k = 3,
                          .stride = 2, .pad = 1);
        nn_t p7 = nn_one(b, "Relu", "relu", 1, &p6, p6, 0, NULL);
        out->map[out->n++] = p6;
        out->map[out->n++] = NN_CONV(b, "p7", p7, .out = top.d[1], .k = 3, .stride = 2, .pad = 1);
    }
    nn_pop(b);
}

static void pyramid(nn *b, const fpn_plan *p, int n, const nn_t *stage, fpn *out)
{
    nn_t inner = NN_ABSENT;
    out->n = n;
    nn_push(b, "fpn");
    for (int i = n - 1; i >= 0; i--) {
        nn_t side = lateral(b, p, "inner_blocks", i, stage[i], 1);
        if (i < n - 1)
            side = nn_add(
                b, "add", side,
                nn_resize(b, "interpolate", inner, side.d[2], side.d[3], "nearest", false));
        inner = side;
        out->map[i] = lateral(b, p, "layer_blocks", i, inner, 3);
    }
    add_extra(b, p, stage[n - 1], out);
    nn_pop(b);
}

void fpn_resnet(nn *b, nn_t image, const fpn_plan *p, fpn *out)
{
    nn_t stage[RESNET_STAGES];
    int64_t blocks[RESNET_STAGES];
    int n = resnet_depths(b, blocks);
    *out = (fpn){.n = 1, .map = {image}};
    if (nn_ok(b) && n <= p->first)
        nn_fail(b, "parameter 'layers' must have at least %d items", p->first + 1);
    if (!nn_ok(b))
        return;
    nn_push(b, "backbone");
    nn_push(b, "body");
    uint32_t mark = freeze_mark(b);
    resnet_features(b, image, 0, stage);
    if (p->frozen)
        freeze_norms(b, mark);
    nn_pop(b);
    pyramid(b, p, n - p->first + 1, stage + p->first - 1, out);
    nn_pop(b);
}

void fpn_mobilenet(nn *b, nn_t image, const fpn_plan *p, fpn *out)
{
    enum { C4 = 13, LAST = 16 };
    nn_t feature[MOBILENET_V3_BLOCKS], stage[2];
    mobilenet_v3_trunk trunk = {.large = true,
                                .width = nn_real_in(b, "width_mult", 1.0, 0.01, 100.0)};
    *out = (fpn){.n = 1, .map = {image}};
    nn_push(b, "backbone");
    nn_push(b, "body");
    uint32_t mark = freeze_mark(b);
    mobilenet_v3_features(b, image, &trunk, feature, NULL);
    if (p->frozen)
        freeze_norms(b, mark);
    nn_pop(b);
    stage[0] = feature[C4];
    stage[1] = feature[LAST];
    if (nn_ok(b))
        pyramid(b, p, 2, stage, out);
    nn_pop(b);
}
