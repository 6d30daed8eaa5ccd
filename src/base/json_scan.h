/* JSON read strictly from memory in one pass, for the headers of weight files and for results: hundreds of
 * thousands of small objects of which every field is wanted and checked. (Configurations are read as a
 * tree, see json_tree.h; a tree of a 100 MB header would take a gigabyte.)
 *
 * Failure is sticky: after one every call returns false or 0, and the error holds the offset in the file.
 *
 *   scan_open(s, '{');
 *   while (scan_key(s, &key))
 *       if (str_is(key, "shape")) ... else scan_skip(s);
 *   if (!scan_end(s)) return s->err->code;
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/error.h"
#include "base/str.h"

typedef struct json_scan {
    const char *at, *end, *start;
    uint64_t base;     /* offset of the text in its file */
    const char *shown; /* the file, for sentences */
    arena *arena;      /* of strings with escapes; others are borrowed from the text */
    assay_error *err;
    unsigned depth;
    uint64_t begun; /* bit per depth: an item was read there */
    bool failed;
    bool nul;           /* strings may hold \u0000 */
    bool loose;         /* strings may hold control characters and bytes that are not UTF-8 */
    bool decoded;       /* the last string had escapes: it is in the arena and ends with a NUL */
    const char *string; /* the opening quote of the last string */
    const char *what;   /* the sentence of the failure, when it was scan_fail() that said it */
} json_scan;

/* err must not be NULL. */
json_scan scan_text(str text, uint64_t base, const char *shown, arena *a, assay_error *err);

/* Offset in the file of what comes next. */
uint64_t scan_offset(const json_scan *s);
/* Fails as malformed here; `what` is a whole sentence. */
bool scan_fail(json_scan *s, const char *what);

bool scan_open(json_scan *s, char bracket); /* '{' or '[' is expected here */
bool scan_key(json_scan *s, str *key);      /* false at the end of the object, which is left */
bool scan_item(json_scan *s);               /* false at the end of the array, which is left */
bool scan_str(json_scan *s, str *out);      /* a string is expected here */
bool scan_u63(json_scan *s, uint64_t *out); /* a whole number from 0 to 2^63 - 1 must */
bool scan_u64(json_scan *s, uint64_t *out); /* the same up to 2^64 - 1 */
bool scan_i64(json_scan *s, int64_t *out);  /* a whole number is expected here */
bool scan_f64(json_scan *s, double *out);   /* a number must, not larger than a double can be */
bool scan_bool(json_scan *s, bool *out);    /* true or false must */
bool scan_null(json_scan *s);               /* takes a null when one is here */
bool scan_is(json_scan *s, char first);     /* whether the next value begins so */
bool scan_skip(json_scan *s);               /* any value, nested at most 64 deep */
bool scan_end(json_scan *s);                /* nothing but blanks may follow */

#endif
