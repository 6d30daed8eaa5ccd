/* The element types, one row each. */
#include "ir/dtype.h"

#include <assert.h>

#include "base/num.h"

const ir_dtype_row ir_dtype_rows[IR_N_DTYPES] = {
    [IR_UNDEFINED] = {"undefined", 0, IR_CLASS_NONE},
    [IR_FLOAT32] = {"float32", 32, IR_CLASS_FLOAT},
    [IR_UINT8] = {"uint8", 8, IR_CLASS_UINT},
    [IR_INT8] = {"int8", 8, IR_CLASS_INT},
    [IR_UINT16] = {"uint16", 16, IR_CLASS_UINT},
    [IR_INT16] = {"int16", 16, IR_CLASS_INT},
    [IR_INT32] = {"int32", 32, IR_CLASS_INT},
    [IR_INT64] = {"int64", 64, IR_CLASS_INT},
    [IR_STRING] = {"string", 0, IR_CLASS_STRING},
    [IR_BOOL] = {"bool", 8, IR_CLASS_BOOL},
    [IR_FLOAT16] = {"float16", 16, IR_CLASS_FLOAT},
    [IR_FLOAT64] = {"float64", 64, IR_CLASS_FLOAT},
    [IR_UINT32] = {"uint32", 32, IR_CLASS_UINT},
    [IR_UINT64] = {"uint64", 64, IR_CLASS_UINT},
    [IR_COMPLEX64] = {"complex64", 64, IR_CLASS_COMPLEX},
    [IR_COMPLEX128] = {"complex128", 128, IR_CLASS_COMPLEX},
    [IR_BFLOAT16] = {"bfloat16", 16, IR_CLASS_FLOAT},
    [IR_FLOAT8E4M3FN] = {"float8_e4m3fn", 8, IR_CLASS_FLOAT},
    [IR_FLOAT8E4M3FNUZ] = {"float8_e4m3fnuz", 8, IR_CLASS_FLOAT},
    [IR_FLOAT8E5M2] = {"float8_e5m2", 8, IR_CLASS_FLOAT},
    [IR_FLOAT8E5M2FNUZ] = {"float8_e5m2fnuz", 8, IR_CLASS_FLOAT},
    [IR_UINT4] = {"uint4", 4, IR_CLASS_UINT},
    [IR_INT4] = {"int4", 4, IR_CLASS_INT},
    [IR_FLOAT4E2M1] = {"float4_e2m1fn", 4, IR_CLASS_FLOAT},
    [IR_FLOAT8E8M0] = {"float8_e8m0fnu", 8, IR_CLASS_FLOAT},
    [IR_UINT2] = {"uint2", 2, IR_CLASS_UINT},
    [IR_INT2] = {"int2", 2, IR_CLASS_INT},
};

/* What people and other tools call them. */
static const struct alias {
    const char *name;
    ir_dtype dtype;
} aliases[] = {
    {"fp64", IR_FLOAT64},
    {"f64", IR_FLOAT64},
    {"double", IR_FLOAT64},
    {"fp32", IR_FLOAT32},
    {"f32", IR_FLOAT32},
    {"float", IR_FLOAT32},
    {"fp16", IR_FLOAT16},
    {"f16", IR_FLOAT16},
    {"half", IR_FLOAT16},
    {"bf16", IR_BFLOAT16},
    {"fp8", IR_FLOAT8E4M3FN},
    {"f8_e4m3", IR_FLOAT8E4M3FN},
    {"f8_e5m2", IR_FLOAT8E5M2},
    {"float8e4m3fn", IR_FLOAT8E4M3FN},
    {"float8e4m3fnuz", IR_FLOAT8E4M3FNUZ},
    {"float8e5m2", IR_FLOAT8E5M2},
    {"float8e5m2fnuz", IR_FLOAT8E5M2FNUZ},
    {"float8e8m0", IR_FLOAT8E8M0},
    {"fp4", IR_FLOAT4E2M1},
    {"float4e2m1", IR_FLOAT4E2M1},
    {"i64", IR_INT64},
    {"i32", IR_INT32},
    {"i16", IR_INT16},
    {"i8", IR_INT8},
    {"i4", IR_INT4},
    {"u64", IR_UINT64},
    {"u32", IR_UINT32},
    {"u16", IR_UINT16},
    {"u8", IR_UINT8},
    {"u4", IR_UINT4},
};

ir_dtype ir_dtype_by_name(str name)
{
    for (int i = IR_UNDEFINED + 1; i < IR_N_DTYPES; i++)
        if (str_is(name, ir_dtype_rows[i].name))
            return (ir_dtype)i;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_is(name, aliases[i].name))
            return aliases[i].dtype;
    return IR_UNDEFINED;
}

uint64_t ir_dtype_bytes(ir_dtype t, uint64_t n)
{
    unsigned bits = t == IR_STRING ? 64 : ir_dtype_get(t)->bits;
    if (bits >= 8)
        return sat_mul(n, bits / 8);
    if (bits == 0)
        return 0;
    assert(8 % bits == 0);
    unsigned per_byte = 8 / bits;
    return n / per_byte + (n % per_byte != 0);
}

static const ir_packed packed[] = {
    {"mxfp4", IR_FLOAT4E2M1, 32, 17},
    {"fp8", IR_FLOAT8E4M3FN, 128 * 128, 128 * 128 + 4},
};

const ir_packed *ir_packed_find(str name)
{
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (str_is(name, packed[i].name))
            return &packed[i];
    return NULL;
}

uint64_t ir_packed_bytes(const ir_packed *p, uint64_t n)
{
    return sat_mul(n / p->block + (n % p->block != 0), p->block_bytes);
}
