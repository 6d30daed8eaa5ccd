/* Numbers as ggml stores them, for written files (gguf_write.h). A block of 32 or 256 numbers shares its scales:
 *
 *     Q4_0  Q5_0  Q8_0     x = d * q                     d: float16 of 32 numbers
 *     Q4_1  Q5_1           x = d * q + m
 *     Q4_K  Q5_K           x = d * s * q - e * m         s, m: 6 bits of 32 numbers; d, e: float16 of 256
 *     Q6_K                 x = d * s * q                 s: 8 bits of 16 numbers; d: float16 of 256
 *     MXFP4                x = 2^(e - 127) * q           q: 4-bit float; e: 8 bits of 32 numbers
 *
 * Layouts are those of ggml-common.h. Scales are taken from the largest and smallest number of a block; the search for
 * scales of least error that llama-quantize makes is left out, because the numbers here are random.
 */
#ifndef FORMATS_GGUF_ENCODE_H
#define FORMATS_GGUF_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* n is a multiple of the type's block. */
typedef void gguf_encode_fn(const float *x, size_t n, uint8_t *out);
/* NULL: a type that is not written. */
gguf_encode_fn *gguf_encoder_of(uint32_t type);

#endif
