/* Options of pipelines that are no plain numbers or words. */
#include <ctype.h>

#include "api/api.h"

API_SETTER(api_set_guidance)
{
    double v = 0, place = 0;
    uint32_t digits = 0, i = 0;
    (void)row;
    for (; i < value.n && (isdigit((unsigned char)value.p[i]) || (value.p[i] == '.' && place == 0));
         i++) {
        if (value.p[i] == '.') {
            place = 1;
            continue;
        }
        v = v * 10 + (value.p[i] - '0');
        place *= 10;
        digits++;
    }
    if (i < value.n || digits == 0 || digits > 9)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "guidance-scale takes a number such as 7.5, not '" STR_FMT "'.",
                        STR_ARG(value));
    o->guidance = place > 0 ? v / place : v;
    return ASSAY_OK;
}

API_SETTER(api_set_cache_dtype)
{
    ir_dtype t = ir_dtype_by_name(value);
    (void)row;
    if (str_is(value, "fp8"))
        t = IR_FLOAT8E4M3FN;
    if (t == IR_UNDEFINED || !(ir_is_float(t) || ir_is_integer(t)))
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "cache-dtype takes a number type such as fp16, bf16, fp8 or int8, not '" STR_FMT "'.",
            STR_ARG(value));
    o->cache_dtype = t;
    return ASSAY_OK;
}

API_SETTER(api_set_sweep)
{
    (void)row;
    str *s = VEC_PUSH(o->arena, &o->sweeps);
    if (!s)
        return err_no_memory(err);
    *s = str_copy(o->arena, value);
    return s->p ? ASSAY_OK : err_no_memory(err);
}
