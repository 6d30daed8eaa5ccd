/* A plain struct described once: which JSON key holds which member, of what kind and unit, and what it means.
 *
 * Results (profile/) are such structs. Everything that needs to know their members comes from the rows: the JSON
 * writer and reader (fields_write.c, fields_read.c), access by path (below), and through tools/describe_results the JSON
 * Schema, the key tables of docs/json.md, the page's types and the columns of CSV. A new field is one row.
 *
 *   static const field disk_rows[] = {
 *       FIELD(disk, read_bytes, U64, BYTES, "Read", "Bytes read from the disk.", .absent = FIELD_NULL),
 *   };
 *   const fields disk_fields = FIELDS(disk, disk_rows);
 *
 * Unknown. There is one way to say it for each C type, and no other:
 *   double           NaN; field_number: NaN in its `v`
 *   uint64_t         FIELD_UNKNOWN (UINT64_MAX); uint32_t: UINT32_MAX
 *   int64_t, int     INT64_MIN, INT_MIN
 *   str, const char* empty, NULL
 *   a list           no items
 *   an object        the bool at `present_at` is false; by pointer: NULL
 * A bool is always known. `absent` of a row says what the file has then.
 *
 * Values are read and written as they are: rows do not compute. What is derived is stored by whoever makes the result.
 */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include <limits.h>
#include <math.h>

#include "base/error.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/sbuf.h"

#define FIELD_UNKNOWN UINT64_MAX

/* A figure that is exact where it is whole: a count of FLOPs, or a time. */
typedef struct field_number {
    double v;
    bool whole; /* n holds it exactly */
    uint64_t n;
} field_number;

/* A result inside another one (base/result.h). */
typedef struct field_result {
    const struct result_kind *kind; /* NULL: none */
    const void *data;
} field_result;

typedef enum field_kind {
    FIELD_U64,
    FIELD_U32,
    FIELD_I64,
    FIELD_INT,
    FIELD_F64,
    FIELD_NUMBER, /* field_number */
    FIELD_BOOL,
    FIELD_STR,    /* str */
    FIELD_WORD,   /* const char *: one of `words`, or any word where that is NULL */
    FIELD_ENUM,   /* an enum from 0: an index into `words` */
    FIELD_EITHER, /* a bool as a word: words[0] of false, words[1] of true */
    FIELD_CHARS,  /* char[size] inside the struct */
    FIELD_F64S,   /* const double *, with a uint32_t count */
    FIELD_U64S,   /* const uint64_t * */
    FIELD_U32S,   /* const uint32_t * */
    FIELD_STRS,   /* const str * */
    FIELD_OBJECT, /* a struct inside this one, described by `of`; with `by_pointer` a pointer to it */
    FIELD_LIST,   /* structs, by pointer and count; with `size` an array inside the struct */
    FIELD_MAP,    /* the same as an object: the key of each is its str at `of->key_at` */
    FIELD_SPLICE, /* a struct whose rows belong to the same object of the file; by pointer too */
    FIELD_RESULT, /* field_result: a whole document, of one of `results` */
    FIELD_CODEC   /* a type of a room above: `codec` */
} field_kind;

/* What a number counts. Decides how it is printed everywhere (report/) and stands in the docs. */
typedef enum field_unit {
    UNIT_NONE,
    UNIT_COUNT,      /* "1,234" */
    UNIT_AMOUNT,     /* parameters, elements: "25.6 M" */
    UNIT_FLOPS,      /* "8.2 GFLOPs" */
    UNIT_MACS,       /* "4.1 GMACs" */
    UNIT_BYTES,      /* "97.5 MiB" */
    UNIT_MIB,        /* a double of MiB */
    UNIT_MS,         /* milliseconds */
    UNIT_US,         /* microseconds */
    UNIT_S,          /* seconds */
    UNIT_PERCENT,    /* 0 to 100 */
    UNIT_RATIO,      /* "1.90x" */
    UNIT_PER_SECOND, /* samples, requests, tokens */
    UNIT_FLOPS_PER_S,
    UNIT_GFLOPS_PER_S,
    UNIT_BYTES_PER_S,
    UNIT_GBYTES_PER_S,
    UNIT_INTENSITY, /* FLOPs per byte */
    UNIT_MHZ,
    UNIT_WATT,
    UNIT_JOULE,
    UNIT_CELSIUS,
    UNIT_USD
} field_unit;

/* What the file has when a value is unknown. */
typedef enum field_absent {
    FIELD_REQUIRED,  /* never unknown; whole numbers of a file without it are 0 */
    FIELD_NULL,      /* the key with null */
    FIELD_OMIT,      /* no key */
    FIELD_OMIT_ZERO, /* no key when it is unknown, 0, false or empty */
    FIELD_NULL_ZERO  /* the key with null then */
} field_absent;

enum field_flags {
    FIELD_LOWER_IS_BETTER = 1,  /* a metric of check, trend and compare */
    FIELD_HIGHER_IS_BETTER = 2, /* the same */
    FIELD_CSV = 4,              /* a column where its list is written as CSV */
    FIELD_FLAT = 8,             /* objects and lists: one line of the file */
    FIELD_NEEDED = 16,          /* reading fails when the key is absent */
    FIELD_WRITE_ONLY = 32,      /* a view of members that other rows read; skipped when read */
    FIELD_SIGNED = 64,          /* F64 with a unit: reading accepts negative numbers */
    FIELD_LINES = 128,          /* STRS: a line of the file each */
    FIELD_HOLES = 256           /* F64S, U64S: items may be unknown */
};

struct field;
struct field_reader;

/* A type of a room above base/: a shape, a dtype. */
typedef struct field_codec {
    const char *schema;     /* its JSON Schema, as JSON */
    const char *typescript; /* its type in the page */
    bool (*known)(const void *at);
    void (*write)(json_writer *w, const void *at);
    bool (*read)(struct field_reader *r, void *at);
    void (*print)(sbuf *b, const void *at); /* for display */
    /* Where the file has a list of numbers: how many, and which; INT64_MIN: unknown. Or NULL. */
    uint32_t (*count)(const void *at);
    int64_t (*item)(const void *at, uint32_t index);
} field_codec;

/* The program holds thousands of rows, which are relocated when it starts: they are kept small. */
typedef struct field {
    const char *key;         /* NULL: SPLICE */
    const struct fields *of; /* OBJECT, LIST, MAP */
    union {
        const char *const *words; /* kinds of text: the words, NULL after the last */
        const field_codec *codec; /* CODEC */
        const struct result_kind *const *results; /* RESULT: what it may be, NULL after the last */
    };
    const char *label; /* "Latency, p95": console, Markdown, page; NULL: shown nowhere by itself */
    const char *about; /* one sentence: docs, schema */
    uint32_t at;       /* offset of the value */
    uint32_t count_at; /* lists: offset of the uint32_t count */
    uint32_t size;     /* CHARS: bytes; LIST and MAP inside the struct: items; else 0 */
    uint32_t
        when_at; /* 1 + offset of a bool; the row is written only where it is true, and reading sets it. 0: always */
    field_kind kind : 8;
    field_absent absent : 8;
    field_unit unit : 8;
    bool by_pointer : 1;  /* OBJECT: the member is a pointer */
    uint8_t decimals : 7; /* 1 + decimals that F64 and F64S are rounded to in the file; 0: all */
    uint16_t flags;
} field;

typedef struct fields {
    const char *name; /* of the struct: definitions of schema and types are named by it */
    const field *rows;
    uint32_t n;
    uint32_t size; /* of the struct */
    uint32_t
        present_at; /* 1 + offset of a bool that says whether the object is there; 0: it always is */
    bool bare;      /* of one row, which stands for the struct in the file: {"batch": 4} */
    uint32_t key_at;   /* items of a MAP: offset of the str that is their key */
    const void *start; /* what a struct is before anything is read; NULL: unknown, by the rows */
    /* When a struct was read: checks it and fills members that the file does not have. Or NULL. */
    bool (*finish)(struct field_reader *r, void *base);
} fields;

/* The sentences are for tools/describe_results. A program without them is smaller by a sixteenth (tools/wasm). */
#ifdef ASSAY_FIELDS_WITHOUT_ABOUT
#define FIELD_ABOUT(about_) NULL
#else
#define FIELD_ABOUT(about_) (about_)
#endif

/* FIELD(struct, member, kind, unit, label, about, more...): the key is the member's name. */
#define FIELD(T, member, kind_, unit_, label_, about_, ...) \
    FIELD_AS(T, #member, member, kind_, unit_, label_, about_, __VA_ARGS__)
#define FIELD_AS(T, key_, member, kind_, unit_, label_, about_, ...)                       \
    {                                                                                      \
        .key = (key_), .kind = FIELD_##kind_, .at = (uint32_t)offsetof(T, member),         \
        .unit = UNIT_##unit_, .label = (label_), .about = FIELD_ABOUT(about_), __VA_ARGS__ \
    }
/* The columns that many rows have: what the file holds where the value is unknown (field_absent), and flags. */
#define OR_NULL   .absent = FIELD_NULL
#define OR_OMIT   .absent = FIELD_OMIT
#define OMIT_ZERO .absent = FIELD_OMIT_ZERO
#define NULL_ZERO .absent = FIELD_NULL_ZERO
#define ONE_LINE  .flags = FIELD_FLAT
#define IN_CSV    .flags = FIELD_CSV
/* Objects, lists and maps: `of_` is their fields. The count of a list is `count_`. */
#define FIELD_STRUCT(T, key_, member, of_, about_, ...)                                         \
    {                                                                                           \
        .key = (key_), .kind = FIELD_OBJECT, .at = (uint32_t)offsetof(T, member), .of = &(of_), \
        .about = FIELD_ABOUT(about_), __VA_ARGS__                                               \
    }
/* Rows of another struct in the same object. */
#define FIELD_SPLICED(T, member, of_, ...)                                                   \
    {                                                                                        \
        .kind = FIELD_SPLICE, .at = (uint32_t)offsetof(T, member), .of = &(of_), __VA_ARGS__ \
    }
/* An object whose members lie in this struct itself. */
#define FIELD_INLINE(key_, of_, about_, ...)                                             \
    {                                                                                    \
        .key = (key_), .kind = FIELD_OBJECT, .of = &(of_), .about = FIELD_ABOUT(about_), \
        __VA_ARGS__                                                                      \
    }
#define FIELD_ITEMS(T, kind_, key_, member, count_, of_, about_, ...)                          \
    {                                                                                          \
        .key = (key_), .kind = FIELD_##kind_, .at = (uint32_t)offsetof(T, member),             \
        .count_at = (uint32_t)offsetof(T, count_), .of = &(of_), .about = FIELD_ABOUT(about_), \
        __VA_ARGS__                                                                            \
    }
/* F64S, U64S, STRS. */
#define FIELD_VALUES(T, kind_, key_, member, count_, unit_, about_, ...)           \
    {                                                                              \
        .key = (key_), .kind = FIELD_##kind_, .at = (uint32_t)offsetof(T, member), \
        .count_at = (uint32_t)offsetof(T, count_), .unit = UNIT_##unit_,           \
        .about = FIELD_ABOUT(about_), __VA_ARGS__                                  \
    }
#define FIELDS(T, rows_, ...) FIELDS_AS(T, #T, rows_, __VA_ARGS__)
/* Of a struct whose bool `present` says whether the object is there. */
#define FIELDS_IF_PRESENT(T, rows_) FIELDS(T, rows_, .present_at = 1 + offsetof(T, present))
/* Some members of a struct that other tables describe too. */
#define FIELDS_AS(T, name_, rows_, ...)                                                     \
    {                                                                                       \
        .name = (name_), .rows = (rows_), .n = (uint32_t)(sizeof(rows_) / sizeof *(rows_)), \
        .size = (uint32_t)sizeof(T), __VA_ARGS__                                            \
    }

/* ---- values ---- */

typedef enum field_type {
    VALUE_NONE, /* absent or unknown */
    VALUE_BOOL,
    VALUE_WHOLE,   /* u */
    VALUE_INTEGER, /* i, below 0 */
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_OBJECT,
    VALUE_LIST,
    VALUE_CODEC /* the text is fields_print()'s */
} field_type;

/* A value of a struct, borrowed from it. */
typedef struct field_value {
    field_type type;
    uint32_t n; /* items of a list, rows of an object */
    union {
        bool b;
        uint64_t u;
        int64_t i;
        double d;
    };
    str text;                         /* TEXT */
    str key;                          /* of an item of a map; else the row's */
    const void *at;                   /* OBJECT: the struct; LIST: its items; CODEC: the value */
    const fields *of;                 /* OBJECT; LIST of structs */
    const struct result_kind *result; /* OBJECT that is a separate document */
    const field
        *row; /* the row behind it: unit, label, about; of items their list's; NULL: the root */
} field_value;

/* The whole struct as an object. */
field_value fields_root(const fields *f, const void *base);
/* The member of a key: rows of an object, items of a map, or an item of a list by its number. */
field_value fields_member(const field_value *v, str key);
/* An item of a list or map, or the value of an object's row. NONE past the end. */
field_value fields_item(const field_value *v, uint32_t index);
/* "latency.p95", "batch_profiling.4.timing.mean_ms", "layers.0.name". What is absent is NONE. */
field_value fields_at(const field_value *v, str path);
field_value fields_get(const field_value *v, const char *path);
/* The row of a path, whatever the struct holds; items of lists and maps by any number or name. NULL when no such row
 * exists. */
const field *fields_find(const fields *f, str path);
/* "ms", "bytes"; NULL: the row's number counts things, or has no unit. */
const char *fields_unit(const field *row);
/* The number as a double; NaN when it is none. */
double fields_number(const field_value *v);
/* Whether it is neither absent nor 0, false or empty. */
bool fields_is_set(const field_value *v);
static inline bool fields_is_number(const field_value *v)
{
    return v->type == VALUE_WHOLE || v->type == VALUE_INTEGER || v->type == VALUE_REAL;
}

/* ---- JSON (fields_write.c, fields_read.c) ---- */

/* A value that is no list or object, as it stands in the file but without quotes. Nothing where it is unknown. */
void fields_print(sbuf *b, const field_value *v);
/* Writes the struct as one object. */
void fields_write(json_writer *w, const fields *f, const void *base);
/* Its rows into an object that is open. */
void fields_write_rows(json_writer *w, const fields *f, const void *base);

enum { FIELD_DEPTH = 64 };

typedef struct field_reader {
    json_scan s;
    arena *arena; /* of the result: texts and lists are copied into it */
    struct {
        str key;
        uint64_t index; /* of an item, where the key is empty */
    } path[FIELD_DEPTH];
    uint32_t depth;
    bool no_memory;
} field_reader;

/* Reads an object into `base`, which becomes `f->start` or unknown first. Keys that no row has are skipped; a key
 * that a row has must be of its kind and may occur once. After a failure every call returns false and the reader's
 * path says where. */
bool fields_read(field_reader *r, const fields *f, void *base);
/* Fails at the current place with a sentence. */
bool fields_fail(field_reader *r, const char *what);
bool fields_fail_memory(field_reader *r);
/* For codecs: a string or null, copied, with a NUL after it. */
bool fields_read_text(field_reader *r, str *out);
/* Room for one more item of a list in the arena; NULL if out of memory. */
void *fields_push(field_reader *r, void **items, uint32_t *n, uint32_t *cap, size_t size);
/* The failure as an error: "FILE: latency.p95: SENTENCE", with the byte offset. */
assay_status fields_failed(const field_reader *r, const char *shown, assay_error *err);

/* A whole document: text of `shown` into `base` (of f->size bytes). */
assay_status fields_parse(str text, const char *shown, const fields *f, void *base, arena *a,
                          assay_error *err);
/* Sets every member to unknown, objects included. */
void fields_clear(const fields *f, void *base);

#endif
