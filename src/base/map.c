/* Open addressing with linear probing over a power of two of slots, at most 3/4 full; nothing is deleted.
 * The seed differs from map to map; iteration does not exist, so no result depends on it.
 */
#include "base/map.h"

#include <assert.h>

#include "base/clock.h"

struct map_slot {
    const char *p; /* NULL: empty */
    uint32_t n;
    uint32_t hash;
    uint32_t value;
};

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

static inline bool holds(const struct map_slot *s, str key, uint32_t hash)
{
    return s->hash == hash && s->n == key.n && (key.n == 0 || memcmp(s->p, key.p, key.n) == 0);
}

/* The slot of key, or the empty one where it would go. */
static inline struct map_slot *find(const map *m, str key, uint32_t hash)
{
    assert(m->cap && (m->cap & (m->cap - 1)) == 0 && m->n < m->cap);
    uint32_t i = hash & (m->cap - 1);
    while (m->slots[i].p && !holds(&m->slots[i], key, hash))
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

static uint32_t hash_of(const map *m, str key)
{
    return (uint32_t)(str_hash_table(key, m->seed) >> 32);
}

uint32_t map_get(const map *m, str key)
{
    if (m->n == 0)
        return MAP_NONE;
    const struct map_slot *s = find(m, key, hash_of(m, key));
    return s->p ? s->value : MAP_NONE;
}

static void move_into(map *m, const struct map_slot *s)
{
    assert(s->p && m->n < m->cap);
    uint32_t i = s->hash & (m->cap - 1);
    while (m->slots[i].p)
        i = (i + 1) & (m->cap - 1);
    m->slots[i] = *s;
}

/* Not inlined: every insertion would save the registers that it needs. */
__attribute__((noinline)) static bool grow(map *m)
{
    struct map_slot *old = m->slots;
    uint32_t old_cap = m->cap, cap = old_cap < CAP_MIN ? CAP_MIN : old_cap * 2;
    struct map_slot *slots = old_cap < CAP_MAX ? ARENA_ARRAY(m->arena, struct map_slot, cap) : NULL;
    if (!slots)
        return false;
    m->slots = slots;
    m->cap = cap;
    for (uint32_t i = 0; i < old_cap; i++)
        if (old[i].p)
            move_into(m, &old[i]);
    return true;
}

/* The slot of key, which is given to it if it is new; NULL if out of memory. */
static inline struct map_slot *slot_of(map *m, str key, uint32_t value, bool *is_new)
{
    assert(m->arena && is_new && (key.p || !key.n));
    if (m->n >= m->cap / 4 * 3 && !grow(m))
        return NULL;
    uint32_t hash = hash_of(m, key);
    struct map_slot *s = find(m, key, hash);
    *is_new = !s->p;
    if (*is_new) {
        *s = (struct map_slot){key.p ? key.p : empty, key.n, hash, value};
        m->n++;
    }
    return s;
}

uint32_t *map_at(map *m, str key, uint32_t value, bool *is_new)
{
    struct map_slot *s = slot_of(m, key, value, is_new);
    return s ? &s->value : NULL;
}

uint32_t map_intern(map *m, arena *a, str *key, uint32_t value)
{
    bool is_new;
    struct map_slot *s = slot_of(m, *key, value, &is_new);
    if (s && is_new) {
        str copy = str_copy(a, *key);
        s->p = copy.p ? copy.p : empty;
        s = copy.p ? s : NULL;
    }
    if (!s)
        return MAP_NONE;
    *key = (str){s->p, s->n};
    return s->value;
}

bool map_put(map *m, str key, uint32_t value)
{
    bool is_new;
    uint32_t *at = map_at(m, key, value, &is_new);
    if (at)
        *at = value;
    return at != NULL;
}
