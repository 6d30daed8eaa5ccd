/* Plausibility checks of device rows. The limits are those of existing devices: for each class how long the memory
 * takes to read once, and how many fp32 operations come to a byte. Both lie within a factor of eight, so that bits
 * given as bytes, or the reverse, fall out; the class "other" is asked for nothing of the kind.
 *
 * Sparse figures are twice the dense ones. One column of a row that is sparse shows against its neighbours
 * (fp16 is twice tf32, fp8 twice fp16, int8 at most four times fp16 where fp16 accumulates in fp32). A row
 * that is sparse all over shows only in operations per watt or against its fp32 column.
 *
 * Peaks are with fp32 accumulation. Tensor cores that are slower that way show it: bf16, which always
 * accumulates in fp32, is then a quarter of int8, and tf32 an eighth. An fp16 figure of half the int8 rate is
 * with fp16 accumulation there.
 */
#include "device/devices.h"

typedef struct class_row {
    const char *name;
    double fill_min, fill_max;   /* seconds to read the memory once; 0: not asked */
    double ridge_min, ridge_max; /* fp32 FLOPs per byte; 0: not asked */
    bool one_unit;               /* all peaks are of the same part: their ratios mean something */
} class_row;

static const class_row classes[] = {
    {.name = "gpu",
     .fill_min = 0.012,
     .fill_max = 0.12,
     .ridge_min = 8,
     .ridge_max = 160,
     .one_unit = true},
    {.name = "tpu", .fill_min = 0.008, .fill_max = 0.1, .one_unit = true},
    {.name = "edge", .fill_max = 4, .ridge_min = 4, .ridge_max = 64, .one_unit = true},
    {.name = "soc", .fill_max = 4, .ridge_min = 6, .ridge_max = 120},
    {.name = "cpu", .fill_max = 120, .ridge_min = 3, .ridge_max = 64, .one_unit = true},
    {.name = "other"},
};

typedef struct ratio_row {
    device_precision above, below;
    double max;
    const char *hint;
} ratio_row;

#define SPARSE "Halve it if the figure is with sparsity."
#define ACC16                                                                 \
    "Halve it if the figure is with sparsity or fp16 accumulation (which is " \
    "fp16_acc16_tflops)."

/* The largest ratios of dense peaks that exist, with some room. */
static const ratio_row ratios[] = {
    {DEVICE_FP16, DEVICE_TF32, 2.2, ACC16},   {DEVICE_BF16, DEVICE_TF32, 2.2, SPARSE},
    {DEVICE_BF16, DEVICE_FP16, 1.1, SPARSE},  {DEVICE_FP8, DEVICE_FP16, 2.2, SPARSE},
    {DEVICE_FP8, DEVICE_BF16, 2.2, SPARSE},   {DEVICE_INT8, DEVICE_FP16, 4.4, SPARSE},
    {DEVICE_INT8, DEVICE_BF16, 4.4, SPARSE},  {DEVICE_TF32, DEVICE_FP32, 15.5, SPARSE},
    {DEVICE_FP16, DEVICE_FP32, 33, SPARSE},   {DEVICE_BF16, DEVICE_FP32, 33, SPARSE},
    {DEVICE_INT8, DEVICE_FP32, 64.5, SPARSE},
};

#define FP16_PER_WATT 2.5e12 /* dense; the best that exists is 2.25e12 */

typedef struct linting {
    const device *d;
    const char *shown;
    assay_error *err;
} linting;

#define REFUSE(l, fmt, ...)                                                 \
    err_fail((l)->err, ASSAY_ERR_MALFORMED, "%s: '%.*s': " fmt, (l)->shown, \
             (int)((l)->d->name.n < 80 ? (l)->d->name.n : 80),              \
             (l)->d->name.p ? (l)->d->name.p : "", __VA_ARGS__)

static assay_status lint_units(const linting *l)
{
    const device *d = l->d;
    double most = 0;
    for (int p = 0; p < DEVICE_PRECISIONS; p++)
        most = d->peak[p] > most ? d->peak[p] : most;
    if (!d->name.n)
        return REFUSE(l, "%s", "no id and no name");
    if (!(most > 0))
        return REFUSE(l, "%s", "no peak. Add one, for example fp32_tflops.");
    if (!(d->bandwidth > 0) || !(d->memory_bytes > 0))
        return REFUSE(l, "%s", "memory_gib and bandwidth_gbs are required");
    if (most > 1e17)
        return REFUSE(l,
                      "a peak of %.3g tera-operations per second is too high for one device. Give "
                      "peaks in units of 10^12.",
                      most / 1e12);
    if (d->memory_bytes > 64.0 * 1024 * 1024 * 1024 * 1024)
        return REFUSE(
            l, "%.3g GiB of memory look like bytes or MiB. Give memory_gib in units of 2^30.",
            d->memory_bytes / (1024.0 * 1024 * 1024));
    if (d->bandwidth > 1e14)
        return REFUSE(l,
                      "%.3g GB/s look like bytes per second. Give bandwidth_gbs in units of 10^9.",
                      d->bandwidth / 1e9);
    if (d->power_w > 20000 || d->overhead_s > 1)
        return REFUSE(l, "tdp_w (%.3g W) or overhead_us (%.3g us) is too large for a device",
                      d->power_w, d->overhead_s * 1e6);
    return ASSAY_OK;
}

static bool is_date(str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (i == 4 || i == 7 ? s.p[i] != '-' : s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n == 10;
}

static assay_status lint_price(const linting *l)
{
    const device *d = l->d;
    if (d->price_usd > 1e5)
        return REFUSE(l, "%.3g USD per hour are too many for one device", d->price_usd);
    if (d->price_date.n && !is_date(d->price_date))
        return REFUSE(l, "price_date must be YYYY-MM-DD, not '%.*s'",
                      (int)(d->price_date.n < 40 ? d->price_date.n : 40), d->price_date.p);
    if (!(d->price_usd > 0) && (d->price_date.n || d->price_source.n))
        return REFUSE(l, "%s", "price_date and price_source need a price_usd");
    return ASSAY_OK;
}

static assay_status lint_bandwidth(const linting *l, const class_row *c)
{
    const device *d = l->d;
    double fill = d->memory_bytes / d->bandwidth, ridge = device_ridge(d, DEVICE_FP32);
    if (c->fill_min > 0 && fill < c->fill_min)
        return REFUSE(l,
                      "%.4g GB/s read all its memory in %.2g ms, too fast for its class. Divide by "
                      "8 if these are gigabits per second.",
                      d->bandwidth / 1e9, fill * 1e3);
    if (c->fill_max > 0 && fill > c->fill_max)
        return REFUSE(l,
                      "%.4g GB/s take %.3g s to read all its memory, too slow for its class. Check "
                      "whether the bandwidth was divided by 8 twice, or the memory is in MiB.",
                      d->bandwidth / 1e9, fill);
    if (c->ridge_max > 0 && ridge > c->ridge_max)
        return REFUSE(
            l,
            "%.4g GB/s give %.3g fp32 FLOPs per byte, too many for its class. Check whether the "
            "bandwidth was divided by 8 twice, or fp32_tflops is a tensor core figure.",
            d->bandwidth / 1e9, ridge);
    if (ridge > 0 && ridge < c->ridge_min)
        return REFUSE(l,
                      "%.4g GB/s give only %.2g fp32 FLOPs per byte. Divide by 8 if these are "
                      "gigabits per second.",
                      d->bandwidth / 1e9, ridge);
    return ASSAY_OK;
}

static assay_status lint_ratio(const linting *l, const ratio_row *r)
{
    double above = l->d->peak[r->above], below = l->d->peak[r->below];
    if (!(above > 0) || !(below > 0) || above <= below * r->max)
        return ASSAY_OK;
    return REFUSE(l, "%s is %.3g times %s; dense peaks are at most %.3g times. %s",
                  device_precision_name(r->above), above / below, device_precision_name(r->below),
                  r->max, r->hint);
}

/* fp16 above bf16 alone is no sign: the MI100 has it, with int8 at twice bf16. */
static assay_status lint_accumulation(const linting *l)
{
    const device *d = l->d;
    double fp16 = d->peak[DEVICE_FP16], bf16 = d->peak[DEVICE_BF16];
    if (bf16 > 0 && fp16 > bf16 * 1.1 && d->peak[DEVICE_INT8] > bf16 * 2.2)
        return REFUSE(l, "fp16 is %.3g times bf16, which accumulates in fp32. " ACC16, fp16 / bf16);
    return ASSAY_OK;
}

/* A tensor core that accumulates in fp16 has the rate of fp32 accumulation or twice it, and int8 twice that.
 * Where fp16 accumulation is the slower one there is no tensor core. */
static assay_status lint_acc16(const linting *l)
{
    const device *d = l->d;
    double acc16 = d->fp16_acc16, fp16 = d->peak[DEVICE_FP16], int8 = d->peak[DEVICE_INT8];
    if (!(fp16 > 0) || acc16 < fp16)
        return ASSAY_OK;
    if (acc16 > fp16 * 2.2)
        return REFUSE(l, "fp16_acc16_tflops is %.3g times fp16; the limit is 2 times. " SPARSE,
                      acc16 / fp16);
    if (int8 > acc16 * 2.2)
        return REFUSE(l, "int8 is %.3g times fp16_acc16_tflops; the limit is 2 times. " SPARSE,
                      int8 / acc16);
    return ASSAY_OK;
}

static assay_status lint_dense(const linting *l)
{
    const device *d = l->d;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        TRY(lint_ratio(l, &ratios[i]));
    TRY(lint_accumulation(l));
    TRY(lint_acc16(l));
    if (d->power_w > 0 && d->peak[DEVICE_FP16] > d->power_w * FP16_PER_WATT)
        return REFUSE(l, "%.4g fp16 TFLOPS at %.4g W are too many for dense arithmetic. " SPARSE,
                      d->peak[DEVICE_FP16] / 1e12, d->power_w);
    return ASSAY_OK;
}

assay_status device_lint(const device *d, const char *shown, assay_error *err)
{
    const linting l = {d, shown, err};
    TRY(lint_units(&l));
    TRY(lint_price(&l));
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const class_row *c = &classes[i];
        if (!str_is(d->kind, c->name))
            continue;
        TRY(lint_bandwidth(&l, c));
        return c->one_unit ? lint_dense(&l) : ASSAY_OK;
    }
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "%s: '%.*s': class must be gpu, tpu, edge, soc, cpu or other, not '%.*s'",
                    shown, (int)(d->name.n < 80 ? d->name.n : 80), d->name.p,
                    (int)(d->kind.n < 40 ? d->kind.n : 40), d->kind.p ? d->kind.p : "");
}
