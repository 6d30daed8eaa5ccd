/* Writes numbers as console, Markdown and notebooks do, for tests/page/format.mjs: lines of "UNIT NUMBER" come in,
 * a line of text goes out for each. A unit is one of view_put_number(), or a writer of the console. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/console.h"
#include "report/view_units.h"

static void put(sbuf *b, const char *unit, const char *number)
{
    double v = strtod(number, NULL);
    if (strcmp(unit, "console-si") == 0)
        text_si(b, v, -1);
    else if (strcmp(unit, "console-bytes") == 0)
        text_bytes(b, (uint64_t)v);
    else if (strcmp(unit, "console-ms") == 0)
        text_ms(b, v);
    else
        view_put_number(b, v, str_of(unit));
}

int main(void)
{
    char unit[32], number[64];
    while (scanf("%31s %63s", unit, number) == 2) {
        sbuf b = {0};
        put(&b, unit, number);
        puts(sbuf_cstr(&b));
        sbuf_free(&b);
    }
    return 0;
}
