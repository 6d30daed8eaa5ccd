/* Lists of tensors in TFLite files: the TensorList operators of TensorFlow, which the converter keeps as Flex operators
 * (a Keras LSTM or GRU that was converted with "select TF ops" has them).
 *
 * A list that is made of a tensor is that tensor. A list that a loop fills, an item in each trip, is what the Loop
 * collects: the body's SetItem gives a scan output instead of a carried value (tflite_control.c), and the list has the
 * number of trips as its first axis. Any other use of a list stays an unknown operator. */
#include "formats/tflite/tflite_impl.h"

const tfl_list *tfl_list_of(const tfl_reader *r, ir_id value)
{
    for (uint32_t i = r->lists.n; i-- > 0 && value != IR_NONE;)
        if (r->lists.items[i].handle == value)
            return &r->lists.items[i];
    return NULL;
}

bool tfl_set_list(tfl_reader *r, ir_id handle, tfl_list_kind kind, ir_id value)
{
    tfl_list *l = handle == IR_NONE ? NULL : VEC_PUSH(r->f.scratch, &r->lists);
    if (l)
        *l = (tfl_list){handle, kind, value};
    return l != NULL;
}

static bool list_is(const tfl_op *o, tfl_list_kind kind)
{
    const tfl_list *l = tfl_list_of(o->r, o->in[0]);
    return l && l->kind == kind;
}

/* in: shape of an item, number of items. */
assay_status tfl_list_reserve(tfl_op *o, bool *mapped)
{
    *mapped = tfl_set_list(o->r, o->out[0], TFL_LIST_EMPTY, IR_NONE);
    return ASSAY_OK;
}

/* in: tensor, shape of an item. */
assay_status tfl_list_from(tfl_op *o, bool *mapped)
{
    *mapped = tfl_set_list(o->r, o->out[0], TFL_LIST_WHOLE, o->in[0]);
    return ASSAY_OK;
}

/* in: list, index, item. Only the loop that carries the list gives it a value. */
assay_status tfl_list_set(tfl_op *o, bool *mapped)
{
    *mapped = list_is(o, TFL_LIST_EMPTY) &&
              tfl_set_list(o->r, o->out[0], TFL_LIST_COLLECTED, o->in[2]);
    return ASSAY_OK;
}

/* in: list, index, shape of an item. */
assay_status tfl_list_get(tfl_op *o, bool *mapped)
{
    if (!list_is(o, TFL_LIST_WHOLE))
        return ASSAY_OK;
    ir_id in[] = {tfl_list_of(o->r, o->in[0])->value, o->in[1]};
    *mapped = tfl_node(o, NULL, "Gather", in, 2, NULL) != IR_NONE;
    return ASSAY_OK;
}

/* in: list, shape of an item. */
assay_status tfl_list_stack(tfl_op *o, bool *mapped)
{
    if (!list_is(o, TFL_LIST_WHOLE))
        return ASSAY_OK;
    ir_id in = tfl_list_of(o->r, o->in[0])->value;
    *mapped = tfl_node(o, NULL, "Identity", &in, 1, NULL) != IR_NONE;
    return ASSAY_OK;
}
