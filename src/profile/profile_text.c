/* Names and shapes of layers in the form that all outputs use. */
#include "profile/profile_text.h"

#include <inttypes.h>
#include <string.h>

void profile_put_shape(sbuf *b, const profile_shape *s, const char *times)
{
    if (s->rank < 0)
        sbuf_putc(b, '?');
    else if (s->rank == 0)
        sbuf_puts(b, "scalar");
    for (int i = 0; i < s->rank; i++) {
        if (i > 0)
            sbuf_puts(b, times);
        if (s->dims[i] < 0)
            sbuf_putc(b, '?');
        else
            sbuf_printf(b, "%" PRId64, s->dims[i]);
    }
}

/* Where the next part between slashes ends. */
static uint32_t part_end(str s, uint32_t from)
{
    while (from < s.n && s.p[from] != '/')
        from++;
    return from;
}

static bool continues(str part, str before)
{
    return before.n && part.n > before.n && part.p[before.n] == '.' &&
           memcmp(part.p, before.p, before.n) == 0;
}

void profile_put_name(sbuf *b, str name)
{
    str before = {0};
    size_t start = b->n, before_at = b->n;
    if (name.n < 2 || name.p[0] != '/') {
        sbuf_str(b, name);
        return;
    }
    for (uint32_t from = 1; from <= name.n;) {
        uint32_t end = part_end(name, from);
        str part = {name.p + from, end - from};
        if (b->failed)
            return;
        if (continues(part, before))
            b->n = before_at;
        else if (b->n > start)
            sbuf_putc(b, end >= name.n ? '/' : '.');
        before_at = b->n;
        sbuf_str(b, part);
        before = part;
        from = end + 1;
    }
    if (b->n == start)
        sbuf_str(b, name);
}
