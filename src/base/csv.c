/* See csv.h. */
#include "base/csv.h"

csv csv_of(str text, arena *a)
{
    return (csv){.at = text.p, .end = text.p + text.n, .arena = a};
}

bool csv_more(csv *c)
{
    while (c->at < c->end && (*c->at == '#' || *c->at == '\n' || *c->at == '\r')) {
        while (c->at < c->end && *c->at != '\n')
            c->at++;
        if (c->at < c->end)
            c->at++;
    }
    return c->at < c->end;
}

/* Where the field that begins here with a quote ends: at its last quote, or at the end of the text. */
static const char *closing_quote(const csv *c)
{
    const char *p = c->at + 1;
    while (p < c->end && (*p != '"' || (p + 1 < c->end && p[1] == '"')))
        p += *p == '"' ? 2 : 1;
    return p < c->end ? p : c->end;
}

/* A quoted field; the quotes that are doubled inside stand once in a copy. */
static bool quoted_field(csv *c, str *out)
{
    const char *end = closing_quote(c);
    char *copy = arena_alloc(c->arena, (size_t)(end - c->at) + 1);
    uint32_t n = 0;
    if (!copy || end == c->end)
        return false;
    for (const char *p = c->at + 1; p < end; p += *p == '"' ? 2 : 1)
        copy[n++] = *p;
    *out = (str){copy, n};
    c->at = end + 1;
    return true;
}

static bool plain_field(csv *c, str *out)
{
    const char *from = c->at;
    while (c->at < c->end && *c->at != ',' && *c->at != '\n' && *c->at != '\r')
        c->at++;
    *out = (str){from, (uint32_t)(c->at - from)};
    return true;
}

int csv_line(csv *c, str *out, int room)
{
    for (int n = 0; n < room; n++) {
        bool quoted = c->at < c->end && *c->at == '"';
        if (!(quoted ? quoted_field : plain_field)(c, &out[n]))
            return -1;
        if (c->at < c->end && *c->at == ',') {
            c->at++;
            continue;
        }
        while (c->at < c->end && (*c->at == '\r' || *c->at == '\n'))
            c->at++;
        return n + 1;
    }
    return -1;
}

int csv_column(const str *titles, int n, const char *title)
{
    for (int i = 0; i < n; i++)
        if (str_is(titles[i], title))
            return i;
    return -1;
}
