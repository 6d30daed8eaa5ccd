/* Where an error says that it is. Tests pin it and the code of the error, and names and numbers that its sentence must
 * hold, not the sentence. */
#ifndef TESTS_SUPPORT_PLACE_H
#define TESTS_SUPPORT_PLACE_H

#include <assay/assay.h>

typedef struct error_place {
    char text[192]; /* "@OFFSET", "'NODE'", "@OFFSET 'NODE'" or "" */
} error_place;

error_place place_of_error(const assay_error *e);
/* Fails the running test when code or place is another one (place NULL: any), or when the sentence does not hold the fact:
 * a name or a number (NULL: none). */
void error_is(const assay_error *e, assay_status code, const char *place, const char *fact);

#endif
