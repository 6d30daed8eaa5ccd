/* Every operator the tool knows: the one list of all row files. */
#include "ops/op.h"

/* A new file is a word here. */
#define OP_FILES(X)                                                                               \
    X(unary), X(binary), X(logic), X(cast), X(view), X(join), X(slice), X(gather), X(fill),       \
        X(layout), X(activation), X(quantize), X(qonnx), X(random), X(pad), X(resize), X(select), \
        X(cumulate), X(scatter), X(image), X(legacy), X(conv), X(matmul), X(pool), X(norm),       \
        X(softmax), X(reduce), X(deform), X(einsum), X(signal), X(rnn), X(attention), X(detect),  \
        X(control), X(loop), X(scan), X(sequence), X(optional), X(string), X(ml), X(ml_model),    \
        X(ml_tree), X(training), X(ms_act), X(ms_attention), X(ms_attention_more), X(ms_conv),    \
        X(ms_gqa), X(ms_layout), X(ms_linear_attention), X(ms_matmul), X(ms_mha), X(ms_misc),     \
        X(ms_moe), X(ms_nbits), X(ms_norm), X(ms_qmatmul), X(ms_quant), X(ms_search),             \
        X(ms_tensor), X(nhwc), X(nhwc_layout), X(tflite), X(keras), X(openvino),                  \
        X(openvino_detect), X(openvino_more), X(openvino_nms), X(stablehlo)

#define NAME(file)    op_##file##_rows
#define ADDRESS(file) &op_##file##_rows
extern const op_rows OP_FILES(NAME);
const op_rows *const op_table[] = {OP_FILES(ADDRESS)};
const uint32_t op_table_n = sizeof op_table / sizeof *op_table;
