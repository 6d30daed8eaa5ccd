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

static nn_t with_border(nn *b, nn_t x, int64_t width)
{
    const int64_t edge[] = {0, 0, 0, 0, 0, 0, 1, 1}, fill[] = {0, 0, 0, 0, 0, 0, 0, width - x.d[3]};
    x = nn_pad(b, "border", x, edge, "edge");
    return width > x.d[3] - 1 ? nn_pad(b, "fill", x, fill, "constant") : x;
}

/* Maps of one scale are told apart by nobody: LevelMapper gives all boxes to the first. */
static int distinct(const fpn *maps, int n, nn_t image)
{
    int k = 1;
    while (k < n && level_of(maps->map[k], image) == level_of(maps->map[0], image) + k)
        k++;
    return k;
}

void roi_gather_maps(nn *b, const fpn *maps, int n, nn_t image, roi_atlas *out)
{
    nn_t part[DET_LEVELS];
    int64_t top = 0;
    *out = (roi_atlas){.n = distinct(maps, n, image), .lowest = level_of(maps->map[0], image)};
    nn_push(b, "atlas");
    for (int i = 0; i < out->n; i++) {
        part[i] = with_border(b, maps->map[i], maps->map[0].d[3]);
        out->scale[i] = (float)exp2((double)-(out->lowest + i));
        out->top[i] = (float)top;
        top += part[i].d[2];
    }
    out->maps = nn_concat(b, "maps", out->n, part, 2);
    nn_pop(b);
}

/* [R, 4] to the index of the map [R], by the FPN paper's floor(4 + log2(sqrt(area) / 224)). */
static nn_t level_index(nn *b, const roi_atlas *a, nn_t rois)
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
    const nn_t in[] = {x, nn_float_const(b, "min", (double)a->lowest),
                       nn_float_const(b, "max", (double)(a->lowest + a->n - 1))};
    x = nn_one(b, "Clip", "clamp", 3, in, x, 0, NULL);
    x = nn_binary(b, "Sub", "index", x, nn_float_const(b, "lowest", (double)a->lowest));
    nn_t out = x;
    out.dtype = IR_INT64;
    out = nn_one(b, "Cast", "cast", 1, &x, out, 1, &NN_INT("to", 7 /* ONNX's INT64 */));
    nn_pop(b);
    return out;
}

static nn_t by_level(nn *b, const char *name, const roi_atlas *a, const float (*rows)[4], nn_t level)
{
    nn_t table = nn_table_of(b, name, IR_FLOAT32, 2, (const int64_t[]){a->n, 4}, rows);
    return nn_gather(b, name, table, level, 0);
}

/* [R, 4] in the atlas. */
static nn_t placed(nn *b, const roi_atlas *a, nn_t rois)
{
    float scale[DET_LEVELS][4], shift[DET_LEVELS][4] = {{0}};
    for (int i = 0; i < a->n; i++) {
        scale[i][0] = scale[i][1] = scale[i][2] = scale[i][3] = a->scale[i];
        shift[i][1] = shift[i][3] = a->top[i];
    }
    if (a->n == 1)
        return nn_scale(b, "scaled", rois, (double)a->scale[0]);
    nn_t level = level_index(b, a, rois);
    rois = nn_mul(b, "scaled", rois, by_level(b, "scale", a, scale, level));
    return nn_add(b, "placed", rois, by_level(b, "shift", a, shift, level));
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

nn_t roi_align(nn *b, const roi_atlas *a, nn_t boxes, int64_t side)
{
    int64_t batch = boxes.d[0], each = boxes.d[1];
    nn_t out = NN_F32(batch * each, a->maps.d[1], side, side);
    if (nn_ok(b) && (batch > ROIS_MAX || each > ROIS_MAX || batch * each > ROIS_MAX))
        nn_fail(b, "%lld regions in each of %lld images are too many.", (long long)each,
                (long long)batch);
    if (!nn_ok(b))
        return nn_harmless(out);
    nn_t rois = det_reshape(b, "rois", boxes, 2, (const int64_t[]){batch * each, 4});
    const nn_t in[] = {a->maps, placed(b, a, rois), images_of(b, batch, each)};
    const nn_attr attrs[] = {NN_INT("output_height", side), NN_INT("output_width", side),
                             NN_INT("sampling_ratio", 2), NN_FLOAT("spatial_scale", 1.0),
                             NN_TEXT("coordinate_transformation_mode", "output_half_pixel")};
    return nn_one(b, "RoiAlign", "roi_align", 3, in, out, 5, attrs);
}
