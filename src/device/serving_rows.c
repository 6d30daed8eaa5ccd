/* Rows of data/serving.csv: what engines add to the kernels of a request, and how far off predictions are. */
#include <string.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "device/serving.h"

enum { CELLS = 12 };

static bool read_engine(const str *cell, int n, serving_engine *e)
{
    double *const numbers[] = {&e->wait,       &e->queue,    NULL,
                               &e->tpot_error, &e->tpot_low, &e->tpot_high,
                               &e->ttft_error, &e->ttft_low, &e->ttft_high};
    double rows = 0;
    bool ok = n == CELLS && cell[0].n && str_to_f64(cell[4], &rows) && rows >= 0 && rows < 4e9;
    for (int i = 0; ok && i < 9; i++)
        ok = !numbers[i] || str_to_f64(cell[i + 2], numbers[i]);
    e->name = cell[0];
    e->version = cell[1];
    e->source = cell[CELLS - 1];
    e->rows = ok ? (uint32_t)rows : 0;
    return ok && e->tpot_low > 0 && e->ttft_low > 0;
}

assay_status serving_engines_csv(str text, arena *a, serving_table *out, assay_error *err)
{
    csv c = csv_of(text, a);
    str cells[CELLS];
    if (!csv_more(&c) || csv_line(&c, cells, CELLS) != CELLS)
        return err_fail(err, ASSAY_ERR_MALFORMED, "serving.csv: the header has not %d columns",
                        CELLS);
    while (csv_more(&c)) {
        serving_engine e = {0};
        if (!read_engine(cells, csv_line(&c, cells, CELLS), &e))
            return err_fail(err, ASSAY_ERR_MALFORMED, "serving.csv: row %u is not complete",
                            out->engines.n + 1);
        TRY_MEMORY(VEC_ADD(a, &out->engines, e), err);
    }
    return out->engines.n ? ASSAY_OK
                          : err_fail(err, ASSAY_ERR_MALFORMED, "serving.csv: there are no rows");
}

assay_status serving_table_read(arena *a, serving_table *out, assay_error *err)
{
    TRY(kernel_table_read(a, &out->kernels, err));
    for (const embedded_file *f = embedded_files; f->name; f++)
        if (strcmp(f->name, "serving.csv") == 0)
            return serving_engines_csv((str){f->data, (uint32_t)f->size}, a, out, err);
    return err_fail(err, ASSAY_ERR_SYSTEM, "this build has no table of serving engines");
}

const serving_engine *serving_engine_find(const serving_table *t, str name)
{
    for (uint32_t i = 0; i < t->engines.n; i++)
        if (str_eq(t->engines.items[i].name, name))
            return &t->engines.items[i];
    return NULL;
}
