/* JSON read as it passes by, for traces of hundreds of megabytes of which little is kept: the caller walks
 * objects and arrays and takes or skips each value. Failure is sticky, as in the cursor below it.
 *
 *   if (pull_open(p, '{'))
 *       while (pull_key(p))            the key is p->text until the next read
 *           if (str_is(p->text, "x")) x = pull_u64(p); else pull_skip(p);
 */
#ifndef ENGINE_JSON_PULL_H
#define ENGINE_JSON_PULL_H

#include "base/source.h"

#define PULL_TEXT_MAX \
    ((size_t)64 << 10) /* longer strings are cut; names of nodes are not so long */
#define PULL_DEPTH_MAX 64

typedef struct json_pull {
    cursor c;
    int depth;
    bool begun[PULL_DEPTH_MAX]; /* an item of the container at this depth was read */
    str text;                   /* of the last key or string: p NUL-terminated */
    char *buf;                  /* PULL_TEXT_MAX bytes */
} json_pull;

/* The buffer is made in the arena; false when memory is out. */
bool pull_init(json_pull *p, cursor c, arena *a);
bool pull_ok(const json_pull *p);

/* Enters a container when one begins here; anything else is skipped and false. */
bool pull_open(json_pull *p, char bracket);
/* The next item of the array: false at its end, which is left. */
bool pull_item(json_pull *p);
/* The next key of the object, into text: false at its end, which is left. */
bool pull_key(json_pull *p);

/* Strings into text; other values are skipped and give "". */
str pull_str(json_pull *p);
/* Whole numbers, also written as strings; negative ones and other values give 0. */
uint64_t pull_u64(json_pull *p);
void pull_skip(json_pull *p);
/* Nothing but blanks may follow. */
bool pull_end(json_pull *p);

#endif
