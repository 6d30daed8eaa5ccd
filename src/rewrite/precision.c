/* The precisions by name. */
#include "rewrite/precision.h"

const precision_row precision_table[] = {
    {.name = "fp32", .about = "Unchanged.", .kind = PRECISION_FP32, .dtype = IR_FLOAT32},
    {.name = "fp16",
     .about = "Weights and activations as float16.",
     .kind = PRECISION_FP16,
     .dtype = IR_FLOAT16},
    {.name = "bf16",
     .about = "Weights and activations as bfloat16; convolutions need opset 22.",
     .kind = PRECISION_BF16,
     .dtype = IR_BFLOAT16,
     .opset = 22},
    {.name = "int8-dynamic",
     .about = "Weights of MatMul and Gemm as int8; activations are quantised at run time.",
     .kind = PRECISION_INT8_DYNAMIC,
     .dtype = IR_INT8,
     .opset = 11},
    {.name = "int8",
     .about = "Weights as int8, activations as uint8 with calibrated ranges (QDQ).",
     .kind = PRECISION_INT8,
     .dtype = IR_INT8,
     .opset = 13},
};
const uint32_t precision_table_n = sizeof precision_table / sizeof *precision_table;

const precision_row *precision_find(str name)
{
    ir_dtype t = ir_dtype_by_name(name);
    for (uint32_t i = 0; i < precision_table_n; i++)
        if (str_is(name, precision_table[i].name))
            return &precision_table[i];
    for (uint32_t i = precision_table_n; t != IR_UNDEFINED && i-- > 0;)
        if (precision_table[i].dtype == t)
            return &precision_table[i];
    return NULL;
}
