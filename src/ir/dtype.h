/* Element types. The numbers are those of ONNX's TensorProto.DataType, the names those of numpy and
 * ml_dtypes. Sub-byte types are packed: n elements take ceil(n * bits / 8) bytes.
 */
#ifndef IR_DTYPE_H
#define IR_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum ir_dtype {
    IR_UNDEFINED = 0,
    IR_FLOAT32 = 1,
    IR_UINT8 = 2,
    IR_INT8 = 3,
    IR_UINT16 = 4,
    IR_INT16 = 5,
    IR_INT32 = 6,
    IR_INT64 = 7,
    IR_STRING = 8,
    IR_BOOL = 9,
    IR_FLOAT16 = 10,
    IR_FLOAT64 = 11,
    IR_UINT32 = 12,
    IR_UINT64 = 13,
    IR_COMPLEX64 = 14,
    IR_COMPLEX128 = 15,
    IR_BFLOAT16 = 16,
    IR_FLOAT8E4M3FN = 17,
    IR_FLOAT8E4M3FNUZ = 18,
    IR_FLOAT8E5M2 = 19,
    IR_FLOAT8E5M2FNUZ = 20,
    IR_UINT4 = 21,
    IR_INT4 = 22,
    IR_FLOAT4E2M1 = 23,
    IR_FLOAT8E8M0 = 24,
    IR_UINT2 = 25,
    IR_INT2 = 26,
    IR_N_DTYPES
} ir_dtype;

typedef enum ir_dtype_class {
    IR_CLASS_NONE,
    IR_CLASS_FLOAT,
    IR_CLASS_INT,
    IR_CLASS_UINT,
    IR_CLASS_BOOL,
    IR_CLASS_COMPLEX,
    IR_CLASS_STRING,
} ir_dtype_class;

typedef struct ir_dtype_row {
    const char *name; /* "float32" */
    uint8_t bits;     /* 0 for string: counted by its handle, see ir_dtype_bytes */
    ir_dtype_class cls;
} ir_dtype_row;

extern const ir_dtype_row ir_dtype_rows[IR_N_DTYPES];

static inline bool ir_dtype_valid(int64_t number)
{
    return number > IR_UNDEFINED && number < IR_N_DTYPES;
}
/* Never NULL: out-of-range numbers give the row of IR_UNDEFINED. */
static inline const ir_dtype_row *ir_dtype_get(ir_dtype t)
{
    return &ir_dtype_rows[ir_dtype_valid((int64_t)t) ? t : IR_UNDEFINED];
}
static inline bool ir_is_float(ir_dtype t)
{
    return ir_dtype_get(t)->cls == IR_CLASS_FLOAT;
}
static inline bool ir_is_integer(ir_dtype t)
{
    ir_dtype_class c = ir_dtype_get(t)->cls;
    return c == IR_CLASS_INT || c == IR_CLASS_UINT;
}
/* By numpy name or short name (fp32, fp16, bf16, int8, ...); IR_UNDEFINED when unknown. */
ir_dtype ir_dtype_by_name(str name);
/* Bytes of n elements, packed for sub-byte types; a string counts 8 (its handle). Saturates. */
uint64_t ir_dtype_bytes(ir_dtype t, uint64_t n);

/* Elements in blocks with a scale each: "mxfp4" (OCP Microscaling 1.0: 32 numbers and a byte), "fp8" (DeepSeek-V3: 128
 * by 128 numbers and a float32). */
typedef struct ir_packed {
    const char *name;
    ir_dtype element;
    uint32_t block, block_bytes;
} ir_packed;
const ir_packed *ir_packed_find(str name); /* NULL: unknown */
/* Of n elements in whole blocks. Saturates. */
uint64_t ir_packed_bytes(const ir_packed *p, uint64_t n);

/* A number of float64, float32, float16 or bfloat16, little-endian and not necessarily aligned (cast.c). */
double ir_load_float(ir_dtype t, const void *p);
/* The nearest, ties to even; finite numbers beyond the range become the largest finite one (cast.c). */
uint16_t ir_half_of(float v);
uint16_t ir_bfloat_of(float v);
/* Elements of one type as another: whole numbers must be within the range of the new type, floats become no whole
 * numbers. Data need not be aligned (cast.c). */
bool ir_can_cast(ir_dtype from, ir_dtype to);
/* How many of n were converted: fewer when the next does not fit. */
uint64_t ir_cast(ir_dtype from, const void *data, uint64_t n, ir_dtype to, void *out);

#endif
