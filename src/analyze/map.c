/* See map.h. */
#include "analyze/map.h"

#include "base/num.h"

enum { LISTED_MOST = 4 }; /* devices whose layers are listed */

typedef struct mapper {
    const roofline_model *m;
    const map_options *o;
    profile *p;
    profile_mapping *out;
    roofline_slice *slices[ROOFLINE_WIDTHS]; /* [n_batches] */
    str *names, *types;                      /* [n_layers] copies in the profile */
    const runtime *runtime;                  /* of the device at hand, and its coefficients */
    const runtime_row *row;                  /* NULL: there are none */
    assay_error *err;
} mapper;

const char *map_verdict(double share, bool training)
{
    return share > 1                 ? "OOM"
           : share > MAP_HEAD_ROOM   ? "risk of OOM"
           : training && share > 0.4 ? "optimal for training"
           : share > 0.2             ? "good"
                                     : "safe";
}

static bool trained_at(device_precision p)
{
    return p != DEVICE_FP8 && p != DEVICE_INT8;
}

static bool wanted(const map_options *o, int p)
{
    bool any = false;
    for (int i = 0; i < DEVICE_PRECISIONS; i++)
        any = any || o->precisions[i];
    return !any || o->precisions[p];
}

static void judge_training(mapping_row *r, const roofline_slice *s, const device *d,
                           device_precision p)
{
    double bytes = roofline_training_bytes(s->model, s->batch, s->width);
    r->trains = true;
    r->training_memory_bytes = sat_whole(bytes);
    r->training_fits = bytes <= d->memory_bytes;
    r->training_step_ms = roofline_training(s, d, p) * 1e3;
    r->training_verdict = map_verdict(bytes / d->memory_bytes, true);
}

static void judge_memory(mapping_row *r, const roofline_slice *s, const device *d)
{
    double bytes = s->weights_bytes + s->activations_bytes;
    r->memory_bytes = sat_whole(bytes);
    r->weights_bytes = sat_whole(s->weights_bytes);
    r->activations_bytes = sat_whole(s->activations_bytes);
    r->fits = bytes <= d->memory_bytes;
    r->memory_class = band_word(band_of(BAND_MEMORY, bytes));
    r->verdict = map_verdict(bytes / d->memory_bytes, false);
}

static double percent(double part, double whole)
{
    return whole > 0 ? part * 100 / whole : 0;
}

static void judge_time(mapping_row *r, const roofline_slice *s, const device *d, device_precision p)
{
    roofline_time t;
    roofline_run(s, d, p, &t);
    int most = 0;
    for (int b = 1; b < BOUNDS; b++)
        most = t.by_bound[b] > t.by_bound[most] ? b : most;
    r->limit_ms = t.seconds * 1e3;
    r->latency_ms = r->limit_ms;
    r->throughput = t.seconds > 0 ? (double)s->batch / t.seconds : 0;
    r->energy_j = d->power_w * t.seconds / (double)s->batch;
    r->bound = roofline_bound_name((roofline_bound)most);
    r->speed = band_word(band_of(BAND_SPEED, r->latency_ms));
    r->compute_percent = percent(t.by_bound[BOUND_COMPUTE], t.seconds);
    r->memory_percent = percent(t.by_bound[BOUND_MEMORY], t.seconds);
    r->overhead_percent = percent(t.by_bound[BOUND_OVERHEAD], t.seconds);
    r->percent_of_peak = percent(s->flops, t.seconds * d->peak[p]);
    r->gain_flops_percent = percent(t.seconds - t.more_flops, t.seconds);
    r->gain_bandwidth_percent = percent(t.seconds - t.more_bandwidth, t.seconds);
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 1;
}

static void slow_down(mapping_row *r, double slower, double flops, double peak)
{
    r->latency_ms *= slower;
    r->throughput /= slower;
    r->energy_j *= slower;
    r->percent_of_peak = percent(flops, r->latency_ms / 1e3 * peak);
    r->speed = band_word(band_of(BAND_SPEED, r->latency_ms));
}

static void put_interval(mapping_row *r, double low_ms, double high_ms)
{
    r->latency_low_ms = low_ms;
    r->latency_high_ms = high_ms;
    r->imprecise = high_ms > low_ms * MAP_PRECISE;
}

/* Puts the expectation of the runtime in the roofline's place. */
static void expect_time(const mapper *x, mapping_row *r, const device *d, device_precision p,
                        const roofline_slice *s)
{
    double rates[RUNTIME_TERMS];
    const double *terms = s->terms[x->runtime->way];
    if (!x->row || !s->model->terms || !(r->limit_ms > 0))
        return;
    runtime_rates(d, p, rates);
    double limit = runtime_limit(rates, terms);
    runtime_time t = runtime_predict(x->row, x->runtime, rates, terms, limit);
    slow_down(r, t.seconds * 1e3 / r->latency_ms, s->flops, d->peak[p]);
    put_interval(r, t.low_s * 1e3, t.high_s * 1e3);
    r->limit_ms = limit * 1e3;
}

/* Puts the calibrated time in the roofline's place. Another precision of the device is slower than its roofline
 * by as much as fp32 is: that is an estimate, and has no interval. */
static void calibrate(const mapper *x, mapping_row *r, const device *d, device_precision p,
                      uint32_t batch)
{
    const map_calibrated *c = x->o->calibrated;
    const roofline_slice *s = &x->slices[roofline_width_of(p)][batch];
    roofline_time t;
    if (!c || c->hardware != r->hardware || !(c->seconds[batch] > 0))
        return;
    roofline_run(&x->slices[roofline_width_of(DEVICE_FP32)][batch], d, DEVICE_FP32, &t);
    slow_down(r, ratio(c->seconds[batch], t.seconds), s->flops, d->peak[p]);
    if (p == DEVICE_FP32)
        put_interval(r, r->latency_ms * c->low, r->latency_ms * c->high);
}

static void one_row(mapper *x, uint32_t hardware, device_precision p, uint32_t batch)
{
    const device *d = &x->o->devices->rows.items[hardware];
    const roofline_slice *s = &x->slices[roofline_width_of(p)][batch];
    mapping_row *r = &x->out->rows[x->out->n_rows++];
    *r = (mapping_row){
        .hardware = hardware, .precision = device_precision_name(p), .batch = s->batch};
    if (trained_at(p) && x->m->parameters > 0)
        judge_training(r, s, d, p);
    judge_memory(r, s, d);
    judge_time(r, s, d, p);
    if (x->o->calibrated && x->o->calibrated->hardware == hardware)
        calibrate(x, r, d, p, batch);
    else
        expect_time(x, r, d, p, s);
}

/* Most devices are as fast in bf16 as in fp16: rows of the same width and peak are the same. */
static const mapping_row *rows_alike(const mapper *x, uint32_t hardware, device_precision p,
                                     uint32_t first_row)
{
    const device *d = &x->o->devices->rows.items[hardware];
    for (uint32_t i = first_row; i < x->out->n_rows; i += x->o->n_batches) {
        device_precision q = device_precision_find(str_of(x->out->rows[i].precision));
        if (roofline_width_of(q) == roofline_width_of(p) && trained_at(q) == trained_at(p) &&
            d->peak[q] <= d->peak[p] && d->peak[q] >= d->peak[p])
            return &x->out->rows[i];
    }
    return NULL;
}

/* Of several batch sizes that leave room, one has the most throughput. */
static void mark_fastest(mapper *x, double room, mapping_row *rows)
{
    mapping_row *best = NULL;
    for (uint32_t b = 0; b < x->o->n_batches; b++)
        if ((double)rows[b].memory_bytes <= room &&
            (!best || rows[b].throughput > best->throughput))
            best = &rows[b];
    if (best && x->o->n_batches > 1)
        best->verdict = "maximum throughput";
}

static void one_precision(mapper *x, uint32_t hardware, device_precision p, uint32_t first_row)
{
    const device *d = &x->o->devices->rows.items[hardware];
    mapping_hardware *h = &x->out->hardware[hardware];
    uint32_t width = roofline_width_of(p);
    double room = d->memory_bytes * MAP_HEAD_ROOM;
    bool trains = trained_at(p) && x->m->parameters > 0;
    h->precisions[h->n_precisions++] = (mapping_precision){
        .name = device_precision_name(p),
        .peak = d->peak[p],
        .ridge = device_ridge(d, p),
        .largest_batch = roofline_largest(x->m, width, false, room),
        .largest_training_batch = trains ? roofline_largest(x->m, width, true, room) : INT64_MIN};
    const mapping_row *like = rows_alike(x, hardware, p, first_row);
    for (uint32_t b = 0; b < x->o->n_batches; b++) {
        if (!like) {
            one_row(x, hardware, p, b);
            continue;
        }
        x->out->rows[x->out->n_rows] = like[b];
        x->out->rows[x->out->n_rows++].precision = device_precision_name(p);
    }
    mark_fastest(x, room, &x->out->rows[x->out->n_rows - x->o->n_batches]);
}

/* At the smallest batch: the widest that leaves head-room, and the one that takes the least time. */
static void choose_precision(mapper *x, uint32_t hardware, uint32_t first_row)
{
    mapping_hardware *h = &x->out->hardware[hardware];
    double least = 0;
    for (uint32_t i = first_row; i < x->out->n_rows; i += x->o->n_batches) {
        const mapping_row *r = &x->out->rows[i];
        if ((double)r->memory_bytes > h->memory_bytes * MAP_HEAD_ROOM)
            continue;
        if (!h->widest)
            h->widest = r->precision;
        if (!h->cheapest || r->latency_ms < least) {
            h->cheapest = r->precision;
            least = r->latency_ms;
        }
    }
}

/* A machine that was measured but not calibrated has peaks of its own and no rows: it counts as its class. */
static void choose_runtime(mapper *x, const device *d, mapping_hardware *h)
{
    bool calibrated = x->o->calibrated &&
                      &x->o->devices->rows.items[x->o->calibrated->hardware] == d;
    x->runtime = x->o->runtime ? x->o->runtime : runtime_default(d);
    x->row = x->o->runtimes && !calibrated ? runtime_row_for(x->o->runtimes, d, x->runtime) : NULL;
    h->basis = calibrated ? "calibrated" : "roofline";
    if (!x->row || !x->m->terms)
        return;
    h->runtime = x->runtime->name;
    h->basis = !x->runtime->validated ? "not validated" : x->row->own ? "measured" : "class";
    h->software = str_copy(x->p->arena, x->row->software);
    h->basis_rows = x->row->rows;
    h->basis_error = x->row->median_error;
}

static void put_price(const mapper *x, const device *d, mapping_hardware *h)
{
    price p = {.per_hour = NAN};
    if (x->o->prices)
        p = price_of_device(x->o->prices, d);
    h->price_per_hour = p.per_hour;
    h->price_basis = str_copy(x->p->arena, p.basis);
}

static void one_device(mapper *x, uint32_t i)
{
    const device *d = &x->o->devices->rows.items[i];
    arena *a = x->p->arena;
    uint32_t first_row = x->out->n_rows;
    x->out->hardware[i] = (mapping_hardware){.id = str_copy(a, d->id),
                                             .name = str_copy(a, d->name),
                                             .kind = str_copy(a, d->kind),
                                             .certainty = str_copy(a, d->certainty),
                                             .source = str_copy(a, d->source),
                                             .memory_bytes = d->memory_bytes,
                                             .bandwidth = d->bandwidth,
                                             .power_w = d->power_w,
                                             .overhead_s = d->overhead_s};
    put_price(x, d, &x->out->hardware[i]);
    choose_runtime(x, d, &x->out->hardware[i]);
    for (int p = 0; p < DEVICE_PRECISIONS; p++) {
        if (!wanted(x->o, p))
            continue;
        if (d->peak[p] > 0)
            one_precision(x, i, (device_precision)p, first_row);
        else if (x->o->precisions[p])
            x->out->skipped[x->out->n_skipped++] = (mapping_skipped){
                x->out->hardware[i].id, device_precision_name((device_precision)p)};
    }
    choose_precision(x, i, first_row);
}

static bool make_slices(mapper *x, arena *scratch)
{
    for (uint32_t w = 0; w < ROOFLINE_WIDTHS; w++) {
        if (!x->m->live[w])
            continue;
        x->slices[w] = ARENA_ARRAY(scratch, roofline_slice, x->o->n_batches);
        for (uint32_t b = 0; b < x->o->n_batches; b++)
            if (!x->slices[w] ||
                !roofline_slice_make(x->m, x->o->batches[b], w, scratch, &x->slices[w][b]))
                return false;
    }
    return true;
}

/* The calibrated time of a layer; what has none of its own is folded into another. */
static void calibrate_layer(const map_calibrated *c, uint32_t step, mapping_layer *l)
{
    if (!c || !c->layers || step >= c->n_layers)
        return;
    double ms = c->layers[step] * 1e3;
    l->percent_of_peak = ms > 0 ? l->percent_of_peak * l->time_ms / ms : 0;
    l->time_ms = ms;
    l->bound = ms > 0 ? l->bound : "folded";
}

/* Where the time of a device's first row goes: what it takes beyond the limit is spread by the limit's shares. */
static void list_layers(mapper *x, const mapping_row *r, mapping_layer *list)
{
    const device *d = &x->o->devices->rows.items[r->hardware];
    const map_calibrated *c = x->o->calibrated;
    device_precision p = device_precision_find(str_of(r->precision));
    const roofline_slice *s = &x->slices[roofline_width_of(p)][0];
    const roofline_layer *l = s->model->layers;
    bool calibrated = p == DEVICE_FP32 && c && c->hardware == r->hardware;
    roofline_time all;
    roofline_run(s, d, p, &all);
    double slower = calibrated ? 1 : ratio(r->latency_ms, all.seconds * 1e3);
    for (uint32_t i = 0; i < s->model->n_layers; i++) {
        roofline_layer_time t = roofline_one(s, i, d, p);
        t.seconds *= slower;
        t.share_of_peak /= slower;
        list[i] = (mapping_layer){.device = x->out->hardware[r->hardware].id,
                                  .name = x->names[i],
                                  .type = x->types[i],
                                  .time_ms = t.seconds * 1e3,
                                  .percent_of_peak = t.share_of_peak * 100,
                                  .bound = roofline_bound_name(t.bound)};
        if (calibrated)
            calibrate_layer(c, l[i].step, &list[i]);
    }
}

static bool copy_names(mapper *x, const roofline_model *m, arena *scratch)
{
    x->names = ARENA_ARRAY(scratch, str, (size_t)m->n_layers + 1);
    x->types = ARENA_ARRAY(scratch, str, (size_t)m->n_layers + 1);
    for (uint32_t i = 0; x->names && x->types && i < m->n_layers; i++) {
        x->names[i] = str_copy(x->p->arena, m->layers[i].name);
        x->types[i] = str_copy(x->p->arena, m->layers[i].type);
    }
    return !arena_failed(scratch) && !arena_failed(x->p->arena);
}

/* For a few devices; of all of them it is nobody's question. All have the same layers: those of the first batch. */
static bool list_all_layers(mapper *x, arena *scratch)
{
    const profile_mapping *out = x->out;
    const roofline_model *m = roofline_model_at(x->m, x->o->batches[0]);
    size_t room = (size_t)m->n_layers * out->n_hardware + 1;
    if (out->n_hardware > LISTED_MOST)
        return true;
    x->out->layers = ARENA_ARRAY(x->p->arena, mapping_layer, room);
    if (!x->out->layers || !copy_names(x, m, scratch))
        return false;
    x->out->n_layers = m->n_layers;
    for (uint32_t i = 0; i < out->n_rows; i++) {
        if (i && out->rows[i].hardware == out->rows[i - 1].hardware)
            continue;
        list_layers(x, &out->rows[i], out->layers + out->n_all_layers);
        x->out->n_all_layers += m->n_layers;
    }
    return true;
}

/* The costs of all rows, and which prices they rest on. */
static void put_costs(mapper *x)
{
    profile_mapping *out = x->out;
    bool given = false;
    str from = {0}, to = {0};
    for (uint32_t i = 0; i < out->n_rows; i++) {
        mapping_row *r = &out->rows[i];
        r->cost_per_million = price_per_million(out->hardware[r->hardware].price_per_hour,
                                                r->throughput);
    }
    for (uint32_t i = 0; i < out->n_hardware; i++) {
        str date = x->o->devices->rows.items[i].price_date;
        bool is_given = str_is(out->hardware[i].price_basis, "given");
        given = given || is_given;
        if (is_given || !out->hardware[i].price_basis.n)
            continue;
        from = !from.n || str_cmp(date, from) < 0 ? date : from;
        to = !to.n || str_cmp(date, to) > 0 ? date : to;
    }
    out->price_basis = price_say_all(given, from, to, x->p->arena);
}

static assay_status no_rows(const mapper *x)
{
    return err_fail(x->err, ASSAY_ERR_UNSUPPORTED,
                    "no device has a peak at the requested precision (" STR_FMT
                    " at %s, ...). List the peaks with `assay devices`.",
                    STR_ARG(x->out->skipped[0].device), x->out->skipped[0].precision);
}

assay_status map_run(const roofline_model *m, const map_options *o, arena *scratch, profile *p,
                     assay_error *err)
{
    uint32_t n = o->devices->rows.n;
    size_t pairs = (size_t)n * DEVICE_PRECISIONS;
    mapper x = {.m = m, .o = o, .p = p, .out = ARENA_NEW(p->arena, profile_mapping), .err = err};
    TRY_MEMORY(x.out, err);
    x.out->hardware = ARENA_ARRAY(p->arena, mapping_hardware, n + 1);
    x.out->rows = ARENA_ARRAY(p->arena, mapping_row, pairs * o->n_batches + 1);
    x.out->skipped = ARENA_ARRAY(p->arena, mapping_skipped, pairs + 1);
    TRY_MEMORY(x.out->skipped && x.out->rows && x.out->hardware && make_slices(&x, scratch), err);
    x.out->n_hardware = n;
    x.out->fixed_batch = m->fixed_batch;
    for (uint32_t i = 0; i < n; i++)
        one_device(&x, i);
    if (x.out->n_rows == 0)
        return no_rows(&x);
    put_costs(&x);
    TRY_MEMORY(list_all_layers(&x, scratch), err);
    TRY(map_pareto(x.out, o, scratch, p->arena, err));
    p->mapping = x.out;
    return arena_failed(p->arena) ? err_no_memory(err) : ASSAY_OK;
}
