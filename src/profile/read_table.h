/* JSON objects into plain structs by tables: a key is a row that says what stands there and at which offset
 * of the struct it goes. Shared by the profile_read*.c files.
 *
 * A key that no row knows is skipped, so that what a newer version wrote can be read; a key that a row knows
 * must be of its kind and may stand once. What is absent stays as the table's `start` says, or zero. Texts
 * and lists are copied into the arena. After a failure every function returns false, and the reader's path
 * still says where it was.
 */
#ifndef PROFILE_READ_TABLE_H
#define PROFILE_READ_TABLE_H

#include "base/json_scan.h"

enum { READ_DEPTH = 64, READ_ROWS = 64 };

typedef struct reader {
    json_scan s;
    arena *arena; /* of the result */
    struct {
        str key;
        uint64_t index; /* of an item, when the key is empty */
    } path[READ_DEPTH];
    uint32_t depth;
    bool no_memory;
} reader;

typedef enum read_kind {
    READ_U64,
    READ_U32,
    READ_I64,
    READ_INT,
    READ_F64,
    READ_BOOL,
    READ_STR,   /* str; null is empty */
    READ_WORD,  /* const char *; null is NULL */
    READ_DTYPE, /* ir_dtype; null, and a name that is not known, is IR_UNDEFINED */
    READ_SHAPE, /* profile_shape; null is of unknown rank */
    READ_F64S,  /* list of doubles */
    READ_U64S,  /* list of uint64_t */
    READ_OBJECT,
    READ_LIST, /* of objects */
    READ_MAP,  /* object whose values are objects; each knows its key */
    READ_CALL
} read_kind;

typedef enum read_null { /* what a number is that the file says is not known */
                         NULL_REFUSED,
                         NULL_ZERO,
                         NULL_MINUS_ONE,
                         NULL_NAN,
                         NULL_NOT_TOLD
} read_null;

typedef struct read_row {
    const char *key;
    read_kind kind;
    size_t at;
    read_null null;
    size_t count_at;             /* lists: of their uint32_t length */
    const struct read_table *of; /* objects, lists and maps */
    bool (*call)(reader *r, void *base);
} read_row;

typedef struct read_table {
    const read_row *rows;
    uint32_t n;
    size_t size;       /* of the struct; lists and maps */
    const void *start; /* what a struct of a list is before anything is read; NULL: zeros */
    size_t present;    /* 1 + the offset of a bool that is set when the object was there; or 0 */
    size_t name_at;    /* maps: of the str that takes the key */
    bool (*finish)(reader *r, void *base); /* when an item of a list or map was read; or NULL */
} read_table;

#define READ_TABLE(list) .rows = (list), .n = (uint32_t)(sizeof(list) / sizeof *(list))

/* An object stands here: `base` takes what it holds. */
bool read_object(reader *r, const read_table *t, void *base);
bool read_list(reader *r, const read_table *t, void **items, uint32_t *n);
/* Copies of the arena, with a NUL behind them. A string or null must stand here. */
bool read_text(reader *r, str *out);
bool read_shape(reader *r, void *profile_shape);
/* Remembers that item `index` of the list, or `key` of the object, is being read. */
bool read_enter(reader *r, str key, uint64_t index);
void read_leave(reader *r);
/* Fails here with a whole sentence. */
bool read_fail(reader *r, const char *what);
bool read_no_memory(reader *r);

/* Room for one more item of a list in the arena; NULL when memory is out. */
void *read_push(reader *r, void **items, uint32_t *n, uint32_t *cap, size_t size);

#endif
