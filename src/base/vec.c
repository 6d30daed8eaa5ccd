/* Growth of arena arrays. The item pointer is read and written with memcpy because the caller's
 * pointer has its own type: access through void ** would break the aliasing rules.
 */
#include "base/vec.h"

#include <assert.h>
#include <string.h>

enum { FIRST = 4 };

bool vec_grow(arena *a, void **items, uint32_t n, uint32_t *cap, size_t size)
{
    void *old, *grown;
    uint32_t want = *cap == 0 ? FIRST : *cap > UINT32_MAX / 2 ? UINT32_MAX : *cap * 2;
    assert(size > 0 && n <= *cap);
    if (n == UINT32_MAX)
        return false;
    if (want <= n)
        want = n + 1;
    memcpy(&old, items, sizeof old);
    size_t bytes;
    if (__builtin_mul_overflow((size_t)want, size, &bytes))
        return false;
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
