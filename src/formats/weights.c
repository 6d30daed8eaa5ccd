/* Sets of weights: collects them, checks their locations, and builds the model of constants. */
#include "formats/weights.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/num.h"
#include "ir/kit.h"

weight_set *weight_set_new(arena *a, const char *format, uint32_t expected)
{
    weight_set *w = ARENA_NEW(a, weight_set);
    if (!w || !map_init(&w->by_name, a, expected))
        return NULL;
    w->arena = a;
    w->format = str_of(format);
    notes_init(&w->notes, a);
    return w;
}

uint32_t weight_set_file(weight_set *w, str name, uint64_t size_bytes)
{
    weight_file *f = VEC_PUSH(w->arena, &w->files);
    if (!f)
        return UINT32_MAX;
    *f = (weight_file){.name = str_copy(w->arena, name), .size_bytes = size_bytes};
    w->file_bytes = sat_add(w->file_bytes, size_bytes);
    return f->name.p ? w->files.n - 1 : UINT32_MAX;
}

assay_status weight_set_add(weight_set *w, const weight_item *item, const char *shown,
                            assay_error *err)
{
    uint64_t elems, bytes;
    uint32_t known = w->by_name.n;
    TRY_MEMORY(map_put(&w->by_name, item->name, w->items.n), err);
    if (w->by_name.n == known)
        return err_fail_node(err, ASSAY_ERR_MALFORMED, item->name.p,
                             "%s: duplicate tensor '" STR_FMT "'", shown, STR_ARG(item->name));
    if (!num_addu(w->n_elems, item->n_elems, &elems) || elems >= NUM_SATURATED ||
        !num_addu(w->size_bytes, item->size_bytes, &bytes) || bytes >= NUM_SATURATED)
        return err_fail_node(err, ASSAY_ERR_MALFORMED, item->name.p,
                             "%s: total size exceeds 2^63 at tensor '" STR_FMT "'", shown,
                             STR_ARG(item->name));
    TRY_MEMORY(VEC_ADD(w->arena, &w->items, *item), err);
    w->n_elems = elems;
    w->size_bytes = bytes;
    return ASSAY_OK;
}

str weights_type(const weight_set *w)
{
    enum { TYPES_MAX = 96 };
    struct {
        str name;
        uint64_t bytes;
    } types[TYPES_MAX];
    uint32_t n = 0, most = 0;
    for (uint32_t i = 0; i < w->items.n; i++) {
        const weight_item *x = &w->items.items[i];
        uint32_t k = 0;
        while (k < n && !str_eq(types[k].name, x->stored))
            k++;
        if (k == TYPES_MAX)
            continue;
        if (k == n) {
            types[n].name = x->stored;
            types[n++].bytes = 0;
        }
        types[k].bytes = sat_add(types[k].bytes, x->size_bytes);
        most = types[k].bytes > types[most].bytes ? k : most;
    }
    return n ? types[most].name : (str){0};
}

ir_dtype weights_native(const weight_set *w, ir_dtype configured)
{
    ir_dtype t = ir_dtype_by_name(weights_type(w));
    if (!ir_is_float(t) || ir_dtype_get(t)->bits < 16)
        return configured;
    return t == IR_FLOAT32 ? IR_UNDEFINED : t;
}

const weight_item *weight_set_get(const weight_set *w, str name)
{
    uint32_t at = map_get(&w->by_name, name);
    return at == MAP_NONE ? NULL : &w->items.items[at];
}

/* ---- places ---- */

static int by_place(const void *a, const void *b)
{
    const weight_item *x = *(const weight_item *const *)a, *y = *(const weight_item *const *)b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->size_bytes != y->size_bytes)
        return x->size_bytes < y->size_bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

static uint64_t round_up(uint64_t n, uint64_t align)
{
    uint64_t over = n % align;
    return over && n <= UINT64_MAX - align ? n + (align - over) : n;
}

static assay_status fail_place(const char *shown, const weight_item *x, const weight_item *before,
                               uint64_t expected, assay_error *err)
{
    if (x->offset < expected && before)
        return err_fail_at(
            err, ASSAY_ERR_MALFORMED, x->offset,
            "%s: data of tensors '" STR_FMT "' and '" STR_FMT "' overlaps at byte %llu", shown,
            STR_ARG(before->name), STR_ARG(x->name), (unsigned long long)x->offset);
    return err_fail_at(err, ASSAY_ERR_MALFORMED, expected < x->offset ? expected : x->offset,
                       "%s: data of tensor '" STR_FMT
                       "' starts at byte %llu instead of %llu, where the previous data ends",
                       shown, STR_ARG(x->name), (unsigned long long)x->offset,
                       (unsigned long long)expected);
}

static assay_status walk_places(const weight_item **sorted, uint32_t n, uint64_t start,
                                uint64_t end, uint64_t align, const char *shown, assay_error *err)
{
    uint64_t expected = start;
    for (uint32_t i = 0; i < n; i++) {
        const weight_item *x = sorted[i];
        if (x->offset != expected)
            return fail_place(shown, x, i ? sorted[i - 1] : NULL, expected, err);
        if (x->size_bytes > end || x->offset > end - x->size_bytes)
            return err_fail_at(
                err, ASSAY_ERR_MALFORMED, x->offset,
                "%s: data of tensor '" STR_FMT "' ends at byte %llu, but the file ends at byte "
                "%llu: it is truncated or its header is wrong",
                shown, STR_ARG(x->name), (unsigned long long)sat_add(x->offset, x->size_bytes),
                (unsigned long long)end);
        expected = round_up(x->offset + x->size_bytes, align);
    }
    if (align == 1 && expected != end)
        return err_fail_at(err, ASSAY_ERR_MALFORMED, expected,
                           "%s: the last %llu bytes belong to no tensor", shown,
                           (unsigned long long)(end - expected));
    return ASSAY_OK;
}

assay_status weight_set_check_places(const weight_set *w, uint32_t first, uint64_t start,
                                     uint64_t end, uint64_t align, const char *shown,
                                     assay_error *err)
{
    uint32_t n = w->items.n - first;
    const weight_item **sorted = memory_zeroed((size_t)n + 1, sizeof *sorted);
    TRY_MEMORY(sorted, err);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = &w->items.items[first + i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_place);
    assay_status s = walk_places(sorted, n, start, end, align, shown, err);
    free(sorted);
    return s;
}

/* ---- no graph ---- */

static uint32_t flags_of(const weight_item *x)
{
    static const uint32_t flags[] = {[WEIGHT_ROLE_PARAMETER] = IR_VALUE_PARAM,
                                     [WEIGHT_ROLE_BUFFER] = IR_VALUE_BUFFER,
                                     [WEIGHT_ROLE_OTHER] = IR_VALUE_NOT_PARAM,
                                     [WEIGHT_ROLE_TRAINING] = IR_VALUE_NOT_PARAM |
                                                              IR_VALUE_TRAINING};
    weight_role by_type = x->integer ? WEIGHT_ROLE_BUFFER : WEIGHT_ROLE_PARAMETER;
    return flags[x->role == WEIGHT_ROLE_UNTOLD ? by_type : x->role];
}

static bool add_constant(ir_model *m, const weight_item *x)
{
    ir_dtype dtype = ir_dtype_by_name(x->stored);
    ir_tensor *t = ARENA_NEW(m->arena, ir_tensor);
    if (!t)
        return false;
    *t = (ir_tensor){
        .name = str_copy(m->arena, x->name),
        .dtype = dtype == IR_UNDEFINED ? IR_FLOAT32 : dtype,
        .rank = x->rank,
        .dims = x->rank ? arena_copy(m->arena, x->dims, (size_t)x->rank * sizeof *x->dims) : NULL,
        .n_elems = x->n_elems,
        .n_stored = x->n_elems,
        .stored = str_copy(m->arena, x->stored),
        .stored_bytes = x->size_bytes};
    t->size_bytes = ir_dtype_bytes(t->dtype, t->n_elems);
    return ir_kit_const_of(m, 0, t->name, t, flags_of(x)) != IR_NONE;
}

static bool list_files(ir_model *m, const weight_set *w)
{
    m->files = ARENA_ARRAY(m->arena, ir_file, (size_t)w->files.n + 1);
    for (uint32_t i = 0; m->files && i < w->files.n; i++)
        m->files[i] = (ir_file){str_copy(m->arena, w->files.items[i].name),
                                w->files.items[i].size_bytes};
    m->n_files = m->files ? w->files.n : 0;
    return m->files != NULL;
}

assay_status weights_inventory(const weight_set *w, size_t memory_limit, ir_model **out,
                               assay_error *err)
{
    ir_model *m = NULL;
    TRY(ir_model_new(memory_limit, &m, err));
    m->format = w->format;
    m->file_size_bytes = w->file_bytes;
    m->inventory = true;
    bool good = list_files(m, w);
    for (uint32_t i = 0; i < w->items.n && good; i++)
        good = add_constant(m, &w->items.items[i]);
    notes_join(&m->notes, &w->notes);
    if (!good || arena_failed(m->arena)) {
        ir_model_free(m);
        return err_no_memory(err);
    }
    *out = m;
    return ASSAY_OK;
}
