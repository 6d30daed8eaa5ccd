/* The type constraints of ONNX's operators, as far as they differ from "float16 always, bfloat16 since
 * opset 13". Where an operator's number type is an attribute (random numbers, windows, tables) or it has to
 * do with quantisation, it stays in float32 whatever its constraints allow.
 */
#include "rewrite/half.h"

#define NEVER(op_)                                                 \
    {                                                              \
        .op = (op_), .float16 = HALF_NEVER, .bfloat16 = HALF_NEVER \
    }
#define F16(op_)                                          \
    {                                                     \
        .op = (op_), .float16 = 1, .bfloat16 = HALF_NEVER \
    }
#define BF(op_, n_)                                 \
    {                                               \
        .op = (op_), .float16 = 1, .bfloat16 = (n_) \
    }

static const half_row rows[] = {
    /* never */
    NEVER("Bernoulli"),
    NEVER("BlackmanWindow"),
    NEVER("Celu"),
    NEVER("Constant"),
    NEVER("ConstantOfShape"),
    NEVER("DFT"),
    NEVER("DequantizeLinear"),
    NEVER("DynamicQuantizeLinear"),
    NEVER("EyeLike"),
    NEVER("HammingWindow"),
    NEVER("HannWindow"),
    NEVER("ImageDecoder"),
    NEVER("MelWeightMatrix"),
    NEVER("Multinomial"),
    NEVER("NonMaxSuppression"),
    NEVER("QLinearConv"),
    NEVER("QLinearMatMul"),
    NEVER("QuantizeLinear"),
    NEVER("RandomNormal"),
    NEVER("RandomNormalLike"),
    NEVER("RandomUniform"),
    NEVER("RandomUniformLike"),
    NEVER("Range"),
    NEVER("STFT"),
    NEVER("SequenceMap"),
    NEVER("TfIdfVectorizer"),
    /* float16 only */
    F16("Compress"),
    F16("Einsum"),
    F16("OneHot"),
    F16("ReverseSequence"),
    F16("Scatter"),
    F16("Shrink"),
    F16("Unique"),
    /* bfloat16 later than most */
    BF("BatchNormalization", 14),
    BF("Pow", 15),
    BF("GreaterOrEqual", 16),
    BF("If", 16),
    BF("LeakyRelu", 16),
    BF("LessOrEqual", 16),
    BF("Loop", 16),
    BF("PRelu", 16),
    BF("Scan", 16),
    BF("Where", 16),
    BF("Acos", 22),
    BF("Acosh", 22),
    BF("Asin", 22),
    BF("Asinh", 22),
    BF("Atan", 22),
    BF("Atanh", 22),
    BF("AveragePool", 22),
    BF("Conv", 22),
    BF("ConvTranspose", 22),
    BF("Cos", 22),
    BF("Cosh", 22),
    BF("DeformConv", 22),
    BF("Det", 22),
    BF("Elu", 22),
    BF("GRU", 22),
    BF("GlobalAveragePool", 22),
    BF("GlobalLpPool", 22),
    BF("GlobalMaxPool", 22),
    BF("GridSample", 22),
    BF("HardSigmoid", 22),
    BF("HardSwish", 22),
    BF("InstanceNormalization", 22),
    BF("LSTM", 22),
    BF("LpNormalization", 22),
    BF("LpPool", 22),
    BF("MaxPool", 22),
    BF("MaxRoiPool", 22),
    BF("MaxUnpool", 22),
    BF("Mish", 22),
    BF("NegativeLogLikelihoodLoss", 22),
    BF("RNN", 22),
    BF("RoiAlign", 22),
    BF("Round", 22),
    BF("Selu", 22),
    BF("Sin", 22),
    BF("Sinh", 22),
    BF("Softplus", 22),
    BF("Softsign", 22),
    BF("Tan", 22),
    BF("ThresholdedRelu", 22),
    BF("TopK", 24),
    /* both late */
    {.op = "CumSum", .float16 = 14, .bfloat16 = 14},
    {.op = "IsInf", .float16 = 20, .bfloat16 = 20},
    /* in parts: ratio; mean and deviation; roi and scales */
    {.op = "Dropout", .float16 = 1, .bfloat16 = 22, .in_f32 = 1u << 1},
    {.op = "LayerNormalization", .float16 = 1, .bfloat16 = 17, .out_f32 = 1u << 1 | 1u << 2},
    {.op = "Resize", .float16 = 10, .bfloat16 = 13, .in_f32 = 1u << 1 | 1u << 2},
    {.op = "Upsample", .float16 = 1, .bfloat16 = HALF_NEVER, .in_f32 = 1u << 1},
};

static const half_row most = {.op = "", .float16 = 1, .bfloat16 = 13};

const half_row *half_find(str op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(op, rows[i].op))
            return &rows[i];
    return &most;
}
