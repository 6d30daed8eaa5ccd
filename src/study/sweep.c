/* See sweep.h: rows, cells, best and Pareto front. Machines are in sweep_machines.c. */

#include "base/num.h"
#include "study/fleet.h"
#include "study/sweep_impl.h"

/* ---- tasks and records ---- */

bool sweep_is_noisy(const history_record *r)
{
    for (uint32_t i = 0; i < r->n_tags; i++)
        if (str_is(r->tags[i], SWEEP_NOISY_TAG))
            return true;
    return false;
}

assay_status sweep_match(const sweep_plan *plan, const history_list *records, arena *a,
                         const history_record ***out, assay_error *err)
{
    const history_record **of = ARENA_ARRAY(a, const history_record *, plan->n_tasks);
    *out = of;
    if (!of && plan->n_tasks)
        return err_no_memory(err);
    for (uint32_t i = 0; i < records->n; i++) {
        const history_record *r = &records->records[i];
        if (r->task >= 0 && r->task < plan->n_tasks)
            of[r->task] = r;
    }
    return ASSAY_OK;
}

int64_t sweep_expected_end(const history_list *records, uint32_t left, int64_t now_s)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t i = 0; i < records->n; i++) {
        int64_t t = records->records[i].created_s;
        first = t < first ? t : first;
        last = t > last ? t : last;
    }
    if (!left || records->n < 2 || last <= first)
        return INT64_MIN;
    double each = (double)(last - first) / (double)(records->n - 1);
    return now_s + (int64_t)(each * left + 0.5);
}

static double figure_of(const history_record *r, int which)
{
    return r ? r->figures[which].v : NAN;
}

static void fill_row(const sweep_task *t, const history_record *r, arena *a, sweep_row *row)
{
    *row = (sweep_row){.task = t->task,
                       .model = t->model,
                       .device = t->device,
                       .node_class = t->node_class,
                       .config = sweep_config_text(t, a),
                       .batch = t->batch,
                       .threads = t->threads,
                       .precision = t->precision,
                       .repeat = t->repeat,
                       .record = r ? r->id : INT64_MIN,
                       .created_s = r ? r->created_s : INT64_MIN,
                       .noisy = r && sweep_is_noisy(r),
                       .figures = {.p50_ms = figure_of(r, HISTORY_P50),
                                   .p95_ms = figure_of(r, HISTORY_P95),
                                   .mean_ms = figure_of(r, HISTORY_MEAN),
                                   .throughput = figure_of(r, HISTORY_THROUGHPUT),
                                   .memory_bytes = figure_of(r, HISTORY_MEMORY)}};
    if (r)
        row->machine = r->machine;
}

/* ---- cells ---- */

bool sweep_rows_equal(const sweep_row *a, const sweep_row *b)
{
    return a->batch == b->batch && a->threads == b->threads && str_eq(a->model, b->model) &&
           str_eq(a->precision, b->precision) && str_eq(a->device, b->device) &&
           str_eq(a->node_class, b->node_class);
}

/* The median of one figure over the rows of a cell. */
static double median_of(const sweep_row *rows, uint32_t n, size_t at, double *work)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < n; i++) {
        double v = *(const double *)((const char *)&rows[i].figures + at);
        if (isfinite(v))
            work[known++] = v;
    }
    return known ? num_median(work, known) : NAN;
}

static str place_of(const sweep_row *r, arena *a)
{
    return r->node_class.n
               ? str_printf(a, STR_FMT " · " STR_FMT, STR_ARG(r->device), STR_ARG(r->node_class))
               : r->device;
}

#define MEDIAN(member) .member = median_of(rows, n, offsetof(sweep_figures, member), work)

static void fill_cell(const sweep_row *rows, uint32_t n, double *work, arena *a, sweep_cell *c)
{
    *c = (sweep_cell){.model = rows->model,
                      .place = place_of(rows, a),
                      .device = rows->device,
                      .node_class = rows->node_class,
                      .config = rows->config,
                      .batch = rows->batch,
                      .threads = rows->threads,
                      .precision = rows->precision,
                      .repeats = n,
                      .figures = {MEDIAN(p50_ms), MEDIAN(p95_ms), MEDIAN(mean_ms),
                                  MEDIAN(throughput), MEDIAN(memory_bytes)}};
    for (uint32_t i = 0; i < n; i++) {
        c->records += rows[i].record != INT64_MIN;
        c->noisy += rows[i].noisy;
    }
}

/* Repeats stand together: plans are made so (jobs/sweep_plan.c); others get a cell each time. */
static void make_cells(sweep_report *r, sweep_cell *cells, double *work, arena *a)
{
    for (uint32_t from = 0, to; from < r->n_rows; from = to) {
        for (to = from + 1; to < r->n_rows && sweep_rows_equal(&r->rows[from], &r->rows[to]);)
            to++;
        fill_cell(&r->rows[from], to - from, work, a, &cells[r->n_cells++]);
    }
    r->cells = cells;
}

/* ---- best and Pareto ---- */

typedef struct goal {
    const char *name, *unit;
    size_t at, flag_at;
    bool more;
} goal;

static const goal goals[] = {
    {"latency", "ms", offsetof(sweep_figures, p50_ms), offsetof(sweep_cell, best_latency), false},
    {"throughput", "1/s", offsetof(sweep_figures, throughput),
     offsetof(sweep_cell, best_throughput), true},
    {"memory", "bytes", offsetof(sweep_figures, memory_bytes), offsetof(sweep_cell, best_memory),
     false},
};
enum { N_GOALS = sizeof goals / sizeof *goals };

/* So that less is better; what was not measured is the worst. */
static double cost_of(const sweep_cell *c, const goal *g)
{
    double v = *(const double *)((const char *)&c->figures + g->at);
    return !isfinite(v) ? INFINITY : g->more ? -v : v;
}

static bool dominates(const sweep_cell *a, const sweep_cell *b)
{
    bool better = false;
    for (int g = 0; g < N_GOALS; g++) {
        double x = cost_of(a, &goals[g]), y = cost_of(b, &goals[g]);
        if (x > y)
            return false;
        better = better || x < y;
    }
    return better;
}

static bool on_front(const sweep_report *r, const sweep_cell *c)
{
    if (!c->records)
        return false;
    for (uint32_t i = 0; i < r->n_cells; i++)
        if (str_eq(r->cells[i].model, c->model) && dominates(&r->cells[i], c))
            return false;
    return true;
}

static sweep_cell *best_of(sweep_cell *cells, uint32_t n, str model, const goal *g)
{
    sweep_cell *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(cells[i].model, model) && cost_of(&cells[i], g) < INFINITY &&
            (!best || cost_of(&cells[i], g) < cost_of(best, g)))
            best = &cells[i];
    return best;
}

static void choose_best(const sweep_plan *plan, sweep_report *r, sweep_cell *cells,
                        sweep_best *best)
{
    for (uint32_t m = 0; m < plan->n_models; m++)
        for (int g = 0; g < N_GOALS; g++) {
            sweep_cell *c = best_of(cells, r->n_cells, plan->models[m].name, &goals[g]);
            if (!c)
                continue;
            *(bool *)((char *)c + goals[g].flag_at) = true;
            best[r->n_best++] = (sweep_best){
                .model = c->model,
                .goal = goals[g].name,
                .place = c->place,
                .config = c->config,
                .value = *(const double *)((const char *)&c->figures + goals[g].at),
                .unit = goals[g].unit};
        }
    r->best = best;
}

/* ---- the whole ---- */

static void list_missing(sweep_report *r, uint64_t *missing)
{
    for (uint32_t i = 0; i < r->n_rows; i++) {
        r->done += r->rows[i].record != INT64_MIN;
        r->noisy += r->rows[i].noisy;
        if (r->rows[i].record == INT64_MIN)
            missing[r->n_missing++] = (uint64_t)r->rows[i].task;
    }
    r->missing = missing;
}

assay_status sweep_report_make(const sweep_plan *plan, const history_list *records, arena *a,
                               sweep_report *r, assay_error *err)
{
    const history_record **of;
    const uint32_t n = plan->n_tasks;
    sweep_row *rows = ARENA_ARRAY(a, sweep_row, n + 1);
    sweep_cell *cells = ARENA_ARRAY(a, sweep_cell, n + 1);
    sweep_best *best = ARENA_ARRAY(a, sweep_best, (size_t)plan->n_models * N_GOALS + 1);
    uint64_t *missing = ARENA_ARRAY(a, uint64_t, n + 1);
    double *work = ARENA_ARRAY(a, double, n + 1);
    TRY_MEMORY(rows && cells && best && missing && work, err);
    TRY(sweep_match(plan, records, a, &of, err));
    for (uint32_t i = 0; i < n; i++)
        fill_row(&plan->tasks[i], of[i], a, &rows[i]);
    *r = (sweep_report){.id = plan->id, .total = n, .rows = rows, .n_rows = n};
    list_missing(r, missing);
    make_cells(r, cells, work, a);
    for (uint32_t i = 0; i < r->n_cells; i++)
        cells[i].pareto = on_front(r, &cells[i]);
    choose_best(plan, r, cells, best);
    TRY(sweep_compare_machines(r, work, a, err));
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

/* ---- times of a run ---- */

static bool is_of_class(const history_record *r, str node_class)
{
    const uint32_t prefix = (uint32_t)strlen(FLEET_CLASS_PREFIX);
    for (uint32_t i = 0; i < r->n_tags; i++) {
        const str tag = r->tags[i];
        if (str_starts(tag, FLEET_CLASS_PREFIX) &&
            str_eq((str){tag.p + prefix, tag.n - prefix}, node_class))
            return true;
    }
    return false;
}

double sweep_recorded_run(const history_list *records, const sweep_task *t)
{
    double of_class = 0, of_all = 0;
    for (uint32_t i = 0; i < records->n; i++) {
        const history_record *r = &records->records[i];
        double ms = r->figures[HISTORY_MEAN].v;
        if (!(ms > 0) || r->batch != t->batch || !str_eq(r->precision, t->precision) ||
            !str_eq(r->device, t->device))
            continue;
        of_all = fmax(of_all, ms / 1e3);
        if (t->node_class.n && is_of_class(r, t->node_class))
            of_class = fmax(of_class, ms / 1e3);
    }
    return of_class > 0 ? of_class : of_all;
}
