/* Items of a list; see json_items.h. */
#include "base/json_items.h"

#include <assert.h>

#define ITEM_BYTES_MAX ((uint64_t)64 << 20)

json_items json_items_of(cursor c, arena *a)
{
    return (json_items){.c = c, .a = a};
}

/* 0 at the end: no JSON holds that byte. */
static uint8_t next_byte(json_items *it)
{
    return cursor_more(&it->c) ? cursor_u8(&it->c) : 0;
}

static uint8_t next_mark(json_items *it)
{
    uint8_t c = next_byte(it);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t')
        c = next_byte(it);
    return c;
}

static bool fail_items(json_items *it, const char *what)
{
    cursor_fail(&it->c, what);
    return false;
}

static bool pass_string(json_items *it)
{
    for (uint8_t c = next_byte(it); c != '"'; c = next_byte(it)) {
        if (c == '\\')
            c = next_byte(it);
        if (!c)
            return false;
    }
    return true;
}

static bool pass_word(json_items *it)
{
    for (uint8_t c = next_byte(it); c; c = next_byte(it))
        if (c == ',' || c == ']' || c == '}' || c <= ' ') {
            it->c.pos--;
            return true;
        }
    return false;
}

/* From behind an item's first byte to its end. */
static bool pass_item(json_items *it, uint8_t first)
{
    uint64_t depth = 1;
    if (first == '"')
        return pass_string(it);
    if (first != '{' && first != '[')
        return pass_word(it);
    while (depth > 0) {
        uint8_t c = next_byte(it);
        if (!c || (c == '"' && !pass_string(it)))
            return false;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
    }
    return true;
}

static bool copy_item(json_items *it, uint64_t from, str *item)
{
    assert(from < it->c.pos);
    uint64_t n = it->c.pos - from;
    if (n > ITEM_BYTES_MAX)
        return fail_items(it, "list item is larger than 64 MiB");
    if (n > it->cap) {
        it->cap = 2 * (size_t)n;
        it->buf = arena_alloc(it->a, it->cap);
    }
    if (!it->buf)
        return false;
    it->c.pos = from;
    cursor_copy(&it->c, it->buf, n);
    *item = (str){it->buf, (uint32_t)n};
    return cursor_ok(&it->c);
}

static bool end_list(json_items *it)
{
    it->ended = true;
    return next_mark(it) ? fail_items(it, "unexpected data after the list") : false;
}

bool json_items_next(json_items *it, str *item, uint64_t *offset)
{
    assert(it->a && item && offset);
    if (it->ended || arena_failed(it->a))
        return false;
    if (!it->begun && next_mark(it) != '[')
        return fail_items(it, "expected a list");
    uint8_t c = next_mark(it);
    if (c == ']')
        return end_list(it);
    if (it->begun && c != ',')
        return fail_items(it, "expected ','");
    if (it->begun)
        c = next_mark(it);
    it->begun = true;
    *offset = it->c.pos - 1;
    if (!c || !cursor_ok(&it->c) || !pass_item(it, c))
        return fail_items(it, "unexpected end of JSON");
    return copy_item(it, *offset, item);
}
