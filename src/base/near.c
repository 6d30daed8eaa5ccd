/* Suggestions for an unknown name: by edit distance, by common substrings, and by edit distance of the beginning
 * ("mobilnet" for mobilenet_v2). */
#include "base/near.h"

#include <ctype.h>

enum { NAME_MOST = 64, NAMES_MOST = 16 };

/* Letters and digits alone, in lower case. */
static str plain_name(str name, char buf[NAME_MOST])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < name.n && n < NAME_MOST; i++)
        if (isalnum((unsigned char)name.p[i]))
            buf[n++] = (char)tolower((unsigned char)name.p[i]);
    return (str){buf, n};
}

static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* A rest that was not typed costs little. */
static unsigned rest_cost(str name, uint32_t typed)
{
    return 1 + (name.n - typed) / 4;
}

/* Edits of the beginning of the name. */
static unsigned beginning_distance(str word, str name, unsigned limit)
{
    unsigned best = limit + 1;
    for (uint32_t n = word.n - 1; word.n > 4 && n <= word.n + 1 && n < name.n; n++)
        best = least_of(best, str_distance(word, (str){name.p, n}, limit) + rest_cost(name, n));
    return best;
}

static unsigned name_distance(str word, const char *name, unsigned limit)
{
    char buf[NAME_MOST];
    str whole = plain_name(str_of(name), buf);
    unsigned d = least_of(str_distance(word, whole, limit), beginning_distance(word, whole, limit));
    if (word.n >= 3 && whole.n >= word.n && memmem(whole.p, whole.n, word.p, word.n))
        d = least_of(d, rest_cost(whole, word.n));
    return d;
}

typedef struct nearest {
    const char **names;
    unsigned far[NAMES_MOST];
    uint32_t n, max;
} nearest;

static void keep_name(nearest *k, const char *name, unsigned d)
{
    uint32_t at = k->n;
    while (at > 0 && k->far[at - 1] > d)
        at--;
    if (at >= k->max)
        return;
    k->n += k->n < k->max;
    for (uint32_t i = k->n - 1; i > at; i--) {
        k->names[i] = k->names[i - 1];
        k->far[i] = k->far[i - 1];
    }
    k->names[at] = name;
    k->far[at] = d;
}

uint32_t near_names(str word, near_name_at *at, const void *ctx, const char **out, uint32_t max)
{
    char buf[NAME_MOST];
    str asked = plain_name(word, buf);
    nearest kept = {.names = out, .max = max < NAMES_MOST ? max : NAMES_MOST};
    unsigned limit = asked.n / 3 + 1;
    const char *name;
    for (uint32_t i = 0; asked.n && (name = at(i, ctx)) != NULL; i++) {
        unsigned d = *name ? name_distance(asked, name, limit) : limit + 1;
        if (d <= limit)
            keep_name(&kept, name, d);
    }
    return kept.n;
}

void near_put(sbuf *out, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(out, "%s%s", i == 0 ? " Did you mean " : i + 1 < n ? ", " : " or ", names[i]);
    if (n)
        sbuf_putc(out, '?');
}
