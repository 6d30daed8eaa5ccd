/* The type constraints of ONNX's operators, as far as they differ from "float16 always, bfloat16 since
 * opset 13". Where an operator's number type is an attribute (random numbers, windows, tables) or it has to
 * do with quantisation, it stays in float32 whatever its constraints allow.
 */
#include "rewrite/half.h"

static const half_row rows[] = {
    /* never */
    {"Bernoulli BlackmanWindow Celu Constant ConstantOfShape DFT DequantizeLinear "
     "DynamicQuantizeLinear EyeLike HammingWindow HannWindow ImageDecoder MelWeightMatrix "
     "Multinomial NonMaxSuppression QLinearConv QLinearMatMul QuantizeLinear RandomNormal "
     "RandomNormalLike RandomUniform RandomUniformLike Range STFT SequenceMap "
     "TfIdfVectorizer",
     .float16 = HALF_NEVER, .bfloat16 = HALF_NEVER},
    /* float16 only */
    {"Compress Einsum OneHot ReverseSequence Scatter Shrink Unique", .float16 = 1,
     .bfloat16 = HALF_NEVER},
    /* bfloat16 later than most */
    {"BatchNormalization", .float16 = 1, .bfloat16 = 14},
    {"Pow", .float16 = 1, .bfloat16 = 15},
    {"GreaterOrEqual If LeakyRelu LessOrEqual Loop PRelu Scan Where", .float16 = 1, .bfloat16 = 16},
    {"Acos Acosh Asin Asinh Atan Atanh AveragePool Conv ConvTranspose Cos Cosh DeformConv "
     "Det Elu GRU GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample HardSigmoid "
     "HardSwish InstanceNormalization LSTM LpNormalization LpPool MaxPool MaxRoiPool "
     "MaxUnpool Mish NegativeLogLikelihoodLoss RNN RoiAlign Round Selu Sin Sinh Softplus "
     "Softsign Tan ThresholdedRelu",
     .float16 = 1, .bfloat16 = 22},
    {"TopK", .float16 = 1, .bfloat16 = 24},
    /* both late */
    {"CumSum", .float16 = 14, .bfloat16 = 14},
    {"IsInf", .float16 = 20, .bfloat16 = 20},
    /* in parts: ratio; mean and deviation; roi and scales */
    {"Dropout", .float16 = 1, .bfloat16 = 22, .in_f32 = 1u << 1},
    {"LayerNormalization", .float16 = 1, .bfloat16 = 17, .out_f32 = 1u << 1 | 1u << 2},
    {"Resize", .float16 = 10, .bfloat16 = 13, .in_f32 = 1u << 1 | 1u << 2},
    {"Upsample", .float16 = 1, .bfloat16 = HALF_NEVER, .in_f32 = 1u << 1},
};

static const half_row most = {"", .float16 = 1, .bfloat16 = 13};

const half_row *half_find(str op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_in_list(op, rows[i].ops, ' '))
            return &rows[i];
    return &most;
}
