/* Hash map from str to uint32_t, open addressing, in an arena. Keys are borrowed.
 * Resists crafted collisions well enough for hostile files: the hash is seeded per map.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

#define MAP_NONE UINT32_MAX

typedef struct map {
    arena *arena;
    struct map_slot *slots;
    uint32_t n, cap;
    uint64_t seed;
} map;

/* expected may be 0. */
bool map_init(map *m, arena *a, uint32_t expected);
/* MAP_NONE when absent. */
uint32_t map_get(const map *m, str key);
/* Inserts or replaces; false if out of memory. */
bool map_put(map *m, str key, uint32_t value);
/* The value of a key, which gets `value` if it is new. Until the next insertion; NULL if out of memory. */
uint32_t *map_at(map *m, str key, uint32_t value, bool *is_new);
/* The value of a key that does not live long: a new one is copied into `a` and gets `value`. *key becomes the copy
 * that the map has. MAP_NONE if out of memory. */
uint32_t map_intern(map *m, arena *a, str *key, uint32_t value);

#endif
