/* Reads Python pickles, protocols 0 to 5, as data. Nothing is imported, called or made: a global is its two names, a call
 * is what would be called with which arguments, an object is its class and state.
 *
 * Limits: PICKLE_MAX_VALUES values, texts up to PICKLE_MAX_TEXT (longer bytes are skipped and known by their length),
 * PICKLE_MAX_MEMO memo slots. Values may contain each other in circles: `seen` is for those who walk them.
 */
#ifndef FORMATS_PICKLE_H
#define FORMATS_PICKLE_H

#include "base/source.h"
#include "base/vec.h"

typedef enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_FLOAT,
    PICKLE_TEXT,
    PICKLE_BYTES, /* of which only the length is kept when they are long */
    PICKLE_TUPLE,
    PICKLE_LIST,       /* and sets */
    PICKLE_DICT,       /* items: key, value, key, value */
    PICKLE_GLOBAL,     /* text: "module.name" */
    PICKLE_OBJECT,     /* of, args, state; items as a list or dict has them */
    PICKLE_PERSISTENT, /* of: the id */
    PICKLE_MARK
} pickle_kind;

typedef struct pickle_value {
    pickle_kind kind;
    bool seen;
    bool pairs; /* items are keys and values */
    int64_t whole;
    double number;
    str text;
    uint64_t at; /* of a text or bytes: where it begins in the source; whole is its length */
    VEC(struct pickle_value *) items;
    struct pickle_value *of, *args, *state; /* may be NULL */
} pickle_value;

enum { PICKLE_MAX_VALUES = 1 << 24, PICKLE_MAX_TEXT = 1 << 16, PICKLE_MAX_MEMO = 1 << 23 };

/* Reads one pickle and leaves the cursor behind it. Values are in the arena. */
assay_status pickle_read(cursor *c, arena *a, pickle_value **out);
/* Of a dict, or of an object with items or a state: the value of a text key; NULL if there is none. */
const pickle_value *pickle_get(const pickle_value *dict, const char *key);
/* The i-th item of a tuple or list; NULL if there is none. */
const pickle_value *pickle_item(const pickle_value *v, uint32_t i);

#endif
