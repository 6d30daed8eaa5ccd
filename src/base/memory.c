/* See memory.h. */
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

static _Thread_local int lacked; /* errno of the first lack */
static _Thread_local char lacked_file[NAME_BYTES];

void *memory_note_lack(void)
{
    memory_note_unread(ENOMEM, "");
    return NULL;
}

void memory_note_unread(int error, const char *file)
{
    if (lacked)
        return;
    lacked = error;
    snprintf(lacked_file, sizeof lacked_file, "%s", file);
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

const char *memory_lack_file(void)
{
    return lacked_file;
}

void memory_forget_lack(void)
{
    lacked = 0;
    lacked_file[0] = '\0';
}
