/* See defaults.h. By the ONNX operators' specification, opset 21. One that is missing here does no harm but that a
 * file which spells it out differs from one that does not. */
#include "ops/defaults.h"

#define LITERAL(s)         \
    {                      \
        (s), sizeof(s) - 1 \
    }
#define NUMBER(n, o, v)                                     \
    {                                                       \
        .name = LITERAL(n), .op = LITERAL(o), .number = (v) \
    }
#define WORD(n, o, t)                                                             \
    {                                                                             \
        .name = LITERAL(n), .op = LITERAL(o), .is_text = true, .text = LITERAL(t) \
    }

static const op_default defaults[] = {
    NUMBER("dilations", "", 1),
    NUMBER("strides", "", 1),
    NUMBER("pads", "", 0),
    NUMBER("group", "", 1),
    NUMBER("output_padding", "", 0),
    NUMBER("ceil_mode", "", 0),
    NUMBER("storage_order", "", 0),
    NUMBER("count_include_pad", "", 0),
    NUMBER("epsilon", "", 1e-5),
    NUMBER("momentum", "BatchNormalization", 0.9),
    NUMBER("training_mode", "", 0),
    NUMBER("transA", "", 0),
    NUMBER("transB", "", 0),
    NUMBER("alpha", "Gemm", 1),
    NUMBER("beta", "Gemm", 1),
    NUMBER("alpha", "LeakyRelu", 0.01),
    NUMBER("alpha", "Elu", 1),
    NUMBER("alpha", "HardSigmoid", 0.2),
    NUMBER("beta", "HardSigmoid", 0.5),
    NUMBER("keepdims", "", 1),
    NUMBER("noop_with_empty_axes", "", 0),
    NUMBER("allowzero", "", 0),
    NUMBER("axis", "Flatten", 1),
    NUMBER("axis", "Gather", 0),
    NUMBER("axis", "LayerNormalization", -1),
    NUMBER("stash_type", "", 1),
    NUMBER("largest", "", 1),
    NUMBER("sorted", "", 1),
    NUMBER("is_causal", "", 0),
    WORD("auto_pad", "", "NOTSET"),
    WORD("mode", "Pad", "constant"),
    WORD("approximate", "Gelu", "none"),
    WORD("direction", "", "forward"),
};

const op_default *op_default_find(str domain, str op, str attribute)
{
    if (domain.n && !str_is(domain, "ai.onnx"))
        return NULL;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        const op_default *d = &defaults[i];
        if (str_eq(d->name, attribute) && (!d->op.n || str_eq(d->op, op)))
            return d;
    }
    return NULL;
}
