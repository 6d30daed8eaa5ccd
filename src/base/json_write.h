/* Streaming JSON writer: appends to an sbuf, keeps the comma and nesting book-keeping, writes exact
 * integers, shortest round-trip doubles, and never NaN or Infinity (null instead). Strings that are
 * not valid UTF-8 get U+FFFD for the bad bytes. Keys are literals of ours or `str`.
 */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "base/sbuf.h"

typedef struct json_writer {
    sbuf *out;
    int depth;
    int indent;     /* spaces per level; 0 is compact */
    bool first[64]; /* whether nothing was written yet at each depth */
    bool flat[64];  /* arrays and objects written on one line although indent > 0 */
    char close[64]; /* '}' or ']' */
    bool after_key; /* the next value belongs to the key just written */
} json_writer;

void json_begin(json_writer *w, sbuf *out, int indent);
void json_object(json_writer *w);      /* { */
void json_array(json_writer *w);       /* [ */
void json_flat_object(json_writer *w); /* { on one line */
void json_flat_array(json_writer *w);  /* [ on one line */
void json_end(json_writer *w);         /* the matching } or ] */
void json_key(json_writer *w, const char *key);
void json_key_str(json_writer *w, str key);
void json_u64(json_writer *w, uint64_t v);
void json_i64(json_writer *w, int64_t v);
void json_f64(json_writer *w, double v);
void json_fixed(json_writer *w, double v, int decimals); /* rounded, trailing zeros cut */
void json_bool(json_writer *w, bool v);
void json_null(json_writer *w);
void json_str(json_writer *w, str s);
void json_cstr(json_writer *w, const char *s);
void json_raw(json_writer *w, str json); /* a value that is JSON already */

/* ---- a key with its value ---- */

static inline void key_u64(json_writer *w, const char *key, uint64_t v)
{
    json_key(w, key);
    json_u64(w, v);
}

static inline void key_bool(json_writer *w, const char *key, bool v)
{
    json_key(w, key);
    json_bool(w, v);
}

static inline void key_str(json_writer *w, const char *key, str s)
{
    json_key(w, key);
    json_str(w, s);
}

/* NULL is null. */
static inline void key_cstr(json_writer *w, const char *key, const char *s)
{
    json_key(w, key);
    if (s)
        json_cstr(w, s);
    else
        json_null(w);
}

#endif
