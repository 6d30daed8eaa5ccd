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
/* For bsearch(): a str with a row whose first member is its name, a const char *. */
int str_order_row(const void *key, const void *row);
static inline bool str_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
uint64_t str_hash(str s);
uint64_t str_hash_seeded(str s, uint64_t seed);
/* For tables in memory, with a seed that nobody knows: cheaper for long names, and free to change. */
uint64_t str_hash_table(str s, uint64_t seed);
/* For what is kept in files: the same on every machine and for all time (FNV-1a, 32 bits). */
uint32_t str_hash_stored(str s);

/* Copies into the arena and NUL-terminates (the NUL is not counted in n). p is NULL on failure. */
str str_copy(arena *a, str s);
str str_printf(arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- numbers and lists in text (str_parse.c) ----
 * Decimal, in every locale. The str_to_ forms want the whole text to be the number; nothing is forgiven: no
 * blanks, no plus, no empty text, no overflow. *out is set only on success. */
bool str_to_u64(str s, uint64_t *out);
bool str_to_i64(str s, int64_t *out); /* a minus may be in front */
/* "12", "-0.5", ".5", "5.", "1e-3": finite, correctly rounded, at most 400 characters. */
bool str_to_f64(str s, double *out);
/* The number that s begins with; s moves past it. */
bool str_take_u64(str *s, uint64_t *out);
bool str_take_f64(str *s, double *out);

/* What is before the first `c`, or all; *rest moves past it. */
str str_cut(str *rest, char c);
/* The items of a list, empty ones too: "a,,b" has three, "" has one, (str){0} has none.
 *   for (str item; str_split(&rest, ',', &item);) ... */
bool str_split(str *rest, char separator, str *item);
/* Whether a list holds that word. */
bool str_in_list(str word, const char *list, char separator);
/* Without blanks (spaces, tabs, line ends) at both ends. */
str str_trim(str s);

/* Edit distance for "did you mean", bounded: returns at most `limit`+1. */
unsigned str_distance(str a, str b, unsigned limit);

#endif
