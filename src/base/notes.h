/* Warnings of a result: what was assumed, unknown or unusual, each with its node and advice. Any room
 * may add notes; only reports show them.
 */
#ifndef BASE_NOTES_H
#define BASE_NOTES_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct note {
    const char *code; /* stable, e.g. "assumed-dim"; a literal */
    str node;         /* node or value name, or empty */
    str text;         /* a whole sentence */
    str advice;       /* what to do, or empty */
} note;

typedef struct notes {
    arena *arena; /* borrowed; holds the strings */
    VEC(note) list;
    uint32_t dropped; /* beyond NOTES_MAX_PER_CODE of one code */
    map seen;         /* code, node and text of each note; and the count of each code */
} notes;

/* A hostile file must not turn into a million sentences: per code, the rest is only counted. */
#define NOTES_MAX_PER_CODE 100

void notes_init(notes *n, arena *a);
/* Copies node, formats text (which becomes safe for a terminal, see text_safe); `advice` is copied
 * and may be NULL. The same code+node+text again is ignored. */
void notes_add(notes *n, const char *code, str node, const char *advice, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Moves the notes of a code before all others; the order stays as it is otherwise. */
void notes_put_first(notes *n, const char *code);
/* Adds copies of all that `from` holds. */
void notes_join(notes *n, const notes *from);

#endif
