/* Inputs from memory: assay_options_input() records a tensor of the caller; jobs/measure_inputs.c makes it fit. */
#include "api/api.h"
#include "base/num.h"

static assay_status check_input(const assay_input *t, ir_dtype dtype, assay_error *err)
{
    const char *name = t->name ? t->name : "";
    uint64_t n = 1;
    if (dtype == IR_UNDEFINED || dtype == IR_STRING)
        return err_fail(err, ASSAY_ERR_USAGE, "'%s' is not a supported element type of inputs",
                        t->dtype ? t->dtype : "");
    if (t->rank < 0 || t->rank > IR_MAX_RANK)
        return err_fail(err, ASSAY_ERR_USAGE, "input '%s' has %d dimensions; the limit is %d", name,
                        t->rank, IR_MAX_RANK);
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] < 0 || !num_mulu(n, (uint64_t)t->dims[i], &n) || n > NUM_SATURATED / 32)
            return err_fail(err, ASSAY_ERR_USAGE, "dimension %d of input '%s' cannot be %lld", i,
                            name, (long long)t->dims[i]);
    if (ir_dtype_bytes(dtype, n) != t->n_bytes || (t->n_bytes && !t->data))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the data of input '%s' has %llu bytes; its shape and type need %llu", name,
                        (unsigned long long)t->n_bytes,
                        (unsigned long long)ir_dtype_bytes(dtype, n));
    return ASSAY_OK;
}

assay_status assay_options_input(assay_options *options, const assay_input *input, assay_error *err)
{
    ir_dtype dtype = input->dtype ? ir_dtype_by_name(str_of(input->dtype)) : IR_UNDEFINED;
    api_begin(err);
    TRY(check_input(input, dtype, err));
    arena *a = options->arena;
    bool named = input->name && *input->name;
    infer_shape *s = VEC_PUSH(a, &options->model.shapes);
    job_input *in = VEC_PUSH(a, &options->measure.inputs);
    size_t n = (size_t)(input->rank ? input->rank : 1);
    int64_t none = 0;
    const int64_t *dims = arena_copy(a, input->rank ? input->dims : &none, sizeof *dims * n);
    str name = named ? str_copy(a, str_of(input->name)) : (str){0};
    if (!s || !in || !dims || arena_failed(a))
        return err_no_memory(err);
    *s = (infer_shape){.input = name, .rank = input->rank, .dims = dims};
    *in = (job_input){.name = name,
                      .in_memory = true,
                      .given = {.dtype = dtype,
                                .rank = input->rank,
                                .dims = dims,
                                .data = input->data,
                                .size_bytes = input->n_bytes}};
    return ASSAY_OK;
}
