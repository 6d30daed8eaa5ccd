/* See llama_alloc.h. */
#include "engine/llama_alloc.h"

#include <string.h>

enum { ALIGNMENT = 32 };

/* ---- the graph ---- */

static uint32_t add_tensor(llama_graph *g, const llama_tensor *t)
{
    if (!VEC_ADD(g->arena, &g->tensors, *t)) {
        g->failed = true;
        return LLAMA_NO_TENSOR;
    }
    for (int i = 0; i < LLAMA_SOURCES; i++)
        g->tensors.items[t->sources[i]].readers += t->sources[i] != LLAMA_NO_TENSOR;
    return g->tensors.n - 1;
}

void llama_graph_init(llama_graph *g, arena *a)
{
    *g = (llama_graph){.arena = a};
    add_tensor(g, &(llama_tensor){0});
}

uint32_t llama_graph_input(llama_graph *g, uint64_t bytes)
{
    return add_tensor(g, &(llama_tensor){.bytes = bytes, .input = true});
}

uint32_t llama_graph_add(llama_graph *g, uint64_t bytes, uint32_t a, uint32_t b, uint32_t c)
{
    return add_tensor(g, &(llama_tensor){.bytes = bytes, .sources = {a, b, c}});
}

uint32_t llama_graph_in_place(llama_graph *g, uint64_t bytes, uint32_t a, uint32_t b)
{
    return add_tensor(g, &(llama_tensor){.bytes = bytes, .sources = {a, b}, .in_place = true});
}

/* ---- the buffer ---- */

typedef struct free_block {
    uint64_t at, size;
} free_block;

/* Free blocks by their place; the last one has no end. */
typedef struct buffer {
    arena *arena;
    VEC(free_block) blocks;
    uint64_t most;
    bool failed;
} buffer;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void remove_block(buffer *b, uint32_t i)
{
    memmove(&b->blocks.items[i], &b->blocks.items[i + 1],
            (size_t)(b->blocks.n - i - 1) * sizeof *b->blocks.items);
    b->blocks.n--;
}

/* The smallest block that is large enough, of several the last; else that at the end. */
static uint64_t take_block(buffer *b, uint64_t bytes)
{
    uint32_t best = b->blocks.n - 1;
    for (uint32_t i = 0; i + 1 < b->blocks.n; i++)
        if (b->blocks.items[i].size >= bytes &&
            b->blocks.items[i].size <= b->blocks.items[best].size)
            best = i;
    free_block *block = &b->blocks.items[best];
    uint64_t at = block->at;
    if (bytes > block->size || at > UINT64_MAX / 2) {
        b->failed = true;
        return 0;
    }
    block->at += bytes;
    block->size -= bytes;
    if (!block->size)
        remove_block(b, best);
    b->most = at + bytes > b->most ? at + bytes : b->most;
    return at;
}

static void merge_with_next(buffer *b, uint32_t i)
{
    free_block *block = &b->blocks.items[i];
    if (i + 1 < b->blocks.n && block->at + block->size == block[1].at) {
        block->size += block[1].size;
        remove_block(b, i + 1);
    }
}

static void give_back(buffer *b, uint64_t at, uint64_t bytes)
{
    uint32_t i = 0;
    while (i < b->blocks.n && b->blocks.items[i].at < at)
        i++;
    if (!VEC_ADD(b->arena, &b->blocks, (free_block){0})) {
        b->failed = true;
        return;
    }
    memmove(&b->blocks.items[i + 1], &b->blocks.items[i],
            (size_t)(b->blocks.n - 1 - i) * sizeof *b->blocks.items);
    b->blocks.items[i] = (free_block){at, bytes};
    merge_with_next(b, i);
    if (i > 0)
        merge_with_next(b, i - 1);
}

/* ---- tensors in it ---- */

static bool take_over(llama_graph *g, llama_tensor *t)
{
    for (int i = 0; t->in_place && i < LLAMA_SOURCES; i++) {
        llama_tensor *s = &g->tensors.items[t->sources[i]];
        if (!s->placed || s->readers != 1 || s->bytes != t->bytes)
            continue;
        t->at = s->at;
        s->placed = false;
        return true;
    }
    return false;
}

static void place(llama_graph *g, buffer *b, llama_tensor *t)
{
    if (!t->bytes || t->placed)
        return;
    if (!take_over(g, t))
        t->at = take_block(b, aligned(t->bytes));
    t->placed = true;
}

static void release_sources(llama_graph *g, buffer *b, const llama_tensor *t)
{
    for (int i = 0; i < LLAMA_SOURCES; i++) {
        llama_tensor *s = &g->tensors.items[t->sources[i]];
        if (t->sources[i] == LLAMA_NO_TENSOR || --s->readers || !s->placed || s->output)
            continue;
        give_back(b, s->at, aligned(s->bytes));
        s->placed = false;
    }
}

uint64_t llama_graph_buffer(llama_graph *g)
{
    buffer b = {.arena = g->arena};
    b.failed = g->failed || !VEC_ADD(b.arena, &b.blocks, (free_block){0, UINT64_MAX / 2});
    for (uint32_t i = 1; !b.failed && i < g->tensors.n; i++)
        if (g->tensors.items[i].input)
            place(g, &b, &g->tensors.items[i]);
    for (uint32_t i = 1; !b.failed && i < g->tensors.n; i++) {
        place(g, &b, &g->tensors.items[i]);
        release_sources(g, &b, &g->tensors.items[i]);
    }
    return b.failed ? 0 : b.most;
}
