/* TensorList of TensorFlow 2 and TensorArray of TensorFlow 1: lists of tensors of one shape. A list that is made of a tensor
 * is that tensor; one that a loop fills is what the Loop collects (tf_loop.c). */
#include "formats/tensorflow/tf_impl.h"

static bool set_empty(tf_op *o)
{
    for (uint32_t i = 0; i < o->l.n_out; i++)
        if (!tf_set_list(o, i, TF_EMPTY, IR_NONE))
            return false;
    return true;
}

bool tf_list_reserve(tf_op *o)
{
    return set_empty(o);
}

bool tf_array_new(tf_op *o)
{
    return set_empty(o);
}

bool tf_list_from(tf_op *o)
{
    return o->in[0] != IR_NONE && tf_set_list(o, 0, TF_WHOLE, o->in[0]);
}

/* in: handle, indices, value, flow. */
bool tf_array_scatter(tf_op *o)
{
    return o->l.n_in == 4 && o->in[2] != IR_NONE && tf_set_list(o, 0, TF_WHOLE, o->in[2]);
}

static bool get_item(tf_op *o, uint32_t list, uint32_t index)
{
    const tf_list *l = tf_list_of(o->r, tf_in_ref(o, list));
    if (!l || l->kind != TF_WHOLE || index >= o->l.n_in || o->in[index] == IR_NONE)
        return false;
    ir_id in[] = {l->value, o->in[index]};
    return layer_node_of(&o->l, NULL, "Gather", in, 2, NULL, 1) != IR_NONE;
}

bool tf_list_get(tf_op *o)
{
    return get_item(o, 0, 1);
}

/* in: handle, index, flow. */
bool tf_array_read(tf_op *o)
{
    return get_item(o, 2, 1);
}

static bool set_item(tf_op *o, uint32_t list, uint32_t item)
{
    const tf_list *l = tf_list_of(o->r, tf_in_ref(o, list));
    return l && l->kind == TF_EMPTY && item < o->l.n_in && o->in[item] != IR_NONE &&
           tf_set_list(o, 0, TF_COLLECTED, o->in[item]);
}

/* SetItem(list, index, item), PushBack(list, item). */
bool tf_list_set(tf_op *o)
{
    return set_item(o, 0, o->l.n_in > 2 ? 2 : 1);
}

/* in: handle, index, value, flow. */
bool tf_array_write(tf_op *o)
{
    return o->l.n_in == 4 && set_item(o, 3, 2);
}

static bool whole(tf_op *o, uint32_t list)
{
    const tf_list *l = tf_list_of(o->r, tf_in_ref(o, list));
    return l && l->kind == TF_WHOLE && tf_stand(o, 0, l->value);
}

bool tf_list_stack(tf_op *o)
{
    return whole(o, 0);
}

/* in: handle, indices, flow. All items in their order, as loops read them. */
bool tf_array_gather(tf_op *o)
{
    return o->l.n_in == 3 && whole(o, 2);
}

static bool length(tf_op *o, uint32_t list)
{
    static const int64_t first;
    const tf_list *l = tf_list_of(o->r, tf_in_ref(o, list));
    if (!l || l->kind != TF_WHOLE)
        return false;
    ir_id shape = layer_step(&o->l, "Shape", &l->value, 1, NULL);
    ir_id at[] = {shape, layer_number(&o->l, "first", IR_INT64, (double)first)};
    ir_id n = layer_step(&o->l, "Gather", at, 2, NULL);
    return layer_cast(&o->l, n, IR_INT32);
}

bool tf_list_length(tf_op *o)
{
    return length(o, 0);
}

bool tf_array_size(tf_op *o)
{
    return length(o, 1);
}
