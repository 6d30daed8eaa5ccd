/* Error reporting: fill an assay_error with a message and return its code.
 *
 * `err` may be NULL everywhere. The first failure wins: a second failure keeps the first message
 * (the cause) and returns its code. An error must therefore be cleared (or zeroed) before use.
 *
 * A message reads `FILE: what is wrong (where)`: lower case first, no final full stop. A hint is a
 * second sentence, imperative, with a full stop. Names may be formatted into a message as they are:
 * control bytes and invalid UTF-8 are escaped.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <assay/assay.h>

/* Sets err to OK. */
void err_clear(assay_error *err);

/* Formats the message into err and returns code, for `return err_fail(err, CODE, "...", ...)`. */
assay_status err_fail(assay_error *err, assay_status code, const char *fmt, ...) ASSAY_PRINTF(3, 4);

/* The same with the byte offset of the fault. */
assay_status err_fail_at(assay_error *err, assay_status code, uint64_t offset, const char *fmt, ...)
    ASSAY_PRINTF(4, 5);

/* The same with the node at fault. */
assay_status err_fail_node(assay_error *err, assay_status code, const char *node, const char *fmt,
                           ...) ASSAY_PRINTF(4, 5);

/* The same with the errno of the cause. */
assay_status err_fail_errno(assay_error *err, assay_status code, int error, const char *fmt, ...)
    ASSAY_PRINTF(4, 5);

/* Out of memory, or a memory limit was reached (ASSAY_ERR_SYSTEM, ENOMEM). */
assay_status err_no_memory(assay_error *err);

/* Puts "path: " before the message of a failure, unless it starts with the path already. */
void err_name_file(assay_error *err, const char *path);

#define TRY(expr)                          \
    do {                                   \
        assay_status try_status_ = (expr); \
        if (try_status_ != ASSAY_OK)       \
            return try_status_;            \
    } while (0)

/* Returns err_no_memory() unless the allocation gave something: TRY_MEMORY(list, err). */
#define TRY_MEMORY(allocated, err)     \
    do {                               \
        if (!(allocated))              \
            return err_no_memory(err); \
    } while (0)

#endif
