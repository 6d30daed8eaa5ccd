/* Notes. `seen` answers two questions in constant time, so that a hostile file with a million unusual nodes costs a
 * million look-ups: how many notes a code has (key: the code), and whether a note exists already (key: code, node and
 * text, separated by NUL). */
#include "base/notes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Beyond this many dropped notes sentences are not even formatted: they would only be counted. */
enum { DROPPED_ENOUGH = 10000, TEXT_MAX = 1024 };

void notes_init(notes *n, arena *a)
{
    *n = (notes){.arena = a};
    map_init(&n->seen, a, 0);
}

static bool is_new(notes *n, const char *code, str node, const char *text, uint32_t count)
{
    sbuf key = {0};
    sbuf_put(&key, code, strlen(code) + 1);
    sbuf_str(&key, node);
    sbuf_putc(&key, '\0');
    sbuf_puts(&key, text);
    str k = {key.p, (uint32_t)key.n};
    bool fresh = !key.failed && map_get(&n->seen, k) == MAP_NONE;
    if (fresh && count < NOTES_MAX_PER_CODE) {
        k = str_copy(n->arena, k);
        fresh = k.p && map_put(&n->seen, k, 1);
    }
    sbuf_free(&key);
    return fresh;
}

static void append_note(notes *n, const char *code, str node, const char *advice, const char *text)
{
    assert(code && *code && n->list.n <= n->list.cap);
    note *e = VEC_PUSH(n->arena, &n->list);
    if (!e)
        return;
    e->code = code;
    e->node = str_copy(n->arena, node);
    e->text = str_copy(n->arena, str_of(text));
    if (advice)
        e->advice = str_copy(n->arena, str_of(advice));
}

/* A note that quotes an error message lacks the full stop, which error messages do not have. */
static void end_sentence(char *text, size_t size)
{
    size_t n = strlen(text);
    if (n && n + 1 < size && !strchr(".?!", text[n - 1]))
        memcpy(text + n, ".", 2);
}

void notes_add(notes *n, const char *code, str node, const char *advice, const char *fmt, ...)
{
    char raw[TEXT_MAX], text[TEXT_MAX];
    va_list ap;
    assert(n->arena && code && fmt);
    uint32_t count = map_get(&n->seen, str_of(code));
    count = count == MAP_NONE ? 0 : count;
    if (count >= NOTES_MAX_PER_CODE && n->dropped >= DROPPED_ENOUGH) {
        n->dropped += n->dropped < UINT32_MAX;
        return;
    }
    va_start(ap, fmt);
    if (vsnprintf(raw, sizeof raw, fmt, ap) < 0)
        raw[0] = '\0';
    va_end(ap);
    text_safe_into(text, sizeof text, str_of(raw));
    end_sentence(text, sizeof text);
    if (!is_new(n, code, node, text, count))
        return;
    if (count >= NOTES_MAX_PER_CODE) {
        n->dropped++;
        return;
    }
    if (map_put(&n->seen, str_of(code), count + 1))
        append_note(n, code, node, advice, text);
}

void notes_join(notes *n, const notes *from)
{
    assert(n != from);
    for (uint32_t k = 0; k < from->list.n; k++) {
        const note *e = &from->list.items[k];
        notes_add(n, e->code, e->node, e->advice.n ? e->advice.p : NULL, STR_FMT, STR_ARG(e->text));
    }
    n->dropped += from->dropped < UINT32_MAX - n->dropped ? from->dropped : UINT32_MAX - n->dropped;
}

void notes_put_first(notes *n, const char *code)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < n->list.n; i++) {
        const note moved = n->list.items[i];
        if (strcmp(moved.code, code) != 0)
            continue;
        memmove(&n->list.items[first + 1], &n->list.items[first], sizeof moved * (i - first));
        n->list.items[first++] = moved;
    }
}
