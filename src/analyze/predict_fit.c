/* Coefficients from measured kernels: least squares with coefficients that are not negative, by coordinate descent on
 * the normal equations (Franc, Hlaváč and Navara 2005), relative errors, and Huber's weights for kernels that were
 * disturbed or are not like their family. A kernel below 0.3 % of its model's time is weighted as if it took that
 * share, because its error does not matter.
 */
#include <math.h>
#include <stdlib.h>

#include "analyze/predict.h"
#include "base/memory.h"
#include "base/num.h"
#include "device/fit.h"

enum { SWEEPS = 300, ROUNDS = 5 };
#define FLOOR_SHARE 0.003
#define HUBER       0.3
#define WHOLE_HUBER 0.05
#define SCALE_MOST  8.0 /* kernels are taken where nothing disturbs them, runs as they are */
#define LOW_SHARE   0.1 /* of held-out models below the interval, and as many above */

typedef struct sample {
    const predict_layer *l;
    double seconds, weight; /* weight: 1 / what an error is measured against */
} sample;

typedef struct fitting {
    const predict_study *studies;
    uint32_t n;
    str without; /* a model to leave out; empty: none */
    calibration *out;
    sample *samples;
    uint32_t n_samples;
} fitting;

/* ---- least squares ---- */

typedef struct normal {
    double g[CALIBRATION_TERMS][CALIBRATION_TERMS], h[CALIBRATION_TERMS];
} normal;

static void add_up(const sample *s, uint32_t n, const double *c, uint32_t terms, normal *out)
{
    *out = (normal){0};
    for (uint32_t i = 0; i < n; i++) {
        double is = 0, w = s[i].weight;
        for (uint32_t k = 0; k < terms; k++)
            is += c[k] * s[i].l->x[k];
        double off = fabs(is - s[i].seconds) * w;
        w *= w;
        if (off > HUBER)
            w *= HUBER / off;
        for (uint32_t k = 0; k < terms; k++) {
            for (uint32_t j = 0; j < terms; j++)
                out->g[k][j] += w * s[i].l->x[k] * s[i].l->x[j];
            out->h[k] += w * s[i].l->x[k] * s[i].seconds;
        }
    }
}

/* Terms are scaled to one, and the smallest ridge keeps those that are alike from wandering. */
static void solve(normal *e, double *c, uint32_t terms)
{
    double scale[CALIBRATION_TERMS];
    for (uint32_t k = 0; k < terms; k++) {
        scale[k] = e->g[k][k] > 0 ? sqrt(e->g[k][k]) : 0;
        c[k] *= scale[k];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t k = 0; k < terms; k++) {
            if (!(scale[k] > 0))
                continue;
            double r = e->h[k] / scale[k];
            for (uint32_t j = 0; j < terms; j++)
                if (scale[j] > 0 && j != k)
                    r -= e->g[k][j] / scale[k] / scale[j] * c[j];
            c[k] = r > 0 ? r / (1 + 1e-6) : 0;
        }
    for (uint32_t k = 0; k < terms; k++)
        c[k] = scale[k] > 0 ? c[k] / scale[k] : 0;
}

static bool fit_family(const sample *s, uint32_t n, calibration_family *f)
{
    double *off = memory_alloc(sizeof *off * ((size_t)n + 1));
    f->n_terms = s[0].l->n_terms;
    f->samples = n;
    for (int round = 0; round < ROUNDS; round++) {
        normal e;
        add_up(s, n, f->c, f->n_terms, &e);
        if (round == 0) { /* nothing is known yet: no kernel is off */
            double zero[CALIBRATION_TERMS] = {0};
            add_up(s, n, zero, f->n_terms, &e);
        }
        solve(&e, f->c, f->n_terms);
    }
    for (uint32_t i = 0; off && i < n; i++) {
        double is = 0;
        for (uint32_t k = 0; k < f->n_terms; k++)
            is += f->c[k] * s[i].l->x[k];
        off[i] = fabs(is - s[i].seconds) * s[i].weight;
    }
    f->error = off ? fit_quantile(off, n, 0.5) : 0;
    free(off);
    return off != NULL;
}

/* ---- families ---- */

static bool left_out(const fitting *f, const predict_study *s)
{
    return f->without.n && str_eq(f->without, s->model);
}

static bool collect(fitting *f)
{
    size_t most = 0;
    for (uint32_t i = 0; i < f->n; i++)
        most += f->studies[i].n_layers;
    f->samples = memory_alloc(sizeof *f->samples * (most + 1));
    for (uint32_t i = 0; f->samples && i < f->n; i++) {
        const predict_study *s = &f->studies[i];
        for (uint32_t k = 0; k < s->n_layers && !left_out(f, s); k++) {
            double floor_s = s->kernels_s * FLOOR_SHARE, t = s->seconds[k];
            if (s->led[k] && !s->layers[k].constant && t > 0)
                f->samples[f->n_samples++] = (sample){&s->layers[k], t,
                                                      1 / (t > floor_s ? t : floor_s)};
        }
    }
    return f->samples != NULL;
}

static int by_family(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    int c = str_cmp(x->l->family, y->l->family);
    return c ? c : x->l < y->l ? -1 : x->l > y->l;
}

static bool add_family(fitting *f, const sample *s, uint32_t n, str name)
{
    calibration *c = f->out;
    if (n == 0 || c->n_families == CALIBRATION_FAMILIES)
        return true;
    calibration_family *x = &c->families[c->n_families++];
    *x = (calibration_family){0};
    uint32_t room = sizeof x->name - 1, length = name.n < room ? name.n : room;
    memcpy(x->name, name.p, length);
    return fit_family(s, n, x);
}

/* Everything that is no contraction, for types that were never measured. */
static bool add_other(fitting *f)
{
    sample *s = memory_alloc(sizeof *s * ((size_t)f->n_samples + 1));
    uint32_t n = 0;
    for (uint32_t i = 0; s && i < f->n_samples; i++)
        if (strcmp(f->samples[i].l->like, "other") == 0)
            s[n++] = f->samples[i];
    bool ok = s && add_family(f, s, n, STR("other"));
    free(s);
    return ok;
}

static bool fit_families(fitting *f)
{
    bool ok = true;
    f->out->n_families = 0;
    qsort(f->samples, f->n_samples, sizeof *f->samples, by_family);
    for (uint32_t i = 0, from = 0; f->n_samples && i <= f->n_samples && ok; i++)
        if (i == f->n_samples || !str_eq(f->samples[i].l->family, f->samples[from].l->family)) {
            ok = add_family(f, &f->samples[from], i - from, f->samples[from].l->family);
            from = i;
        }
    return ok && add_other(f);
}

/* ---- folds ---- */

static void note_fold(calibration *c, uint32_t pair, bool folded)
{
    uint32_t i = 0;
    while (i < c->n_folds && c->folds[i].pair != pair)
        i++;
    if (i == CALIBRATION_FOLDS)
        return;
    if (i == c->n_folds)
        c->folds[c->n_folds++] = (calibration_fold){.pair = pair};
    c->folds[i].seen++;
    c->folds[i].folded += folded;
}

static int by_pair(const void *a, const void *b)
{
    const calibration_fold *x = a, *y = b;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static void fit_folds(const fitting *f)
{
    calibration *c = f->out;
    c->n_folds = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const predict_study *s = &f->studies[i];
        for (uint32_t k = 0; k < s->n_layers && !left_out(f, s); k++)
            for (int level = 0; level < 3 && s->layers[k].pairs[level]; level++)
                note_fold(c, s->layers[k].pairs[level], !s->led[k]);
    }
    qsort(c->folds, c->n_folds, sizeof *c->folds, by_pair);
}

/* ---- the whole run ---- */

/* latency = scale · kernels_s + kernel_s · kernels, by relative errors; a plain ratio where that makes no sense. */
static void fit_whole(const fitting *f)
{
    calibration *c = f->out;
    c->scale = c->kernel_s = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
        for (uint32_t i = 0; i < f->n; i++) {
            const predict_study *s = &f->studies[i];
            if (left_out(f, s) || !(s->latency_s > 0))
                continue;
            double a = s->kernels_s / s->latency_s, b = s->kernels / s->latency_s;
            double off = fabs(c->scale * a + c->kernel_s * b - 1);
            double w = round && off > WHOLE_HUBER ? WHOLE_HUBER / off : 1;
            aa += w * a * a, ab += w * a * b, bb += w * b * b, ay += w * a, by += w * b;
        }
        double det = aa * bb - ab * ab;
        bool both = det > 1e-9 * aa * bb;
        c->scale = both ? (ay * bb - by * ab) / det : 0;
        c->kernel_s = both ? (by * aa - ay * ab) / det : 0;
        if (!(c->scale > 0.5 && c->scale < SCALE_MOST && fabs(c->kernel_s) < 2e-5)) {
            c->scale = aa > 0 ? ay / aa : 1;
            c->kernel_s = 0;
        }
    }
}

static double whole_seconds(const calibration *c, const predict_study *s)
{
    return c->scale * s->kernels_s + c->kernel_s * s->kernels;
}

/* Relative errors favour runs that nothing disturbed. On a busy machine most runs are disturbed, and the median run is
 * what is predicted. */
static void centre_whole(const fitting *f)
{
    calibration *c = f->out;
    double ratios[CALIBRATION_RUNS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n && n < CALIBRATION_RUNS; i++) {
        const predict_study *s = &f->studies[i];
        if (!left_out(f, s) && s->latency_s > 0 && whole_seconds(c, s) > 0)
            ratios[n++] = s->latency_s / whole_seconds(c, s);
    }
    double middle = n ? fit_quantile(ratios, n, 0.5) : 1;
    c->scale *= middle;
    c->kernel_s *= middle;
}

static bool fit_all(fitting *f)
{
    bool ok = collect(f) && fit_families(f);
    if (ok) {
        fit_folds(f);
        fit_whole(f);
        centre_whole(f);
    }
    free(f->samples);
    f->samples = NULL;
    f->n_samples = 0;
    return ok;
}

/* ---- left out ---- */

static bool predict_left_out(const fitting *all, calibration *scratch, uint32_t i, double *seconds)
{
    const predict_study *s = &all->studies[i];
    fitting f = {.studies = all->studies, .n = all->n, .without = s->model, .out = scratch};
    double *layers = memory_alloc(sizeof *layers * ((size_t)s->n_layers + 1));
    bool ok = layers && fit_all(&f);
    if (ok)
        *seconds = predict_layers(s->layers, s->n_layers, scratch, layers, NULL, NULL);
    free(layers);
    return ok;
}

static bool judge_fit(const fitting *f, calibration *scratch)
{
    calibration *c = f->out;
    double ratios[CALIBRATION_RUNS], off[CALIBRATION_RUNS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n && c->n_runs < CALIBRATION_RUNS; i++) {
        const predict_study *s = &f->studies[i];
        calibration_run *r = &c->runs[c->n_runs++];
        *r = (calibration_run){.batch = s->batch, .measured_s = s->latency_s};
        memcpy(r->model, s->model.p,
               s->model.n < sizeof r->model ? s->model.n : sizeof r->model - 1);
        if (!predict_left_out(f, scratch, i, &r->predicted_s))
            return false;
        if (r->predicted_s > 0 && r->measured_s > 0) {
            ratios[n] = r->measured_s / r->predicted_s;
            off[n++] = fabs(r->predicted_s / r->measured_s - 1);
        }
    }
    c->low = n ? fit_quantile(ratios, n, LOW_SHARE) : 1;
    c->high = n ? fit_quantile(ratios, n, 1 - LOW_SHARE) : 1;
    c->error = fit_quantile(off, n, 0.5);
    return true;
}

assay_status predict_learn(const predict_study *studies, uint32_t n, calibration *out,
                           assay_error *err)
{
    fitting f = {.studies = studies, .n = n, .out = out};
    calibration *scratch = memory_zeroed(1, sizeof *scratch);
    bool ok = scratch && fit_all(&f);
    out->n_runs = 0;
    ok = ok && judge_fit(&f, scratch);
    free(scratch);
    out->present = ok;
    TRY_MEMORY(ok, err);
    return out->n_families ? ASSAY_OK : err_fail(err, ASSAY_ERR_ENGINE, "no kernel was measured");
}
