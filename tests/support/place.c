/* See place.h. */
#include "support/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

error_place place_of_error(const assay_error *e)
{
    error_place p = {""};
    bool in_file = e->offset != ASSAY_NO_OFFSET, named = e->node[0] != '\0';
    int n = in_file ? snprintf(p.text, sizeof p.text, "@%llu", (unsigned long long)e->offset) : 0;
    if (named)
        snprintf(p.text + n, sizeof p.text - (size_t)n, "%s'%s'", in_file ? " " : "", e->node);
    return p;
}

void error_is(const assay_error *e, assay_status code, const char *place, const char *fact)
{
    error_place p = place_of_error(e);
    if (e->code != code || (place && strcmp(p.text, place) != 0))
        fail_msg("expected %d at \"%s\", got %d at \"%s\": %s", (int)code, place ? place : "",
                 (int)e->code, p.text, e->message);
    if (fact && !strstr(e->message, fact))
        fail_msg("\"%s\" is not in \"%s\"", fact, e->message);
}
