/* The place of an error: byte offset and node. Tests pin the code and the place of an error, and
 * the names and numbers that its message must contain, never the message. */
#ifndef TESTS_SUPPORT_PLACE_H
#define TESTS_SUPPORT_PLACE_H

#include <assay/assay.h>

typedef struct error_place {
    char text[192]; /* "@OFFSET", "'NODE'", "@OFFSET 'NODE'" or "" */
} error_place;

error_place place_of_error(const assay_error *e);

/* Fails the running test if the code or the place differs (place NULL: any place), or if the
 * message does not contain fact, a name or a number (NULL: none). */
void error_is(const assay_error *e, assay_status code, const char *place, const char *fact);

#endif
