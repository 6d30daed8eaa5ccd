/* The types of ggml: elements of a block and its bytes, by number. 4, 5, 31 to 33 and 36 to 38 were
 * taken out of the format again. K-quants and most others have blocks of 256; a block holds its scales.
 */
#include "formats/gguf.h"

static const gguf_type types[] = {
    [0] = {"F32", "float32", 1, 4},    [1] = {"F16", "float16", 1, 2},
    [2] = {"Q4_0", NULL, 32, 18},      [3] = {"Q4_1", NULL, 32, 20},
    [6] = {"Q5_0", NULL, 32, 22},      [7] = {"Q5_1", NULL, 32, 24},
    [8] = {"Q8_0", NULL, 32, 34},      [9] = {"Q8_1", NULL, 32, 36},
    [10] = {"Q2_K", NULL, 256, 84},    [11] = {"Q3_K", NULL, 256, 110},
    [12] = {"Q4_K", NULL, 256, 144},   [13] = {"Q5_K", NULL, 256, 176},
    [14] = {"Q6_K", NULL, 256, 210},   [15] = {"Q8_K", NULL, 256, 292},
    [16] = {"IQ2_XXS", NULL, 256, 66}, [17] = {"IQ2_XS", NULL, 256, 74},
    [18] = {"IQ3_XXS", NULL, 256, 98}, [19] = {"IQ1_S", NULL, 256, 50},
    [20] = {"IQ4_NL", NULL, 32, 18},   [21] = {"IQ3_S", NULL, 256, 110},
    [22] = {"IQ2_S", NULL, 256, 82},   [23] = {"IQ4_XS", NULL, 256, 136},
    [24] = {"I8", "int8", 1, 1},       [25] = {"I16", "int16", 1, 2},
    [26] = {"I32", "int32", 1, 4},     [27] = {"I64", "int64", 1, 8},
    [28] = {"F64", "float64", 1, 8},   [29] = {"IQ1_M", NULL, 256, 56},
    [30] = {"BF16", "bfloat16", 1, 2}, [34] = {"TQ1_0", NULL, 256, 54},
    [35] = {"TQ2_0", NULL, 256, 66},   [39] = {"MXFP4", NULL, 32, 17},
    [40] = {"NVFP4", NULL, 64, 36},    [41] = {"Q1_0", NULL, 128, 18},
};

const gguf_type *gguf_type_of(uint32_t number)
{
    if (number >= sizeof types / sizeof *types || !types[number].name)
        return NULL;
    return &types[number];
}
