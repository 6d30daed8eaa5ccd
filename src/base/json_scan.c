/* Strict JSON in one pass; see json_scan.h. */
#include "base/json_scan.h"

#include <inttypes.h>

#include <assert.h>

#include "base/limits.h"
#include "base/text.h"
#include "base/utf8.h"

enum { DEPTH_MAX = LIMIT_JSON_DEPTH };

json_scan scan_text(str text, uint64_t base, const char *shown, arena *a, assay_error *err)
{
    assert(err);
    return (json_scan){.at = text.p,
                       .start = text.p,
                       .end = text.p + text.n,
                       .base = base,
                       .shown = shown,
                       .arena = a,
                       .err = err};
}

uint64_t scan_offset(const json_scan *s)
{
    assert(s->start <= s->at && s->at <= s->end);
    return s->base + (uint64_t)(s->at - s->start);
}

bool scan_fail(json_scan *s, const char *what)
{
    if (!s->failed)
        err_fail_at(s->err, ASSAY_ERR_MALFORMED, scan_offset(s), "%s: %s (byte %" PRIu64 ")",
                    s->shown, what, scan_offset(s));
    if (!s->failed)
        s->what = what;
    s->failed = true;
    s->at = s->end;
    return false;
}

/* 0 at the end: no JSON holds that byte outside of a string. */
static char next_char(json_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

static bool fail_expected(json_scan *s, const char *wanted)
{
    return scan_fail(s, s->at < s->end ? wanted : "unexpected end of JSON");
}

static bool expect_char(json_scan *s, char c, const char *wanted)
{
    if (s->failed || next_char(s) != c)
        return fail_expected(s, wanted);
    s->at++;
    return true;
}

bool scan_is(json_scan *s, char first)
{
    return !s->failed && next_char(s) == first;
}

/* ---- containers ---- */

bool scan_open(json_scan *s, char bracket)
{
    if (!expect_char(s, bracket, bracket == '{' ? "expected an object" : "expected a list"))
        return false;
    if (s->depth >= DEPTH_MAX)
        return scan_fail(s, "JSON is nested deeper than 64 levels (limit `json-depth`, fixed)");
    assert(s->depth < 64);
    s->begun &= ~(UINT64_C(1) << s->depth);
    s->depth++;
    return true;
}

static bool more(json_scan *s, char close)
{
    if (s->failed)
        return false;
    assert(s->depth > 0);
    uint64_t bit = UINT64_C(1) << (s->depth - 1);
    if (next_char(s) == close) {
        s->at++;
        s->depth--;
        return false;
    }
    if ((s->begun & bit) && !expect_char(s, ',', "expected ','"))
        return false;
    s->begun |= bit;
    return true;
}

bool scan_item(json_scan *s)
{
    return more(s, ']');
}

bool scan_key(json_scan *s, str *key)
{
    *key = (str){"", 0};
    return more(s, '}') && scan_str(s, key) && expect_char(s, ':', "expected ':'");
}

/* ---- strings ---- */

static int hex4(json_scan *s)
{
    int v = 0;
    if (s->end - s->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = *s->at++;
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

/* -1 when it is none: half a surrogate pair, or no hexadecimal digits. */
static int32_t code_point(json_scan *s)
{
    int high = hex4(s);
    if (high < 0xd800 || high > 0xdfff)
        return high;
    if (high > 0xdbff || s->end - s->at < 6 || s->at[0] != '\\' || s->at[1] != 'u')
        return -1;
    s->at += 2;
    int low = hex4(s);
    return low < 0xdc00 || low > 0xdfff ? -1 : 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Behind a backslash. NULL when it is no escape; a NUL is one only where the caller takes it. */
static char *put_escape(json_scan *s, char *to)
{
    static const char from[] = "\"\\/bfnrt", as[] = "\"\\/\b\f\n\r\t";
    char c = s->at < s->end ? *s->at++ : '\0';
    const char *plain = c ? strchr(from, c) : NULL;
    if (plain)
        *to++ = as[plain - from];
    int32_t cp = c == 'u' ? code_point(s) : -1;
    return plain ? to : cp > 0 || (cp == 0 && s->nul) ? to + utf8_encode((uint32_t)cp, to) : NULL;
}

/* From the first escape on; what is decoded is never longer than what is written. */
static bool decode(json_scan *s, const char *from, const char *close, str *out)
{
    char *text = arena_alloc(s->arena, (size_t)(close - from) + 1), *to = text;
    if (!text) {
        err_no_memory(s->err);
        s->failed = true;
        return false;
    }
    s->at = from;
    while (s->at < close) {
        if (*s->at != '\\') {
            *to++ = *s->at++;
            continue;
        }
        s->at++;
        to = put_escape(s, to);
        if (!to)
            return scan_fail(s, "invalid escape in a string");
    }
    *out = (str){text, (uint32_t)(to - text)};
    return true;
}

bool scan_str(json_scan *s, str *out)
{
    *out = (str){"", 0};
    if (!expect_char(s, '"', "expected a string"))
        return false;
    const char *from = s->at;
    unsigned char high = 0;
    bool escaped = false;
    s->string = from - 1;
    while (s->at < s->end && *s->at != '"') {
        unsigned char c = (unsigned char)*s->at;
        if (c < 0x20 && !s->loose)
            return scan_fail(s, "control character in a string");
        high |= c;
        escaped |= c == '\\';
        s->at += c == '\\' && s->at + 1 < s->end ? 2 : 1;
    }
    if (s->at >= s->end)
        return scan_fail(s, "unterminated string");
    *out = (str){from, (uint32_t)(s->at - from)};
    if ((high & 0x80) && !s->loose && !text_is_utf8(*out))
        return scan_fail(s, "string is not valid UTF-8");
    s->decoded = escaped;
    if (escaped && !decode(s, from, s->at, out))
        return false;
    s->at++;
    return true;
}

/* ---- other values ---- */

/* Digits that stand for at most `most`; nothing that makes a fraction of them may follow. */
static bool whole(json_scan *s, uint64_t most, const char *too_large, uint64_t *out)
{
    uint64_t v = 0;
    char c = s->failed ? '\0' : next_char(s);
    *out = 0;
    if (c < '0' || c > '9')
        return fail_expected(s, "expected a whole number of 0 or more");
    const char *from = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        uint64_t digit = (uint64_t)(*s->at - '0');
        if (v > (most - digit) / 10)
            return scan_fail(s, too_large);
        v = v * 10 + digit;
    }
    bool leading = *from == '0' && s->at - from > 1;
    if (leading || (s->at < s->end && (*s->at == '.' || (*s->at | 32) == 'e')))
        return scan_fail(s, "expected a whole number");
    *out = v;
    return true;
}

bool scan_u63(json_scan *s, uint64_t *out)
{
    return whole(s, (uint64_t)INT64_MAX, "number is 2^63 or more", out);
}

bool scan_u64(json_scan *s, uint64_t *out)
{
    return whole(s, UINT64_MAX, "number is 2^64 or more", out);
}

bool scan_i64(json_scan *s, int64_t *out)
{
    uint64_t v;
    bool minus = scan_is(s, '-');
    s->at += minus;
    *out = 0;
    if (minus && (s->at >= s->end || *s->at < '0' || *s->at > '9'))
        return fail_expected(s, "expected a whole number");
    if (!whole(s, (uint64_t)INT64_MAX + minus, "number does not fit 64 bits", &v))
        return false;
    *out = minus && v ? -(int64_t)(v - 1) - 1 : (int64_t)v; /* -2^63 without overflow */
    return true;
}

static size_t digits(json_scan *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return (size_t)(s->at - from);
}

static bool skip_number(json_scan *s)
{
    bool good = true;
    s->at += *s->at == '-';
    const char *from = s->at;
    size_t n = digits(s);
    good = n == 1 || (n > 1 && *from != '0');
    if (good && s->at < s->end && *s->at == '.') {
        s->at++;
        good = digits(s) > 0;
    }
    if (good && s->at < s->end && (*s->at | 32) == 'e') {
        s->at++;
        s->at += s->at < s->end && (*s->at == '+' || *s->at == '-');
        good = digits(s) > 0;
    }
    return good || scan_fail(s, "invalid number");
}

bool scan_f64(json_scan *s, double *out)
{
    char c = s->failed ? '\0' : next_char(s);
    *out = 0;
    if (c != '-' && (c < '0' || c > '9'))
        return fail_expected(s, "expected a number");
    const char *from = s->at;
    if (!skip_number(s))
        return false;
    if (s->at - from > 400)
        return scan_fail(s, "number has more than 400 digits");
    return str_to_f64((str){from, (uint32_t)(s->at - from)}, out) ||
           scan_fail(s, "number is too large");
}

static bool skip_word(json_scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= n && memcmp(s->at, words[i], n) == 0) {
            s->at += n;
            return true;
        }
    }
    return fail_expected(s, "expected a value");
}

bool scan_bool(json_scan *s, bool *out)
{
    *out = scan_is(s, 't');
    if (!*out && !scan_is(s, 'f'))
        return fail_expected(s, "expected true or false");
    return skip_word(s);
}

bool scan_null(json_scan *s)
{
    return scan_is(s, 'n') && skip_word(s);
}

/* Recursion is as deep as scan_open allows. */
bool scan_skip(json_scan *s)
{
    str ignored;
    char c = s->failed ? '\0' : next_char(s);
    if (s->failed)
        return false;
    if (c == '"')
        return scan_str(s, &ignored);
    if (c == '-' || (c >= '0' && c <= '9'))
        return skip_number(s);
    if (c != '{' && c != '[')
        return skip_word(s);
    scan_open(s, c);
    while (c == '{' ? scan_key(s, &ignored) : scan_item(s))
        if (!scan_skip(s))
            return false;
    return !s->failed;
}

bool scan_end(json_scan *s)
{
    if (!s->failed && next_char(s))
        return scan_fail(s, "unexpected data after the JSON");
    return !s->failed;
}
