#include "zoo/detect.h"

#include <math.h>

#include "base/num.h"
#include "zoo/nn_impl.h"

enum { ANCHORS_MAX = 1 << 24 };

/* ---- anchors ---- */

void det_shapes(det_map *m, int n_sizes, const float *sizes, int n_ratios, const float *ratios)
{
    m->n = 0;
    for (int r = 0; r < n_ratios; r++)
        for (int s = 0; s < n_sizes && m->n < DET_SHAPES; s++, m->n++) {
            float tall = sqrtf(ratios[r]), wide = 1.0F / tall;
            m->shape[m->n][0] = 2.0F * rintf(wide * sizes[s] / 2.0F);
            m->shape[m->n][1] = 2.0F * rintf(tall * sizes[s] / 2.0F);
        }
}

det_map det_map_of(nn_t feature, nn_t image)
{
    det_map m = {.h = feature.d[2], .w = feature.d[3]};
    m.step_y = m.h > 0 ? (double)(image.d[2] / m.h) : 0;
    m.step_x = m.w > 0 ? (double)(image.d[3] / m.w) : 0;
    return m;
}

/* Anchors of the map. */
static int64_t det_count(const det_map *m)
{
    int64_t n;
    return num_mul(m->h, m->w, &n) && num_mul(n, m->n, &n) ? n : INT64_MAX;
}

static int64_t count_all(int n, const det_map *maps)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++)
        if (!num_add(total, det_count(&maps[i]), &total))
            return INT64_MAX;
    return total;
}

static void lay(const det_map *m, float (**center)[2], float (**size)[2])
{
    for (int64_t i = 0; i < m->h; i++)
        for (int64_t j = 0; j < m->w; j++)
            for (int k = 0; k < m->n; k++, (*center)++, (*size)++) {
                (**center)[0] = (float)(((double)j + m->offset) * m->step_x);
                (**center)[1] = (float)(((double)i + m->offset) * m->step_y);
                (**size)[0] = m->shape[k][0];
                (**size)[1] = m->shape[k][1];
            }
}

det_boxes det_anchors(nn *b, int n, const det_map *maps)
{
    int64_t total = count_all(n, maps), dims[] = {total, 2};
    det_boxes out = {nn_harmless(NN_F32(1, 2)), nn_harmless(NN_F32(1, 2))};
    if (nn_ok(b) && (total < 1 || total > ANCHORS_MAX))
        nn_fail(b, "the image has %lld anchors; the limit is %d. Use a smaller image.",
                (long long)total, ANCHORS_MAX);
    if (!nn_ok(b))
        return out;
    float(*center)[2] = arena_alloc(b->scratch, (size_t)total * sizeof *center);
    float(*size)[2] = arena_alloc(b->scratch, (size_t)total * sizeof *size);
    if (!center || !size) {
        nn_fail(b, "out of memory for %lld anchors", (long long)total);
        return out;
    }
    float(*c)[2] = center, (*s)[2] = size;
    for (int i = 0; i < n; i++)
        lay(&maps[i], &c, &s);
    out.center = nn_table_of(b, "anchors.center", IR_FLOAT32, 2, dims, center);
    out.size = nn_table_of(b, "anchors.size", IR_FLOAT32, 2, dims, size);
    return out;
}

/* ---- boxes ---- */

nn_t det_reshape(nn *b, const char *name, nn_t x, int rank, const int64_t *dims)
{
    nn_t out = nn_shape(x.dtype, rank, dims);
    if (!nn_ok(b) || nn_elems(x) != 0 || nn_elems(out) != 0)
        return nn_reshape(b, name, x, rank, dims);
    const nn_t in[] = {x, nn_ints_const(b, "shape", rank, dims)};
    return nn_one(b, "Reshape", name, 2, in, out, 1, &NN_INT("allowzero", 1));
}

nn_t det_columns(nn *b, const char *name, nn_t x, int64_t k)
{
    int64_t a = x.d[1] / k;
    x = nn_reshape(b, name, x, 5, (const int64_t[]){x.d[0], a, k, x.d[2], x.d[3]});
    x = nn_transpose(b, name, x, (const int64_t[]){0, 3, 4, 1, 2}); /* [B, H, W, A, k] */
    return nn_reshape(b, name, x, 3, (const int64_t[]){x.d[0], -1, k});
}

det_boxes det_split(nn *b, nn_t boxes)
{
    nn_t corner[2];
    nn_split(b, "corners", boxes, -1, 2, corner);
    nn_t size = nn_binary(b, "Sub", "size", corner[1], corner[0]);
    nn_t half = nn_scale(b, "half", size, 0.5);
    return (det_boxes){.center = nn_add(b, "center", corner[0], half), .size = size};
}

static nn_t with_number(nn *b, const char *op, nn_t x, double number)
{
    return nn_binary(b, op, op, x, nn_float_const(b, "number", number));
}

nn_t det_decode(nn *b, nn_t deltas, det_boxes from, double weight_xy, double weight_wh)
{
    nn_t part[2];
    nn_push(b, "decode");
    nn_split(b, "deltas", deltas, -1, 2, part);
    if (weight_xy != 1.0)
        part[0] = with_number(b, "Div", part[0], weight_xy);
    if (weight_wh != 1.0)
        part[1] = with_number(b, "Div", part[1], weight_wh);
    part[1] = with_number(b, "Min", part[1], log(1000.0 / 16)); /* what exp may be given */
    nn_t center = nn_add(b, "center", nn_mul(b, "shift", part[0], from.size), from.center);
    nn_t size = nn_one(b, "Exp", "exp", 1, &part[1], part[1], 0, NULL);
    nn_t half = nn_scale(b, "half", nn_mul(b, "size", size, from.size), 0.5);
    const nn_t corner[] = {nn_binary(b, "Sub", "from", center, half),
                           nn_add(b, "to", center, half)};
    return nn_leave(b, nn_concat(b, "boxes", 2, corner, -1));
}

nn_t det_clip(nn *b, nn_t boxes, nn_t image)
{
    const double w = (double)image.d[3], h = (double)image.d[2], edge[] = {w, h, w, h};
    boxes = with_number(b, "Max", boxes, 0.0);
    return nn_binary(b, "Min", "clip", boxes, nn_floats_const(b, "clip.edge", 4, edge));
}

nn_t det_compare(nn *b, const char *op, nn_t x, double with)
{
    const nn_t in[] = {x, nn_float_const(b, "number", with)};
    nn_t out = x;
    out.dtype = IR_BOOL;
    return nn_one(b, op, op, 2, in, out, 0, NULL);
}

nn_t det_integer(nn *b, const char *op, nn_t x, int64_t with)
{
    nn_t number = nn_table_of(b, "number", IR_INT64, 0, NULL, &with);
    return nn_binary(b, op, op, x, number);
}

nn_t det_where(nn *b, nn_t condition, nn_t scores)
{
    const nn_t in[] = {condition, scores, nn_float_const(b, "gone", -1.0)};
    return nn_one(b, "Where", "Where", 3, in, scores, 0, NULL);
}

nn_t det_drop_small(nn *b, nn_t boxes, nn_t scores, double min)
{
    nn_t corner[2];
    nn_push(b, "drop_small");
    nn_split(b, "corners", boxes, -1, 2, corner);
    nn_t side = nn_binary(b, "Sub", "size", corner[1], corner[0]), least = side;
    least.rank--;
    const nn_t in[] = {side, nn_ints_const(b, "axes", 1, &(int64_t){-1})};
    least = nn_one(b, "ReduceMin", "side", 2, in, least, 1, &NN_INT("keepdims", 0));
    return nn_leave(b, det_where(b, det_compare(b, "GreaterOrEqual", least, min), scores));
}

/* ---- choice ---- */

det_top det_best(nn *b, nn_t scores, int64_t k)
{
    int64_t n = scores.rank ? scores.d[scores.rank - 1] : 0;
    nn_t out[2] = {scores, scores};
    k = k < n ? k : n;
    out[0].d[scores.rank - 1] = out[1].d[scores.rank - 1] = k;
    out[1].dtype = IR_INT64;
    const nn_t in[] = {scores, nn_ints_const(b, "topk.k", 1, &k)};
    nn_emit(b, &(nn_call){.op = "TopK",
                          .name = "topk",
                          .in = in,
                          .n_in = 2,
                          .out = out,
                          .n_out = 2,
                          .attrs = &NN_INT("axis", -1),
                          .n_attrs = 1});
    return (det_top){.scores = out[0], .index = out[1]};
}

nn_t det_rows(nn *b, nn_t x, nn_t index)
{
    nn_t out = x;
    out.d[1] = index.d[1];
    const nn_t in[] = {x, nn_unsqueeze(b, "index", index, 2)}; /* [B, k, 1] */
    return nn_one(b, "GatherND", "take", 2, in, out, 1, &NN_INT("batch_dims", 1));
}

/* The first dimension of what was really kept is known at run time only: nothing is declared of it. */
static nn_t open_ended(nn *b, nn_t x)
{
    if (nn_ok(b) && x.id != IR_NONE) {
        int64_t dims[NN_RANK];
        memcpy(dims, x.d, sizeof dims);
        dims[0] = -1;
        ir_value_at(b->model, x.id)->declared = ir_tensor_type(b->model, x.dtype, x.rank, dims);
    }
    return x;
}

/* The triples (group, 0, box) of the survivors. */
static nn_t survivors(nn *b, nn_t boxes, nn_t scores, const det_nms *p)
{
    int64_t kept = 0, most = p->most < scores.d[1] ? p->most : scores.d[1];
    if (!num_mul(scores.d[0], most, &kept))
        nn_fail(b, "a batch of %lld images is too large", (long long)scores.d[0]);
    const nn_t in[] = {boxes, nn_unsqueeze(b, "nms.scores", scores, 1),
                       nn_ints_const(b, "nms.most", 1, &p->most),
                       nn_floats_const(b, "nms.overlap", 1, &p->overlap),
                       nn_floats_const(b, "nms.score", 1, &p->score)};
    return open_ended(b, nn_one(b, "NonMaxSuppression", "nms", 5, in, NN_I64(kept, 3), 0, NULL));
}

nn_t det_suppress(nn *b, nn_t boxes, nn_t scores, const det_nms *p)
{
    const int64_t columns[] = {0, 2};
    nn_t kept = survivors(b, boxes, scores, p);
    nn_t place = nn_gather(b, "kept", kept, nn_ints_const(b, "kept.columns", 2, columns), 1);
    nn_t updates = NN_F32(kept.d[0]);
    open_ended(b, place); /* [kept, 2] */
    updates = nn_one(b, "GatherND", "kept.scores", 2, (const nn_t[]){scores, place}, updates, 0,
                     NULL);
    open_ended(b, updates);
    const nn_t in[] = {nn_expand(b, "gone", nn_float_const(b, "gone.score", -1.0), 2, scores.d),
                       place, updates};
    return nn_one(b, "ScatterND", "survivors", 3, in, scores, 0, NULL);
}

nn_t det_apart(nn *b, nn_t boxes, nn_t classes, nn_t image)
{
    int64_t side = image.d[2] > image.d[3] ? image.d[2] : image.d[3];
    nn_t shift = nn_scale(b, "apart", classes, (double)side + 1.0);
    return nn_add(b, "apart.boxes", boxes, nn_unsqueeze(b, "apart.shift", shift, -1));
}

void det_output(nn *b, const det_found *f)
{
    nn_output(b, f->boxes, "boxes");
    nn_output(b, f->labels, "labels");
    nn_output(b, f->scores, "scores");
}

int64_t det_limit(nn *b, int64_t def)
{
    return nn_int_in(b, "detections", def, 0, 100000);
}
