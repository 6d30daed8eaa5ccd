/* Detection operators of OpenVINO that have a fixed number of boxes or regions: priors, decoding of SSD and YOLO, proposals,
 * pooling of regions. Domain "openvino"; attributes have the names of the IR. What has no box keeps a place in the output
 * (-1 or zeros), so that all sizes follow from attributes and inputs. */
#include <math.h>
#include <string.h>

#include "ops/op_util_cost.h"

/* An attribute that is a size: -1 if it is absent or below 0. */
static int64_t size_attr(const op_ctx *c, const char *name)
{
    int64_t n = op_attr_int(c, name, -1);
    return n < 0 ? -1 : n;
}

static int64_t times(int64_t a, int64_t b)
{
    const int64_t both[] = {a, b};
    return op_product(both, 0, 2);
}

/* ---- priors: [2, 4 * height * width * boxes per point]; [1,2,n] before version 10 ---- */

/* Distinct aspect ratios to six digits, with 1 and, if flipped, with their inverses. */
static int64_t ratios_of(const op_ctx *c)
{
    double seen[128] = {1};
    int n = 1, all = op_attr_count(c, "aspect_ratio"), flip = op_attr_int(c, "flip", 0) ? 2 : 1;
    for (int i = 0; i < all * flip && n < 128; i++) {
        double r = op_attr_number(c, "aspect_ratio", i / flip, 1);
        bool known = false;
        r = round((i % flip ? 1 / r : r) * 1e6) / 1e6;
        for (int k = 0; k < n; k++)
            known |= fabs(seen[k] - r) < 1e-7;
        if (!known)
            seen[n++] = r;
    }
    return n;
}

static int64_t prior_count(const op_ctx *c)
{
    int64_t ratios = ratios_of(c), fixed = op_attr_count(c, "fixed_size");
    int64_t least = op_attr_count(c, "min_size"), most = op_attr_count(c, "max_size");
    bool all = op_attr_int(c, "scale_all_sizes", 1) != 0;
    int64_t n = fixed ? ratios * fixed : all ? ratios * least + most : ratios + least - 1;
    int64_t step = op_attr_count(c, "fixed_ratio");
    for (int i = 0; i < op_attr_count(c, "density"); i++) {
        double d = op_attr_number(c, "density", i, 1);
        if (d > 1 && d < 1024)
            n += (step ? step : ratios) * ((int64_t)d * (int64_t)d - 1);
    }
    return n;
}

static int64_t cluster_count(const op_ctx *c)
{
    return op_attr_count(c, "width");
}

/* Input 0 is the size [height, width] of a feature map, or that map itself. */
static assay_status prior_infer(op_ctx *c)
{
    bool of_map = op_rank(c, 0) > 1;
    int64_t h = -1, w = -1, one[] = {1, 2, -1};
    int64_t (*const *count)(const op_ctx *) = c->row->with;
    if (of_map) {
        h = op_dim(c, 0, -2);
        w = op_dim(c, 0, -1);
    } else if (!op_int_at(c, 0, 0, &h) || !op_int_at(c, 0, 1, &w) || h < 0 || w < 0) {
        h = w = -1;
    }
    one[2] = times(times(h, w), times(4, (*count)(c)));
    return op_set(c, 0, IR_FLOAT32, of_map ? 3 : 2, of_map ? one : one + 1);
}

static void prior_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0) / 2;
    op_cost_write_only(c, k);
    k->add = sat_add(k->add, n);
    k->div = sat_add(k->div, n);
}

static int64_t (*const prior)(const op_ctx *) = prior_count;
static int64_t (*const clustered)(const op_ctx *) = cluster_count;

/* ---- boxes whose number is an attribute ---- */

typedef struct box_row {
    const char *most; /* attribute with the number of boxes */
    uint8_t width[3]; /* of the outputs; 0: [boxes] */
    bool batched;     /* that many for each sample of input 0 */
    uint8_t scores;   /* slot of the scores */
    uint8_t labels;   /* output of class numbers; 0: none */
} box_row;

static const box_row proposal = {"post_nms_topn", {5, 0, 0}, true, 0, 0},
                     detectron_proposals = {"post_nms_count", {4, 0, 0}, false, 3, 0},
                     detectron_output = {"max_detections_per_image", {4, 0, 0}, false, 2, 1},
                     detectron_top = {"max_rois", {4, 0, 0}, false, 1, 0};

static assay_status box_infer(op_ctx *c)
{
    const box_row *v = c->row->with;
    int64_t dims[2] = {size_attr(c, v->most), 0};
    if (v->batched)
        dims[0] = times(dims[0], op_rank(c, 0) < 0 ? -1 : op_dim(c, 0, 0));
    for (uint32_t o = 0; o < c->n_out && o < 3; o++) {
        dims[1] = v->width[o];
        ir_dtype t = v->labels && o == v->labels ? IR_INT32 : op_dtype(c, 0);
        TRY(op_set(c, o, t, v->width[o] ? 2 : 1, dims));
    }
    return ASSAY_OK;
}

static void box_cost(const op_ctx *c, op_cost *k)
{
    const box_row *v = c->row->with;
    op_count_kept(c, k, op_in_elems(c, v->scores), op_out_elems(c, 0) / (uint64_t)v->width[0]);
}

/* ---- DetectionOutput: box deltas [N, P*4*locations], class scores [N, P*C], priors [1,1 or 2,P*4] ---- */

static int64_t detections(const op_ctx *c)
{
    double most = op_attr_number(c, "keep_top_k", 0, -1), top = op_attr_number(c, "top_k", 0, -1);
    int64_t coordinates = op_attr_int(c, "normalized", 0) ? 4 : 5;
    int64_t length = op_dim(c, 2, -1), scores = op_dim(c, 1, -1);
    int64_t priors = length < 0 ? -1 : length / coordinates;
    int64_t classes = size_attr(c, "num_classes");
    if (classes < 0 && priors > 0 && scores >= 0)
        classes = scores / priors;
    if (most > 0 && most < 1e12)
        return (int64_t)most;
    return times(classes, top > 0 && top < 1e12 ? (int64_t)top : priors);
}

static assay_status detection_infer(op_ctx *c)
{
    int64_t batch = op_rank(c, 0) < 0 ? -1 : op_dim(c, 0, 0);
    const int64_t dims[] = {1, 1, times(batch, detections(c)), 7};
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* Decoding: a centre is 1 mul and 1 add, a size 1 exp and 1 mul, for each of the deltas. */
static void detection_cost(const op_ctx *c, op_cost *k)
{
    uint64_t deltas = op_in_elems(c, 0);
    op_count(c, k, &k->mul, deltas);
    op_count(c, k, &k->add, deltas / 2);
    op_count(c, k, &k->special, deltas / 2);
    op_count_kept(c, k, op_in_elems(c, 1), op_out_elems(c, 0) / 7);
}

/* ---- regions: [R, channels, height, width] ---- */

typedef struct region_row {
    uint8_t map, regions; /* slots */
    const char *channels; /* attribute; NULL: those of the map */
    const char *height, *width;
    uint8_t side; /* points along an axis of an output where the file does not say; 0: bins */
} region_row;

static const region_row roi_pooling = {0, 1, NULL, "pooled_h", "pooled_w", 0},
                        roi_align = {0, 1, NULL, "pooled_h", "pooled_w", 2},
                        ps_pooling = {0, 1, "output_dim", "group_size", "group_size", 0},
                        extractor = {1, 0, NULL, "output_size", "output_size", 2};

static assay_status region_infer(op_ctx *c)
{
    const region_row *v = c->row->with;
    int64_t dims[4] = {op_rank(c, v->regions) < 0 ? -1 : op_dim(c, v->regions, 0),
                       v->channels ? size_attr(c, v->channels) : op_dim(c, v->map, 1),
                       size_attr(c, v->height), size_attr(c, v->width)};
    if (op_rank(c, v->map) >= 0 && op_rank(c, v->map) != 4)
        return op_fail(c, "input %s must be [N,C,H,W]", op_shape_text(c, v->map));
    TRY(op_set(c, 0, op_dtype(c, v->map), 4, dims));
    return c->n_out > 1 ? op_set_like(c, 1, v->regions) : ASSAY_OK;
}

/* Bins (side 0) have one element or more; points are bilinear. */
static void region_cost(const op_ctx *c, op_cost *k)
{
    const region_row *v = c->row->with;
    int64_t ratio = op_attr_int(c, "sampling_ratio", 0);
    bool bilinear = v->side || str_is(op_attr_str(c, "method", ""), "bilinear") ||
                    str_is(op_attr_str(c, "mode", ""), "bilinear");
    uint64_t side = ratio > 0 ? (uint64_t)ratio : v->side ? v->side : 1;
    uint64_t n = sat_mul(op_out_elems(c, 0), sat_mul(side, side));
    op_count(c, k, bilinear ? &k->add : &k->cmp, bilinear ? sat_mul(n, 4) : n);
    op_count(c, k, &k->mul, bilinear ? sat_mul(n, 4) : 0);
}

/* ---- YOLO ---- */

/* Class scores with a softmax have the axes [axis, end_axis] as one; else channels are those of the chosen anchors. */
static assay_status region_yolo_infer(op_ctx *c)
{
    int rank = op_rank(c, 0), first, last;
    int64_t dims[IR_MAX_RANK];
    if (rank < 3)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    if (!op_attr_int(c, "do_softmax", 1)) {
        int64_t each = op_attr_int(c, "classes", 0) + op_attr_int(c, "coords", 0) + 1;
        dims[1] = times(each < 0 ? -1 : each, op_attr_count(c, "mask"));
        return op_set(c, 0, op_dtype(c, 0), rank, dims);
    }
    TRY(op_axis(c, op_attr_int(c, "axis", 1), rank, &first));
    TRY(op_axis(c, op_attr_int(c, "end_axis", 3), rank, &last));
    if (last < first)
        return op_fail(c, "end_axis is before axis");
    dims[first] = op_product(op_dims(c, 0), first, last + 1);
    for (int d = last + 1; d < rank; d++)
        dims[d - last + first] = op_dim(c, 0, d);
    return op_set(c, 0, op_dtype(c, 0), rank - last + first, dims);
}

static assay_status reorg_infer(op_ctx *c)
{
    double stride = op_attr_number(c, "stride", 0, op_attr_number(c, "strides", 0, 1));
    int64_t dims[4], s = stride >= 1 && stride < 1 << 20 ? (int64_t)stride : 0;
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 4)
        return op_fail(c, "input %s must be [N,C,H,W]", op_shape_text(c, 0));
    if (s == 0)
        return op_fail(c, "invalid stride %g", stride);
    dims[0] = op_dim(c, 0, 0);
    dims[1] = times(op_dim(c, 0, 1), s * s);
    for (int d = 2; d < 4; d++)
        dims[d] = op_dim(c, 0, d) < 0 ? -1 : op_dim(c, 0, d) / s;
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* ---- ExperimentalDetectronPriorGridGenerator: anchors [A,4], map [1,C,H,W], image ---- */

static assay_status grid_infer(op_ctx *c)
{
    int64_t h = op_attr_int(c, "h", 0), w = op_attr_int(c, "w", 0), anchors = op_dim(c, 0, 0);
    int64_t dims[4] = {h > 0 ? h : op_dim(c, 1, 2), w > 0 ? w : op_dim(c, 1, 3), anchors, 4};
    const int64_t flat[] = {op_product(dims, 0, 3), 4};
    bool one = op_attr_int(c, "flatten", 1) != 0;
    return op_set(c, 0, op_dtype(c, 0), one ? 2 : 4, one ? flat : dims);
}

#define OV(name_, type_, formula_, infer_, cost_) \
    OP_ROW("openvino", name_, type_, "1", formula_, infer_, cost_)
#define PRIORS "per coordinate: 1 add + 1 div"
#define BOXES  "1 cmp per score; per box: 7 cmp + 4 add + 1 mul + 1 div"
#define REGIONS \
    "per output: ratio^2 * (4 mul + 4 add), an adaptive ratio counts as 2; bins: 1 cmp at least"

static const op_row rows[] = {
    {OV("PriorBox", "priorbox", PRIORS, prior_infer, prior_cost), .with = &prior,
     OP_SLOTS(1, 2, 1, 1), .aux = 3},
    {OV("PriorBoxClustered", "priorbox", PRIORS, prior_infer, prior_cost), .with = &clustered,
     OP_SLOTS(1, 2, 1, 1), .aux = 3},
    {OV("DetectionOutput", "detectionoutput", "per delta: 1 mul + 1/2 add + 1/2 special; " BOXES,
        detection_infer, detection_cost),
     OP_SLOTS(3, 5, 1, 1), .aux = 4},
    {OV("Proposal", "proposal", BOXES, box_infer, box_cost), .with = &proposal,
     OP_SLOTS(3, 3, 1, 2), .aux = 4},
    {OV("ExperimentalDetectronGenerateProposalsSingleImage", "proposal", BOXES, box_infer,
        box_cost),
     .with = &detectron_proposals, OP_SLOTS(4, 4, 1, 2), .aux = 3},
    {OV("ExperimentalDetectronDetectionOutput", "detectionoutput", BOXES, box_infer, box_cost),
     .with = &detectron_output, OP_SLOTS(4, 4, 1, 3), .aux = 8},
    {OV("ExperimentalDetectronTopKROIs", "topk", BOXES, box_infer, box_cost),
     .with = &detectron_top, OP_SLOTS(2, 2, 1, 1)},
    {OV("ExperimentalDetectronPriorGridGenerator", "priorbox", "1 add per coordinate", grid_infer,
        op_cost_add1),
     OP_SLOTS(2, 3, 1, 1), .aux = 1},
    {OV("ROIPooling", "roipooling", REGIONS, region_infer, region_cost), .with = &roi_pooling,
     OP_SLOTS(2, 2, 1, 1)},
    {OV("ROIAlign", "roialign", REGIONS, region_infer, region_cost), .with = &roi_align,
     OP_SLOTS(3, 3, 1, 1)},
    {OV("ROIAlignRotated", "roialign", REGIONS, region_infer, region_cost), .with = &roi_align,
     OP_SLOTS(3, 3, 1, 1)},
    {OV("PSROIPooling", "roipooling", REGIONS, region_infer, region_cost), .with = &ps_pooling,
     OP_SLOTS(2, 2, 1, 1)},
    {OV("DeformablePSROIPooling", "roipooling", REGIONS, region_infer, region_cost),
     .with = &ps_pooling, OP_SLOTS(2, 3, 1, 1)},
    {OV("ExperimentalDetectronROIFeatureExtractor", "roialign", REGIONS, region_infer, region_cost),
     .with = &extractor, OP_SLOTS(2, 255, 1, 2)},
    {OV("RegionYolo", "regionyolo", "1 special per element", region_yolo_infer, op_cost_special1),
     OP_SLOTS(1, 1, 1, 1)},
    {OV("ReorgYolo", "spacetodepth", "0 (data movement)", reorg_infer, NULL), OP_SLOTS(1, 1, 1, 1),
     .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
};
const op_rows op_openvino_detect_rows = OP_ROWS(rows);
