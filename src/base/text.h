/* Text for output: number formats, terminal-safe names, column widths. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/sbuf.h"

/* 1234567 -> "1,234,567". */
void text_thousands(sbuf *b, uint64_t v);
/* The one rule of rounding, which web/src/format.ts follows too: to the nearest, and of two that are equally near
 * (6.125) to the one further from zero, where printf takes the even one; three decimals below 1e12. "-0.00" is "0.00". */
void text_fixed(sbuf *b, double v, int decimals);
/* v for a format of printf with as many decimals ("%.2f"), which then rounds by that rule. */
double text_tie_away(double v, int decimals);
/* 4089184256 -> "4.09 G" (decimal prefixes; `decimals` fixed ones, or 3 significant digits
 * when it is negative). Whole numbers below 1000 stand as they are: "512". Not finite: "n/a". */
void text_si(sbuf *b, double v, int decimals);
/* The same with a unit: "4.09 GFLOPs", "512 FLOPs". */
void text_si_unit(sbuf *b, double v, int decimals, const char *unit);
/* 102228128 -> "97.49 MiB" (binary prefixes, two decimals from KiB up). */
void text_bytes(sbuf *b, uint64_t v);

/* Of more than 0 milliseconds: "25.13 ms", "3.20 µs", "12.50 s". */
void text_ms(sbuf *b, double ms);

/* The end of a noun after a number: "1 layer", "2 layers". */
#define TEXT_S(n) ((n) == 1 ? "" : "s")

/* Appends a name from a file so that it is safe for a terminal: control bytes and broken UTF-8 become visible escapes
 * (\x1b), valid UTF-8 passes. */
void text_safe(sbuf *b, str name);
/* text_safe into cap bytes with a NUL; what does not fit is cut between characters and ends in "…". */
void text_safe_into(char *buf, size_t cap, str name);
/* Columns that text_safe's output of name takes in a terminal (wide characters count 2). */
unsigned text_width(str name);
/* text_safe cut to `width` columns, the middle replaced by "…", padded with spaces when shorter. */
void text_fit(sbuf *b, str name, unsigned width);

/* The longest prefix of s that is valid UTF-8 is all of s. */
bool text_is_utf8(str s);

/* The one of `names` that `word` is most likely a slip of: " Did you mean 'graph'?", or nothing. */
void text_did_you_mean(sbuf *b, str word, const char *const *names, uint32_t n);

#endif
