/* A JSON document in memory: every value by its key or path, numbers also as written, so that whole ones
 * stay exact. For configurations, indexes, custom models, pipeline files and views of results. Large files
 * with many small objects are streamed instead: see json_scan.h.
 *
 * Everything a tree holds is in its arena: the parsed text may go. Texts and keys end with a NUL that `n`
 * does not count. The arena's limit is the limit on memory; values nest at most 64 deep.
 */
#ifndef BASE_JSON_TREE_H
#define BASE_JSON_TREE_H

#include "base/error.h"
#include "base/str.h"

typedef enum json_kind {
    JSON_NULL, /* also what is absent */
    JSON_BOOL,
    JSON_INT,
    JSON_REAL,
    JSON_TEXT,
    JSON_LIST,
    JSON_OBJECT
} json_kind;

typedef struct json_value {
    json_kind kind;
    uint32_t n;                     /* items of a list, members of an object */
    int64_t i;                      /* of JSON_INT; 1 for true */
    double f;                       /* of JSON_INT and JSON_REAL; 1 for true */
    str s;                          /* of JSON_TEXT; a parsed number as written */
    str key;                        /* of a member */
    const struct json_value *items; /* in the order of the file; NULL if only counted */
} json_value;

typedef struct json_tree_options {
    /* Accept repeated keys (the first one is found), \u0000 in texts, and whole numbers outside of int64
     * (as JSON_REAL). All three are errors otherwise. */
    bool lenient;
    /* Members of the root whose items are counted and not kept; NULL at its end. May be NULL. */
    const char *const *count_only;
} json_tree_options;

/* ASSAY_ERR_MALFORMED with line, column and byte. `shown` is what messages call the text; `how` may be NULL.
 * A byte order mark is skipped. */
assay_status json_tree_parse(str text, const char *shown, const json_tree_options *how, arena *a,
                             json_value *out, assay_error *err);
/* A file of at most 16 MiB, strictly. */
assay_status json_tree_read(const char *path, arena *a, json_value *out, assay_error *err);

/* The member of that key; NULL if `object` is none (or NULL) or has no such key. */
const json_value *json_member(const json_value *object, str key);
const json_value *json_get(const json_value *object, const char *key);
extern const json_value json_absent;
/* "memory.peak", "plans.0.batch"; json_absent if there is none, never NULL. */
const json_value *json_at(const json_value *v, str path);
const json_value *json_path(const json_value *v, const char *path);

/* "a whole number", "a list", ... for messages. */
const char *json_kind_name(json_kind kind);

static inline bool json_is_number(const json_value *v)
{
    return v->kind == JSON_INT || v->kind == JSON_REAL;
}
static inline bool json_is_true(const json_value *v)
{
    return v->kind == JSON_BOOL && v->i != 0;
}
static inline json_value json_of_int(int64_t i)
{
    return (json_value){.kind = JSON_INT, .i = i, .f = (double)i};
}
static inline json_value json_of_bool(bool yes)
{
    return (json_value){.kind = JSON_BOOL, .i = yes, .f = yes};
}
static inline json_value json_of_text(str s)
{
    return (json_value){.kind = JSON_TEXT, .s = s};
}

#endif
