/* See markdown.h. CommonMark and what GitHub adds to it: pipes end a table's cell even in code, mentions and
 * links are found in text but not in code. */
#include "report/markdown.h"

#include "base/text.h"

static const char *entity_of(char c)
{
    return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : NULL;
}

void md_text(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    for (size_t i = 0; i < safe.n; i++) {
        const char *entity = entity_of(safe.p[i]);
        if (entity) {
            sbuf_puts(out, entity);
            continue;
        }
        if (strchr("\\|`*_[]#!~", safe.p[i]))
            sbuf_putc(out, '\\');
        sbuf_putc(out, safe.p[i]);
        if (safe.p[i] == '@')
            sbuf_puts(out, "&#8203;"); /* no space that anybody sees, and no mention */
    }
    out->failed |= safe.failed;
    sbuf_free(&safe);
}

static size_t longest_ticks(const sbuf *s)
{
    size_t most = 0, run = 0;
    for (size_t i = 0; i < s->n; i++) {
        run = s->p[i] == '`' ? run + 1 : 0;
        most = run > most ? run : most;
    }
    return most;
}

/* A span's fence must be longer than any run of ticks within; a tick at either end needs a space. */
void md_code(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    size_t fence = longest_ticks(&safe) + 1;
    if (safe.n) {
        for (size_t i = 0; i < fence; i++)
            sbuf_putc(out, '`');
        sbuf_puts(out, fence > 1 ? " " : "");
        for (size_t i = 0; i < safe.n; i++)
            if (safe.p[i] == '|')
                sbuf_puts(out, "\\|");
            else
                sbuf_putc(out, safe.p[i]);
        sbuf_puts(out, fence > 1 ? " " : "");
        for (size_t i = 0; i < fence; i++)
            sbuf_putc(out, '`');
    }
    out->failed |= safe.failed;
    sbuf_free(&safe);
}
