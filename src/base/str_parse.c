/* Numbers and lists in text; see str.h. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/str.h"

enum { NUMBER_MAX = 400 }; /* characters; no double needs as many */

static str str_behind(str s, uint32_t n)
{
    return n ? (str){s.p + n, s.n - n} : s;
}

/* ---- whole numbers ---- */

bool str_take_u64(str *s, uint64_t *out)
{
    uint64_t v = 0;
    uint32_t n = 0;
    for (; n < s->n && str_is_digit(s->p[n]); n++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s->p[n] - '0'), &v))
            return false;
    if (n == 0)
        return false;
    *out = v;
    *s = str_behind(*s, n);
    return true;
}

bool str_to_u64(str s, uint64_t *out)
{
    uint64_t v;
    if (!str_take_u64(&s, &v) || s.n)
        return false;
    *out = v;
    return true;
}

bool str_to_i64(str s, int64_t *out)
{
    bool minus = s.n && s.p[0] == '-';
    uint64_t v;
    if (!str_to_u64(str_behind(s, minus), &v) || v > (uint64_t)INT64_MAX + minus)
        return false;
    *out = minus && v ? -(int64_t)(v - 1) - 1 : (int64_t)v; /* -2^63 without overflow */
    return true;
}

/* ---- numbers ---- */

static uint32_t count_digits(str s, uint32_t from)
{
    uint32_t at = from;
    while (at < s.n && str_is_digit(s.p[at]))
        at++;
    return at - from;
}

/* Of the number that s begins with; 0 if there is none. */
static uint32_t number_length(str s)
{
    uint32_t at = s.n && s.p[0] == '-', before = count_digits(s, at), after = 0;
    at += before;
    if (at < s.n && s.p[at] == '.') {
        after = count_digits(s, at + 1);
        at += before + after ? 1 + after : 0;
    }
    if (before + after == 0)
        return 0;
    if (at < s.n && (s.p[at] | 32) == 'e') {
        uint32_t sign = at + 1 < s.n && (s.p[at + 1] == '-' || s.p[at + 1] == '+');
        uint32_t digits = count_digits(s, at + 1 + sign);
        at += digits ? 1 + sign + digits : 0;
    }
    return at;
}

/* Up to 15 digits and a power of ten up to 22 are both exact as doubles, so one operation on them rounds
 * correctly and no locale is asked. False when the number is not of that kind. */
static bool short_number(str s, double *out)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t v = 0;
    int after = 0;
    bool minus = s.p[0] == '-', point = false;
    if (s.n > 17)
        return false;
    for (uint32_t i = minus; i < s.n; i++) {
        if (s.p[i] == '.') {
            point = true;
            continue;
        }
        if (!str_is_digit(s.p[i]))
            return false;
        v = v * 10 + (uint64_t)(s.p[i] - '0');
        after += point;
    }
    *out = (minus ? -(double)v : (double)v) / tens[after];
    return v < (uint64_t)1 << 53;
}

/* strtod, which wants the point of the host program's locale. */
static double long_number(str s)
{
    char buf[NUMBER_MAX + 64];
    const char *point = localeconv()->decimal_point;
    size_t k = strlen(point), out = 0;
    for (uint32_t i = 0; i < s.n && out + k < sizeof buf; i++) {
        if (s.p[i] != '.') {
            buf[out++] = s.p[i];
            continue;
        }
        memcpy(buf + out, point, k);
        out += k;
    }
    buf[out] = '\0';
    return strtod(buf, NULL);
}

bool str_take_f64(str *s, double *out)
{
    str number = {s->p, number_length(*s)};
    double v;
    if (number.n == 0 || number.n > NUMBER_MAX)
        return false;
    if (!short_number(number, &v))
        v = long_number(number);
    if (!isfinite(v))
        return false;
    *out = v;
    *s = str_behind(*s, number.n);
    return true;
}

bool str_to_f64(str s, double *out)
{
    double v;
    if (!str_take_f64(&s, &v) || s.n)
        return false;
    *out = v;
    return true;
}

/* ---- lists ---- */

str str_cut(str *rest, char c)
{
    const char *at = rest->n ? memchr(rest->p, c, rest->n) : NULL;
    uint32_t n = at ? (uint32_t)(at - rest->p) : rest->n;
    str head = {rest->p, n};
    *rest = str_behind(*rest, n + (at != NULL));
    return head;
}

bool str_split(str *rest, char separator, str *item)
{
    if (!rest->p)
        return false;
    bool last = !rest->n || !memchr(rest->p, separator, rest->n);
    *item = str_cut(rest, separator);
    if (last)
        *rest = (str){NULL, 0};
    return true;
}

bool str_in_list(str word, const char *list, char separator)
{
    for (str rest = str_of(list), item; str_split(&rest, separator, &item);)
        if (word.n && str_eq(word, item))
            return true;
    return false;
}

str str_trim(str s)
{
    static const char blanks[] = " \t\r\n\v\f";
    while (s.n && memchr(blanks, s.p[0], sizeof blanks - 1))
        s = str_behind(s, 1);
    while (s.n && memchr(blanks, s.p[s.n - 1], sizeof blanks - 1))
        s.n--;
    return s;
}
