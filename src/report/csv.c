/* CSV fields by RFC 4180: quoted if they contain a comma, a quote or a line break.
 *
 * Control bytes and invalid UTF-8 become visible escapes (\x1b), so that the file is safe in a terminal. A text that
 * begins with = + - or @ would be a formula in a spreadsheet; it gets a leading apostrophe. Numbers are written
 * unchanged.
 */
#include <string.h>

#include "base/text.h"
#include "report/report.h"

static void put_field(sbuf *out, str s)
{
    bool quote = false, formula = s.n && strchr("=+-@", s.p[0]);
    for (uint32_t i = 0; i < s.n && !quote; i++)
        quote = s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r';
    if (!quote) {
        sbuf_puts(out, formula ? "'" : "");
        sbuf_str(out, s);
        return;
    }
    sbuf_puts(out, formula ? "\"'" : "\"");
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            sbuf_putc(out, '"');
        sbuf_putc(out, s.p[i]);
    }
    sbuf_putc(out, '"');
}

void report_csv_field(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    put_field(out, (str){safe.p, (uint32_t)safe.n});
    out->failed = out->failed || safe.failed;
    sbuf_free(&safe);
}
