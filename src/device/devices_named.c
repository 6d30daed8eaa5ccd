/* Devices and precisions as options name them: lists of precisions, the ridge and the memory of one device. */
#include "device/devices.h"

bool device_precisions_read(str list, bool *out)
{
    for (str item; str_split(&list, ',', &item);) {
        device_precision p = device_precision_find(item);
        if (p == DEVICE_PRECISIONS)
            return false;
        out[p] = true;
    }
    return true;
}

bool device_is_precision_list(str value)
{
    bool ignored[DEVICE_PRECISIONS];
    return device_precisions_read(value, ignored);
}

/* Of the requested precision; else of the model's native type, widened where the device has no peak at it. */
static device_precision ridge_precision(const ridge_question *q, const device *d)
{
    if (q->precision.n)
        return device_precision_find(q->precision);
    return q->native.n ? device_precision_on(d, q->native) : DEVICE_FP32;
}

static assay_status find_ridge(const ridge_question *q, device_list *list, double *threshold,
                               str *name, assay_error *err)
{
    TRY(devices_choose(q->device, list, err));
    const device *d = &list->rows.items[0];
    if (list->rows.n != 1)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "hardware must be one device here. Use `assay map` for several.");
    device_precision p = ridge_precision(q, d);
    str word = q->precision.n ? q->precision : STR("fp32");
    if (p == DEVICE_PRECISIONS || !(d->peak[p] > 0))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        STR_FMT " has no peak at " STR_FMT
                                ". Choose another --precision; `assay devices` lists the peaks.",
                        STR_ARG(d->name), STR_ARG(word));
    *threshold = device_ridge(d, p);
    *name = d->id;
    return ASSAY_OK;
}

assay_status device_named_ridge(const ridge_question *q, arena *work, double *threshold, str *name,
                                assay_error *err)
{
    device_list list = {.arena = work};
    return q->device.n ? find_ridge(q, &list, threshold, name, err) : ASSAY_OK;
}

double device_named_memory(str names, arena *work, str *id)
{
    device_list list = {.arena = work};
    assay_error ignored;
    err_clear(&ignored);
    if (!names.n || devices_choose(names, &list, &ignored) != ASSAY_OK || list.rows.n != 1)
        return 0;
    *id = list.rows.items[0].id;
    return list.rows.items[0].memory_bytes;
}
