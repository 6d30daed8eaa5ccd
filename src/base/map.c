/* Open addressing with linear probing over a power of two of slots, at most 3/4 full. A deleted
 * slot keeps its place as a tombstone until an insertion takes it or the table is rebuilt. The
 * seed differs from map to map; iteration does not exist, so no result depends on it.
 */
#include "base/map.h"

#include "base/clock.h"

struct map_slot {
    const char *p; /* NULL: never used; `grave`: deleted */
    uint32_t n;
    uint32_t hash;
    uint32_t value;
};

static const char grave[1] = {0};
static const char empty[1] = {0};

enum { CAP_MIN = 8, CAP_MAX = 1 << 30 };

static uint64_t new_seed(const map *m)
{
    str bits = {(const char *)&m, sizeof m};
    return str_hash_seeded(bits, clock_mono_ns() ^ (uint64_t)(uintptr_t)m->slots);
}

static uint32_t cap_for(uint32_t expected)
{
    uint32_t cap = CAP_MIN;
    while (cap < CAP_MAX && cap / 4 * 3 < expected)
        cap *= 2;
    return cap;
}

bool map_init(map *m, arena *a, uint32_t expected)
{
    *m = (map){.arena = a, .cap = cap_for(expected)};
    m->slots = ARENA_ARRAY(a, struct map_slot, m->cap);
    if (!m->slots)
        m->cap = 0;
    m->seed = new_seed(m);
    return m->slots != NULL;
}

static bool holds(const struct map_slot *s, str key, uint32_t hash)
{
    return s->hash == hash && s->p != grave && s->n == key.n &&
           (key.n == 0 || memcmp(s->p, key.p, key.n) == 0);
}

/* The slot of key, or NULL. *place is where an insertion would go. */
static struct map_slot *find(const map *m, str key, uint32_t hash, struct map_slot **place)
{
    struct map_slot *hole = NULL;
    for (uint32_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];
        if (!s->p) {
            *place = hole ? hole : s;
            return NULL;
        }
        if (s->p == grave)
            hole = hole ? hole : s;
        else if (holds(s, key, hash))
            return s;
    }
}

static uint32_t hash_of(const map *m, str key)
{
    return (uint32_t)(str_hash_seeded(key, m->seed) >> 32);
}

uint32_t map_get(const map *m, str key)
{
    struct map_slot *place;
    if (m->n == 0)
        return MAP_NONE;
    const struct map_slot *s = find(m, key, hash_of(m, key), &place);
    return s ? s->value : MAP_NONE;
}

static void move_into(map *m, const struct map_slot *s)
{
    uint32_t i = s->hash & (m->cap - 1);
    while (m->slots[i].p)
        i = (i + 1) & (m->cap - 1);
    m->slots[i] = *s;
}

/* Twice the size, or the same when it was mostly tombstones that filled it. */
static bool rebuild(map *m)
{
    struct map_slot *old = m->slots;
    uint32_t old_cap = m->cap, cap = m->n >= old_cap / 2 ? old_cap * 2 : old_cap;
    if (cap < CAP_MIN)
        cap = CAP_MIN;
    if (old_cap >= CAP_MAX && cap > CAP_MAX)
        return false;
    struct map_slot *slots = ARENA_ARRAY(m->arena, struct map_slot, cap);
    if (!slots)
        return false;
    m->slots = slots;
    m->cap = cap;
    m->used = m->n;
    for (uint32_t i = 0; i < old_cap; i++)
        if (old[i].p && old[i].p != grave)
            move_into(m, &old[i]);
    return true;
}

uint32_t *map_at(map *m, str key, uint32_t value, bool *is_new)
{
    struct map_slot *place = NULL, *s;
    if (m->used >= m->cap / 4 * 3 && !rebuild(m))
        return NULL;
    uint32_t hash = hash_of(m, key);
    s = find(m, key, hash, &place);
    *is_new = !s;
    if (s)
        return &s->value;
    m->used += place->p == NULL;
    m->n++;
    *place = (struct map_slot){key.p ? key.p : empty, key.n, hash, value};
    return &place->value;
}

bool map_put(map *m, str key, uint32_t value)
{
    bool is_new;
    uint32_t *at = map_at(m, key, value, &is_new);
    if (at)
        *at = value;
    return at != NULL;
}

void map_del(map *m, str key)
{
    struct map_slot *place, *s;
    if (m->n == 0)
        return;
    s = find(m, key, hash_of(m, key), &place);
    if (!s)
        return;
    s->p = grave;
    m->n--;
}
