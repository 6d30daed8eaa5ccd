/* Offset assignment, the better of two greedy ways:
 *   in time order: each buffer takes the tightest free gap when it is born and gives it back when it
 *   dies (linear in practice);
 *   by size: the largest first, each at the lowest offset that is free over its whole life (quadratic,
 *   so only for graphs small enough).
 */
#include "analyze/memory_plan.h"

#include <assert.h>
#include <stdlib.h>

#include "base/num.h"

#define BY_SIZE_MAX 400 /* buffers */
#define GAPS_MAX    512 /* free gaps kept in time order; smaller ones are forgotten beyond that */

typedef struct gap {
    uint64_t offset, bytes;
} gap;

typedef struct heap_state {
    gap gaps[GAPS_MAX]; /* sorted by offset, never touching */
    uint32_t n;
    uint64_t end; /* everything from here on is free */
} heap_state;

static void remove_gap(heap_state *h, uint32_t k)
{
    assert(k < h->n);
    for (; k + 1 < h->n; k++)
        h->gaps[k] = h->gaps[k + 1];
    h->n--;
}

static uint64_t take_bytes(heap_state *h, uint64_t bytes)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < h->n; k++)
        if (h->gaps[k].bytes >= bytes &&
            (best == UINT32_MAX || h->gaps[k].bytes < h->gaps[best].bytes))
            best = k;
    if (best == UINT32_MAX) {
        uint64_t offset = h->end;
        h->end = sat_add(h->end, bytes);
        return offset;
    }
    assert(best < h->n);
    uint64_t offset = h->gaps[best].offset;
    h->gaps[best].offset += bytes;
    h->gaps[best].bytes -= bytes;
    if (h->gaps[best].bytes == 0)
        remove_gap(h, best);
    return offset;
}

static void give_back(heap_state *h, uint64_t offset, uint64_t bytes)
{
    uint32_t k = 0;
    while (k < h->n && h->gaps[k].offset < offset)
        k++;
    assert(k == h->n || offset < h->gaps[k].offset); /* nothing is given back twice */
    bool joins_before = k > 0 && h->gaps[k - 1].offset + h->gaps[k - 1].bytes == offset;
    bool joins_after = k < h->n && offset + bytes == h->gaps[k].offset;
    if (joins_before && joins_after) {
        h->gaps[k - 1].bytes += bytes + h->gaps[k].bytes;
        remove_gap(h, k);
    } else if (joins_before) {
        h->gaps[k - 1].bytes += bytes;
    } else if (joins_after) {
        h->gaps[k].offset = offset;
        h->gaps[k].bytes += bytes;
    } else if (h->n < GAPS_MAX) {
        for (uint32_t j = h->n; j > k; j--)
            h->gaps[j] = h->gaps[j - 1];
        h->gaps[k] = (gap){offset, bytes};
        h->n++;
        assert(h->n <= GAPS_MAX);
    }
}

/* Lists of buffers by birth and by death, one chain per step. */
typedef struct chains {
    uint32_t *born, *dying, *next_born, *next_dying;
} chains;

static bool make_chains(const memory_buffer *b, uint32_t n, uint32_t n_steps, arena *a, chains *c)
{
    c->born = ARENA_ARRAY(a, uint32_t, n_steps + (size_t)1);
    c->dying = ARENA_ARRAY(a, uint32_t, n_steps + (size_t)1);
    c->next_born = ARENA_ARRAY(a, uint32_t, n + (size_t)1);
    c->next_dying = ARENA_ARRAY(a, uint32_t, n + (size_t)1);
    if (!c->born || !c->dying || !c->next_born || !c->next_dying)
        return false;
    for (uint32_t k = n; k-- > 0;) { /* ids are stored plus one: zero ends a chain */
        assert(b[k].from <= b[k].to && b[k].to < n_steps);
        c->next_born[k] = c->born[b[k].from];
        c->born[b[k].from] = k + 1;
        c->next_dying[k] = c->dying[b[k].to];
        c->dying[b[k].to] = k + 1;
    }
    return true;
}

static uint64_t place_in_time(memory_buffer *b, uint32_t n_steps, const chains *c, heap_state *h)
{
    *h = (heap_state){0};
    for (uint32_t s = 0; s < n_steps; s++) {
        for (uint32_t k = c->born[s]; k; k = c->next_born[k - 1])
            b[k - 1].offset = b[k - 1].bytes ? take_bytes(h, b[k - 1].bytes) : 0;
        for (uint32_t k = c->dying[s]; k; k = c->next_dying[k - 1])
            if (b[k - 1].bytes)
                give_back(h, b[k - 1].offset, b[k - 1].bytes);
    }
    return h->end;
}

static int larger_first(const void *a, const void *b)
{
    const memory_buffer *x = *(memory_buffer *const *)a, *y = *(memory_buffer *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

static bool overlap(const memory_buffer *a, const memory_buffer *b)
{
    return a->from <= b->to && b->from <= a->to;
}

/* Lowest offset for b among the k placed before it. */
static uint64_t lowest_offset(memory_buffer *const *order, const uint64_t *offset, uint32_t k)
{
    uint64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t j = 0; j < k; j++) {
            if (!overlap(order[j], order[k]))
                continue;
            uint64_t end = sat_add(offset[j], order[j]->bytes);
            if (at < end && offset[j] < sat_add(at, order[k]->bytes)) {
                at = end;
                moved = true;
            }
        }
    }
    return at;
}

#ifndef NDEBUG
/* No two buffers that live at one time share a byte. */
static bool is_sound(const memory_buffer *b, uint32_t n, uint64_t total)
{
    for (uint32_t k = 0; k < n; k++) {
        if (b[k].bytes && sat_add(b[k].offset, b[k].bytes) > total)
            return false;
        for (uint32_t j = 0; j < k; j++)
            if (overlap(&b[j], &b[k]) && b[j].offset < b[k].offset + b[k].bytes &&
                b[k].offset < b[j].offset + b[j].bytes)
                return false;
    }
    return true;
}
#endif

static void place_by_size(memory_buffer *b, uint32_t n, uint64_t best, arena *a, uint64_t *total)
{
    memory_buffer **order = ARENA_ARRAY(a, memory_buffer *, n + (size_t)1);
    uint64_t *offset = ARENA_ARRAY(a, uint64_t, n + (size_t)1), end = 0;
    if (!order || !offset)
        return;
    for (uint32_t k = 0; k < n; k++)
        order[k] = &b[k];
    qsort(order, n, sizeof(memory_buffer *), larger_first);
    for (uint32_t k = 0; k < n; k++) {
        offset[k] = lowest_offset(order, offset, k);
        uint64_t top = sat_add(offset[k], order[k]->bytes);
        end = top > end ? top : end;
        if (end >= best)
            return;
    }
    for (uint32_t k = 0; k < n; k++)
        order[k]->offset = offset[k];
    *total = end;
}

assay_status memory_plan_offsets(memory_buffer *buffers, uint32_t n, uint32_t n_steps,
                                 arena *scratch, uint64_t *total, assay_error *err)
{
    chains c;
    heap_state *h = ARENA_NEW(scratch, heap_state);
    *total = 0;
    TRY_MEMORY(h && make_chains(buffers, n, n_steps, scratch, &c), err);
    *total = place_in_time(buffers, n_steps, &c, h);
    if (n > 0 && n <= BY_SIZE_MAX)
        place_by_size(buffers, n, *total, scratch, total);
    assert(n > BY_SIZE_MAX || *total >= NUM_SATURATED || is_sound(buffers, n, *total));
    return ASSAY_OK;
}
