/* Comma-separated text (RFC 4180): fields of one line at a time. A quoted field may hold commas, line ends and doubled
 * quotes; lines that start with # are remarks. Which columns there are is the caller's business.
 */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/str.h"

typedef struct csv {
    const char *at, *end;
    arena *arena; /* holds fields whose quotes were doubled */
} csv;

csv csv_of(str text, arena *a);
/* Whether a line follows, behind remarks and empty lines. */
bool csv_more(csv *c);
/* Fields of one line; the count, or -1 for a quote that does not end, too many fields or no memory. */
int csv_line(csv *c, str *out, int room);
/* The place of a title among n; -1 when it is missing. */
int csv_column(const str *titles, int n, const char *title);

#endif
