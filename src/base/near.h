/* Suggests existing names for a misspelled or partial one. */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include "base/sbuf.h"
#include "base/str.h"

/* The name at an index; NULL past the end, "" to pass over one. */
typedef const char *near_name_at(uint32_t i, const void *ctx);
/* The nearest names, best first, at most max; their count. Case and separators make no difference. */
uint32_t near_names(str word, near_name_at *at, const void *ctx, const char **out, uint32_t max);
/* " Did you mean a, b or c?", or nothing. */
void near_put(sbuf *out, const char *const *names, uint32_t n);

#endif
