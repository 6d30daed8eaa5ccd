/* A result: the output of one command as one JSON document. Its kind is a struct with a field table (base/fields.h)
 * and a schema; profile/result_kinds.c lists the kinds. */
#ifndef BASE_RESULT_H
#define BASE_RESULT_H

#include "base/fields.h"

typedef struct result_kind {
    const char *schema; /* "assay.machine"; the document says "assay.machine/1" */
    uint32_t version;
    const char *name; /* one word: "machine" */
    /* Kinds may have a schema in common: the word of the document's key "kind". NULL: any other. */
    const char *word;
    const char *what; /* for messages: "a measured machine" */
    const fields *of;
    /* Writes one or two sentences that sum the result up, from its members alone (profile/conclusion.h); NULL: none. They
     * are kept in the str at conclusion_at, the key "conclusion". */
    void (*conclude)(const void *data, sbuf *out);
    uint32_t conclusion_at;
} result_kind;

/* The row of a conclusion, in a struct with `str conclusion`. */
#define FIELD_CONCLUSION(T)                                                               \
    FIELD(T, conclusion, STR, NONE, NULL, "One or two sentences that sum the result up.", \
          .absent = FIELD_OMIT)

/* What a document says it is. */
typedef struct result_identity {
    str schema; /* "assay.machine"; empty: it does not say. In the arena */
    uint64_t version;
} result_identity;

/* Reads up to the key "schema". ASSAY_ERR_MALFORMED when the text is no JSON object. */
assay_status result_identify(str text, const char *shown, arena *a, result_identity *out,
                             assay_error *err);
/* The kind of the document that the text begins with, of this version of it: one of `kinds`, which ends with NULL; or
 * NULL. */
const result_kind *result_choose(const result_kind *const *kinds, str text, arena *scratch);
/* Whether the text is a document of this kind, of any version. */
bool result_is(const result_kind *kind, str text);
/* Fills a struct of the kind. ASSAY_ERR_MALFORMED with path and byte, or when the document is of another kind;
 * ASSAY_ERR_UNSUPPORTED for another version. Texts are copied into the arena. */
assay_status result_read_as(const result_kind *kind, str text, const char *shown, arena *a,
                            void *data, assay_error *err);

/* Fills the conclusion of a result that was made or changed; false if out of memory. */
bool result_conclude(const result_kind *kind, void *data, arena *a);
/* The same of one that was read, unless the document has one: what was shown once is shown again. */
bool result_conclude_read(const result_kind *kind, void *data, arena *a);

/* The document, with a line break at its end. `indent`: spaces per level, 0 is one line. */
void result_write(const result_kind *kind, const void *data, int indent, sbuf *out);
/* The same as a value of a document that is being written. */
void result_write_inside(json_writer *w, const result_kind *kind, const void *data);

#endif
