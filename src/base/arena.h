/* Region memory with a byte limit. One arena per model, one scratch arena per analysis.
 *
 * Allocation returns zeroed, 16-byte aligned memory, or NULL when the limit or the system is
 * reached; failure is sticky (every later allocation fails too), so a loop may check once at its
 * end with arena_failed(). Everything is freed at once by arena_free(); nothing is freed singly.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members are here for the fast path below and for nobody else. `room` bytes at `at` are free in the newest block
 * and already taken from `left`, so that a small allocation makes one comparison; `room` is a multiple of
 * ARENA_ALIGN, and 0 after a failure and under AddressSanitizer, where every allocation has a gap behind it. */
typedef struct arena {
    unsigned char *at;
    size_t room;
    struct arena_block *head;
    size_t next_cap;
    size_t left, limit;
    bool failed;
} arena;
enum { ARENA_ALIGN = 16 };

/* NULL when out of memory. limit_bytes bounds the sum of all allocations. */
arena *arena_new(size_t limit_bytes);
void arena_free(arena *a); /* NULL is allowed */

void *arena_alloc_slow(arena *a, size_t size);
static inline void *arena_alloc(arena *a, size_t size) /* zeroed */
{
    if (size - 1 >= a->room) /* also for 0 */
        return arena_alloc_slow(a, size);
    size_t need = (size + (ARENA_ALIGN - 1)) & ~(size_t)(ARENA_ALIGN - 1);
    unsigned char *p = a->at;
    a->at += need;
    a->room -= need;
    return p;
}
/* A product that overflows is more than any arena has. */
static inline void *arena_alloc_array(arena *a, size_t n, size_t size)
{
    size_t total;
    return arena_alloc(a, __builtin_mul_overflow(n, size, &total) ? SIZE_MAX : total);
}
void *arena_copy(arena *a, const void *p, size_t size);
char *arena_strdup(arena *a, const char *s);
char *arena_printf(arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same into *out (NULL on failure); the length without its NUL. */
int arena_vprintf(arena *a, char **out, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* Grows the newest allocation where it stands (the new bytes are zero). False, and nothing changes,
 * when p is not the newest or there is no room behind it; this is not a failure of the arena. */
bool arena_extend(arena *a, const void *p, size_t old_size, size_t size);

static inline bool arena_failed(const arena *a)
{
    return a->failed;
}
size_t arena_used(const arena *a); /* bytes handed out, rounded up to the alignment */

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc_array((a), (n), sizeof(type)))

#endif
