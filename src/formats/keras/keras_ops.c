#include "formats/keras/keras_impl.h"
bool keras_op_lambda(keras_call *c)
{
    (void)c;
    return false;
}
bool keras_slicing(keras_call *c)
{
    (void)c;
    return false;
}
bool keras_tf_layer(keras_call *c)
{
    (void)c;
    return false;
}
bool keras_operation(keras_call *c)
{
    (void)c;
    return false;
}
