/* Files of operator rules on arbitrary bytes: parsing, and a small graph counted by what they describe. */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "ir/build.h"
#include "ir/verify.h"
#include "ops/user_ops.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ir_id add_input(ir_model *m, const char *name, ir_dtype t, int rank, const int64_t *dims)
{
    ir_id id = ir_add_value(m, 0, str_of(name));
    ir_value_at(m, id)->declared = ir_tensor_type(m, t, rank, dims);
    ir_add_input(m, 0, id);
    return id;
}

/* A node of the operator that reads `x` in every slot it needs, with attributes n and list. */
static void add_node(ir_model *m, const op_row *row, ir_id x)
{
    static const int64_t list[] = {2, -3};
    static const ir_attr attrs[] = {
        {.name = {"n", 1}, .kind = IR_ATTR_INT, .v.i = 3},
        {.name = {"list", 4}, .kind = IR_ATTR_INTS, .n = 2, .v.ints = list}};
    ir_id in[32], out = ir_add_value(m, 0, STR(""));
    for (uint32_t i = 0; i < 32; i++)
        in[i] = x;
    ir_add_node(m, 0,
                &(ir_node){.name = STR("node"),
                           .domain = str_of(row->domain),
                           .op = str_of(row->name),
                           .inputs = in,
                           .n_inputs = row->min_in,
                           .outputs = &out,
                           .n_outputs = 1,
                           .attrs = attrs,
                           .n_attrs = 2});
    ir_add_output(m, 0, out);
}

static void count_it(const ir_model *m, const op_rows *ops)
{
    arena *work = arena_new(LIMIT_BYTES);
    profile *p = profile_new(LIMIT_BYTES);
    infer_result *r = NULL;
    counted of;
    const infer_options opt = {.user_ops = ops};
    assay_error err = {0};
    if (work && p && infer_run(m, &opt, work, &r, &err) == ASSAY_OK)
        count_run(r, NULL, p, &of, &err);
    profile_free(p);
    arena_free(work);
}

/* Each operator alone: an error of one must not hide the others. */
static void apply_rules(const op_rows *ops)
{
    const int64_t dims[] = {2, 3, 5};
    for (uint32_t i = 0; i < ops->n && i < 16; i++) {
        ir_model *m = NULL;
        assay_error err = {0};
        if (ir_model_new(LIMIT_BYTES, &m, &err) != ASSAY_OK)
            return;
        add_node(m, &ops->rows[i], add_input(m, "x", IR_FLOAT32, 3, dims));
        count_it(m, ops);
        ir_model_free(m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(LIMIT_BYTES);
    assay_error err = {0};
    const op_rows *ops = NULL;
    str text = {(const char *)data, (uint32_t)size};
    if (a && size <= USER_FILE_BYTES && user_ops_parse(text, "fuzz", a, &ops, &err) == ASSAY_OK)
        apply_rules(ops);
    arena_free(a);
    return 0;
}
