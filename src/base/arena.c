/* Arena: a chain of zeroed blocks that double in size up to BLOCK_MAX. A small model needs one small block, a large
 * one few system calls. A request that is large compared with the current block gets its own block after it, and the
 * rest of the current block stays in use.
 *
 * Under AddressSanitizer every allocation is followed by a poisoned gap, so that overruns inside an arena are
 * detected.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pages.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#define GAP            ((size_t)ALIGN)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define GAP            ((size_t)0)
#endif

enum {
    ALIGN = ARENA_ALIGN,
    BLOCK_MIN = 8 << 10,
    BLOCK_MAX = 256 << 10,
    PAGES_MIN = 16 << 10 /* a block of this size is from pages_take() */
};

typedef struct arena_block {
    struct arena_block *next;
    size_t used, cap; /* of data; `used` of the newest block is known when its room is closed */
    pages from;       /* at NULL: it is from calloc() */
    _Alignas(ALIGN) unsigned char data[];
} block;

arena *arena_new(size_t limit_bytes)
{
    arena *a = memory_zeroed(1, sizeof *a);
    if (!a)
        return NULL;
    a->left = a->limit = limit_bytes < SIZE_MAX / 2 ? limit_bytes : SIZE_MAX / 2;
    a->next_cap = BLOCK_MIN;
    return a;
}

static void *fail_arena(arena *a)
{
    a->failed = true;
    a->left = a->room = 0;
    return NULL;
}

/* What the fast path has not taken goes back to the block and to the limit. */
static void close_room(arena *a)
{
    if (a->at)
        a->head->used = (size_t)(a->at - a->head->data);
    a->left += a->room;
    a->room = 0;
    a->at = NULL;
}

static void open_room(arena *a)
{
    const block *b = a->head;
    size_t room = b && !GAP && !a->failed ? b->cap - b->used : 0;
    a->room = (room < a->left ? room : a->left) & ~(size_t)(ALIGN - 1);
    a->left -= a->room;
    a->at = a->room > 0 ? a->head->data + b->used : NULL;
}

/* The limit counts this, not the requested size: a file of a million one-byte names must not take sixteen times the
 * limit. */
static size_t rounded(size_t size)
{
    return (size + !size + (ALIGN - 1)) & ~(size_t)(ALIGN - 1);
}

/* calloc() would clear memory that was used before, and raises the size from which it maps when such a block is freed.
 */
static block *block_of_pages(size_t size)
{
    pages from = pages_take(size);
    block *b = from.at;
    if (b)
        b->from = from;
    return b;
}

static void block_free(block *b)
{
    UNPOISON(b->data, b->cap);
    if (b->from.at)
        pages_give(b->from);
    else
        free(b);
}

static block *block_new(size_t cap)
{
    size_t size = sizeof(block) + cap;
    block *b = size >= PAGES_MIN && !GAP ? block_of_pages(size) : memory_zeroed(1, size);
    if (!b)
        return NULL;
    b->cap = cap;
    POISON(b->data, cap);
    return b;
}

void arena_free(arena *a)
{
    if (!a)
        return;
    for (block *b = a->head, *next; b; b = next) {
        next = b->next;
        block_free(b);
    }
    free(a);
}

/* A block with room for `need` bytes, linked into the arena. Not inlined: every allocation would save the
 * registers that it needs. */
__attribute__((noinline)) static block *block_for(arena *a, size_t need)
{
    assert(need % ALIGN == 0 && a->next_cap >= BLOCK_MIN && a->next_cap <= BLOCK_MAX);
    bool own = need > a->next_cap / 4;
    block *b = block_new(own ? need : a->next_cap);
    if (!b)
        return NULL;
    if (own && a->head) {
        b->next = a->head->next;
        a->head->next = b;
        return b;
    }
    b->next = a->head;
    a->head = b;
    if (!own && a->next_cap < BLOCK_MAX)
        a->next_cap *= 2;
    return b;
}

static void *alloc_in_block(arena *a, size_t size)
{
    assert(a->left <= a->limit);
    if (size > a->left || rounded(size) > a->left)
        return fail_arena(a);
    size_t need = rounded(size) + GAP;
    block *b = a->head;
    if (!b || b->cap - b->used < need)
        b = block_for(a, need);
    if (!b)
        return fail_arena(a);
    void *p = b->data + b->used;
    assert(b->used % ALIGN == 0 && need <= b->cap - b->used);
    b->used += need;
    a->left -= rounded(size);
    UNPOISON(p, size);
    return p;
}

void *arena_alloc_slow(arena *a, size_t size)
{
    close_room(a);
    void *p = alloc_in_block(a, size);
    open_room(a);
    return p;
}

static bool extend_in_block(arena *a, const void *p, size_t old_size, size_t size)
{
    block *b = a->head;
    if (!b || !p || a->failed || size < old_size || size > b->cap)
        return false;
    size_t was = rounded(old_size) + GAP, need = rounded(size) + GAP;
    if (b->used < was || b->data + (b->used - was) != p || need - was > b->cap - b->used)
        return false;
    if (need - was > a->left)
        return false;
    assert(need >= was && b->used <= b->cap);
    b->used += need - was;
    a->left -= need - was;
    UNPOISON(p, size);
    return true;
}

bool arena_extend(arena *a, const void *p, size_t old_size, size_t size)
{
    close_room(a);
    bool grown = extend_in_block(a, p, old_size, size);
    open_room(a);
    return grown;
}

void *arena_copy(arena *a, const void *p, size_t size)
{
    assert(p || !size);
    void *q = arena_alloc(a, size + !size);
    if (q && size)
        memcpy(q, p, size);
    return q;
}

char *arena_strdup(arena *a, const char *s)
{
    return arena_copy(a, s, strlen(s) + 1);
}

/* Most texts are names: they are made once and copied, longer ones are made twice. */
int arena_vprintf(arena *a, char **out, const char *fmt, va_list ap)
{
    char small[200];
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    char *p = n < 0 ? fail_arena(a) : arena_alloc(a, (size_t)n + 1);
    if (p && (size_t)n < sizeof small)
        memcpy(p, small, (size_t)n);
    else if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    *out = p;
    return n;
}

char *arena_printf(arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    va_start(ap, fmt);
    arena_vprintf(a, &p, fmt, ap);
    va_end(ap);
    return p;
}

size_t arena_used(const arena *a)
{
    return a->limit - a->left - a->room;
}
