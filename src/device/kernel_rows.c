/* Rows of data/kernels.csv: which table, how many measured rows, how far off when shapes are left out, coefficients. */

#include "base/csv.h"
#include "base/embedded.h"
#include "device/kernel.h"

enum { FIXED_COLUMNS = 12, CELLS = FIXED_COLUMNS + FIT_TERMS };

static bool read_count(str cell, uint32_t *out)
{
    double v;
    bool ok = str_to_f64(cell, &v) && v >= 0 && v < 4e9;
    *out = ok ? (uint32_t)v : 0;
    return ok;
}

static bool read_row(const str *cell, int n, kernel_row *r)
{
    r->family = cell[0];
    r->device = cell[1];
    r->dtype = cell[2];
    r->kernel = cell[3];
    r->framework = cell[4];
    r->version = cell[5];
    bool ok = read_count(cell[6], &r->rows) && read_count(cell[7], &r->groups) &&
              str_to_f64(cell[8], &r->mean_error) && str_to_f64(cell[9], &r->median_error) &&
              str_to_f64(cell[10], &r->low) && str_to_f64(cell[11], &r->high);
    for (int i = FIXED_COLUMNS; ok && i < n && cell[i].n; i++)
        ok = str_to_f64(cell[i], &r->c[r->n_terms++]);
    return ok && r->n_terms > 0 && kernel_family_find(r->family) != KERNEL_FAMILIES;
}

assay_status kernel_table_csv(str text, arena *a, kernel_table *out, assay_error *err)
{
    csv c = csv_of(text, a);
    str cells[CELLS];
    int n = csv_more(&c) ? csv_line(&c, cells, CELLS) : -1;
    if (n < FIXED_COLUMNS)
        return err_fail(err, ASSAY_ERR_MALFORMED, "kernels.csv: no header row");
    while (csv_more(&c)) {
        kernel_row r = {0};
        n = csv_line(&c, cells, CELLS);
        if (n <= FIXED_COLUMNS || !read_row(cells, n, &r))
            return err_fail(err, ASSAY_ERR_MALFORMED, "kernels.csv: row %u is not complete",
                            out->rows.n + 1);
        TRY_MEMORY(VEC_ADD(a, &out->rows, r), err);
    }
    return ASSAY_OK;
}

assay_status kernel_table_read(arena *a, kernel_table *out, assay_error *err)
{
    for (const embedded_file *f = embedded_files; f->name; f++)
        if (strcmp(f->name, "kernels.csv") == 0)
            return kernel_table_csv((str){f->data, (uint32_t)f->size}, a, out, err);
    return err_fail(err, ASSAY_ERR_SYSTEM, "this build has no table of kernels");
}
