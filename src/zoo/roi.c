#include "zoo/roi.h"

#include <math.h>

#include "zoo/nn_impl.h"

enum { CANONICAL_LEVEL = 4, CANONICAL_SIDE = 224, ROIS_MAX = 1 << 24 };

/* The stride of a map as a power of two, as torchvision guesses it. */
static int64_t level_of(nn_t feature, nn_t image)
{
    if (feature.d[2] < 1 || image.d[2] < 1)
        return 0;
    return -(int64_t)rint(log2((double)feature.d[2] / (double)image.d[2]));
}

/* Maps of one scale are told apart by nobody: LevelMapper gives all boxes to the first. */
roi_maps roi_maps_of(const fpn *maps, int n, nn_t image)
{
    roi_maps m = {.lowest = level_of(maps->map[0], image)};
    while (m.n < n && level_of(maps->map[m.n], image) == m.lowest + m.n) {
        m.feature[m.n] = maps->map[m.n];
        m.n++;
    }
    return m;
}

/* [R, 4] to the index of the map [R], by the FPN paper's floor(4 + log2(sqrt(area) / 224)). */
static nn_t level_index(nn *b, const roi_maps *m, nn_t rois)
{
    nn_t side[2];
    nn_push(b, "level");
    nn_split(b, "size", det_split(b, rois).size, -1, 2, side);
    nn_t x = nn_squeeze(b, "area", nn_mul(b, "area", side[0], side[1]), 1);
    x = nn_one(b, "Sqrt", "sqrt", 1, &x, x, 0, NULL);
    x = nn_scale(b, "relative", x, 1.0 / CANONICAL_SIDE);
    x = nn_one(b, "Log", "log", 1, &x, x, 0, NULL);
    x = nn_scale(b, "log2", x, 1.0 / log(2.0));
    x = nn_add(b, "shift", x, nn_float_const(b, "first", CANONICAL_LEVEL + 1e-6));
    x = nn_one(b, "Floor", "floor", 1, &x, x, 0, NULL);
    const nn_t in[] = {x, nn_float_const(b, "min", (double)m->lowest),
                       nn_float_const(b, "max", (double)(m->lowest + m->n - 1))};
    x = nn_one(b, "Clip", "clamp", 3, in, x, 0, NULL);
    x = nn_binary(b, "Sub", "index", x, nn_float_const(b, "lowest", (double)m->lowest));
    nn_t out = x;
    out.dtype = IR_INT64;
    return nn_leave(b,
                    nn_one(b, "Cast", "cast", 1, &x, out, 1, &NN_INT("to", 7 /* ONNX's INT64 */)));
}

/* To which image of the batch each region belongs. */
static nn_t images_of(nn *b, int64_t batch, int64_t each)
{
    int64_t n = batch * each;
    int64_t *index = n > 0 ? ARENA_ARRAY(b->scratch, int64_t, (size_t)n) : NULL;
    for (int64_t i = 0; index && i < n; i++)
        index[i] = i / each;
    return nn_table_of(b, "image", IR_INT64, 1, &n, index);
}

static nn_t pool(nn *b, const roi_maps *m, int i, nn_t rois, nn_t image, int64_t side)
{
    const nn_t in[] = {m->feature[i], rois, image};
    const nn_attr attrs[] = {NN_INT("output_height", side), NN_INT("output_width", side),
                             NN_INT("sampling_ratio", 2),
                             NN_FLOAT("spatial_scale", exp2((double)-(m->lowest + i))),
                             NN_TEXT("coordinate_transformation_mode", "output_half_pixel")};
    nn_t out = NN_F32(rois.d[0], m->feature[i].d[1], side, side);
    return nn_one(b, "RoiAlign", "roi_align", 3, in, out, 5, attrs);
}

/* y where the level [R, 1, 1, 1] is i, x elsewhere. */
static nn_t choose(nn *b, nn_t level, int64_t i, nn_t x, nn_t y)
{
    const nn_t pair[] = {level, nn_table_of(b, "number", IR_INT64, 0, NULL, &i)};
    nn_t mine = level;
    mine.dtype = IR_BOOL;
    mine = nn_one(b, "Equal", "mine", 2, pair, mine, 0, NULL);
    return nn_one(b, "Where", "choose", 3, (const nn_t[]){mine, y, x}, x, 0, NULL);
}

nn_t roi_align(nn *b, const roi_maps *m, nn_t boxes, int64_t side)
{
    int64_t batch = boxes.d[0], each = boxes.d[1];
    if (nn_ok(b) && (batch > ROIS_MAX || each > ROIS_MAX || batch * each > ROIS_MAX))
        nn_fail(b, "too many regions: %lld in each of %lld images", (long long)each,
                (long long)batch);
    if (!nn_ok(b))
        return nn_harmless(boxes);
    nn_t rois = det_reshape(b, "rois", boxes, 2, (const int64_t[]){batch * each, 4});
    nn_t image = images_of(b, batch, each), x = pool(b, m, 0, rois, image, side);
    if (m->n == 1)
        return x;
    nn_t level = det_reshape(b, "level", level_index(b, m, rois), 4,
                             (const int64_t[]){batch * each, 1, 1, 1});
    for (int i = 1; i < m->n; i++)
        x = choose(b, level, i, x, pool(b, m, i, rois, image, side));
    return x;
}
