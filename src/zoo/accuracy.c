/* See accuracy.h. */
#include "zoo/accuracy.h"

#include "base/csv.h"
#include "base/embedded.h"

enum { COLUMNS = 5 };

static assay_status read_rows(str text, arena *a, zoo_accuracies *out, assay_error *err)
{
    csv c = csv_of(text, a);
    str cell[COLUMNS];
    int n = csv_more(&c) ? csv_line(&c, cell, COLUMNS) : -1;
    while (n == COLUMNS && csv_more(&c)) {
        zoo_accuracy r = {0};
        n = csv_line(&c, cell, COLUMNS);
        if (n != COLUMNS || !str_to_f64(cell[2], &r.value))
            break;
        r.model = cell[0];
        r.metric = cell[1];
        r.weights = cell[3];
        r.source = cell[4];
        TRY_MEMORY(VEC_ADD(a, &out->rows, r), err);
    }
    return csv_more(&c) || !out->rows.n
               ? err_fail(err, ASSAY_ERR_MALFORMED, "accuracy.csv: row %u is not complete",
                          out->rows.n + 1)
               : ASSAY_OK;
}

assay_status zoo_accuracies_read(arena *a, zoo_accuracies *out, assay_error *err)
{
    for (const embedded_file *f = embedded_files; f->name; f++)
        if (strcmp(f->name, "accuracy.csv") == 0)
            return read_rows((str){f->data, (uint32_t)f->size}, a, out, err);
    return err_fail(err, ASSAY_ERR_SYSTEM, "this build has no table of accuracies");
}

const zoo_accuracy *zoo_accuracy_of(const zoo_accuracies *t, const char *model)
{
    for (uint32_t i = 0; i < t->rows.n; i++)
        if (str_is(t->rows.items[i].model, model))
            return &t->rows.items[i];
    return NULL;
}
