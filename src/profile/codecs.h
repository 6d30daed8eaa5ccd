/* Representation of IR types in result files: shapes, dtypes, tensors and attributes of layers. */
#ifndef PROFILE_CODECS_H
#define PROFILE_CODECS_H

#include "base/fields.h"

extern const field_codec shape_codec;       /* profile_shape: [1, 3, null], null */
extern const field_codec dtype_codec;       /* ir_dtype: "float32", null */
extern const field_codec tensor_kind_codec; /* const char *: "sequence"; a tensor is unknown */
/* Of a profile_layer: its tensors are lists beside each other. */
extern const field_codec layer_inputs_codec, layer_outputs_codec, layer_input_shapes_codec,
    layer_output_shapes_codec, layer_output_types_codec;
extern const field_codec attributes_codec; /* of a profile_layer */
extern const field_codec attribute_codec;  /* const profile_attribute *: [2, 2], 1e-05, null */
extern const field_codec image_size_codec; /* profile_image_size: 224, [480, 640] */

/* A shape as people write it: "1×3×224×224". */
void shape_print(sbuf *b, const void *profile_shape);

#endif
