/* Every operator the tool knows: the one list of all row files. */
#include "ops/op.h"

/* elementwise and data movement */
extern const op_rows op_unary_rows;
extern const op_rows op_binary_rows;
extern const op_rows op_logic_rows;
extern const op_rows op_cast_rows;
extern const op_rows op_view_rows;
extern const op_rows op_join_rows;
extern const op_rows op_slice_rows;
extern const op_rows op_gather_rows;
extern const op_rows op_fill_rows;
extern const op_rows op_layout_rows;
extern const op_rows op_activation_rows;
extern const op_rows op_quantize_rows;
extern const op_rows op_random_rows;
extern const op_rows op_pad_rows;
extern const op_rows op_resize_rows;
extern const op_rows op_select_rows;
extern const op_rows op_cumulate_rows;
extern const op_rows op_scatter_rows;
extern const op_rows op_image_rows;
extern const op_rows op_legacy_rows;
/* contractions, norms, reductions, attention, vision */
extern const op_rows op_conv_rows;
extern const op_rows op_matmul_rows;
extern const op_rows op_pool_rows;
extern const op_rows op_norm_rows;
extern const op_rows op_softmax_rows;
extern const op_rows op_reduce_rows;
extern const op_rows op_deform_rows;
extern const op_rows op_einsum_rows;
extern const op_rows op_signal_rows;
extern const op_rows op_rnn_rows;
extern const op_rows op_attention_rows;
extern const op_rows op_detect_rows;
/* control flow, sequences, strings, ai.onnx.ml, training */
extern const op_rows op_control_rows;
extern const op_rows op_loop_rows;
extern const op_rows op_scan_rows;
extern const op_rows op_sequence_rows;
extern const op_rows op_optional_rows;
extern const op_rows op_string_rows;
extern const op_rows op_ml_rows;
extern const op_rows op_ml_model_rows;
extern const op_rows op_ml_tree_rows;
extern const op_rows op_training_rows;
/* com.microsoft */
extern const op_rows op_ms_act_rows;
extern const op_rows op_ms_attention_rows;
extern const op_rows op_ms_attention_more_rows;
extern const op_rows op_ms_conv_rows;
extern const op_rows op_ms_gqa_rows;
extern const op_rows op_ms_layout_rows;
extern const op_rows op_ms_linear_attention_rows;
extern const op_rows op_ms_matmul_rows;
extern const op_rows op_ms_mha_rows;
extern const op_rows op_ms_misc_rows;
extern const op_rows op_ms_moe_rows;
extern const op_rows op_ms_nbits_rows;
extern const op_rows op_ms_norm_rows;
extern const op_rows op_ms_qmatmul_rows;
extern const op_rows op_ms_quant_rows;
extern const op_rows op_ms_search_rows;
extern const op_rows op_ms_tensor_rows;

const op_rows *const op_table[] = {
    /* elementwise and data movement */
    &op_unary_rows,
    &op_binary_rows,
    &op_logic_rows,
    &op_cast_rows,
    &op_view_rows,
    &op_join_rows,
    &op_slice_rows,
    &op_gather_rows,
    &op_fill_rows,
    &op_layout_rows,
    &op_activation_rows,
    &op_quantize_rows,
    &op_random_rows,
    &op_pad_rows,
    &op_resize_rows,
    &op_select_rows,
    &op_cumulate_rows,
    &op_scatter_rows,
    &op_image_rows,
    &op_legacy_rows,
    /* contractions, norms, reductions, attention, vision */
    &op_conv_rows,
    &op_matmul_rows,
    &op_pool_rows,
    &op_norm_rows,
    &op_softmax_rows,
    &op_reduce_rows,
    &op_deform_rows,
    &op_einsum_rows,
    &op_signal_rows,
    &op_rnn_rows,
    &op_attention_rows,
    &op_detect_rows,
    /* control flow, sequences, strings, ai.onnx.ml, training */
    &op_control_rows,
    &op_loop_rows,
    &op_scan_rows,
    &op_sequence_rows,
    &op_optional_rows,
    &op_string_rows,
    &op_ml_rows,
    &op_ml_model_rows,
    &op_ml_tree_rows,
    &op_training_rows,
    /* com.microsoft */
    &op_ms_act_rows,
    &op_ms_attention_rows,
    &op_ms_attention_more_rows,
    &op_ms_conv_rows,
    &op_ms_gqa_rows,
    &op_ms_layout_rows,
    &op_ms_linear_attention_rows,
    &op_ms_matmul_rows,
    &op_ms_mha_rows,
    &op_ms_misc_rows,
    &op_ms_moe_rows,
    &op_ms_nbits_rows,
    &op_ms_norm_rows,
    &op_ms_qmatmul_rows,
    &op_ms_quant_rows,
    &op_ms_search_rows,
    &op_ms_tensor_rows,
};
const uint32_t op_table_n = sizeof op_table / sizeof *op_table;
