/* Growth of arena arrays. The item pointer is read and written with memcpy because the caller's
 * pointer has its own type: access through void ** would break the aliasing rules.
 */
#include "base/vec.h"

#include <assert.h>
#include <string.h>

enum { FIRST = 4 };

bool vec_reserve(arena *a, void **items, uint32_t n, uint32_t *cap, uint32_t want, size_t size)
{
    void *old, *grown;
    size_t bytes;
    assert(size > 0 && n <= *cap);
    if (want <= *cap)
        return true;
    if (__builtin_mul_overflow((size_t)want, size, &bytes))
        return false;
    memcpy(&old, items, sizeof old);
    if (!*cap || !arena_extend(a, old, *cap * size, bytes)) {
        grown = arena_alloc(a, bytes);
        if (!grown)
            return false;
        if (n)
            memcpy(grown, old, n * size);
        memcpy(items, &grown, sizeof grown);
    }
    *cap = want;
    return true;
}

bool vec_grow(arena *a, void **items, uint32_t n, uint32_t *cap, size_t size)
{
    uint32_t want = *cap == 0 ? FIRST : *cap > UINT32_MAX / 2 ? UINT32_MAX : *cap * 2;
    if (n == UINT32_MAX)
        return false;
    return vec_reserve(a, items, n, cap, want > n ? want : n + 1, size);
}
