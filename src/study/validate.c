/* Counts a model by a convention and by assay's own rules, by operator type. A tool that counts a multiply-accumulate
 * as one FLOP is compared with MACs, one that counts two with FLOPs. */
#include "study/validate.h"

#include <assert.h>
#include <stdlib.h>

#define STUDY_BYTES ((size_t)256 << 20)

static uint64_t apart(const validation_type *t)
{
    return t->ours > t->theirs ? t->ours - t->theirs : t->theirs - t->ours;
}

static int by_difference(const void *a, const void *b)
{
    const validation_type *x = a, *y = b;
    uint64_t p = apart(x), q = apart(y);
    return p != q ? (p < q ? 1 : -1) : str_cmp(x->type, y->type);
}

static const profile_operation *find_type(const profile *p, str type)
{
    for (uint32_t i = 0; i < p->n_operations; i++)
        if (str_eq(p->operations[i].type, type))
            return &p->operations[i];
    return NULL;
}

/* Both profiles are of one model, so they have the same types. */
static bool collect_types(const profile *ours, const profile *theirs, bool in_flops, validation *v,
                          validation_row *row)
{
    validation_type *list = ARENA_ARRAY(v->arena, validation_type, (size_t)ours->n_operations + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; list && i < ours->n_operations; i++) {
        const profile_operation *o = &ours->operations[i], *t = find_type(theirs, o->type);
        list[n] = (validation_type){.type = str_copy(v->arena, o->type),
                                    .ours = in_flops ? o->flops : o->macs,
                                    .theirs = t ? t->flops : 0};
        list[n].difference = (int64_t)(list[n].theirs - list[n].ours);
        n += list[n].ours != list[n].theirs;
    }
    if (n)
        qsort(list, n, sizeof *list, by_difference);
    row->types = list;
    row->n_types = n;
    return list != NULL;
}

static int64_t input_side(const profile *p)
{
    const profile_tensor *in = p->n_inputs ? &p->inputs[0] : NULL;
    return in && in->shape.rank >= 1 ? in->shape.dims[in->shape.rank - 1] : 0;
}

static void look_up(const profile *p, str built_in, const lens *by, validation_row *row, arena *a)
{
    peer_count found;
    bool one = p->n_inputs && p->inputs[0].shape.rank > 0 && p->inputs[0].shape.dims[0] == 1;
    if (str_empty(built_in) || !one || !peer_find(built_in, input_side(p), by, &found))
        return;
    row->recorded = (validation_recorded){.present = true,
                                          .count = found.count,
                                          .setup = str_copy(a, found.setup),
                                          .equal = found.count == row->theirs,
                                          .difference = (int64_t)(row->theirs - found.count)};
}

static void compare_counts(validation_row *row)
{
    double off = (double)(row->ours > row->theirs ? row->ours - row->theirs
                                                  : row->theirs - row->ours) *
                 100.0;
    off = row->theirs ? off / (double)row->theirs : row->ours ? 100.0 : 0.0;
    row->difference_percent = row->ours < row->theirs ? -off : off;
    row->accuracy_percent = off > 100.0 ? 0.0 : 100.0 - off;
    row->verdict = row->ours == row->theirs     ? "equal"
                   : off < VALIDATION_TOLERANCE ? "acceptable"
                                                : "too large";
}

static assay_status fill_validation(infer_result *r, const lens *by, str built_in, validation *v,
                                    validation_row *row, profile *ours, profile *theirs,
                                    assay_error *err)
{
    const count_options plain = {0}, lensed = {.lens = by};
    bool in_flops = strcmp(by->unit, "FLOP") == 0;
    counted of;
    assert(ours && theirs);
    TRY(count_run(r, &plain, ours, &of, err));
    TRY(count_run(r, &lensed, theirs, &of, err));
    row->ours = in_flops ? ours->total_flops : ours->total_macs;
    row->theirs = theirs->total_flops;
    row->parameters = ours->total_parameters;
    row->assumed = ours->accounting.assumed;
    row->unknown = ours->accounting.unknown;
    compare_counts(row);
    look_up(ours, built_in, by, row, v->arena);
    return collect_types(ours, theirs, in_flops, v, row) ? ASSAY_OK : err_no_memory(err);
}

assay_status validate_model(const ir_model *m, const infer_options *shapes, str model, str built_in,
                            const lens *by, validation *v, assay_error *err)
{
    validation_row *row = VEC_PUSH(v->arena, &v->rows);
    arena *work = arena_new(STUDY_BYTES);
    profile *ours = profile_new(STUDY_BYTES), *theirs = profile_new(STUDY_BYTES);
    infer_result *r = NULL;
    v->tolerance_percent = VALIDATION_TOLERANCE;
    assay_status s = row && work && ours && theirs ? ASSAY_OK : err_no_memory(err);
    if (s == ASSAY_OK) {
        *row = (validation_row){
            .model = str_copy(v->arena, model), .lens = by->name, .unit = by->unit};
        s = infer_run(m, shapes, work, &r, err);
    }
    if (s == ASSAY_OK)
        s = fill_validation(r, by, built_in, v, row, ours, theirs, err);
    profile_free(ours);
    profile_free(theirs);
    arena_free(work);
    return s;
}
