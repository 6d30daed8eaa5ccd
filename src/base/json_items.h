/* The items of a JSON list that is too large for memory, one at a time, each as a text for json_scan.h:
 *
 *   json_items it = json_items_of(c, a);
 *   while (json_items_next(&it, &text, &offset)) ...
 *   if (!cursor_ok(&it.c)) ...
 *
 * Only brackets and quotes are looked at here; the item's own reader finds every other mistake.
 */
#ifndef BASE_JSON_ITEMS_H
#define BASE_JSON_ITEMS_H

#include "base/source.h"

typedef struct json_items {
    cursor c;
    arena *a; /* of the buffer */
    char *buf;
    size_t cap;
    bool begun, ended;
} json_items;

/* The list begins at the cursor and is all that is there. */
json_items json_items_of(cursor c, arena *a);
/* The next item, valid until the next call, and its offset in the source. False at the end, when the cursor failed,
 * and if out of memory (the arena failed). An item has at most 64 MiB. */
bool json_items_next(json_items *it, str *item, uint64_t *offset);

#endif
