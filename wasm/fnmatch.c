/* fnmatch() for names of ASCII: *, ?, [a-z], [!a-z] and FNM_CASEFOLD, which is all that lists of models, devices and
 * operators use. That of wasi-libc brings tables of every script with it, 16 kB. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>

static int folded(char c, int flags)
{
    return flags & FNM_CASEFOLD ? tolower((unsigned char)c) : (unsigned char)c;
}

/* Whether c is in the class that starts after '['. *end is behind its ']', or NULL: there is none. */
static bool in_class(const char *p, int c, int flags, const char **end)
{
    bool found = false, not = *p == '!' || *p == '^';
    p += not ;
    for (bool first = true; *p && (first || *p != ']'); first = false) {
        p += *p == '\\' && p[1] && !(flags & FNM_NOESCAPE);
        int low = folded(*p++, flags), high = low;
        if (p[0] == '-' && p[1] && p[1] != ']') {
            high = folded(p[1], flags);
            p += 2;
        }
        found = found || (low <= c && c <= high);
    }
    *end = *p == ']' ? p + 1 : 0;
    return found != not ;
}

/* Whether one character fits what the pattern starts with; *after is what follows it. */
static bool fits(const char *pattern, char c, int flags, const char **after)
{
    *after = pattern + 1;
    if (*pattern == '?')
        return true;
    if (*pattern == '[') {
        const char *end;
        bool in = in_class(pattern + 1, folded(c, flags), flags, &end);
        if (end) {
            *after = end;
            return in;
        }
    }
    if (*pattern == '\\' && pattern[1] && !(flags & FNM_NOESCAPE)) {
        *after = pattern + 2;
        pattern++;
    }
    return folded(*pattern, flags) == folded(c, flags);
}

/* The last '*' takes one character more whenever what follows it does not fit. */
int fnmatch(const char *pattern, const char *text, int flags)
{
    const char *star = 0, *from = 0, *after;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern && fits(pattern, *text, flags, &after)) {
            pattern = after;
            text++;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return FNM_NOMATCH;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern ? FNM_NOMATCH : 0;
}
