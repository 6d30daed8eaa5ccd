/* See redact.h. A secret is found by what stands before it: every ':', '=' and blank is looked at. */
#include "base/redact.h"

#include <string.h>

static const char *const secret_words[] = {"token",   "password", "passwd", "secret",
                                           "api-key", "api_key",  "apikey", "signature"};
static const char *const secret_headers[] = {"authorization", "cookie", "x-api-key", "x-auth-token",
                                             "private-token"};
static const char *const secret_schemes[] = {"bearer"};
#define N_OF(words) (sizeof(words) / sizeof *(words))

static const char ends_value[] = " \t\r\n&;,'\"\\<>";
static const char ends_header[] = "\r\n'\"\\";
static const char ends_host[] = " \t\r\n/?#'\"\\<>";

static bool is_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Whether the text before `at` ends with one of the words; *from is where the word begins. */
static bool follows_word(str s, uint32_t at, const char *const *words, size_t n, uint32_t *from)
{
    for (size_t i = 0; i < n; i++) {
        str word = str_of(words[i]);
        if (word.n > at)
            continue;
        *from = at - word.n;
        bool begins = !*from || !is_letter_or_digit(s.p[*from - 1]);
        if (begins && str_holds_any_case((str){s.p + *from, word.n}, word))
            return true;
    }
    return false;
}

/* "--hub-token": the word that begins at `from` is the end of an option. */
static bool is_option(str s, uint32_t from)
{
    while (from && (is_letter_or_digit(s.p[from - 1]) || is_of(s.p[from - 1], "-_")))
        from--;
    return s.n >= from + 2 && s.p[from] == '-' && s.p[from + 1] == '-';
}

static uint32_t skip_until(str s, uint32_t i, const char *ends)
{
    while (i < s.n && !is_of(s.p[i], ends))
        i++;
    return i;
}

static uint32_t skip_blanks(str s, uint32_t i)
{
    while (i < s.n && is_of(s.p[i], " \t"))
        i++;
    return i;
}

typedef struct span {
    uint32_t from, to;
} span;

/* 'a b' is one value. */
static span value_at(str s, uint32_t i)
{
    i = skip_blanks(s, i);
    bool quoted = i < s.n && s.p[i] == '\'';
    i += quoted;
    return (span){i, skip_until(s, i, quoted ? "'\"\\" : ends_value)};
}

/* Behind "://", also as JSON may write it. */
static span user_of(str s, uint32_t colon)
{
    static const char *const schemes[] = {"http", "https"};
    str rest = {s.p + colon, s.n - colon};
    uint32_t skip = str_starts(rest, "://") ? 3 : str_starts(rest, ":\\/\\/") ? 5 : 0, word;
    uint32_t from = colon + skip, end = skip_until(s, from, ends_host), at = end;
    while (at > from && s.p[at - 1] != '@')
        at--;
    if (!skip || at == from)
        return (span){0, 0};
    uint32_t password = skip_until((str){s.p, at - 1}, from, ":");
    if (password < at - 1)
        return (span){password + 1, at - 1};
    bool web = follows_word(s, colon, schemes, N_OF(schemes), &word);
    return web ? (span){from, at - 1} : (span){0, 0};
}

/* Behind "--header NAME": whatever the header is, its value is nobody's business. */
static bool follows_header_option(str s, uint32_t colon, bool *quoted)
{
    static const char *const option[] = {"--header"};
    uint32_t from = colon, word;
    while (from && !is_of(s.p[from - 1], " \t'\"="))
        from--;
    *quoted = from && is_of(s.p[from - 1], "'\"");
    from -= *quoted;
    return from && from < colon && is_of(s.p[from - 1], " =") &&
           follows_word(s, from - 1, option, N_OF(option), &word);
}

/* The secret that follows the byte at i; empty if there is none. */
static span secret_after(str s, uint32_t i)
{
    uint32_t word;
    if (s.p[i] == '=' && follows_word(s, i, secret_words, N_OF(secret_words), &word))
        return value_at(s, i + 1);
    if (s.p[i] == ' ' && follows_word(s, i, secret_schemes, N_OF(secret_schemes), &word))
        return value_at(s, i + 1);
    if (s.p[i] == ' ' && follows_word(s, i, secret_words, N_OF(secret_words), &word) &&
        is_option(s, word))
        return value_at(s, i + 1);
    if (s.p[i] != ':')
        return (span){0, 0};
    bool quoted;
    if (follows_header_option(s, i, &quoted))
        return (span){skip_blanks(s, i + 1),
                      skip_until(s, skip_blanks(s, i + 1), quoted ? ends_header : ends_value)};
    if (follows_word(s, i, secret_headers, N_OF(secret_headers), &word))
        return (span){skip_blanks(s, i + 1), skip_until(s, i + 1, ends_header)};
    return user_of(s, i);
}

void redact_put(sbuf *out, str text)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < text.n; i++) {
        if (text.p[i] != ':' && text.p[i] != '=' && text.p[i] != ' ')
            continue;
        span secret = secret_after(text, i);
        if (secret.from >= secret.to)
            continue;
        sbuf_put(out, text.p + done, secret.from - done);
        sbuf_puts(out, "***");
        done = secret.to;
        i = secret.to - 1;
    }
    if (text.n > done)
        sbuf_put(out, text.p + done, text.n - done);
}

str redact_copy(arena *a, str text)
{
    sbuf b = {0};
    redact_put(&b, text);
    if (b.failed)
        arena_alloc(a, SIZE_MAX); /* fails it, as every other lack of memory does */
    str out = b.failed ? (str){"", 0} : str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}
