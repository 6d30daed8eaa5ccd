/* UTF-8, one character at a time: a strict decoder (no overlong forms, surrogates, or numbers above U+10FFFF), and
 * the width and safety of characters on a terminal. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length (1 to 4) of the character at p, of which n bytes are there, and its number; 0 when the
 * bytes are not valid UTF-8. */
unsigned utf8_next(const char *p, size_t n, uint32_t *cp);

/* Writes a number below 0x110000 as 1 to 4 bytes; how many. */
unsigned utf8_encode(uint32_t cp, char to[4]);

/* Columns of a character: 0, 1 or 2; UTF8_HIDDEN for what must not reach a terminal as it is:
 * controls (C0, DEL, C1), invisible characters, those that turn the direction of writing, and what XML 1.0
 * may not hold (U+FFFE, U+FFFF). */
#define UTF8_HIDDEN (-1)
int utf8_columns(uint32_t cp);

#endif
