/* data/zoo_names.csv: the sums of the names of every built-in model's weights (zoo/names.h). */
#include "zoo/names.h"

#include "base/sbuf.h"
#include "describe.h"

static assay_status put_row(sbuf *b, const zoo_row *row, assay_error *err)
{
    ir_model *m = NULL;
    zoo_names sum;
    arena *scratch = arena_new(SIZE_MAX);
    const zoo_request q = {.row = row, .memory_limit = SIZE_MAX};
    assay_status status = scratch ? zoo_build(&q, &m, err) : err_no_memory(err);
    if (status == ASSAY_OK && !zoo_names_of(m, scratch, &sum))
        status = err_no_memory(err);
    if (status == ASSAY_OK)
        sbuf_printf(b, "%s,%u,%016llx,%016llx\n", row->name, sum.n, (unsigned long long)sum.exact,
                    (unsigned long long)sum.plain);
    ir_model_free(m);
    arena_free(scratch);
    return status;
}

assay_status put_zoo_names(sbuf *b, assay_error *err)
{
    sbuf_puts(b, "name,tensors,exact,plain\n");
    for (uint32_t i = 0; i < zoo_count(); i++)
        if (zoo_names_has(zoo_at(i)))
            TRY(put_row(b, zoo_at(i), err));
    return ASSAY_OK;
}
