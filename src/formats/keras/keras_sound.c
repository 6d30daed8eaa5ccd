/* Spectrograms.
 *
 * MelSpectrogram: frames of fft_length samples every `sequence_stride`, centered on their time, so that the signal is
 * reflected at both ends; the power of each frequency times the filter bank, in decibels. It becomes STFT and
 * MelWeightMatrix of ONNX, whose filters are rounded to frequencies of the transform.
 * STFTSpectrogram: two convolutions whose kernels, cosines and sines, are weights of the layer. */
#include <math.h>

#include "formats/keras/keras_impl.h"

#define PI 3.14159265358979323846

typedef struct frames {
    int64_t points, step, n, bins, pad;
} frames;

static bool count_frames(frames *f, int64_t samples)
{
    if (f->points < 2 || f->step < 1 || samples < 1 || samples > KERAS_MAX_SIZE ||
        f->points > KERAS_MAX_WINDOW || samples + 2 * f->pad < f->points)
        return false;
    f->n = (samples + 2 * f->pad - f->points) / f->step + 1;
    f->bins = f->points / 2 + 1;
    return true;
}

/* "hann" or "hamming" of scipy's get_window(); null: ones. */
static bool window_of(keras_call *c, int64_t points, ir_t *window)
{
    str name = keras_word(c->config, "window", "");
    bool hann = str_is(name, "hann"), hamming = str_is(name, "hamming");
    double *list = ARENA_ARRAY(c->r->a, double, (size_t)points);
    double base = hann ? 0.5 : hamming ? 0.54 : 1;
    if (!list || (name.n && !hann && !hamming) || keras_get(c->config, "sequence_length"))
        return false;
    for (int64_t i = 0; i < points; i++)
        list[i] = base - (1 - base) * cos(2 * PI * (double)i / (double)points);
    *window = keras_floats(c, "window", IR_FLOAT32, list, (int)points);
    return window->id != IR_NONE;
}

/* x [N, samples] is [N, frames, bins, 2]. */
static ir_t transformed(keras_call *c, const frames *f, ir_t window, ir_t x)
{
    const int64_t pads[] = {0, f->pad, 0, f->pad};
    ir_t wide = x, y = {.dtype = x.dtype, .rank = 4, .d = {x.d[0], f->n, f->bins, 2}};
    if (f->pad) {
        ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", "reflect"), KERAS_END};
        wide.d[1] += 2 * f->pad;
        wide = keras_step(c, "padded", "Pad", KERAS_IDS(x.id, keras_consts(c, "pads", pads, 4)),
                          attrs, wide);
    }
    wide = keras_expand_dims(c, "signal", wide, 2);
    ir_id in[] = {wide.id, foreign_number(c->f, c->name, "step", IR_INT64, (double)f->step),
                  window.id, foreign_number(c->f, c->name, "length", IR_INT64, (double)f->points)};
    return keras_step(c, NULL, "STFT", in, 4, NULL, y);
}

/* The real part squared and the imaginary part squared. */
static ir_t power_of(keras_call *c, ir_t x)
{
    const int64_t behind = 3;
    ir_t square = keras_binary(c, "square", "Mul", x, x);
    return keras_reduce(c, "power", "ReduceSum", square, &behind, 1, false);
}

static ir_t mel_filters(keras_call *c, const frames *f, int64_t mels, ir_dtype t)
{
    double rate = keras_number(c->config, "sampling_rate", 16000);
    ir_id in[] = {
        foreign_number(c->f, c->name, "mel_bins", IR_INT64, (double)mels),
        foreign_number(c->f, c->name, "points", IR_INT64, (double)f->points),
        foreign_number(c->f, c->name, "rate", IR_INT64, rate),
        foreign_number(c->f, c->name, "lowest", t, keras_number(c->config, "min_freq", 20)),
        foreign_number(c->f, c->name, "highest", t, keras_number(c->config, "max_freq", rate / 2))};
    const int64_t dims[] = {f->bins, mels};
    return keras_step(c, "filters", "MelWeightMatrix", in, 5, NULL, keras_shape(t, 2, dims));
}

/* 10 log10(max(x, least) / reference), at most top_db below its largest. */
static ir_t decibels(keras_call *c, ir_t x)
{
    const int64_t axes[] = {1, 2};
    ir_t least = keras_scalar(c, "least", x.dtype, keras_number(c->config, "min_power", 1e-10));
    ir_t y = keras_step(c, "positive", "Max", KERAS_IDS(x.id, least.id), NULL, x);
    y = keras_binary(c, "decibels", "Mul", keras_unary(c, "log", "Log", y),
                     keras_scalar(c, "ten", x.dtype, 4.342944819032518));
    ir_t top = keras_reduce(c, "loudest", "ReduceMax", y, axes, 2, true);
    top = keras_binary(c, "floor", "Sub", top,
                       keras_scalar(c, "range", x.dtype, keras_number(c->config, "top_db", 80)));
    return keras_step(c, "audible", "Max", KERAS_IDS(y.id, top.id), NULL, y);
}

/* [N, samples] gives [N, mel bins, frames]. */
bool keras_mel_spectrogram(keras_call *c)
{
    static const int64_t turned[] = {0, 2, 1};
    frames f = {.points = keras_int(c->config, "fft_length", 2048),
                .step = keras_int(c->config, "sequence_stride", 512)};
    int64_t mels = keras_int(c->config, "num_mel_bins", 128);
    ir_t window;
    f.pad = f.points / 2;
    if (!c->n_in || c->in[0].rank != 2 || !count_frames(&f, c->in[0].d[1]) || mels < 1 ||
        mels > KERAS_MAX_WINDOW || keras_number(c->config, "mag_exp", 2) != 2 ||
        keras_number(c->config, "ref_power", 1) != 1 || !window_of(c, f.points, &window))
        return false;
    ir_t x = keras_cast(c, c->in[0], IR_FLOAT32);
    ir_t power = power_of(c, transformed(c, &f, window, x)),
         bank = mel_filters(c, &f, mels, x.dtype);
    ir_t y = power;
    y.d[2] = mels;
    y = keras_step(c, "mel", "MatMul", KERAS_IDS(power.id, bank.id), NULL, y);
    y = keras_transpose(c, "bins_first", y, turned);
    return keras_give(c, keras_bool(c->config, "power_to_db", true) ? decibels(c, y) : y);
}

/* ---- STFTSpectrogram ---- */

static ir_t convolved(keras_call *c, const char *name, const int64_t *dims, int64_t step)
{
    ir_t k = keras_weight(c, name, KERAS_FIXED, 3, dims), y = c->in[0];
    if (k.id == IR_NONE || k.rank != 3)
        return keras_unknown_shape(y.dtype);
    y.d[1] = y.d[1] < k.d[0] ? -1 : (y.d[1] - k.d[0]) / step + 1;
    y.d[2] = k.d[2];
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("auto_pad", "VALID"), IR_SPEC_INTS("strides", 1, &step),
                            IR_SPEC_TEXT("kernel_layout", "WIO"), KERAS_END};
    return keras_step_in(c, FOREIGN_NHWC, name, "Conv", KERAS_IDS(c->in[0].id, k.id), attrs, y);
}

/* Magnitude, its square (psd) or its logarithm of both parts. */
static ir_t as_mode(keras_call *c, str mode, ir_t real, ir_t imag)
{
    ir_t y = keras_binary(c, "power", "Add", keras_binary(c, "real_square", "Mul", real, real),
                          keras_binary(c, "imag_square", "Mul", imag, imag));
    if (str_is(mode, "psd"))
        return y;
    y = keras_unary(c, "magnitude", "Sqrt", y);
    if (!str_is(mode, "log"))
        return y;
    ir_t least = keras_scalar(c, "least", y.dtype, 1e-7);
    return keras_unary(c, "log", "Log",
                       keras_step(c, "positive", "Max", KERAS_IDS(y.id, least.id), NULL, y));
}

/* [N, samples, 1] gives [N, frames, bins]. */
bool keras_spectrogram(keras_call *c)
{
    str mode = keras_word(c->config, "mode", "log");
    int64_t frame = keras_int(c->config, "frame_length", 256),
            step = keras_int(c->config, "frame_step", frame / 2),
            points = keras_int(c->config, "fft_length", frame);
    const int64_t dims[] = {frame, 1, points / 2 + 1};
    if (!c->n_in || c->in[0].rank != 3 || c->in[0].d[2] != 1 || frame < 1 || step < 1 ||
        frame > KERAS_MAX_WINDOW || step > KERAS_MAX_WINDOW || points < frame ||
        !str_is(keras_word(c->config, "padding", "valid"), "valid") ||
        keras_bool(c->config, "expand_dims", false) || keras_channels_first(c->config) ||
        !str_in_list(mode, "log|magnitude|psd|real|imag", '|'))
        return false;
    ir_t real = {.id = IR_NONE}, imag = real;
    if (!str_is(mode, "imag"))
        real = convolved(c, "real_kernel", dims, step);
    if (!str_is(mode, "real"))
        imag = convolved(c, "imag_kernel", dims, step);
    bool both = real.id != IR_NONE && imag.id != IR_NONE;
    if (!both && str_in_list(mode, "log|magnitude|psd", '|'))
        return false;
    ir_t y = both ? as_mode(c, mode, real, imag) : real.id != IR_NONE ? real : imag;
    return y.id != IR_NONE && keras_give(c, y);
}
