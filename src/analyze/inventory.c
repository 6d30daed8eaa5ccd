/* Summary of weights without a graph. */
#include "analyze/inventory.h"

#include <stdlib.h>

#include "analyze/count.h"
#include "base/memory.h"
#include "base/num.h"

static int by_bytes(const void *a, const void *b)
{
    const ir_tensor *x = *(const ir_tensor *const *)a, *y = *(const ir_tensor *const *)b;
    uint64_t p = count_stored_as(NULL, x).bytes, q = count_stored_as(NULL, y).bytes;
    return p != q ? (p < q ? 1 : -1) : str_cmp(x->name, y->name);
}

static profile_weight describe(profile *p, const ir_tensor *t)
{
    profile_weight w = {.name = str_copy(p->arena, t->name),
                        .dtype = str_copy(p->arena, t->stored),
                        .shape = {.rank = t->rank},
                        .elements = t->n_elems,
                        .bytes = count_stored_as(NULL, t).bytes};
    if (t->rank)
        w.shape.dims = arena_copy(p->arena, t->dims, (size_t)t->rank * sizeof *t->dims);
    return w;
}

static assay_status list_largest(const ir_model *m, profile *p, assay_error *err)
{
    uint32_t n = 0, shown = m->values.n < PROFILE_LARGEST ? m->values.n : PROFILE_LARGEST;
    const ir_tensor **all = memory_zeroed((size_t)m->values.n + 1, sizeof *all);
    profile_weight *list = ARENA_ARRAY(p->arena, profile_weight, (size_t)shown + 1);
    for (ir_id id = 0; all && id < m->values.n; id++)
        if (ir_value_at(m, id)->constant)
            all[n++] = ir_value_at(m, id)->constant;
    if (all && n)
        qsort(all, n, sizeof *all, by_bytes);
    shown = n < shown ? n : shown;
    for (uint32_t i = 0; all && list && i < shown; i++)
        list[i] = describe(p, all[i]);
    free(all);
    p->inventory.largest = list;
    p->inventory.n_largest = shown;
    return all && list ? ASSAY_OK : err_no_memory(err);
}

static void add_up(const ir_model *m, profile *p, profile_bytes_by_dtype *rows)
{
    profile_architecture *a = &p->architecture;
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (!v->constant)
            continue;
        bool param = v->flags & IR_VALUE_PARAM;
        uint64_t *sum = param ? &a->total_parameters : &a->buffers;
        *sum = sat_add(*sum, v->constant->n_elems);
        const count_stored stored = count_stored_as(NULL, v->constant);
        a->weight_bytes = sat_add(a->weight_bytes, stored.bytes);
        count_dtype(p, rows, &stored, v->constant->n_elems);
        p->inventory.tensors++;
    }
    a->dtypes = rows;
    a->trainable_parameters = a->total_parameters;
    p->inventory.elements = sat_add(a->total_parameters, a->buffers);
    p->inventory.bytes = a->weight_bytes;
}

assay_status inventory_run(const ir_model *m, profile *p, assay_error *err)
{
    profile_bytes_by_dtype *rows = ARENA_ARRAY(p->arena, profile_bytes_by_dtype, COUNT_DTYPES_MAX);
    if (!rows)
        return err_no_memory(err);
    p->model = str_copy(p->arena, m->name);
    p->format = str_copy(p->arena, m->format);
    p->lens = str_of(lens_table[0].name);
    p->architecture.file_size_bytes = m->file_size_bytes;
    p->bottlenecks.threshold = BAND_COMPUTE_FROM;
    p->inventory.present = true;
    p->anything_assumed = true;
    add_up(m, p, rows);
    p->total_parameters = p->architecture.total_parameters;
    p->memory_plan.weights_bytes = p->memory_plan.peak_bytes = p->architecture.weight_bytes;
    notes_join(&p->warnings, &m->notes);
    return list_largest(m, p, err);
}
