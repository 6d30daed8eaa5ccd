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

static void add_sums(const ir_value *v, const count_stored *stored, profile *p, bool alone)
{
    const uint64_t n = v->constant->n_elems;
    profile_inventory *i = &p->inventory;
    i->tensors++;
    i->elements = sat_add(i->elements, n);
    i->bytes = sat_add(i->bytes, stored->bytes);
    if (v->flags & IR_VALUE_TRAINING)
        i->training_elements = sat_add(i->training_elements, n);
    if (alone && v->flags & IR_VALUE_PARAM)
        p->architecture.total_parameters = sat_add(p->architecture.total_parameters, n);
    if (alone && v->flags & IR_VALUE_BUFFER)
        p->architecture.buffers = sat_add(p->architecture.buffers, n);
}

static bool list_files(const ir_model *m, profile *p)
{
    profile_file *files = ARENA_ARRAY(p->arena, profile_file, (size_t)m->n_files + 1);
    for (uint32_t i = 0; files && i < m->n_files; i++)
        files[i] = (profile_file){str_copy(p->arena, m->files[i].name), m->files[i].size_bytes};
    p->inventory.files = files;
    p->inventory.n_files = files ? m->n_files : 0;
    return files != NULL;
}

static void add_up(const ir_model *m, profile *p, dtype_sums *all, dtype_sums *own)
{
    profile_architecture *a = &p->architecture;
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (!v->constant)
            continue;
        const count_stored stored = count_stored_as(NULL, v->constant);
        add_sums(v, &stored, p, true);
        count_dtype(all, &stored, v->constant->n_elems);
        if (!(v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER)))
            continue;
        a->weight_bytes = sat_add(a->weight_bytes, stored.bytes);
        count_dtype(own, &stored, v->constant->n_elems);
    }
    a->trainable_parameters = a->total_parameters;
    a->dtypes = own->rows;
    a->n_dtypes = own->n;
    p->inventory.dtypes = all->rows;
    p->inventory.n_dtypes = all->n;
}

assay_status inventory_run(const ir_model *m, profile *p, assay_error *err)
{
    dtype_sums all, own;
    if (!count_dtypes_begin(&all, p->arena) || !count_dtypes_begin(&own, p->arena) ||
        !list_files(m, p))
        return err_no_memory(err);
    p->model = str_copy(p->arena, m->name);
    p->format = str_copy(p->arena, m->format);
    p->lens = str_of(lens_table[0].name);
    p->architecture.file_size_bytes = m->file_size_bytes;
    p->bottlenecks.threshold = BAND_COMPUTE_FROM;
    p->inventory.present = p->inventory.alone = true;
    p->anything_assumed = true;
    add_up(m, p, &all, &own);
    p->total_parameters = p->architecture.total_parameters;
    p->memory_plan.weights_bytes = p->memory_plan.peak_bytes = p->architecture.weight_bytes;
    notes_join(&p->warnings, &m->notes);
    return list_largest(m, p, err);
}

assay_status inventory_beside(const ir_model *m, profile *p, assay_error *err)
{
    dtype_sums all;
    TRY_MEMORY(count_dtypes_begin(&all, p->arena) && list_files(m, p), err);
    p->inventory.present = true;
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (!v->constant)
            continue;
        const count_stored stored = count_stored_as(NULL, v->constant);
        add_sums(v, &stored, p, false);
        count_dtype(&all, &stored, v->constant->n_elems);
    }
    p->inventory.dtypes = all.rows;
    p->inventory.n_dtypes = all.n;
    return list_largest(m, p, err);
}
