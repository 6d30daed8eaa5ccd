/* Fourier transforms and the mel filter bank. Their lengths are scalar inputs: known content gives
 * the shape.
 *
 * Counting: a transform of n points as a radix-2 FFT, n/2 * ceil(log2 n) butterflies of a complex
 * multiply and two complex adds (4 mul + 6 add).
 */
#include "ops/op_util_contract.h"

/* A scalar input that must not be negative: -1 when present but unknown, `absent` when missing. */
static assay_status length_of(op_ctx *c, uint32_t i, int64_t absent, int64_t *out)
{
    *out = op_has(c, i) ? -1 : absent;
    if (op_has(c, i) && op_int_at(c, i, 0, out) && *out < 0)
        return op_fail(c, "input %u is the negative length %lld", i, (long long)*out);
    return ASSAY_OK;
}

static void fft_cost(const op_ctx *c, op_cost *k, uint64_t transforms, uint64_t points)
{
    uint64_t stages = 0;
    while (stages < 63 && (1ULL << stages) < points)
        stages++;
    uint64_t butterflies = op_mul3(transforms, points / 2, stages);
    op_count(c, k, &k->mul, sat_mul(butterflies, 4));
    op_count(c, k, &k->add, sat_mul(butterflies, 6));
}

/* ---- DFT: input [..., 1 or 2] ---- */

/* The axis was an attribute in 17 and is input 2 from 20 on. False when it is not known. */
static bool dft_axis(const op_ctx *c, int64_t *axis)
{
    *axis = c->version < 20 ? op_attr_int(c, "axis", 1) : -2;
    return !op_has(c, 2) || op_int_at(c, 2, 0, axis);
}

/* Without a separate length a whole transform keeps every size, wherever its axis is. */
static assay_status unknown_axis(op_ctx *c, int rank, int64_t last)
{
    int64_t dims[IR_MAX_RANK];
    bool keeps = !op_has(c, 1) && !op_attr_int(c, "onesided", 0);
    for (int d = 0; d < rank - 1; d++)
        dims[d] = keeps ? op_dim(c, 0, d) : -1;
    dims[rank - 1] = last;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* Points of the transform along `size`: the inverse of a half spectrum is twice as long. */
static assay_status dft_points(op_ctx *c, int64_t size, int64_t *points)
{
    bool real = op_attr_int(c, "onesided", 0) && op_attr_int(c, "inverse", 0);
    if (real && size > 0 && (!num_sub(size, 1, &size) || !num_mul(size, 2, &size)))
        return op_fail(c, "transform of %s is too long", op_shape_text(c, 0));
    return length_of(c, 1, size, points);
}

static assay_status dft_infer(op_ctx *c)
{
    int rank = op_rank(c, 0), place;
    int64_t dims[IR_MAX_RANK], axis, points = -1;
    bool half = op_attr_int(c, "onesided", 0) != 0, inverse = op_attr_int(c, "inverse", 0) != 0;
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank < 2)
        return op_fail(c, "the last axis of input %s must be 1 or 2 (real, imaginary)",
                       op_shape_text(c, 0));
    if (!dft_axis(c, &axis))
        return unknown_axis(c, rank, half && inverse ? 1 : 2);
    TRY(op_axis(c, axis, rank, &place));
    if (place == rank - 1)
        return op_fail(c, "axis %lld is the axis of real and imaginary parts", (long long)axis);
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    TRY(dft_points(c, dims[place], &points));
    dims[place] = half && !inverse && points >= 0 ? points / 2 + 1 : points;
    dims[rank - 1] = half && inverse ? 1 : 2;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* Transforms = all other positions; points from the longer of signal and spectrum. */
static void dft_cost(const op_ctx *c, op_cost *k)
{
    int rank = op_rank(c, 0);
    int64_t axis;
    if (rank < 2 || !dft_axis(c, &axis) || c->n_out < 1 || c->out[0].rank != rank)
        return;
    axis = axis < 0 ? axis + rank : axis;
    int64_t in = op_dim(c, 0, (int)axis), out = c->out[0].dims[axis];
    int64_t points = op_has(c, 1) && out > 0 && !op_attr_int(c, "onesided", 0) ? out : in;
    if (out > points)
        points = out;
    if (in < 1 || points < 1)
        return;
    uint64_t others = op_in_product(c, 0, 0) / (uint64_t)in;
    int64_t parts = op_dim(c, 0, -1);
    fft_cost(c, k, parts > 1 ? others / (uint64_t)parts : others, (uint64_t)points);
}

/* ---- transforms of several axes (OpenVINO): x, axes, lengths ---- */

typedef struct axes_row {
    bool real_in, real_out; /* else the last axis is (real, imaginary) */
} axes_row;
static const axes_row complex_both = {false, false}, real_in = {true, false},
                      real_out = {false, true};

/* The length along axis i of the list: an input, or that of x (of a half spectrum, twice as long without its end). */
static int64_t axis_points(const op_ctx *c, int i, int n, int64_t size)
{
    const axes_row *v = c->row->with;
    int64_t length;
    if (op_has(c, 2) && !op_int_at(c, 2, i, &length))
        return -1;
    if (op_has(c, 2) && length != -1)
        return length < 0 ? -1 : length;
    return v->real_out && i == n - 1 && size > 0 && size < INT64_MAX / 2 ? 2 * (size - 1) : size;
}

static assay_status axes_infer(op_ctx *c)
{
    const axes_row *v = c->row->with;
    int rank = op_rank(c, 0), place, n;
    int64_t dims[IR_MAX_RANK + 1], axes[IR_MAX_RANK];
    n = op_ints(c, 1, axes, IR_MAX_RANK);
    if (rank < 1 || n < 0 || rank == IR_MAX_RANK)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    int signal = v->real_in ? rank : rank - 1;
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    for (int i = 0; i < n; i++) {
        TRY(op_axis(c, axes[i], signal, &place));
        dims[place] = axis_points(c, i, n, dims[place]);
        if (v->real_in && i == n - 1 && dims[place] >= 0)
            dims[place] = dims[place] / 2 + 1;
    }
    dims[signal] = 2;
    return op_set(c, 0, op_dtype(c, 0), v->real_out ? signal : signal + 1, dims);
}

/* Points of each axis as in the larger of input and output. */
static void axes_cost(const op_ctx *c, op_cost *k)
{
    const axes_row *v = c->row->with;
    int64_t axes[IR_MAX_RANK], n = op_ints(c, 1, axes, IR_MAX_RANK);
    int signal = op_rank(c, 0) - !v->real_in;
    if (c->n_out < 1 || c->out[0].rank < signal || signal < 1)
        return;
    uint64_t all = v->real_in ? op_in_elems(c, 0) : op_in_elems(c, 0) / 2;
    for (int i = 0; i < n; i++) {
        int64_t a = axes[i] < 0 ? axes[i] + signal : axes[i];
        int64_t in = a >= 0 && a < signal ? op_dim(c, 0, (int)a) : 0;
        int64_t out = a >= 0 && a < signal ? c->out[0].dims[a] : 0;
        if (in > 0)
            fft_cost(c, k, all / (uint64_t)in, (uint64_t)(out > in ? out : in));
    }
}

/* ---- STFT: signal [batch, length, 1 or 2], frame_step, window, frame_length ---- */

static assay_status frame_points(op_ctx *c, int64_t *points)
{
    int64_t window = op_rank(c, 2) == 1 ? op_dim(c, 2, 0) : -1;
    TRY(length_of(c, 3, window, points));
    if (*points < 0)
        *points = window;
    return ASSAY_OK;
}

static assay_status stft_infer(op_ctx *c)
{
    int64_t points, step, length = op_dim(c, 0, 1), dims[4] = {op_dim(c, 0, 0), -1, -1, 2};
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) < 2)
        return op_fail(c, "signal %s must be [batch,length,1 or 2]", op_shape_text(c, 0));
    TRY(frame_points(c, &points));
    TRY(length_of(c, 1, -1, &step));
    if (step == 0)
        return op_fail(c, "frame_step is 0");
    if (length >= 0 && points > length)
        return op_fail(c, "a frame of %lld is longer than signal %s", (long long)points,
                       op_shape_text(c, 0));
    if (length >= 0 && points >= 0 && step > 0)
        dims[1] = (length - points) / step + 1;
    if (points >= 0)
        dims[2] = op_attr_int(c, "onesided", 1) ? points / 2 + 1 : points;
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

static void stft_cost(const op_ctx *c, op_cost *k)
{
    op_ctx again = *c;
    int64_t points = -1, frames;
    again.err = NULL;
    if (c->n_out < 1 || c->out[0].rank != 4 || frame_points(&again, &points) != ASSAY_OK)
        return;
    frames = op_product(c->out[0].dims, 0, 2);
    if (frames < 0 || points < 0)
        return;
    if (op_has(c, 2))
        op_count(c, k, &k->mul, sat_mul((uint64_t)frames, (uint64_t)points));
    fft_cost(c, k, (uint64_t)frames, (uint64_t)points);
}

/* ---- MelWeightMatrix ---- */

static assay_status mel_infer(op_ctx *c)
{
    int64_t type = op_attr_int(c, "output_datatype", IR_FLOAT32), dims[2], points;
    TRY(length_of(c, 0, -1, &dims[1]));
    TRY(length_of(c, 1, -1, &points));
    dims[0] = points < 0 ? -1 : points / 2 + 1;
    return op_set(c, 0, ir_dtype_valid(type) ? (ir_dtype)type : IR_FLOAT32, 2, dims);
}

#define AXES(name_, with_)                                                              \
    OP_ROW("openvino", name_, "dft", "1",                                               \
           "per transform of n points: n/2*ceil(log2 n) * (4 mul + 6 add)", axes_infer, \
           axes_cost),                                                                  \
        .with = &(with_), OP_SLOTS(2, 3, 1, 1), .aux = 6, .backward = OP_BW_SAME

static const op_row rows[] = {
    {AXES("DFT", complex_both)},
    {AXES("IDFT", complex_both)},
    {AXES("RDFT", real_in)},
    {AXES("IRDFT", real_out)},
    {OP_ROW("", "DFT", "dft", "17,20",
            "per transform of n points: n/2*ceil(log2 n) * (4 mul + 6 add)", dft_infer, dft_cost),
     OP_SLOTS(1, 3, 1, 1), .aux = 1 << 1 | 1 << 2, .backward = OP_BW_SAME},
    {OP_ROW("", "STFT", "stft", "17",
            "per frame of n points: n/2*ceil(log2 n) * (4 mul + 6 add), n mul with a window",
            stft_infer, stft_cost),
     OP_SLOTS(2, 4, 1, 1), .aux = 1 << 1 | 1 << 2 | 1 << 3, .backward = OP_BW_SAME},
    {OP_ROW("", "MelWeightMatrix", "melweightmatrix", "17",
            "0: a filter bank made once from scalars", mel_infer, NULL),
     OP_SLOTS(5, 5, 1, 1), .aux = 0x1f},
};

const op_rows op_signal_rows = OP_ROWS(rows);
