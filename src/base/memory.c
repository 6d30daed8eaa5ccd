/* See memory.h. */
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int lacked; /* errno of the first lack */

void *memory_note_lack(void)
{
    memory_note_unread(ENOMEM);
    return NULL;
}

void memory_note_unread(int error)
{
    lacked = lacked ? lacked : error;
}

void *memory_alloc(size_t n)
{
    void *p = malloc(n);
    return p || !n ? p : memory_note_lack();
}

void *memory_zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);
    return p || !n || !size ? p : memory_note_lack();
}

void *memory_resize(void *p, size_t n)
{
    void *q = realloc(p, n);
    return q || !n ? q : memory_note_lack();
}

char *memory_strdup(const char *s)
{
    char *p = strdup(s);
    return p ? p : memory_note_lack();
}

bool memory_lacked(void)
{
    return lacked != 0;
}

int memory_lack(void)
{
    return lacked;
}

void memory_forget_lack(void)
{
    lacked = 0;
}
