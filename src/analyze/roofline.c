/* See roofline.h. Figures are doubles: sums of counts below 2^53 stay whole, and the rest is physics. */
#include "analyze/roofline.h"

#define ADAMW_BYTES_KEPT  16.0 /* weight, gradient, two moments: 4 each; mixed precision keeps as much */
#define ADAMW_BYTES_MOVED 28.0 /* reads all four, writes three */
#define BATCH_MAX         ((int64_t)1 << 24)
#define MORE              1.1

uint32_t roofline_width_of(device_precision p)
{
    unsigned bytes = device_precision_bytes(p);
    return bytes == 4 ? 0 : bytes == 2 ? 1 : 2;
}

const char *roofline_bound_name(roofline_bound b)
{
    static const char *const names[BOUNDS] = {"compute", "memory", "overhead"};
    return names[b];
}

static double at_batch(const double v[2], int64_t batch)
{
    return v[0] + (v[1] - v[0]) * (double)(batch - 1);
}

/* ---- taking profiles ---- */

static double other_flops(const profile_ops *o)
{
    return (double)o->add + (double)o->mul + (double)o->div + (double)o->special + (double)o->cmp;
}

static double width_as_stored(const profile *p)
{
    const profile_bytes_by_dtype *most = NULL;
    for (uint32_t i = 0; i < p->architecture.n_dtypes; i++)
        if (ir_is_float(p->architecture.dtypes[i].dtype) &&
            (!most || p->architecture.dtypes[i].bytes > most->bytes))
            most = &p->architecture.dtypes[i];
    return most && most->elements ? (double)most->bytes / (double)most->elements : 4;
}

static bool runs(const profile_layer *l)
{
    return l->memory > 0 || l->macs > 0 || other_flops(&l->ops) > 0;
}

static bool begin(roofline_model *m, const profile *p, arena *a)
{
    m->layers = ARENA_ARRAY(a, roofline_layer, (size_t)p->n_layers + 1);
    if (!m->layers)
        return false;
    m->n_steps = p->n_layers;
    for (uint32_t i = 0; i < p->n_layers; i++)
        if (runs(&p->layers[i]))
            m->layers[m->n_layers++] = (roofline_layer){
                .layer = i, .launches = (double)(p->layers[i].times ? p->layers[i].times : 1)};
    m->stored_width = width_as_stored(p);
    m->parameters = (double)p->architecture.trainable_parameters;
    return true;
}

static void take_layer(roofline_layer *x, const profile_layer *l, uint32_t width, bool second)
{
    x->contraction[second] = 2.0 * (double)l->macs;
    x->other[second] = other_flops(&l->ops);
    x->bytes[width][second] = (double)l->memory;
    if (l->backward_flops || l->saved_bytes) {
        double back = 2.0 * (double)l->backward_macs, all = (double)l->backward_flops;
        x->backward = true;
        x->back_contraction[second] = back;
        x->back_other[second] = all > back ? all - back : 0;
    }
}

bool roofline_take(roofline_model *m, const profile *p, uint32_t width, bool second, arena *a)
{
    if (!m->layers && !begin(m, p, a))
        return false;
    if (p->n_layers != m->n_steps)
        return false;
    if (!m->live[width])
        m->live[width] = arena_alloc_array(a, (size_t)m->n_steps + 1, sizeof *m->live[width]);
    if (!m->live[width])
        return false;
    for (uint32_t i = 0; i < m->n_layers; i++)
        take_layer(&m->layers[i], &p->layers[m->layers[i].layer], width, second);
    for (uint32_t s = 0; s < m->n_steps; s++)
        m->live[width][s][second] = (double)p->layers[s].live_bytes;
    m->weights_bytes[width] = (double)p->memory_plan.weights_bytes;
    if (p->training.present)
        m->saved_bytes[second] = (double)p->training.saved_activation_bytes;
    return true;
}

static void same(double v[2])
{
    v[1] = v[0];
}

void roofline_fix(roofline_model *m, int64_t batch)
{
    m->fixed_batch = batch;
    for (uint32_t i = 0; i < m->n_layers; i++) {
        roofline_layer *x = &m->layers[i];
        same(x->contraction);
        same(x->other);
        same(x->back_contraction);
        same(x->back_other);
        for (int w = 0; w < ROOFLINE_WIDTHS; w++)
            same(x->bytes[w]);
    }
    for (int w = 0; w < ROOFLINE_WIDTHS; w++)
        for (uint32_t s = 0; m->live[w] && s < m->n_steps; s++)
            same(m->live[w][s]);
    same(m->saved_bytes);
}

/* ---- memory ---- */

double roofline_inference_bytes(const roofline_model *m, int64_t batch, uint32_t width)
{
    double most = 0;
    for (uint32_t s = 0; s < m->n_steps; s++) {
        double v = at_batch(m->live[width][s], batch);
        most = v > most ? v : most;
    }
    return m->weights_bytes[width] + most;
}

double roofline_training_bytes(const roofline_model *m, int64_t batch, uint32_t width)
{
    static const double bytes[ROOFLINE_WIDTHS] = {4, 2, 1};
    return ADAMW_BYTES_KEPT * m->parameters +
           at_batch(m->saved_bytes, batch) * bytes[width] / m->stored_width;
}

static double need(const roofline_model *m, int64_t batch, uint32_t width, bool training)
{
    return training ? roofline_training_bytes(m, batch, width)
                    : roofline_inference_bytes(m, batch, width);
}

/* Where the line through v reaches `room`. */
static double crossing(const double v[2], double room)
{
    double slope = v[1] - v[0];
    return slope > 0 ? (room - v[0]) / slope + 1 : (double)BATCH_MAX;
}

static double least_crossing(const roofline_model *m, uint32_t width, double room)
{
    double least = (double)BATCH_MAX;
    for (uint32_t s = 0; s < m->n_steps; s++) {
        double b = crossing(m->live[width][s], room);
        least = b < least ? b : least;
    }
    return least;
}

int64_t roofline_largest(const roofline_model *m, uint32_t width, bool training, double bytes)
{
    static const double number[ROOFLINE_WIDTHS] = {4, 2, 1};
    int64_t smallest = m->fixed_batch ? m->fixed_batch : 1;
    if (need(m, smallest, width, training) > bytes)
        return 0;
    if (m->fixed_batch)
        return m->fixed_batch;
    double b = training ? crossing(m->saved_bytes, (bytes - ADAMW_BYTES_KEPT * m->parameters) *
                                                       m->stored_width / number[width])
                        : least_crossing(m, width, bytes - m->weights_bytes[width]);
    int64_t whole = b >= (double)BATCH_MAX ? BATCH_MAX : b < 1 ? 1 : (int64_t)b;
    return whole > 1 && need(m, whole, width, training) > bytes ? whole - 1 : whole;
}

/* ---- time ---- */

bool roofline_slice_make(const roofline_model *m, int64_t batch, uint32_t width, arena *a,
                         roofline_slice *out)
{
    double *room = ARENA_ARRAY(a, double, 3 * (size_t)m->n_layers + 3);
    if (!room || !m->live[width])
        return false;
    *out = (roofline_slice){.model = m,
                            .batch = batch,
                            .width = width,
                            .contraction = room,
                            .other = room + m->n_layers + 1,
                            .bytes = room + 2 * ((size_t)m->n_layers + 1),
                            .weights_bytes = m->weights_bytes[width]};
    for (uint32_t i = 0; i < m->n_layers; i++) {
        const roofline_layer *l = &m->layers[i];
        out->contraction[i] = at_batch(l->contraction, batch);
        out->other[i] = at_batch(l->other, batch);
        out->bytes[i] = at_batch(l->bytes[width], batch);
        out->flops += out->contraction[i] + out->other[i];
    }
    out->activations_bytes = roofline_inference_bytes(m, batch, width) - out->weights_bytes;
    return true;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

void roofline_run(const roofline_slice *s, const device *d, device_precision p, roofline_time *out)
{
    const double per_contraction = 1 / d->peak[p], per_other = 1 / device_vector_peak(d, p),
                 per_byte = 1 / d->bandwidth;
    *out = (roofline_time){0};
    for (uint32_t i = 0; i < s->model->n_layers; i++) {
        double compute = s->contraction[i] * per_contraction + s->other[i] * per_other;
        double moving = s->bytes[i] * per_byte, work = larger(compute, moving);
        double start = d->overhead_s * s->model->layers[i].launches;
        int bound = start > work ? BOUND_OVERHEAD : compute >= moving ? BOUND_COMPUTE : BOUND_MEMORY;
        out->by_bound[bound] += work + start;
        out->more_flops += larger(compute / MORE, moving) + start;
        out->more_bandwidth += larger(compute, moving / MORE) + start;
    }
    for (int b = 0; b < BOUNDS; b++)
        out->seconds += out->by_bound[b];
}

roofline_layer_time roofline_one(const roofline_slice *s, uint32_t layer, const device *d,
                                 device_precision p)
{
    double compute = s->contraction[layer] / d->peak[p] +
                     s->other[layer] / device_vector_peak(d, p);
    double moving = s->bytes[layer] / d->bandwidth, work = larger(compute, moving);
    double start = d->overhead_s * s->model->layers[layer].launches;
    roofline_layer_time t = {.seconds = work + start};
    t.bound = start > work ? BOUND_OVERHEAD : compute >= moving ? BOUND_COMPUTE : BOUND_MEMORY;
    t.share_of_peak = (s->contraction[layer] + s->other[layer]) / (t.seconds * d->peak[p]);
    return t;
}

double roofline_training(const roofline_slice *s, const device *d, device_precision p)
{
    const roofline_model *m = s->model;
    double sum = ADAMW_BYTES_MOVED * m->parameters / d->bandwidth;
    for (uint32_t i = 0; i < m->n_layers; i++) {
        const roofline_layer *l = &m->layers[i];
        double passes = l->backward ? 3 : 1;
        double contraction = s->contraction[i] + at_batch(l->back_contraction, s->batch);
        double other = s->other[i] + at_batch(l->back_other, s->batch);
        sum += larger(contraction / d->peak[p] + other / device_vector_peak(d, p),
                      passes * s->bytes[i] / d->bandwidth) +
               passes * d->overhead_s * l->launches;
    }
    return sum;
}
