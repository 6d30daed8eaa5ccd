/* Precisions and devices that the options name: lists of precisions, the ridge of a device. */
#include "device/devices.h"
#include "jobs/job.h"

bool job_read_precisions(str list, bool *out)
{
    for (str item; str_split(&list, ',', &item);) {
        device_precision p = device_precision_find(item);
        if (p == DEVICE_PRECISIONS)
            return false;
        out[p] = true;
    }
    return true;
}

bool job_is_precision_list(str value)
{
    bool ignored[DEVICE_PRECISIONS];
    return job_read_precisions(value, ignored);
}

/* Of the requested precision; else of the model's native type, widened where the device has no peak at it. */
static device_precision ridge_precision(const assay_model *m, const assay_options *o,
                                        const device *d)
{
    ir_dtype native = m->ir ? m->ir->native : IR_UNDEFINED;
    if (o->model.precisions.n)
        return device_precision_find(o->model.precisions);
    if (native == IR_UNDEFINED)
        return DEVICE_FP32;
    return device_precision_on(d, str_of(ir_dtype_get(native)->name));
}

static assay_status find_ridge(const assay_model *m, const assay_options *o, device_list *list,
                               double *threshold, str *name, assay_error *err)
{
    TRY(devices_choose(o->hardware.names, list, err));
    const device *d = &list->rows.items[0];
    if (list->rows.n != 1)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "hardware must be one device here. Use `assay map` for several.");
    device_precision p = ridge_precision(m, o, d);
    str word = o->model.precisions.n ? o->model.precisions : STR(JOB_PRECISION);
    if (p == DEVICE_PRECISIONS || !(d->peak[p] > 0))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        STR_FMT
                        " has no peak at %.*s. Choose another --precision; `assay devices` lists "
                        "the peaks.",
                        STR_ARG(d->name), (int)word.n, word.p);
    *threshold = device_ridge(d, p);
    *name = d->id;
    return ASSAY_OK;
}

assay_status job_ridge(const assay_model *m, const assay_options *o, arena *work, double *threshold,
                       str *name, assay_error *err)
{
    device_list list = {.arena = work};
    return o->hardware.names.n ? find_ridge(m, o, &list, threshold, name, err) : ASSAY_OK;
}

double job_named_device(const assay_options *o, arena *work, str *id)
{
    device_list list = {.arena = work};
    assay_error ignored;
    err_clear(&ignored);
    if (!o->hardware.names.n || devices_choose(o->hardware.names, &list, &ignored) != ASSAY_OK ||
        list.rows.n != 1)
        return 0;
    *id = list.rows.items[0].id;
    return list.rows.items[0].memory_bytes;
}
