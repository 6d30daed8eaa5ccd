/* See roofline.h. Values are doubles; sums of counts below 2^53 are exact. */
#include "analyze/roofline.h"

#include <assert.h>
#include <math.h>

#include "base/map.h"
#include "base/num.h"

#define ADAMW_BYTES_KEPT \
    16.0 /* weight, gradient, two moments: 4 each; mixed precision keeps as much */
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

/* How much longer each step of a parabola is than the step before it; 0 of any other line. Counts are whole
 * numbers below 2^53, so that those of a parabola differ by exactly the same. */
static double bend(const roofline_line v)
{
    double first = (v[2] - v[1]) - (v[1] - v[0]), second = (v[3] - v[2]) - (v[2] - v[1]);
    return first > 0 && fabs(second - first) < 0.5 ? first : 0;
}

/* Newton's form through the points of a parabola; what is none goes on by its last step. */
static double at_batch(const roofline_line v, int64_t batch)
{
    double x = (double)(batch - 2), last = v[ROOFLINE_POINTS - 1];
    assert(batch >= 2 || (v[0] >= last && v[0] <= last)); /* below the points only what was fixed */
    if (batch >= 2 && batch < 2 + ROOFLINE_POINTS)
        return v[batch - 2];
    return bend(v) > 0 ? v[0] + (v[1] - v[0]) * x + bend(v) * x * (x - 1) / 2
                       : last + (last - v[ROOFLINE_POINTS - 2]) * (x - (ROOFLINE_POINTS - 1));
}

const roofline_model *roofline_model_at(const roofline_model *m, int64_t batch)
{
    return batch == 1 && m->single ? m->single : m;
}

/* ---- other widths, one batch ---- */

static double narrower(double four, double two)
{
    double one = two - (four - two) / 2;
    return one > 0 ? one : 0;
}

static void narrow_line(const roofline_line four, const roofline_line two, roofline_line one)
{
    for (int k = 0; k < ROOFLINE_POINTS; k++)
        one[k] = narrower(four[k], two[k]);
}

bool roofline_narrow(roofline_model *m, arena *a)
{
    m->live[2] = arena_alloc_array(a, (size_t)m->n_steps + 1, sizeof *m->live[2]);
    if (!m->live[2])
        return false;
    for (uint32_t s = 0; s < m->n_steps; s++)
        narrow_line(m->live[0][s], m->live[1][s], m->live[2][s]);
    for (uint32_t i = 0; i < m->n_layers; i++)
        narrow_line(m->layers[i].bytes[0], m->layers[i].bytes[1], m->layers[i].bytes[2]);
    m->weights_bytes[2] = narrower(m->weights_bytes[0], m->weights_bytes[1]);
    for (uint32_t t = 0; m->terms && t < RUNTIME_WAYS * RUNTIME_TERMS; t++)
        narrow_line(m->terms[0][t / RUNTIME_TERMS][t % RUNTIME_TERMS],
                    m->terms[1][t / RUNTIME_TERMS][t % RUNTIME_TERMS],
                    m->terms[2][t / RUNTIME_TERMS][t % RUNTIME_TERMS]);
    return true;
}

static void make_level(roofline_line v)
{
    for (int k = 1; k < ROOFLINE_POINTS; k++)
        v[k] = v[0];
}

void roofline_fix(roofline_model *m, int64_t batch)
{
    m->fixed_batch = batch;
    for (uint32_t i = 0; i < m->n_layers; i++) {
        roofline_layer *x = &m->layers[i];
        make_level(x->contraction);
        make_level(x->other);
        make_level(x->back_contraction);
        make_level(x->back_other);
        for (int w = 0; w < ROOFLINE_WIDTHS; w++)
            make_level(x->bytes[w]);
    }
    for (int w = 0; w < ROOFLINE_WIDTHS; w++)
        for (uint32_t s = 0; m->live[w] && s < m->n_steps; s++)
            make_level(m->live[w][s]);
    make_level(m->saved_bytes);
    for (uint32_t t = 0; m->terms && t < ROOFLINE_WIDTHS * RUNTIME_WAYS * RUNTIME_TERMS; t++)
        make_level(m->terms[t / (RUNTIME_WAYS * RUNTIME_TERMS)][t / RUNTIME_TERMS % RUNTIME_WAYS]
                           [t % RUNTIME_TERMS]);
}

static bool grows(const roofline_line v)
{
    return v[0] <= v[1] && v[1] <= v[2] && v[2] <= v[3];
}

static bool layer_grows(const roofline_layer *l)
{
    return grows(l->contraction) && grows(l->other) && grows(l->back_contraction) &&
           grows(l->back_other) && grows(l->bytes[0]) && grows(l->bytes[1]);
}

bool roofline_grows(const roofline_model *m)
{
    bool all = grows(m->saved_bytes);
    for (uint32_t i = 0; i < m->n_layers && all; i++)
        all = layer_grows(&m->layers[i]);
    for (uint32_t s = 0; s < m->n_steps && all; s++)
        all = grows(m->live[0][s]) && grows(m->live[1][s]);
    return all;
}

/* ---- kinds ---- */

static str figures_of(const roofline_layer *l)
{
    const char *from = (const char *)&l->launches;
    return (str){from, (uint32_t)((const char *)(&l->bytes[ROOFLINE_WIDTHS]) - from)};
}

/* At every batch at least as high: at the points, and behind them because its last step and its bend are no less. */
static bool is_above(const roofline_line a, const roofline_line b)
{
    const int last = ROOFLINE_POINTS - 1;
    bool all = a[last] - a[last - 1] >= b[last] - b[last - 1] && bend(a) >= bend(b);
    for (int k = 0; all && k <= last; k++)
        all = a[k] >= b[k];
    return all;
}

static void swap_lines(roofline_line a, roofline_line b)
{
    for (int k = 0; k < ROOFLINE_POINTS; k++) {
        double v = a[k];
        a[k] = b[k];
        b[k] = v;
    }
}

/* Moves steps that no other is above to the front: of hundreds a few remain, and only they can be the peak. Each is
 * compared with the first ones alone, so that a graph of a million steps takes no longer than it has to. */
static uint32_t sort_tops(roofline_line *live, uint32_t n)
{
    enum { COMPARED = 16 };
    uint32_t tops = 0;
    for (uint32_t s = 1; s < n; s++)
        if (live[s][ROOFLINE_POINTS - 1] > live[0][ROOFLINE_POINTS - 1])
            swap_lines(live[s], live[0]);
    for (uint32_t s = 0; s < n; s++) {
        bool below = false;
        for (uint32_t t = 0; t < tops && t < COMPARED && !below; t++)
            below = is_above(live[t], live[s]);
        if (!below)
            swap_lines(live[s], live[tops++]);
    }
    return tops;
}

bool roofline_group(roofline_model *m, arena *a)
{
    for (int w = 0; w < ROOFLINE_WIDTHS; w++)
        m->n_tops[w] = m->live[w] ? sort_tops(m->live[w], m->n_steps) : 0;
    map kinds;
    uint32_t *kind_of = ARENA_ARRAY(a, uint32_t, (size_t)m->n_layers + 1);
    m->like = ARENA_ARRAY(a, uint32_t, (size_t)m->n_layers + 1);
    if (!kind_of || !m->like || !map_init(&kinds, a, 256))
        return false;
    for (uint32_t i = 0; i < m->n_layers; i++) {
        str key = figures_of(&m->layers[i]);
        kind_of[i] = map_get(&kinds, key);
        if (kind_of[i] != MAP_NONE)
            continue;
        kind_of[i] = m->n_kinds;
        m->like[m->n_kinds++] = i;
        if (!map_put(&kinds, key, kind_of[i]))
            return false;
    }
    m->kind_of = kind_of;
    return true;
}

/* ---- memory ---- */

double roofline_inference_bytes(const roofline_model *m, int64_t batch, uint32_t width)
{
    double most = 0;
    m = roofline_model_at(m, batch);
    uint32_t n = m->n_tops[width] ? m->n_tops[width] : m->n_steps;
    for (uint32_t s = 0; s < n; s++) {
        double v = at_batch(m->live[width][s], batch);
        most = v > most ? v : most;
    }
    return m->weights_bytes[width] + most;
}

double roofline_moved_bytes(const roofline_model *m, int64_t batch, uint32_t width)
{
    double sum = 0;
    m = roofline_model_at(m, batch);
    for (uint32_t i = 0; i < m->n_layers; i++)
        sum += at_batch(m->layers[i].bytes[width], batch);
    return sum;
}

double roofline_flops(const roofline_model *m, int64_t batch)
{
    double sum = 0;
    m = roofline_model_at(m, batch);
    for (uint32_t i = 0; i < m->n_layers; i++)
        sum += at_batch(m->layers[i].contraction, batch) + at_batch(m->layers[i].other, batch);
    return sum;
}

static const double share_of_float32[ROOFLINE_WIDTHS] = {1, 0.5, 0.25};

double roofline_training_bytes(const roofline_model *m, int64_t batch, uint32_t width)
{
    m = roofline_model_at(m, batch);
    return ADAMW_BYTES_KEPT * m->parameters +
           at_batch(m->saved_bytes, batch) * share_of_float32[width];
}

static double need(const roofline_model *m, int64_t batch, uint32_t width, bool training)
{
    return training ? roofline_training_bytes(m, batch, width)
                    : roofline_inference_bytes(m, batch, width);
}

/* All figures grow with the batch, so the largest that fits is found by halving. */
int64_t roofline_largest(const roofline_model *m, uint32_t width, bool training, double bytes)
{
    int64_t low = m->fixed_batch ? m->fixed_batch : 1, high = BATCH_MAX;
    if (need(m, low, width, training) > bytes)
        return 0;
    if (m->fixed_batch)
        return m->fixed_batch;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (need(m, middle, width, training) > bytes)
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

/* ---- time ---- */

enum { SLICE_ARRAYS = 8 };

static void fill_slice(roofline_slice *out, const roofline_model *m)
{
    for (uint32_t i = 0; i < out->n; i++) {
        const roofline_layer *l = &m->layers[m->like[i]];
        out->contraction[i] = at_batch(l->contraction, out->batch);
        out->other[i] = at_batch(l->other, out->batch);
        out->bytes[i] = at_batch(l->bytes[out->width], out->batch);
        out->step_contraction[i] = out->contraction[i] + at_batch(l->back_contraction, out->batch);
        out->step_other[i] = out->other[i] + at_batch(l->back_other, out->batch);
        out->step_bytes[i] = l->passes * out->bytes[i];
        out->launches[i] = l->launches;
    }
    for (uint32_t k = 0; k < m->n_layers; k++) {
        uint32_t i = m->kind_of[k];
        out->alike[i]++;
        out->step_launches += m->layers[k].passes * out->launches[i];
        out->flops += out->contraction[i] + out->other[i];
    }
}

bool roofline_slice_make(const roofline_model *m, int64_t batch, uint32_t width, arena *a,
                         roofline_slice *out)
{
    m = roofline_model_at(m, batch);
    uint32_t kinds = m->n_kinds;
    size_t n = (size_t)kinds + 1;
    double *room = ARENA_ARRAY(a, double, SLICE_ARRAYS *n);
    if (!room || !m->live[width])
        return false;
    *out = (roofline_slice){.model = m,
                            .batch = batch,
                            .width = width,
                            .contraction = room,
                            .other = room + n,
                            .bytes = room + 2 * n,
                            .step_contraction = room + 3 * n,
                            .step_other = room + 4 * n,
                            .step_bytes = room + 5 * n,
                            .launches = room + 6 * n,
                            .alike = room + 7 * n,
                            .n = kinds,
                            .weights_bytes = m->weights_bytes[width]};
    fill_slice(out, m);
    for (uint32_t t = 0; m->terms && t < RUNTIME_WAYS * RUNTIME_TERMS; t++)
        out->terms[t / RUNTIME_TERMS][t % RUNTIME_TERMS] = num_max(
            at_batch(m->terms[width][t / RUNTIME_TERMS][t % RUNTIME_TERMS], batch), 0);
    out->activations_bytes = roofline_inference_bytes(m, batch, width) - out->weights_bytes;
    return true;
}

void roofline_run(const roofline_slice *s, const device *d, device_precision p, roofline_time *out)
{
    const double per_contraction = 1 / d->peak[p], per_other = 1 / device_vector_peak(d, p),
                 per_byte = 1 / d->bandwidth;
    double by_compute = 0, by_memory = 0, all = 0, starts = 0, more_flops = 0, more_bandwidth = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double n = s->alike[i];
        double compute = s->contraction[i] * per_contraction + s->other[i] * per_other;
        double moving = s->bytes[i] * per_byte, work = num_max(compute, moving);
        double start = d->overhead_s * s->launches[i], time = work + start;
        double working = start > work ? 0 : n * time;
        by_compute += compute >= moving ? working : 0;
        by_memory += compute >= moving ? 0 : working;
        all += n * time;
        starts += n * start;
        more_flops += n * num_max(compute * (1 / MORE), moving);
        more_bandwidth += n * num_max(compute, moving * (1 / MORE));
    }
    *out = (roofline_time){.seconds = all,
                           .by_bound = {by_compute, by_memory, all - by_compute - by_memory},
                           .more_flops = more_flops + starts,
                           .more_bandwidth = more_bandwidth + starts};
    if (out->by_bound[BOUND_OVERHEAD] < 0)
        out->by_bound[BOUND_OVERHEAD] = 0;
}

roofline_layer_time roofline_one(const roofline_slice *s, uint32_t layer, const device *d,
                                 device_precision p)
{
    uint32_t i = s->model->kind_of[layer];
    double compute = s->contraction[i] / d->peak[p] + s->other[i] / device_vector_peak(d, p);
    double moving = s->bytes[i] / d->bandwidth, work = num_max(compute, moving);
    double start = d->overhead_s * s->launches[i];
    roofline_layer_time t = {.seconds = work + start};
    t.bound = start > work ? BOUND_OVERHEAD : compute >= moving ? BOUND_COMPUTE : BOUND_MEMORY;
    t.share_of_peak = (s->contraction[i] + s->other[i]) / (t.seconds * d->peak[p]);
    return t;
}

double roofline_training(const roofline_slice *s, const device *d, device_precision p)
{
    const double per_contraction = 1 / d->peak[p], per_other = 1 / device_vector_peak(d, p),
                 per_byte = 1 / d->bandwidth;
    double sum = ADAMW_BYTES_MOVED * s->model->parameters * per_byte +
                 d->overhead_s * s->step_launches;
    for (uint32_t i = 0; i < s->n; i++)
        sum += s->alike[i] *
               num_max(s->step_contraction[i] * per_contraction + s->step_other[i] * per_other,
                       s->step_bytes[i] * per_byte);
    return sum;
}
