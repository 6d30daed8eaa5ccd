/* Which operators of ai.onnx compute in 16 bits, since which version, and which of their inputs and
 * outputs stay in float32 then. */
#ifndef REWRITE_HALF_H
#define REWRITE_HALF_H

#include "base/str.h"
#include "ir/dtype.h"

#define HALF_NEVER INT32_MAX

typedef struct half_row {
    const char *ops;          /* their names, blanks between */
    int float16, bfloat16;    /* since this opset; HALF_NEVER */
    uint32_t in_f32, out_f32; /* bit i: stays float32 */
} half_row;

/* Never NULL: operators without a separate row have that of most. */
const half_row *half_find(str op);

static inline int half_since(const half_row *r, ir_dtype t)
{
    return t == IR_BFLOAT16 ? r->bfloat16 : r->float16;
}

#endif
