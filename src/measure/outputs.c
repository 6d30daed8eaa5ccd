/* See outputs.h. */
#include "measure/outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

/* ---- keeping ---- */

static bool can_compare(ir_dtype t)
{
    return t == IR_FLOAT32 || t == IR_FLOAT64 || t == IR_FLOAT16 || t == IR_BFLOAT16;
}

static bool can_keep(const engine_io *io)
{
    return io->is_tensor && io->dtype != IR_STRING && io->dtype != IR_UNDEFINED;
}

static assay_status copy_output(engine_job *job, uint32_t i, output_copy *out, assay_error *err)
{
    engine_tensor t;
    TRY(engine_job_output(job, i, &t, err));
    out->dims = memory_zeroed((size_t)t.rank + 1, sizeof *out->dims);
    out->data = memory_alloc(t.size_bytes ? t.size_bytes : 1);
    TRY_MEMORY(out->data && out->dims, err);
    memcpy(out->data, t.data, t.size_bytes);
    out->dtype = t.dtype;
    out->rank = t.rank;
    out->size_bytes = t.size_bytes;
    out->n = 1;
    for (int d = 0; d < t.rank; d++) {
        out->dims[d] = t.dims[d];
        out->n *= (uint64_t)t.dims[d];
    }
    return ASSAY_OK;
}

assay_status outputs_take(engine_session *s, engine_job *job, output_set *out, assay_error *err)
{
    const engine_session_info *info = engine_session_about(s);
    *out = (output_set){.items = memory_zeroed(info->n_outputs + 1u, sizeof *out->items)};
    TRY_MEMORY(out->items, err);
    out->n = info->n_outputs;
    TRY(engine_job_run(job, err));
    for (uint32_t i = 0; i < info->n_outputs; i++) {
        out->items[i].name = memory_strdup(info->outputs[i].name);
        TRY_MEMORY(out->items[i].name, err);
        if (can_keep(&info->outputs[i]))
            TRY(copy_output(job, i, &out->items[i], err));
    }
    engine_job_drop(job);
    return ASSAY_OK;
}

void outputs_free(output_set *s)
{
    for (uint32_t i = 0; s->items && i < s->n; i++) {
        free(s->items[i].data);
        free(s->items[i].dims);
        free(s->items[i].name);
    }
    free(s->items);
    *s = (output_set){0};
}

/* ---- comparing ---- */

static double element(const output_copy *c, uint64_t i)
{
    return ir_load_float(c->dtype, (const char *)c->data + i * (ir_dtype_get(c->dtype)->bits / 8u));
}

typedef struct sums {
    double largest, distance, of_difference, of_a, of_b, of_product;
    uint64_t n, not_finite;
} sums;

static void add_output(sums *s, const output_copy *x, const output_copy *y)
{
    for (uint64_t i = 0; i < x->n; i++) {
        double a = element(x, i), b = element(y, i), d = fabs(a - b);
        if (!isfinite(a) || !isfinite(b)) {
            s->not_finite++;
            continue;
        }
        s->n++;
        s->largest = d > s->largest ? d : s->largest;
        s->distance += d;
        s->of_difference += d * d;
        s->of_a += a * a;
        s->of_b += b * b;
        s->of_product += a * b;
    }
}

void outputs_compare(const output_set *reference, const output_set *other,
                     profile_output_error *out)
{
    sums s = {0};
    *out = (profile_output_error){0};
    for (uint32_t i = 0; i < reference->n && i < other->n; i++) {
        const output_copy *x = &reference->items[i], *y = &other->items[i];
        if (!x->data || !y->data || x->n != y->n || !can_compare(x->dtype) ||
            !can_compare(y->dtype)) {
            out->left_out++;
            continue;
        }
        out->present = out->present || x->n > 0;
        add_output(&s, x, y);
    }
    double both = sqrt(s.of_a) * sqrt(s.of_b);
    out->elements = s.n;
    out->not_finite = s.not_finite;
    out->max_abs = s.largest;
    out->mean_abs = s.n ? s.distance / (double)s.n : 0;
    out->relative = s.of_a > 0            ? sqrt(s.of_difference) / sqrt(s.of_a)
                    : s.of_difference > 0 ? NAN
                                          : 0;
    out->cosine = both > 0 ? fmax(-1, fmin(1, s.of_product / both)) : (double)NAN;
}

/* ---- a classifier's answer ---- */

static void keep_if_large(output_class top[OUTPUTS_TOP], output_class x)
{
    for (int i = 0; i < OUTPUTS_TOP; i++)
        if (x.probability > top[i].probability) {
            output_class out = top[i];
            top[i] = x;
            x = out;
        }
}

bool outputs_classify(const output_set *s, uint64_t batch, uint64_t sample,
                      output_class top[OUTPUTS_TOP])
{
    const output_copy *c = s->n ? &s->items[0] : NULL;
    uint64_t classes = c && c->data && batch ? c->n / batch : 0;
    double largest = -INFINITY, sum = 0;
    if (classes < 2 || !can_compare(c->dtype) || c->rank != 2 || (uint64_t)c->dims[0] != batch ||
        sample >= batch)
        return false;
    for (uint64_t i = 0; i < classes; i++)
        largest = fmax(largest, element(c, sample * classes + i));
    for (int i = 0; i < OUTPUTS_TOP; i++)
        top[i] = (output_class){.probability = -1};
    for (uint64_t i = 0; i < classes; i++) {
        double p = exp(element(c, sample * classes + i) - largest);
        sum += p;
        keep_if_large(top, (output_class){i, p});
    }
    for (int i = 0; i < OUTPUTS_TOP && sum > 0; i++)
        top[i].probability /= sum;
    return true;
}

double outputs_time_classify(const output_set *s, uint64_t batch)
{
    output_class top[OUTPUTS_TOP];
    uint64_t best = UINT64_MAX;
    for (int k = 0; k < 5; k++) {
        uint64_t from = clock_mono_ns();
        for (uint64_t i = 0; i < batch; i++)
            if (!outputs_classify(s, batch, i, top))
                return -1;
        uint64_t took = clock_mono_ns() - from;
        best = took < best ? took : best;
    }
    return (double)best / 1e6;
}
