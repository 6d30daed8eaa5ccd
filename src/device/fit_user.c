/* Coefficients from a user's own measurements: map --fit FILE.
 *
 * FILE is CSV with the columns op, dtype, shape, time_ms, one kernel per row:
 *   linear       ROWSxCOLUMNSxDEPTH
 *   conv         BATCHxCHANNELSxHEIGHTxWIDTHxFILTERSxKERNELxSTRIDExGROUPS   square kernels, same padding
 *   attention    BATCHxHEADSxQUERIESxKEYSxHEAD_SIZE
 *   elementwise, norm, copy, pool   ELEMENTS: read once and written once
 *
 * The rows are fitted as whole models are (device/fit.h): coefficients start from those that the device would have
 * without them, so that terms which no row contains keep their value. Rows are left out one by one for the error.
 */
#include <math.h>
#include <stdio.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/num.h"
#include "device/fit_user.h"

enum {
    COLUMNS = 16,
    SIZES = 8,
    ROWS_MAX = 100000,
    ROWS_LEAST = 4,
    ROWS_FOR_INTERVAL = 20,
    HINT_BYTES = 128
};
#define FILE_BYTES_MAX ((uint64_t)16 << 20)
#define PRIOR_ROWS     0.05
#define OTHER_UNIT     100.0 /* times what is expected at the middle row: not milliseconds */
#define TILE           128.0
#define FULL           64.0

typedef struct user_row {
    double size[SIZES];
    int n;
    double width; /* bytes of a number */
    double *x;    /* [RUNTIME_TERMS] */
} user_row;

static void put_product(const user_row *r, runtime_term term, double m, double n, double k)
{
    double flops = 2 * m * n * k;
    r->x[term] = flops;
    r->x[TERM_NARROW] = flops * FULL / n;
    r->x[TERM_SHALLOW] = flops * FULL / k;
    r->x[TERM_WAVE] = 2 * num_min(m, TILE) * num_min(n, TILE) * k;
}

static void linear_terms(const user_row *r)
{
    double m = r->size[0], n = r->size[1], k = r->size[2];
    put_product(r, TERM_MATMUL, m, n, k);
    r->x[TERM_CORE_BYTES] = (m * k + n * k + m * n) * r->width;
}

static void conv_terms(const user_row *r)
{
    const double *s = r->size;
    double out = ceil(s[2] / s[6]) * ceil(s[3] / s[6]) * s[0], depth = s[1] / s[7] * s[5] * s[5];
    double bytes = (s[0] * s[1] * s[2] * s[3] + s[4] * depth + out * s[4]) * r->width;
    if (s[7] > 1 && s[7] >= s[1]) {
        r->x[TERM_DEPTHWISE] = 2 * out * s[4] * depth;
        r->x[TERM_DEPTHWISE_BYTES] = bytes;
        return;
    }
    bool grouped = s[7] > 1;
    put_product(r,
                grouped    ? TERM_GROUPED
                : s[1] < 8 ? TERM_IMAGE
                : s[5] < 2 ? TERM_POINTWISE
                           : TERM_CONV,
                out, s[4] / s[7], depth);
    if (grouped) /* of one group above */
        r->x[TERM_GROUPED] *= s[7];
    r->x[grouped ? TERM_GROUPED_BYTES : TERM_CORE_BYTES] = bytes;
}

static void attention_terms(const user_row *r)
{
    const double *s = r->size;
    r->x[TERM_BATCHED] = 4 * s[0] * s[1] * s[2] * s[3] * s[4];
    r->x[TERM_BATCHED_BYTES] = 2 * s[0] * s[1] * (s[2] + s[3]) * s[4] * r->width;
}

static void moving_terms(const user_row *r, runtime_term term)
{
    r->x[term] = 2 * r->size[0] * r->width;
}

typedef struct op_row {
    const char *name;
    int sizes;
    const char *shape;
    void (*terms)(const user_row *r); /* NULL: moves bytes */
    runtime_term term;
} op_row;

#define CONV_SHAPE "BATCHxCHANNELSxHEIGHTxWIDTHxFILTERSxKERNELxSTRIDExGROUPS"

static const op_row ops[] = {
    {"linear", 3, "ROWSxCOLUMNSxDEPTH", linear_terms, TERM_MATMUL},
    {"conv", 8, CONV_SHAPE, conv_terms, TERM_CONV},
    {"attention", 5, "BATCHxHEADSxQUERIESxKEYSxHEAD_SIZE", attention_terms, TERM_BATCHED},
    {"elementwise", 1, "ELEMENTS", NULL, TERM_ELEMENTWISE_BYTES},
    {"norm", 1, "ELEMENTS", NULL, TERM_NORM_BYTES},
    {"copy", 1, "ELEMENTS", NULL, TERM_MOVE_BYTES},
    {"pool", 1, "ELEMENTS", NULL, TERM_POOL_BYTES},
};

static const op_row *find_op(str name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_is(name, ops[i].name))
            return &ops[i];
    return NULL;
}

/* "1024x4096x4096"; false unless all sizes are above zero. */
static bool read_shape(str text, user_row *r)
{
    for (str part; str_split(&text, 'x', &part);) {
        if (r->n == SIZES || !str_to_f64(part, &r->size[r->n]) || !(r->size[r->n] > 0))
            return false;
        r->n++;
    }
    return r->n > 0;
}

typedef struct user_fit {
    const char *shown;
    const device *d;
    VEC(double) x, seconds;
    VEC(uint32_t) group;
    arena *arena;
} user_fit;

static assay_status refuse_row(const user_fit *f, const char *what, str cell, const char *hint,
                               assay_error *err)
{
    return err_fail(err, ASSAY_ERR_MALFORMED, "%s: row %u: %s '%.*s'. %s", f->shown,
                    f->seconds.n + 1, what, (int)(cell.n < 60 ? cell.n : 60), cell.p ? cell.p : "",
                    hint);
}

static const char *shape_hint(const op_row *op, char hint[HINT_BYTES])
{
    snprintf(hint, HINT_BYTES, "The shape of %s is %s, whole numbers above zero.", op->name,
             op->shape);
    return hint;
}

static assay_status add_row(user_fit *f, const str *cell, const int *at, assay_error *err)
{
    double x[RUNTIME_TERMS] = {0}, rates[RUNTIME_TERMS], ms;
    user_row r = {.x = x};
    char hint[HINT_BYTES];
    const op_row *op = find_op(cell[at[0]]);
    device_precision p = device_precision_find(cell[at[1]]);
    if (!op)
        return refuse_row(f, "unknown op", cell[at[0]],
                          "Use linear, conv, attention, elementwise, norm, copy or pool.", err);
    if (p == DEVICE_PRECISIONS || !(f->d->peak[p] > 0))
        return refuse_row(f, "the device has no peak for dtype", cell[at[1]],
                          "Use one of its precisions, for example fp16 or fp32.", err);
    if (!read_shape(cell[at[2]], &r) || r.n != op->sizes)
        return refuse_row(f, "wrong shape", cell[at[2]], shape_hint(op, hint), err);
    if (!str_to_f64(cell[at[3]], &ms) || !(ms > 0) || !isfinite(ms))
        return refuse_row(f, "time_ms must be above zero, got", cell[at[3]],
                          "Give milliseconds of one kernel.", err);
    r.width = device_precision_bytes(p);
    x[TERM_KERNELS] = 1;
    if (op->terms)
        op->terms(&r);
    else
        moving_terms(&r, op->term);
    runtime_rates(f->d, p, rates);
    for (int j = 0; j < RUNTIME_TERMS; j++)
        TRY_MEMORY(VEC_ADD(f->arena, &f->x, x[j] * rates[j]), err);
    return VEC_ADD(f->arena, &f->group, f->seconds.n) && VEC_ADD(f->arena, &f->seconds, ms / 1e3)
               ? ASSAY_OK
               : err_no_memory(err);
}

static assay_status read_rows(user_fit *f, str text, assay_error *err)
{
    static const char *const titles[] = {"op", "dtype", "shape", "time_ms"};
    csv c = csv_of(text, f->arena);
    str cells[COLUMNS];
    int at[4], n = csv_more(&c) ? csv_line(&c, cells, COLUMNS) : -1;
    for (int i = 0; i < 4; i++) {
        at[i] = n > 0 ? csv_column(cells, n, titles[i]) : -1;
        if (at[i] < 0)
            return err_fail(err, ASSAY_ERR_MALFORMED,
                            "%s: no column '%s'. The columns are op, dtype, shape, time_ms.",
                            f->shown, titles[i]);
    }
    while (csv_more(&c)) {
        if (csv_line(&c, cells, COLUMNS) != n || f->seconds.n == ROWS_MAX)
            return err_fail(err, ASSAY_ERR_MALFORMED,
                            "%s: row %u does not have the %d fields of the header, or is beyond "
                            "%d rows",
                            f->shown, f->seconds.n + 1, n, (int)ROWS_MAX);
        TRY(add_row(f, cells, at, err));
    }
    return f->seconds.n >= ROWS_LEAST
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_MALFORMED, "%s: at least %d rows are needed", f->shown,
                          (int)ROWS_LEAST);
}

/* Times in another unit are a thousand times off all over. */
static assay_status check_unit(const user_fit *f, const double *prior, assay_error *err)
{
    double *ratio = ARENA_ARRAY(f->arena, double, f->seconds.n);
    TRY_MEMORY(ratio, err);
    for (uint32_t i = 0; i < f->seconds.n; i++)
        ratio[i] = f->seconds.items[i] / fit_seconds(FIT_SUM, 1,
                                                     f->x.items + (size_t)i * RUNTIME_TERMS, prior,
                                                     RUNTIME_TERMS);
    double middle = fit_quantile(ratio, f->seconds.n, 0.5);
    if (middle < OTHER_UNIT && middle > 1 / OTHER_UNIT)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "%s: the times are about %.*f times what is expected of this device. Give "
                    "time_ms in milliseconds of one kernel.",
                    f->shown, middle < 1 ? 6 : 0, middle);
}

static assay_status fit_rows(const user_fit *f, runtime_row *row, assay_error *err)
{
    double prior[RUNTIME_TERMS];
    fit_result r;
    for (int j = 0; j < RUNTIME_TERMS; j++)
        prior[j] = log(row->c[j] > 1e-6 ? row->c[j] : 1e-6);
    TRY(check_unit(f, prior, err));
    TRY(fit_run(&(fit_problem){.form = FIT_SUM,
                               .n = f->seconds.n,
                               .n_terms = RUNTIME_TERMS,
                               .x = f->x.items,
                               .seconds = f->seconds.items,
                               .group = f->group.items,
                               .prior = prior,
                               .prior_rows = PRIOR_ROWS},
                f->arena, &r, NULL, err));
    for (int j = 0; j < RUNTIME_TERMS; j++)
        row->c[j] = exp(r.c[j]);
    row->rows = r.rows;
    row->groups = r.groups;
    row->mean_error = r.mean_error;
    row->median_error = r.median_error;
    /* Few rows can widen the interval that the device had without them, not narrow it. */
    bool few = r.rows < ROWS_FOR_INTERVAL;
    row->low = num_min(r.low, few ? row->low : 1);
    row->high = r.high > (few ? row->high : 1) ? r.high : few ? row->high : 1;
    return ASSAY_OK;
}

assay_status fit_user_rows(const char *path, const device *d, const runtime *r, runtime_table *t,
                           arena *a, assay_error *err)
{
    char buf[FILE_SHOWN];
    user_fit f = {.shown = file_shown(path, buf), .d = d, .arena = a};
    const runtime_row *like = runtime_row_for(t, d, r);
    str text;
    if (!like)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "no coefficients to start from");
    TRY(file_read_all(path, FILE_BYTES_MAX, a, &text, err));
    TRY(read_rows(&f, text, err));
    runtime_row row = *like;
    row.device = d->id;
    row.software = STR("your measurements");
    row.source = str_copy(a, str_of(f.shown));
    row.own = true;
    TRY(fit_rows(&f, &row, err));
    runtime_row *first = VEC_PUSH(a, &t->rows);
    TRY_MEMORY(first, err);
    *first = t->rows.items[0]; /* rows of a device are taken in order: its own comes first */
    t->rows.items[0] = row;
    return ASSAY_OK;
}
