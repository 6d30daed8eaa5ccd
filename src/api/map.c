/* Devices, and predictions for a model on them. */
#include <assay/device.h>
#include <assay/study.h>

#include "analyze/map.h"

#include "api/result.h"

#define DEVICES_BYTES ((size_t)16 << 20)

/* ---- devices ---- */

struct assay_devices {
    device_list list;
};

assay_status assay_devices_open(const char *hardware, assay_devices **out, assay_error *err)
{
    arena *a = arena_new(DEVICES_BYTES);
    assay_devices *d = a ? ARENA_NEW(a, assay_devices) : NULL;
    api_begin(err);
    *out = NULL;
    if (!d) {
        arena_free(a);
        return err_no_memory(err);
    }
    d->list.arena = a;
    assay_status s = devices_choose(str_of(hardware ? hardware : "all"), &d->list, err);
    if (s == ASSAY_OK)
        *out = d;
    else
        arena_free(a);
    return s;
}

void assay_devices_free(assay_devices *devices)
{
    if (devices)
        arena_free(devices->list.arena);
}

/* Texts of a device are copies, or literals. */
static const char *text(str s)
{
    return s.p ? s.p : "";
}

/* The table has 0 where a figure is not published. */
static double known(double figure)
{
    return figure > 0 ? figure : NAN;
}

bool assay_devices_at(const assay_devices *devices, size_t index, assay_device_info *out)
{
    if (index >= devices->list.rows.n)
        return false;
    const device *d = &devices->list.rows.items[index];
    assay_device_info x = {.id = text(d->id),
                           .aliases = text(d->aliases),
                           .name = text(d->name),
                           .kind = text(d->kind),
                           .certainty = text(d->certainty),
                           .source = text(d->source),
                           .memory_bytes = known(d->memory_bytes),
                           .bandwidth = known(d->bandwidth),
                           .power_w = known(d->power_w),
                           .overhead_s = known(d->overhead_s),
                           .fp16_acc16 = known(d->fp16_acc16),
                           .price_usd = known(d->price_usd),
                           .price_date = text(d->price_date),
                           .price_source = text(d->price_source)};
    for (int p = 0; p < DEVICE_PRECISIONS && p < ASSAY_DEVICE_PRECISIONS; p++)
        x.peak[p] = known(d->peak[p]);
    return HAND_OUT(out, x);
}

const char *assay_device_precision(size_t index)
{
    return index < DEVICE_PRECISIONS ? device_precision_name((device_precision)index) : NULL;
}

/* ---- a model on them ---- */

assay_status assay_map(assay_model *model, const assay_options *options, assay_result **out,
                       assay_error *err)
{
    assay_options none;
    return api_settle(job_map(model, options_or_default(options, &none), out, err), out, err);
}
