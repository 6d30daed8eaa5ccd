/* See stage_stream.h. */
#include "cli/stage_stream.h"

#include <string.h>
#include <sys/types.h>

typedef struct spelling {
    const char *symbol, *plain;
} spelling;

static const spelling spellings[] = {
    {"±", "+-"}, {"µ", "u"},  {"–", "-"},  {"−", "-"},  {"×", "x"},
    {"·", "|"},  {"→", "->"}, {"≤", "<="}, {"≥", ">="}, {"…", "..."},
};
static const spelling unknown = {"", "?"};

/* The symbol at p, of which n bytes are there; NULL for ASCII. */
static const spelling *symbol_at(const char *p, size_t n)
{
    if ((unsigned char)*p < 0x80)
        return NULL;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        size_t length = strlen(spellings[i].symbol);
        if (length <= n && memcmp(p, spellings[i].symbol, length) == 0)
            return &spellings[i];
    }
    return &unknown;
}

/* Bytes of the character that begins at p. */
static size_t character_length(const char *p, size_t n)
{
    size_t length = 1;
    while (length < n && ((unsigned char)p[length] & 0xc0) == 0x80)
        length++;
    return length;
}

static void put_byte(stage_stream *s, char c)
{
    if (c == '\n' && s->bold)
        fputs("\033[0m", s->to);
    if (!s->inside && c != '\n' && c != ' ' && s->color) {
        fputs("\033[1m", s->to);
        s->bold = true;
    }
    fputc(c, s->to);
    s->inside = c != '\n';
    s->bold = s->bold && s->inside;
}

static ssize_t write_shown(void *cookie, const char *bytes, size_t n)
{
    stage_stream *s = cookie;
    for (size_t i = 0; i < n; i++) {
        const spelling *symbol = s->ascii ? symbol_at(bytes + i, n - i) : NULL;
        for (const char *c = symbol ? symbol->plain : ""; *c; c++)
            put_byte(s, *c);
        if (symbol)
            i += character_length(bytes + i, n - i) - 1;
        else
            put_byte(s, bytes[i]);
    }
    fflush(s->to);
    return (ssize_t)n;
}

FILE *stage_stream_open(stage_stream *s)
{
    return fopencookie(s, "w", (cookie_io_functions_t){.write = write_shown});
}
