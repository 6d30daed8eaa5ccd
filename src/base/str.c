/* Borrowed strings. The hash processes 8 bytes per step with a 64x64->128 bit multiplication, which is fast for short
 * names. Its seed prevents crafted collisions. */
#include "base/str.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

bool str_starts(str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_ends(str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && (n == 0 || memcmp(s.p + (s.n - n), suffix, n) == 0);
}

bool str_contains(str s, const char *part)
{
    size_t n = strlen(part);
    return n == 0 || (s.n >= n && memmem(s.p, s.n, part, n) != NULL);
}

bool str_contains_any_case(str s, const char *part)
{
    return str_holds_any_case(s, str_of(part));
}

bool str_holds_any_case(str s, str part)
{
    for (uint32_t k = 0; k + (size_t)part.n <= s.n; k++) {
        uint32_t j = 0;
        while (j < part.n &&
               tolower((unsigned char)s.p[k + j]) == tolower((unsigned char)part.p[j]))
            j++;
        if (j == part.n)
            return true;
    }
    return false;
}

int str_cmp(str a, str b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c != 0)
        return c;
    return (a.n > b.n) - (a.n < b.n);
}

int str_order_row(const void *key, const void *row)
{
    return str_cmp(*(const str *)key, str_of(*(const char *const *)row));
}

__extension__ typedef unsigned __int128 u128;

static uint64_t fold(uint64_t a, uint64_t b)
{
    u128 r = (u128)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

static uint64_t load(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* The last `left` (1 to 8) bytes before `end` as a number. A text of 8 bytes or more has others in front of
 * them, which one load takes too and the shift drops. */
static uint64_t load_tail(const char *end, size_t left, size_t n)
{
    uint64_t v = 0;
    if (n >= 8)
        return load(end - 8) >> (64 - 8 * left);
    for (const char *p = end; p > end - left;)
        v = v << 8 | (uint8_t) * --p;
    return v;
}

#define HASH_A UINT64_C(0x9e3779b97f4a7c15)
#define HASH_B UINT64_C(0xd6e8feb86659fd93)

uint64_t str_hash_seeded(str s, uint64_t seed)
{
    uint64_t h = seed ^ fold(s.n + HASH_A, HASH_B);
    const char *p = s.p;
    size_t left = s.n;
    for (; left >= 8; p += 8, left -= 8)
        h = fold(h ^ load(p), HASH_A) + seed;
    if (left)
        h = fold(h ^ load_tail(p + left, left, s.n), HASH_A) + seed;
    return fold(h ^ HASH_A, HASH_B);
}

/* Two words share a multiplication. Whoever writes the names knows neither operand: the seed is in both. */
uint64_t str_hash_table(str s, uint64_t seed)
{
    uint64_t h = seed ^ (s.n * HASH_B), other = seed + HASH_A;
    const char *p = s.p;
    size_t left = s.n;
    for (; left >= 16; p += 16, left -= 16)
        h = fold(h ^ load(p), other ^ load(p + 8)) + other;
    if (left > 8)
        return fold(fold(h ^ load(p), other ^ load(p + left - 8)) ^ left, HASH_A);
    return fold(h ^ (left ? load_tail(p + left, left, s.n) : 0), other);
}

uint64_t str_hash(str s)
{
    return str_hash_seeded(s, HASH_A);
}

uint32_t str_hash_stored(str s)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < s.n; i++)
        h = (h ^ (uint8_t)s.p[i]) * 16777619u;
    return h;
}

str str_copy(arena *a, str s)
{
    assert(s.p || !s.n);
    char *p = arena_alloc(a, (size_t)s.n + 1);
    if (!p)
        return (str){NULL, 0};
    if (s.n)
        memcpy(p, s.p, s.n);
    return (str){p, s.n};
}

str str_printf(arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    va_start(ap, fmt);
    int n = arena_vprintf(a, &p, fmt, ap);
    va_end(ap);
    return p ? (str){p, (uint32_t)n} : (str){NULL, 0};
}

enum { DISTANCE_MAX = 64 }; /* words longer than this are never typos of each other */

/* Levenshtein with one row; a row whose minimum passes the limit ends the search. */
unsigned str_distance(str a, str b, unsigned limit)
{
    unsigned row[DISTANCE_MAX + 1];
    uint32_t gap = a.n > b.n ? a.n - b.n : b.n - a.n;
    if (gap > limit || a.n > DISTANCE_MAX || b.n > DISTANCE_MAX)
        return limit + 1;
    assert(b.n < sizeof row / sizeof *row);
    for (unsigned j = 0; j <= b.n; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0], best = row[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            unsigned cost = diagonal + (a.p[i - 1] != b.p[j - 1]);
            unsigned other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = cost < other ? cost : other;
            best = row[j] < best ? row[j] : best;
        }
        if (best > limit)
            return limit + 1;
    }
    return row[b.n] > limit ? limit + 1 : row[b.n];
}
