/* Optionals: wrapping, asking, unwrapping. An optional uses op_info.length: 1 when it holds an
 * element, 0 when it is empty, -1 when that is not known. Nothing moves and nothing is computed.
 */
#include "ops/op_util_info.h"

static assay_status infer_optional(op_ctx *c)
{
    op_info elem = op_info_input(c, 0);
    const ir_attr *type = ir_attr_find(c->node, "type");
    bool given = op_has(c, 0);
    if (!given && type && type->kind == IR_ATTR_TYPE)
        TRY(op_info_of_type(c, type->v.type, &elem));
    if (elem.kind == IR_KIND_OPTIONAL)
        return op_fail(c, "the input is already an optional");
    TRY(op_set_optional(c, 0, &elem));
    if (c->n_out)
        c->out[0].length = given ? 1 : 0;
    return ASSAY_OK;
}

static assay_status infer_has_element(op_ctx *c)
{
    return op_set_scalar(c, 0, IR_BOOL);
}

static assay_status value_has_element(op_ctx *c)
{
    if (!op_has(c, 0))
        return op_put_scalar(c, 0, 0);
    const op_info *x = c->in[0];
    if (x->kind == IR_KIND_OPTIONAL)
        return x->length < 0 ? ASSAY_OK : op_put_scalar(c, 0, x->length != 0);
    return x->kind == IR_KIND_NONE ? ASSAY_OK : op_put_scalar(c, 0, 1);
}

static assay_status infer_get_element(op_ctx *c)
{
    op_info x = op_info_input(c, 0);
    if (x.kind == IR_KIND_OPTIONAL)
        x = x.elem ? *x.elem : op_info_none();
    op_info_put(c, 0, &x);
    return ASSAY_OK;
}

#define NOTHING "no arithmetic, nothing moves"

static const op_row rows[] = {
    {OP_ROW("", "Optional", "optional", "15", NOTHING, infer_optional, op_cost_free),
     OP_SLOTS(0, 1, 1, 1), .flags = OPF_DATA_MOVE | OPF_VIEW | OPF_NO_SHAPES,
     .backward = OP_BW_MOVE},
    {OP_ROW("", "OptionalHasElement", "optional", "15,18", NOTHING, infer_has_element,
            op_cost_free),
     OP_SLOTS(0, 1, 1, 1), .value = value_has_element,
     .flags = OPF_DATA_MOVE | OPF_SHAPE_ONLY | OPF_NO_SHAPES},
    {OP_ROW("", "OptionalGetElement", "optional", "15,18", NOTHING, infer_get_element,
            op_cost_free),
     OP_SLOTS(1, 1, 1, 1), .flags = OPF_DATA_MOVE | OPF_VIEW | OPF_NO_SHAPES,
     .backward = OP_BW_MOVE},
};

const op_rows op_optional_rows = OP_ROWS(rows);
