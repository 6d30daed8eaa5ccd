/* SHA-256 (FIPS 180-4), for context.model_sha256 of measured results. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H
#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t h[8];
    uint64_t n;
    uint8_t block[64];
} sha256;

void sha256_begin(sha256 *s);
void sha256_add(sha256 *s, const void *p, size_t n);
void sha256_end(sha256 *s, char hex[65]);
#endif
