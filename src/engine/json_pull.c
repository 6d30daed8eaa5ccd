/* JSON as it passes by; see json_pull.h. Escapes are decoded into UTF-8; halves of surrogate pairs that
 * stand alone become U+FFFD. */
#include "engine/json_pull.h"

#include "base/num.h"

static const char broken[] = "This is not valid JSON.";

bool pull_init(json_pull *p, cursor c, arena *a)
{
    *p = (json_pull){.c = c, .buf = arena_alloc(a, PULL_TEXT_MAX)};
    p->text = (str){p->buf, 0};
    return p->buf != NULL;
}

bool pull_ok(const json_pull *p)
{
    return cursor_ok(&p->c);
}

static void fail(json_pull *p)
{
    cursor_fail(&p->c, broken);
}

/* Loads the byte at the cursor into the window by reading it, and steps back. */
static int peek_slow(json_pull *p)
{
    if (!cursor_more(&p->c))
        return 0;
    int c = cursor_u8(&p->c);
    if (!pull_ok(p))
        return 0;
    p->c.pos--;
    return c;
}

/* 0 at the end and after a failure: no JSON holds that byte. */
static inline int peek(json_pull *p)
{
    const source *s = p->c.src;
    uint64_t at = p->c.pos - s->window_pos;
    return p->c.pos < p->c.end && at < s->window_len ? s->window[at] : peek_slow(p);
}

static inline int take(json_pull *p)
{
    int c = peek(p);
    p->c.pos += c != 0;
    return c;
}

static int peek_word(json_pull *p)
{
    int c = peek(p);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        take(p);
        c = peek(p);
    }
    return c;
}

static bool expect(json_pull *p, int wanted)
{
    if (peek_word(p) != wanted) {
        fail(p);
        return false;
    }
    take(p);
    return true;
}

/* ---- strings --------------------------------------------------------------------------------- */

static void put(json_pull *p, unsigned byte)
{
    if (p->text.n + 1 < PULL_TEXT_MAX)
        p->buf[p->text.n++] = (char)byte;
}

static void put_utf8(json_pull *p, uint32_t cp)
{
    if (cp < 0x80) {
        put(p, cp);
        return;
    }
    if (cp < 0x800) {
        put(p, 0xc0 | cp >> 6);
    } else {
        if (cp < 0x10000) {
            put(p, 0xe0 | cp >> 12);
        } else {
            put(p, 0xf0 | cp >> 18);
            put(p, 0x80 | (cp >> 12 & 0x3f));
        }
        put(p, 0x80 | (cp >> 6 & 0x3f));
    }
    put(p, 0x80 | (cp & 0x3f));
}

static uint32_t hex4(json_pull *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int c = take(p);
        if (c >= '0' && c <= '9')
            v = v * 16 + (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            v = v * 16 + (uint32_t)((c | 32) - 'a') + 10;
        else
            fail(p);
    }
    return v;
}

static void put_unicode(json_pull *p)
{
    uint32_t cp = hex4(p);
    if (cp >= 0xd800 && cp < 0xdc00 && peek(p) == '\\') {
        take(p);
        uint32_t low = take(p) == 'u' ? hex4(p) : 0;
        cp = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00)
                                           : 0xfffd;
    }
    put_utf8(p, cp >= 0xd800 && cp < 0xe000 ? 0xfffd : cp);
}

static void put_escape(json_pull *p)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = take(p);
    const char *at = c ? strchr(from, c) : NULL;
    if (c == 'u')
        put_unicode(p);
    else if (at)
        put(p, (unsigned char)to[at - from]);
    else
        fail(p);
}

/* What needs no decoding, as far as the window goes. */
static void put_plain(json_pull *p)
{
    const source *s = p->c.src;
    uint64_t at = p->c.pos - s->window_pos, n = 0;
    if (p->c.pos >= p->c.end || at >= s->window_len)
        return;
    uint64_t room = s->window_len - at, left = p->c.end - p->c.pos;
    const uint8_t *from = s->window + at;
    for (room = room < left ? room : left; n < room; n++)
        if (from[n] == '"' || from[n] == '\\' || from[n] == 0)
            break;
    uint64_t fits = PULL_TEXT_MAX - 1 - p->text.n;
    uint32_t kept = (uint32_t)(n < fits ? n : fits);
    memcpy(p->buf + p->text.n, from, kept);
    p->text.n += kept;
    p->c.pos += n;
}

static void read_string(json_pull *p)
{
    p->text.n = 0;
    if (!expect(p, '"'))
        return;
    for (;;) {
        put_plain(p);
        int c = take(p);
        if (c == '"')
            break;
        if (c == '\\')
            put_escape(p);
        else if (c)
            put(p, (unsigned)c);
        else
            fail(p);
        if (!pull_ok(p))
            break;
    }
    p->buf[p->text.n] = '\0';
}

/* ---- containers ------------------------------------------------------------------------------ */

bool pull_open(json_pull *p, char bracket)
{
    if (peek_word(p) != bracket) {
        pull_skip(p);
        return false;
    }
    take(p);
    if (++p->depth >= PULL_DEPTH_MAX) {
        cursor_fail(&p->c, "This JSON is nested too deeply.");
        return false;
    }
    p->begun[p->depth] = false;
    return true;
}

static bool more(json_pull *p, int close)
{
    int c = peek_word(p);
    if (c == close) {
        take(p);
        p->depth--;
        return false;
    }
    if (p->begun[p->depth] && !expect(p, ','))
        return false;
    p->begun[p->depth] = true;
    if (!peek_word(p))
        fail(p);
    return pull_ok(p);
}

bool pull_item(json_pull *p)
{
    return more(p, ']');
}

bool pull_key(json_pull *p)
{
    if (!more(p, '}'))
        return false;
    read_string(p);
    return expect(p, ':');
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool in_scalar(int c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' || c == '+' ||
           c == '.';
}

static void skip_scalar(json_pull *p)
{
    if (!in_scalar(peek_word(p)))
        fail(p);
    while (in_scalar(peek(p)))
        take(p);
}

/* Without recursion: brackets are only counted, as nothing in there is wanted. */
void pull_skip(json_pull *p)
{
    unsigned depth = 0;
    do {
        int c = peek_word(p);
        if (c == '"')
            read_string(p);
        else if (c == '{' || c == '[')
            depth++, take(p);
        else if (c == '}' || c == ']')
            depth--, take(p);
        else if (depth > 0 && (c == ',' || c == ':'))
            take(p);
        else
            skip_scalar(p);
    } while (depth > 0 && depth < UINT32_MAX && pull_ok(p));
    if (depth > 0)
        fail(p);
}

str pull_str(json_pull *p)
{
    if (peek_word(p) == '"')
        read_string(p);
    else {
        pull_skip(p);
        p->text.n = 0;
    }
    return p->text;
}

static uint64_t digits(str s)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        v = sat_add(sat_mul(v, 10), (uint64_t)(s.p[i] - '0'));
    return v;
}

uint64_t pull_u64(json_pull *p)
{
    uint64_t v = 0;
    int c = peek_word(p);
    if (c == '"') {
        read_string(p);
        return digits(p->text);
    }
    while (c >= '0' && c <= '9') {
        v = sat_add(sat_mul(v, 10), (uint64_t)(take(p) - '0'));
        c = peek(p);
        if (!in_scalar(c))
            return v;
    }
    pull_skip(p); /* a fraction, which is cut off, or no number */
    return v;
}

bool pull_end(json_pull *p)
{
    if (peek_word(p))
        fail(p);
    return pull_ok(p);
}
