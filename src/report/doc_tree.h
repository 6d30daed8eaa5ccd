/* A JSON document of ours in memory, to be shown: every value by its path, numbers also as they are written, so
 * that whole ones stay exact. Results of models are read by profile_read.c instead; this is for views, which
 * take what is there and miss what is not.
 */
#ifndef REPORT_DOC_TREE_H
#define REPORT_DOC_TREE_H

#include "base/error.h"
#include "base/str.h"

typedef enum doc_kind {
    DOC_NONE, /* absent, or null */
    DOC_BOOL,
    DOC_NUMBER,
    DOC_TEXT,
    DOC_LIST,
    DOC_OBJECT
} doc_kind;

typedef struct doc_value {
    doc_kind kind;
    uint32_t n;    /* items of a list, members of an object */
    double number; /* 1 of true */
    str text;      /* of a text; of a number as it is written */
    str key;       /* of a member */
    struct doc_value *items;
} doc_value;

/* The root must be an object. Texts are borrowed from `text` or in the arena. Of members of the root that
 * `skip` names (NULL at its end, or NULL) only the number of items is kept. ASSAY_ERR_MALFORMED with the byte. */
assay_status doc_parse(str text, const char *shown, const char *const *skip, arena *a,
                       doc_value *out, assay_error *err);

/* The member of that key, whatever characters are in it; of kind DOC_NONE when there is none. */
const doc_value *doc_member(const doc_value *v, str key);
/* "memory.peak", "plans.0.batch"; what is not there is of kind DOC_NONE, never NULL. */
const doc_value *doc_at(const doc_value *v, str path);
const doc_value *doc_get(const doc_value *v, const char *path);
bool doc_is_true(const doc_value *v);

#endif
