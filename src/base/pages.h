/* Zeroed memory for the blocks of arenas, in few system calls and few page faults.
 *
 * Blocks of a few pages are cut from a region of 2 MiB that the system may back with one huge page: a page of its own
 * costs about a microsecond, a mapping several, and a small model is analysed in less than a millisecond. Memory that
 * one arena gave back serves the next one. Only the first thread of a process has a region, so that none is lost when a
 * thread ends; other threads, and blocks that do not fit, get mappings of their own.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

typedef struct pages {
    void *at; /* NULL: out of memory, which is noted (base/memory.h) */
    size_t size;
    struct pages_region *of; /* NULL: a mapping of its own */
} pages;

/* At least `size` zeroed bytes, aligned to 64. */
pages pages_take(size_t size);
/* Any thread may give back what another one took. */
void pages_give(pages p);

#endif
