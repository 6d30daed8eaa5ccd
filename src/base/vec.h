/* Growing arrays in an arena. A vec is any struct { T *items; uint32_t n, cap; }.
 * VEC_PUSH evaluates to a pointer to the new zeroed item, or NULL when out of memory.
 * The old storage of a grown vec stays in the arena: growth doubles, so at most half is lost.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdint.h>

#include "base/arena.h"

#define VEC(type)     \
    struct {          \
        type *items;  \
        uint32_t n;   \
        uint32_t cap; \
    }

/* Makes room for one more item of `size`; false if out of memory or n would pass UINT32_MAX. */
bool vec_grow(arena *a, void **items, uint32_t n, uint32_t *cap, size_t size);

/* Room for `want` items in all, so that a list whose length is known is not copied while it grows. */
bool vec_reserve(arena *a, void **items, uint32_t n, uint32_t *cap, uint32_t want, size_t size);

#define VEC_RESERVE(a, v, want) \
    vec_reserve((a), (void **)&(v)->items, (v)->n, &(v)->cap, (want), sizeof *(v)->items)

#define VEC_PUSH(a, v)                                                            \
    (((v)->n < (v)->cap ||                                                        \
      vec_grow((a), (void **)&(v)->items, (v)->n, &(v)->cap, sizeof *(v)->items)) \
         ? &(v)->items[(v)->n++]                                                  \
         : NULL)
/* Appends a value; false when out of memory. The value may not touch the vec. */
#define VEC_ADD(a, v, ...)                                                        \
    (((v)->n < (v)->cap ||                                                        \
      vec_grow((a), (void **)&(v)->items, (v)->n, &(v)->cap, sizeof *(v)->items)) \
         ? ((v)->items[(v)->n] = (__VA_ARGS__), (v)->n++, true)                   \
         : false)

#endif
