/* How every room reports failure: fill an assay_error with a sentence, return its code.
 *
 * `err` may be NULL everywhere. The first failure wins: a second fail() on an error that already
 * holds a failure keeps the first sentence (the cause) and returns its code, so callers up the
 * stack may add nothing. An error must therefore be cleared (or zeroed) before its first use.
 *
 * Names may be formatted into a sentence as they are: control bytes and broken UTF-8 are escaped.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <assay/assay.h>

/* Sets err to OK. */
void err_clear(assay_error *err);

/* Formats the sentence into err and returns code, for `return err_fail(err, CODE, "...", ...)`. */
assay_status err_fail(assay_error *err, assay_status code, const char *fmt, ...) ASSAY_PRINTF(3, 4);

/* The same with the byte offset that the sentence is about. */
assay_status err_fail_at(assay_error *err, assay_status code, uint64_t offset, const char *fmt, ...)
    ASSAY_PRINTF(4, 5);

/* The same with the node that the sentence is about. */
assay_status err_fail_node(assay_error *err, assay_status code, const char *node, const char *fmt,
                           ...) ASSAY_PRINTF(4, 5);

/* The same with the errno that is behind it. */
assay_status err_fail_errno(assay_error *err, assay_status code, int error, const char *fmt, ...)
    ASSAY_PRINTF(4, 5);

/* Memory ran out, or a limit on it was reached (ASSAY_ERR_SYSTEM, ENOMEM). */
assay_status err_no_memory(assay_error *err);

#define TRY(expr)                          \
    do {                                   \
        assay_status try_status_ = (expr); \
        if (try_status_ != ASSAY_OK)       \
            return try_status_;            \
    } while (0)

#endif
