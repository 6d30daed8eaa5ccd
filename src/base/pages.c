/* See pages.h. A region is cut from its start; what was given back is reused when it was the last piece, or when no
 * piece is in use. A region that is too small for a large piece is left for a new one, and unmapped with its last piece.
 */
#include "base/pages.h"

#ifdef __linux__
#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    HUGE_PAGE = 2 << 20,
    ALIGN = 64,
    STEP = 128 << 10,      /* prepared at once */
    LEAVE_FROM = 64 << 10, /* a smaller piece is no reason for a new region */
    POPULATE_MAX = 4 << 20
};

typedef struct pages_region {
    atomic_uint holders; /* the pieces in use, and the thread whose region it is */
    size_t size;
    /* Of that thread alone: offsets of the end of the last piece, of what was ever part of one, and of what has pages. */
    size_t used, written, ready;
} region;

static _Thread_local region *own_region;

static size_t round_up(size_t n, size_t unit)
{
    return (n + (unit - 1)) & ~(unit - 1);
}

/* A mapping that starts where a huge page may. */
static region *map_region(size_t size)
{
    size_t spare = HUGE_PAGE;
    unsigned char *p = mmap(NULL, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)p & (HUGE_PAGE - 1));
    if (before > 0)
        munmap(p, before);
    munmap(p + before + size, spare - before);
    region *r = (region *)(void *)(p + before);
    madvise(r, size, MADV_HUGEPAGE);
    return r;
}

static void release_region(region *r)
{
    if (atomic_fetch_sub(&r->holders, 1) == 1)
        munmap(r, r->size);
}

/* The region becomes this thread's in place of the one before. */
static region *new_region(size_t piece)
{
    size_t size = round_up(piece + sizeof(region), HUGE_PAGE);
    region *r = map_region(size);
    if (!r)
        return NULL;
    r->size = size;
    r->used = r->written = round_up(sizeof *r, ALIGN);
    atomic_init(&r->holders, 1);
    if (own_region)
        release_region(own_region);
    return own_region = r;
}

/* The region to cut `size` bytes from; NULL: none. */
static region *region_for(size_t size)
{
    region *r = own_region;
    if (r && atomic_load(&r->holders) == 1)
        r->used = round_up(sizeof *r, ALIGN);
    if (r && size <= r->size - r->used)
        return r;
    bool wanted = r ? size >= LEAVE_FROM : gettid() == getpid();
    return wanted && size <= POPULATE_MAX ? new_region(size) : NULL;
}

/* Pages in advance, where the system knows the call; else they come one by one. */
static void prepare_pages(region *r)
{
    unsigned char *base = (unsigned char *)r;
    size_t end = round_up(r->used, STEP);
    if (r->used <= r->ready)
        return;
    madvise(base + r->ready, (end < r->size ? end : r->size) - r->ready, MADV_POPULATE_WRITE);
    r->ready = end;
}

static pages cut_piece(region *r, size_t size)
{
    unsigned char *at = (unsigned char *)r + r->used;
    size_t old = r->written > r->used ? r->written - r->used : 0;
    assert(r->used % ALIGN == 0 && size % ALIGN == 0);
    r->used += size;
    prepare_pages(r);
    memset(at, 0, old < size ? old : size);
    if (r->written < r->used)
        r->written = r->used;
    atomic_fetch_add(&r->holders, 1);
    return (pages){.at = at, .size = size, .of = r};
}

static pages map_pages(size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (size <= POPULATE_MAX ? MAP_POPULATE : 0);
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return (pages){.at = p == MAP_FAILED ? memory_note_lack() : p, .size = size};
}

pages pages_take(size_t size)
{
    size_t need = round_up(size, ALIGN);
    region *r = need >= size ? region_for(need) : NULL;
    return r ? cut_piece(r, need) : map_pages(size);
}

void pages_give(pages p)
{
    region *r = p.of;
    if (!r) {
        munmap(p.at, p.size);
        return;
    }
    if (r == own_region && (unsigned char *)p.at + p.size == (unsigned char *)r + r->used)
        r->used -= p.size;
    release_region(r);
}
#else
#include <stdlib.h>

#include "base/memory.h"

pages pages_take(size_t size)
{
    return (pages){.at = memory_zeroed(1, size), .size = size};
}

void pages_give(pages p)
{
    free(p.at);
}
#endif
