/* Processors, cores, sockets, memory nodes and caches, from lists such as "0-3,8" (cpulist of the kernel).
 * Things are counted by their first processor: a core, socket or cache belongs to the lowest processor of
 * the list that shares it, so that nothing is counted twice and no list is kept. */
#include <stdio.h>
#include <string.h>

#include "base/amount.h"
#include "base/str.h"
#include "device/topology.h"

enum { LIST = 1024, PATH = 160 };

/* "4" or "0-3" of a list; false when it is neither. */
static bool read_range(str item, uint64_t *from, uint64_t *to)
{
    str last = item, first = str_cut(&last, '-');
    return str_to_u64(first, from) && str_to_u64(first.n == item.n ? first : last, to) &&
           *from <= *to && *to < TOPOLOGY_CPUS;
}

/* The count of a list, its first member in *first. -1 when it is none. */
static int list_count(const char *text, unsigned *first)
{
    uint64_t from, to;
    int n = 0;
    *first = 0;
    for (str rest = str_of(text), item; *text && str_split(&rest, ',', &item);) {
        if (!read_range(item, &from, &to))
            return -1;
        if (n == 0)
            *first = (unsigned)from;
        n += (int)(to - from) + 1;
    }
    return n;
}

static bool list_has(const char *text, unsigned cpu)
{
    uint64_t from, to;
    for (str rest = str_of(text), item; str_split(&rest, ',', &item);)
        if (read_range(item, &from, &to) && cpu >= from && cpu <= to)
            return true;
    return false;
}

static int64_t cpu_text(const char *root, unsigned cpu, const char *file, char *buf, uint64_t cap)
{
    char path[PATH];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
    return topology_text(root, path, buf, cap);
}

/* ---- caches ---- */

/* "32K", "1024K", "32M". */
static uint64_t size_of(const char *text)
{
    uint64_t v;
    return amount_parse_whole(AMOUNT_BYTES, str_of(text), &v) ? v : 0;
}

static unsigned cache_number(const char *root, unsigned cpu, unsigned index, const char *file)
{
    char name[64], text[32];
    snprintf(name, sizeof name, "cache/index%u/%s", index, file);
    if (cpu_text(root, cpu, name, text, sizeof text) <= 0)
        return 0;
    uint64_t v;
    return str_to_u64(str_of(text), &v) && v < 1u << 20 ? (unsigned)v : 0;
}

static void cache_text(const char *root, unsigned cpu, unsigned index, const char *file, char *buf,
                       size_t cap)
{
    char name[64];
    snprintf(name, sizeof name, "cache/index%u/%s", index, file);
    cpu_text(root, cpu, name, buf, cap);
}

static topology_cache *cache_slot(topology *t, unsigned level, const char *kind, uint64_t size)
{
    for (unsigned i = 0; i < t->n_caches; i++)
        if (t->caches[i].level == level && strcmp(t->caches[i].kind, kind) == 0) {
            /* Big and little cores differ: the larger is told. */
            if (size > t->caches[i].size_bytes)
                t->caches[i].size_bytes = size;
            return &t->caches[i];
        }
    if (t->n_caches == TOPOLOGY_CACHES)
        return NULL;
    topology_cache *c = &t->caches[t->n_caches++];
    c->level = level;
    c->size_bytes = size;
    snprintf(c->kind, sizeof c->kind, "%s", kind);
    return c;
}

static bool take_cache(const char *root, unsigned cpu, unsigned index, topology *t)
{
    char kind[16], size[32], shared[LIST];
    unsigned level = cache_number(root, cpu, index, "level"), first = cpu;
    cache_text(root, cpu, index, "type", kind, sizeof kind);
    cache_text(root, cpu, index, "size", size, sizeof size);
    cache_text(root, cpu, index, "shared_cpu_list", shared, sizeof shared);
    if (!level || !*size)
        return false;
    for (char *p = kind; *p; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    int sharers = *shared ? list_count(shared, &first) : 1;
    topology_cache *c = cache_slot(t, level, kind, size_of(size));
    if (!c || sharers < 1 || first != cpu)
        return true;
    c->instances++;
    c->shared_by = (unsigned)sharers > c->shared_by ? (unsigned)sharers : c->shared_by;
    c->line_bytes = cache_number(root, cpu, index, "coherency_line_size");
    c->ways = cache_number(root, cpu, index, "ways_of_associativity");
    return true;
}

/* ---- processors ---- */

/* The bits of a set of socket numbers, which are small but not dense. */
typedef struct seen {
    unsigned char bits[TOPOLOGY_CPUS / 8];
} seen;

static bool mark_seen(seen *s, unsigned v)
{
    unsigned char bit = (unsigned char)(1u << (v % 8));
    bool was = v >= TOPOLOGY_CPUS || s->bits[v / 8] & bit;
    if (v < TOPOLOGY_CPUS)
        s->bits[v / 8] |= bit;
    return !was;
}

static void take_processor(const char *root, unsigned cpu, seen *sockets, topology *t)
{
    char text[LIST];
    unsigned first;
    uint64_t socket;
    int n;
    if (cpu_text(root, cpu, "topology/physical_package_id", text, sizeof text) > 0 &&
        str_to_u64(str_of(text), &socket))
        t->sockets += mark_seen(sockets, socket < TOPOLOGY_CPUS ? (unsigned)socket : TOPOLOGY_CPUS);
    if (cpu_text(root, cpu, "topology/thread_siblings_list", text, sizeof text) > 0 &&
        (n = list_count(text, &first)) > 0) {
        t->cores += first == cpu;
        t->threads_per_core = (unsigned)n > t->threads_per_core ? (unsigned)n : t->threads_per_core;
    }
    for (unsigned i = 0; i < TOPOLOGY_CACHES && take_cache(root, cpu, i, t); i++)
        continue;
}

void topology_processors(const char *root, topology *out)
{
    char online[LIST], nodes[LIST];
    seen sockets = {{0}};
    unsigned first;
    if (topology_text(root, "/sys/devices/system/cpu/online", online, sizeof online) > 0) {
        int n = list_count(online, &first);
        out->cpus = n > 0 ? (unsigned)n : 0;
    }
    for (unsigned cpu = 0, left = out->cpus; left && cpu < TOPOLOGY_CPUS; cpu++)
        if (list_has(online, cpu)) {
            take_processor(root, cpu, &sockets, out);
            left--;
        }
    if (topology_text(root, "/sys/devices/system/node/online", nodes, sizeof nodes) > 0) {
        int n = list_count(nodes, &first);
        out->numa_nodes = n > 0 ? (unsigned)n : 0;
    }
    if (!out->usable)
        out->usable = out->cpus;
}
