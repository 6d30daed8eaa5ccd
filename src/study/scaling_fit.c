/* Closed forms. Exact: the polynomial through (degree + 1) multiples of each axis' granule, in rational
 * arithmetic, compared with every other evaluation; it is called exact when all of them are met to the unit.
 *
 *   f(u) = Σ c_i (u - u_0)…(u - u_i-1),  c_i the divided differences, one axis after the other
 *
 * What is no polynomial (a peak that moves to another layer, padded windows) gets a least-squares one of the
 * same degrees, relative errors being what is least, and its largest error over all evaluations is said.
 */
#include <math.h>

#include "base/num.h"
#include "study/scaling_memo.h"

enum { DEGREE_MAX = 4, CHECKED_LEAST = 3, NODES_MAX = 216, TERMS_MAX = NODES_MAX };

/* ---- rational numbers; failed is sticky ---- */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

typedef struct rational {
    wide n, d; /* d > 0, no common factor */
    bool failed;
} rational;

static const rational zero = {0, 1, false};

static uwide size_of(wide v)
{
    return v < 0 ? (uwide)0 - (uwide)v : (uwide)v;
}

/* Half the type's range, so that a sum of two is safe. */
#define WIDE_LIMIT ((uwide)1 << 126)

static wide times(wide a, wide b, bool *failed)
{
    uwide x = size_of(a), y = size_of(b);
    if (x && y > (WIDE_LIMIT - 1) / x) {
        *failed = true;
        return 1;
    }
    return a * b;
}

static rational reduced(wide n, wide d, bool failed)
{
    uwide a = size_of(n), b = size_of(d);
    if (failed || d == 0)
        return (rational){0, 1, true};
    while (b) {
        uwide r = a % b;
        a = b;
        b = r;
    }
    wide by = a ? (wide)a : 1;
    return d < 0 ? (rational){-(n / by), -(d / by), false} : (rational){n / by, d / by, false};
}

static rational whole(wide v)
{
    return (rational){v, 1, false};
}

static rational add_rationals(rational a, rational b)
{
    bool failed = a.failed || b.failed;
    wide n = times(a.n, b.d, &failed) + times(b.n, a.d, &failed);
    return reduced(n, times(a.d, b.d, &failed), failed);
}

static rational product(rational a, rational b)
{
    bool failed = a.failed || b.failed;
    wide n = times(a.n, b.n, &failed);
    return reduced(n, times(a.d, b.d, &failed), failed);
}

static rational less(rational a, rational b)
{
    b.n = -b.n;
    return add_rationals(a, b);
}

/* ---- one axis ---- */

/* Values at n nodes become divided differences. */
static void differences(const int64_t *u, rational *y, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++)
        for (uint32_t i = n - 1; i >= k; i--) {
            rational step = {1, u[i] - u[i - k], false};
            y[i] = product(less(y[i], y[i - 1]), reduced(step.n, step.d, u[i] == u[i - k]));
        }
}

/* Divided differences become coefficients of powers. */
static void expand(const int64_t *u, rational *c, uint32_t n)
{
    for (uint32_t k = n - 1; k-- > 0;)
        for (uint32_t i = k; i + 1 < n; i++)
            c[i] = less(c[i], product(c[i + 1], whole(u[k])));
}

int scaling_degree(const int64_t *u, const uint64_t *y, uint32_t n)
{
    rational c[8];
    int degree = 0;
    if (n > 8 || n < 2)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        c[i] = whole((wide)y[i]);
    differences(u, c, n);
    for (uint32_t i = 0; i < n; i++) {
        if (c[i].failed)
            return -1;
        if (c[i].n != 0)
            degree = (int)i;
    }
    return degree + 3 <= (int)n && degree <= DEGREE_MAX ? degree : -1;
}

/* ---- the tensor of values becomes the tensor of coefficients ---- */

typedef struct fitting {
    scaling_job *j;
    scaling_metric_id metric;
    int degree[SCALING_AXES];
    uint32_t n_nodes;
    int64_t nodes[SCALING_AXES][DEGREE_MAX + 1]; /* in granules */
    rational c[NODES_MAX];
} fitting;

static uint32_t axis_size(const fitting *f, uint32_t k)
{
    return (uint32_t)f->degree[k] + 1;
}

/* Place of node i along every axis; the last axis runs fastest. */
static void unravel(const fitting *f, uint32_t i, uint32_t at[SCALING_AXES])
{
    for (uint32_t k = f->j->s->n_axes; k-- > 0; i /= axis_size(f, k))
        at[k] = i % axis_size(f, k);
}

static bool read_values(fitting *f)
{
    const scale_work *s = f->j->s;
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        uint32_t place[SCALING_AXES];
        int64_t at[SCALING_AXES] = {0};
        unravel(f, i, place);
        for (uint32_t k = 0; k < s->n_axes; k++)
            at[k] = f->nodes[k][place[k]] * s->axes[k].granule;
        const scaling_eval *e = scaling_at(f->j, at);
        if (!e || !e->ok)
            return false;
        f->c[i] = whole((wide)e->figures.v[f->metric]);
    }
    return true;
}

static void transform(fitting *f, uint32_t k)
{
    uint32_t n = axis_size(f, k), stride = 1;
    for (uint32_t i = k + 1; i < f->j->s->n_axes; i++)
        stride *= axis_size(f, i);
    for (uint32_t base = 0; base < f->n_nodes; base++) {
        rational line[DEGREE_MAX + 1];
        if (base / stride % n != 0)
            continue;
        for (uint32_t i = 0; i < n; i++)
            line[i] = f->c[base + i * stride];
        differences(f->nodes[k], line, n);
        expand(f->nodes[k], line, n);
        for (uint32_t i = 0; i < n; i++)
            f->c[base + i * stride] = line[i];
    }
}

static bool find_degrees(fitting *f)
{
    scaling_job *j = f->j;
    f->n_nodes = 1;
    for (uint32_t k = 0; k < j->s->n_axes; k++) {
        int64_t at[SCALING_AXES], u[8];
        uint64_t y[8];
        memcpy(at, j->reference, sizeof at);
        for (uint32_t i = 0; i < j->n_line[k]; i++) {
            at[k] = j->line[k][i];
            const scaling_eval *e = scaling_at(j, at);
            if (!e || !e->ok)
                return false;
            u[i] = at[k] / j->s->axes[k].granule;
            y[i] = e->figures.v[f->metric];
        }
        f->degree[k] = scaling_degree(u, y, j->n_line[k]);
        if (f->degree[k] < 0)
            return false;
        memcpy(f->nodes[k], u, axis_size(f, k) * sizeof *u);
        f->n_nodes *= axis_size(f, k);
        if (f->n_nodes > NODES_MAX)
            return false;
    }
    return true;
}

static bool fits_whole(wide v)
{
    return v <= INT64_MAX && v >= -INT64_MAX;
}

/* ---- terms ---- */

static int total_power(const scale_term *t)
{
    int n = 0;
    for (int k = 0; k < SCALING_AXES; k++)
        n += t->powers[k];
    return n;
}

static void sort_terms(scale_term *t, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && total_power(&t[k]) > total_power(&t[k - 1]); k--) {
            scale_term x = t[k];
            t[k] = t[k - 1];
            t[k - 1] = x;
        }
}

static bool keep_terms(fitting *f, scale_fit *out)
{
    out->terms = ARENA_ARRAY(f->j->s->arena, scale_term, f->n_nodes + 1u);
    for (uint32_t i = 0; out->terms && i < f->n_nodes; i++) {
        uint32_t at[SCALING_AXES] = {0};
        if (f->c[i].failed || !fits_whole(f->c[i].n) || !fits_whole(f->c[i].d)) {
            out->terms = NULL;
            out->n_terms = 0;
            return false;
        }
        if (f->c[i].n == 0)
            continue;
        scale_term *t = &out->terms[out->n_terms++];
        *t = (scale_term){.numerator = (int64_t)f->c[i].n, .denominator = (int64_t)f->c[i].d};
        t->value = (double)t->numerator / (double)t->denominator;
        unravel(f, i, at);
        for (uint32_t k = 0; k < f->j->s->n_axes; k++)
            t->powers[k] = (uint8_t)at[k];
    }
    if (!out->terms)
        return false;
    sort_terms(out->terms, out->n_terms);
    return true;
}

/* ---- against the evaluations ---- */

static bool on_granules(const scale_work *s, const int64_t *at)
{
    for (uint32_t k = 0; k < s->n_axes; k++)
        if (at[k] % s->axes[k].granule != 0)
            return false;
    return true;
}

static bool equals(const scale_work *s, const scale_fit *fit, const int64_t *at, uint64_t y)
{
    rational v = zero;
    for (uint32_t i = 0; i < fit->n_terms; i++) {
        rational t = {fit->terms[i].numerator, fit->terms[i].denominator, false};
        for (uint32_t k = 0; k < s->n_axes; k++)
            for (int p = 0; p < fit->terms[i].powers[k]; p++)
                t = product(t, whole(at[k] / s->axes[k].granule));
        v = add_rationals(v, t);
    }
    return !v.failed && v.d == 1 && v.n == (wide)y;
}

static bool in_range(const scale_work *s, const int64_t *at)
{
    for (uint32_t k = 0; k < s->n_axes; k++)
        if (at[k] < s->axes[k].from || at[k] > s->axes[k].to)
            return false;
    return true;
}

static double unit_of(const scale_axis *x, int64_t v)
{
    return (double)v / (double)x->granule / pow(10, x->decimals);
}

static double about(const scale_work *s, const scale_term *terms, uint32_t n, const int64_t *at)
{
    double v = 0;
    for (uint32_t i = 0; i < n; i++) {
        double t = terms[i].value;
        for (uint32_t k = 0; k < s->n_axes; k++)
            t *= pow(unit_of(&s->axes[k], at[k]), terms[i].powers[k]);
        v += t;
    }
    return v;
}

static double off_percent(double v, uint64_t y)
{
    return y ? fabs(v / (double)y - 1) * 100 : v == 0 ? 0 : 100;
}

/* False when the form misses a point that it should meet. */
static bool compare_all(scaling_job *j, scaling_metric_id m, uint32_t made_of, bool exact,
                        scale_fit *fit)
{
    const scale_work *s = j->s;
    uint32_t met = 0;
    for (uint32_t i = 0; i < j->memo->list.n; i++) {
        const scaling_eval *e = j->memo->list.items[i];
        if (!e->ok || (!exact && !in_range(s, e->at)))
            continue;
        double off = off_percent(about(s, fit->terms, fit->n_terms, e->at), e->figures.v[m]);
        if (exact && !on_granules(s, e->at)) {
            fit->n_between++;
            fit->between_percent = fmax(fit->between_percent, off);
            continue;
        }
        if (exact && !equals(s, fit, e->at, e->figures.v[m]))
            return false;
        met++;
        fit->error_percent = exact ? 0 : fmax(fit->error_percent, off);
    }
    fit->n_checked = met > made_of ? met - made_of : 0;
    return true;
}

static bool fit_exact(scaling_job *j, scaling_metric_id m, scale_fit *out)
{
    fitting *f = ARENA_NEW(j->s->arena, fitting);
    if (!f)
        return false;
    *f = (fitting){.j = j, .metric = m};
    if (!find_degrees(f) || !read_values(f))
        return false;
    for (uint32_t k = 0; k < j->s->n_axes; k++)
        transform(f, k);
    scale_fit found = {0};
    if (!keep_terms(f, &found) || !compare_all(j, m, f->n_nodes, true, &found) ||
        found.n_checked < CHECKED_LEAST)
        return false;
    *out = found;
    out->exact = true;
    return true;
}

/* ---- least squares ---- */

enum { UNKNOWNS = 27 };

typedef struct squares {
    double a[UNKNOWNS][UNKNOWNS + 1];
    scale_term terms[UNKNOWNS];
    uint32_t n;
    double scale[SCALING_AXES];
} squares;

static void name_unknowns(squares *q, const scale_work *s, const int *degree)
{
    q->n = 1;
    for (uint32_t k = 0; k < s->n_axes; k++) {
        uint32_t before = q->n;
        for (int p = 1; p <= degree[k] && ((uint32_t)p + 1) * before <= UNKNOWNS; p++)
            for (uint32_t i = 0; i < before; i++) {
                q->terms[q->n] = q->terms[i];
                q->terms[q->n++].powers[k] = (uint8_t)p;
            }
    }
}

static void add_point(squares *q, const scale_work *s, const scaling_eval *e, scaling_metric_id m)
{
    double x[UNKNOWNS], y = (double)e->figures.v[m];
    for (uint32_t i = 0; i < q->n; i++) {
        x[i] = 1 / y;
        for (uint32_t k = 0; k < s->n_axes; k++)
            x[i] *= pow(unit_of(&s->axes[k], e->at[k]) / q->scale[k], q->terms[i].powers[k]);
    }
    for (uint32_t i = 0; i < q->n; i++) {
        for (uint32_t k = 0; k < q->n; k++)
            q->a[i][k] += x[i] * x[k];
        q->a[i][q->n] += x[i];
    }
}

/* Gaussian elimination with pivots; false if the system is singular. */
static bool solve_squares(squares *q)
{
    for (uint32_t c = 0; c < q->n; c++) {
        uint32_t best = c;
        for (uint32_t r = c + 1; r < q->n; r++)
            best = fabs(q->a[r][c]) > fabs(q->a[best][c]) ? r : best;
        for (uint32_t k = 0; k <= q->n; k++) {
            double t = q->a[c][k];
            q->a[c][k] = q->a[best][k];
            q->a[best][k] = t;
        }
        if (!(fabs(q->a[c][c]) > 1e-300))
            return false;
        for (uint32_t r = 0; r < q->n; r++) {
            double by = r == c ? 0 : q->a[r][c] / q->a[c][c];
            for (uint32_t k = c; by != 0 && k <= q->n; k++)
                q->a[r][k] -= by * q->a[c][k];
        }
    }
    for (uint32_t i = 0; i < q->n; i++)
        q->terms[i].value = q->a[i][q->n] / q->a[i][i];
    return true;
}

/* Degrees that the MACs have along the axes, 2 where they have none. */
static void usual_degrees(scaling_job *j, int *degree)
{
    const scale_fit *macs = &j->s->fits[SCALING_MACS];
    for (uint32_t k = 0; k < j->s->n_axes; k++) {
        degree[k] = macs->exact ? 0 : 2;
        for (uint32_t i = 0; i < macs->n_terms; i++)
            degree[k] = macs->terms[i].powers[k] > degree[k] ? macs->terms[i].powers[k] : degree[k];
        degree[k] = degree[k] < (int)j->s->axes[k].n_values ? degree[k]
                                                            : (int)j->s->axes[k].n_values - 1;
    }
}

static void set_scales(squares *q, const scaling_job *j)
{
    for (uint32_t k = 0; k < j->s->n_axes; k++) {
        const scale_axis *x = &j->s->axes[k];
        double most = unit_of(x, x->to);
        q->scale[k] = most > 0 ? most : 1;
    }
}

/* Terms that never matter are the arithmetic's, not the model's. */
static uint32_t drop_small(squares *q, const scale_work *s)
{
    double most = 0, at[UNKNOWNS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        at[i] = fabs(q->terms[i].value);
        for (uint32_t k = 0; k < s->n_axes; k++)
            at[i] *= pow(q->scale[k], q->terms[i].powers[k]);
        most = fmax(most, at[i]);
    }
    for (uint32_t i = 0; i < q->n; i++)
        if (at[i] > most * 1e-9)
            q->terms[n++] = q->terms[i];
    return n;
}

static bool fit_about(scaling_job *j, scaling_metric_id m, scale_fit *out)
{
    squares *q = ARENA_NEW(j->s->arena, squares);
    int degree[SCALING_AXES];
    uint32_t points = 0;
    if (!q)
        return false;
    usual_degrees(j, degree);
    name_unknowns(q, j->s, degree);
    set_scales(q, j);
    for (uint32_t i = 0; i < j->memo->list.n; i++) {
        const scaling_eval *e = j->memo->list.items[i];
        if (!e->ok || e->figures.v[m] == 0 || !in_range(j->s, e->at))
            continue;
        add_point(q, j->s, e, m);
        points++;
    }
    if (points <= q->n || !solve_squares(q))
        return false;
    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t k = 0; k < j->s->n_axes; k++)
            q->terms[i].value /= pow(q->scale[k], q->terms[i].powers[k]);
    out->terms = q->terms;
    out->n_terms = drop_small(q, j->s);
    sort_terms(out->terms, out->n_terms);
    return compare_all(j, m, 0, false, out);
}

/* ---- exponents ---- */

static double slope(const double *x, const double *y, uint32_t n)
{
    double mx = 0, my = 0, up = 0, down = 0;
    for (uint32_t i = 0; i < n; i++) {
        mx += x[i] / n;
        my += y[i] / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        up += (x[i] - mx) * (y[i] - my);
        down += (x[i] - mx) * (x[i] - mx);
    }
    return down > 0 ? up / down : 0;
}

static void find_exponents(scaling_job *j, uint32_t k, scaling_metric_id m, scale_fit *out)
{
    double x[64], y[64];
    uint32_t n = 0;
    const scale_axis *a = &j->s->axes[k];
    int64_t at[SCALING_AXES];
    memcpy(at, j->reference, sizeof at);
    for (uint32_t i = 0; i < a->n_values && n < 64; i++) {
        at[k] = a->values[i];
        const scaling_eval *e = scaling_at(j, at);
        if (!e || !e->ok || !e->figures.v[m])
            continue;
        x[n] = log((double)at[k]);
        y[n++] = log((double)e->figures.v[m]);
    }
    if (n < 2)
        return;
    out->exponent[k] = slope(x, y, n);
    out->exponent_first[k] = slope(x, y, 2);
    out->exponent_last[k] = slope(x + n - 2, y + n - 2, 2);
}

/* ---- the whole ---- */

/* Sizes that nothing was made of: inside the range, on and between the granules. */
static void probe(scaling_job *j)
{
    static const double inside[] = {0.31, 0.57, 0.73, 0.89};
    const scale_work *s = j->s;
    for (int between = 0; between < 2; between++)
        for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
            int64_t at[SCALING_AXES] = {0};
            for (uint32_t k = 0; k < s->n_axes; k++) {
                const scale_axis *x = &s->axes[k];
                int64_t g = between || x->granule > x->to - x->from ? x->accepted : x->granule;
                double part = inside[(i + k) % (sizeof inside / sizeof *inside)];
                int64_t v = x->from + (int64_t)((double)(x->to - x->from) * part);
                at[k] = v / g * g < x->from ? v : v / g * g;
                if (x->decimals || j->n_line[k] == 0)
                    at[k] = j->reference[k];
            }
            scaling_at(j, at);
        }
    for (uint32_t k = 0; k < s->n_axes; k++)
        for (int64_t i = 1; i <= 3 && j->n_line[k]; i++) {
            int64_t at[SCALING_AXES];
            memcpy(at, j->reference, sizeof at);
            at[k] = j->line[k][j->n_line[k] - 1] + i * s->axes[k].granule;
            scaling_at(j, at);
        }
}

assay_status scaling_fit_all(scaling_job *j, assay_error *err)
{
    probe(j);
    for (int m = 0; m < SCALING_METRICS; m++) {
        scale_fit *f = &j->s->fits[m];
        if (!j->s->metrics[m])
            continue;
        if (!fit_exact(j, (scaling_metric_id)m, f))
            fit_about(j, (scaling_metric_id)m, f);
        f->wanted = true;
        for (uint32_t k = 0; k < j->s->n_axes; k++)
            find_exponents(j, k, (scaling_metric_id)m, f);
    }
    return arena_failed(j->s->arena) ? err_no_memory(err) : ASSAY_OK;
}
