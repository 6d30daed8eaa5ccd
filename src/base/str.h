/* A borrowed string: bytes and a length, not necessarily NUL-terminated, any bytes inside.
 * Names that come from model files are always held as `str`; they may be hostile.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

typedef struct str {
    const char *p;
    uint32_t n;
} str;

#define STR(lit)   ((str){(lit), (uint32_t)(sizeof(lit) - 1)})
#define STR_FMT    "%.*s" /* printf("..." STR_FMT, STR_ARG(s)) */
#define STR_ARG(s) (int)((s).n), ((s).p ? (s).p : "")

static inline str str_of(const char *c)
{
    return (str){c, c ? (uint32_t)strlen(c) : 0};
}
static inline bool str_eq(str a, str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool str_is(str a, const char *c)
{
    size_t n = strlen(c);
    return a.n == n && (n == 0 || memcmp(a.p, c, n) == 0);
}
static inline bool str_empty(str a)
{
    return a.n == 0;
}
bool str_starts(str s, const char *prefix);
bool str_ends(str s, const char *suffix);
bool str_contains(str s, const char *part);
bool str_contains_any_case(str s, const char *part); /* of ASCII letters */
bool str_holds_any_case(str s, str part);
int str_cmp(str a, str b); /* bytewise */
uint64_t str_hash(str s);
uint64_t str_hash_seeded(str s, uint64_t seed);
/* For what is kept in files: the same on every machine and for all time (FNV-1a, 32 bits). */
uint32_t str_hash_stored(str s);

/* Copies into the arena and NUL-terminates (the NUL is not counted in n). p is NULL on failure. */
str str_copy(arena *a, str s);
str str_printf(arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Edit distance for "did you mean", bounded: returns at most `limit`+1. */
unsigned str_distance(str a, str b, unsigned limit);

#endif
