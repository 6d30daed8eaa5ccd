/* See runtime.h. */
#include "device/runtime.h"

#include <math.h>

#include "base/csv.h"
#include "base/embedded.h"

typedef struct term_row {
    const char *name;
    double eager, compiled, cpu; /* where a fit starts: 1 is the rate of the data sheet */
} term_row;

static const term_row terms[RUNTIME_TERMS] = {
    [TERM_CONV] = {"conv", 1.2, 0.9, 1.3},
    [TERM_POINTWISE] = {"pointwise", 1.2, 0.67, 1.3},
    [TERM_GROUPED] = {"grouped", 1.8, 1.6, 2},
    [TERM_IMAGE] = {"image", 2, 1.75, 2},
    [TERM_MATMUL] = {"matmul", 1.3, 0.8, 1.3},
    [TERM_BATCHED] = {"batched", 2, 1.7, 2},
    [TERM_DEPTHWISE] = {"depthwise", 1, 1.2, 2},
    [TERM_NARROW] = {"narrow", 0.05, 0.05, 0.05},
    [TERM_SHALLOW] = {"shallow", 0.05, 0.05, 0.05},
    [TERM_WAVE] = {"wave", 0.4, 0.4, 0.01},
    [TERM_CORE_BYTES] = {"core_bytes", 0.6, 0.65, 0.6},
    [TERM_DEPTHWISE_BYTES] = {"depthwise_bytes", 1, 1.65, 1},
    [TERM_GROUPED_BYTES] = {"grouped_bytes", 1, 1.9, 1},
    [TERM_BATCHED_BYTES] = {"batched_bytes", 0.8, 1.2, 1},
    [TERM_ELEMENTWISE_BYTES] = {"elementwise_bytes", 1, 1.05, 1},
    [TERM_NORM_BYTES] = {"norm_bytes", 1.3, 1, 1},
    [TERM_MOVE_BYTES] = {"move_bytes", 0.6, 0.6, 1},
    [TERM_POOL_BYTES] = {"pool_bytes", 1, 2, 1},
    [TERM_JOINED_BYTES] = {"joined_bytes", 0.15, 0.15, 0.15},
    [TERM_JOINED_SMALL_BYTES] = {"joined_small_bytes", 0.15, 0.5, 0.15},
    [TERM_KERNELS] = {"kernels", 0.4, 0.4, 1},
};

const char *runtime_term_name(runtime_term t)
{
    return terms[t].name;
}

void runtime_prior(const char *runtime_name, double out[RUNTIME_TERMS])
{
    bool eager = strcmp(runtime_name, "eager") == 0, cpu = strcmp(runtime_name, "onnxruntime") == 0;
    for (int j = 0; j < RUNTIME_TERMS; j++)
        out[j] = log(eager ? terms[j].eager : cpu ? terms[j].cpu : terms[j].compiled);
}

/* ---- runtimes ---- */

static const runtime runtimes[] = {
    {"eager", RUNTIME_LAYERS, 20e-6, true, "eager"},
    {"compiled", RUNTIME_CHAINS, 8e-6, true, "compiled"},
    {"tensorrt", RUNTIME_CHAINS, 4e-6, false, "compiled"},
    {"onnxruntime", RUNTIME_CHAINS, 2e-6, true, "onnxruntime"},
};
enum { N_RUNTIMES = sizeof runtimes / sizeof *runtimes };

const runtime *runtime_at(uint32_t i)
{
    return i < N_RUNTIMES ? &runtimes[i] : NULL;
}

const runtime *runtime_find(str name)
{
    for (uint32_t i = 0; i < N_RUNTIMES; i++)
        if (str_is(name, runtimes[i].name))
            return &runtimes[i];
    return NULL;
}

/* A board without matrix units runs models on its processor. */
static bool is_processor(const device *d)
{
    bool plain = d->peak[DEVICE_FP16] <= d->peak[DEVICE_FP32];
    return str_is(d->kind, "cpu") || (str_is(d->kind, "edge") && plain);
}

const runtime *runtime_default(const device *d)
{
    return runtime_find(is_processor(d) ? STR("onnxruntime") : STR("compiled"));
}

/* ---- rows ---- */

enum { FIXED_COLUMNS = 11, CELLS = FIXED_COLUMNS + RUNTIME_TERMS };

static bool read_row(const str *cell, runtime_row *r)
{
    double rows, groups;
    *r = (runtime_row){.runtime = cell[0],
                       .device = cell[1],
                       .kind = cell[2],
                       .software = cell[3],
                       .source = cell[10],
                       .own = !str_is(cell[1], "*")};
    bool ok = str_to_f64(cell[4], &rows) && str_to_f64(cell[5], &groups) &&
              str_to_f64(cell[6], &r->mean_error) && str_to_f64(cell[7], &r->median_error) &&
              str_to_f64(cell[8], &r->low) && str_to_f64(cell[9], &r->high) && rows >= 0 &&
              rows < 1e9 && groups >= 0 && groups < 1e9;
    r->rows = ok ? (uint32_t)rows : 0;
    r->groups = ok ? (uint32_t)groups : 0;
    for (int j = 0; ok && j < RUNTIME_TERMS; j++)
        ok = str_to_f64(cell[FIXED_COLUMNS + j], &r->c[j]) && r->c[j] >= 0;
    return ok && r->low > 0 && r->low <= r->high;
}

assay_status runtime_table_csv(str text, arena *a, runtime_table *out, assay_error *err)
{
    csv c = csv_of(text, a);
    str cells[CELLS + 1];
    int n = csv_more(&c) ? csv_line(&c, cells, CELLS + 1) : -1;
    if (n != CELLS)
        return err_fail(err, ASSAY_ERR_MALFORMED, "runtimes.csv: the header has not %d columns",
                        (int)CELLS);
    while (csv_more(&c)) {
        runtime_row r;
        if (csv_line(&c, cells, CELLS + 1) != CELLS || !read_row(cells, &r))
            return err_fail(err, ASSAY_ERR_MALFORMED, "runtimes.csv: row %u is not complete",
                            out->rows.n + 1);
        TRY_MEMORY(VEC_ADD(a, &out->rows, r), err);
    }
    return ASSAY_OK;
}

assay_status runtime_table_read(arena *a, runtime_table *out, assay_error *err)
{
    for (const embedded_file *f = embedded_files; f->name; f++)
        if (strcmp(f->name, "runtimes.csv") == 0)
            return runtime_table_csv((str){f->data, (uint32_t)f->size}, a, out, err);
    return err_fail(err, ASSAY_ERR_SYSTEM, "this build has no table of runtimes");
}

/* 3: the device itself, 2: its class, 1: any, 0: another's. */
static int closeness(const runtime_row *r, const device *d)
{
    if (!str_is(r->device, "*"))
        return str_eq(r->device, d->id) ? 3 : 0;
    return str_is(r->kind, "*") ? 1 : str_eq(r->kind, d->kind) ? 2 : 0;
}

const runtime_row *runtime_row_for(const runtime_table *t, const device *d, const runtime *r)
{
    const runtime_row *best = NULL;
    int most = 0;
    for (uint32_t i = 0; i < t->rows.n; i++) {
        const runtime_row *x = &t->rows.items[i];
        int close = str_is(x->runtime, r->rows) ? closeness(x, d) : 0;
        if (close > most) {
            most = close;
            best = x;
        }
    }
    return best;
}

/* ---- time ---- */

#define USUAL_UNITS 16.0

void runtime_rates(const device *d, device_precision p, double out[RUNTIME_TERMS])
{
    double units = d->units > 0 ? d->units : USUAL_UNITS;
    for (int j = 0; j < RUNTIME_TERMS; j++)
        out[j] = j < TERM_CORE_BYTES ? 1 / d->peak[p] : 1 / d->bandwidth;
    out[TERM_DEPTHWISE] = 1 / device_vector_peak(d, p);
    out[TERM_WAVE] = units / d->peak[p];
    out[TERM_KERNELS] = d->overhead_s;
}

double runtime_limit(const double rates[RUNTIME_TERMS], const double x[RUNTIME_TERMS])
{
    double products = 0, moving = 0;
    for (int j = TERM_CONV; j <= TERM_DEPTHWISE; j++)
        products += rates[j] * x[j];
    for (int j = TERM_CORE_BYTES; j <= TERM_POOL_BYTES; j++)
        moving += rates[j] * x[j];
    return products > moving ? products : moving;
}

runtime_time runtime_predict(const runtime_row *row, const runtime *r,
                             const double rates[RUNTIME_TERMS], const double x[RUNTIME_TERMS],
                             double limit)
{
    double work = 0, waits = x[TERM_KERNELS] * r->gap_s;
    for (int j = 0; j < RUNTIME_TERMS; j++)
        work += row->c[j] * rates[j] * x[j];
    double s = work > waits ? work : waits;
    s = s > limit ? s : limit;
    runtime_time t = {.seconds = s, .low_s = s * row->low, .high_s = s * row->high};
    t.low_s = t.low_s > limit ? t.low_s : limit;
    t.low_s = t.low_s < s ? t.low_s : s;
    t.high_s = t.high_s > s ? t.high_s : s;
    return t;
}
