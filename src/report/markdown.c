/* See markdown.h. CommonMark and what GitHub adds to it: pipes end a table's cell, mentions and addresses in text become
 * links. */
#include "report/markdown.h"

#include "base/text.h"

static const char *entity_of(char c)
{
    return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : NULL;
}

#define NO_SPACE "&#8203;" /* that nobody sees */

/* Whether a mention or an address would be found behind this character. */
static bool begins_link(const sbuf *s, size_t i)
{
    bool address = i + 2 < s->n && memcmp(s->p + i, "://", 3) == 0;
    bool host = i >= 2 && i + 1 < s->n && memcmp(s->p + i - 2, "www.", 4) == 0;
    return s->p[i] == '@' || address || host;
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
        if (begins_link(&safe, i))
            sbuf_puts(out, NO_SPACE);
    }
    out->failed |= safe.failed;
    sbuf_free(&safe);
}
